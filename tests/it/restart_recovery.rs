//! Tests of recovery after a restart: matches continue with the state from the store.

use std::sync::Arc;

use plyhouse_matches::{Event, EventKind};
use plyhouse_protocol::MatchId;
use plyhouse_server::{RecoveryStats, Settings};
use plyhouse_store::{JournalStore, LoadedMatch, MemoryStore, NodeId, Store};
use serde_json::json;
use uuid::Uuid;

use crate::support::{TestPlayer, TestServer, advance_time, json_string, settings};

/// Stops the server and starts another one with the same store.
async fn restart(server: TestServer, store: &Arc<MemoryStore>) -> (TestServer, RecoveryStats) {
    server.server.stop().await;
    let store = Arc::clone(store) as Arc<dyn Store>;
    let again = Settings {
        seed: Some(8), // With the same seed, the server would give new players the ids of existing players.
        ..settings()
    };
    let server = TestServer::with_store(again, store);
    let recovered = server.server.recover().await.expect("readable");
    (server, recovered)
}

fn server_with_store() -> (TestServer, Arc<MemoryStore>) {
    let store = Arc::new(MemoryStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    (server, store)
}

#[tokio::test(start_paused = true)]
async fn match_continues_after_restart() {
    let (server, store) = server_with_store();
    let (mut ann, mut bob, id) = server.start_match().await;
    ann.play_move(&id, 0, "b2").await;
    bob.expect_event("moved").await;
    let before = bob.request(json!({"type": "watch", "match": id})).await;

    let (server, recovered) = restart(server, &store).await;
    assert_eq!((recovered.live, recovered.corrupt), (1, 0));
    let (mut ann, welcome) = server.resume_session(&ann.token()).await;
    assert_eq!(welcome["resumed"], true);
    assert_eq!(welcome["following"], json!([{"match": id, "you": 0}]));
    let snapshot = ann.expect_event("match").await;
    for field in ["code", "seq", "moves", "position", "status", "host"] {
        assert_eq!(snapshot[field], before[field], "{field}");
    }

    // After the restart, the server can resend events from before the restart.
    let resync = json!({"type": "resync", "match": id, "since": 0});
    let events = ann.request(resync).await;
    let seqs = events["events"].as_array().expect("a list").iter();
    let seqs: Vec<_> = seqs.map(|event| event["seq"].as_u64()).collect();
    assert_eq!(seqs, [1, 2, 3, 4].map(Some));
    assert_eq!(events["events"][3]["move"], "b2");

    // The server recognises a repeated move and finds the match by its code. Only Bob can make the
    // moves of his seat.
    assert_eq!(ann.play_move(&id, 0, "b2").await["seq"], 4);
    let mut eve = server.connect_player("eve").await;
    let watched = eve
        .request(json!({"type": "watch", "match": before["code"]}))
        .await;
    assert_eq!(watched["match"], json!(id));
    let stolen = eve.play_move(&id, 1, "a1").await;
    assert_eq!(stolen["code"], "not_seated");
    let (mut bob, _) = server.resume_session(&bob.token()).await;
    assert_eq!(bob.play_move(&id, 1, "a1").await["seq"], 5);
    assert_eq!(ann.expect_event("moved").await["seq"], 5);
    let list = eve
        .request(json!({"type": "list", "status": "running"}))
        .await;
    assert_eq!(list["total"], 1);
}

#[tokio::test(start_paused = true)]
async fn bot_moves_after_restart_if_it_is_its_turn() {
    let (server, store) = server_with_store();
    let mut ann = server.connect_player("ann").await;
    let seats = json!(["me", {"bot": "max"}]);
    let id = ann
        .create_match(json!({"seats": seats, "pace_ms": 5000}))
        .await;
    ann.play_move(&id, 0, "b2").await;

    let (server, _) = restart(server, &store).await;
    let (mut ann, _) = server.resume_session(&ann.token()).await;
    ann.expect_event("match").await;
    assert_eq!(ann.expect_event("moved").await["ply"], 1);
}

#[tokio::test(start_paused = true)]
async fn absence_timers_restart_with_the_server() {
    let (server, store) = server_with_store();
    let (ann, bob, id) = server.start_match().await;
    let tokens = [ann.token(), bob.token()];
    let (server, _) = restart(server, &store).await;
    advance_time(59).await;
    let (mut ann, _) = server.resume_session(&tokens[0]).await;
    assert_eq!(ann.expect_event("match").await["status"], "running");
    // Ann has reconnected, so only Bob's absence ends the match.
    let ended = ann.expect_event("ended").await;
    assert_eq!(
        (&ended["outcome"]["winner"], &ended["outcome"]["reason"]),
        (&json!(0), &json!("abandonment"))
    );

    let (server, recovered) = restart(server, &store).await;
    assert_eq!(recovered.live, 0, "{id} has ended");
    let (_, welcome) = server.resume_session(&tokens[1]).await;
    assert_eq!(welcome["following"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn ended_match_is_loaded_on_demand_after_restart() {
    let (server, store) = server_with_store();
    let (mut ann, _bob, id) = server.start_match().await;
    let code = json_string(&ann.request(json!({"type": "watch", "match": id})).await["code"]);
    ann.request(json!({"type": "resign", "match": id})).await;

    let (server, recovered) = restart(server, &store).await;
    assert_eq!(recovered, RecoveryStats::default());
    let mut cat = server.connect_player("cat").await;
    for target in [&id, &code] {
        let snapshot = cat.request(json!({"type": "watch", "match": target})).await;
        assert_eq!(
            (&snapshot["match"], &snapshot["status"]),
            (&json!(id), &json!("ended"))
        );
        assert_eq!(snapshot["outcome"]["reason"], "resignation", "{snapshot}");
    }
    let move_on = cat.play_move(&id, 0, "b2").await;
    assert_eq!(move_on["type"], "error");
}

#[tokio::test(start_paused = true)]
async fn events_are_stored_with_decision_times() {
    let store = Arc::new(MemoryStore::default());
    let started_ms = 1_700_000_000_000;
    let settings = Settings {
        started_ms: Some(started_ms),
        ..settings()
    };
    let server = TestServer::with_store(settings, Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, mut bob, id) = server.start_match().await;
    advance_time(5).await;
    ann.play_move(&id, 0, "b2").await;
    advance_time(2).await;
    bob.request(json!({"type": "resign", "match": id})).await;
    let record = load_match(&store, &id).await.record;
    let after: Vec<u64> = record
        .events
        .iter()
        .map(|event| event.at_ms - started_ms)
        .collect();
    assert_eq!(after, [0, 0, 0, 5000, 7000]);
}

async fn load_match(store: &MemoryStore, id: &str) -> LoadedMatch {
    let id = serde_json::from_value(json!(id)).expect("an id");
    let found = store.load(id).await.expect("readable");
    found.expect("the match exists")
}

/// Returns two events for the same move. No valid match contains such events.
fn duplicate_moves() -> Vec<Event> {
    let moved = EventKind::untimed_move(plyhouse_engine::game::Seat::First, "b2".to_owned());
    vec![moved.at(0); 2]
}

/// The store contains a match that the server has not loaded. A new match must not get the same
/// match code.
#[tokio::test(start_paused = true)]
async fn match_code_used_in_store_is_not_reused() {
    // Both servers have the same seed, so they generate the same match codes.
    let (server, store) = server_with_store();
    let (.., id) = server.start_match().await;
    let LoadedMatch { mut record, .. } = load_match(&store, &id).await;
    server.server.stop().await;
    let code = record.creation.code;
    record.creation.id = MatchId(Uuid::from_u128(1));
    record.events.extend(duplicate_moves());

    let (server, store) = server_with_store();
    let old_owner = NodeId(Uuid::from_u128(1));
    store.create(old_owner, record).await.expect("written");
    let recovered = server.server.recover().await.expect("readable");
    assert_eq!((recovered.live, recovered.corrupt), (0, 1));
    let (mut ann, _bob, id) = server.start_match().await;
    let snapshot = ann.request(json!({"type": "watch", "match": id})).await;
    assert_ne!(snapshot["code"], code.to_string());
    let found = ann
        .request(json!({"type": "watch", "match": snapshot["code"]}))
        .await;
    assert_eq!(found["match"], id);
}

#[tokio::test(start_paused = true)]
async fn corrupt_match_is_skipped_during_recovery() {
    let (server, store) = server_with_store();
    let (mut ann, mut bob, damaged) = server.start_match().await;
    let intact = ann.create_match(json!({})).await;
    bob.request(json!({"type": "join", "match": intact})).await;
    let LoadedMatch {
        record, position, ..
    } = load_match(&store, &damaged).await;
    let appended = store.append(record.creation.id, position, duplicate_moves());
    appended.await.expect("written");

    let (server, recovered) = restart(server, &store).await;
    assert_eq!((recovered.live, recovered.corrupt), (1, 1));
    let (mut ann, welcome): (TestPlayer, _) = server.resume_session(&ann.token()).await;
    assert_eq!(welcome["following"], json!([{"match": intact, "you": 0}]));
    ann.expect_event("match").await;
    let watch = json!({"type": "watch", "match": damaged});
    assert_eq!(ann.expect_error(watch).await, "internal");
    assert_eq!(ann.play_move(&intact, 0, "b2").await["seq"], 4);
}
