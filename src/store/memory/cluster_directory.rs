//! Cluster directory of the in-memory store: leases, seeks and match lists.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::FutureExt;
use futures::future;
use plyhouse_protocol::{MatchId, MatchStatus, PlayerId, SessionId};
use tokio::time::Instant;

use super::{Contents, MemoryStore, StoredMatch, ready, write_error};
use crate::port::cluster_directory::{
    ClusterDirectory, LEASE_DURATION, MatchFactory, MatchListPage, MatchListQuery, MatchListing,
    MatchRoute, PAIR_ATTEMPTS_MAX, PairOutcome, RatingRange, SEEK_RETENTION, SeekRecord,
    SeekerPage,
};
use crate::sql::blocks::unpairable_players;
use crate::sql::run_now;
use crate::sql::sessions::sessions as load_sessions;
use crate::sql::store::SqlStore;
use crate::{NodeId, PlayerRecord, ReadFuture, WriteError, WriteFuture};

/// State other than matches that the servers of a cluster share.
#[derive(Debug, Default)]
pub(super) struct DirectoryState {
    /// Time at which the lease of each server expires.
    leases: BTreeMap<NodeId, Instant>,
    /// Waiting seeks in the order of their insertion, at most one per player.
    seeks: Vec<WaitingSeek>,
    connections: u64,
    /// Number of calls to `abandoned_matches` so far. `abandoned_matches` uses this number to vary
    /// the order of the matches that it returns.
    abandoned_calls: u64,
}

impl DirectoryState {
    /// Returns whether a server has a valid lease.
    pub(super) fn holds_lease(&self, node: NodeId) -> bool {
        let expires = self.leases.get(&node);
        expires.is_some_and(|expires| *expires > Instant::now())
    }

    fn renew_lease(&mut self, node: NodeId) -> Vec<NodeId> {
        let now = Instant::now();
        self.leases.insert(node, now + LEASE_DURATION);
        self.leases
            .retain(|_, expires| *expires + SEEK_RETENTION > now);
        let leases = &self.leases;
        self.seeks
            .retain(|waiting| leases.contains_key(&waiting.seek.node));
        let valid = leases.iter().filter(|(_, expires)| **expires > now);
        valid.map(|(node, _)| *node).collect()
    }

    fn withdraw_lease(&mut self, node: NodeId) {
        self.leases.remove(&node);
        self.seeks.retain(|waiting| waiting.seek.node != node);
    }

    /// Returns the number of seeks that wait on servers with a valid lease.
    fn waiting_count(&self) -> usize {
        let is_waiting = |waiting: &&WaitingSeek| self.holds_lease(waiting.seek.node);
        self.seeks.iter().filter(is_waiting).count()
    }

    /// Returns the waiting seeks whose keys start with `key_prefix`, longest wait first.
    fn seeker_page(&self, key_prefix: &str, limit: usize) -> SeekerPage {
        let is_waiting = |waiting: &&WaitingSeek| {
            waiting.seek.key.starts_with(key_prefix) && self.holds_lease(waiting.seek.node)
        };
        let mut waiting: Vec<&WaitingSeek> = self.seeks.iter().filter(is_waiting).collect();
        // The sort is stable, so seeks that started to wait at the same time keep their insertion
        // order.
        waiting.sort_by_key(|seek| seek.waiting_since);
        let page = waiting.iter().take(limit);
        SeekerPage {
            total: waiting.len() as u64,
            bodies: page.map(|waiting| waiting.seek.body.clone()).collect(),
        }
    }

    /// Removes the waiting seek of a player.
    pub(super) fn remove_seeks_of(&mut self, player: PlayerId) {
        self.seeks.retain(|waiting| waiting.seek.player != player);
    }

    /// Returns the index of the longest-waiting seek that can be paired with `seek`.
    fn find_opponent(&self, seek: &SeekRecord, unpairable: &[PlayerId]) -> Option<usize> {
        let to_candidate = |(index, waiting): (usize, &WaitingSeek)| {
            let other = &waiting.seek;
            let is_match = other.key == seek.key
                && other.player != seek.player
                && self.holds_lease(other.node)
                && seek.rating_range.is_mutual(&waiting.rating_range())
                && !seek.excluded.contains(&other.player)
                && !unpairable.contains(&other.player);
            is_match.then_some((waiting.waiting_since, index))
        };
        let opponent = self.seeks.iter().enumerate().filter_map(to_candidate).min();
        opponent.map(|(_, index)| index)
    }
}

/// Seek that waits for an opponent.
#[derive(Debug)]
struct WaitingSeek {
    seek: SeekRecord,
    /// Time at which the seek started to wait.
    waiting_since: Instant,
}

impl WaitingSeek {
    /// Returns the seek's rating range, with `waited_ms` set to the time that the seek has waited
    /// so far.
    fn rating_range(&self) -> RatingRange {
        let waited_ms = self.waiting_since.elapsed().as_millis();
        RatingRange {
            waited_ms: u64::try_from(waited_ms).unwrap_or(u64::MAX),
            ..self.seek.rating_range
        }
    }
}

