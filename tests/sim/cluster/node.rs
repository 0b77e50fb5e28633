//! One server of a world: a process that can be frozen and killed.

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

use super::bus::Hub;
use super::ground::paused;
use super::plan::StorePlan;
use super::store::{Shared, Wire};
use crate::rng::SimRng;

/// How many connections wait for a server that does not take them.
const BACKLOG: usize = 64;

/// A server, which has a runtime and so a time of its own.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: NodeId,
    pub(super) wire: Wire,
    hub: Hub,
    server: Server,
    runtime: Runtime,
    /// Since when it stands still.
    frozen_at: Option<Duration>,
}

/// Who lets connections in.
pub(super) type Gate = mpsc::Sender<DuplexStream>;

impl Node {
    /// Starts a server, and gives the way in.
    pub(super) fn start(
        id: NodeId,
        hub: &Hub,
        shared: &Shared,
        store: (StorePlan, SimRng),
        settings: Settings,
    ) -> (Self, Gate) {
        let runtime = paused();
        let wire = Wire::new(shared.clone(), id, store, runtime.handle().clone());
        let (bus, heard) = hub.enter(id.0);
        let links = ClusterLinks {
            node: id,
            directory: Arc::new(wire.clone()) as Arc<dyn ClusterDirectory>,
            bus: Arc::new(bus) as Arc<dyn Bus>,
            inbox: heard,
        };
        let store = Arc::new(wire.clone()) as Arc<dyn Store>;
        let (gate, mut incoming) = mpsc::channel::<DuplexStream>(BACKLOG);
        let entered = runtime.enter();
        let metrics = StoreMetrics::default();
        let server = Server::start_with_links(settings, store, &metrics, Some(links));
        let server = server.expect("inline search starts no threads");
        let serving = server.clone();
        server.spawn(async move {
            let transport = Transport::new(serving.clone());
            while let Some(stream) = incoming.recv().await {
                let transport = transport.clone();
                serving.spawn(async move { transport.serve_stream(stream, None).await });
            }
        });
        drop(entered);
        let recovered = runtime.block_on(server.recover());
        recovered.expect("where there are several servers, nothing is read at the start");
        let node = Self {
            id,
            wire,
            hub: hub.clone(),
            server,
            runtime,
            frozen_at: None,
        };
        (node, gate)
    }

    /// Goes on by so much, unless it stands still.
    pub(super) fn pass(&self, step: Duration) {
        if self.frozen_at.is_none() {
            self.runtime.block_on(async { sleep(step).await });
        }
    }

    /// It is told to stop.
    pub(super) fn stop(&self) {
        let server = self.server.clone();
        // Not of those that are waited for.
        drop(self.runtime.spawn(async move { server.stop().await }));
    }

    pub(super) fn freeze(&mut self, now: Duration) {
        self.frozen_at.get_or_insert(now);
    }

    /// It goes on, and finds that so much time has passed.
    pub(super) fn thaw(&mut self, now: Duration) {
        if let Some(since) = self.frozen_at.take() {
            self.runtime.block_on(advance(now - since));
        }
    }

    /// How often something in it has panicked.
    pub(super) fn panics(&self) -> u64 {
        self.server.panic_count()
    }

    /// It is killed. What its destructors still say gets nowhere.
    pub(super) fn kill(self) {
        self.hub.leave(self.id.0);
        self.wire.die();
        drop(self.server);
        drop(self.runtime);
    }
}
