//! Server process of a cluster world, which can be frozen and killed.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_bus::Bus;
use plyhouse_server::{ClusterLinks, Server, Settings};
use plyhouse_store::cluster_directory::ClusterDirectory;
use plyhouse_store::{NodeId, Store, StoreMetrics};
use plyhouse_transport::Transport;
use tokio::io::DuplexStream;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::{advance, sleep};

use super::bus::BusHub;
use super::event_queue::paused_runtime;
use super::fault_plan::StorePlan;
use super::store::{SharedStore, StoreConnection};
use crate::rng::SimRng;

/// Maximum number of connections that wait until the server accepts them.
const CONNECTION_BACKLOG: usize = 64;

/// Server with its own runtime, and therefore with its own clock.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: NodeId,
    pub(super) store_connection: StoreConnection,
    hub: BusHub,
    server: Server,
    runtime: Runtime,
    /// Simulated time at which the server was frozen.
    frozen_since: Option<Duration>,
}

/// Sender that passes new connections to a server.
pub(super) type ConnectionSender = mpsc::Sender<DuplexStream>;

impl Node {
    /// Starts a server. Returns the server and the sender for its connections.
    pub(super) fn start(
        id: NodeId,
        hub: &BusHub,
        shared_store: &SharedStore,
        store: (StorePlan, SimRng),
        settings: Settings,
    ) -> (Self, ConnectionSender) {
        let runtime = paused_runtime();
        let store_connection =
            StoreConnection::new(shared_store.clone(), id, store, runtime.handle().clone());
        let (bus, inbox) = hub.add_node(id.0);
        let links = ClusterLinks {
            node: id,
            directory: Arc::new(store_connection.clone()) as Arc<dyn ClusterDirectory>,
            bus: Arc::new(bus) as Arc<dyn Bus>,
            inbox,
        };
        let store = Arc::new(store_connection.clone()) as Arc<dyn Store>;
        let (connection_sender, mut incoming) = mpsc::channel::<DuplexStream>(CONNECTION_BACKLOG);
        let entered = runtime.enter();
        let metrics = StoreMetrics::default();
        let server = Server::start_with_links(settings, store, &metrics, Some(links));
        let server = server.expect("inline search starts no threads");
        let server_handle = server.clone();
        server.spawn(async move {
            let transport = Transport::new(server_handle.clone());
            while let Some(stream) = incoming.recv().await {
                let transport = transport.clone();
                server_handle.spawn(async move { transport.serve_stream(stream, None).await });
            }
        });
        drop(entered);
        let recovered = runtime.block_on(server.recover());
        recovered.expect("recovery in a cluster reads nothing");
        let node = Self {
            id,
            store_connection,
            hub: hub.clone(),
            server,
            runtime,
            frozen_since: None,
        };
        (node, connection_sender)
    }

    /// Advances the server's clock by `step`, unless the server is frozen.
    pub(super) fn advance(&self, step: Duration) {
        if self.frozen_since.is_none() {
            self.runtime.block_on(async { sleep(step).await });
        }
    }

    /// Starts a graceful shutdown.
    pub(super) fn stop(&self) {
        let server = self.server.clone();
        // This task is not spawned through the server, because `stop` waits for the tasks that the
        // server has spawned.
        drop(self.runtime.spawn(async move { server.stop().await }));
    }

    pub(super) fn freeze(&mut self, now: Duration) {
        self.frozen_since.get_or_insert(now);
    }

    /// Resumes a frozen server. Its clock advances by the duration of the freeze.
    pub(super) fn thaw(&mut self, now: Duration) {
        if let Some(since) = self.frozen_since.take() {
            self.runtime.block_on(advance(now - since));
        }
    }

    /// Returns the number of panics in the server.
    pub(super) fn panic_count(&self) -> u64 {
        self.server.panic_count()
    }

    /// Kills the server. Messages and writes from its destructors have no effect.
    pub(super) fn kill(self) {
        self.hub.remove_node(self.id.0);
        self.store_connection.mark_dead();
        drop(self.server);
        drop(self.runtime);
    }
}