impl Contents {
    fn pair_seek(
        &mut self,
        seek: SeekRecord,
        unpairable: &[PlayerId],
        seeks_max: usize,
        make_match: &MatchFactory,
    ) -> Result<PairOutcome, WriteError> {
        if !self.lifetimes.deleted_among([seek.player]).is_empty() {
            return Err(WriteError::PlayerDeleted);
        }
        let mut seeks = self.directory.seeks.iter();
        if seek.is_retry && !seeks.any(|earlier| earlier.seek.player == seek.player) {
            return Ok(PairOutcome::SeekEnded);
        }
        let Some(opponent) = self.directory.find_opponent(&seek, unpairable) else {
            let directory = &mut self.directory;
            directory.remove_seeks_of(seek.player);
            if directory.waiting_count() >= seeks_max {
                return Ok(PairOutcome::LimitReached);
            }
            let wait_time = Duration::from_millis(seek.rating_range.waited_ms);
            let now = Instant::now();
            let waiting_since = now.checked_sub(wait_time).unwrap_or(now);
            directory.seeks.push(WaitingSeek {
                seek,
                waiting_since,
            });
            return Ok(PairOutcome::Waiting);
        };
        for _ in 0..PAIR_ATTEMPTS_MAX {
            let record = make_match(&self.directory.seeks[opponent].seek);
            if self.create(seek.node, record.clone()).is_ok() {
                let opponent = self.directory.seeks.remove(opponent);
                self.directory.remove_seeks_of(seek.player);
                return Ok(PairOutcome::Paired(Box::new((opponent.seek, record))));
            }
        }
        Err(WriteError::Unavailable)
    }
}

impl StoredMatch {
    /// Returns the summary of the match for the match list. Returns `None` if the match is unlisted
    /// or does not satisfy the query.
    fn listing_summary(&self, query: &MatchListQuery) -> Option<&str> {
        let listing = self.listing.as_ref().filter(|listing| listing.listed)?;
        // If a match has a spectator delay, its end is listed only after the server that owns the
        // match has updated the list entry.
        let is_delayed = self.record.creation.terms.spectator_delay_ms > 0;
        let (status, ended_ms) = match self.record.events.last() {
            Some(last) if last.is_end() && is_delayed => (listing.status, last.at_ms),
            Some(last) if last.is_end() => (MatchStatus::Ended, last.at_ms),
            _ => (listing.status, u64::MAX),
        };
        let game = self.record.creation.game.info.id;
        let fits = query.game.as_ref().is_none_or(|game_id| game_id == game)
            && query.status.is_none_or(|requested| requested == status)
            && ended_ms >= query.ended_since_ms;
        fits.then_some(&listing.summary)
    }
}

