//! Journals of matches: creation data and events.

use std::fmt;

use plyhouse_matches::{Event, Participation, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, RatingChange, Seq};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::delegation::delegatable;
use crate::{CorruptRecord, EndedMatch, MatchRecord, PlayerRecord, ReadFuture, WriteFuture};

delegatable! {
    $ delegate_journal_store
    /// Stores matches. A match consists of its creation data and its events.
    ///
    /// The writes of one match are executed in order. Writes of different matches may share one
    /// sync to disk.
    ///
    /// [`append`](Self::append) checks the journal position that the caller passes. Only the
    /// position check prevents two servers from writing conflicting events to a match. The owner of
    /// a match is the server that should run the match, but appends do not check the owner. If two
    /// servers both act as the owner of a match, one of them gets a conflict and reads the match
    /// again.
    pub trait JournalStore: fmt::Debug + Send + Sync + 'static {
        /// Stores a new match with its first events and its [reminder](MatchRecord::reminder). The
        /// server `owner` owns the new match. Returns the journal position after the first events.
        ///
        /// A match has at most one rematch, so creating a second rematch is a conflict. The store
        /// refuses a match whose host, seated player or invited player was
        /// [deleted](crate::IdentityChanges::delete_player).
        fn create(&self, owner: NodeId, record: MatchRecord) -> WriteFuture<'_, JournalPosition>;

        /// Appends events to a match if the journal of the match still ends at the position
        /// `after`. Returns the journal position after the new events.
        ///
        /// If `reminder` is given, it replaces the previous reminder. A call without events tests
        /// whether the store can be written now. When an event ends the match, the store deletes
        /// the reminder and adds the match to the data that
        /// [`history`](crate::ArchiveStore::history) and [`explore`](crate::ArchiveStore::explore)
        /// read.
        ///
        /// The store refuses events that seat a [deleted](crate::IdentityChanges::delete_player)
        /// player. If a bot substitutes for a deleted player, the store replaces the player's name
        /// with [`DELETED_PLAYER_NAME`](crate::DELETED_PLAYER_NAME).
        fn append_with_reminder(
            &self,
            id: MatchId,
            after: JournalPosition,
            events: Vec<Event>,
            reminder: Option<Reminder>,
        ) -> WriteFuture<'_, JournalPosition>;

        /// Appends events in the same way as [`append_with_reminder`](Self::append_with_reminder),
        /// but does not change the reminder.
        fn append(
            &self,
            id: MatchId,
            after: JournalPosition,
            events: Vec<Event>,
        ) -> WriteFuture<'_, JournalPosition> {
            self.append_with_reminder(id, after, events, None)
        }

        /// Appends events that end a match. `ended` must be the match after these events. The store
        /// files the match from this argument instead of reading it back from the journal. The
        /// default implementation reads it back.
        fn append_end(
            &self,
            id: MatchId,
            after: JournalPosition,
            events: Vec<Event>,
            _ended: Box<EndedMatch>,
        ) -> WriteFuture<'_, JournalPosition> {
            self.append(id, after, events)
        }

        /// Loads a match. Returns `None` if the match is not stored.
        fn load(&self, id: MatchId) -> ReadFuture<'_, Option<LoadedMatch>>;

        /// Returns the events after a journal position. Returns `None` if the journal does not
        /// contain this position.
        fn tail(&self, id: MatchId, after: JournalPosition) -> ReadFuture<'_, Option<JournalTail>>;

        /// Returns the live match with this code. If no live match has the code, returns the most
        /// recently created match that had the code.
        fn find_by_code(&self, code: MatchCode) -> ReadFuture<'_, Option<MatchId>>;

        /// Returns the live matches that the server `node` may claim, oldest first. Omits matches
        /// that have a wake time, that `node` owns, or that another server with a valid lease owns.
        /// A store for a single server has no leases, so it omits only matches that have a wake
        /// time or that `node` owns.
        fn unowned(&self, node: NodeId) -> ReadFuture<'_, Vec<MatchId>>;

        /// Changes the owner of a match to the server `owner`. A server that is going to run a
        /// match must call this method before it loads the match. If several servers share the
        /// store, a change of owner invalidates all earlier journal positions. Appends at invalid
        /// positions fail.
        fn claim(&self, id: MatchId, owner: NodeId) -> WriteFuture<'_, ()>;

        /// Clears the owner of a match when the owner stops running the match. The default
        /// implementation does nothing.
        fn release(&self, _id: MatchId) {}

        /// Loads all live matches of `owner` that have no wake time, and their players.
        fn load_live_matches(&self, owner: NodeId) -> ReadFuture<'_, LiveMatches>;

        /// Returns at most `limit` matches with a wake time, ordered by wake time and then by id.
        /// Each entry consists of the wake time, as Unix time in milliseconds, and the match id.
        /// The result contains only entries that follow the entry `after` in this order.
        fn due_reminders(
            &self,
            after: (u64, MatchId),
            limit: usize,
        ) -> ReadFuture<'_, Vec<(u64, MatchId)>>;

        /// Returns the number of matches with a wake time.
        fn due_reminder_count(&self) -> ReadFuture<'_, u64>;

        /// Returns the live matches of this player that have a reminder, oldest first.
        fn participations(&self, player: PlayerId) -> ReadFuture<'_, Vec<(MatchId, Participation)>>;
    }
}

