//! The server: players, matches and bots, each match a task of its own. Sockets are not known here.
//!
//! Ownership is a tree: a connection owns its client, the lobby its matches, a match its bot's
//! turn. What is asked goes down the tree through bounded queues and may wait; what is told comes
//! back through outboxes and never waits. So no two tasks ever wait for each other.

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
pub use context::loom_support;
pub use context::metrics::DropReason;
pub use matchmaking::match_loading::RecoveryStats;
pub use players::data_export::{DataExport, ExportError, ExportRequester};
pub use requests::Client;
pub use settings::{AccountPolicy, ClientAddressSource, Network, SearchMode, Settings};

use cluster::Cluster;
use context::server_context::ServerContext;
use plyhouse_protocol::{CloseCode, MatchRef, SessionKind};
use plyhouse_store::{ReadError, Store, StoreMetrics};

/// One server. Clones are the same server.
#[derive(Clone, Debug)]
pub struct Server {
    context: Arc<ServerContext>,
}

impl Server {
    /// Starts a server that keeps its matches in `store`, and shows what that counts among
    /// its metrics. To be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// The search threads could not be started.
    pub fn start(
        settings: Settings,
        store: Arc<dyn Store>,
        metrics: &StoreMetrics,
    ) -> std::io::Result<Self> {
        Self::start_with_links(settings, store, metrics, None)
    }

    /// Starts a server that is one of several over `store`, if it has links to the others.
    ///
    /// # Errors
    ///
    /// The search threads could not be started.
    pub fn start_with_links(
        settings: Settings,
        store: Arc<dyn Store>,
        metrics: &StoreMetrics,
        links: Option<ClusterLinks>,
    ) -> std::io::Result<Self> {
        let (cluster, inbox) = links.map(Cluster::new).unzip();
        let context = ServerContext::new(settings, store, metrics, cluster)?;
        if let Some(heard) = inbox {
            cluster_tasks::start(&context, heard);
        }
        context.spawn(matchmaking::list_broadcast::run(Arc::clone(&context)));
        context.spawn(matchmaking::seek_list_broadcast::run(Arc::clone(&context)));
        context.spawn(schedule::wake_scheduler::run(Arc::clone(&context)));
        context.spawn(players::ratings::run(Arc::clone(&context)));
        context.spawn(matchmaking::rating_range::pair_widened_seeks(Arc::clone(
            &context,
        )));
        context.spawn(schedule::clock_pause::run(Arc::clone(&context)));
        context.spawn(players::account_deletion::remove_deleted_players(
            Arc::clone(&context),
        ));
        context.spawn(context::admin_commands::run(Arc::clone(&context)));
        Ok(Self { context })
    }

