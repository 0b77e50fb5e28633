//! Registry of connected players and of the live matches of each player.
//!
//! The registry holds a player while the player is connected or in a live match, except a
//! correspondence match. The store holds all other players and their sessions. A guest who has only
//! watched is not stored. The registry holds such a guest and their only session for some time
//! after the guest disconnects.

mod connected;
pub(crate) mod joining;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use self::joining::Joining;
use crate::connection::handle::ConnectionHandle;
use crate::connection::id::ConnectionId;
use crate::context::clock_and_rng::{SeededRng, now};
use crate::context::limit_reached::LimitReached;
use crate::context::locks::{Mutex, PLAYERS};
use plyhouse_matches::{Match, Stage};
use plyhouse_protocol::{MatchId, PlayerId};
use plyhouse_store::{PlayerRecord, SessionRecord, TokenHash};

/// Retention time of a disconnected guest who is not in the store.
const OFFLINE_GUEST_RETENTION: Duration = Duration::from_secs(2 * 3600);

/// Maximum number of disconnected guests in memory, of about 400 bytes each. The guests who
/// disconnected first are evicted first.
const OFFLINE_GUESTS_MAX: usize = 100_000;

/// Maximum number of deleted players in memory, of 32 bytes each. The store has the complete list.
/// The server uses these entries to detect deleted players in matches that were stored shortly
/// before the deletion.
const DELETED_PLAYERS_MAX: usize = 100_000;

/// Players who are connected or in a live match, and guests who have disconnected recently.
#[derive(Debug, Default)]
pub(crate) struct PlayerRegistry {
    index: Mutex<Index, PLAYERS>,
    /// Number of identity changes, used to detect changes between the first read of a login and the
    /// registration of its connection. An identity change ends a player's sessions or updates a
    /// player's record.
    identity_change_count: AtomicU64,
}

/// Guest who is not in the store: the player record and the guest's only session.
pub(crate) type Guest = (PlayerRecord, SessionRecord);

/// The maps are B-trees, because a growing hash map moves all its entries at once while other tasks
/// wait for the lock.
#[derive(Debug, Default)]
struct Index {
    players: BTreeMap<PlayerId, PlayerEntry>,
    /// Guests who are not in the store, by token hash. Stored sessions are always read from the
    /// store, so that an ended session is invalid at once.
    guests_by_token: BTreeMap<TokenHash, PlayerId>,
    /// Disconnected guests, with the time when they disconnected.
    offline_guests: BTreeMap<PlayerId, (Guest, Instant)>,
    /// Ids and disconnection times of guests, oldest first. The entries of guests who have
    /// reconnected remain in this queue.
    offline_order: VecDeque<(PlayerId, Instant)>,
    /// Recently deleted players, including those deleted by other servers.
    deleted_players: BTreeSet<PlayerId>,
    /// Ids in `deleted_players`, oldest first.
    deletion_order: VecDeque<PlayerId>,
}

#[derive(Debug)]
struct PlayerEntry {
    record: PlayerRecord,
    /// Session of a guest who is not in the store.
    unstored_session: Option<SessionRecord>,
    /// Connections of the player, oldest first.
    connections: Vec<Arc<ConnectionHandle>>,
    /// Connections of the player whose clients are still logging in.
    joining: BTreeMap<ConnectionId, Joining>,
    /// Live matches hosted by the player.
    hosted_matches: BTreeSet<MatchId>,
    /// Live matches where the player holds a seat.
    seated_matches: BTreeSet<MatchId>,
    /// Whether the player participated in a correspondence match at the last check. A player whose
    /// only matches are correspondence matches is evicted after disconnecting.
    plays_correspondence: bool,
}

impl PlayerEntry {
    const fn new(record: PlayerRecord, unstored_session: Option<SessionRecord>) -> Self {
        Self {
            record,
            unstored_session,
            connections: Vec::new(),
            joining: BTreeMap::new(),
            hosted_matches: BTreeSet::new(),
            seated_matches: BTreeSet::new(),
            plays_correspondence: false,
        }
    }

    /// Sets on each of the player's connections whether the player participates in a live match.
    /// Correspondence matches count as live matches here.
    fn update_connections(&self) {
        let is_in_live_match = !self.hosted_matches.is_empty() || !self.seated_matches.is_empty();
        for connection in &self.connections {
            connection.set_playing(is_in_live_match || self.plays_correspondence);
        }
    }

    /// Returns whether the player has no connection, not even one whose client is logging in.
    fn is_offline(&self) -> bool {
        self.connections.is_empty() && self.joining.is_empty()
    }

    fn live_matches(&self) -> Vec<MatchId> {
        self.hosted_matches
            .union(&self.seated_matches)
            .copied()
            .collect()
    }
}

impl PlayerRegistry {
    /// Returns the guest with this session token, if the guest is not in the store.
    pub(crate) fn find_guest_by_token(&self, token: TokenHash) -> Option<Guest> {
        let index = self.index.lock();
        // The key is a hash of the token, so the lookup time reveals nothing about the token.
        let id = index.guests_by_token.get(&token)?;
        index.find_guest(*id)
    }

    /// Returns the current record of a player in the registry.
    pub(crate) fn record(&self, id: PlayerId) -> Option<PlayerRecord> {
        self.read_player(id, |player| Some(player.record.clone()))
    }

    /// Returns the number of players in the registry, without disconnected guests.
    pub(crate) fn len(&self) -> usize {
        self.index.lock().players.len()
    }

    /// Returns whether the registry contains this player, connected or not.
    pub(crate) fn contains(&self, id: PlayerId) -> bool {
        let index = self.index.lock();
        index.players.contains_key(&id) || index.offline_guests.contains_key(&id)
    }

