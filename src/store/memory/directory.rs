//! What servers that share what is in memory agree on.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use plyhouse_protocol::{MatchId, PlayerId, SessionId, Status};
use tokio::time::Instant;

use super::people::People;
use super::{Contents, Kept, MemoryStore};
use crate::directory::{
    Directory, LEASE, Listed, MAKE_TRIES, Make, Paired, RatingRange, Route, SEEKS_KEPT, Seeking,
    Shown, Waiting, Wanted,
};
use crate::{NodeId, PlayerRecord, ReadError, WriteError};

/// What servers agree on beside the matches.
#[derive(Debug, Default)]
pub(super) struct DirectoryState {
    /// When the lease of each server runs out.
    leases: BTreeMap<NodeId, Instant>,
    /// Who looks for somebody to play, in the order of coming. At most one seek a player.
    seeks: Vec<Sought>,
    connections: u64,
    /// How often it was asked for what is abandoned.
    asked: u64,
}

impl DirectoryState {
    /// Whether this server's lease holds.
    pub(super) fn holds_lease(&self, node: NodeId) -> bool {
        let expires = self.leases.get(&node);
        expires.is_some_and(|expires| *expires > Instant::now())
    }

    fn renew(&mut self, node: NodeId) -> Vec<NodeId> {
        let now = Instant::now();
        self.leases.insert(node, now + LEASE);
        self.leases.retain(|_, expires| *expires + SEEKS_KEPT > now);
        let leases = &self.leases;
        self.seeks
            .retain(|sought| leases.contains_key(&sought.seek.node));
        let held = leases.iter().filter(|(_, expires)| **expires > now);
        held.map(|(node, _)| *node).collect()
    }

    fn withdraw(&mut self, node: NodeId) {
        self.leases.remove(&node);
        self.seeks.retain(|sought| sought.seek.node != node);
    }

    /// How many seeks wait.
    fn waiting(&self) -> usize {
        let seeks = self.seeks.iter();
        seeks
            .filter(|sought| self.holds_lease(sought.seek.node))
            .count()
    }

    /// Who waits, those whose key begins so alone.
    fn seeking(&self, key_begin: &str, limit: usize) -> Seeking {
        let waits = |sought: &&Sought| {
            sought.seek.key.starts_with(key_begin) && self.holds_lease(sought.seek.node)
        };
        let mut waiting: Vec<&Sought> = self.seeks.iter().filter(waits).collect();
        // Of two who came at once the first stays the first.
        waiting.sort_by_key(|sought| sought.since);
        let bodies = waiting.iter().take(limit);
        Seeking {
            total: waiting.len() as u64,
            bodies: bodies.map(|sought| sought.seek.body.clone()).collect(),
        }
    }

    /// Whoever was forgotten looks for nobody.
    pub(super) fn end_seeks_of(&mut self, player: PlayerId) {
        self.seeks.retain(|sought| sought.seek.player != player);
    }

    /// The place of the seek with which this one is paired.
    fn partner(&self, seek: &Waiting, people: &People) -> Option<usize> {
        let fits = |(place, sought): (usize, &Sought)| {
            let other = &sought.seek;
            let fits = other.key == seek.key
                && other.player != seek.player
                && self.holds_lease(other.node)
                && seek.fit.is_mutual(&sought.fit())
                && !seek.not.contains(&other.player)
                && !people.are_apart(seek.player, other.player);
            fits.then_some((sought.since, place))
        };
        let found = self.seeks.iter().enumerate().filter_map(fits).min();
        found.map(|(_, place)| place)
    }
}

/// A player who waits.
#[derive(Debug)]
struct Sought {
    seek: Waiting,
    /// Since when.
    since: Instant,
}

impl Sought {
    /// Whom it fits now.
    fn fit(&self) -> RatingRange {
        let waited_ms = self.since.elapsed().as_millis();
        RatingRange {
            waited_ms: u64::try_from(waited_ms).unwrap_or(u64::MAX),
            ..self.seek.fit
        }
    }
}

impl Contents {
    fn route(&self, id: MatchId) -> Option<Route> {
        let kept = self.matches.get(&id)?;
        let holds_lease = |owner| self.agreed.holds_lease(owner);
        Some(Route {
            owner: kept.owner,
            is_alive: kept.owner.is_some_and(holds_lease),
            epoch: kept.epoch(),
            has_ended: !kept.is_live(),
        })
    }

    fn take(&mut self, id: MatchId, owner: NodeId, from: Option<NodeId>) -> bool {
        let kept = self.matches.get_mut(&id);
        let free = |kept: &&mut Kept| kept.owner == from && !kept.is_fresh();
        let taken = kept.filter(free).map(|kept| kept.take(owner));
        taken.is_some()
    }

