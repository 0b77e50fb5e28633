//! Store in an SQLite database. Once the store has confirmed a write, the write is not lost.
//!
//! One thread writes and two others read, each with its own connection. Writes that arrive while a
//! transaction is synced to the disk are collected for the next transaction. On a busy server, the
//! writes of many matches share one sync. On an idle server, a move waits for a single sync only.
//! This technique is called group commit (Gray and Reuter, "Transaction processing", 1993).

mod account_deletion;
mod admin_queue;
mod directory_lock;
mod history;
mod inspection;
mod journal_length;
mod match_ownership;
mod reader;
pub(super) mod schema;
mod shared_sql;
mod worker_thread;
mod writer;

use crate::JournalStore;
use crate::sql::archive_store::SqlArchive;
use crate::sql::store::SqlStore;
use crate::sql::writes::SharedWrite;
use crate::sql::{matches, reminders};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

pub use admin_queue::SqliteAdminQueue;
use futures::future::{self, BoxFuture};
use futures::{FutureExt, TryFutureExt};
pub use inspection::SqliteInspector;

use self::directory_lock::DirectoryLock;
use self::match_ownership::Ownership;
use self::reader::Reader;
use self::writer::{WriteTask, Writer};
use super::{
    EndedMatch, JournalPosition, JournalTail, LiveMatches, LoadedMatch, MatchRecord, NodeId,
    ReadFuture, Store, StoreMetrics, WriteError, WriteFuture,
};
use plyhouse_matches::{Event, Participation, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId};

/// Name of the database file in the directory of the store.
const DATABASE_FILE: &str = "plyhouse.db";

/// Minimum version of SQLite. Some older versions have a bug in resetting the write-ahead log. The
/// SQLite release notes describe the bug.
const SQLITE_VERSION_MIN: i32 = 3_051_003;

/// Stores matches and players in an SQLite database, which has a directory of its own.
#[derive(Debug)]
pub struct SqliteStore {
    // Rust drops fields in declaration order. The directory lock must be released last, when no
    // thread writes to the database any more.
    writer: Writer,
    reader: Reader,
    /// Reader for queries that read a lot of data. This reader has its own thread, so such queries
    /// do not delay logins and moves.
    history_reader: Reader,
    ownership: Arc<Ownership>,
    health: Arc<Health>,
    _lock: DirectoryLock,
}

/// Health and metrics of the store, shared by its threads.
#[derive(Debug)]
struct Health {
    /// Whether the last write succeeded.
    is_writable: AtomicBool,
    /// Whether everything that a read can return is certainly on the disk. After a failed sync, the
    /// value is `false` until the database file has been reopened and synced.
    is_certain: AtomicBool,
    /// Time at which the writer started to write the current batch, if any.
    busy_since: Mutex<Option<Instant>>,
    metrics: StoreMetrics,
}

/// Maximum duration of a write. The store is unhealthy while a write exceeds this duration.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// Error while opening a store.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process uses the store.
    #[error("another server is using {}; stop it or choose another directory with --data", .0.display())]
    InUse(PathBuf),
    /// The directory cannot be created or read.
    #[error("cannot use data directory {}", .0.display())]
    Directory(PathBuf, #[source] io::Error),
    /// The database cannot be opened or is not an SQLite database.
    #[error("cannot open the database in {}: {}", .0.display(), .1)]
    Database(PathBuf, rusqlite::Error),
    /// The database is read-only.
    #[error("{} is read-only", .0.display())]
    ReadOnly(PathBuf),
    /// The write-ahead log exists, but its database is missing.
    #[error(
        "the database in {} is missing or empty, but its write-ahead log is not: restore it, \
         or delete both",
        .0.display()
    )]
    LogWithoutDatabase(PathBuf),
    /// The database belongs to another program.
    #[error("{} is not a Plyhouse database", .0.display())]
    ForeignDatabase(PathBuf),
    /// The database was written by a later version of this program.
    #[error("{} was written by a newer version of Plyhouse", .0.display())]
    TooNew(PathBuf),
    /// The directory contains no store.
    #[error("there is no store in {}", .0.display())]
    NoStore(PathBuf),
    /// The database was written by an earlier version of this program. Only a server migrates the
    /// database.
    #[error(
        "{} was written by an older version of Plyhouse; start the server once to upgrade it",
        .0.display()
    )]
    TooOld(PathBuf),
    /// This program was built with a version of SQLite that may lose data.
    #[error("SQLite {0} is too old: 3.51.3 or later is required")]
    SqliteTooOld(&'static str),
}