    /// Lets every match of the store go on that has not ended. To be called before the first
    /// connection.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub async fn recover(&self) -> Result<RecoveryStats, ReadError> {
        let recovered = matchmaking::match_loading::recover_matches(&self.context).await?;
        self.context
            .spawn(players::account_deletion::resume_deletions(Arc::clone(
                &self.context,
            )));
        Ok(recovered)
    }

    /// Does what the operator asks for.
    pub async fn run_admin_command(&self, command: AdminCommand) -> AdminResult {
        context::admin_commands::execute(&self.context, command).await
    }

    /// Whether everything is well: what is asked now is likely to be kept.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.context.store.is_healthy()
    }

    /// Whether it is to be given anything to do: it is well, and not about to stop.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.unready_reasons().is_empty()
    }

    /// What keeps it from being given anything to do.
    #[must_use]
    pub fn unready_reasons(&self) -> Vec<&'static str> {
        let cluster = self.context.cluster.as_ref();
        let missing = [
            (!self.is_healthy(), "the store cannot keep anything now"),
            (self.context.is_stopping(), "the server is stopping"),
            (
                cluster.is_some_and(|cluster| !cluster.has_valid_lease()),
                "its lease has run out",
            ),
            (
                cluster.is_some_and(|cluster| !cluster.is_connected()),
                "the other servers cannot be reached",
            ),
        ];
        let missing = missing.into_iter().filter(|(is_missing, _)| *is_missing);
        missing.map(|(_, what)| what).collect()
    }

    /// Comes back once the parts that everything goes through have answered: the lobby, and the
    /// store to something that is read, whatever it answered.
    pub async fn probe(&self) {
        let (mut sender, receiver) = oneshot::channel();
        let shared = Arc::clone(&self.context);
        // Where everything else runs, so that it is that which answers.
        self.spawn(async move {
            tokio::select! {
                () = shared.probe() => {}
                () = sender.closed() => {} // Nobody waits any more.
            }
            let _ = sender.send(());
        });
        if receiver.await.is_err() {
            std::future::pending().await
        }
    }

    /// What was counted, and what there is to see at the moment, as OpenMetrics text.
    #[must_use]
    pub fn metrics_text(&self) -> String {
        context::metrics_page::render_metrics(&self.context)
    }

    /// Counts a WebSocket that was closed for this reason before it had a client, or that its client left.
    pub fn count_closed_connection(&self, code: Option<CloseCode>) {
        self.context.metrics.count_closed(code);
    }

    /// Counts a connection that came to nothing before it was a WebSocket.
    pub fn count_dropped_connection(&self, cause: DropReason) {
        self.context.metrics.count_dropped(cause);
    }

    /// How often a match or a search has panicked. Each time it was that match alone which was harmed,
    /// and it went on.
    #[must_use]
    pub fn panic_count(&self) -> u64 {
        self.context.metrics.panics.get()
    }

    /// How the server is set up.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.context.settings
    }

    /// The scoresheet of a match, as far as it has come, if it is kept in files of this kind. Whoever
    /// asks for one that there is not, from this address, waits ever longer for the answer.
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

    /// How a match looks, as a stranger sees it.
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

    /// What is told of a match to somebody who has been sent a link to it.
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

    /// The preview of a player, by a name or an id.
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

    /// Puts an answer off that there is nothing of that name, if this address has guessed too often.
    async fn delay_wrong_guess<T>(
        &self,
        result: Result<T, ArchiveError>,
        address: Option<Address>,
    ) -> Result<T, ArchiveError> {
        if matches!(result, Err(ArchiveError::NotFound)) {
            let delay = self
                .context
                .ip_limits
                .count_wrong_guess(address, context::clock::now());
            self.context.sleep_unless_stopping(delay).await;
        }
        result
    }

    /// Whether an account has this name. Where the store cannot be read, none has.
    pub async fn has_account(&self, name: &str) -> bool {
        self.context.resolve_player(name).await.is_ok()
    }

    /// The scoresheets of all public matches of a player, one after the other, the newest end first: written
    /// while they are read, at most one such series at a time for an address.
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

    /// What is kept about whoever asks. One who has guessed waits for the answer.
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
            let delay = self
                .context
                .ip_limits
                .count_wrong_guess(address, context::clock::now());
            self.context.sleep_unless_stopping(delay).await;
        }
        export
    }

    /// Lets a connection in from this address, or from nobody's.
    ///
    /// # Errors
    ///
    /// See [`AdmissionError`].
    pub fn admit(&self, address: Option<Address>) -> Result<ConnectionPermit, AdmissionError> {
        self.context
            .ip_limits
            .admit_connection(address, context::clock::now())
    }

    /// A client that has been let in and has just connected. A session that it begins is of this kind.
    #[must_use]
    pub fn connect(
        &self,
        permit: ConnectionPermit,
        kind: SessionKind,
        external: Option<String>,
    ) -> Client {
        Client::new(Arc::clone(&self.context), permit, kind, external)
    }

    /// Runs a task that the end of the server waits for.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.context.spawn(task);
    }

    /// Cancelled when the server is to stop: nobody is to be let in then. Whoever is there is told
    /// goodbye through their outboxes.
    #[must_use]
    pub fn shutdown(&self) -> &CancellationToken {
        &self.context.shutdown
    }

    /// Ends every connection, search and match, and waits until they have ended.
    pub async fn stop(&self) {
        self.context.stop().await;
    }
}
