//! A disk as it is between two syncs: what was written and not synced is lost when the host dies,
//! or some of it is not, and nobody can tell before.

mod tables;
mod troubles;

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
    Account, AnalysisQuotaRequest, Blocks, HistoryQuery, IdentityChange, JournalPosition,
    JournalTail, LeaderboardPage, LeaderboardQuery, LiveMatches, LoadedMatch, MatchRecord,
    NeededRatings, NodeId, OpeningStats, Pairing, PastMatch, PlayerRating, PlayerRecord,
    RatingPost, RatingProgress, RatingsChange, ReadError, ResultCounts, SessionRecord, Store,
    StoredAnalysis, TokenHash, WriteError,
};
use sha2::{Digest, Sha256};
use tokio::time::sleep;
use uuid::Uuid;

pub(crate) use self::tables::{Cluster, Kept, Tables, Trouble, Written};
use self::tables::{Write, end};
use super::dice::Dice;
use super::flaw::Flaw;
use super::plan::DiskPlan;
use super::world::{BEGINS_MS, GAMES, name};

/// Writes that one sync makes durable together.
#[derive(Debug)]
struct Batch {
    starts: Duration,
    ends: Duration,
    writes: Vec<Write>,
}

/// A store that outlives the server of its world. Clones are the same store.
#[derive(Clone, Debug)]
pub(crate) struct SimStore(Arc<Mutex<Disk>>);

#[derive(Debug)]
struct Disk {
    plan: DiskPlan,
    dice: Dice,
    flaw: Option<Flaw>,
    /// What a crash leaves.
    synced: Tables,
    /// What there is with all that waits for a sync.
    written: Tables,
    batches: VecDeque<Batch>,
    times: BTreeMap<(MatchId, u64), Written>,
    troubles: BTreeMap<MatchId, Vec<Trouble>>,
    unread_at: Option<Duration>,
    /// The rated matches in the order of their numbers, and when each was seen to have one.
    numbered: Vec<(Duration, MatchId)>,
    /// The last number that was seen.
    last_no: u64,
    /// The ratings with which the world began.
    begun: RatingState,
    /// Who owns which match. A hint, which no crash need spare.
    owners: BTreeMap<MatchId, NodeId>,
}

impl Disk {
    /// Makes durable what has been synced by now.
    fn settle(&mut self, now: Duration) {
        while self.batches.front().is_some_and(|batch| batch.ends <= now) {
            let batch = self.batches.pop_front().expect("it was there");
            for write in batch.writes {
                self.synced.apply(write).expect("it was checked before");
            }
        }
        if self.flaw == Some(Flaw::NumbersEarly) {
            for tables in [&mut self.synced, &mut self.written] {
                tables
                    .ratings
                    .change(RatingsChange::NumberDueRows(u64::MAX));
            }
        }
        self.note_numbers(now);
    }

    /// Takes note of what is numbered by now.
    fn note_numbers(&mut self, now: Duration) {
        for (no, row) in self.synced.ratings.ledger(self.last_no, usize::MAX) {
            self.last_no = no;
            if let LedgerRow::Game(game) = row {
                self.numbered.push((now, game.match_id));
            }
        }
    }

    /// Begins a write: gives how long it takes, and its outcome.
    fn write(&mut self, write: Write, now: Duration) -> (Duration, Result<(), WriteError>) {
        self.settle(now);
        if self.dice.percent(self.plan.unavailable_percent) || self.plan.is_sick(now) {
            if self.flaw == Some(Flaw::WritesWhatItRefuses) {
                let _ = self.begin(write, now);
            }
            return (self.dice.ms(0..=20), Err(WriteError::Unavailable));
        }
        let is_unknown = self.dice.percent(self.plan.unknown_percent);
        if is_unknown && self.dice.percent(50) {
            return (self.dice.ms(0..=50), Err(WriteError::OutcomeUnknown));
        }
        match self.begin(write, now) {
            Err(conflict) => (Duration::ZERO, Err(conflict)),
            Ok(_) if self.flaw == Some(Flaw::AnswersEarly) => (Duration::ZERO, Ok(())),
            Ok(ends) if is_unknown => (ends - now, Err(WriteError::OutcomeUnknown)),
            Ok(ends) => (ends - now, Ok(())),
        }
    }

