//! The server: players, matches, bots and the cluster. Each match runs in a task of its own. This
//! crate opens no sockets.
//!
//! Components form an ownership tree: a connection owns its client, the lobby owns the matches, and
//! a match owns its bot's search. Requests travel down the tree through bounded queues and may
//! wait. Events travel back through outboxes and never wait, so no two tasks ever wait for each
//! other.

mod analysis;
mod archive;
mod auth;
mod bots;
mod cluster;
mod cluster_tasks;
mod connection;
mod context;
mod match_actor;
mod match_handle;
mod matchmaking;
mod players;
mod requests;
mod schedule;
mod settings;
mod wire;

use std::sync::Arc;

use futures::Stream;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

pub use archive::game_records::{ArchiveError, GameRecordFile, GameRecordQuery};
pub use archive::link_previews::{DrawnBoard, LinkPreview};
pub use auth::tokens::new_one_time_secret;
pub use cluster::ClusterLinks;
pub use connection::ip_limits::{Address, AdmissionError, ConnectionPermit};
pub use connection::outbox::{Frame, Outbox, Writer};
pub use context::admin_commands::{AdminCommand, AdminResult};
pub use context::locks;
#[cfg(feature = "loom")]
pub use context::loom_test_helpers;
pub use context::metrics::DropReason;
pub use matchmaking::match_loading::RecoveryStats;
pub use players::data_export::{DataExport, ExportError, ExportRequester};
pub use requests::Client;
pub use settings::{AccountPolicy, ClientAddressSource, Network, SearchMode, Settings};

use cluster::Cluster;
use context::clock_and_rng::now;
use context::server_context::ServerContext;
use plyhouse_protocol::{CloseCode, MatchRef, SessionKind};
use plyhouse_store::{ReadError, Store, StoreMetrics};

/// A match server. Clones share the same state.
#[derive(Clone, Debug)]
pub struct Server {
    context: Arc<ServerContext>,
}

impl Server {
    /// Starts a server that stores its matches in `store`. The server exports `metrics` together
    /// with its own metrics. Must be called from within a tokio runtime.
    ///
    /// # Errors
    ///
    /// Returns an error if the search threads cannot be started.
    pub fn start(
        settings: Settings,
        store: Arc<dyn Store>,
        metrics: &StoreMetrics,
    ) -> std::io::Result<Self> {
        Self::start_with_links(settings, store, metrics, None)
    }

    /// Starts a server. If `links` are given, the server joins the cluster of servers that share
    /// `store`. Must be called from within a tokio runtime.
    ///
    /// # Errors
    ///
    /// Returns an error if the search threads cannot be started.
    pub fn start_with_links(
        settings: Settings,
        store: Arc<dyn Store>,
        metrics: &StoreMetrics,
        links: Option<ClusterLinks>,
    ) -> std::io::Result<Self> {
        let (cluster, inbox) = links.map(Cluster::new).unzip();
        let context = ServerContext::new(settings, store, metrics, cluster)?;
        if let Some((cluster, inbox)) = context.infra.cluster.as_ref().zip(inbox) {
            cluster_tasks::start(&context, cluster, inbox);
        }
        context.spawn_until_stopped(matchmaking::list_broadcast::run);
        context.spawn_until_stopped(matchmaking::seek_list_broadcast::run);
        context.spawn(schedule::wake_scheduler::run);
        context.spawn_until_stopped(players::ratings::run);
        context.spawn_until_stopped(matchmaking::widened_seek_pairing::pair_widened_seeks);
        context.spawn_until_stopped(schedule::clock_pause::run);
        context.spawn_until_stopped(players::account_deletion::remove_deleted_players);
        context.spawn(context::admin_commands::run);
        Ok(Self { context })
    }

