//! Players on different servers play each other.

use std::time::Duration;

use plyhouse_server::Settings;
use serde_json::{Value, json};

use super::{Cluster, start_match_across_nodes};
use crate::support::{json_string, settings_without_pings};

/// Keeps only the messages that have a sequence number. `presence` messages have none and are
/// removed.
fn filter_events(messages: Vec<Value>) -> Vec<Value> {
    let is_event = |message: &Value| message["seq"].is_u64();
    messages.into_iter().filter(is_event).collect()
}

/// The mover receives the `moved` event before the answer to its request.
#[tokio::test(start_paused = true)]
async fn players_on_two_nodes_receive_all_events_in_order() {
    let mut cluster = Cluster::default();
    let [here, there, third] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    let mut cat = third.server.connect_player("cat").await;
    let snapshot = cat.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(snapshot["status"], "running");

    for (ply, m) in ["a1", "b2", "a2", "a3", "c1", "b1", "b3", "c2", "c3"]
        .iter()
        .enumerate()
    {
        let ply = ply as u64;
        let mover = if ply.is_multiple_of(2) {
            &mut ann
        } else {
            &mut bob
        };
        let play = json!({"type": "move", "match": id, "ply": ply, "move": m});
        let (_, messages) = mover.request_and_collect(play).await;
        let answer = messages.last().unwrap();
        assert_eq!(answer["type"], "ok", "{answer}");
        assert!(
            messages
                .iter()
                .any(|message| message["seq"] == answer["seq"] && message["type"] == "moved")
        );
        let opponent = if ply.is_multiple_of(2) {
            &mut bob
        } else {
            &mut ann
        };
        let moved = opponent.expect_event("moved").await;
        assert_eq!(
            (&moved["move"], moved["ply"].as_u64()),
            (&json!(m), Some(ply))
        );
    }
    let event_seqs: Vec<u64> = filter_events(cat.drain_messages().await)
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    let first = snapshot["seq"].as_u64().unwrap() + 1;
    assert_eq!(
        event_seqs,
        (first..first + event_seqs.len() as u64).collect::<Vec<_>>()
    );
    assert_eq!(
        bob.expect_event("ended").await["outcome"]["reason"],
        "rules"
    );
}

/// A remote owner refuses requests with the usual error codes and does not change the match.
#[tokio::test(start_paused = true)]
async fn invalid_requests_are_refused_by_remote_owner() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (_ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    let refused = bob.play_move(&id, 0, "a1").await;
    assert_eq!(refused["code"], "not_your_turn", "{refused}");
    let stale = bob.play_move(&id, 7, "a1").await;
    assert_eq!(stale["code"], "stale_ply");
    assert_eq!(stale["expected"], 0);
    let early = json!({"type": "offer", "match": id, "offer": "rematch"});
    assert_eq!(bob.expect_error(early).await, "match_running");
}

#[tokio::test(start_paused = true)]
async fn presence_is_reported_across_nodes() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    let mut cat = there.server.connect_player("cat").await;
    cat.request(json!({"type": "watch", "match": id})).await;
    ann.wait_for_presence(json!([true, true]), 1).await;
    let token = bob.token();
    drop(bob);
    ann.wait_for_presence(json!([true, false]), 1).await;
    // The player reconnects to the opponent's server.
    let (mut bob, welcome) = here.server.resume_session(&token).await;
    assert_eq!(welcome["following"][0]["match"], json!(id), "{welcome}");
    assert_eq!(bob.expect_event("match").await["match"], json!(id));
    ann.wait_for_presence(json!([true, true]), 1).await;
}

#[tokio::test(start_paused = true)]
async fn bot_replies_to_player_on_other_node() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let mut ann = here.server.connect_player("ann").await;
    let create = json!({"seats": ["me", {"bot": "easy"}]});
    let id = ann.create_match(create).await;
    let token = ann.token();
    drop(ann);
    let (mut ann, _) = there.server.resume_session(&token).await;
    ann.expect_event("match").await;
    assert_eq!(ann.play_move(&id, 0, "b2").await["type"], "ok");
    assert_eq!(ann.expect_event("moved").await["ply"], 0);
    assert_eq!(ann.expect_event("moved").await["ply"], 1);
}

