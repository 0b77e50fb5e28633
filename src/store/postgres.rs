//! Store in a PostgreSQL database, which any number of servers can share.
//!
//! The journal of a match prevents two servers from writing conflicting events to the match. Each
//! append names the journal position that it follows. A takeover adds a journal entry without an
//! event, so the store refuses appends at earlier positions. The stored owners and leases may be
//! outdated. If a server relies on an outdated owner, its append fails with a conflict, and the
//! server reads the match again.
//!
//! One connection writes and another reads. Writes that arrive during a transaction are collected
//! for the next transaction.

mod admin_queue;
mod cluster_directory;
mod connection_url;
mod inspection;
mod journal_rows;
mod one_off_connection;
mod reader;
mod reconnecting_connection;
mod schema;
mod shared_sql;
#[cfg(test)]
mod tests;
mod writer;

use crate::JournalStore;
use crate::sql::archive_store::SqlArchive;
use crate::sql::store::SqlStore;
use crate::sql::writes::SharedWrite;
use crate::sql::{matches, reminders};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::{FutureExt, TryFutureExt};
use plyhouse_matches::{Event, Participation, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, Seq};
use tokio_rustls::rustls::pki_types::pem;

pub use self::admin_queue::PostgresAdminQueue;
use self::connection_url::ConnectionUrl;
pub use self::inspection::PostgresInspector;
use self::reader::Reader;
use self::reconnecting_connection::{PgConnection, QueryError, ReconnectingConnection};
use self::writer::{WriteTask, Writer};
use super::{
    JournalPosition, JournalTail, LiveMatches, LoadedMatch, MatchRecord, NodeId, ReadFuture, Store,
    StoreMetrics, WriteFuture,
};

/// Stores matches and players in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    writer: Writer,
    reader: Reader,
    health: Arc<Health>,
}

/// Health and metrics of the store, as last observed by the writer.
#[derive(Debug)]
struct Health {
    is_healthy: AtomicBool,
    metrics: StoreMetrics,
}

/// Error while opening a database.
#[derive(Debug, thiserror::Error)]
pub enum OpenPostgresError {
    /// The database URL is invalid.
    #[error("invalid database URL")]
    InvalidUrl(#[source] tokio_postgres::Error),
    /// The URL sets `sslrootcert`, but `sslmode` is not `verify-full`.
    #[error("sslrootcert requires sslmode=verify-full")]
    UnusedRootCertificates,
    /// The root certificates that the URL names cannot be read.
    #[error("cannot read CA certificates from {0}")]
    UnreadableRootCertificates(PathBuf, #[source] pem::Error),
    /// The database cannot be reached or used.
    #[error("cannot open the database")]
    Database(#[from] tokio_postgres::Error),
    /// The tables cannot be migrated.
    #[error("cannot migrate the database")]
    Migration(#[source] Box<dyn Error + Send + Sync>),
    /// Another server already uses the database. At least one of the two servers requires exclusive
    /// use.
    #[error("another server is using the database")]
    InUse,
    /// The database contains no store.
    #[error("there is no store in the database")]
    NoStore,
    /// The database was written by a later version of this program.
    #[error("the database was written by a newer version of Plyhouse")]
    TooNew,
    /// The database was written by an earlier version of this program. Only a server migrates the
    /// database.
    #[error(
        "the database was written by an older version of Plyhouse; start the server once to \
         upgrade it"
    )]
    TooOld,
    /// The async runtime of a command-line tool could not be started.
    #[error("cannot start the async runtime")]
    Runtime(#[source] std::io::Error),
}

use OpenPostgresError as OpenError;

impl From<QueryError> for OpenError {
    fn from(error: QueryError) -> Self {
        Self::Migration(Box::new(error))
    }
}

impl PostgresStore {
    /// Connects to the database with this URL (`postgres://…`) and creates or migrates its tables.
    /// If `keep_ended` is given, ended matches are deleted after this duration. If the URL names
    /// several hosts, the store connects to one that accepts writes.
    ///
    /// The `sslmode` values `prefer` and `require` accept any certificate. The value `verify-full`
    /// requires a certificate for the host name. By default, the certificate must be signed by an
    /// authority that the system trusts. If the URL has `sslrootcert`, the certificate must be
    /// signed by an authority in that PEM file.
    ///
    /// # Errors
    ///
    /// See [`OpenPostgresError`].
    pub async fn open(url: &str, keep_ended: Option<Duration>) -> Result<Self, OpenError> {
        Self::open_with_lock(url, keep_ended, schema::SHARED_LOCK).await
    }

    /// Opens a database for a server outside a cluster. Other servers cannot open the database
    /// while this connection lasts. Even if two servers use the database by mistake, the journal
    /// refuses conflicting writes.
    ///
    /// # Errors
    ///
    /// See [`OpenPostgresError`].
    pub async fn open_exclusive(
        url: &str,
        keep_ended: Option<Duration>,
    ) -> Result<Self, OpenError> {
        Self::open_with_lock(url, keep_ended, schema::EXCLUSIVE_LOCK).await
    }

    /// Connects to a database, creates or migrates its tables, and takes the server lock by running
    /// the given statement.
    async fn open_with_lock(
        url: &str,
        keep_ended: Option<Duration>,
        lock_sql: &str,
    ) -> Result<Self, OpenError> {
        let url: ConnectionUrl = url.parse()?;
        let mut connection = PgConnection::connect(&url).await?;
        schema::migrate(&mut connection).await?;
        schema::lock(connection.client(), lock_sql).await?;
        let health = Arc::new(Health::default());
        let writer = ReconnectingConnection::new(url.clone(), connection);
        let connection = PgConnection::connect(&url).await?;
        let reader = ReconnectingConnection::new(url, connection);
        Ok(Self {
            writer: Writer::start(writer, keep_ended, &health),
            reader: Reader::new(reader),
            health,
        })
    }

    /// Returns the metrics of the store. The store continues to update the returned metrics.
    #[must_use]
    pub fn metrics(&self) -> StoreMetrics {
        self.health.metrics.clone()
    }
}

impl JournalStore for PostgresStore {
    fn create(&self, owner: NodeId, record: MatchRecord) -> WriteFuture<'_, JournalPosition> {
        let position = JournalPosition::after_events(record.events.len() as u64);
        let written = self.writer.write(WriteTask::Create(owner, record));
        written.map_ok(move |()| position).boxed()
    }

    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> WriteFuture<'_, JournalPosition> {
        let count = events.len() as u64;
        let position = JournalPosition::new(
            after.entry_no + count,
            Seq(after.seq.0 + count),
            after.epoch,
        );
        let append = WriteTask::Append {
            id,
            after,
            events,
            reminder,
        };
        self.writer.write(append).map_ok(move |()| position).boxed()
    }

    fn load(&self, id: MatchId) -> ReadFuture<'_, Option<LoadedMatch>> {
        self.reader.load(id).boxed()
    }

