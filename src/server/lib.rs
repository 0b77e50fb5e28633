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

pub use archive::game_records::{NotServed, Served, Wanted};
pub use archive::link_previews::{DrawnBoard, Preview};
pub use auth::tokens::new_secret;
pub use cluster::Links;
pub use connection::ip_limits::{Address, AdmissionError, ConnectionPermit};
pub use connection::outbox::{Frame, Outbox, Writer};
pub use context::admin_commands::{AdminCommand, AdminResult};
pub use context::locks;
#[cfg(feature = "loom")]
pub use context::loom_support;
pub use context::metrics::DropReason;
pub use matchmaking::match_loading::Recovered;
pub use players::data_export::{About, Asker, NotTold};
pub use requests::Client;
pub use settings::{Accounts, ClientAddress, Network, Search, Settings};

use cluster::Cluster;
use context::server_context::ServerContext;
use plyhouse_protocol::{CloseCode, MatchRef, SessionKind};
use plyhouse_store::{ReadError, Store, StoreMetrics};

/// One server. Clones are the same server.
#[derive(Clone, Debug)]
pub struct Server {
    shared: Arc<ServerContext>,
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
        Self::start_with(settings, store, metrics, None)
    }

    /// Starts a server that is one of several over `store`, if it has links to the others.
    ///
    /// # Errors
    ///
    /// The search threads could not be started.
    pub fn start_with(
        settings: Settings,
        store: Arc<dyn Store>,
        metrics: &StoreMetrics,
        links: Option<Links>,
    ) -> std::io::Result<Self> {
        let (cluster, heard) = links.map(Cluster::new).unzip();
        let shared = ServerContext::new(settings, store, metrics, cluster)?;
        if let Some(heard) = heard {
            cluster_tasks::begin(&shared, heard);
        }
        shared.spawn(matchmaking::list_broadcast::tell(Arc::clone(&shared)));
        shared.spawn(matchmaking::seek_list_broadcast::tell(Arc::clone(&shared)));
        shared.spawn(schedule::wake_scheduler::sweep(Arc::clone(&shared)));
        shared.spawn(players::ratings::rate(Arc::clone(&shared)));
        shared.spawn(matchmaking::rating_range::widen(Arc::clone(&shared)));
        shared.spawn(schedule::clock_pause::watch(Arc::clone(&shared)));
        shared.spawn(players::account_deletion::remove_deleted_players(
            Arc::clone(&shared),
        ));
        shared.spawn(context::admin_commands::obey(Arc::clone(&shared)));
        Ok(Self { shared })
    }

    /// Lets every match of the store go on that has not ended. To be called before the first
    /// connection.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub async fn recover(&self) -> Result<Recovered, ReadError> {
        let recovered = matchmaking::match_loading::recover(&self.shared).await?;
        self.shared
            .spawn(players::account_deletion::go_on(Arc::clone(&self.shared)));
        Ok(recovered)
    }

    /// Does what the operator asks for.
    pub async fn carry_out(&self, order: AdminCommand) -> AdminResult {
        context::admin_commands::carry_out(&self.shared, order).await
    }

    /// Whether everything is well: what is asked now is likely to be kept.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.shared.store.is_healthy()
    }

    /// Whether it is to be given anything to do: it is well, and not about to stop.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.missing().is_empty()
    }

    /// What keeps it from being given anything to do.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let cluster = self.shared.cluster.as_ref();
        let missing = [
            (!self.is_well(), "the store cannot keep anything now"),
            (self.shared.is_stopping(), "the server is stopping"),
            (
                cluster.is_some_and(|cluster| !cluster.may_act()),
                "its lease has run out",
            ),
            (
                cluster.is_some_and(|cluster| !cluster.is_up()),
                "the other servers cannot be reached",
            ),
        ];
        let missing = missing.into_iter().filter(|(is_missing, _)| *is_missing);
        missing.map(|(_, what)| what).collect()
    }

    /// Comes back once the parts that everything goes through have answered: the lobby, and the
    /// store to something that is read, whatever it answered.
    pub async fn answer(&self) {
        let (mut asked, answered) = oneshot::channel();
        let shared = Arc::clone(&self.shared);
        // Where everything else runs, so that it is that which answers.
        self.spawn(async move {
            tokio::select! {
                () = shared.probe() => {}
                () = asked.closed() => {} // Nobody waits any more.
            }
            let _ = asked.send(());
        });
        if answered.await.is_err() {
            std::future::pending().await
        }
    }

    /// What was counted, and what there is to see at the moment, as OpenMetrics text.
    #[must_use]
    pub fn metrics(&self) -> String {
        context::metrics_page::page(&self.shared)
    }

    /// Counts a WebSocket that was closed for this reason before it had a client, or that its client left.
    pub fn count_closed(&self, code: Option<CloseCode>) {
        self.shared.metrics.closed(code);
    }

    /// Counts a connection that came to nothing before it was a WebSocket.
    pub fn count_dropped(&self, cause: DropReason) {
        self.shared.metrics.dropped(cause);
    }

    /// How often a match or a search has panicked. Each time it was that match alone which was harmed,
    /// and it went on.
    #[must_use]
    pub fn panics(&self) -> u64 {
        self.shared.metrics.panics.get()
    }

    /// How the server is set up.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// The scoresheet of a match, as far as it has come, if it is kept in files of this kind. Whoever
    /// asks for one that there is not, from this address, waits ever longer for the answer.
    ///
    /// # Errors
    ///
    /// See [`NotServed`].
    pub async fn scoresheet(
        &self,
        target: MatchRef,
        extension: &str,
        address: Option<Address>,
    ) -> Result<Served, NotServed> {
        let served = self.shared.scoresheet(target, extension).await;
        self.guessed(served, address).await
    }

    /// How a match looks, as a stranger sees it.
    ///
    /// # Errors
    ///
    /// See [`NotServed`].
    pub async fn drawn(
        &self,
        target: MatchRef,
        address: Option<Address>,
    ) -> Result<DrawnBoard, NotServed> {
        let drawn = self.shared.drawn(target).await;
        self.guessed(drawn, address).await
    }

    /// What is told of a match to somebody who has been sent a link to it.
    ///
    /// # Errors
    ///
    /// See [`NotServed`].
    pub async fn preview_of_match(
        &self,
        target: MatchRef,
        address: Option<Address>,
    ) -> Result<Preview, NotServed> {
        let preview = self.shared.preview_of_match(target).await;
        self.guessed(preview, address).await
    }

    /// The preview of a player, by a name or an id.
    ///
    /// # Errors
    ///
    /// See [`NotServed`].
    pub async fn preview_of_player(
        &self,
        player: &str,
        address: Option<Address>,
    ) -> Result<Preview, NotServed> {
        let preview = self.shared.preview_of_player(player).await;
        self.guessed(preview, address).await
    }

    /// Puts an answer off that there is nothing of that name, if this address has guessed too often.
    async fn guessed<T>(
        &self,
        served: Result<T, NotServed>,
        address: Option<Address>,
    ) -> Result<T, NotServed> {
        if matches!(served, Err(NotServed::Unknown)) {
            let delay = self
                .shared
                .ip_limits
                .count_wrong_guess(address, context::clock::now());
            self.shared.sleep_unless_stopping(delay).await;
        }
        served
    }

    /// Whether an account has this name. Where the store cannot be read, none has.
    pub async fn is_account(&self, name: &str) -> bool {
        self.shared.meant(name).await.is_ok()
    }

    /// The scoresheets of all public matches of a player, one after the other, the newest end first: written
    /// while they are read, at most one such series at a time for an address.
    ///
    /// # Errors
    ///
    /// See [`NotServed`].
    pub async fn scoresheets_of(
        &self,
        wanted: Wanted<'_>,
        address: Option<Address>,
    ) -> Result<impl Stream<Item = Result<String, NotServed>> + Send + use<>, NotServed> {
        let served = self.shared.scoresheets_of(wanted, address).await;
        self.guessed(served, address).await
    }

    /// What is kept about whoever asks. One who has guessed waits for the answer.
    ///
    /// # Errors
    ///
    /// See [`NotTold`].
    pub async fn export_personal_data(
        &self,
        asker: Asker,
        address: Option<Address>,
    ) -> Result<About, NotTold> {
        let told = About::of(&self.shared, asker).await;
        if let Err(NotTold::Nobody) = told {
            let delay = self
                .shared
                .ip_limits
                .count_wrong_guess(address, context::clock::now());
            self.shared.sleep_unless_stopping(delay).await;
        }
        told
    }

    /// Lets a connection in from this address, or from nobody's.
    ///
    /// # Errors
    ///
    /// See [`AdmissionError`].
    pub fn let_in(&self, address: Option<Address>) -> Result<ConnectionPermit, AdmissionError> {
        self.shared.ip_limits.enter(address, context::clock::now())
    }

    /// A client that has been let in and has just connected. A session that it begins is of this kind.
    #[must_use]
    pub fn connect(
        &self,
        permit: ConnectionPermit,
        kind: SessionKind,
        external: Option<String>,
    ) -> Client {
        Client::new(Arc::clone(&self.shared), permit, kind, external)
    }

    /// Runs a task that the end of the server waits for.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.shared.spawn(task);
    }

    /// Cancelled when the server is to stop: nobody is to be let in then. Whoever is there is told
    /// goodbye through their outboxes.
    #[must_use]
    pub fn shutdown(&self) -> &CancellationToken {
        &self.shared.shutdown
    }

    /// Ends every connection, search and match, and waits until they have ended.
    pub async fn stop(&self) {
        self.shared.stop().await;
    }
}