    /// Loads the unfinished matches of the store and resumes interrupted account deletions. Must be
    /// called before the first connection.
    ///
    /// In a cluster, no match is loaded here: the servers load matches when they need them.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub async fn recover(&self) -> Result<RecoveryStats, ReadError> {
        let recovered = matchmaking::match_loading::recover_matches(&self.context).await?;
        let server = &self.context;
        server.spawn(players::account_deletion::resume_deletions);
        Ok(recovered)
    }

    /// Executes an operator's command.
    pub async fn run_admin_command(&self, command: AdminCommand) -> AdminResult {
        context::admin_commands::execute(&self.context, command).await
    }

    /// Returns whether the store is healthy. New writes to an unhealthy store are likely to fail.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.context.infra.store.is_healthy()
    }

    /// Returns whether the server can accept work. This is the case if
    /// [`unready_reasons`](Self::unready_reasons) returns an empty list.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.unready_reasons().is_empty()
    }

    /// Returns the reasons why the server should not receive work. The list is empty if the server
    /// is ready.
    #[must_use]
    pub fn unready_reasons(&self) -> Vec<&'static str> {
        let cluster = self.context.infra.cluster.as_ref();
        let is_stopping = self.context.infra.tasks.is_stopping();
        let is_lease_expired = cluster.is_some_and(|cluster| !cluster.has_valid_lease());
        let is_cut_off = cluster.is_some_and(|cluster| !cluster.is_connected());
        let missing = [
            (!self.is_healthy(), "cannot write to the store"),
            (is_stopping, "the server is stopping"),
            (is_lease_expired, "the lease of this server has expired"),
            (is_cut_off, "cannot reach the other servers"),
        ];
        let missing = missing.into_iter().filter(|(is_missing, _)| *is_missing);
        missing.map(|(_, what)| what).collect()
    }

    /// Waits until the lobby has completed a lookup and the store has completed a read. A failed
    /// read counts as completed.
    pub async fn probe(&self) {
        let (mut sender, receiver) = oneshot::channel();
        let shared = Arc::clone(&self.context);
        // The probe runs on the server's own runtime, so that it measures the delays of that
        // runtime.
        self.spawn(async move {
            tokio::select! {
                () = shared.probe() => {}
                () = sender.closed() => {} // Ends the task if the caller of `probe` stops waiting.
            }
            let _ = sender.send(());
        });
        if receiver.await.is_err() {
            std::future::pending().await
        }
    }

    /// Returns counters and current values as OpenMetrics text.
    #[must_use]
    pub fn metrics_text(&self) -> String {
        context::metrics_page::render_metrics(&self.context)
    }

    /// Counts a WebSocket that was closed before a [`Client`] was created for it. `code` is `None`
    /// if the remote end closed the connection.
    pub fn count_closed_connection(&self, code: Option<CloseCode>) {
        self.context.infra.metrics.count_closed(code);
    }

    /// Counts a connection that failed before it became a WebSocket.
    pub fn count_dropped_connection(&self, cause: DropReason) {
        self.context.infra.metrics.count_dropped(cause);
    }

    /// Returns the number of panics in match actors and searches. A panic does not affect other
    /// matches.
    #[must_use]
    pub fn panic_count(&self) -> u64 {
        self.context.infra.metrics.panics.get()
    }

    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.context.infra.settings
    }

    /// Returns the game record of a match, up to the latest event that spectators may see.
    /// `extension` must be the file extension of the game's record format. Replies to an address
    /// that requests many unknown matches are increasingly delayed.
    ///
    /// # Errors
    ///
    /// See [`ArchiveError`].
    pub async fn game_record(
        &self,
        target: MatchRef,
        extension: &str,
        address: Option<Address>,
    ) -> Result<GameRecordFile, ArchiveError> {
        let result = self.context.game_record(target, extension).await;
        self.delay_wrong_guess(result, address).await
    }

    /// Returns the board of a match as spectators see it.
    ///
    /// # Errors
    ///
    /// See [`ArchiveError`].
    pub async fn draw_board(
        &self,
        target: MatchRef,
        address: Option<Address>,
    ) -> Result<DrawnBoard, ArchiveError> {
        let result = self.context.draw_board(target).await;
        self.delay_wrong_guess(result, address).await
    }

    /// Returns the preview for a link to a match.
    ///
    /// # Errors
    ///
    /// See [`ArchiveError`].
    pub async fn match_preview(
        &self,
        target: MatchRef,
        address: Option<Address>,
    ) -> Result<LinkPreview, ArchiveError> {
        let preview = self.context.match_preview(target).await;
        self.delay_wrong_guess(preview, address).await
    }

    /// Returns the preview for a link to a player. `player` is a name or an id.
    ///
    /// # Errors
    ///
    /// See [`ArchiveError`].
    pub async fn player_preview(
        &self,
        player: &str,
        address: Option<Address>,
    ) -> Result<LinkPreview, ArchiveError> {
        let preview = self.context.player_preview(player).await;
        self.delay_wrong_guess(preview, address).await
    }

    /// Counts a `NotFound` result as a wrong guess by the address, and delays the result if the
    /// address has guessed too often.
    async fn delay_wrong_guess<T>(
        &self,
        result: Result<T, ArchiveError>,
        address: Option<Address>,
    ) -> Result<T, ArchiveError> {
        if matches!(result, Err(ArchiveError::NotFound)) {
            self.count_and_delay_wrong_guess(address).await;
        }
        result
    }

    async fn count_and_delay_wrong_guess(&self, address: Option<Address>) {
        let ip_limits = &self.context.limits.ip_limits;
        let delay = ip_limits.count_wrong_guess(address, now());
        self.context.infra.sleep_unless_stopping(delay).await;
    }

    /// Returns whether an account with this name or a player with this id exists. Returns `false`
    /// if the store cannot be read.
    pub async fn has_account(&self, name: &str) -> bool {
        self.context.resolve_player(name).await.is_ok()
    }

    /// Streams the records of all public matches of a player, starting with the match that ended
    /// last. Records are read while the stream is consumed. Each address can have only one such
    /// stream at a time.
    ///
    /// # Errors
    ///
    /// See [`ArchiveError`].
    pub async fn game_records_of(
        &self,
        query: GameRecordQuery<'_>,
        address: Option<Address>,
    ) -> Result<impl Stream<Item = Result<String, ArchiveError>> + Send + use<>, ArchiveError> {
        let result = self.context.game_records_of(query, address).await;
        self.delay_wrong_guess(result, address).await
    }

    /// Exports the data that the server stores about the requester. Replies to failed
    /// authentication are delayed for addresses that guess too often.
    ///
    /// # Errors
    ///
    /// See [`ExportError`].
    pub async fn export_personal_data(
        &self,
        requester: ExportRequester,
        address: Option<Address>,
    ) -> Result<DataExport, ExportError> {
        let export = DataExport::open(&self.context, requester).await;
        if let Err(ExportError::Unauthorized) = export {
            self.count_and_delay_wrong_guess(address).await;
        }
        export
    }

    /// Admits a new connection from this address. No limits apply if `address` is `None`.
    ///
    /// # Errors
    ///
    /// See [`AdmissionError`].
    pub fn admit(&self, address: Option<Address>) -> Result<ConnectionPermit, AdmissionError> {
        let ip_limits = &self.context.limits.ip_limits;
        ip_limits.admit_connection(address, now())
    }

    /// Creates the `Client` that serves an admitted connection. `kind` is the kind of the session
    /// that the client starts if it signs in. `external` is the identity that a trusted proxy has
    /// established.
    #[must_use]
    pub fn connect(
        &self,
        permit: ConnectionPermit,
        kind: SessionKind,
        external: Option<String>,
    ) -> Client {
        Client::new(Arc::clone(&self.context), permit, kind, external)
    }

    /// Spawns a task that [`stop`](Self::stop) waits for.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.context.infra.spawn(task);
    }

    /// Returns the token that is cancelled when the server shuts down. After the cancellation, the
    /// transport must admit no more connections. The server closes existing connections through
    /// their outboxes.
    #[must_use]
    pub fn shutdown(&self) -> &CancellationToken {
        &self.context.infra.tasks.shutdown
    }

    /// Closes all connections, ends all searches and matches, and waits for their tasks.
    pub async fn stop(&self) {
        self.context.stop().await;
    }
}
