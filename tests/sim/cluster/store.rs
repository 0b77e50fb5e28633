//! One store in memory for all servers of a world, which each of them reaches over a wire of its own.

mod directory;
mod journal;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use plyhouse_matches::ratings::{
    LedgerRow, PostOutcome, RatingEntry, RatingKey as RatingRecord, RatingState,
};
use plyhouse_matches::{Event, Participation, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, RatingChange};
use plyhouse_store::{
    Account, AnalysisQuotaRequest, Blocks, HistoryQuery, IdentityChange, JournalPosition,
    JournalTail, LeaderboardPage, LeaderboardQuery, LiveMatches, LoadedMatch, MatchRecord,
    MemoryStore, NeededRatings, NodeId, OpeningStats, Pairing, PastMatch, PlayerRating,
    PlayerRecord, RatingProgress, RatingsChange, ReadError, ResultCounts, SessionRecord, Store,
    StoredAnalysis, TokenHash, WriteError,
};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

pub(crate) use self::journal::{Entry, Journal, Written};
use super::ground::Way;
use super::plan::StorePlan;
use crate::rng::SimRng;

/// After how long a statement is given up that has no answer.
const GIVEN_UP: Duration = Duration::from_millis(700);

/// What all servers share. Clones are the same.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) kept: Arc<MemoryStore>,
    pub(super) journal: Arc<Mutex<Journal>>,
    pub(super) way: Way,
    /// Whether what is appended is compared with what is there.
    pub(super) compares: bool,
}

/// The store as one server has it. Clones are the same.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    shared: Shared,
    node: NodeId,
    state: Arc<Mutex<State>>,
    /// Where the server runs, by whose clock it makes what the store asks it for.
    server: Handle,
}

#[derive(Debug)]
struct State {
    dice: SimRng,
    plan: StorePlan,
    /// Nothing gets through.
    is_cut: bool,
    /// The server is no more.
    is_dead: bool,
    is_well: bool,
    /// When the last write is made: they are made in their order.
    last: Duration,
}

/// What becomes of something that is asked of the store.
struct Passage {
    /// When it is done there.
    at: Duration,
    /// How long the answer takes.
    back: Duration,
    /// It comes to nothing, and whoever asked is told so.
    is_refused: bool,
    /// It is done or not, and whoever asked is not told which.
    is_unknown: bool,
    is_done: bool,
}

impl Shared {
    pub(super) fn new(way: Way, compares: bool) -> Self {
        Self {
            kept: Arc::default(),
            journal: Arc::default(),
            way,
            compares,
        }
    }
}

impl State {
    fn ms(&mut self) -> Duration {
        Duration::from_micros(self.dice.between(self.plan.takes_us.clone()))
    }

    fn passage(&mut self, now: Duration, refused_percent: u64) -> Passage {
        let (at, back) = (now + self.ms(), self.ms());
        let is_refused = self.dice.chance(refused_percent);
        let is_unknown = self.dice.chance(self.plan.unknown_percent);
        let is_done = !is_unknown || self.dice.chance(50);
        Passage {
            at: if self.is_cut { now + GIVEN_UP } else { at },
            back,
            is_refused: is_refused || self.is_cut,
            is_unknown,
            is_done,
        }
    }
}

impl Wire {
    pub(super) fn new(
        shared: Shared,
        node: NodeId,
        (plan, dice): (StorePlan, SimRng),
        server: Handle,
    ) -> Self {
        let state = State {
            dice,
            plan,
            is_cut: false,
            is_dead: false,
            is_well: true,
            last: Duration::ZERO,
        };
        Self {
            shared,
            node,
            state: Arc::new(Mutex::new(state)),
            server,
        }
    }

    pub(super) fn cut(&self, is_cut: bool) {
        self.state.lock().is_cut = is_cut;
    }

    /// From now on nothing is refused or unknown, unless the wire is cut.
    pub(super) fn calm(&self) {
        let plan = &mut self.state.lock().plan;
        *plan = plan.clone().calm();
    }

    /// The server is no more: what it still asks for gets nowhere.
    pub(super) fn die(&self) {
        self.state.lock().is_dead = true;
    }

