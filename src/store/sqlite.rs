//! The store that keeps everything in one SQLite database, and loses nothing that it has confirmed.
//!
//! One thread writes and another reads, each with a connection of its own. What has gathered while
//! one transaction was synced to the disk goes into the next, so many matches share a sync and a
//! single move waits for one (group commit; Gray and Reuter, "Transaction processing", 1993).

mod accounts;
mod analyses;
mod archive;
mod blocks;
mod claims;
mod desk;
mod forgetting;
mod history;
mod lock;
mod operator;
mod people;
mod ratings;
mod reader;
mod reminders;
pub(super) mod rows;
mod schema;
mod worker;
mod writer;

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

pub use archive::SqliteArchive;
pub use desk::SqliteDesk;
use futures::future::{self, BoxFuture};
use futures::{FutureExt, TryFutureExt};

use self::claims::Claims;
use self::lock::Lock;
use self::reader::Reader;
use self::writer::{Task, Writer};
use super::{
    Account, AnalysisAsked, Blocks, Explored, HistoryQuery, JournalPosition, KeptAnalysis,
    LeadersPage, LeadersQuery, Live, Loaded, Needed, NodeId, OneTimeToken, OrderId, Pairing,
    PastMatch, PeopleChange, PlayerRating, PlayerRecord, RatingState, RatingsChange, ReadError,
    Record, Results, SessionRecord, Store, StoreMetrics, Tail, TokenHash, WriteError,
    unless_refused,
};
use plyhouse_matches::ratings::{Books, LedgerRow, Posted, Rated, Record as RatingRecord};
use plyhouse_matches::{Event, Part, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, RatingChange};

/// The database's file within its directory.
const FILE: &str = "plyhouse.db";

/// The oldest SQLite that is used: in older ones a reader could see a write-ahead log being reset
/// (the fix is in its release notes), or they are not known to be sound.
const SQLITE_MIN: i32 = 3_051_003;

/// Keeps matches and players in a directory of their own.
#[derive(Debug)]
pub struct SqliteStore {
    // In this order: the lock is let go of when nobody writes any more.
    writer: Writer,
    reader: Reader,
    /// Reads what may be much: so nobody waits behind that who comes or plays.
    past: Reader,
    claims: Arc<Claims>,
    condition: Arc<Condition>,
    _lock: Lock,
}

/// How well the store is, as its threads know it.
#[derive(Debug)]
struct Condition {
    /// What is written is kept.
    is_well: AtomicBool,
    /// What the file tells is what is on the disk. Not so after a sync that failed, until the file
    /// has been opened anew and synced.
    is_certain: AtomicBool,
    /// Since when a batch is being written.
    busy_since: Mutex<Option<Instant>>,
    /// What was written.
    metrics: StoreMetrics,
}

/// A write that has not come back by then is not likely to.
const WRITE_MAX: Duration = Duration::from_secs(5);

