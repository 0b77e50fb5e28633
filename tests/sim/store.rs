//! Store on a simulated disk. A crash loses a random number of the most recent unsynced writes.

mod tables;
mod write_failure_log;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use parking_lot::Mutex;
use plyhouse_matches::ratings::{
    LedgerRow, PostOutcome, Rating, RatingEntry, RatingKey as RatingRecord, RatingState,
};
use plyhouse_matches::{Event, Participation, Reminder};
use plyhouse_protocol::{
    MatchCode, MatchId, PlayerId, PlayerKind, RatingChange, RatingPool, SessionId, SessionKind,
    Token,
};
use plyhouse_store::{
    Account, AnalysisQuotaRequest, ArchiveStore, Blocks, CommandStore, HistoryQuery,
    IdentityChange, IdentityStore, JournalPosition, JournalStore, JournalTail, LeaderboardPage,
    LeaderboardQuery, LiveMatches, LoadedMatch, MatchRecord, NeededRatings, NodeId, OpeningStats,
    Pairing, PastMatch, PlayerRating, PlayerRecord, RatingPost, RatingProgress, RatingStore,
    RatingsChange, ReadError, ResultCounts, SessionRecord, Store, StoredAnalysis, TokenHash,
    WriteError,
};
use sha2::{Digest, Sha256};
use tokio::time::sleep;
use uuid::Uuid;

pub(crate) use self::tables::{ClusterState, FinalState, Tables, WriteFailure, WriteTimes};
use self::tables::{Write, journal_end};
use super::fault_plan::DiskPlan;
use super::rng::SimRng;
use super::store_faults::StoreFault;
use super::world::{GAMES, START_MS, client_name};

/// Writes that one sync makes durable together.
#[derive(Debug)]
struct Batch {
    starts: Duration,
    ends: Duration,
    writes: Vec<Write>,
}

/// Store that survives the crashes of its server. Clones share their state.
#[derive(Clone, Debug)]
pub(crate) struct SimStore(Arc<Mutex<Disk>>);

#[derive(Debug)]
struct Disk {
    plan: DiskPlan,
    rng: SimRng,
    fault: Option<StoreFault>,
    /// Durable state, which survives a crash.
    synced: Tables,
    /// State including all writes that wait for a sync.
    current: Tables,
    batches: VecDeque<Batch>,
    write_times: BTreeMap<(MatchId, u64), WriteTimes>,
    write_failures: BTreeMap<MatchId, Vec<WriteFailure>>,
    last_read_failure: Option<Duration>,
    /// Rated matches in the order of their ledger rows, with the time at which each row was first
    /// seen.
    numbered_matches: Vec<(Duration, MatchId)>,
    /// Highest ledger row number seen.
    last_row_number: u64,
    /// Ratings at the start of the run.
    initial_ratings: RatingState,
    /// Node that owns each match. Ownership is only a hint, so it is not part of the durable
    /// tables.
    match_owners: BTreeMap<MatchId, NodeId>,
}

impl Disk {
    /// Applies the batches whose sync has completed to the durable state.
    fn apply_completed_syncs(&mut self, now: Duration) {
        while self.batches.front().is_some_and(|batch| batch.ends <= now) {
            let batch = self.batches.pop_front().expect("the queue is not empty");
            for write in batch.writes {
                self.synced
                    .apply(write)
                    .expect("the write was accepted before");
            }
        }
        if self.fault == Some(StoreFault::NumbersRowEarly) {
            for tables in [&mut self.synced, &mut self.current] {
                tables
                    .ratings
                    .change(RatingsChange::NumberDueRows(u64::MAX));
            }
        }
        self.record_numbered_matches(now);
    }

    /// Records the rated matches that have received a ledger row since the last call.
    fn record_numbered_matches(&mut self, now: Duration) {
        for (no, row) in self.synced.ratings.ledger(self.last_row_number, usize::MAX) {
            self.last_row_number = no;
            if let LedgerRow::Game(game) = row {
                self.numbered_matches.push((now, game.match_id));
            }
        }
    }