    fn abandoned(&mut self, limit: usize) -> Vec<MatchId> {
        self.agreed.asked += 1;
        let asked = self.agreed.asked;
        let is_alive = |owner| self.agreed.holds_lease(owner);
        let abandoned = self.live().filter(|kept| !kept.owner.is_some_and(is_alive));
        let mut ids: Vec<MatchId> = abandoned.map(Kept::id).collect();
        // Another order each time, and the very same whenever a world is simulated again.
        ids.sort_by_cached_key(|id| shuffled(id.0.as_u128(), asked));
        ids.truncate(limit);
        ids
    }

    fn involved(&self, player: PlayerId) -> Vec<MatchId> {
        let is_involved = |kept: &&Kept| {
            let record = &kept.record;
            kept.is_live()
                && !record.creation.terms.is_of_days()
                && record.people().contains(&Some(player))
        };
        let involved = self.matches.values().filter(is_involved);
        involved.map(Kept::id).collect()
    }

    fn pair(&mut self, seek: Waiting, max: usize, make: &Make) -> Result<Paired, WriteError> {
        if !self.people.gone([seek.player]).is_empty() {
            return Err(WriteError::Forgotten);
        }
        let mut seeks = self.agreed.seeks.iter();
        if seek.again && !seeks.any(|earlier| earlier.seek.player == seek.player) {
            return Ok(Paired::Over);
        }
        let Some(partner) = self.agreed.partner(&seek, &self.people) else {
            let agreed = &mut self.agreed;
            agreed
                .seeks
                .retain(|earlier| earlier.seek.player != seek.player);
            if agreed.waiting() >= max {
                return Ok(Paired::Full);
            }
            let waited = Duration::from_millis(seek.fit.waited_ms);
            let now = Instant::now();
            let since = now.checked_sub(waited).unwrap_or(now);
            agreed.seeks.push(Sought { seek, since });
            return Ok(Paired::Waits);
        };
        for _ in 0..MAKE_TRIES {
            let record = make(&self.agreed.seeks[partner].seek);
            if self.create(seek.node, record.clone()).is_ok() {
                let partner = self.agreed.seeks.remove(partner);
                self.agreed
                    .seeks
                    .retain(|earlier| earlier.seek.player != seek.player);
                return Ok(Paired::With(Box::new((partner.seek, record))));
            }
        }
        Err(WriteError::Unavailable)
    }

    fn end_seek(&mut self, player: PlayerId, node: NodeId) -> bool {
        let seeks = &mut self.agreed.seeks;
        let count = seeks.len();
        seeks.retain(|sought| (sought.seek.player, sought.seek.node) != (player, node));
        seeks.len() < count
    }

    fn show(&mut self, cards: Vec<Shown>) {
        for card in cards {
            if let Some(kept) = self.matches.get_mut(&card.id)
                && (kept.is_live() || card.status == Status::Ended)
            {
                kept.shown = Some(card);
            }
        }
    }

    fn list(&self, wanted: &Wanted) -> Listed {
        let mut listed = Listed::default();
        for kept in self.matches.values().rev() {
            let Some(card) = kept.listed(wanted) else {
                continue;
            };
            listed.total += 1;
            let is_after = wanted.after.is_none_or(|after| kept.id() < after);
            if is_after && listed.cards.len() < wanted.limit {
                listed.cards.push(card.to_owned());
            }
        }
        listed
    }
}

impl Kept {
    /// The match's card, if it is one of those that are asked for.
    fn listed(&self, wanted: &Wanted) -> Option<&str> {
        let card = self.shown.as_ref().filter(|card| card.listed)?;
        // Of one that is told with a delay lists may not tell yet that it has ended.
        let is_delayed = self.record.creation.terms.delay_ms > 0;
        let (status, ended_ms) = match self.record.events.last() {
            Some(last) if last.is_end() && is_delayed => (card.status, last.at_ms),
            Some(last) if last.is_end() => (Status::Ended, last.at_ms),
            _ => (card.status, u64::MAX),
        };
        let game = self.record.creation.game.info.id;
        let fits = wanted.game.as_ref().is_none_or(|wanted| wanted == game)
            && wanted.status.is_none_or(|wanted| wanted == status)
            && ended_ms >= wanted.ended_since_ms;
        fits.then_some(&card.card)
    }
}