    async fn write<T, F>(&self, write: F) -> Result<T, WriteError>
    where
        T: Send + 'static,
        F: FnOnce(&Shared) -> Result<T, WriteError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        self.begin(write, reply);
        // A server that is no more waits for ever.
        let answered = answer.await.unwrap_or(Err(WriteError::OutcomeUnknown));
        self.state.lock().is_well = !matches!(
            answered,
            Err(WriteError::Unavailable | WriteError::OutcomeUnknown)
        );
        answered
    }

    /// Has something be written, whatever becomes of the server meanwhile.
    fn begin<T, F>(&self, write: F, reply: oneshot::Sender<Result<T, WriteError>>)
    where
        T: Send + 'static,
        F: FnOnce(&Shared) -> Result<T, WriteError> + Send + 'static,
    {
        let mut state = self.state.lock();
        if state.is_dead {
            return;
        }
        let refused = state.plan.refused_percent;
        let passage = state.passage(self.shared.way.now(), refused);
        if passage.is_refused {
            return self.shared.way.post(passage.at, move || {
                let _ = reply.send(Err(WriteError::Unavailable));
            });
        }
        let at = passage.at.max(state.last);
        state.last = at;
        let wire = self.clone();
        self.shared.way.post(at, move || {
            let done = match passage.is_done {
                true => write(&wire.shared),
                false => Err(WriteError::OutcomeUnknown),
            };
            let way = wire.shared.way.clone();
            way.post(at + passage.back, move || {
                let is_lost = passage.is_unknown || wire.state.lock().is_cut;
                // Whoever asked may have given up.
                let _ = reply.send(if is_lost {
                    Err(WriteError::OutcomeUnknown)
                } else {
                    done
                });
            });
        });
    }

    async fn read<T, F>(&self, read: F) -> Result<T, ReadError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a MemoryStore) -> BoxFuture<'a, Result<T, ReadError>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let passage = {
            let mut state = self.state.lock();
            let unreadable = state.plan.unreadable_percent;
            state.passage(self.shared.way.now(), unreadable)
        };
        let wire = self.clone();
        self.shared.way.post(passage.at, move || {
            let done = match passage.is_refused {
                true => Err(ReadError::Unavailable),
                false => now(read(&wire.shared.kept)),
            };
            let way = wire.shared.way.clone();
            way.post(passage.at + passage.back, move || {
                let _ = reply.send(match wire.state.lock().is_cut {
                    true => Err(ReadError::Unavailable),
                    false => done,
                });
            });
        });
        answer.await.unwrap_or(Err(ReadError::Unavailable))
    }
}

/// What a store in memory answers, which never waits.
fn now<T>(answer: BoxFuture<'_, T>) -> T {
    answer.now_or_never().expect("memory does not wait")
}