    /// Starts a write. Returns how long it takes and its result.
    fn write(&mut self, write: Write, now: Duration) -> (Duration, Result<(), WriteError>) {
        self.apply_completed_syncs(now);
        if self.rng.chance(self.plan.unavailable_percent) || self.plan.is_unavailable(now) {
            if self.fault == Some(StoreFault::AppliesRejectedWrite) {
                let _ = self.enqueue_write(write, now);
            }
            return (self.rng.duration_ms(0..=20), Err(WriteError::Unavailable));
        }
        let is_unknown = self.rng.chance(self.plan.unknown_percent);
        if is_unknown && self.rng.chance(50) {
            return (
                self.rng.duration_ms(0..=50),
                Err(WriteError::OutcomeUnknown),
            );
        }
        match self.enqueue_write(write, now) {
            Err(conflict) => (Duration::ZERO, Err(conflict)),
            Ok(_) if self.fault == Some(StoreFault::AcksBeforeSync) => (Duration::ZERO, Ok(())),
            Ok(ends) if is_unknown => (ends - now, Err(WriteError::OutcomeUnknown)),
            Ok(ends) => (ends - now, Ok(())),
        }
    }

    /// Adds a write to the next sync. Returns when that sync completes.
    fn enqueue_write(&mut self, write: Write, now: Duration) -> Result<Duration, WriteError> {
        self.current.apply(write.clone())?;
        let sync = self.rng.duration_ms(self.plan.sync_ms.clone());
        let seqs = write.written_seqs();
        match self.batches.back_mut() {
            // The sync of this batch has not started yet, so the batch can take another write.
            Some(batch) if batch.starts >= now => batch.writes.push(write),
            last => {
                let starts = last.map_or(now, |batch| batch.ends);
                self.batches.push_back(Batch {
                    starts,
                    ends: starts + sync,
                    writes: vec![write],
                });
            }
        }
        let durable_at = self.batches.back().expect("a batch was just queued").ends;
        let started = now;
        let write_times = seqs.map(|key| {
            (
                key,
                WriteTimes {
                    started,
                    durable_at,
                },
            )
        });
        self.write_times.extend(write_times);
        Ok(durable_at)
    }

    /// Returns when all queued writes will be durable, or `None` if the queue is empty.
    fn all_durable_at(&self) -> Option<Duration> {
        self.batches.back().map(|batch| batch.ends)
    }
}

impl SimStore {
    pub(crate) fn new(plan: DiskPlan, rng: SimRng, fault: Option<StoreFault>) -> Self {
        Self(Arc::new(Mutex::new(Disk {
            plan,
            rng,
            fault,
            synced: Tables::default(),
            current: Tables::default(),
            batches: VecDeque::new(),
            write_times: BTreeMap::new(),
            write_failures: BTreeMap::new(),
            last_read_failure: None,
            numbered_matches: Vec::new(),
            last_row_number: 0,
            initial_ratings: RatingState::default(),
            match_owners: BTreeMap::new(),
        })))
    }

    /// Crashes the host and returns the number of lost writes. A random number of the oldest
    /// unsynced writes survives.
    pub(crate) fn crash(&self, now: Duration) -> usize {
        let mut disk = self.0.lock();
        disk.apply_completed_syncs(now);
        let unsynced: Vec<Write> = std::mem::take(&mut disk.batches)
            .into_iter()
            .flat_map(|batch| batch.writes)
            .collect();
        let surviving = match disk.fault {
            // With `AcksBeforeSync`, the store has already acknowledged the unsynced writes. The
            // crash loses all of them, so that the checker can detect the fault.
            Some(StoreFault::AcksBeforeSync) => 0,
            _ => disk.rng.between(0..=unsynced.len() as u64),
        };
        let lost = unsynced.len() as u64 - surviving;
        for (_, write) in (0..surviving).zip(unsynced) {
            for key in write.written_seqs() {
                if let Some(written) = disk.write_times.get_mut(&key) {
                    written.durable_at = now;
                }
            }
            disk.synced
                .apply(write)
                .expect("the write was accepted before");
        }
        let Disk {
            fault: flaw,
            synced,
            rng: dice,
            ..
        } = &mut *disk;
        if let Some(fault) = flaw {
            fault.corrupt_tables(synced, dice);
        }
        disk.record_numbered_matches(now);
        disk.current = disk.synced.clone();
        usize::try_from(lost).expect("the count came from a usize")
    }