impl SqliteStore {
    /// Opens the store in this directory. Creates the directory if it does not exist. If
    /// `retention` is given, ended matches are deleted after this duration.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn open(directory: &Path, retention: Option<Duration>) -> Result<Self, OpenError> {
        if rusqlite::version_number() < SQLITE_VERSION_MIN {
            return Err(OpenError::SqliteTooOld(rusqlite::version()));
        }
        let lock = DirectoryLock::acquire(directory)?;
        let path = directory.join(DATABASE_FILE);
        let failed = |error| OpenError::Database(directory.to_owned(), error);
        let connection = schema::open(&path, directory)?;
        let health = Arc::new(Health::default());
        let reader = |name| {
            let connection = schema::open_reader(&path).map_err(failed)?;
            Reader::start(name, connection, &health)
                .map_err(|error| OpenError::Directory(directory.to_owned(), error))
        };
        let (reader, history_reader) = (reader("store-reader")?, reader("store-past")?);
        let writer = Writer::start(connection, path, retention, &health)
            .map_err(|error| OpenError::Directory(directory.to_owned(), error))?;
        Ok(Self {
            writer,
            reader,
            history_reader,
            ownership: Arc::default(),
            health,
            _lock: lock,
        })
    }

    /// Returns the permission bits of the database file if the file's group or other users have
    /// access to the file.
    #[must_use]
    pub fn loose_permissions(directory: &Path) -> Option<u32> {
        let mode = directory
            .join(DATABASE_FILE)
            .metadata()
            .ok()?
            .permissions()
            .mode()
            & 0o777;
        (mode & 0o077 != 0).then_some(mode)
    }

    /// Returns the metrics of the store. The store continues to update the returned metrics.
    #[must_use]
    pub fn metrics(&self) -> StoreMetrics {
        self.health.metrics.clone()
    }
}

impl SqliteStore {
    fn write_append(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
        ended: Option<Box<EndedMatch>>,
    ) -> WriteFuture<'_, JournalPosition> {
        let seq = after.seq();
        if after != JournalPosition::after_events(seq.0) {
            return future::ready(Err(WriteError::Conflict)).boxed();
        }
        let position = JournalPosition::after_events(seq.0 + events.len() as u64);
        let ends_match = events.last().is_some_and(Event::is_end);
        let append = WriteTask::Append {
            id,
            after: seq,
            events,
            reminder,
            ended,
        };
        let write = async move {
            self.writer.write(append).await?;
            if ends_match {
                self.ownership.release(id);
            }
            Ok(position)
        };
        write.boxed()
    }
}

