//! Tests of several servers that share one store. A client can connect to any of these servers.

mod analysis_and_hints;
mod clocks;
mod match_play;
mod player_blocks;
mod players;
mod presence;
mod ratings;
mod shared_state;
mod spectators;
mod takeover;

use std::sync::Arc;

use plyhouse_bus::{Bus, MemoryHub};
use plyhouse_server::{ClusterLinks, Server, Settings};
use plyhouse_store::{MemoryStore, NodeId, StoreMetrics};
use plyhouse_transport::Transport;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{TestPlayer, TestServer, settings_without_pings};

/// Cluster of servers that share one store and run in the test process.
#[derive(Default)]
struct Cluster {
    hub: MemoryHub,
    store: Arc<MemoryStore>,
    started_count: u64,
}

struct Node {
    server: TestServer,
    bus: Arc<dyn Bus>,
}

impl Cluster {
    async fn start_node(&mut self) -> Node {
        self.start_node_with(settings_without_pings()).await
    }

    async fn start_node_with(&mut self, settings: Settings) -> Node {
        self.started_count += 1;
        // Each server needs its own seed. Servers with the same seed would generate the same ids
        // for different guests.
        let settings = Settings {
            seed: settings.seed.map(|seed| seed + self.started_count),
            ..settings
        };
        let node = NodeId(Uuid::from_u128(self.started_count.into()));
        let (bus, receiver) = self.hub.join(node.0);
        let bus: Arc<dyn Bus> = Arc::new(bus);
        let links = ClusterLinks {
            node,
            directory: Arc::<MemoryStore>::clone(&self.store),
            bus: Arc::clone(&bus),
            inbox: receiver,
        };
        let store = Arc::<MemoryStore>::clone(&self.store);
        let metrics = StoreMetrics::default();
        let server = Server::start_with_links(settings, store, &metrics, Some(links));
        let server = server.expect("inline search starts no threads");
        server.recover().await.expect("the store can be read");
        Node {
            server: TestServer {
                transport: Transport::new(server.clone()),
                server,
            },
            bus,
        }
    }

    async fn start_nodes<const N: usize>(&mut self) -> [Node; N] {
        let mut nodes = Vec::new();
        for _ in 0..N {
            nodes.push(self.start_node().await);
        }
        nodes
            .try_into()
            .unwrap_or_else(|_| unreachable!("N nodes were started"))
    }
}

/// Starts a match between Ann, who connects to the server `here`, and Bob, who connects to the
/// server `there`. The server `here` owns the match. Both players have received the start of the
/// match.
async fn start_match_across_nodes(
    here: &Node,
    there: &Node,
    create: Value,
) -> (TestPlayer, TestPlayer, String) {
    let mut ann = here.server.connect_player("ann").await;
    let mut bob = there.server.connect_player("bob").await;
    let id = ann.create_match(create).await;
    let snapshot = bob.request(json!({"type": "join", "match": id})).await;
    assert_eq!(snapshot["status"], "running", "{snapshot}");
    ann.expect_event("seated").await;
    ann.expect_event("started").await;
    (ann, bob, id)
}
