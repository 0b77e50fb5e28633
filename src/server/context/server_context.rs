use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use plyhouse_protocol::{MatchId, MatchRef, PlayerId};
use plyhouse_store::{NodeId, Store, StoreMetrics};

use super::clock_and_rng::{Clock, SeededRng};
use super::metrics::Metrics;
use super::poll_timer::PollTimer;
use crate::analysis::queue::AnalysisQueue;
use crate::archive::download_limits::DownloadLimits;
use crate::auth::guest_only_store::GuestOnlyStore;
use crate::auth::passwords::Passwords;
use crate::auth::tokens::TokenIssuer;
use crate::bots::SearchPool;
use crate::cluster::{Cluster, Notification};
use crate::connection::handle::ConnectionHandle;
use crate::connection::id::ConnectionId;
use crate::connection::ip_limits::IpLimits;
use crate::connection::outbox::Outbox;
use crate::connection::registry::ConnectionRegistry;
use crate::matchmaking::challenges::Challenges;
use crate::matchmaking::lobby::Lobby;
use crate::matchmaking::seek_list::SeekListState;
use crate::matchmaking::seek_queue::Seeks;
use crate::players::block_cache::BlockCache;
use crate::players::export_rate_limit::ExportRateLimit;
use crate::players::pending_removals::PendingRemovals;
use crate::players::rating_wakeup::RatingWakeup;
use crate::players::registry::PlayerRegistry;
use crate::schedule::store_health::StoreHealth;
use crate::schedule::wake_times::WakeTimes;
use crate::settings::{AccountPolicy, Settings};

/// Maximum number of concurrent store reads for game records and link previews. Reads beyond the
/// maximum are refused, so that they do not delay running matches.
const GAME_RECORD_READS_MAX: usize = 4;

/// Maximum number of concurrent store reads for clients that request long matches or many matches.
/// These reads do not count toward [`GAME_RECORD_READS_MAX`]. Reads beyond the maximum wait for a
/// permit.
const REPLAY_READS_MAX: usize = 2;

/// State shared by all tasks of one server.
#[derive(Debug)]
pub(crate) struct ServerContext {
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn Store>,
    /// Store that returns all accounts, even on a server without accounts. The operator's commands
    /// use this store. On a server without accounts, `store` hides the stored accounts.
    pub(crate) full_store: Arc<dyn Store>,
    /// Id that identifies this run of the server in the store.
    pub(crate) node: NodeId,
    /// Cluster of servers that share the store, if this server belongs to one.
    pub(crate) cluster: Option<Box<Cluster>>,
    pub(crate) lobby: Lobby,
    pub(crate) players: PlayerRegistry,
    pub(crate) seeks: Seeks,
    pub(crate) seek_list: SeekListState,
    pub(crate) challenges: Challenges,
    pub(crate) block_cache: BlockCache,
    pub(crate) pending_removals: PendingRemovals,
    pub(crate) ip_limits: IpLimits,
    pub(crate) connection_registry: ConnectionRegistry,
    pub(crate) bots: Arc<SearchPool>,
    pub(crate) clock: Clock,
    /// Time of the server's start, in milliseconds since 1970.
    pub(crate) started_ms: u64,
    /// End of the grace period after a restart, in milliseconds since 1970. During this period, no
    /// player loses a correspondence match on time.
    pub(crate) grace_ends_ms: u64,
    pub(crate) wake_times: WakeTimes,
    pub(crate) rating_wakeup: RatingWakeup,
    pub(crate) store_health: StoreHealth,
    pub(crate) rng: SeededRng,
    pub(crate) tokens: TokenIssuer,
    pub(crate) passwords: Passwords,
    pub(crate) export_rate_limit: ExportRateLimit,
    /// Cancelled when the server must stop.
    pub(crate) shutdown: CancellationToken,
    /// Whether the server is stopping. Every request reads this flag. Reading the token `shutdown`
    /// instead would take a lock that all threads share.
    is_stopping: AtomicBool,
    tasks: TaskTracker,
    runtime: runtime::Handle,
    next_connection: AtomicU64,
    next_hello_number: AtomicU64,
    pub(crate) metrics: Arc<Metrics>,
    /// Permits for store reads for game records and link previews. A read that gets no permit is
    /// refused.
    pub(crate) game_record_permits: Semaphore,
    /// Permits for store reads of long matches or many matches. A read waits until a permit is
    /// available.
    pub(crate) replay_permits: Semaphore,
    pub(crate) download_limits: DownloadLimits,
    pub(crate) analysis_queue: AnalysisQueue,
}