/// Why a store cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it open.
    #[error("another server is using {}", .0.display())]
    InUse(PathBuf),
    /// The directory cannot be made or read.
    #[error("cannot use {}", .0.display())]
    Directory(PathBuf, #[source] io::Error),
    /// The database cannot be opened or is not one.
    #[error("cannot open the database in {}", .0.display())]
    Database(PathBuf, #[source] rusqlite::Error),
    /// Nothing can be written in it.
    #[error("{} is read-only", .0.display())]
    ReadOnly(PathBuf),
    /// The log is there, and the database that it belongs to is not.
    #[error("the database in {} is gone, but its log is there: restore it, or remove both", .0.display())]
    Torn(PathBuf),
    /// It is the database of another program.
    #[error("{} is no store of plyhouse", .0.display())]
    NotOurs(PathBuf),
    /// A later version of this program has written it.
    #[error("{} was written by a later version of plyhouse", .0.display())]
    TooNew(PathBuf),
    /// There is nothing to look at.
    #[error("there is no store in {}", .0.display())]
    Missing(PathBuf),
    /// An earlier version of this program has written it, and only a server brings it up to date.
    #[error("{} was written by an earlier version of plyhouse: start the server once", .0.display())]
    TooOld(PathBuf),
    /// The SQLite that this program was built with is known to lose data.
    #[error("SQLite {0} is too old: 3.51.3 is needed")]
    OldSqlite(&'static str),
}

impl SqliteStore {
    /// Opens the store in this directory, which is made if it is not there.
    ///
    /// Ended matches are forgotten after `keep_ended`, if it is given.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn open(directory: &Path, keep_ended: Option<Duration>) -> Result<Self, OpenError> {
        if rusqlite::version_number() < SQLITE_MIN {
            return Err(OpenError::OldSqlite(rusqlite::version()));
        }
        let lock = Lock::take(directory)?;
        let path = directory.join(FILE);
        let failed = |error| OpenError::Database(directory.to_owned(), error);
        let connection = schema::open(&path, directory)?;
        let condition = Arc::new(Condition::default());
        let reader = |name| {
            let connection = schema::open_to_read(&path).map_err(failed)?;
            Reader::start(name, connection, &condition)
                .map_err(|error| OpenError::Directory(directory.to_owned(), error))
        };
        let (reader, past) = (reader("store-reader")?, reader("store-past")?);
        let writer = Writer::start(connection, path, keep_ended, &condition)
            .map_err(|error| OpenError::Directory(directory.to_owned(), error))?;
        Ok(Self {
            writer,
            reader,
            past,
            claims: Arc::default(),
            condition,
            _lock: lock,
        })
    }

    /// The permission bits of the database in this directory, if other users of the machine may open it.
    #[must_use]
    pub fn loose_mode(directory: &Path) -> Option<u32> {
        let mode = directory.join(FILE).metadata().ok()?.permissions().mode() & 0o777;
        (mode & 0o077 != 0).then_some(mode)
    }

    /// What it has written, which goes on being counted.
    #[must_use]
    pub fn metrics(&self) -> StoreMetrics {
        self.condition.metrics.clone()
    }
}

impl Store for SqliteStore {
    fn create(
        &self,
        owner: NodeId,
        record: Record,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        let (id, mark) = (
            record.creation.id,
            JournalPosition::after(record.events.len() as u64),
        );
        let create = async move {
            self.writer.write(Task::Create(record)).await?;
            self.claims.claim(id, owner);
            Ok(mark)
        };
        create.boxed()
    }

    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        let seq = after.seq();
        if after != JournalPosition::after(seq.0) {
            return future::ready(Err(WriteError::Conflict)).boxed();
        }
        let mark = JournalPosition::after(seq.0 + events.len() as u64);
        let ends = events.last().is_some_and(Event::is_end);
        let append = Task::Append {
            id,
            after: seq,
            events,
            reminder,
        };
        let keep = async move {
            self.writer.write(append).await?;
            if ends {
                self.claims.release(id);
            }
            Ok(mark)
        };
        keep.boxed()
    }

    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<Loaded>, ReadError>> {
        self.reader
            .read(move |connection| reader::load(connection, id))
            .boxed()
    }

    fn tail(
        &self,
        id: MatchId,
        after: JournalPosition,
    ) -> BoxFuture<'_, Result<Option<Tail>, ReadError>> {
        let seq = after.seq();
        if after != JournalPosition::after(seq.0) {
            return future::ready(Ok(None)).boxed();
        }
        self.reader
            .read(move |connection| reader::tail(connection, id, seq))
            .boxed()
    }

    fn by_code(&self, code: MatchCode) -> BoxFuture<'_, Result<Option<MatchId>, ReadError>> {
        self.reader
            .read(move |connection| Ok(reader::by_code(connection, code)?))
            .boxed()
    }

    fn unowned(&self, asking: NodeId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        let live = self.reader.read(reader::live_ids);
        let orphans = live.map_ok(move |mut ids| {
            ids.retain(|id| self.claims.owner(*id) != Some(asking));
            ids
        });
        orphans.boxed()
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.claims.claim(id, owner);
        future::ready(Ok(())).boxed()
    }

    fn release(&self, id: MatchId) {
        self.claims.release(id);
    }

    fn live(&self, owner: NodeId) -> BoxFuture<'_, Result<Live, ReadError>> {
        let claims = Arc::clone(&self.claims);
        self.reader
            .read(move |connection| reader::live(connection, |id| claims.owner(id) == Some(owner)))
            .boxed()
    }

    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, MatchId)>, ReadError>> {
        self.reader
            .read(move |connection| Ok(reminders::due(connection, after, limit)?))
            .boxed()
    }

    fn due_count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.reader
            .read(move |connection| Ok(reminders::due_count(connection)?))
            .boxed()
    }

    fn participations(
        &self,
        player: PlayerId,
    ) -> BoxFuture<'_, Result<Vec<(MatchId, Part)>, ReadError>> {
        self.reader
            .read(move |connection| Ok(reminders::parts(connection, player)?))
            .boxed()
    }

    fn history(
        &self,
        wanted: HistoryQuery,
    ) -> BoxFuture<'_, Result<Option<Vec<PastMatch>>, ReadError>> {
        self.past
            .read(move |connection| history::history(connection, &wanted))
            .boxed()
    }

    fn results(
        &self,
        player: PlayerId,
        seen_by: PlayerId,
    ) -> BoxFuture<'_, Result<Results, ReadError>> {
        self.past
            .read(move |connection| Ok(history::results(connection, player, seen_by)?))
            .boxed()
    }

    fn explore(
        &self,
        game: &'static str,
        line: String,
    ) -> BoxFuture<'_, Result<Explored, ReadError>> {
        self.past
            .read(move |connection| Ok(history::explore(connection, game, &line)?))
            .boxed()
    }

    fn keep_analysis(
        &self,
        id: MatchId,
        analysis: KeptAnalysis,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        let kept = self.writer.write(Task::KeepAnalysis(id, analysis));
        kept.map(unless_refused).boxed()
    }

    fn analysis(&self, id: MatchId) -> BoxFuture<'_, Result<Option<KeptAnalysis>, ReadError>> {
        self.past
            .read(move |connection| Ok(analyses::of(connection, id)?))
            .boxed()
    }

    fn ask_analysis(&self, asked: AnalysisAsked) -> BoxFuture<'_, Result<bool, WriteError>> {
        let asked = self.writer.write(Task::AskAnalysis(asked));
        asked.map(unless_refused).boxed()
    }

    fn analysis_asked(
        &self,
        by: PlayerId,
        since_ms: u64,
    ) -> BoxFuture<'_, Result<Option<u64>, ReadError>> {
        self.past
            .read(move |connection| Ok(analyses::asked(connection, by, since_ms)?))
            .boxed()
    }

    fn rating_state(&self) -> BoxFuture<'_, Result<RatingState, ReadError>> {
        self.past
            .read(|connection| Ok(ratings::state(connection)?))
            .boxed()
    }

    fn ledger(
        &self,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, LedgerRow)>, ReadError>> {
        self.past
            .read(move |connection| Ok(ratings::ledger(connection, after, limit)?))
            .boxed()
    }

    fn books(&self, fold: u64, needed: Needed) -> BoxFuture<'_, Result<Books, ReadError>> {
        self.past
            .read(move |connection| Ok(ratings::books(connection, fold, &needed)?))
            .boxed()
    }

    fn posted(
        &self,
        after: u64,
        until: u64,
    ) -> BoxFuture<'_, Result<Vec<(u64, Posted)>, ReadError>> {
        self.past
            .read(move |connection| Ok(ratings::posted(connection, after, until)?))
            .boxed()
    }

    fn ratings_after(
        &self,
        last: Option<RatingRecord>,
    ) -> BoxFuture<'_, Result<Vec<(RatingRecord, Rated)>, ReadError>> {
        self.past
            .read(move |connection| Ok(ratings::ratings_after(connection, last.as_ref())?))
            .boxed()
    }

    fn change_ratings(&self, change: RatingsChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        let changed = self.writer.write(Task::ChangeRatings(change));
        changed.map(unless_refused).boxed()
    }

    fn ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<PlayerRating>, ReadError>> {
        self.reader
            .read(move |connection| Ok(ratings::ratings(connection, player)?))
            .boxed()
    }

    fn leaders(&self, wanted: LeadersQuery) -> BoxFuture<'_, Result<LeadersPage, ReadError>> {
        self.past
            .read(move |connection| Ok(ratings::leaders(connection, &wanted)?))
            .boxed()
    }

    fn rated_ban_until(&self, player: PlayerId) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.reader
            .read(move |connection| Ok(ratings::barred_until(connection, player)?))
            .boxed()
    }

    fn changes_of(
        &self,
        id: MatchId,
    ) -> BoxFuture<'_, Result<Option<Vec<RatingChange>>, ReadError>> {
        self.reader
            .read(move |connection| {
                let at_once = connection.unchecked_transaction()?;
                Ok(ratings::changes_of(&at_once, id)?)
            })
            .boxed()
    }

    fn add_player(
        &self,
        player: PlayerRecord,
        sessions: Vec<SessionRecord>,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        self.writer.write(Task::AddPlayer(player, sessions)).boxed()
    }

    fn session(
        &self,
        token: TokenHash,
    ) -> BoxFuture<'_, Result<Option<(PlayerRecord, SessionRecord)>, ReadError>> {
        self.reader
            .read(move |connection| Ok(people::session(connection, token)?))
            .boxed()
    }

    fn sessions(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<SessionRecord>, ReadError>> {
        self.reader
            .read(move |connection| Ok(people::sessions(connection, player)?))
            .boxed()
    }

    fn change_identity(&self, change: PeopleChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        let changed = self.writer.write(Task::ChangePeople(change));
        changed.map(unless_refused).boxed()
    }

    fn pairing(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<Pairing>, ReadError>> {
        self.reader
            .read(move |connection| Ok(people::pairing(connection, code, now_ms)?))
            .boxed()
    }

    fn recovered(&self, key: TokenHash) -> BoxFuture<'_, Result<Option<PlayerId>, ReadError>> {
        self.reader
            .read(move |connection| Ok(people::recovered(connection, key)?))
            .boxed()
    }

    fn named(
        &self,
        likeness: String,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<(PlayerId, bool)>, ReadError>> {
        self.reader
            .read(move |connection| Ok(accounts::named(connection, &likeness, now_ms)?))
            .boxed()
    }

    fn blocks(&self, player: PlayerId) -> BoxFuture<'_, Result<Blocks, ReadError>> {
        self.reader
            .read(move |connection| Ok(blocks::of(connection, player)?))
            .boxed()
    }

    fn account(&self, player: PlayerId) -> BoxFuture<'_, Result<Option<Account>, ReadError>> {
        self.reader
            .read(move |connection| Ok(accounts::account(connection, player)?))
            .boxed()
    }

    fn has_recovery(&self, player: PlayerId) -> BoxFuture<'_, Result<bool, ReadError>> {
        self.reader
            .read(move |connection| Ok(people::recovery(connection, player)?.is_some()))
            .boxed()
    }

    fn external(&self, name: String) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        self.reader
            .read(move |connection| Ok(accounts::external(connection, &name)?))
            .boxed()
    }

    fn pass(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<OneTimeToken>, ReadError>> {
        self.reader
            .read(move |connection| Ok(operator::pass(connection, code, now_ms)?))
            .boxed()
    }

    fn account_deletions(&self) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        self.reader
            .read(move |connection| Ok(forgetting::forgetting(connection)?))
            .boxed()
    }

    fn takes_orders(&self) -> bool {
        true
    }

    fn orders(&self) -> BoxFuture<'_, Result<Vec<(OrderId, String)>, ReadError>> {
        self.reader
            .read(move |connection| Ok(operator::orders(connection)?))
            .boxed()
    }

    fn player_by_id(&self, id: PlayerId) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        self.reader
            .read(move |connection| reader::player_by_id(connection, id))
            .boxed()
    }

    fn is_healthy(&self) -> bool {
        self.condition.has_kept() && !self.condition.hangs()
    }
}

