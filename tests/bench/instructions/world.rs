//! Server and clients in one thread, connected by in-memory streams.

use std::num::NonZeroU32;
use std::sync::Arc;

use plyhouse_server::{SearchMode, Server, Settings};
use plyhouse_store::{MemoryStore, StoreMetrics};
use plyhouse_transport::Transport;
use tokio::io::duplex;
use tokio::runtime::{Builder, Runtime};

use crate::raw_client::RawClient;

/// Capacity of a stream in each direction, in bytes. It is larger than all messages that a client
/// has not read yet.
const STREAM_BYTES: usize = 256 * 1024;

/// A running server with connected clients.
#[derive(Debug)]
pub(crate) struct World {
    runtime: Runtime,
    /// The first two clients are the players. Further clients are spectators.
    clients: Vec<RawClient>,
}

/// Kind of the matches to play.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchKind {
    pub(crate) game: &'static str,
    /// Further fields of the `create` request, with a leading comma.
    pub(crate) fields: &'static str,
}

impl World {
    /// Starts a server and connects `client_count` guests. Time stands still while a task can run.
    pub(crate) fn new(client_count: usize) -> Self {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("runtime can be built");
        let clients = runtime.block_on(async {
            let server = Server::start(
                settings(),
                Arc::new(MemoryStore::default()),
                &StoreMetrics::default(),
            );
            let transport = Transport::new(server.expect("server starts"));
            let mut clients = Vec::new();
            for _ in 0..client_count {
                let (near, far) = duplex(STREAM_BYTES);
                let transport = transport.clone();
                #[expect(clippy::disallowed_methods, reason = "it ends with the runtime")]
                tokio::spawn(async move { transport.serve_stream(far, None).await });
                let mut client = RawClient::open(near).await;
                client.send(r#"{"type":"hello"}"#).await;
                client.receive_type("welcome").await;
                clients.push(client);
            }
            clients
        });
        Self { runtime, clients }
    }

    /// Gives an account to each client.
    pub(crate) fn with_accounts(mut self) -> Self {
        self.runtime.block_on(async {
            for (index, client) in self.clients.iter_mut().enumerate() {
                let name = format!("player{index}");
                let register = format!(r#"{{"type":"register","id":1,"name":"{name}"}}"#);
                client.send(&register).await;
                client.receive_type("ok").await;
            }
        });
        self
    }

    /// Creates a match between the two players and returns its id.
    pub(crate) fn start_match(&mut self, kind: MatchKind) -> String {
        let [first, second, ..] = &mut self.clients[..] else {
            unreachable!("a world has two players")
        };
        self.runtime.block_on(async {
            let MatchKind { game, fields } = kind;
            first
                .send(&format!(
                    r#"{{"type":"create","game":"{game}","seats":["me","open"]{fields}}}"#
                ))
                .await;
            let snapshot = first.receive_type("match").await;
            let (_, rest) = snapshot
                .split_once(r#""match":""#)
                .expect("match has an id");
            let id = rest[..36].to_owned();
            second
                .send(&format!(r#"{{"type":"join","match":"{id}"}}"#))
                .await;
            second.receive_type("match").await;
            first.receive_type("started").await;
            id
        })
    }

    /// Plays the moves of a match that has just started. All clients wait for the event of each
    /// move.
    pub(crate) fn play(&mut self, id: &str, moves: &[&str]) {
        self.runtime.block_on(async {
            for (ply, m) in moves.iter().enumerate() {
                let text = format!(r#"{{"type":"move","match":"{id}","ply":{ply},"move":"{m}"}}"#);
                self.clients[ply % 2].send(&text).await;
                for client in &mut self.clients {
                    client.receive_type("moved").await;
                }
            }
        });
    }

    /// Ends the match: the first player resigns.
    pub(crate) fn resign(&mut self, id: &str) {
        self.runtime.block_on(async {
            let text = format!(r#"{{"type":"resign","match":"{id}"}}"#);
            self.clients[0].send(&text).await;
            for client in &mut self.clients {
                client.receive_type("ended").await;
            }
        });
    }

    /// Lets each spectator watch the match.
    pub(crate) fn watch(&mut self, id: &str) {
        self.runtime.block_on(async {
            let text = format!(r#"{{"type":"watch","match":"{id}"}}"#);
            for client in &mut self.clients[2..] {
                client.send(&text).await;
                client.receive_type("match").await;
            }
        });
    }
}

fn settings() -> Settings {
    Settings {
        search: SearchMode::Inline,
        search_table: 1 << 16,
        seed: Some(1),
        requests_per_s: NonZeroU32::MAX,
        burst: NonZeroU32::MAX,
        live_matches_per_player: usize::MAX,
        ..Settings::default()
    }
}
