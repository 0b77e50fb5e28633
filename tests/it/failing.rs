//! A store that fails as it is told to.

use std::sync::atomic::{AtomicU8, Ordering};

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use plyhouse_matches::ratings::{Books, LedgerRow, Posted, Rated, Record as RatingRecord};
use plyhouse_matches::{Event, Part, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, RatingChange};
use plyhouse_store::{
    Account, AnalysisAsked, Blocks, Explored, HistoryQuery, JournalPosition, KeptAnalysis,
    LeadersPage, LeadersQuery, Live, Loaded, MemoryStore, Needed, NodeId, OneTimeToken, Pairing,
    PastMatch, PeopleChange, PlayerRating, PlayerRecord, RatingState, RatingsChange, ReadError,
    Record, Results, SessionRecord, Store, Tail, TokenHash, WriteError,
};
use tokio::sync::Mutex;
use tokio::sync::oneshot::Receiver;

/// How the next writes go.
pub(crate) const FINE: u8 = 0;
/// Nothing is written. There is always room for nothing, though.
pub(crate) const UNAVAILABLE: u8 = 1;
/// It is written, and the store does not know.
pub(crate) const WRITTEN_UNKNOWN: u8 = 2;
/// It is not written, and the store does not know.
pub(crate) const LOST_UNKNOWN: u8 = 3;

/// A write panics, once.
pub(crate) const PANICS: u8 = 4;
/// It is not written, the store does not know, and cannot be read either.
pub(crate) const UNREADABLE: u8 = 5;
/// A write is refused, once, by a store that is well.
pub(crate) const REFUSES: u8 = 6;

/// A store that fails as it is told to.
#[derive(Debug, Default)]
pub(crate) struct FailingStore {
    pub(crate) memory: MemoryStore,
    mode: AtomicU8,
    /// While a test holds this, no write is answered, and no match is created. Then they are in their order.
    pub(crate) gate: Mutex<()>,
    /// The session that is asked for next is not given before this comes.
    pub(crate) next_session: Mutex<Option<Receiver<()>>>,
}

impl FailingStore {
    pub(crate) fn set(&self, mode: u8) {
        self.mode.store(mode, Ordering::SeqCst);
    }

    fn failing(&self) -> Option<WriteError> {
        match self.mode.load(Ordering::SeqCst) {
            UNAVAILABLE => Some(WriteError::Unavailable),
            LOST_UNKNOWN | UNREADABLE => Some(WriteError::Unknown),
            _ => None,
        }
    }

    fn unreadable(&self) -> Option<ReadError> {
        (self.mode.load(Ordering::SeqCst) == UNREADABLE).then_some(ReadError::Unavailable)
    }
}

impl Store for FailingStore {
    fn create(
        &self,
        owner: NodeId,
        record: Record,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        match self.failing() {
            Some(error) => future::ready(Err(error)).boxed(),
            None => async move {
                let _open = self.gate.lock().await;
                let mark = self.memory.create(owner, record).await?;
                match self.mode.load(Ordering::SeqCst) {
                    WRITTEN_UNKNOWN => Err(WriteError::Unknown),
                    _ => Ok(mark),
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
        if let Some(error) = self.failing() {
            let is_nothing = events.is_empty() && reminder.is_none();
            let has_room = error == WriteError::Unavailable && is_nothing;
            return future::ready(if has_room { Ok(after) } else { Err(error) }).boxed();
        }
        let refuses =
            (self.mode).compare_exchange(REFUSES, FINE, Ordering::SeqCst, Ordering::SeqCst);
        if refuses.is_ok() {
            return future::ready(Err(WriteError::Unavailable)).boxed();
        }
        let panics = (self.mode).compare_exchange(PANICS, FINE, Ordering::SeqCst, Ordering::SeqCst);
        assert!(panics.is_err(), "as planned");
        let written = self
            .memory
            .append_with_reminder(id, after, events, reminder);
        if self.mode.load(Ordering::SeqCst) == WRITTEN_UNKNOWN {
            return written.map(|_| Err(WriteError::Unknown)).boxed();
        }
        async move {
            let _open = self.gate.lock().await;
            written.await
        }
        .boxed()
    }

    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<Loaded>, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.load(id)
    }

    fn tail(
        &self,
        id: MatchId,
        after: JournalPosition,
    ) -> BoxFuture<'_, Result<Option<Tail>, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.tail(id, after)
    }

    fn by_code(&self, code: MatchCode) -> BoxFuture<'_, Result<Option<MatchId>, ReadError>> {
        self.memory.by_code(code)
    }

    fn unowned(&self, asking: NodeId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.memory.unowned(asking)
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.memory.claim(id, owner)
    }

