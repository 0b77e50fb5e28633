//! Tests of store failures: players receive only changes that the store has written.

use std::sync::Arc;

use plyhouse_store::Store;
use serde_json::json;

use crate::fault_injecting_store::{
    FailingStore, HEALTHY, LOST_OUTCOME_UNKNOWN, PANIC_ONCE, UNAVAILABLE, UNREADABLE,
    WRITTEN_OUTCOME_UNKNOWN,
};
use crate::support::{TestServer, advance_time, settings};

#[tokio::test(start_paused = true)]
async fn failed_write_is_refused_and_not_broadcast() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, mut bob, id) = server.start_match().await;
    for mode in [UNAVAILABLE, LOST_OUTCOME_UNKNOWN] {
        store.set_mode(mode);
        let refused = ann.play_move(&id, 0, "b2").await;
        assert_eq!(
            (&refused["code"], &refused["retryable"]),
            (&json!("overloaded"), &json!(true))
        );
    }
    let mut cat = server.connect_player("cat").await;
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    assert_eq!(cat.expect_error(create.clone()).await, "overloaded");
    assert!(
        bob.drain_messages()
            .await
            .iter()
            .all(|m| m["type"] == "presence")
    );

    // When the store works again, clients can repeat the refused requests.
    store.set_mode(HEALTHY);
    assert_eq!(ann.play_move(&id, 0, "b2").await["seq"], 4);
    assert_eq!(bob.expect_event("moved").await["seq"], 4);
    assert_eq!(cat.request(create).await["type"], "match");
}

#[tokio::test(start_paused = true)]
async fn successful_write_of_unknown_outcome_is_broadcast() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, mut bob, id) = server.start_match().await;
    store.set_mode(WRITTEN_OUTCOME_UNKNOWN);
    assert_eq!(ann.play_move(&id, 0, "b2").await["seq"], 4);
    assert_eq!(bob.expect_event("moved").await["seq"], 4);
    let created = bob.create_match(json!({})).await;
    assert_eq!(
        ann.request(json!({"type": "watch", "match": created}))
            .await["seq"],
        1
    );
}

#[tokio::test(start_paused = true)]
async fn bot_move_waits_for_available_store() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let mut ann = server.connect_player("ann").await;
    let id = ann
        .create_match(json!({"seats": ["me", {"bot": "max"}], "pace_ms": 100}))
        .await;
    ann.play_move(&id, 0, "b2").await;
    ann.expect_event("moved").await;
    store.set_mode(UNAVAILABLE);
    advance_time(20).await;
    assert_eq!(ann.drain_messages().await, [] as [serde_json::Value; 0]);
    store.set_mode(HEALTHY);
    assert_eq!(ann.expect_event("moved").await["ply"], 1);
}

#[tokio::test(start_paused = true)]
async fn reconnect_during_pairing_receives_the_match() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let seek = json!({"type": "seek", "game": "tic-tac-toe"});
    let mut ann = server.connect_player("ann").await;
    ann.request(seek.clone()).await;
    let writes_blocked = store.write_gate.lock().await;
    let mut bob = server.connect_player("bob").await;
    bob.request(seek).await;
    let (mut ann_again, welcome) = server.resume_session(&ann.token()).await;
    assert_eq!(ann.wait_for_close().await, 4001);
    assert_eq!(welcome["following"], json!([]));
    drop(writes_blocked);
    let shown = ann_again.expect_event("match").await;
    assert_eq!(shown["match"], bob.expect_event("match").await["match"]);
    assert_ne!(shown["you"], json!(null));
}

/// If a user reloads the page immediately, the server receives two `hello` requests with the same
/// token in a short time.
#[tokio::test(start_paused = true)]
async fn later_connection_wins_despite_slow_session_lookup() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let mut ann = server.connect_player("ann").await;
    ann.create_match(json!({})).await;
    let token = ann.token();
    let mut lookup = store.session_lookups.hold_next();
    let mut earlier = server.connect().await;
    let hello = json!({"type": "hello", "token": token});
    earlier.send_text(&hello.to_string()).await;
    lookup.wait_until_read().await;
    let (mut later, welcome) = server.resume_session(&token).await;
    assert_eq!(welcome["resumed"], true);
    lookup.release();
    assert_eq!(earlier.wait_for_close().await, 4001);
    assert_eq!(later.request(json!({"type": "ping"})).await["type"], "pong");
}

