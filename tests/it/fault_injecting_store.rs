//! In-memory store that fails on demand, for tests.

use std::sync::atomic::{AtomicU8, Ordering};

use futures::FutureExt;
use futures::future;
use plyhouse_store::port_types::*;
use plyhouse_store::{
    ArchiveStore, CommandStore, IdentityStore, JournalStore, MemoryStore, RatingStore, Store,
    delegate_archive_store, delegate_identity_store, delegate_journal_store, delegate_rating_store,
};
use tokio::sync::{Mutex, oneshot};

/// All operations succeed.
pub(crate) const HEALTHY: u8 = 0;
/// Writes fail and store nothing. An append that contains neither events nor a reminder still
/// succeeds.
pub(crate) const UNAVAILABLE: u8 = 1;
/// Writes to matches succeed, but return `OutcomeUnknown`.
pub(crate) const WRITTEN_OUTCOME_UNKNOWN: u8 = 2;
/// Writes return `OutcomeUnknown` without storing anything.
pub(crate) const LOST_OUTCOME_UNKNOWN: u8 = 3;

/// The next append panics, and later operations succeed, because the append resets the mode to
/// [`HEALTHY`].
pub(crate) const PANIC_ONCE: u8 = 4;
/// Like [`LOST_OUTCOME_UNKNOWN`], but reads of matches fail too.
pub(crate) const UNREADABLE: u8 = 5;
/// The next append fails, and later operations succeed, because the append resets the mode to
/// [`HEALTHY`].
pub(crate) const REFUSE_ONCE: u8 = 6;

/// In-memory store that fails according to a mode set by the test.
#[derive(Debug, Default)]
pub(crate) struct FailingStore {
    pub(crate) memory: MemoryStore,
    mode: AtomicU8,
    /// While a test holds this lock, writes do not complete and no match is created. When the test
    /// releases the lock, the waiting writes proceed in order.
    pub(crate) write_gate: Mutex<()>,
    pub(crate) session_lookups: ReadGate,
    pub(crate) participation_reads: ReadGate,
    pub(crate) block_reads: ReadGate,
}

/// Holds back the result of a read, so that a test can change the store before the server receives
/// the result.
#[derive(Debug, Default)]
pub(crate) struct ReadGate(parking_lot::Mutex<Option<(oneshot::Sender<()>, ReadOutcome)>>);

type ReadOutcome = oneshot::Receiver<Result<(), ReadError>>;

/// Read whose result the store holds back.
pub(crate) struct HeldRead {
    reached: oneshot::Receiver<()>,
    outcome: oneshot::Sender<Result<(), ReadError>>,
}

impl ReadGate {
    /// Holds back the result of the next read.
    pub(crate) fn hold_next(&self) -> HeldRead {
        let (sender, reached) = oneshot::channel();
        let (outcome, receiver) = oneshot::channel();
        *self.0.lock() = Some((sender, receiver));
        HeldRead { reached, outcome }
    }

    async fn pass<T>(&self, read: Result<T, ReadError>) -> Result<T, ReadError> {
        let held = self.0.lock().take();
        if let Some((reached, outcome)) = held {
            let _ = reached.send(());
            outcome.await.expect("the test ends the read")?;
        }
        read
    }
}

impl HeldRead {
    /// Waits until the store has read the result.
    pub(crate) async fn wait_until_read(&mut self) {
        (&mut self.reached).await.expect("the store reads");
    }

    /// Passes the result to the server.
    pub(crate) fn release(self) {
        self.outcome.send(Ok(())).expect("the read is held");
    }

    /// Makes the read fail.
    pub(crate) fn fail(self) {
        let error = Err(ReadError::Unavailable);
        self.outcome.send(error).expect("the read is held");
    }
}

impl FailingStore {
    pub(crate) fn set_mode(&self, mode: u8) {
        self.mode.store(mode, Ordering::SeqCst);
    }

    fn write_error(&self) -> Option<WriteError> {
        match self.mode.load(Ordering::SeqCst) {
            UNAVAILABLE => Some(WriteError::Unavailable),
            LOST_OUTCOME_UNKNOWN | UNREADABLE => Some(WriteError::OutcomeUnknown),
            _ => None,
        }
    }

    /// Reads from the memory, or fails in the mode [`UNREADABLE`].
    fn read<'a, T: Send + 'a>(
        &'a self,
        read: impl FnOnce(&'a MemoryStore) -> BoxFuture<'a, Result<T, ReadError>>,
    ) -> BoxFuture<'a, Result<T, ReadError>> {
        match self.mode.load(Ordering::SeqCst) {
            UNREADABLE => future::ready(Err(ReadError::Unavailable)).boxed(),
            _ => read(&self.memory),
        }
    }

