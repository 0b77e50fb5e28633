//! Who is connected, and which live matches each player is in.
//!
//! A player is held here while connected or in a live match that is not played over days; the store
//! remembers the others, and all sessions. A guest whom the store does not know, having done nothing but
//! watch, is held for some time after that, with the one session that such a guest has.

mod connected;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::connection::handle::ConnectionHandle;
use crate::context::clock::{SeededRng, now};
use crate::context::locks::{Mutex, PLAYERS};
use plyhouse_matches::{Match, Stage};
use plyhouse_protocol::{ErrorCode, MatchId, PlayerId, WireError};
use plyhouse_store::{PlayerRecord, SessionRecord, TokenHash};

/// For how long a guest is remembered who has gone and is in no store.
const GUEST_KEPT: Duration = Duration::from_secs(2 * 3600);

/// How many such guests are remembered at most, of about 400 bytes each: those who went last.
const GUESTS_MAX: usize = 100_000;

/// How many who were forgotten are remembered as such, of 32 bytes each. The store knows them all: this is for
/// what it has written shortly before.
const FORGOTTEN_MAX: usize = 100_000;

/// Every player who is connected or in a live match.
#[derive(Debug, Default)]
pub(crate) struct Players {
    index: Mutex<Index, PLAYERS>,
    /// How often a turn was given in matches of days.
    turns_given: AtomicU64,
    /// How often sessions were ended, and players called otherwise.
    changes: AtomicU64,
}

/// A player whom the store does not know, and the session that proves who that is.
pub(crate) type Guest = (PlayerRecord, SessionRecord);

/// Trees, since a hash map that grows moves all that it holds at once, while everybody waits for the lock.
#[derive(Debug, Default)]
struct Index {
    players: BTreeMap<PlayerId, Player>,
    /// The guests whom the store does not know. What it knows is asked of it each time, so that a session
    /// that was ended is good for nothing.
    by_token: BTreeMap<TokenHash, PlayerId>,
    /// Guests who have gone, and since when.
    gone: BTreeMap<PlayerId, (Guest, Instant)>,
    /// The guests of `gone`, whoever went first in front; who has come back meanwhile is still listed.
    going: VecDeque<(PlayerId, Instant)>,
    /// Those who were forgotten last, whoever has forgotten them.
    forgotten: BTreeSet<PlayerId>,
    /// The ids in `forgotten`, the one forgotten first in front.
    forgotten_first: VecDeque<PlayerId>,
}

#[derive(Debug)]
struct Player {
    record: PlayerRecord,
    /// The session of which the store does not know, nor of the player.
    unstored: Option<SessionRecord>,
    /// The player's connections, in the order in which they came.
    peers: Vec<Arc<ConnectionHandle>>,
    /// The live matches that this player created.
    hosts: BTreeSet<MatchId>,
    /// The live matches in which this player sits.
    sits: BTreeSet<MatchId>,
    /// Had a part in a match of days when it was looked last. These are not held here.
    plays_days: bool,
}

/// The player hosts as many live matches as the server allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyHosted;

impl From<TooManyHosted> for WireError {
    fn from(TooManyHosted: TooManyHosted) -> Self {
        Self::new(
            ErrorCode::TooManyMatches,
            "you host as many live matches as is allowed",
        )
    }
}

impl Player {
    const fn new(record: PlayerRecord, unstored: Option<SessionRecord>) -> Self {
        Self {
            record,
            unstored,
            peers: Vec::new(),
            hosts: BTreeSet::new(),
            sits: BTreeSet::new(),
            plays_days: false,
        }
    }

    /// Lets the player's connections know whether the player has a part in a live match.
    fn tell_peers(&self) {
        let is_held = !self.hosts.is_empty() || !self.sits.is_empty();
        for peer in &self.peers {
            peer.set_plays(is_held || self.plays_days);
        }
    }

    fn live_matches(&self) -> Vec<MatchId> {
        self.hosts.union(&self.sits).copied().collect()
    }
}

impl Players {
    /// The guest whose token this is, if the store does not know one.
    pub(crate) fn guest(&self, token: TokenHash) -> Option<Guest> {
        let index = self.index.lock();
        // Looking up a digest of the secret tells nothing about the secret by the time it takes.
        let id = index.by_token.get(&token)?;
        index.guest(*id)
    }

    /// The player with this id as they are called now, if one is held here.
    pub(crate) fn record(&self, id: PlayerId) -> Option<PlayerRecord> {
        let index = self.index.lock();
        Some(index.players.get(&id)?.record.clone())
    }

    /// How many players are held here.
    pub(crate) fn len(&self) -> usize {
        self.index.lock().players.len()
    }

    /// Whether there is such a player here.
    pub(crate) fn knows(&self, id: PlayerId) -> bool {
        let index = self.index.lock();
        index.players.contains_key(&id) || index.gone.contains_key(&id)
    }

    /// What the store is to remember of this player, if it does not yet.
    pub(crate) fn unstored(&self, id: PlayerId) -> Option<Guest> {
        self.index.lock().guest(id)
    }

    /// Notes that the store remembers this player.
    pub(crate) fn stored(&self, id: PlayerId) {
        let mut index = self.index.lock();
        // A guest who has gone need not be remembered here any more.
        index.forget(id);
        let player = index.players.get_mut(&id);
        if let Some(session) = player.and_then(|player| player.unstored.take()) {
            index.by_token.remove(&session.token);
        }
    }

    /// The live matches in which the player sits or of which the player is host.
    pub(crate) fn live_matches(&self, id: PlayerId) -> Vec<MatchId> {
        self.index
            .lock()
            .players
            .get(&id)
            .map_or_else(Vec::new, Player::live_matches)
    }