    fn live(&self, owner: NodeId) -> BoxFuture<'_, Result<Live, ReadError>> {
        self.memory.live(owner)
    }

    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, MatchId)>, ReadError>> {
        self.memory.due_reminders(after, limit)
    }

    fn due_count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.memory.due_count()
    }

    fn participations(
        &self,
        player: PlayerId,
    ) -> BoxFuture<'_, Result<Vec<(MatchId, Part)>, ReadError>> {
        self.memory.participations(player)
    }

    fn is_healthy(&self) -> bool {
        self.mode.load(Ordering::SeqCst) == FINE
    }

    fn add_player(
        &self,
        player: PlayerRecord,
        sessions: Vec<SessionRecord>,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        match self.failing() {
            Some(error) => future::ready(Err(error)).boxed(),
            None => self.memory.add_player(player, sessions),
        }
    }

    fn session(
        &self,
        token: TokenHash,
    ) -> BoxFuture<'_, Result<Option<(PlayerRecord, SessionRecord)>, ReadError>> {
        async move {
            let held = self.next_session.lock().await.take();
            if let Some(held) = held {
                let _ = held.await;
            }
            self.memory.session(token).await
        }
        .boxed()
    }

    fn sessions(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<SessionRecord>, ReadError>> {
        self.memory.sessions(player)
    }

    fn change_identity(&self, change: PeopleChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        match self.failing() {
            // What is only a hint is kept in any case.
            Some(error) if !matches!(change, PeopleChange::SawSession(..)) => {
                future::ready(Err(error)).boxed()
            }
            _ => async move {
                let _open = self.gate.lock().await;
                self.memory.change_identity(change).await
            }
            .boxed(),
        }
    }

    fn external(&self, name: String) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        self.memory.external(name)
    }

    fn has_recovery(&self, player: PlayerId) -> BoxFuture<'_, Result<bool, ReadError>> {
        self.memory.has_recovery(player)
    }

    fn pass(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<OneTimeToken>, ReadError>> {
        self.memory.pass(code, now_ms)
    }

    fn pairing(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<Pairing>, ReadError>> {
        self.memory.pairing(code, now_ms)
    }

    fn recovered(&self, key: TokenHash) -> BoxFuture<'_, Result<Option<PlayerId>, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.recovered(key)
    }

    fn named(
        &self,
        likeness: String,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<(PlayerId, bool)>, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.named(likeness, now_ms)
    }

    fn blocks(&self, player: PlayerId) -> BoxFuture<'_, Result<Blocks, ReadError>> {
        self.memory.blocks(player)
    }

    fn account(&self, player: PlayerId) -> BoxFuture<'_, Result<Option<Account>, ReadError>> {
        self.memory.account(player)
    }

    fn history(
        &self,
        wanted: HistoryQuery,
    ) -> BoxFuture<'_, Result<Option<Vec<PastMatch>>, ReadError>> {
        self.memory.history(wanted)
    }

    fn results(
        &self,
        player: PlayerId,
        seen_by: PlayerId,
    ) -> BoxFuture<'_, Result<Results, ReadError>> {
        self.memory.results(player, seen_by)
    }

    fn explore(
        &self,
        game: &'static str,
        line: String,
    ) -> BoxFuture<'_, Result<Explored, ReadError>> {
        self.memory.explore(game, line)
    }

    fn keep_analysis(
        &self,
        id: MatchId,
        analysis: KeptAnalysis,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        if let Some(error) = self.failing() {
            return future::ready(Err(error)).boxed();
        }
        async move {
            let _open = self.gate.lock().await;
            self.memory.keep_analysis(id, analysis).await
        }
        .boxed()
    }

    fn analysis(&self, id: MatchId) -> BoxFuture<'_, Result<Option<KeptAnalysis>, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.analysis(id)
    }

    fn ask_analysis(&self, asked: AnalysisAsked) -> BoxFuture<'_, Result<bool, WriteError>> {
        if let Some(error) = self.failing() {
            return future::ready(Err(error)).boxed();
        }
        self.memory.ask_analysis(asked)
    }

    fn analysis_asked(
        &self,
        by: PlayerId,
        since_ms: u64,
    ) -> BoxFuture<'_, Result<Option<u64>, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.analysis_asked(by, since_ms)
    }

    fn rating_state(&self) -> BoxFuture<'_, Result<RatingState, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.rating_state()
    }

    fn ledger(
        &self,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, LedgerRow)>, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.ledger(after, limit)
    }

    fn books(&self, fold: u64, needed: Needed) -> BoxFuture<'_, Result<Books, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.books(fold, needed)
    }

    fn posted(
        &self,
        after: u64,
        until: u64,
    ) -> BoxFuture<'_, Result<Vec<(u64, Posted)>, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.posted(after, until)
    }

    fn ratings_after(
        &self,
        last: Option<RatingRecord>,
    ) -> BoxFuture<'_, Result<Vec<(RatingRecord, Rated)>, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.ratings_after(last)
    }

    fn change_ratings(&self, change: RatingsChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        if let Some(error) = self.failing() {
            return future::ready(Err(error)).boxed();
        }
        self.memory.change_ratings(change)
    }

    fn ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<PlayerRating>, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.ratings(player)
    }

    fn leaders(&self, wanted: LeadersQuery) -> BoxFuture<'_, Result<LeadersPage, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.leaders(wanted)
    }

    fn rated_ban_until(&self, player: PlayerId) -> BoxFuture<'_, Result<u64, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.rated_ban_until(player)
    }

    fn changes_of(
        &self,
        id: MatchId,
    ) -> BoxFuture<'_, Result<Option<Vec<RatingChange>>, ReadError>> {
        if let Some(unreadable) = self.unreadable() {
            return future::ready(Err(unreadable)).boxed();
        }
        self.memory.changes_of(id)
    }

    fn player_by_id(&self, id: PlayerId) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        self.memory.player_by_id(id)
    }
}