#[tokio::test(start_paused = true)]
async fn panicked_match_is_reloaded_without_affecting_others() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, mut bob, id) = server.start_match().await;
    let (mut cat, _dan, other) = server.start_match().await;
    assert_eq!(ann.play_move(&id, 0, "b2").await["seq"], 4);
    for player in [&mut ann, &mut bob] {
        player.expect_event("moved").await;
    }

    store.set_mode(PANIC_ONCE);
    let failed = bob.play_move(&id, 1, "a1").await;
    assert_eq!(failed["code"], "internal", "{failed}");
    assert_eq!(server.server.panic_count(), 1);
    for player in [&mut ann, &mut bob] {
        let snapshot = player.expect_event("match").await;
        assert_eq!(
            (&snapshot["seq"], &snapshot["moves"]),
            (&json!(4), &json!(["b2"]))
        );
        assert_eq!(snapshot["status"], "running");
    }
    assert_eq!(bob.play_move(&id, 1, "a1").await["seq"], 5);
    assert_eq!(ann.expect_event("moved").await["seq"], 5);
    assert_eq!(cat.play_move(&other, 0, "b2").await["seq"], 4);

    // After the reload, the players still belong to the match and can resume it.
    let (_ann, welcome) = server.resume_session(&ann.token()).await;
    assert_eq!(welcome["following"], json!([{"match": id, "you": 0}]));
}

#[tokio::test(start_paused = true)]
async fn failed_read_is_retryable() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let mut ann = server.connect_player("ann").await;
    store.set_mode(UNREADABLE);
    let watch_unknown = json!({"type": "watch", "match": "01890a5d-ac96-774b-bcce-b302099a8057"});
    assert_eq!(ann.expect_error(watch_unknown.clone()).await, "overloaded");
    let mut client = server.connect().await;
    let login = json!({"recovery": "a".repeat(26)});
    assert_eq!(client.send_hello(login.clone()).await["code"], "overloaded");
    store.set_mode(HEALTHY);
    assert_eq!(ann.expect_error(watch_unknown).await, "unknown_match");
    assert_eq!(client.send_hello(login).await["code"], "bad_code");
}

/// After a write with an unknown outcome, the server must read the store before the match
/// continues.
#[tokio::test(start_paused = true)]
async fn match_pauses_until_store_is_readable() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, mut bob, id) = server.start_match().await;
    store.set_mode(UNREADABLE);
    // The outcome of the first write is unknown, so the server refuses the second move without
    // writing it.
    for code in ["internal", "overloaded"] {
        let refused = ann.play_move(&id, 0, "b2").await;
        assert_eq!(refused["code"], code, "{refused}");
    }
    store.set_mode(HEALTHY);
    assert_eq!(bob.expect_event("match").await["seq"], 3);
    assert_eq!(ann.expect_event("match").await["seq"], 3);
    assert_eq!(ann.play_move(&id, 0, "b2").await["seq"], 4);
    assert_eq!(bob.expect_event("moved").await["seq"], 4);
}

#[tokio::test(start_paused = true)]
async fn reconnect_to_paused_match_receives_snapshot_later() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, bob, id) = server.start_match().await;
    store.set_mode(UNREADABLE);
    ann.play_move(&id, 0, "b2").await;
    let (mut bob, welcome) = server.resume_session(&bob.token()).await;
    assert_eq!(welcome["following"], json!([{"match": id, "you": 1}]));
    store.set_mode(HEALTHY);
    assert_eq!(bob.expect_event("match").await["seq"], 3);
    ann.expect_event("match").await;
    ann.play_move(&id, 0, "b2").await;
    assert_eq!(bob.expect_event("moved").await["seq"], 4);
}

#[tokio::test(start_paused = true)]
async fn server_health_reflects_store_health() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    assert!(server.server.is_healthy());
    store.set_mode(UNAVAILABLE);
    assert!(!server.server.is_healthy());
}