    /// Returns the durable state at the end of the run.
    pub(crate) fn final_state(&self, now: Duration, lag_compensation: Duration) -> FinalState {
        let mut disk = self.0.lock();
        disk.apply_completed_syncs(now);
        FinalState {
            matches: disk.synced.matches.clone(),
            write_times: disk.write_times.clone(),
            write_failures: disk.write_failures.clone(),
            last_read_failure: disk.last_read_failure,
            lag_compensation,
            ratings: disk.synced.ratings.clone(),
            numbered_matches: disk.numbered_matches.clone(),
            initial_ratings: disk.initial_ratings.clone(),
            cluster: None,
        }
    }

    /// Adds the account of a client before the run starts. Returns the token of a session of the
    /// account.
    pub(crate) fn add_account(&self, index: usize) -> Token {
        let token = Token::new(format!("the device of {}", client_name(index)));
        let number = Uuid::from_u128(index as u128 + 1);
        let player = PlayerRecord {
            id: PlayerId(number),
            name: client_name(index),
            kind: PlayerKind::Account,
        };
        let session = SessionRecord {
            token: TokenHash(Sha256::digest(token.reveal()).into()),
            id: SessionId(number),
            player: player.id,
            label: "device".to_owned(),
            kind: SessionKind::Cli,
            created_ms: 0,
            last_used_day: 0,
            from_recovery_key: false,
        };
        let mut disk = self.0.lock();
        // Every second account has an established rating, so in most pairs of clients one player
        // appears on the leaderboards.
        if index.is_multiple_of(2) {
            disk.initial_ratings
                .ratings
                .extend(initial_ratings_of(player.id));
        }
        let Disk {
            synced,
            current: written,
            initial_ratings: begun,
            ..
        } = &mut *disk;
        for tables in [synced, written] {
            let add_player = Write::AddPlayer(player.clone(), vec![session.clone()]);
            tables
                .apply(add_player)
                .expect("adding a player never conflicts");
            let live_version = tables.ratings.progress().live;
            let post = RatingsChange::Post(Box::new(RatingPost {
                version: live_version.id,
                from_row: live_version.cursor,
                to_row: live_version.cursor,
                books: begun.clone(),
                posted: Vec::new(),
            }));
            let post = Write::ChangeRatings(post);
            tables.apply(post).expect("no ratings were posted yet");
        }
        token
    }

    /// Returns the number of live matches in the durable state.
    pub(crate) fn live_matches(&self) -> usize {
        self.0.lock().synced.live_matches().count()
    }

    async fn write(&self, write: Write) -> Result<(), WriteError> {
        let (latency, outcome) = self.0.lock().write(write, now());
        sleep(latency).await;
        outcome
    }

    /// Waits until all earlier writes are durable, then reads the durable state.
    async fn read<T>(&self, read: impl FnOnce(&Tables) -> T) -> T {
        let all_durable_at = self.0.lock().all_durable_at();
        if let Some(wait) = all_durable_at.and_then(|at| at.checked_sub(now())) {
            sleep(wait).await;
        }
        let mut disk = self.0.lock();
        disk.apply_completed_syncs(now());
        read(&disk.synced)
    }

    /// Reads the durable state like [`Self::read`], but fails at random.
    async fn try_read<T>(&self, read: impl FnOnce(&Tables) -> T) -> Result<T, ReadError> {
        let is_failing = {
            let mut disk = self.0.lock();
            let percent = disk.plan.unreadable_percent;
            disk.rng.chance(percent)
        };
        if is_failing {
            self.0.lock().last_read_failure = Some(now());
            return Err(ReadError::Unavailable);
        }
        Ok(self.read(read).await)
    }
}

/// Returns an established rating for each game, as a player has after many games.
fn initial_ratings_of(player: PlayerId) -> impl Iterator<Item = (RatingRecord, RatingEntry)> {
    GAMES.into_iter().map(move |game| {
        let record = RatingRecord {
            player,
            game: game.to_owned(),
            pool: RatingPool::Live,
        };
        let rating = Rating {
            rating: 1600.0,
            deviation: 60.0,
            ..Rating::INITIAL
        };
        let entry = RatingEntry {
            rating,
            games: 40,
            last_ms: START_MS,
        };
        (record, entry)
    })
}