#[tokio::test(start_paused = true)]
async fn chat_reaches_all_nodes_and_late_spectators() {
    let mut cluster = Cluster::default();
    let [here, there, third] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    let say_request = |preset| json!({"type": "say", "match": id, "preset": preset});
    assert_eq!(bob.request(say_request("hello")).await["type"], "ok");
    assert_eq!(ann.expect_event("said").await["preset"], "hello");
    assert_eq!(bob.expect_event("said").await["preset"], "hello");
    assert_eq!(ann.request(say_request("have-fun")).await["type"], "ok");
    assert_eq!(bob.expect_event("said").await["preset"], "have-fun");
    let mut cat = third.server.connect_player("cat").await;
    assert_eq!(cat.expect_error(say_request("bye")).await, "not_following");
    cat.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(cat.expect_error(say_request("bye")).await, "not_allowed");
    // The third server receives the earlier chat messages only after the owner knows that it
    // follows the match. Until then, the test repeats the `watch` request.
    let watch = json!({"type": "watch", "match": id});
    let snapshot = loop {
        let snapshot = cat.request(watch.clone()).await;
        if snapshot["said"] != json!([]) {
            break snapshot;
        }
    };
    let presets = snapshot["said"].as_array().expect("a list").iter();
    let presets: Vec<&Value> = presets
        .map(|chat_message| &chat_message["preset"])
        .collect();
    assert_eq!(presets, ["hello", "have-fun"]);
}

/// Both players receive the snapshot of the rematch.
#[tokio::test(start_paused = true)]
async fn rematch_is_agreed_across_nodes() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    assert_eq!(
        bob.request(json!({"type": "resign", "match": id})).await["type"],
        "ok"
    );
    ann.expect_event("ended").await;
    bob.expect_event("ended").await;
    let offer = json!({"type": "offer", "match": id, "offer": "rematch"});
    while bob.request(offer.clone()).await["type"] != "ok" {}
    loop {
        if ann.expect_event("rematch").await["offers"] == json!([false, true]) {
            break;
        }
    }
    assert_eq!(ann.request(offer).await["type"], "ok");
    let snapshot = ann.expect_event("match").await;
    let rematch_id = json_string(&snapshot["match"]);
    assert_ne!(rematch_id, id);
    assert_eq!(bob.expect_event("match").await["match"], json!(rematch_id));
    let watch_by_code = json!({"type": "watch", "match": snapshot["code"]});
    let mut cat = there.server.connect_player("cat").await;
    assert_eq!(
        cat.request(watch_by_code).await["match"],
        json!(rematch_id),
        "the code leads to the rematch"
    );
}

#[tokio::test(start_paused = true)]
async fn late_move_from_other_node_loses_on_time() {
    let mut cluster = Cluster::default();
    let settings = Settings {
        lag_compensation: Duration::from_secs(1),
        ..settings_without_pings()
    };
    let here = cluster.start_node_with(settings.clone()).await;
    let there = cluster.start_node_with(settings).await;
    let clock = json!({"kind": "fischer", "main_ms": 2000, "increment_ms": 0});
    let create = json!({"seats": ["me", "open"], "clock": clock});
    let (mut ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
    for (ply, m) in [(0, "a1"), (2, "a2")] {
        assert_eq!(ann.play_move(&id, ply, m).await["type"], "ok");
        bob.expect_event("moved").await;
        if ply == 0 {
            assert_eq!(bob.play_move(&id, 1, "b2").await["type"], "ok");
            ann.expect_event("moved").await;
        }
    }
    tokio::time::sleep(Duration::from_millis(2400)).await;
    let late_move = json!({"type": "move", "match": id, "ply": 3, "move": "a3"});
    assert_eq!(bob.expect_error(late_move).await, "match_ended");
    let ended = loop {
        let message = ann.next_message().await;
        if message["type"] == "ended" {
            break message;
        }
    };
    assert_eq!(ended["outcome"]["reason"], "timeout");
}
