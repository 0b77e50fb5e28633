//! Read-only access to a store, for tools such as `plyhouse export` and `plyhouse verify`.

mod match_json;
mod verification;

use std::fmt;

use plyhouse_protocol::{MatchId, MatchRef, PlayerId};

pub use self::verification::{Fault, VerificationReport, verify};
use crate::{
    Account, CorruptRecord, MatchRecord, OneTimeToken, PlayerRecord, SessionRecord, TokenHash,
};

/// Reads a store without changing it. A server may use the store at the same time.
///
/// All data about a match comes from one consistent snapshot. No lock is held between two matches,
/// so a slow reader does not block a running server.
pub trait StoreInspector: fmt::Debug {
    /// Returns the id of the first match that was created after the match with the id `after`. If
    /// `after` is `None`, returns the id of the first match in the store.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn next_match(&self, after: Option<MatchId>) -> Result<Option<MatchId>, StoreAccessError>;

    /// Finds a match by its id or code, and returns the match id. If several matches have had the
    /// code, returns the live match. If none of them is live, returns the match that was created
    /// last.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn find_match(&self, name: MatchRef) -> Result<Option<MatchId>, StoreAccessError>;

    /// Reads a match with its events and players. Returns `None` if the match is not stored.
    ///
    /// # Errors
    ///
    /// Returns an error if the stored data is corrupt or cannot be read.
    fn inspect_match(&self, id: MatchId) -> Result<Option<InspectedMatch>, CorruptRecord>;

    /// Returns the number of stored players.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn player_count(&self) -> Result<u64, StoreAccessError>;

    /// Returns a page of players with their sessions, ordered by player id. The first page is
    /// returned if `after` is `None`. Otherwise, the page starts after the player with the id
    /// `after`. Returns an empty page if no players remain.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn players_after(
        &self,
        after: Option<PlayerId>,
    ) -> Result<Vec<InspectedPlayer>, StoreAccessError>;

    /// Returns the unused one-time tokens that the operator issued, including invitations, ordered
    /// by hash.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn one_time_tokens(&self) -> Result<Vec<(TokenHash, OneTimeToken)>, StoreAccessError>;

    /// Checks the store as a whole and returns a description of each fault. The function [`verify`]
    /// reports these faults and also checks each match.
    fn integrity_faults(&self) -> Vec<String>;
}

/// A player with all stored identity data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectedPlayer {
    /// Id, name and kind of the player.
    pub player: PlayerRecord,
    /// Sessions of the player.
    pub sessions: Vec<SessionRecord>,
    /// Hash of the recovery key, if the player has one.
    pub recovery_key: Option<TokenHash>,
    /// Account of the player, if the player has one.
    pub account: Option<Account>,
    /// Players that this player blocks, ordered by id. Each entry contains the time at which the
    /// block began, as Unix time in milliseconds.
    pub blocks: Vec<(PlayerId, u64)>,
    /// Whether the player was deleted. For a deleted player, only the id and the reserved names in
    /// `account` are meaningful.
    pub is_deleted: bool,
}

/// Maximum number of players that [`StoreInspector::players_after`] returns.
pub(crate) const PLAYERS_PAGE_SIZE: usize = 256;

/// Stored data of a match. `plyhouse export` prints its serialized form.
#[derive(Debug)]
pub struct InspectedMatch {
    /// Creation data and events of the match.
    pub record: MatchRecord,
    /// Time at which the match ended, as Unix time in milliseconds. `None` while the match is live.
    pub ended_ms: Option<i64>,
    /// The host and all players who ever had a seat in the match, with their names. Players who are
    /// not stored are omitted.
    pub players: Vec<(PlayerId, String)>,
}

/// Error for a store that cannot be read or written. Contains a description of the cause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreAccessError(pub String);