/// Returns the simulated time.
fn now() -> Duration {
    turmoil::sim_elapsed().expect("must be called within a simulated host")
}

impl JournalStore for SimStore {
    fn create(
        &self,
        owner: NodeId,
        record: MatchRecord,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        self.0.lock().match_owners.insert(record.creation.id, owner);
        let position = journal_end(&record);
        self.write(Write::Create(record))
            .map_ok(move |()| position)
            .boxed()
    }

    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        let position = JournalPosition::after_events(after.seq().0 + events.len() as u64);
        async move {
            let started = now();
            let outcome = self.write(Write::Append(id, after, events, reminder)).await;
            self.0.lock().record_write_result(id, started, outcome);
            outcome.map(|()| position)
        }
        .boxed()
    }

    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<LoadedMatch>, ReadError>> {
        async move {
            let loaded = self.try_read(|tables| tables.load(id)).await?;
            self.0.lock().resolve_failures_of(id);
            Ok(loaded)
        }
        .boxed()
    }

    fn tail(
        &self,
        id: MatchId,
        after: JournalPosition,
    ) -> BoxFuture<'_, Result<Option<JournalTail>, ReadError>> {
        async move {
            let tail = self.try_read(|tables| {
                let record = tables.matches.get(&id)?;
                let events = record.events.get(usize::try_from(after.seq().0).ok()?..)?;
                Some(JournalTail {
                    events: events.to_vec(),
                    position: journal_end(record),
                })
            });
            let tail = tail.await?;
            // A successful read shows which writes were applied, so it resolves the write failures
            // of the match.
            self.0.lock().resolve_failures_of(id);
            Ok(tail)
        }
        .boxed()
    }

    fn find_by_code(&self, code: MatchCode) -> BoxFuture<'_, Result<Option<MatchId>, ReadError>> {
        self.try_read(move |tables| {
            let mut records = tables.matches.values();
            let found = records.rfind(|record| record.creation.code == code);
            found.map(|record| record.creation.id)
        })
        .boxed()
    }

    /// Returns all players, not only the players of the matches. The server must tolerate the
    /// additional players. Never fails, because the server does not start if this read fails.
    fn load_live_matches(&self, owner: NodeId) -> BoxFuture<'_, Result<LiveMatches, ReadError>> {
        let owners = self.0.lock().match_owners.clone();
        async move {
            let live = self.read(move |tables| {
                let own = tables.awake_matches();
                let own = own.filter(|record| owners.get(&record.creation.id) == Some(&owner));
                LiveMatches {
                    matches: own.cloned().map(|record| Ok(record.into())).collect(),
                    players: tables.players.values().cloned().collect(),
                }
            });
            let live = live.await;
            let mut disk = self.0.lock();
            for loaded in live.matches.iter().flatten() {
                disk.resolve_failures_of(loaded.record.creation.id);
            }
            Ok(live)
        }
        .boxed()
    }

    fn unowned(&self, requester: NodeId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        let owners = self.0.lock().match_owners.clone();
        self.read(move |tables| {
            let ids = tables.awake_matches().map(|record| record.creation.id);
            Ok(ids
                .filter(|id| owners.get(id) != Some(&requester))
                .collect())
        })
        .boxed()
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.0.lock().match_owners.insert(id, owner);
        futures::future::ready(Ok(())).boxed()
    }

    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, MatchId)>, ReadError>> {
        let limit = match self.0.lock().fault {
            Some(StoreFault::OmitsDueReminders) => 0,
            _ => limit,
        };
        self.try_read(move |tables| {
            let due = tables
                .due_reminders()
                .into_iter()
                .filter(|due| *due > after);
            due.take(limit).collect()
        })
        .boxed()
    }

    /// Never fails, like [`Self::load_live_matches`].
    fn due_reminder_count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.read(|tables| Ok(tables.due_reminders().len() as u64))
            .boxed()
    }

    fn participations(
        &self,
        player: PlayerId,
    ) -> BoxFuture<'_, Result<Vec<(MatchId, Participation)>, ReadError>> {
        self.try_read(move |tables| {
            let participations = tables.reminders.iter().flat_map(|(id, reminder)| {
                let own = reminder.participations.iter();
                own.filter(|participation| participation.player == player)
                    .map(|part| (*id, *part))
            });
            participations.collect()
        })
        .boxed()
    }
}

