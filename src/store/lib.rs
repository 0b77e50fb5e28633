//! Where matches and players are kept: the port that the server writes through, and its adapters.
//!
//! Durable before told: nothing is answered or broadcast before the future of its write is done.

mod memory;
mod metrics;
mod sqlite;
#[cfg(test)]
mod suite;

use std::fmt;

use futures::future::BoxFuture;

pub use memory::MemoryStore;
pub use metrics::{StoreMetrics, durations};
pub use sqlite::{Fault, KeptMatch, OpenError, SqliteArchive, SqliteStore, Summary};

use plyhouse_matches::{Creation, Event, EventKind};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, Seq};

/// A store of matches, each a creation and its events, and of the players who sat in them.
///
/// A write that returns has happened, and a crash after it forgets nothing. One match's writes
/// come one after another; writes of different matches may share whatever they wait for.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Begins the record of a match with its first events.
    fn create(&self, record: Record) -> BoxFuture<'_, Result<(), WriteError>>;

    /// Adds events to a match whose last event is still `after`: compare and append.
    fn append(
        &self,
        id: MatchId,
        after: Seq,
        events: Vec<Event>,
    ) -> BoxFuture<'_, Result<(), WriteError>>;

    /// Reads the record of a match; `None` if there is none.
    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<Record>, ReadError>>;

    /// The match that had this code last, if one is kept.
    fn by_code(&self, code: MatchCode) -> BoxFuture<'_, Result<Option<MatchId>, ReadError>>;

    /// What a server begins with: every match that has not ended, and the players who are in one.
    fn live(&self) -> BoxFuture<'_, Result<Live, ReadError>>;

    /// Lets go of an ended match that nobody can ask for any more. An adapter that keeps the past
    /// may keep it.
    fn retire(&self, id: MatchId) -> BoxFuture<'_, ()>;

    /// Remembers a player. Doing so again changes nothing.
    fn add_player(&self, player: PlayerRecord) -> BoxFuture<'_, Result<(), WriteError>>;

    /// The player whose token has this hash, if one is remembered.
    fn player(&self, token: TokenHash) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>>;

    /// Whether what is written now is likely to be kept: false from a failure on until a write has
    /// succeeded again.
    fn is_well(&self) -> bool;

    /// What it has written and how long that took, if it writes to something that takes time.
    fn tally(&self) -> Option<&StoreMetrics>;
}

/// All that is known of a match.
#[derive(Clone, Debug)]
pub struct Record {
    /// What was settled when it was created.
    pub creation: Creation,
    /// What has happened in it, in order; the first event has the number 1.
    pub events: Vec<Event>,
}

impl Record {
    /// Whether the match is over.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.events.last().is_some_and(Event::is_end)
    }

    /// The host, and everybody who has ever sat down. Some may be told twice.
    fn involved(&self) -> impl Iterator<Item = PlayerId> {
        let seated = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Seated { occupant, .. } => occupant.player(),
            EventKind::Started | EventKind::Moved { .. } | EventKind::Ended { .. } => None,
        });
        seated.chain([self.creation.host])
    }
}

/// The SHA-256 of a token. The token itself is never kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash(pub [u8; 32]);

/// A player as the store remembers one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerRecord {
    /// The public id.
    pub id: PlayerId,
    /// The name.
    pub name: String,
    /// What proves who it is.
    pub token: TokenHash,
}

/// A write did not happen, or may not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The match's last event is another than the writer believed: nothing was written.
    #[error("somebody else has written to this match")]
    Conflict,
    /// Nothing was written, and the same write may succeed later.
    #[error("the store cannot write now")]
    Unavailable,
    /// It may have happened or not: to be read back before anything is said.
    #[error("the store does not know whether it has written")]
    Unknown,
}

/// The store could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It may be readable later.
    #[error("the store cannot read now")]
    Unavailable,
    /// What is there makes no sense.
    #[error(transparent)]
    Damaged(Damage),
}

/// A match whose record makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record of match {id} is damaged: {why}")]
pub struct Damage {
    /// Which.
    pub id: MatchId,
    /// What is wrong with it.
    pub why: String,
}

/// What a server begins with.
#[derive(Debug, Default)]
pub struct Live {
    /// Every match that has not ended, as far as it can be read, oldest first.
    pub matches: Vec<Result<Record, Damage>>,
    /// Everybody who hosts one of these matches or sits in one.
    pub players: Vec<PlayerRecord>,
}
