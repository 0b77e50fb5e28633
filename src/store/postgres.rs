//! The store that keeps everything in PostgreSQL, for any number of servers at once.
//!
//! What keeps two servers apart is the journal alone: an append names the mark that it follows, and a
//! match that is taken over gets an entry that is no event, after which no older mark is good any more.
//! Who owns a match, and whose lease has run out, are hints: if they are wrong, somebody gets a conflict
//! and reads the match again.
//!
//! One connection writes and one reads. What has gathered while one transaction was made durable goes
//! into the next.

mod address;
mod archive;
mod desk;
mod directory;
mod journal;
mod link;
mod outside;
mod reader;
mod schema;
#[cfg(test)]
mod tests;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use plyhouse_matches::ratings::{Books, LedgerRow, Posted, Rated, Record as RatingRecord};
use plyhouse_matches::{Event, Part, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, RatingChange, Seq};
use tokio_rustls::rustls::pki_types::pem;

use self::address::Address;
pub use self::archive::PostgresArchive;
pub use self::desk::PostgresDesk;
use self::link::{Link, Session};
use self::reader::Reader;
use self::writer::{Task, Writer};
use super::{
    Account, AnalysisAsked, Blocks, Explored, HistoryQuery, JournalPosition, KeptAnalysis,
    LeadersPage, LeadersQuery, Live, Loaded, Needed, NodeId, OneTimeToken, OrderId, Pairing,
    PastMatch, PeopleChange, PlayerRating, PlayerRecord, RatingState, RatingsChange, ReadError,
    Record, Results, SessionRecord, Store, StoreMetrics, Tail, TokenHash, WriteError,
    unless_refused,
};

/// Keeps matches and players in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresStore {
    writer: Writer,
    reader: Reader,
    condition: Arc<Condition>,
}