    /// Whether the player hosts fewer than `max` live matches.
    pub(crate) fn may_host(&self, id: PlayerId, max: usize) -> bool {
        self.index
            .lock()
            .players
            .get(&id)
            .is_none_or(|player| player.hosts.len() < max)
    }

    /// Makes the player host of one more live match, of which `max` are allowed.
    pub(crate) fn host(
        &self,
        id: PlayerId,
        hosted: MatchId,
        max: usize,
    ) -> Result<(), TooManyHosted> {
        let mut index = self.index.lock();
        let Some(player) = index.players.get_mut(&id) else {
            return Ok(());
        };
        if player.hosts.len() >= max {
            return Err(TooManyHosted);
        }
        player.hosts.insert(hosted);
        player.tell_peers();
        Ok(())
    }

    /// The live matches of which the player is host.
    pub(crate) fn hosted(&self, id: PlayerId) -> Vec<MatchId> {
        let index = self.index.lock();
        let player = index.players.get(&id);
        player.map_or_else(Vec::new, |player| player.hosts.iter().copied().collect())
    }

    /// Notes that the player has a part in a match of days.
    pub(crate) fn plays_days(&self, id: PlayerId) {
        self.change(id, |player| player.plays_days = true);
    }

    /// A turn has been given in a match of days.
    pub(crate) fn gave_turn(&self) {
        self.turns_given.fetch_add(1, Ordering::AcqRel);
    }

    /// How often that was.
    pub(crate) fn turns_given(&self) -> u64 {
        self.turns_given.load(Ordering::Acquire)
    }

    /// Undoes [`host`](Self::host): the match was not created, or has ended.
    pub(crate) fn unhost(&self, id: PlayerId, hosted: MatchId) {
        self.change(id, |player| {
            player.hosts.remove(&hosted);
        });
    }

    pub(crate) fn sat_down(&self, id: PlayerId, at: MatchId) {
        self.change(id, |player| {
            player.sits.insert(at);
        });
    }

    pub(crate) fn stood_up(&self, id: PlayerId, from: MatchId) {
        self.change(id, |player| {
            player.sits.remove(&from);
        });
    }

    /// Brings back a player who is in a live match, as the store remembers one.
    pub(crate) fn restore(&self, record: PlayerRecord) {
        let mut index = self.index.lock();
        let player = index.players.entry(record.id);
        player.or_insert_with(|| Player::new(record, None));
    }

    /// Notes who is in a live match that begins with this state.
    pub(crate) fn match_begins(&self, state: &Match) {
        if state.creation().terms.is_of_days() {
            return;
        }
        self.change(state.creation().host, |player| {
            player.hosts.insert(state.id());
        });
        for player in state.holders() {
            self.sat_down(player, state.id());
        }
    }

    /// Notes that a match goes on from another state than the one before.
    pub(crate) fn match_rebuilt(&self, before: &Match, state: &Match) {
        if let Stage::Ended { .. } = state.stage() {
            self.match_ended(before);
            return;
        }
        // Additions first, so that no player who stays is evicted in between.
        self.match_begins(state);
        let gone = before
            .holders()
            .filter(|id| !state.holders().any(|holder| holder == *id));
        for player in gone {
            self.stood_up(player, state.id());
        }
    }

    /// Notes that a match has ended.
    pub(crate) fn match_ended(&self, ended: &Match) {
        self.unhost(ended.creation().host, ended.id());
        for player in ended.holders() {
            self.stood_up(player, ended.id());
        }
    }

    /// Changes a player, and lets go of one who is neither connected nor in a live match.
    fn change(&self, id: PlayerId, change: impl FnOnce(&mut Player)) {
        let mut index = self.index.lock();
        let Some(player) = index.players.get_mut(&id) else {
            return;
        };
        change(player);
        player.tell_peers();
        if player.peers.is_empty() && player.hosts.is_empty() && player.sits.is_empty() {
            let Some(player) = index.players.remove(&id) else {
                return;
            };
            if let Some(session) = player.unstored {
                index.remember((player.record, session), now());
            }
        }
    }
}

impl Index {
    /// Holds a guest who has gone for some more time, and lets go of those whose time is over.
    fn remember(&mut self, guest: Guest, now: Instant) {
        let id = guest.0.id;
        self.going.push_back((id, now));
        self.gone.insert(id, (guest, now));
        while let Some(&(id, since)) = self.going.front()
            && (self.going.len() > GUESTS_MAX || now.duration_since(since) >= GUEST_KEPT)
        {
            self.going.pop_front();
            // Unless they have come back, and may have gone once more.
            if self.gone.get(&id).is_some_and(|(_, last)| *last == since) {
                self.forget(id);
            }
        }
    }

    /// Forgets a guest who has gone.
    fn forget(&mut self, id: PlayerId) {
        if let Some(((_, session), _)) = self.gone.remove(&id) {
            self.by_token.remove(&session.token);
        }
    }

    /// The guest with this id, if the store does not know one.
    fn guest(&self, id: PlayerId) -> Option<Guest> {
        if let Some((guest, _)) = self.gone.get(&id) {
            return Some(guest.clone());
        }
        let player = self.players.get(&id)?;
        Some((player.record.clone(), player.unstored.clone()?))
    }
}

pub(crate) fn new_player_id(chance: &SeededRng) -> PlayerId {
    PlayerId(uuid::Builder::from_random_bytes(chance.random_bytes()).into_uuid())
}

/// A name for somebody who gave none.
pub(crate) fn guest_name(chance: &SeededRng) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let letters = chance
        .random_bytes::<4>()
        .map(|byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()]));
    format!("guest-{}", String::from_iter(letters))
}
