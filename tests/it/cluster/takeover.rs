//! A match continues when its owner stops or is cut off from the other servers.

use plyhouse_matches::EventKind;
use plyhouse_protocol::MatchId;
use plyhouse_store::JournalStore;
use serde_json::json;

use super::{Cluster, start_match_across_nodes};
use crate::support::advance_time;

/// A server that stops releases its matches immediately.
#[tokio::test(start_paused = true)]
async fn match_continues_on_other_node_after_owner_stops() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    assert_eq!(ann.play_move(&id, 0, "a1").await["type"], "ok");
    bob.expect_event("moved").await;
    let token = ann.token();
    here.server.server.stop().await;
    assert_eq!(ann.wait_for_close().await, 1001);
    // After the takeover, followers on the other server receive a snapshot whose epoch is one
    // higher.
    let snapshot = bob.expect_event("match").await;
    assert_eq!(
        (&snapshot["epoch"], &snapshot["ply"]),
        (&json!(1), &json!(1)),
        "{snapshot}"
    );
    let (mut ann, _) = there.server.resume_session(&token).await;
    assert_eq!(ann.expect_event("match").await["epoch"], 1);
    assert_eq!(bob.play_move(&id, 1, "b2").await["type"], "ok");
    assert_eq!(ann.expect_event("moved").await["ply"], 1);
    assert_eq!(ann.play_move(&id, 2, "a2").await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn isolated_owner_loses_match_and_its_writes_are_refused() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    assert_eq!(ann.play_move(&id, 0, "a1").await["type"], "ok");
    bob.expect_event("moved").await;
    here.bus.close();
    let snapshot = bob.expect_event("match").await;
    assert_eq!(
        (&snapshot["epoch"], &snapshot["ply"]),
        (&json!(1), &json!(1)),
        "{snapshot}"
    );
    assert_eq!(bob.play_move(&id, 1, "b2").await["type"], "ok");
    // The store refuses the former owner's next write, so the former owner does not broadcast the
    // move.
    let refused = ann.play_move(&id, 1, "c3").await;
    assert_ne!(refused["type"], "ok", "{refused}");
    let moves = load_moves(&cluster, &id).await;
    assert_eq!(moves, ["a1", "b2"]);
}

#[tokio::test(start_paused = true)]
async fn isolated_owner_detects_takeover_and_resends_snapshot() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    here.bus.close();
    bob.expect_event("match").await;
    let snapshot = ann.expect_event("match").await;
    assert_eq!(
        (&snapshot["epoch"], &snapshot["match"]),
        (&json!(1), &json!(id))
    );
}

/// A client may have received events from the new owner that the former owner does not know. An
/// isolated former owner therefore refuses a move for a later ply with a retryable error.
#[tokio::test(start_paused = true)]
async fn move_ahead_of_outdated_owner_is_refused_as_retryable() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    let answer = ann.play_move(&id, 4, "a1").await;
    assert_eq!(
        answer["code"], "stale_ply",
        "a ply that was never played is refused for good"
    );
    here.bus.close();
    bob.expect_event("match").await;
    let refused = ann.play_move(&id, 2, "a1").await;
    assert_eq!(
        (&refused["code"], &refused["retryable"]),
        (&json!("overloaded"), &json!(true))
    );
}

#[tokio::test(start_paused = true)]
async fn rematch_is_agreed_on_other_node_after_owner_stops() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    assert_eq!(
        bob.request(json!({"type": "resign", "match": id})).await["type"],
        "ok"
    );
    ann.expect_event("ended").await;
    let token = ann.token();
    here.server.server.stop().await;
    let (mut ann, _) = there.server.resume_session(&token).await;
    assert_eq!(
        ann.request(json!({"type": "watch", "match": id})).await["status"],
        "ended"
    );
    let offer = json!({"type": "offer", "match": id, "offer": "rematch"});
    while bob.request(offer.clone()).await["type"] != "ok" {}
    while ann.request(offer.clone()).await["type"] != "ok" {}
    loop {
        let snapshot = ann.expect_event("match").await;
        if snapshot["match"] != json!(id) {
            assert_eq!(snapshot["status"], "running");
            break;
        }
    }
}