/// How well the store is.
#[derive(Debug)]
struct Condition {
    is_well: AtomicBool,
    metrics: StoreMetrics,
}

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenPostgresError {
    /// The address is none.
    #[error("not an address of a database: {0}")]
    Address(#[source] tokio_postgres::Error),
    /// It names authorities of certificates that nobody would ask.
    #[error("sslrootcert is of use with sslmode=verify-full alone")]
    UnusedAuthorities,
    /// The authorities that it names cannot be had.
    #[error("cannot read certificates of authorities from {0}: {1}")]
    Authorities(PathBuf, #[source] pem::Error),
    /// It cannot be reached, or not be used.
    #[error("cannot use the database: {0}")]
    Database(#[from] tokio_postgres::Error),
    /// Another server uses it, and each believes to be alone.
    #[error("another server is using the database")]
    InUse,
    /// There is nothing to look at.
    #[error("the database has no store of plyhouse")]
    Missing,
    /// A later version of this program has written it.
    #[error("the database was written by a later version of plyhouse")]
    TooNew,
    /// An earlier version of this program has written it, and only a server brings it up to date.
    #[error("the database was written by an earlier version of plyhouse: start the server once")]
    TooOld,
    /// There is no runtime to wait with.
    #[error("cannot wait for the database: {0}")]
    Runtime(#[source] std::io::Error),
}

use OpenPostgresError as OpenError;

impl PostgresStore {
    /// Connects to the database at this address (`postgres://…`), and makes its tables or brings them up
    /// to date. Ended matches are forgotten after `keep_ended`, if it is given. Of several hosts that an
    /// address names, that one is used which lets write.
    ///
    /// By its `sslmode`, `prefer` and `require` encrypt what is sent, and believe whatever certificate they
    /// are shown; `verify-full` believes none that is not of that host, and signed by an authority that
    /// the system trusts, or one in the PEM file that `sslrootcert` names.
    ///
    /// # Errors
    ///
    /// See [`OpenPostgresError`].
    pub async fn open(address: &str, keep_ended: Option<Duration>) -> Result<Self, OpenError> {
        let (address, mut session) = up_to_date(address).await?;
        schema::lock_shared(session.client()).await?;
        Self::with(&address, session, keep_ended).await
    }

    /// Does the same for a server that knows of no others. All others are kept out for as long as this
    /// connection to the database lasts; should two write after all, the journal keeps them apart.
    ///
    /// # Errors
    ///
    /// See [`OpenPostgresError`].
    pub async fn open_alone(
        address: &str,
        keep_ended: Option<Duration>,
    ) -> Result<Self, OpenError> {
        let (address, mut session) = up_to_date(address).await?;
        schema::lock_alone(session.client()).await?;
        Self::with(&address, session, keep_ended).await
    }

    async fn with(
        address: &Address,
        session: Session,
        keep_ended: Option<Duration>,
    ) -> Result<Self, OpenError> {
        let condition = Arc::new(Condition::default());
        let writer = Link::new(address.clone(), session);
        let reader = Link::new(address.clone(), Session::connect(address).await?);
        Ok(Self {
            writer: Writer::start(writer, keep_ended, &condition),
            reader: Reader::new(reader),
            condition,
        })
    }

    /// What it has written, which goes on being counted.
    #[must_use]
    pub fn metrics(&self) -> StoreMetrics {
        self.condition.metrics.clone()
    }
}

/// A session with a database whose tables are up to date.
async fn up_to_date(address: &str) -> Result<(Address, Session), OpenError> {
    let address: Address = address.parse()?;
    let mut session = Session::connect(&address).await?;
    schema::migrate(session.client()).await?;
    Ok((address, session))
}

impl Store for PostgresStore {
    fn create(
        &self,
        owner: NodeId,
        record: Record,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        let mark = JournalPosition::after(record.events.len() as u64);
        let written = self.writer.write(Task::Create(owner, record));
        written.map_ok(move |()| mark).boxed()
    }

    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        let count = events.len() as u64;
        let mark = JournalPosition::new(after.n + count, Seq(after.seq.0 + count), after.epoch);
        let append = Task::Append {
            id,
            after,
            events,
            reminder,
        };
        self.writer.write(append).map_ok(move |()| mark).boxed()
    }

    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<Loaded>, ReadError>> {
        self.reader.load(id).boxed()
    }

    fn tail(
        &self,
        id: MatchId,
        after: JournalPosition,
    ) -> BoxFuture<'_, Result<Option<Tail>, ReadError>> {
        self.reader.tail(id, after).boxed()
    }

    fn by_code(&self, code: MatchCode) -> BoxFuture<'_, Result<Option<MatchId>, ReadError>> {
        self.reader.by_code(code).boxed()
    }

    fn unowned(&self, asking: NodeId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.reader.orphans(asking).boxed()
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.writer.write(Task::Claim(id, owner)).boxed()
    }

    fn release(&self, id: MatchId) {
        self.writer.write_later(Task::Release(id));
    }

    fn live(&self, owner: NodeId) -> BoxFuture<'_, Result<Live, ReadError>> {
        self.reader.live(owner).boxed()
    }

    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, MatchId)>, ReadError>> {
        self.reader.due(after, limit).boxed()
    }

    fn due_count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.reader.due_count().boxed()
    }

    fn participations(
        &self,
        player: PlayerId,
    ) -> BoxFuture<'_, Result<Vec<(MatchId, Part)>, ReadError>> {
        self.reader.parts(player).boxed()
    }

    fn history(
        &self,
        wanted: HistoryQuery,
    ) -> BoxFuture<'_, Result<Option<Vec<PastMatch>>, ReadError>> {
        self.reader.history(wanted).boxed()
    }

    fn results(
        &self,
        player: PlayerId,
        seen_by: PlayerId,
    ) -> BoxFuture<'_, Result<Results, ReadError>> {
        self.reader.results(player, seen_by).boxed()
    }

    fn explore(
        &self,
        game: &'static str,
        line: String,
    ) -> BoxFuture<'_, Result<Explored, ReadError>> {
        self.reader.explore(game, line).boxed()
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
        self.reader.analysis(id).boxed()
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
        self.reader.analysis_asked(by, since_ms).boxed()
    }

    fn rating_state(&self) -> BoxFuture<'_, Result<RatingState, ReadError>> {
        self.reader.rating_state().boxed()
    }

    fn ledger(
        &self,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, LedgerRow)>, ReadError>> {
        self.reader.ledger(after, limit).boxed()
    }

    fn books(&self, fold: u64, needed: Needed) -> BoxFuture<'_, Result<Books, ReadError>> {
        self.reader.books(fold, needed).boxed()
    }

    fn posted(
        &self,
        after: u64,
        until: u64,
    ) -> BoxFuture<'_, Result<Vec<(u64, Posted)>, ReadError>> {
        self.reader.posted(after, until).boxed()
    }

    fn ratings_after(
        &self,
        last: Option<RatingRecord>,
    ) -> BoxFuture<'_, Result<Vec<(RatingRecord, Rated)>, ReadError>> {
        self.reader.ratings_after(last).boxed()
    }

    fn change_ratings(&self, change: RatingsChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        let changed = self.writer.write(Task::ChangeRatings(change));
        changed.map(unless_refused).boxed()
    }

    fn ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<PlayerRating>, ReadError>> {
        self.reader.ratings(player).boxed()
    }

    fn leaders(&self, wanted: LeadersQuery) -> BoxFuture<'_, Result<LeadersPage, ReadError>> {
        self.reader.leaders(wanted).boxed()
    }

    fn rated_ban_until(&self, player: PlayerId) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.reader.barred_until(player).boxed()
    }

    fn changes_of(
        &self,
        id: MatchId,
    ) -> BoxFuture<'_, Result<Option<Vec<RatingChange>>, ReadError>> {
        self.reader.changes_of(id).boxed()
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
        self.reader.session(token).boxed()
    }

    fn sessions(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<SessionRecord>, ReadError>> {
        self.reader.sessions(player).boxed()
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
        self.reader.pairing(code, now_ms).boxed()
    }

    fn recovered(&self, key: TokenHash) -> BoxFuture<'_, Result<Option<PlayerId>, ReadError>> {
        self.reader.recovered(key).boxed()
    }

    fn named(
        &self,
        likeness: String,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<(PlayerId, bool)>, ReadError>> {
        self.reader.named(likeness, now_ms).boxed()
    }

    fn blocks(&self, player: PlayerId) -> BoxFuture<'_, Result<Blocks, ReadError>> {
        self.reader.blocks(player).boxed()
    }

    fn account(&self, player: PlayerId) -> BoxFuture<'_, Result<Option<Account>, ReadError>> {
        self.reader.account(player).boxed()
    }

    fn has_recovery(&self, player: PlayerId) -> BoxFuture<'_, Result<bool, ReadError>> {
        self.reader.has_recovery(player).boxed()
    }

    fn external(&self, name: String) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        self.reader.external(name).boxed()
    }

    fn pass(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<OneTimeToken>, ReadError>> {
        self.reader.pass(code, now_ms).boxed()
    }

    fn account_deletions(&self) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        self.reader.forgetting().boxed()
    }

    fn takes_orders(&self) -> bool {
        true
    }

    fn orders(&self) -> BoxFuture<'_, Result<Vec<(OrderId, String)>, ReadError>> {
        self.reader.orders().boxed()
    }

    fn player_by_id(&self, id: PlayerId) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        self.reader.player_by_id(id).boxed()
    }

    fn is_healthy(&self) -> bool {
        self.condition.is_well()
    }
}

impl Default for Condition {
    fn default() -> Self {
        Self {
            is_well: AtomicBool::new(true),
            metrics: StoreMetrics::default(),
        }
    }
}

impl Condition {
    fn is_well(&self) -> bool {
        self.is_well.load(Ordering::Relaxed)
    }

    fn set_well(&self, is_well: bool) {
        if self.is_well.swap(is_well, Ordering::Relaxed) != is_well {
            if is_well {
                tracing::info!("the database keeps things again");
            } else {
                tracing::error!("the database cannot keep anything now");
            }
        }
    }
}