    /// Returns the record and session of a player who is not in the store.
    pub(crate) fn unstored_guest(&self, id: PlayerId) -> Option<Guest> {
        self.index.lock().find_guest(id)
    }

    /// Records that this player is now in the store.
    pub(crate) fn mark_stored(&self, id: PlayerId) {
        let mut index = self.index.lock();
        // Disconnected guests stay in memory only while they are not in the store, so this guest is
        // removed from the disconnected guests.
        index.remove_offline_guest(id);
        let player = index.players.get_mut(&id);
        if let Some(session) = player.and_then(|player| player.unstored_session.take()) {
            index.guests_by_token.remove(&session.token);
        }
    }

    /// Returns the live matches that the player hosts or plays in, except correspondence matches.
    pub(crate) fn live_matches(&self, id: PlayerId) -> Vec<MatchId> {
        self.read_player(id, PlayerEntry::live_matches)
    }

    /// Returns whether the player hosts fewer than `max` live matches.
    pub(crate) fn may_host(&self, id: PlayerId, max: usize) -> bool {
        self.read_player(id, |player| player.hosted_matches.len()) < max
    }

    /// Adds a live match hosted by the player, up to `max` matches. Does nothing if the registry
    /// does not contain the player.
    pub(crate) fn add_hosted_match(
        &self,
        id: PlayerId,
        match_id: MatchId,
        max: usize,
    ) -> Result<(), LimitReached> {
        let mut index = self.index.lock();
        let Some(player) = index.players.get_mut(&id) else {
            return Ok(());
        };
        if player.hosted_matches.len() >= max {
            return Err(LimitReached::HostedMatches);
        }
        player.hosted_matches.insert(match_id);
        player.update_connections();
        Ok(())
    }

    /// Returns the live matches hosted by the player.
    pub(crate) fn hosted_matches(&self, id: PlayerId) -> Vec<MatchId> {
        self.read_player(id, |player| player.hosted_matches.iter().copied().collect())
    }

    /// Records that the player participates in a correspondence match.
    pub(crate) fn mark_plays_correspondence(&self, id: PlayerId) {
        self.update_player(id, |player| player.plays_correspondence = true);
    }

    /// Removes a match from the player's hosted matches. Must be called when the match has ended or
    /// could not be created.
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

    /// Adds a participant of a live match to the registry. `record` is the participant's record
    /// from the store.
    pub(crate) fn restore_player(&self, record: PlayerRecord) {
        let mut index = self.index.lock();
        let player = index.players.entry(record.id);
        player.or_insert_with(|| PlayerEntry::new(record, None));
    }

    /// Records the host and the players of a live match. Correspondence matches are not recorded.
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

    /// Updates the registry after a match was reloaded from the store.
    pub(crate) fn on_match_reloaded(&self, before: &Match, state: &Match) {
        if let Stage::Ended { .. } = state.stage() {
            self.on_match_ended(before);
            return;
        }
        // Players are added before players are removed. Otherwise, the registry could evict a
        // player who remains in the match.
        self.on_match_started(state);
        let has_left = |id: &PlayerId| state.seat_held_by(*id).is_none();
        for player in before.seat_holders().filter(has_left) {
            self.remove_seated_match(player, state.id());
        }
    }

    /// Removes an ended match from the registry entries of the match's host and players.
    pub(crate) fn on_match_ended(&self, ended: &Match) {
        self.remove_hosted_match(ended.creation().host, ended.id());
        for player in ended.seat_holders() {
            self.remove_seated_match(player, ended.id());
        }
    }

    /// Reads the entry of a player. Returns the default value if the registry does not contain the
    /// player.
    fn read_player<T: Default>(&self, id: PlayerId, read: impl FnOnce(&PlayerEntry) -> T) -> T {
        let index = self.index.lock();
        index.players.get(&id).map(read).unwrap_or_default()
    }

    /// Changes the entry of a player, and evicts a player who is neither connected nor in a live
    /// match.
    fn update_player(&self, id: PlayerId, change: impl FnOnce(&mut PlayerEntry)) {
        let mut index = self.index.lock();
        let Some(player) = index.players.get_mut(&id) else {
            return;
        };
        change(player);
        player.update_connections();
        if player.is_offline()
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
    /// Adds a guest who has disconnected. Evicts guests whose retention time is over, and the
    /// guests who disconnected first if there are more than [`OFFLINE_GUESTS_MAX`].
    fn add_offline_guest(&mut self, guest: Guest, now: Instant) {
        let id = guest.0.id;
        self.offline_order.push_back((id, now));
        self.offline_guests.insert(id, (guest, now));
        while let Some(&(id, since)) = self.offline_order.front()
            && (self.offline_order.len() > OFFLINE_GUESTS_MAX
                || now.duration_since(since) >= OFFLINE_GUEST_RETENTION)
        {
            self.offline_order.pop_front();
            // If the guest has reconnected since then, this queue entry is outdated, and the guest
            // must not be evicted.
            let guest = self.offline_guests.get(&id);
            if guest.is_some_and(|(_, last)| *last == since) {
                self.remove_offline_guest(id);
            }
        }
    }

    /// Evicts a disconnected guest.
    fn remove_offline_guest(&mut self, id: PlayerId) {
        if let Some(((_, session), _)) = self.offline_guests.remove(&id) {
            self.guests_by_token.remove(&session.token);
        }
    }

    /// Returns the guest with this id, if the guest is not in the store.
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

/// Returns a random name for a guest.
pub(crate) fn random_guest_name(rng: &SeededRng) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let letters = rng
        .random_bytes::<4>()
        .map(|byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()]));
    format!("guest-{}", String::from_iter(letters))
}