impl JournalStore for SqliteStore {
    fn create(&self, owner: NodeId, record: MatchRecord) -> WriteFuture<'_, JournalPosition> {
        let (id, position) = (
            record.creation.id,
            JournalPosition::after_events(record.events.len() as u64),
        );
        let create = async move {
            self.writer.write(WriteTask::Create(record)).await?;
            self.ownership.claim(id, owner);
            Ok(position)
        };
        create.boxed()
    }

    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> WriteFuture<'_, JournalPosition> {
        self.write_append(id, after, events, reminder, None)
    }

    fn append_end(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        ended: Box<EndedMatch>,
    ) -> WriteFuture<'_, JournalPosition> {
        self.write_append(id, after, events, None, Some(ended))
    }

    fn load(&self, id: MatchId) -> ReadFuture<'_, Option<LoadedMatch>> {
        self.reader
            .read(move |connection| reader::load(connection, id))
            .boxed()
    }

    fn tail(&self, id: MatchId, after: JournalPosition) -> ReadFuture<'_, Option<JournalTail>> {
        let seq = after.seq();
        if after != JournalPosition::after_events(seq.0) {
            return future::ready(Ok(None)).boxed();
        }
        self.reader
            .read(move |connection| reader::tail(connection, id, seq))
            .boxed()
    }

    fn find_by_code(&self, code: MatchCode) -> ReadFuture<'_, Option<MatchId>> {
        self.read(move |db| matches::find_by_code(db, code).boxed())
    }

    fn unowned(&self, node: NodeId) -> ReadFuture<'_, Vec<MatchId>> {
        let live = self.reader.read(reader::live_match_ids);
        let unowned = live.map_ok(move |mut ids| {
            ids.retain(|id| self.ownership.owner(*id) != Some(node));
            ids
        });
        unowned.boxed()
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> WriteFuture<'_, ()> {
        self.ownership.claim(id, owner);
        future::ready(Ok(())).boxed()
    }

    fn release(&self, id: MatchId) {
        self.ownership.release(id);
    }

    fn load_live_matches(&self, owner: NodeId) -> ReadFuture<'_, LiveMatches> {
        let ownership = Arc::clone(&self.ownership);
        self.reader
            .read(move |connection| {
                reader::live_matches(connection, |id| ownership.owner(id) == Some(owner))
            })
            .boxed()
    }

    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> ReadFuture<'_, Vec<(u64, MatchId)>> {
        self.read(move |db| reminders::due_reminders(db, after, limit).boxed())
    }

    fn due_reminder_count(&self) -> ReadFuture<'_, u64> {
        self.read(|db| reminders::due_reminder_count(db).boxed())
    }

    fn participations(&self, player: PlayerId) -> ReadFuture<'_, Vec<(MatchId, Participation)>> {
        self.read(move |db| reminders::participations(db, player).boxed())
    }
}

impl SqlStore for SqliteStore {
    type Connection = Mutex<rusqlite::Connection>;

    fn read<T: Send + 'static>(
        &self,
        query: impl for<'a> FnOnce(
            &'a Mutex<rusqlite::Connection>,
        ) -> BoxFuture<'a, rusqlite::Result<T>>
        + Send
        + 'static,
    ) -> ReadFuture<'_, T> {
        self.reader.read_shared(query).boxed()
    }

    fn write(&self, write: SharedWrite) -> WriteFuture<'_, ()> {
        self.writer.write(WriteTask::Shared(write)).boxed()
    }
}

impl SqlArchive for SqliteStore {
    fn read_archive<T: Send + 'static>(
        &self,
        query: impl for<'a> FnOnce(
            &'a Mutex<rusqlite::Connection>,
        ) -> BoxFuture<'a, rusqlite::Result<T>>
        + Send
        + 'static,
    ) -> ReadFuture<'_, T> {
        self.history_reader.read_shared(query).boxed()
    }
}

impl Store for SqliteStore {
    fn is_healthy(&self) -> bool {
        self.health.is_writable() && !self.health.is_stalled()
    }
}

impl Default for Health {
    fn default() -> Self {
        Self {
            is_writable: AtomicBool::new(true),
            is_certain: AtomicBool::new(true),
            busy_since: Mutex::new(None),
            metrics: StoreMetrics::default(),
        }
    }
}

impl Health {
    /// Returns whether the last write succeeded.
    fn is_writable(&self) -> bool {
        self.is_writable.load(Ordering::Relaxed)
    }

    /// Returns whether the current write has taken too long.
    fn is_stalled(&self) -> bool {
        let busy_since = *self.busy_since.lock();
        busy_since.is_some_and(|since| since.elapsed() > WRITE_TIMEOUT)
    }

    fn begin_batch(&self) {
        *self.busy_since.lock() = Some(now());
    }

    fn end_batch(&self) {
        *self.busy_since.lock() = None;
    }

    fn set_writable(&self, is_writable: bool) {
        if self.is_writable.swap(is_writable, Ordering::Relaxed) != is_writable {
            if is_writable {
                tracing::info!("store accepts writes again");
            } else {
                tracing::error!("store does not accept writes");
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

/// Returns the time of the system clock, as Unix time in milliseconds. This time determines only
/// when ended matches and operator commands are deleted, because events carry their own times.
fn wall_clock_ms() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "retention is measured in days of calendar time"
    )]
    let since_1970 = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the time of the monotonic system clock. The store uses this clock to measure the
/// duration of writes.
fn now() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "disk stalls are measured by the machine's clock"
    )]
    Instant::now()
}

#[cfg(test)]
mod tests;
