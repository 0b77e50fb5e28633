//! The server: players, matches and bots, each match a task of its own. Sockets are not known here.
//!
//! Ownership is a tree: a connection owns its client, the lobby its matches, a match its bot's
//! turn. What is asked goes down the tree through bounded queues and may wait; what is told comes
//! back through outboxes and never waits. So no two tasks ever wait for each other.

mod about;
mod addresses;
mod analyses;
mod asked;
mod births;
mod blocks;
mod bots;
mod bucket;
mod card;
mod challenges;
mod client;
mod clock;
mod cluster;
mod cluster_tasks;
mod command;
mod connection_id;
mod connections;
mod days;
mod departures;
mod encode;
#[cfg(test)]
mod fixtures;
mod forgetting;
mod from_protocol;
mod keeping_apart;
mod list_news;
mod lobby;
pub mod locks;
mod mailbox;
mod match_handle;
mod metrics;
#[cfg(feature = "loom")]
pub mod models;
mod names;
mod orders;
mod outbox;
mod page;
mod passwords;
mod past;
mod peer;
mod players;
mod port;
mod previews;
mod profiles;
mod rate;
mod rater;
mod rating;
mod reply;
mod scoresheets;
mod seekers;
mod seeks;
mod settings;
mod shared;
mod somebody;
mod standing;
mod stopped_clocks;
mod store_watch;
mod streams;
mod sweeper;
mod table;
mod timed;
mod to_protocol;
mod tokens;
mod told;
mod unread;
mod verdict;
mod waited;
mod wake_times;
mod wanted;
mod watched_lists;
mod widening;
mod without_accounts;

use std::sync::Arc;

use futures::Stream;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

pub use about::{About, Asker, NotTold};
pub use addresses::{Address, AdmissionError, ConnectionPermit};
pub use births::Recovered;
pub use client::Client;
pub use cluster::Links;
pub use metrics::DropReason;
pub use orders::{AdminCommand, AdminResult};
pub use outbox::{Frame, Outbox, Writer};
pub use previews::{DrawnBoard, Preview};
pub use scoresheets::{NotServed, Served, Wanted};
pub use settings::{Accounts, ClientAddress, Network, Search, Settings};
pub use tokens::new_secret;

use cluster::Cluster;
use plyhouse_protocol::{CloseCode, MatchRef, SessionKind};
use plyhouse_store::{ReadError, Store, StoreMetrics};
use shared::ServerContext;

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
        shared.spawn(list_news::tell(Arc::clone(&shared)));
        shared.spawn(seekers::tell(Arc::clone(&shared)));
        shared.spawn(sweeper::sweep(Arc::clone(&shared)));
        shared.spawn(rating::rate(Arc::clone(&shared)));
        shared.spawn(widening::widen(Arc::clone(&shared)));
        shared.spawn(stopped_clocks::watch(Arc::clone(&shared)));
        shared.spawn(forgetting::remove_deleted_players(Arc::clone(&shared)));
        shared.spawn(orders::obey(Arc::clone(&shared)));
        Ok(Self { shared })
    }

    /// Lets every match of the store go on that has not ended. To be called before the first
    /// connection.
    ///
    /// # Errors
    ///
    /// The store could not be read.
    pub async fn recover(&self) -> Result<Recovered, ReadError> {
        let recovered = births::recover(&self.shared).await?;
        self.shared
            .spawn(forgetting::go_on(Arc::clone(&self.shared)));
        Ok(recovered)
    }

    /// Does what the operator asks for.
    pub async fn carry_out(&self, order: AdminCommand) -> AdminResult {
        orders::carry_out(&self.shared, order).await
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
        page::page(&self.shared)
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
                .count_wrong_guess(address, clock::now());
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
                .count_wrong_guess(address, clock::now());
            self.shared.sleep_unless_stopping(delay).await;
        }
        told
    }

    /// Lets a connection in from this address, or from nobody's.
    ///
    /// # Errors
    ///
    /// See [`NotLetIn`].
    pub fn let_in(&self, address: Option<Address>) -> Result<ConnectionPermit, AdmissionError> {
        self.shared.ip_limits.enter(address, clock::now())
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