/// A number that differs from call to call.
const fn shuffled(id: u128, call: u64) -> u128 {
    const FACTOR: u128 = 0x2d99_787d_f0e5_3d8d_8f47_5a3b_9bd1_c7a5;
    let mixed = (id ^ (call as u128).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    (mixed ^ (mixed >> 64)).wrapping_mul(FACTOR)
}

impl Directory for MemoryStore {
    fn renew(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<NodeId>, WriteError>> {
        future::ready(Ok(self.contents.lock().agreed.renew(node))).boxed()
    }

    fn withdraw(&self, node: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.contents.lock().agreed.withdraw(node);
        future::ready(Ok(())).boxed()
    }

    fn route(&self, id: MatchId) -> BoxFuture<'_, Result<Option<Route>, ReadError>> {
        future::ready(Ok(self.contents.lock().route(id))).boxed()
    }

    fn foreign(
        &self,
        node: NodeId,
        ids: Vec<MatchId>,
    ) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        let contents = self.contents.lock();
        let owner = |id: &MatchId| contents.matches.get(id).map(|kept| kept.owner);
        let is_foreign = |id: &MatchId| owner(id).is_some_and(|owner| owner != Some(node));
        let foreign = ids.into_iter().filter(is_foreign).collect();
        future::ready(Ok(foreign)).boxed()
    }

    fn take(
        &self,
        id: MatchId,
        owner: NodeId,
        from: Option<NodeId>,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        future::ready(Ok(self.contents.lock().take(id, owner, from))).boxed()
    }

    fn abandoned(&self, limit: usize) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        future::ready(Ok(self.contents.lock().abandoned(limit))).boxed()
    }

    fn involved(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        future::ready(Ok(self.contents.lock().involved(player))).boxed()
    }

    fn hosted(&self, player: PlayerId) -> BoxFuture<'_, Result<usize, ReadError>> {
        let contents = self.contents.lock();
        let live = contents.matches.values().filter(|kept| kept.is_live());
        let hosted = live.filter(|kept| {
            let creation = &kept.record.creation;
            creation.host == player && !creation.terms.is_of_days()
        });
        future::ready(Ok(hosted.count())).boxed()
    }

    fn ended(
        &self,
        sessions: Vec<(PlayerId, SessionId)>,
    ) -> BoxFuture<'_, Result<Vec<SessionId>, ReadError>> {
        let contents = self.contents.lock();
        let has_ended = |(player, id): &(PlayerId, SessionId)| {
            let kept = contents.people.sessions(*player);
            kept.iter().all(|session| session.id != *id)
        };
        let ended = sessions.into_iter().filter(has_ended).map(|(_, id)| id);
        future::ready(Ok(ended.collect())).boxed()
    }

    fn forgotten(&self, players: Vec<PlayerId>) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        let gone = self.contents.lock().people.gone(players);
        future::ready(Ok(gone.into_iter().collect())).boxed()
    }

    fn called(
        &self,
        players: Vec<PlayerId>,
    ) -> BoxFuture<'_, Result<Vec<PlayerRecord>, ReadError>> {
        let contents = self.contents.lock();
        let known = &contents.people.players;
        let called = players.iter().filter_map(|id| known.get(id).cloned());
        future::ready(Ok(called.collect())).boxed()
    }

    fn connection(&self) -> BoxFuture<'_, Result<u64, WriteError>> {
        let mut contents = self.contents.lock();
        contents.agreed.connections += 1;
        future::ready(Ok(contents.agreed.connections)).boxed()
    }

    fn pair(
        &self,
        seek: Waiting,
        max: usize,
        make: Make,
    ) -> BoxFuture<'_, Result<Paired, WriteError>> {
        future::ready(self.contents.lock().pair(seek, max, &make)).boxed()
    }

    fn end_seek(&self, player: PlayerId, node: NodeId) -> BoxFuture<'_, Result<bool, WriteError>> {
        future::ready(Ok(self.contents.lock().end_seek(player, node))).boxed()
    }

    fn waiting(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        let contents = self.contents.lock();
        let seeks = contents.agreed.seeks.iter();
        let own = seeks.filter(|sought| sought.seek.node == node);
        future::ready(Ok(own.map(|sought| sought.seek.player).collect())).boxed()
    }

    fn seekers(
        &self,
        key_begin: Option<String>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Seeking, ReadError>> {
        let key_begin = key_begin.unwrap_or_default();
        let contents = self.contents.lock();
        future::ready(Ok(contents.agreed.seeking(&key_begin, limit))).boxed()
    }

    fn show(&self, cards: Vec<Shown>) -> BoxFuture<'_, Result<(), WriteError>> {
        self.contents.lock().show(cards);
        future::ready(Ok(())).boxed()
    }

    fn list(&self, wanted: Wanted) -> BoxFuture<'_, Result<Listed, ReadError>> {
        future::ready(Ok(self.contents.lock().list(&wanted))).boxed()
    }
}
