//! What players are told when the store fails: nothing that is not kept.

use std::sync::Arc;

use plyhouse_store::Store;
use serde_json::json;
use tokio::sync::oneshot;

use crate::failing::{
    FINE, FailingStore, LOST_UNKNOWN, PANICS, UNAVAILABLE, UNREADABLE, WRITTEN_UNKNOWN,
};
use crate::support::{TestServer, pass, settings};

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
    let created = bob.create(json!({})).await;
    assert_eq!(
        ann.ask(json!({"type": "watch", "match": created})).await["seq"],
        1
    );
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
    pass(20).await;
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

/// A page that is loaded anew at once has said hello twice: the later connection stays.
#[tokio::test(start_paused = true)]
async fn of_two_connections_the_later_stays_however_long_the_other_is_looked_for() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let mut ann = server.player("ann").await;
    ann.create(json!({})).await;
    let token = ann.token();
    let (found, next_session) = oneshot::channel();
    *store.next_session.lock().await = Some(next_session);
    let mut earlier = server.connect().await;
    let hello = json!({"type": "hello", "token": token});
    earlier.send(&hello.to_string()).await;
    pass(1).await;
    let (mut later, welcome) = server.come_back(&token).await;
    assert_eq!(welcome["resumed"], true);
    found.send(()).expect("it is waited for");
    assert_eq!(earlier.closed().await, 4001);
    assert_eq!(later.ask(json!({"type": "ping"})).await["type"], "pong");
}

/// A match whose task panics is rebuilt from the store at once, and nobody else is harmed.
#[tokio::test(start_paused = true)]
async fn a_panic_harms_one_match_and_that_is_rebuilt() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, mut bob, id) = server.pair().await;
    let (mut cat, _dan, other) = server.pair().await;
    assert_eq!(ann.play(&id, 0, "b2").await["seq"], 4);
    for player in [&mut ann, &mut bob] {
        player.event("moved").await;
    }

    store.set(PANICS);
    let failed = bob.play(&id, 1, "a1").await;
    assert_eq!(failed["code"], "internal", "{failed}");
    assert_eq!(server.server.panic_count(), 1);
    for player in [&mut ann, &mut bob] {
        let snapshot = player.event("match").await;
        assert_eq!(
            (&snapshot["seq"], &snapshot["moves"]),
            (&json!(4), &json!(["b2"]))
        );
        assert_eq!(snapshot["status"], "running");
    }
    assert_eq!(bob.play(&id, 1, "a1").await["seq"], 5);
    assert_eq!(ann.event("moved").await["seq"], 5);
    assert_eq!(cat.play(&other, 0, "b2").await["seq"], 4);

    // Who was in it still is, and comes back into it.
    let (_ann, welcome) = server.come_back(&ann.token()).await;
    assert_eq!(welcome["following"], json!([{"match": id, "you": 0}]));
}

/// What cannot be read now may be asked for again.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_may_be_asked_for_again() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let mut ann = server.player("ann").await;
    store.set(UNREADABLE);
    let nowhere = json!({"type": "watch", "match": "01890a5d-ac96-774b-bcce-b302099a8057"});
    assert_eq!(ann.refused(nowhere.clone()).await, "overloaded");
    let mut lost = server.connect().await;
    let come_back = json!({"recovery": "a".repeat(26)});
    assert_eq!(lost.hello(come_back.clone()).await["code"], "overloaded");
    store.set(FINE);
    assert_eq!(ann.refused(nowhere).await, "unknown_match");
    assert_eq!(lost.hello(come_back).await["code"], "bad_code");
}

/// A match of which nobody can tell what is kept waits until the store can be read again.
#[tokio::test(start_paused = true)]
async fn a_match_waits_until_the_store_can_be_read() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, mut bob, id) = server.pair().await;
    store.set(UNREADABLE);
    // Of the first nobody can tell whether it was played; the second was not tried.
    for code in ["internal", "overloaded"] {
        let refused = ann.play(&id, 0, "b2").await;
        assert_eq!(refused["code"], code, "{refused}");
    }
    store.set(FINE);
    assert_eq!(bob.event("match").await["seq"], 3);
    assert_eq!(ann.event("match").await["seq"], 3);
    assert_eq!(ann.play(&id, 0, "b2").await["seq"], 4);
    assert_eq!(bob.event("moved").await["seq"], 4);
}

/// Who comes back meanwhile is shown it then, and follows it.
#[tokio::test(start_paused = true)]
async fn who_comes_back_to_a_match_that_waits_follows_it() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, bob, id) = server.pair().await;
    store.set(UNREADABLE);
    ann.play(&id, 0, "b2").await;
    let (mut bob, welcome) = server.come_back(&bob.token()).await;
    assert_eq!(welcome["following"], json!([{"match": id, "you": 1}]));
    store.set(FINE);
    assert_eq!(bob.event("match").await["seq"], 3);
    ann.event("match").await;
    ann.play(&id, 0, "b2").await;
    assert_eq!(bob.event("moved").await["seq"], 4);
}

#[tokio::test(start_paused = true)]
async fn the_sign_of_health_is_the_stores() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    assert!(server.server.is_healthy());
    store.set(UNAVAILABLE);
    assert!(!server.server.is_healthy());
}