    /// Has a write take part in the next sync, and gives when that will have ended.
    fn begin(&mut self, write: Write, now: Duration) -> Result<Duration, WriteError> {
        self.written.apply(write.clone())?;
        let sync = self.dice.ms(self.plan.sync_ms.clone());
        let seqs = write.seqs();
        match self.batches.back_mut() {
            // This one has not begun yet: it waits for the one before.
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
        let durable = self.batches.back().expect("it has been put there").ends;
        let asked = now;
        let times = seqs.map(|key| (key, Written { asked, durable }));
        self.times.extend(times);
        Ok(durable)
    }

    /// Until when all that is written now will be durable.
    fn durable_at(&self) -> Option<Duration> {
        self.batches.back().map(|batch| batch.ends)
    }
}

impl SimStore {
    pub(crate) fn new(plan: DiskPlan, dice: Dice, flaw: Option<Flaw>) -> Self {
        Self(Arc::new(Mutex::new(Disk {
            plan,
            dice,
            flaw,
            synced: Tables::default(),
            written: Tables::default(),
            batches: VecDeque::new(),
            times: BTreeMap::new(),
            troubles: BTreeMap::new(),
            unread_at: None,
            numbered: Vec::new(),
            last_no: 0,
            begun: RatingState::default(),
            owners: BTreeMap::new(),
        })))
    }

    /// The host dies. Of what was not synced, the first so many writes are there all the same.
    pub(crate) fn crash(&self, now: Duration) -> usize {
        let mut disk = self.0.lock();
        disk.settle(now);
        let unsynced: Vec<Write> = std::mem::take(&mut disk.batches)
            .into_iter()
            .flat_map(|batch| batch.writes)
            .collect();
        let surviving = match disk.flaw {
            // Whatever was told too early is to be missed.
            Some(Flaw::AnswersEarly) => 0,
            _ => disk.dice.between(0..=unsynced.len() as u64),
        };
        let lost = unsynced.len() as u64 - surviving;
        for (_, write) in (0..surviving).zip(unsynced) {
            for key in write.seqs() {
                if let Some(written) = disk.times.get_mut(&key) {
                    written.durable = now;
                }
            }
            disk.synced.apply(write).expect("it was checked before");
        }
        let Disk {
            flaw, synced, dice, ..
        } = &mut *disk;
        if let Some(flaw) = flaw {
            flaw.befall(synced, dice);
        }
        disk.note_numbers(now);
        disk.written = disk.synced.clone();
        usize::try_from(lost).expect("as many as there were")
    }

    /// Everything that is durable in the end.
    pub(crate) fn kept(&self, now: Duration, lag_compensation: Duration) -> Kept {
        let mut disk = self.0.lock();
        disk.settle(now);
        Kept {
            matches: disk.synced.matches.clone(),
            written: disk.times.clone(),
            troubles: disk.troubles.clone(),
            unread_at: disk.unread_at,
            lag_compensation,
            ratings: disk.synced.ratings.clone(),
            numbered: disk.numbered.clone(),
            begun: disk.begun.clone(),
            cluster: None,
        }
    }

