//! What players are told when the store fails: nothing that is not kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use futures::lock::Mutex;
use plyhouse::matches::Event;
use plyhouse::protocol::{MatchId, Seq};
use plyhouse::store::{
    MemoryStore, PlayerRecord, Record, Store, TokenHash, Unreadable, WriteError,
};
use serde_json::json;

use crate::support::{TestServer, settings};

/// How the next writes go.
const FINE: u8 = 0;
/// Nothing is written.
const UNAVAILABLE: u8 = 1;
/// It is written, and the store does not know.
const WRITTEN_UNKNOWN: u8 = 2;
/// It is not written, and the store does not know.
const LOST_UNKNOWN: u8 = 3;

/// A store that fails as it is told to.
#[derive(Debug, Default)]
struct FailingStore {
    memory: MemoryStore,
    mode: AtomicU8,
    /// While a test holds this, no match is created.
    gate: Mutex<()>,
}

impl FailingStore {
    fn set(&self, mode: u8) {
        self.mode.store(mode, Ordering::SeqCst);
    }

    fn failing(&self) -> Option<WriteError> {
        match self.mode.load(Ordering::SeqCst) {
            UNAVAILABLE => Some(WriteError::Unavailable),
            LOST_UNKNOWN => Some(WriteError::Unknown),
            _ => None,
        }
    }
}

impl Store for FailingStore {
    fn create(&self, record: Record) -> BoxFuture<'_, Result<(), WriteError>> {
        match self.failing() {
            Some(error) => future::ready(Err(error)).boxed(),
            None => async move {
                let _open = self.gate.lock().await;
                self.memory.create(record).await
            }
            .boxed(),
        }
    }

    fn append(
        &self,
        id: MatchId,
        after: Seq,
        events: Vec<Event>,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        if let Some(error) = self.failing() {
            return future::ready(Err(error)).boxed();
        }
        let written = self.memory.append(id, after, events);
        if self.mode.load(Ordering::SeqCst) == WRITTEN_UNKNOWN {
            return written.map(|_| Err(WriteError::Unknown)).boxed();
        }
        written
    }

    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<Record>, Unreadable>> {
        self.memory.load(id)
    }

    fn retire(&self, id: MatchId) -> BoxFuture<'_, ()> {
        self.memory.retire(id)
    }

    fn add_player(&self, player: PlayerRecord) -> BoxFuture<'_, Result<(), WriteError>> {
        match self.failing() {
            Some(error) => future::ready(Err(error)).boxed(),
            None => self.memory.add_player(player),
        }
    }

    fn player(&self, token: TokenHash) -> BoxFuture<'_, Result<Option<PlayerRecord>, Unreadable>> {
        self.memory.player(token)
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_kept_is_not_told() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, mut bob, id) = server.pair().await;
    for mode in [UNAVAILABLE, LOST_UNKNOWN] {
        store.set(mode);
        let refused = ann.play(&id, 0, "b2").await;
        assert_eq!(
            (&refused["code"], &refused["retryable"]),
            (&json!("overloaded"), &json!(true))
        );
    }
    let mut cat = server.player("cat").await;
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    assert_eq!(cat.refused(create.clone()).await, "overloaded");
    assert!(bob.drain().await.iter().all(|m| m["type"] == "presence"));

    // The store is well again, and nothing stands in the way of what was refused.
    store.set(FINE);
    assert_eq!(ann.play(&id, 0, "b2").await["seq"], 4);
    assert_eq!(bob.event("moved").await["seq"], 4);
    assert_eq!(cat.ask(create).await["type"], "match");
}

#[tokio::test(start_paused = true)]
async fn what_was_kept_after_all_is_told() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, mut bob, id) = server.pair().await;
    store.set(WRITTEN_UNKNOWN);
    assert_eq!(ann.play(&id, 0, "b2").await["seq"], 4);
    assert_eq!(bob.event("moved").await["seq"], 4);
}

#[tokio::test(start_paused = true)]
async fn a_bot_waits_for_the_store() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let mut ann = server.player("ann").await;
    let id = ann
        .create(json!({"seats": ["me", {"bot": "max"}], "pace_ms": 100}))
        .await;
    ann.play(&id, 0, "b2").await;
    ann.event("moved").await;
    store.set(UNAVAILABLE);
    crate::support::pass(20).await;
    assert_eq!(ann.drain().await, [] as [serde_json::Value; 0]);
    store.set(FINE);
    assert_eq!(ann.event("moved").await["ply"], 1);
}

/// A player who takes a new connection while being paired finds the match there.
#[tokio::test(start_paused = true)]
async fn who_reconnects_while_being_paired_is_shown_the_match() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let seek = json!({"type": "seek", "game": "tic-tac-toe"});
    let mut ann = server.player("ann").await;
    ann.ask(seek.clone()).await;
    let closed = store.gate.lock().await;
    let mut bob = server.player("bob").await;
    bob.ask(seek).await;
    let (mut ann_again, welcome) = server.come_back(&ann.token()).await;
    assert_eq!(ann.closed().await, 4001);
    assert_eq!(welcome["following"], json!([]));
    drop(closed);
    let shown = ann_again.event("match").await;
    assert_eq!(shown["match"], bob.event("match").await["match"]);
    assert_ne!(shown["you"], json!(null));
}