impl Store for Wire {
    fn create(
        &self,
        owner: NodeId,
        record: MatchRecord,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        self.write(move |shared| {
            let (id, events) = (record.creation.id, record.events.len());
            let mark = now(shared.kept.create(owner, record))?;
            shared.note(owner, id, Written::Created { events });
            Ok(mark)
        })
        .boxed()
    }

    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        let node = self.node;
        self.write(move |shared| {
            let count = events.len();
            let place = shared.place(id, after);
            let kept = now(shared
                .kept
                .append_with_reminder(id, place, events, reminder));
            let is_refused = kept == Err(WriteError::Conflict);
            shared.journal.lock().refused += usize::from(is_refused);
            let mark = kept?;
            let (epoch, after) = (after.epoch(), after.seq());
            let written = Written::Appended {
                epoch,
                after,
                count,
            };
            shared.note(node, id, written);
            Ok(mark)
        })
        .boxed()
    }

    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<LoadedMatch>, ReadError>> {
        self.read(move |kept| kept.load(id)).boxed()
    }

    fn tail(
        &self,
        id: MatchId,
        after: JournalPosition,
    ) -> BoxFuture<'_, Result<Option<JournalTail>, ReadError>> {
        self.read(move |kept| kept.tail(id, after)).boxed()
    }

    fn find_by_code(&self, code: MatchCode) -> BoxFuture<'_, Result<Option<MatchId>, ReadError>> {
        self.read(move |kept| kept.find_by_code(code)).boxed()
    }

    fn unowned(&self, asking: NodeId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.read(move |kept| kept.unowned(asking)).boxed()
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.write(move |shared| {
            now(shared.kept.claim(id, owner))?;
            shared.note_epoch(owner, id);
            Ok(())
        })
        .boxed()
    }

    fn release(&self, id: MatchId) {
        let (reply, _nobody) = oneshot::channel();
        let release = move |shared: &Shared| {
            shared.kept.release(id);
            Ok(())
        };
        self.begin(release, reply);
    }

    fn load_live_matches(&self, owner: NodeId) -> BoxFuture<'_, Result<LiveMatches, ReadError>> {
        self.read(move |kept| kept.load_live_matches(owner)).boxed()
    }

    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, MatchId)>, ReadError>> {
        self.read(move |kept| kept.due_reminders(after, limit))
            .boxed()
    }

    fn due_reminder_count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.read(MemoryStore::due_reminder_count).boxed()
    }

    fn participations(
        &self,
        player: PlayerId,
    ) -> BoxFuture<'_, Result<Vec<(MatchId, Participation)>, ReadError>> {
        self.read(move |kept| kept.participations(player)).boxed()
    }

    fn add_player(
        &self,
        player: PlayerRecord,
        sessions: Vec<SessionRecord>,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        self.write(move |shared| now(shared.kept.add_player(player, sessions)))
            .boxed()
    }

    fn find_session(
        &self,
        token: TokenHash,
    ) -> BoxFuture<'_, Result<Option<(PlayerRecord, SessionRecord)>, ReadError>> {
        self.read(move |kept| kept.find_session(token)).boxed()
    }

    fn sessions(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<SessionRecord>, ReadError>> {
        self.read(move |kept| kept.sessions(player)).boxed()
    }

    fn change_identity(&self, change: IdentityChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.write(move |shared| now(shared.kept.change_identity(change)))
            .boxed()
    }

    fn find_pairing(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<Pairing>, ReadError>> {
        self.read(move |kept| kept.find_pairing(code, now_ms))
            .boxed()
    }

    fn find_by_recovery_key(
        &self,
        key: TokenHash,
    ) -> BoxFuture<'_, Result<Option<PlayerId>, ReadError>> {
        self.read(move |kept| kept.find_by_recovery_key(key))
            .boxed()
    }

    fn find_by_name_skeleton(
        &self,
        likeness: String,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<(PlayerId, bool)>, ReadError>> {
        self.read(move |kept| kept.find_by_name_skeleton(likeness, now_ms))
            .boxed()
    }

    fn blocks(&self, player: PlayerId) -> BoxFuture<'_, Result<Blocks, ReadError>> {
        self.read(move |kept| kept.blocks(player)).boxed()
    }

    fn account(&self, player: PlayerId) -> BoxFuture<'_, Result<Option<Account>, ReadError>> {
        self.read(move |kept| kept.account(player)).boxed()
    }

    fn history(
        &self,
        wanted: HistoryQuery,
    ) -> BoxFuture<'_, Result<Option<Vec<PastMatch>>, ReadError>> {
        self.read(move |kept| kept.history(wanted)).boxed()
    }

    fn results(
        &self,
        player: PlayerId,
        seen_by: PlayerId,
    ) -> BoxFuture<'_, Result<ResultCounts, ReadError>> {
        self.read(move |kept| kept.results(player, seen_by)).boxed()
    }

    fn explore(
        &self,
        game: &'static str,
        line: String,
    ) -> BoxFuture<'_, Result<OpeningStats, ReadError>> {
        self.read(move |kept| kept.explore(game, line)).boxed()
    }

    fn store_analysis(
        &self,
        id: MatchId,
        analysis: StoredAnalysis,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.write(move |shared| now(shared.kept.store_analysis(id, analysis)))
            .boxed()
    }

    fn analysis(&self, id: MatchId) -> BoxFuture<'_, Result<Option<StoredAnalysis>, ReadError>> {
        self.read(move |kept| kept.analysis(id)).boxed()
    }

    fn count_analysis_request(
        &self,
        asked: AnalysisQuotaRequest,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.write(move |shared| now(shared.kept.count_analysis_request(asked)))
            .boxed()
    }

    fn first_analysis_request_ms(
        &self,
        by: PlayerId,
        since_ms: u64,
    ) -> BoxFuture<'_, Result<Option<u64>, ReadError>> {
        self.read(move |kept| kept.first_analysis_request_ms(by, since_ms))
            .boxed()
    }

    fn rating_progress(&self) -> BoxFuture<'_, Result<RatingProgress, ReadError>> {
        self.read(move |kept| kept.rating_progress()).boxed()
    }

    fn ledger(
        &self,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, LedgerRow)>, ReadError>> {
        self.read(move |kept| kept.ledger(after, limit)).boxed()
    }

    fn load_ratings_for(
        &self,
        fold: u64,
        needed: NeededRatings,
    ) -> BoxFuture<'_, Result<RatingState, ReadError>> {
        self.read(move |kept| kept.load_ratings_for(fold, needed))
            .boxed()
    }

    fn posted_updates(
        &self,
        after: u64,
        until: u64,
    ) -> BoxFuture<'_, Result<Vec<(u64, PostOutcome)>, ReadError>> {
        self.read(move |kept| kept.posted_updates(after, until))
            .boxed()
    }

    fn ratings_after(
        &self,
        last: Option<RatingRecord>,
    ) -> BoxFuture<'_, Result<Vec<(RatingRecord, RatingEntry)>, ReadError>> {
        self.read(move |kept| kept.ratings_after(last)).boxed()
    }

    fn change_ratings(&self, change: RatingsChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.write(move |shared| now(shared.kept.change_ratings(change)))
            .boxed()
    }

    fn ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<PlayerRating>, ReadError>> {
        self.read(move |kept| kept.ratings(player)).boxed()
    }

    fn leaderboard(
        &self,
        wanted: LeaderboardQuery,
    ) -> BoxFuture<'_, Result<LeaderboardPage, ReadError>> {
        self.read(move |kept| kept.leaderboard(wanted)).boxed()
    }

    fn rated_ban_until(&self, player: PlayerId) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.read(move |kept| kept.rated_ban_until(player)).boxed()
    }

    fn changes_of_match(
        &self,
        id: MatchId,
    ) -> BoxFuture<'_, Result<Option<Vec<RatingChange>>, ReadError>> {
        self.read(move |kept| kept.changes_of_match(id)).boxed()
    }

    fn player_by_id(&self, id: PlayerId) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        self.read(move |kept| kept.player_by_id(id)).boxed()
    }

    fn is_healthy(&self) -> bool {
        self.state.lock().is_well
    }
}