    /// Writes to the memory, or fails in a mode in which writes fail.
    fn write<'a, T: Send + 'a>(
        &'a self,
        write: impl FnOnce(&'a MemoryStore) -> BoxFuture<'a, Result<T, WriteError>>,
    ) -> BoxFuture<'a, Result<T, WriteError>> {
        match self.write_error() {
            Some(error) => future::ready(Err(error)).boxed(),
            None => write(&self.memory),
        }
    }
}

impl JournalStore for FailingStore {
    delegate_journal_store!(self.read(): load, tail);
    delegate_journal_store!(
        self.memory:
        find_by_code, unowned, claim, load_live_matches, due_reminders, due_reminder_count
    );

    fn create(
        &self,
        owner: NodeId,
        record: MatchRecord,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        match self.write_error() {
            Some(error) => future::ready(Err(error)).boxed(),
            None => async move {
                let _open = self.write_gate.lock().await;
                let position = self.memory.create(owner, record).await?;
                match self.mode.load(Ordering::SeqCst) {
                    WRITTEN_OUTCOME_UNKNOWN => Err(WriteError::OutcomeUnknown),
                    _ => Ok(position),
                }
            }
            .boxed(),
        }
    }

    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        if let Some(error) = self.write_error() {
            let is_empty_append = events.is_empty() && reminder.is_none();
            let is_accepted = error == WriteError::Unavailable && is_empty_append;
            return future::ready(if is_accepted { Ok(after) } else { Err(error) }).boxed();
        }
        let refusal =
            (self.mode).compare_exchange(REFUSE_ONCE, HEALTHY, Ordering::SeqCst, Ordering::SeqCst);
        if refusal.is_ok() {
            return future::ready(Err(WriteError::Unavailable)).boxed();
        }
        let planned_panic =
            (self.mode).compare_exchange(PANIC_ONCE, HEALTHY, Ordering::SeqCst, Ordering::SeqCst);
        assert!(planned_panic.is_err(), "planned panic");
        let written = self
            .memory
            .append_with_reminder(id, after, events, reminder);
        if self.mode.load(Ordering::SeqCst) == WRITTEN_OUTCOME_UNKNOWN {
            return written.map(|_| Err(WriteError::OutcomeUnknown)).boxed();
        }
        async move {
            let _open = self.write_gate.lock().await;
            written.await
        }
        .boxed()
    }

    fn participations(
        &self,
        player: PlayerId,
    ) -> BoxFuture<'_, Result<Vec<(MatchId, Participation)>, ReadError>> {
        async move {
            let read = self.memory.participations(player).await;
            self.participation_reads.pass(read).await
        }
        .boxed()
    }
}

impl IdentityStore for FailingStore {
    delegate_identity_store!(self.write(): add_player);
    delegate_identity_store!(
        self.memory:
        sessions, find_external_identity, has_recovery_key, find_one_time_token, find_pairing,
        account, player_by_id
    );
    delegate_identity_store!(self.read(): find_by_recovery_key, find_by_name_skeleton);

    fn find_session(
        &self,
        token: TokenHash,
    ) -> BoxFuture<'_, Result<Option<(PlayerRecord, SessionRecord)>, ReadError>> {
        async move {
            let read = self.memory.find_session(token).await;
            self.session_lookups.pass(read).await
        }
        .boxed()
    }

    fn change_identity(&self, change: IdentityChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        match self.write_error() {
            // `TouchSession` only records the day when a session was last used, so it succeeds in
            // every mode.
            Some(error) if !matches!(change, IdentityChange::TouchSession(..)) => {
                future::ready(Err(error)).boxed()
            }
            _ => async move {
                let _open = self.write_gate.lock().await;
                self.memory.change_identity(change).await
            }
            .boxed(),
        }
    }

    fn blocks(&self, player: PlayerId) -> BoxFuture<'_, Result<Blocks, ReadError>> {
        async move {
            let read = self.memory.blocks(player).await;
            self.block_reads.pass(read).await
        }
        .boxed()
    }
}

impl RatingStore for FailingStore {
    delegate_rating_store!(
        self.read():
        rating_progress, ledger, load_ratings_for, posted_updates, ratings_after, ratings,
        leaderboard, rated_ban_until, changes_of_match
    );
    delegate_rating_store!(self.write(): change_ratings);
}

impl ArchiveStore for FailingStore {
    delegate_archive_store!(self.memory: history, results, explore);
    delegate_archive_store!(self.read(): analysis, first_analysis_request_ms);
    delegate_archive_store!(self.write(): count_analysis_request);

    fn store_analysis(
        &self,
        id: MatchId,
        analysis: StoredAnalysis,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        if let Some(error) = self.write_error() {
            return future::ready(Err(error)).boxed();
        }
        async move {
            let _open = self.write_gate.lock().await;
            self.memory.store_analysis(id, analysis).await
        }
        .boxed()
    }
}

impl CommandStore for FailingStore {}

impl Store for FailingStore {
    fn is_healthy(&self) -> bool {
        self.mode.load(Ordering::SeqCst) == HEALTHY
    }
}