/// Returns a pseudorandom sort key for a match id. Different call numbers in `call` give the same
/// match different keys.
const fn shuffled(id: u128, call: u64) -> u128 {
    const FACTOR: u128 = 0x2d99_787d_f0e5_3d8d_8f47_5a3b_9bd1_c7a5;
    let mixed = (id ^ (call as u128).wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    (mixed ^ (mixed >> 64)).wrapping_mul(FACTOR)
}

impl ClusterDirectory for MemoryStore {
    fn renew_lease(&self, node: NodeId) -> WriteFuture<'_, Vec<NodeId>> {
        ready(self.contents.lock().directory.renew_lease(node))
    }

    fn withdraw_lease(&self, node: NodeId) -> WriteFuture<'_, ()> {
        self.contents.lock().directory.withdraw_lease(node);
        ready(())
    }

    fn find_route(&self, id: MatchId) -> ReadFuture<'_, Option<MatchRoute>> {
        let contents = self.contents.lock();
        let holds_lease = |owner| contents.directory.holds_lease(owner);
        let route = contents.matches.get(&id).map(|stored| MatchRoute {
            owner: stored.owner,
            is_lease_valid: stored.owner.is_some_and(holds_lease),
            epoch: stored.epoch(),
            has_ended: !stored.is_live(),
        });
        ready(route)
    }

    fn foreign_matches(&self, node: NodeId, ids: Vec<MatchId>) -> ReadFuture<'_, Vec<MatchId>> {
        let contents = self.contents.lock();
        let owner = |id: &MatchId| contents.matches.get(id).map(|stored| stored.owner);
        let is_foreign = |id: &MatchId| owner(id).is_some_and(|owner| owner != Some(node));
        let foreign = ids.into_iter().filter(is_foreign).collect();
        ready(foreign)
    }

    fn take_over(
        &self,
        id: MatchId,
        owner: NodeId,
        previous_owner: Option<NodeId>,
    ) -> WriteFuture<'_, bool> {
        let may_take_over = |stored: &&mut StoredMatch| {
            stored.owner == previous_owner && !stored.is_recently_taken_over()
        };
        let mut contents = self.contents.lock();
        let stored = contents.matches.get_mut(&id).filter(may_take_over);
        ready(stored.map(|stored| stored.take_over(owner)).is_some())
    }

    fn abandoned_matches(&self, limit: usize) -> ReadFuture<'_, Vec<MatchId>> {
        let mut contents = self.contents.lock();
        contents.directory.abandoned_calls += 1;
        let call = contents.directory.abandoned_calls;
        let has_lease = |owner| contents.directory.holds_lease(owner);
        let live = contents.live_matches();
        let abandoned = live.filter(|stored| !stored.owner.is_some_and(has_lease));
        let mut ids: Vec<MatchId> = abandoned.map(StoredMatch::id).collect();
        // Each call of this function returns the matches in a different pseudorandom order. The
        // orders depend only on the call number, so a repeated simulation gets the same orders.
        ids.sort_by_cached_key(|id| shuffled(id.0.as_u128(), call));
        ids.truncate(limit);
        ready(ids)
    }

    fn involved_matches(&self, player: PlayerId) -> ReadFuture<'_, Vec<MatchId>> {
        let is_involved = |stored: &&StoredMatch| {
            let record = &stored.record;
            stored.is_live()
                && !record.creation.terms.is_correspondence()
                && record.participants().contains(&Some(player))
        };
        let contents = self.contents.lock();
        let involved = contents.matches.values().filter(is_involved);
        ready(involved.map(StoredMatch::id).collect())
    }

    fn hosted_match_count(&self, player: PlayerId) -> ReadFuture<'_, usize> {
        let contents = self.contents.lock();
        let live = contents.matches.values().filter(|stored| stored.is_live());
        let hosted = live.filter(|stored| {
            let creation = &stored.record.creation;
            creation.host == player && !creation.terms.is_correspondence()
        });
        ready(hosted.count())
    }

    fn ended_sessions(
        &self,
        sessions: Vec<(PlayerId, SessionId)>,
    ) -> ReadFuture<'_, Vec<SessionId>> {
        self.read(|db| {
            async move {
                let mut ended = Vec::new();
                for (player, id) in sessions {
                    let sessions = load_sessions(db, player).await?;
                    if sessions.iter().all(|session| session.id != id) {
                        ended.push(id);
                    }
                }
                Ok(ended)
            }
            .boxed()
        })
    }

    fn deleted_players(&self, players: Vec<PlayerId>) -> ReadFuture<'_, Vec<PlayerId>> {
        let deleted = self.contents.lock().lifetimes.deleted_among(players);
        ready(deleted.into_iter().collect())
    }

    fn current_players(&self, players: Vec<PlayerId>) -> ReadFuture<'_, Vec<PlayerRecord>> {
        let current = players.into_iter().filter_map(|id| self.find_player(id));
        ready(current.collect())
    }

    fn next_connection_number(&self) -> WriteFuture<'_, u64> {
        let mut contents = self.contents.lock();
        contents.directory.connections += 1;
        ready(contents.directory.connections)
    }

    fn pair_seek(
        &self,
        seek: SeekRecord,
        seeks_max: usize,
        make_match: MatchFactory,
    ) -> WriteFuture<'_, PairOutcome> {
        let mut contents = self.contents.lock();
        let unpairable = run_now(unpairable_players(&self.identities, seek.player));
        let paired = unpairable
            .map_err(write_error)
            .and_then(|unpairable| contents.pair_seek(seek, &unpairable, seeks_max, &make_match));
        future::ready(paired).boxed()
    }

    fn end_seek(&self, player: PlayerId, node: NodeId) -> WriteFuture<'_, bool> {
        let seeks = &mut self.contents.lock().directory.seeks;
        let count = seeks.len();
        seeks.retain(|waiting| (waiting.seek.player, waiting.seek.node) != (player, node));
        ready(seeks.len() < count)
    }

    fn seekers_on_node(&self, node: NodeId) -> ReadFuture<'_, Vec<PlayerId>> {
        let contents = self.contents.lock();
        let seeks = contents.directory.seeks.iter();
        let seeks_on_node = seeks.filter(|waiting| waiting.seek.node == node);
        ready(seeks_on_node.map(|waiting| waiting.seek.player).collect())
    }

    fn list_seekers(&self, key_prefix: Option<String>, limit: usize) -> ReadFuture<'_, SeekerPage> {
        let key_prefix = key_prefix.unwrap_or_default();
        let contents = self.contents.lock();
        ready(contents.directory.seeker_page(&key_prefix, limit))
    }

    fn update_summaries(&self, listings: Vec<MatchListing>) -> WriteFuture<'_, ()> {
        let mut contents = self.contents.lock();
        for listing in listings {
            if let Some(stored) = contents.matches.get_mut(&listing.id)
                && (stored.is_live() || listing.status == MatchStatus::Ended)
            {
                stored.listing = Some(listing);
            }
        }
        ready(())
    }

    fn list_matches(&self, query: MatchListQuery) -> ReadFuture<'_, MatchListPage> {
        let mut page = MatchListPage::default();
        for stored in self.contents.lock().matches.values().rev() {
            let Some(summary) = stored.listing_summary(&query) else {
                continue;
            };
            page.total += 1;
            let is_after = query.after.is_none_or(|after| stored.id() < after);
            if is_after && page.summaries.len() < query.limit {
                page.summaries.push(summary.to_owned());
            }
        }
        ready(page)
    }
}
