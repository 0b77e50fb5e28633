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
const OFFLINE_GUEST_RETENTION: Duration = Duration::from_secs(2 * 3600);

/// How many such guests are remembered at most, of about 400 bytes each: those who went last.
const OFFLINE_GUESTS_MAX: usize = 100_000;

/// How many who were forgotten are remembered as such, of 32 bytes each. The store knows them all: this is for
/// what it has written shortly before.
const DELETED_PLAYERS_MAX: usize = 100_000;

/// Every player who is connected or in a live match.
#[derive(Debug, Default)]
pub(crate) struct PlayerRegistry {
    index: Mutex<Index, PLAYERS>,
    /// How often a turn was given in matches of days.
    correspondence_turn_count: AtomicU64,
    /// How often sessions were ended, and players called otherwise.
    identity_change_count: AtomicU64,
}

/// A player whom the store does not know, and the session that proves who that is.
pub(crate) type Guest = (PlayerRecord, SessionRecord);

/// Trees, since a hash map that grows moves all that it holds at once, while everybody waits for the lock.
#[derive(Debug, Default)]
struct Index {
    players: BTreeMap<PlayerId, PlayerEntry>,
    /// The guests whom the store does not know. What it knows is asked of it each time, so that a session
    /// that was ended is good for nothing.
    guests_by_token: BTreeMap<TokenHash, PlayerId>,
    /// Guests who have gone, and since when.
    offline_guests: BTreeMap<PlayerId, (Guest, Instant)>,
    /// The guests of `gone`, whoever went first in front; who has come back meanwhile is still listed.
    offline_order: VecDeque<(PlayerId, Instant)>,
    /// Those who were forgotten last, whoever has forgotten them.
    deleted_players: BTreeSet<PlayerId>,
    /// The ids in `forgotten`, the one forgotten first in front.
    deletion_order: VecDeque<PlayerId>,
}

#[derive(Debug)]
struct PlayerEntry {
    record: PlayerRecord,
    /// The session of which the store does not know, nor of the player.
    unstored_session: Option<SessionRecord>,
    /// The player's connections, in the order in which they came.
    connections: Vec<Arc<ConnectionHandle>>,
    /// The live matches that this player created.
    hosted_matches: BTreeSet<MatchId>,
    /// The live matches in which this player sits.
    seated_matches: BTreeSet<MatchId>,
    /// Had a part in a match of days when it was looked last. These are not held here.
    plays_correspondence: bool,
}

/// The player hosts as many live matches as the server allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyHostedMatches;

impl From<TooManyHostedMatches> for WireError {
    fn from(TooManyHostedMatches: TooManyHostedMatches) -> Self {
        Self::new(
            ErrorCode::TooManyMatches,
            "you host as many live matches as is allowed",
        )
    }
}

impl PlayerEntry {
    const fn new(record: PlayerRecord, unstored_session: Option<SessionRecord>) -> Self {
        Self {
            record,
            unstored_session,
            connections: Vec::new(),
            hosted_matches: BTreeSet::new(),
            seated_matches: BTreeSet::new(),
            plays_correspondence: false,
        }
    }

    /// Lets the player's connections know whether the player has a part in a live match.
    fn update_connections(&self) {
        let is_in_live_match = !self.hosted_matches.is_empty() || !self.seated_matches.is_empty();
        for connection in &self.connections {
            connection.set_playing(is_in_live_match || self.plays_correspondence);
        }
    }

    fn live_matches(&self) -> Vec<MatchId> {
        self.hosted_matches
            .union(&self.seated_matches)
            .copied()
            .collect()
    }
}