impl IdentityStore for SimStore {
    fn add_player(
        &self,
        player: PlayerRecord,
        sessions: Vec<SessionRecord>,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        self.write(Write::AddPlayer(player, sessions)).boxed()
    }

    fn find_session(
        &self,
        token: TokenHash,
    ) -> BoxFuture<'_, Result<Option<(PlayerRecord, SessionRecord)>, ReadError>> {
        self.try_read(move |tables| {
            let session = tables.sessions.get(&token.0)?;
            let player = tables.players.get(&session.player)?;
            Some((player.clone(), session.clone()))
        })
        .boxed()
    }

    fn sessions(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<SessionRecord>, ReadError>> {
        self.try_read(move |tables| {
            let sessions = tables.sessions.values();
            let own = sessions.filter(|session| session.player == player);
            own.cloned().collect()
        })
        .boxed()
    }

    fn change_identity(&self, change: IdentityChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        let write = match change {
            IdentityChange::EndSessions(player, which) => Write::EndSessions(player, which),
            IdentityChange::TouchSession(token, day) => Write::TouchSession(token, day),
            IdentityChange::ChangeBlock {
                player,
                other,
                since_ms,
            } => Write::ChangeBlock(player, other, since_ms),
            IdentityChange::AddSession(_)
            | IdentityChange::OfferPairing { .. }
            | IdentityChange::TakePairing(..)
            | IdentityChange::StoreRecoveryKey(..)
            | IdentityChange::RenewRecoveryKey(..)
            | IdentityChange::AddApiKey(_)
            | IdentityChange::NamePlayer(_)
            | IdentityChange::RenameGuest(..)
            | IdentityChange::SetPassword(..)
            | IdentityChange::StoreAccount(..)
            | IdentityChange::AddExternalIdentity(_)
            | IdentityChange::DeletePlayer(_)
            | IdentityChange::RemoveNames(_)
            | IdentityChange::AddOneTimeToken { .. }
            | IdentityChange::TakeOneTimeToken(_)
            | IdentityChange::ClaimCommand(_)
            | IdentityChange::StoreCommandResult(..) => {
                unreachable!("simulated clients do not send this change: {change:?}")
            }
        };
        self.write(write).map_ok(|()| true).boxed()
    }

    fn find_pairing(
        &self,
        _code: TokenHash,
        _now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<Pairing>, ReadError>> {
        unreachable!("simulated clients do not pair devices")
    }

    fn find_by_recovery_key(
        &self,
        _key: TokenHash,
    ) -> BoxFuture<'_, Result<Option<PlayerId>, ReadError>> {
        unreachable!("simulated clients have no recovery keys")
    }

    fn find_by_name_skeleton(
        &self,
        _skeleton: String,
        _now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<(PlayerId, bool)>, ReadError>> {
        self.try_read(|_| None).boxed()
    }

    fn blocks(&self, player: PlayerId) -> BoxFuture<'_, Result<Blocks, ReadError>> {
        self.try_read(move |tables| tables.blocks_of(player))
            .boxed()
    }

    /// Accounts in the simulated store have neither a password nor bot accounts.
    fn account(&self, player: PlayerId) -> BoxFuture<'_, Result<Option<Account>, ReadError>> {
        self.try_read(move |tables| {
            let player = tables.players.get(&player)?;
            (player.kind == PlayerKind::Account).then(Account::default)
        })
        .boxed()
    }

    fn player_by_id(&self, id: PlayerId) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        self.try_read(move |tables| tables.players.get(&id).cloned())
            .boxed()
    }
}

