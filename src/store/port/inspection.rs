//! A store as those see it who only look at it, such as `plyhouse export` and `plyhouse verify`.

mod match_json;
mod verification;

use std::fmt;

use plyhouse_protocol::{MatchId, MatchRef, PlayerId};

pub use self::verification::{Fault, VerificationReport, verify};
use crate::{
    Account, CorruptRecord, MatchRecord, OneTimeToken, PlayerRecord, SessionRecord, TokenHash,
};

/// Reads a store without being its server: it writes nothing, and works while a server runs and
/// while none does.
///
/// Every match is read as it was at one moment, and between two matches nothing is held: however
/// slowly the matches are taken, a server that runs is not hindered.
pub trait StoreInspector: fmt::Debug {
    /// The match that was created next after this one; the first of all after none.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn next_match(&self, after: Option<MatchId>) -> Result<Option<MatchId>, StoreAccessError>;

    /// The match with this id, or the live match with this code, or else the last that had it.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn find_match(&self, name: MatchRef) -> Result<Option<MatchId>, StoreAccessError>;

    /// All that is kept of a match; `None` if there is none.
    ///
    /// # Errors
    ///
    /// What is kept makes no sense or cannot be read.
    fn inspect_match(&self, id: MatchId) -> Result<Option<InspectedMatch>, CorruptRecord>;

    /// How many players are kept.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn player_count(&self) -> Result<u64, StoreAccessError>;

    /// Some of the players with their sessions, from the one after this on, in the order of their ids; none
    /// after the last.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn players_after(
        &self,
        after: Option<PlayerId>,
    ) -> Result<Vec<InspectedPlayer>, StoreAccessError>;

    /// What the operator has given and nobody has used, invitations among it, in the order of what it is known by.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn one_time_tokens(&self) -> Result<Vec<(TokenHash, OneTimeToken)>, StoreAccessError>;

    /// What is wrong with the store as such, beside what is wrong with single matches.
    fn integrity_faults(&self) -> Vec<String>;
}

/// A player, and all by which they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectedPlayer {
    /// Who it is.
    pub player: PlayerRecord,
    /// The sessions.
    pub sessions: Vec<SessionRecord>,
    /// What the recovery key is known by, if there is one.
    pub recovery_key: Option<TokenHash>,
    /// What is kept of the account, if it is one.
    pub account: Option<Account>,
    /// Whom the player blocks, in the order of their ids, and since when, in milliseconds since 1970.
    pub blocks: Vec<(PlayerId, u64)>,
    /// Whether the player was forgotten, and nothing but the id means anything.
    pub is_deleted: bool,
}

/// How many players are read at once.
pub(crate) const PLAYERS_PAGE_SIZE: i64 = 256;

/// All that is kept of a match. Its serialisation is what `plyhouse export` prints.
#[derive(Debug)]
pub struct InspectedMatch {
    /// The match and its events.
    pub record: MatchRecord,
    /// When the match ended, in milliseconds since 1970.
    pub ended_ms: Option<i64>,
    /// The host and everybody who ever sat down, with their names; those who are known.
    pub players: Vec<(PlayerId, String)>,
}

/// A store cannot be read, for this reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreAccessError(pub String);