    fn tail(&self, id: MatchId, after: JournalPosition) -> ReadFuture<'_, Option<JournalTail>> {
        self.reader.tail(id, after).boxed()
    }

    fn find_by_code(&self, code: MatchCode) -> ReadFuture<'_, Option<MatchId>> {
        matches::find_by_code(&self.reader, code).boxed()
    }

    fn unowned(&self, node: NodeId) -> ReadFuture<'_, Vec<MatchId>> {
        self.reader.unowned(node).boxed()
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> WriteFuture<'_, ()> {
        self.writer.write(WriteTask::Claim(id, owner)).boxed()
    }

    fn release(&self, id: MatchId) {
        self.writer.write_in_background(WriteTask::Release(id));
    }

    fn load_live_matches(&self, owner: NodeId) -> ReadFuture<'_, LiveMatches> {
        self.reader.live_matches(owner).boxed()
    }

    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> ReadFuture<'_, Vec<(u64, MatchId)>> {
        reminders::due_reminders(&self.reader, after, limit).boxed()
    }

    fn due_reminder_count(&self) -> ReadFuture<'_, u64> {
        reminders::due_reminder_count(&self.reader).boxed()
    }

    fn participations(&self, player: PlayerId) -> ReadFuture<'_, Vec<(MatchId, Participation)>> {
        reminders::participations(&self.reader, player).boxed()
    }
}

impl SqlStore for PostgresStore {
    type Connection = Reader;

    fn read<T: Send + 'static>(
        &self,
        query: impl for<'a> FnOnce(&'a Reader) -> ReadFuture<'a, T> + Send + 'static,
    ) -> ReadFuture<'_, T> {
        query(&self.reader)
    }

    fn write(&self, write: SharedWrite) -> WriteFuture<'_, ()> {
        self.writer.write(WriteTask::Shared(write)).boxed()
    }
}

impl SqlArchive for PostgresStore {}

impl Store for PostgresStore {
    fn is_healthy(&self) -> bool {
        self.health.is_healthy()
    }
}

impl Default for Health {
    fn default() -> Self {
        Self {
            is_healthy: AtomicBool::new(true),
            metrics: StoreMetrics::default(),
        }
    }
}

impl Health {
    fn is_healthy(&self) -> bool {
        self.is_healthy.load(Ordering::Relaxed)
    }

    fn set_healthy(&self, is_healthy: bool) {
        if self.is_healthy.swap(is_healthy, Ordering::Relaxed) != is_healthy {
            if is_healthy {
                tracing::info!("database accepts writes again");
            } else {
                tracing::error!("database does not accept writes");
            }
        }
    }
}