impl RatingStore for SimStore {
    fn rating_progress(&self) -> BoxFuture<'_, Result<RatingProgress, ReadError>> {
        self.try_read(|tables| tables.ratings.progress()).boxed()
    }

    fn ledger(
        &self,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, LedgerRow)>, ReadError>> {
        self.try_read(move |tables| tables.ratings.ledger(after, limit))
            .boxed()
    }

    fn load_ratings_for(
        &self,
        version: u64,
        needed: NeededRatings,
    ) -> BoxFuture<'_, Result<RatingState, ReadError>> {
        self.try_read(move |tables| tables.ratings.load_ratings_for(version, &needed))
            .boxed()
    }

    fn posted_updates(
        &self,
        after: u64,
        until: u64,
    ) -> BoxFuture<'_, Result<Vec<(u64, PostOutcome)>, ReadError>> {
        self.try_read(move |tables| tables.ratings.posted_updates(after, until))
            .boxed()
    }

    fn ratings_after(
        &self,
        last: Option<RatingRecord>,
    ) -> BoxFuture<'_, Result<Vec<(RatingRecord, RatingEntry)>, ReadError>> {
        self.try_read(move |tables| tables.ratings.ratings_after(last))
            .boxed()
    }

    fn change_ratings(&self, change: RatingsChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        let written = self.write(Write::ChangeRatings(change));
        let to_applied = |written: Result<(), WriteError>| match written {
            Err(WriteError::Conflict) => Ok(false),
            written => written.map(|()| true),
        };
        written.map(to_applied).boxed()
    }

    fn ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<PlayerRating>, ReadError>> {
        self.try_read(move |tables| tables.ratings.ratings(player))
            .boxed()
    }

    fn leaderboard(
        &self,
        query: LeaderboardQuery,
    ) -> BoxFuture<'_, Result<LeaderboardPage, ReadError>> {
        self.try_read(move |tables| {
            let find = |player| tables.players.get(&player).cloned();
            tables.ratings.leaderboard(&query, find)
        })
        .boxed()
    }

    fn rated_ban_until(&self, player: PlayerId) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.try_read(move |tables| tables.ratings.rated_ban_until(player))
            .boxed()
    }

    fn changes_of_match(
        &self,
        id: MatchId,
    ) -> BoxFuture<'_, Result<Option<Vec<RatingChange>>, ReadError>> {
        self.try_read(move |tables| tables.ratings.changes_of_match(id))
            .boxed()
    }
}

impl ArchiveStore for SimStore {
    // Simulated clients do not query past matches. The tests of the real stores cover these
    // queries.

    fn history(
        &self,
        query: HistoryQuery,
    ) -> BoxFuture<'_, Result<Option<Vec<PastMatch>>, ReadError>> {
        let _ = query;
        self.try_read(|_| None).boxed()
    }

    fn results(
        &self,
        player: PlayerId,
        seen_by: PlayerId,
    ) -> BoxFuture<'_, Result<ResultCounts, ReadError>> {
        let _ = (player, seen_by);
        self.try_read(|_| ResultCounts::default()).boxed()
    }

    fn explore(
        &self,
        game: &'static str,
        line: String,
    ) -> BoxFuture<'_, Result<OpeningStats, ReadError>> {
        let _ = (game, line);
        self.try_read(|_| OpeningStats::default()).boxed()
    }

    // The simulated store does not store analyses.
    fn store_analysis(
        &self,
        _id: MatchId,
        _analysis: StoredAnalysis,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        futures::future::ready(Ok(false)).boxed()
    }

    fn analysis(&self, _id: MatchId) -> BoxFuture<'_, Result<Option<StoredAnalysis>, ReadError>> {
        self.try_read(|_| None).boxed()
    }

    fn count_analysis_request(
        &self,
        request: AnalysisQuotaRequest,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        // Simulated clients do not reach the quota. The conformance tests of the stores cover it.
        let _ = request;
        futures::future::ready(Ok(true)).boxed()
    }

    fn first_analysis_request_ms(
        &self,
        by: PlayerId,
        since_ms: u64,
    ) -> BoxFuture<'_, Result<Option<u64>, ReadError>> {
        let _ = (by, since_ms);
        self.try_read(|_| None).boxed()
    }
}

impl CommandStore for SimStore {}

impl Store for SimStore {
    fn is_healthy(&self) -> bool {
        let mut disk = self.0.lock();
        let is_available = !disk.plan.is_unavailable(now());
        if is_available {
            disk.resolve_rejected_writes();
        }
        is_available
    }
}