/// Id of one server process. The store uses this id to record which process owns a match. A
/// restarted server has a new id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub Uuid);

/// Position in the journal of a match. A caller receives a position when it reads or appends
/// events, and passes it back when it appends the next events. The fields are opaque to callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalPosition {
    pub(crate) entry_no: u64,
    pub(crate) seq: Seq,
    pub(crate) epoch: u64,
}

impl JournalPosition {
    /// Creates a position in the journal of a match. `n` is the number of the last journal entry,
    /// and `seq` is the number of the last event. `epoch` is the number of times that the match was
    /// taken over. A journal entry without events increases `n` but not `seq`. Only store
    /// implementations should call this function.
    #[must_use]
    pub const fn new(n: u64, seq: Seq, epoch: u64) -> Self {
        Self {
            entry_no: n,
            seq,
            epoch,
        }
    }

    /// Creates the journal position that follows the first `events` events of a match. The position
    /// is valid only if the match was never taken over.
    #[must_use]
    pub const fn after_events(events: u64) -> Self {
        Self::new(events, Seq(events), 0)
    }

    /// Returns the number of the last event before this position.
    #[must_use]
    pub const fn seq(self) -> Seq {
        self.seq
    }

    /// Returns the number of times that the match was taken over before this position.
    #[must_use]
    pub const fn epoch(self) -> u64 {
        self.epoch
    }
}

/// A match as loaded from the store.
#[derive(Clone, Debug)]
pub struct LoadedMatch {
    /// Creation data and events of the match.
    pub record: MatchRecord,
    /// Position of the end of the journal.
    pub position: JournalPosition,
    /// Rematch of the match, if it exists.
    pub rematch: Option<RematchRecord>,
    /// Reminder of the match, if it has a wake time.
    pub reminder: Option<Reminder>,
    /// Rating changes that the match caused. `None` if the match has not been rated.
    pub rating_changes: Option<Vec<RatingChange>>,
}

/// Reference to the rematch of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RematchRecord {
    /// Id of the rematch.
    pub id: MatchId,
    /// Code of the rematch.
    pub code: MatchCode,
}

impl From<MatchRecord> for LoadedMatch {
    /// Creates a loaded match without a rematch, reminder or rating changes. The position is valid
    /// only if the match was never taken over.
    fn from(record: MatchRecord) -> Self {
        let position = JournalPosition::after_events(record.events.len() as u64);
        Self {
            record,
            position,
            rematch: None,
            reminder: None,
            rating_changes: None,
        }
    }
}

/// Events of a match after a journal position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalTail {
    /// The events, in order.
    pub events: Vec<Event>,
    /// Position of the end of the journal.
    pub position: JournalPosition,
}

/// Live matches of one owner, and their players.
#[derive(Debug, Default)]
pub struct LiveMatches {
    /// The matches, oldest first. For a corrupt match, the list contains an error that describes
    /// the fault.
    pub matches: Vec<Result<LoadedMatch, CorruptRecord>>,
    /// Players who host one of the loaded matches or have ever held a seat in one of them.
    pub players: Vec<PlayerRecord>,
}