    /// Somebody has had an account since before this world began: gives the token of a device of theirs.
    pub(crate) fn with_account(&self, place: usize) -> Token {
        let token = Token::new(format!("the device of {}", name(place)));
        let number = Uuid::from_u128(place as u128 + 1);
        let player = PlayerRecord {
            id: PlayerId(number),
            name: name(place),
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
        // Of two who play each other one is on leaderboards, mostly.
        if place.is_multiple_of(2) {
            disk.begun.ratings.extend(ratings_of(player.id));
        }
        let Disk {
            synced,
            written,
            begun,
            ..
        } = &mut *disk;
        for tables in [synced, written] {
            let known = Write::Player(player.clone(), vec![session.clone()]);
            tables.apply(known).expect("players are always taken in");
            let fold = tables.ratings.progress().live;
            let post = RatingsChange::Post(Box::new(RatingPost {
                version: fold.id,
                from_row: fold.cursor,
                to_row: fold.cursor,
                books: begun.clone(),
                posted: Vec::new(),
            }));
            let post = Write::Ratings(post);
            tables.apply(post).expect("nothing was posted yet");
        }
        token
    }

    /// How many matches are live.
    pub(crate) fn live_matches(&self) -> usize {
        self.0.lock().synced.live().count()
    }

    async fn write(&self, write: Write) -> Result<(), WriteError> {
        let (takes, outcome) = self.0.lock().write(write, now());
        sleep(takes).await;
        outcome
    }

    /// Reads what is durable, after all that was written before.
    async fn read<T>(&self, read: impl FnOnce(&Tables) -> T) -> T {
        let durable_at = self.0.lock().durable_at();
        if let Some(wait) = durable_at.and_then(|at| at.checked_sub(now())) {
            sleep(wait).await;
        }
        let mut disk = self.0.lock();
        disk.settle(now());
        read(&disk.synced)
    }

    /// Reads what is durable, if the disk can be read.
    async fn try_read<T>(&self, read: impl FnOnce(&Tables) -> T) -> Result<T, ReadError> {
        let is_unreadable = {
            let mut disk = self.0.lock();
            let percent = disk.plan.unreadable_percent;
            disk.dice.percent(percent)
        };
        if is_unreadable {
            self.0.lock().unread_at = Some(now());
            return Err(ReadError::Unavailable);
        }
        Ok(self.read(read).await)
    }
}

/// How somebody is rated who has played much before the world began.
fn ratings_of(player: PlayerId) -> impl Iterator<Item = (RatingRecord, RatingEntry)> {
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
        let rated = RatingEntry {
            rating,
            games: 40,
            last_ms: BEGINS_MS,
        };
        (record, rated)
    })
}

/// The world's time.
fn now() -> Duration {
    turmoil::sim_elapsed().expect("the store is used by a host of the world")
}