impl Default for Condition {
    fn default() -> Self {
        Self {
            is_well: AtomicBool::new(true),
            is_certain: AtomicBool::new(true),
            busy_since: Mutex::new(None),
            metrics: StoreMetrics::default(),
        }
    }
}

impl Condition {
    /// Whether the last write was kept.
    fn has_kept(&self) -> bool {
        self.is_well.load(Ordering::Relaxed)
    }

    /// Whether a write has been under way for too long.
    fn hangs(&self) -> bool {
        let since = *self.busy_since.lock();
        since.is_some_and(|since| since.elapsed() > WRITE_MAX)
    }

    fn begins(&self) {
        *self.busy_since.lock() = Some(now());
    }

    fn ends(&self) {
        *self.busy_since.lock() = None;
    }

    fn set_well(&self, is_well: bool) {
        if self.is_well.swap(is_well, Ordering::Relaxed) != is_well {
            if is_well {
                tracing::info!("the store is well again");
            } else {
                tracing::error!("the store cannot keep anything now");
            }
        }
    }

    fn set_certain(&self, is_certain: bool) {
        self.is_certain.store(is_certain, Ordering::SeqCst);
    }

    fn is_certain(&self) -> bool {
        self.is_certain.load(Ordering::SeqCst)
    }
}

/// The present by the machine's calendar, in milliseconds since 1970: only for how long ended matches
/// are kept. When something happened, its match has told.
fn wall_ms() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "matches are kept for days, whichever server wrote them"
    )]
    let since_1970 = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
}

/// The present by the machine's clock: a disk is slow, or hangs, by no other.
fn now() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "a disk hangs by no clock but the machine's"
    )]
    Instant::now()
}

#[cfg(test)]
mod tests;