impl PlayerRegistry {
    /// The guest whose token this is, if the store does not know one.
    pub(crate) fn find_guest_by_token(&self, token: TokenHash) -> Option<Guest> {
        let index = self.index.lock();
        // Looking up a digest of the secret tells nothing about the secret by the time it takes.
        let id = index.guests_by_token.get(&token)?;
        index.find_guest(*id)
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
    pub(crate) fn contains(&self, id: PlayerId) -> bool {
        let index = self.index.lock();
        index.players.contains_key(&id) || index.offline_guests.contains_key(&id)
    }

    /// What the store is to remember of this player, if it does not yet.
    pub(crate) fn unstored_guest(&self, id: PlayerId) -> Option<Guest> {
        self.index.lock().find_guest(id)
    }

    /// Notes that the store remembers this player.
    pub(crate) fn mark_stored(&self, id: PlayerId) {
        let mut index = self.index.lock();
        // A guest who has gone need not be remembered here any more.
        index.remove_offline_guest(id);
        let player = index.players.get_mut(&id);
        if let Some(session) = player.and_then(|player| player.unstored_session.take()) {
            index.guests_by_token.remove(&session.token);
        }
    }

    /// The live matches in which the player sits or of which the player is host.
    pub(crate) fn live_matches(&self, id: PlayerId) -> Vec<MatchId> {
        self.index
            .lock()
            .players
            .get(&id)
            .map_or_else(Vec::new, PlayerEntry::live_matches)
    }

    /// Whether the player hosts fewer than `max` live matches.
    pub(crate) fn may_host(&self, id: PlayerId, max: usize) -> bool {
        self.index
            .lock()
            .players
            .get(&id)
            .is_none_or(|player| player.hosted_matches.len() < max)
    }

    /// Makes the player host of one more live match, of which `max` are allowed.
    pub(crate) fn add_hosted_match(
        &self,
        id: PlayerId,
        match_id: MatchId,
        max: usize,
    ) -> Result<(), TooManyHostedMatches> {
        let mut index = self.index.lock();
        let Some(player) = index.players.get_mut(&id) else {
            return Ok(());
        };
        if player.hosted_matches.len() >= max {
            return Err(TooManyHostedMatches);
        }
        player.hosted_matches.insert(match_id);
        player.update_connections();
        Ok(())
    }

    /// The live matches of which the player is host.
    pub(crate) fn hosted_matches(&self, id: PlayerId) -> Vec<MatchId> {
        let index = self.index.lock();
        let player = index.players.get(&id);
        player.map_or_else(Vec::new, |player| {
            player.hosted_matches.iter().copied().collect()
        })
    }

    /// Notes that the player has a part in a match of days.
    pub(crate) fn mark_plays_correspondence(&self, id: PlayerId) {
        self.update_player(id, |player| player.plays_correspondence = true);
    }

    /// A turn has been given in a match of days.
    pub(crate) fn count_correspondence_turn(&self) {
        self.correspondence_turn_count
            .fetch_add(1, Ordering::AcqRel);
    }

    /// How often that was.
    pub(crate) fn correspondence_turn_count(&self) -> u64 {
        self.correspondence_turn_count.load(Ordering::Acquire)
    }

    /// Undoes [`add_hosted_match`](Self::add_hosted_match): the match was not created, or has ended.
    pub(crate) fn remove_hosted_match(&self, id: PlayerId, match_id: MatchId) {
        self.update_player(id, |player| {
            player.hosted_matches.remove(&match_id);
        });
    }

    pub(crate) fn add_seated_match(&self, id: PlayerId, match_id: MatchId) {
        self.update_player(id, |player| {
            player.seated_matches.insert(match_id);
        });
    }

    pub(crate) fn remove_seated_match(&self, id: PlayerId, match_id: MatchId) {
        self.update_player(id, |player| {
            player.seated_matches.remove(&match_id);
        });
    }

    /// Brings back a player who is in a live match, as the store remembers one.
    pub(crate) fn restore_player(&self, record: PlayerRecord) {
        let mut index = self.index.lock();
        let player = index.players.entry(record.id);
        player.or_insert_with(|| PlayerEntry::new(record, None));
    }

    /// Notes who is in a live match that begins with this state.
    pub(crate) fn on_match_started(&self, state: &Match) {
        if state.creation().terms.is_correspondence() {
            return;
        }
        self.update_player(state.creation().host, |player| {
            player.hosted_matches.insert(state.id());
        });
        for player in state.seat_holders() {
            self.add_seated_match(player, state.id());
        }
    }

    /// Notes that a match goes on from another state than the one before.
    pub(crate) fn on_match_reloaded(&self, before: &Match, state: &Match) {
        if let Stage::Ended { .. } = state.stage() {
            self.on_match_ended(before);
            return;
        }
        // Additions first, so that no player who stays is evicted in between.
        self.on_match_started(state);
        let removed_players = before
            .seat_holders()
            .filter(|id| !state.seat_holders().any(|holder| holder == *id));
        for player in removed_players {
            self.remove_seated_match(player, state.id());
        }
    }

    /// Notes that a match has ended.
    pub(crate) fn on_match_ended(&self, ended: &Match) {
        self.remove_hosted_match(ended.creation().host, ended.id());
        for player in ended.seat_holders() {
            self.remove_seated_match(player, ended.id());
        }
    }

    /// Changes a player, and lets go of one who is neither connected nor in a live match.
    fn update_player(&self, id: PlayerId, change: impl FnOnce(&mut PlayerEntry)) {
        let mut index = self.index.lock();
        let Some(player) = index.players.get_mut(&id) else {
            return;
        };
        change(player);
        player.update_connections();
        if player.connections.is_empty()
            && player.hosted_matches.is_empty()
            && player.seated_matches.is_empty()
        {
            let Some(player) = index.players.remove(&id) else {
                return;
            };
            if let Some(session) = player.unstored_session {
                index.add_offline_guest((player.record, session), now());
            }
        }
    }
}

impl Index {
    /// Holds a guest who has gone for some more time, and lets go of those whose time is over.
    fn add_offline_guest(&mut self, guest: Guest, now: Instant) {
        let id = guest.0.id;
        self.offline_order.push_back((id, now));
        self.offline_guests.insert(id, (guest, now));
        while let Some(&(id, since)) = self.offline_order.front()
            && (self.offline_order.len() > OFFLINE_GUESTS_MAX
                || now.duration_since(since) >= OFFLINE_GUEST_RETENTION)
        {
            self.offline_order.pop_front();
            // Unless they have come back, and may have gone once more.
            if self
                .offline_guests
                .get(&id)
                .is_some_and(|(_, last)| *last == since)
            {
                self.remove_offline_guest(id);
            }
        }
    }

    /// Forgets a guest who has gone.
    fn remove_offline_guest(&mut self, id: PlayerId) {
        if let Some(((_, session), _)) = self.offline_guests.remove(&id) {
            self.guests_by_token.remove(&session.token);
        }
    }

    /// The guest with this id, if the store does not know one.
    fn find_guest(&self, id: PlayerId) -> Option<Guest> {
        if let Some((guest, _)) = self.offline_guests.get(&id) {
            return Some(guest.clone());
        }
        let player = self.players.get(&id)?;
        Some((player.record.clone(), player.unstored_session.clone()?))
    }
}

pub(crate) fn new_player_id(rng: &SeededRng) -> PlayerId {
    PlayerId(uuid::Builder::from_random_bytes(rng.random_bytes()).into_uuid())
}

/// A name for somebody who gave none.
pub(crate) fn random_guest_name(rng: &SeededRng) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let letters = rng
        .random_bytes::<4>()
        .map(|byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()]));
    format!("guest-{}", String::from_iter(letters))
}
