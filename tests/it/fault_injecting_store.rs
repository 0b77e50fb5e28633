//! In-memory store that fails on demand, for tests.

use std::sync::atomic::{AtomicU8, Ordering};

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use plyhouse_matches::ratings::{
    LedgerRow, PostOutcome, RatingEntry, RatingKey as RatingRecord, RatingState,
};
use plyhouse_matches::{Event, Participation, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, RatingChange};
use plyhouse_store::{
    Account, AnalysisQuotaRequest, ArchiveStore, Blocks, CommandStore, HistoryQuery,
    IdentityChange, IdentityStore, JournalPosition, JournalStore, JournalTail, LeaderboardPage,
    LeaderboardQuery, LiveMatches, LoadedMatch, MatchRecord, MemoryStore, NeededRatings, NodeId,
    OneTimeToken, OpeningStats, Pairing, PastMatch, PlayerRating, PlayerRecord, RatingProgress,
    RatingStore, RatingsChange, ReadError, ResultCounts, SessionRecord, Store, StoredAnalysis,
    TokenHash, WriteError,
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

    fn read_error(&self) -> Option<ReadError> {
        (self.mode.load(Ordering::SeqCst) == UNREADABLE).then_some(ReadError::Unavailable)
    }
}

impl JournalStore for FailingStore {
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

    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<LoadedMatch>, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.load(id)
    }

    fn tail(
        &self,
        id: MatchId,
        after: JournalPosition,
    ) -> BoxFuture<'_, Result<Option<JournalTail>, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.tail(id, after)
    }

    fn find_by_code(&self, code: MatchCode) -> BoxFuture<'_, Result<Option<MatchId>, ReadError>> {
        self.memory.find_by_code(code)
    }

    fn unowned(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.memory.unowned(node)
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.memory.claim(id, owner)
    }

    fn load_live_matches(&self, owner: NodeId) -> BoxFuture<'_, Result<LiveMatches, ReadError>> {
        self.memory.load_live_matches(owner)
    }

    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, MatchId)>, ReadError>> {
        self.memory.due_reminders(after, limit)
    }

    fn due_reminder_count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.memory.due_reminder_count()
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
    fn add_player(
        &self,
        player: PlayerRecord,
        sessions: Vec<SessionRecord>,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        match self.write_error() {
            Some(error) => future::ready(Err(error)).boxed(),
            None => self.memory.add_player(player, sessions),
        }
    }

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

    fn sessions(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<SessionRecord>, ReadError>> {
        self.memory.sessions(player)
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

    fn find_external_identity(
        &self,
        name: String,
    ) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        self.memory.find_external_identity(name)
    }

    fn has_recovery_key(&self, player: PlayerId) -> BoxFuture<'_, Result<bool, ReadError>> {
        self.memory.has_recovery_key(player)
    }

    fn find_one_time_token(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<OneTimeToken>, ReadError>> {
        self.memory.find_one_time_token(code, now_ms)
    }

    fn find_pairing(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<Pairing>, ReadError>> {
        self.memory.find_pairing(code, now_ms)
    }

    fn find_by_recovery_key(
        &self,
        key: TokenHash,
    ) -> BoxFuture<'_, Result<Option<PlayerId>, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.find_by_recovery_key(key)
    }

    fn find_by_name_skeleton(
        &self,
        skeleton: String,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<(PlayerId, bool)>, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.find_by_name_skeleton(skeleton, now_ms)
    }

    fn blocks(&self, player: PlayerId) -> BoxFuture<'_, Result<Blocks, ReadError>> {
        async move {
            let read = self.memory.blocks(player).await;
            self.block_reads.pass(read).await
        }
        .boxed()
    }

    fn account(&self, player: PlayerId) -> BoxFuture<'_, Result<Option<Account>, ReadError>> {
        self.memory.account(player)
    }

    fn player_by_id(&self, id: PlayerId) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        self.memory.player_by_id(id)
    }
}

impl RatingStore for FailingStore {
    fn rating_progress(&self) -> BoxFuture<'_, Result<RatingProgress, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.rating_progress()
    }

    fn ledger(
        &self,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, LedgerRow)>, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.ledger(after, limit)
    }

    fn load_ratings_for(
        &self,
        fold: u64,
        needed: NeededRatings,
    ) -> BoxFuture<'_, Result<RatingState, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.load_ratings_for(fold, needed)
    }

    fn posted_updates(
        &self,
        after: u64,
        until: u64,
    ) -> BoxFuture<'_, Result<Vec<(u64, PostOutcome)>, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.posted_updates(after, until)
    }

    fn ratings_after(
        &self,
        last: Option<RatingRecord>,
    ) -> BoxFuture<'_, Result<Vec<(RatingRecord, RatingEntry)>, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.ratings_after(last)
    }

    fn change_ratings(&self, change: RatingsChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        if let Some(error) = self.write_error() {
            return future::ready(Err(error)).boxed();
        }
        self.memory.change_ratings(change)
    }

    fn ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<PlayerRating>, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.ratings(player)
    }

    fn leaderboard(
        &self,
        query: LeaderboardQuery,
    ) -> BoxFuture<'_, Result<LeaderboardPage, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.leaderboard(query)
    }

    fn rated_ban_until(&self, player: PlayerId) -> BoxFuture<'_, Result<u64, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.rated_ban_until(player)
    }

    fn changes_of_match(
        &self,
        id: MatchId,
    ) -> BoxFuture<'_, Result<Option<Vec<RatingChange>>, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.changes_of_match(id)
    }
}

impl ArchiveStore for FailingStore {
    fn history(
        &self,
        query: HistoryQuery,
    ) -> BoxFuture<'_, Result<Option<Vec<PastMatch>>, ReadError>> {
        self.memory.history(query)
    }

    fn results(
        &self,
        player: PlayerId,
        viewer: PlayerId,
    ) -> BoxFuture<'_, Result<ResultCounts, ReadError>> {
        self.memory.results(player, viewer)
    }

    fn explore(
        &self,
        game: &'static str,
        line: String,
    ) -> BoxFuture<'_, Result<OpeningStats, ReadError>> {
        self.memory.explore(game, line)
    }

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

    fn analysis(&self, id: MatchId) -> BoxFuture<'_, Result<Option<StoredAnalysis>, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.analysis(id)
    }

    fn count_analysis_request(
        &self,
        request: AnalysisQuotaRequest,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        if let Some(error) = self.write_error() {
            return future::ready(Err(error)).boxed();
        }
        self.memory.count_analysis_request(request)
    }

    fn first_analysis_request_ms(
        &self,
        by: PlayerId,
        since_ms: u64,
    ) -> BoxFuture<'_, Result<Option<u64>, ReadError>> {
        if let Some(unreadable) = self.read_error() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.first_analysis_request_ms(by, since_ms)
    }
}

impl CommandStore for FailingStore {}

impl Store for FailingStore {
    fn is_healthy(&self) -> bool {
        self.mode.load(Ordering::SeqCst) == HEALTHY
    }
}
