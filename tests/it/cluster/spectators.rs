//! The rules for spectators and the spectator delay apply on all servers.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Cluster, start_match_across_nodes};
use crate::support::json_string;

fn match_request(kind: &str, id: &str) -> Value {
    json!({"type": kind, "match": id})
}

/// Returns the sequence numbers of the events in these messages.
fn event_seqs(messages: &[Value]) -> Vec<u64> {
    let events = messages.iter().filter(|message| message["type"] != "match");
    events.filter_map(|event| event["seq"].as_u64()).collect()
}

#[tokio::test(start_paused = true)]
async fn hidden_match_is_unknown_to_spectators_on_all_nodes() {
    let mut cluster = Cluster::default();
    let [here, there, third] = cluster.start_nodes().await;
    let mut ann = here.server.connect_player("ann").await;
    let id = ann
        .create_match(json!({"game": "chess", "watch": "nobody"}))
        .await;
    let mut cat = there.server.connect_player("cat").await;
    let snapshot = cat.request(match_request("watch", &id)).await;
    let code = json_string(&snapshot["code"]);
    let mut bob = third.server.connect_player("bob").await;
    bob.request(match_request("join", &code)).await;
    let message = cat.next_message().await;
    assert_eq!(message, json!({"type": "watch_over", "match": id}));
    for id_or_code in [&id, &code] {
        for kind in ["watch", "join", "resign"] {
            assert_eq!(
                cat.expect_error(match_request(kind, id_or_code)).await,
                "unknown_match",
                "{kind}"
            );
        }
    }
    assert_eq!(cat.drain_messages().await, Vec::<Value>::new());
    assert_eq!(
        bob.request(match_request("watch", &id)).await["status"],
        "running"
    );
}

/// Spectators receive the events after the delay, and the players receive them immediately.
#[tokio::test(start_paused = true)]
async fn spectator_delay_applies_on_all_nodes() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let create = json!({"game": "chess", "delay_ms": 10_000});
    let (mut ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
    let mut dan = here.server.connect_player("dan").await;
    let mut cat = there.server.connect_player("cat").await;
    for spectator in [&mut dan, &mut cat] {
        assert_eq!(
            spectator.request(match_request("watch", &id)).await["seq"],
            0
        );
    }
    ann.play_move(&id, 0, "e2e4").await;
    assert_eq!(bob.expect_event("moved").await["move"], "e2e4");
    bob.request(match_request("resign", &id)).await;
    ann.expect_event("moved").await;
    ann.expect_event("ended").await;
    sleep(Duration::from_secs(9)).await;
    for spectator in [&mut dan, &mut cat] {
        assert_eq!(event_seqs(&spectator.drain_messages().await), [0; 0]);
        let list = json!({"type": "list", "status": "open"});
        assert_eq!(spectator.request(list).await["total"], 1);
        let history_request = json!({"type": "history", "player": ann.id()});
        assert_eq!(spectator.request(history_request).await["rows"], json!([]));
        assert_eq!(
            spectator.expect_error(match_request("join", &id)).await,
            "seat_taken"
        );
    }
    sleep(Duration::from_secs(3)).await;
    for spectator in [&mut dan, &mut cat] {
        assert_eq!(
            event_seqs(&spectator.drain_messages().await),
            [1, 2, 3, 4, 5]
        );
        let list = json!({"type": "list", "status": "ended"});
        assert_eq!(spectator.request(list).await["total"], 1);
        let history_request = json!({"type": "history", "player": ann.id()});
        let rows = spectator.request(history_request).await["rows"].clone();
        assert_eq!(rows.as_array().map(Vec::len), Some(1));
    }
}

/// After a takeover, the new owner holds back each event until the spectator delay has passed. Then
/// it sends the event.
#[tokio::test(start_paused = true)]
async fn spectator_delay_survives_takeover() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let create = json!({"game": "chess", "delay_ms": 600_000});
    let (mut ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
    let mut cat = there.server.connect_player("cat").await;
    assert_eq!(cat.request(match_request("watch", &id)).await["seq"], 0);
    ann.play_move(&id, 0, "e2e4").await;
    bob.expect_event("moved").await;
    here.server.server.stop().await;
    bob.play_move(&id, 1, "e7e5").await;
    let mut last_seq = 0;
    for _ in 0..9 {
        sleep(Duration::from_secs(60)).await;
        for message in cat.drain_messages().await {
            last_seq = last_seq.max(message["seq"].as_u64().unwrap_or(0));
        }
        assert_eq!(last_seq, 0, "no event is older than the delay");
    }
    sleep(Duration::from_secs(120)).await;
    for message in cat.drain_messages().await {
        last_seq = last_seq.max(message["seq"].as_u64().unwrap_or(0));
    }
    let snapshot = bob.request(match_request("watch", &id)).await;
    assert!(last_seq >= 5, "{last_seq} of {}", snapshot["seq"]);
}