fn parse_match_id(id: &str) -> MatchId {
    MatchId(id.parse().expect("an id"))
}

async fn load_moves(cluster: &Cluster, id: &str) -> Vec<String> {
    let loaded = cluster
        .store
        .load(parse_match_id(id))
        .await
        .expect("readable");
    let loaded = loaded.expect("the match is stored");
    let events = loaded.record.events.into_iter();
    let moves = events.filter_map(|event| match event.kind {
        EventKind::Moved { m, .. } => Some(m),
        _ => None,
    });
    moves.collect()
}

#[tokio::test(start_paused = true)]
async fn stored_unanswered_request_is_not_repeated_after_takeover() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let clock = json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 0});
    let create = json!({"seats": ["me", "open"], "clock": clock});
    let (_ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
    let give_time = json!({"type": "give_time", "match": id, "ms": 15000});
    assert_eq!(bob.request(give_time.clone()).await["type"], "ok");
    // Simulates an owner that stores the event of the next request but dies before it replies.
    let loaded = cluster.store.load(parse_match_id(&id)).await;
    let loaded = loaded.expect("readable").expect("the match is stored");
    let mut repeated_event = loaded
        .record
        .events
        .last()
        .expect("at least one event")
        .clone();
    let request = repeated_event
        .request
        .as_mut()
        .expect("an event with a request");
    request.2 += 1;
    let stored = cluster
        .store
        .append(parse_match_id(&id), loaded.position, vec![repeated_event]);
    let stored = stored.await.expect("the write succeeds");
    here.bus.close();

    let answer = bob.request(give_time.clone()).await;
    assert_eq!(answer["seq"], stored.seq().0, "{answer}");
    assert_eq!(count_time_gifts(&cluster, &id).await, 2);
    // A request with a new id is a new action. The server refuses it, because only one gift of time
    // is allowed per ply.
    assert_eq!(bob.expect_error(give_time).await, "too_soon");
}

async fn count_time_gifts(cluster: &Cluster, id: &str) -> usize {
    let loaded = cluster.store.load(parse_match_id(id)).await;
    let events = loaded
        .expect("readable")
        .expect("the match is stored")
        .record;
    let events = events.events.iter();
    let time_gifts = events.filter(|event| matches!(event.kind, EventKind::TimeGiven { .. }));
    time_gifts.count()
}

#[tokio::test(start_paused = true)]
async fn player_on_isolated_node_is_absent_only_after_node_stops() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let create = json!({"seats": ["me", "open"], "patience_ms": 60000});
    let (_ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
    here.bus.close();
    assert_eq!(bob.expect_event("match").await["epoch"], 1);
    advance_time(600).await;
    let messages = bob.drain_messages().await;
    assert!(
        messages.iter().all(|message| message["type"] == "presence"),
        "{messages:?}"
    );
    // Once the isolated server has stopped, the players connected to it count as absent.
    here.server.server.stop().await;
    let ended = bob.expect_event("ended").await;
    assert_eq!(ended["outcome"]["reason"], "abandonment", "{id}");
}

#[tokio::test(start_paused = true)]
async fn spectator_on_third_node_receives_snapshot_from_new_owner() {
    let mut cluster = Cluster::default();
    let [here, there, third] = cluster.start_nodes().await;
    let (_ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    let mut cat = third.server.connect_player("cat").await;
    let snapshot = cat.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(snapshot["epoch"], serde_json::Value::Null);
    here.server.server.stop().await;
    assert_eq!(bob.expect_event("match").await["epoch"], 1);
    assert_eq!(cat.expect_event("match").await["epoch"], 1);
}