impl Store for SimStore {
    fn create(
        &self,
        owner: NodeId,
        record: MatchRecord,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        self.0.lock().owners.insert(record.creation.id, owner);
        let mark = end(&record);
        self.write(Write::Create(record))
            .map_ok(move |()| mark)
            .boxed()
    }

    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        let mark = JournalPosition::after_events(after.seq().0 + events.len() as u64);
        async move {
            let asked = now();
            let outcome = self.write(Write::Append(id, after, events, reminder)).await;
            self.0.lock().note(id, asked, outcome);
            outcome.map(|()| mark)
        }
        .boxed()
    }

    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<LoadedMatch>, ReadError>> {
        async move {
            let loaded = self.try_read(|tables| tables.load(id)).await?;
            self.0.lock().note_contact(id);
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
                    position: end(record),
                })
            });
            let tail = tail.await?;
            // It may have shown that the write was made after all.
            self.0.lock().note_contact(id);
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

    /// More players than are asked for, which must do no harm. Never fails: a server that cannot
    /// read this does not start.
    fn load_live_matches(&self, owner: NodeId) -> BoxFuture<'_, Result<LiveMatches, ReadError>> {
        let owners = self.0.lock().owners.clone();
        async move {
            let live = self.read(move |tables| {
                let own = tables.served();
                let own = own.filter(|record| owners.get(&record.creation.id) == Some(&owner));
                LiveMatches {
                    matches: own.cloned().map(|record| Ok(record.into())).collect(),
                    players: tables.players.values().cloned().collect(),
                }
            });
            let live = live.await;
            let mut disk = self.0.lock();
            for loaded in live.matches.iter().flatten() {
                disk.note_contact(loaded.record.creation.id);
            }
            Ok(live)
        }
        .boxed()
    }

    fn unowned(&self, asking: NodeId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        let owners = self.0.lock().owners.clone();
        self.read(move |tables| {
            let ids = tables.served().map(|record| record.creation.id);
            Ok(ids.filter(|id| owners.get(id) != Some(&asking)).collect())
        })
        .boxed()
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.0.lock().owners.insert(id, owner);
        futures::future::ready(Ok(())).boxed()
    }

    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, MatchId)>, ReadError>> {
        let limit = match self.0.lock().flaw {
            Some(Flaw::WakesNobody) => 0,
            _ => limit,
        };
        self.try_read(move |tables| {
            let due = tables.due().into_iter().filter(|due| *due > after);
            due.take(limit).collect()
        })
        .boxed()
    }

    /// Never fails, as with what is live.
    fn due_reminder_count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.read(|tables| Ok(tables.due().len() as u64)).boxed()
    }

    fn participations(
        &self,
        player: PlayerId,
    ) -> BoxFuture<'_, Result<Vec<(MatchId, Participation)>, ReadError>> {
        self.try_read(move |tables| {
            let parts = tables.reminders.iter().flat_map(|(id, reminder)| {
                let own = reminder.participations.iter();
                own.filter(|part| part.player == player)
                    .map(|part| (*id, *part))
            });
            parts.collect()
        })
        .boxed()
    }

    fn add_player(
        &self,
        player: PlayerRecord,
        sessions: Vec<SessionRecord>,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        self.write(Write::Player(player, sessions)).boxed()
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
            IdentityChange::TouchSession(token, day) => Write::Saw(token, day),
            IdentityChange::ChangeBlock {
                player,
                other,
                since_ms,
            } => Write::Block(player, other, since_ms),
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
                unreachable!("nobody pairs devices in a simulated world: {change:?}")
            }
        };
        self.write(write).map_ok(|()| true).boxed()
    }

    fn find_pairing(
        &self,
        _code: TokenHash,
        _now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<Pairing>, ReadError>> {
        unreachable!("nobody pairs devices in a simulated world")
    }

    fn find_by_recovery_key(
        &self,
        _key: TokenHash,
    ) -> BoxFuture<'_, Result<Option<PlayerId>, ReadError>> {
        unreachable!("nobody has a recovery key in a simulated world")
    }

    fn find_by_name_skeleton(
        &self,
        _likeness: String,
        _now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<(PlayerId, bool)>, ReadError>> {
        self.try_read(|_| None).boxed()
    }

    fn blocks(&self, player: PlayerId) -> BoxFuture<'_, Result<Blocks, ReadError>> {
        self.try_read(move |tables| tables.blocks_of(player))
            .boxed()
    }

    /// Nobody has a password or programs.
    fn account(&self, player: PlayerId) -> BoxFuture<'_, Result<Option<Account>, ReadError>> {
        self.try_read(move |tables| {
            let known = tables.players.get(&player)?;
            (known.kind == PlayerKind::Account).then(Account::default)
        })
        .boxed()
    }

    // No client of these worlds asks what was played: it is looked for in the stores that are real.

    fn history(
        &self,
        wanted: HistoryQuery,
    ) -> BoxFuture<'_, Result<Option<Vec<PastMatch>>, ReadError>> {
        let _ = wanted;
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

    // Nobody has a match looked at in a simulated world.
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
        asked: AnalysisQuotaRequest,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        // How many are too many is what the suite of all stores asks: here nobody asks so often.
        let _ = asked;
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
        fold: u64,
        needed: NeededRatings,
    ) -> BoxFuture<'_, Result<RatingState, ReadError>> {
        self.try_read(move |tables| tables.ratings.load_ratings_for(fold, &needed))
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
        let written = self.write(Write::Ratings(change));
        let is_done = |written: Result<(), WriteError>| match written {
            Err(WriteError::Conflict) => Ok(false),
            written => written.map(|()| true),
        };
        written.map(is_done).boxed()
    }

    fn ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<PlayerRating>, ReadError>> {
        self.try_read(move |tables| tables.ratings.ratings(player))
            .boxed()
    }

    fn leaderboard(
        &self,
        wanted: LeaderboardQuery,
    ) -> BoxFuture<'_, Result<LeaderboardPage, ReadError>> {
        self.try_read(move |tables| {
            let find = |player| tables.players.get(&player).cloned();
            tables.ratings.leaderboard(&wanted, find)
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

    fn player_by_id(&self, id: PlayerId) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        self.try_read(move |tables| tables.players.get(&id).cloned())
            .boxed()
    }

    fn is_healthy(&self) -> bool {
        let mut disk = self.0.lock();
        let is_well = !disk.plan.is_sick(now());
        if is_well {
            disk.note_health();
        }
        is_well
    }
}