impl ServerContext {
    pub(crate) fn new(
        settings: Settings,
        store: Arc<dyn Store>,
        store_metrics: &StoreMetrics,
        cluster: Option<Cluster>,
    ) -> std::io::Result<Arc<Self>> {
        let metrics = Arc::new(Metrics::new(store_metrics));
        let rng = SeededRng::new(settings.seed);
        let (clock, is_shared) = (Clock::new(settings.started_ms), cluster.is_some());
        let grace_ms = u64::try_from(settings.restart_grace.as_millis()).unwrap_or(u64::MAX);
        let bots = Arc::new(SearchPool::start(&settings, &metrics)?);
        Ok(Arc::new(Self {
            analysis_queue: AnalysisQueue::new(bots.thread_count()),
            bots,
            tokens: TokenIssuer::new(&rng),
            rng,
            store: match settings.accounts {
                AccountPolicy::Off => Arc::new(GuestOnlyStore(Arc::clone(&store))),
                AccountPolicy::Open | AccountPolicy::Invite => Arc::clone(&store),
            },
            full_store: store,
            // The node id must differ between runs, even if the settings contain a fixed seed.
            node: match &cluster {
                Some(cluster) => cluster.node,
                None => NodeId(Uuid::from_bytes(SeededRng::new(None).random_bytes())),
            },
            cluster: cluster.map(Box::new),
            lobby: Lobby::new(is_shared),
            passwords: Passwords::new(),
            export_rate_limit: ExportRateLimit::default(),
            players: PlayerRegistry::default(),
            seeks: Seeks::new(settings.seeks_max),
            seek_list: SeekListState::default(),
            challenges: Challenges::default(),
            block_cache: BlockCache::default(),
            pending_removals: PendingRemovals::default(),
            ip_limits: IpLimits::new(&settings),
            connection_registry: ConnectionRegistry::new(),
            started_ms: clock.now_ms(),
            grace_ends_ms: clock.now_ms().saturating_add(grace_ms),
            wake_times: WakeTimes::default(),
            rating_wakeup: RatingWakeup::default(),
            store_health: StoreHealth::default(),
            clock,
            settings,
            shutdown: CancellationToken::new(),
            is_stopping: AtomicBool::new(false),
            tasks: TaskTracker::new(),
            runtime: runtime::Handle::current(),
            next_connection: AtomicU64::new(0),
            next_hello_number: AtomicU64::new(1),
            metrics,
            game_record_permits: Semaphore::new(GAME_RECORD_READS_MAX),
            replay_permits: Semaphore::new(REPLAY_READS_MAX),
            download_limits: DownloadLimits::new(),
        }))
    }

    /// Sleeps, but returns early if the server is stopping.
    pub(crate) async fn sleep_unless_stopping(&self, delay: Duration) {
        if !delay.is_zero() {
            tokio::select! {
                biased; // The fixed branch order makes seeded runs reproducible.
                () = self.shutdown.cancelled() => {}
                () = sleep(delay) => {}
            }
        }
    }

    /// Returns when the grace period after a restart ends, in milliseconds since 1970. Returns 0 if
    /// the period is over.
    pub(crate) fn grace_until_ms(&self) -> u64 {
        let is_over = self.clock.now_ms() >= self.grace_ends_ms;
        if is_over { 0 } else { self.grace_ends_ms }
    }

    /// Schedules the removal of deleted players from a match. The method ignores players who have
    /// not been deleted.
    pub(crate) fn remove_deleted_players(
        &self,
        id: MatchId,
        players: impl IntoIterator<Item = PlayerId>,
    ) {
        let players = players.into_iter();
        for player in players.filter(|player| self.players.is_deleted(*player)) {
            self.pending_removals.add(id, player);
        }
    }

    /// Notifies the player's connections on other servers that the player takes part in a match or
    /// is invited to it. If `before` is given, only the connections that follow the match with the
    /// id `before` are notified.
    pub(crate) fn broadcast_participation(
        &self,
        player: PlayerId,
        match_id: MatchId,
        before: Option<MatchId>,
    ) {
        if let Some(cluster) = &self.cluster {
            cluster.notify_player(
                player,
                Notification::ParticipationAdded { match_id, before },
            );
        }
    }

    /// Returns the maximum number of live correspondence matches that this player may play or host.
    pub(crate) const fn correspondence_matches_max(&self, _player: PlayerId) -> usize {
        self.settings.correspondence_matches_per_player
    }

    /// Returns whether the server is stopping.
    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    /// Spawns a task. When the server stops, it waits for the task to end.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task = PollTimer::new(task, self.metrics.long_polls.clone());
        self.tasks.spawn_on(task, &self.runtime);
    }

    /// Signals all tasks to end and waits for them.
    pub(crate) async fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        if let Some(cluster) = &self.cluster {
            cluster.leave().await;
        }
        self.shutdown.cancel();
        self.connection_registry.close_all();
        self.lobby.close();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Queries the lobby and the store for a match that does not exist, to check that both respond.
    pub(crate) async fn probe(&self) {
        let _ = self.lobby.find(MatchRef::Invalid);
        let none = MatchId(Uuid::nil());
        // The result is ignored, because even an error shows that the store responds.
        let _ = self.store.load(none).await;
    }

    /// Returns the number for a new `hello` message, which is greater than all earlier numbers.
    pub(crate) fn next_hello(&self) -> u64 {
        self.next_hello_number.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn new_connection(&self) -> Arc<ConnectionHandle> {
        let id = ConnectionId(self.next_connection.fetch_add(1, Ordering::Relaxed));
        let settings = &self.settings;
        let (messages_max, bytes_max) = (settings.outbox_messages, settings.outbox_bytes);
        let outbox = Outbox::new(id, messages_max, bytes_max, &self.metrics);
        let connection = ConnectionHandle::new(outbox, settings.following_max);
        self.connection_registry.add(&connection);
        connection
    }
}
