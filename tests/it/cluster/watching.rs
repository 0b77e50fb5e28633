//! Who may watch what, and when, is the same on all servers.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Cluster, start_match_across_nodes};
use crate::support::json_string;

fn to(kind: &str, id: &str) -> Value {
    json!({"type": kind, "match": id})
}

/// The numbers of the events that are told by these messages.
fn seqs(messages: &[Value]) -> Vec<u64> {
    let told = messages.iter().filter(|told| told["type"] != "match");
    told.filter_map(|told| told["seq"].as_u64()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_match_that_nobody_may_watch_is_not_there_on_any_server() {
    let mut cluster = Cluster::default();
    let [here, there, beside] = cluster.start_nodes().await;
    let mut ann = here.server.connect_player("ann").await;
    let id = ann
        .create_match(json!({"game": "chess", "watch": "nobody"}))
        .await;
    let mut cat = there.server.connect_player("cat").await;
    let shown = cat.request(to("watch", &id)).await;
    let code = json_string(&shown["code"]);
    let mut bob = beside.server.connect_player("bob").await;
    bob.request(to("join", &code)).await;
    let told = cat.next_message().await;
    assert_eq!(told, json!({"type": "watch_over", "match": id}));
    for name in [&id, &code] {
        for kind in ["watch", "join", "resign"] {
            assert_eq!(
                cat.expect_error(to(kind, name)).await,
                "unknown_match",
                "{kind}"
            );
        }
    }
    assert_eq!(cat.drain_messages().await, Vec::<Value>::new());
    assert_eq!(bob.request(to("watch", &id)).await["status"], "running");
}

/// Spectators beside the owner and those of a copy see it so much later, and players at once.
#[tokio::test(start_paused = true)]
async fn a_delay_holds_on_all_servers() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let create = json!({"game": "chess", "delay_ms": 10_000});
    let (mut ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
    let mut dan = here.server.connect_player("dan").await;
    let mut cat = there.server.connect_player("cat").await;
    for stranger in [&mut dan, &mut cat] {
        assert_eq!(stranger.request(to("watch", &id)).await["seq"], 0);
    }
    ann.play_move(&id, 0, "e2e4").await;
    assert_eq!(bob.expect_event("moved").await["move"], "e2e4");
    bob.request(to("resign", &id)).await;
    ann.expect_event("moved").await;
    ann.expect_event("ended").await;
    sleep(Duration::from_secs(9)).await;
    for stranger in [&mut dan, &mut cat] {
        assert_eq!(seqs(&stranger.drain_messages().await), [0; 0]);
        let list = json!({"type": "list", "status": "open"});
        assert_eq!(stranger.request(list).await["total"], 1);
        let asked = json!({"type": "history", "player": ann.id()});
        assert_eq!(stranger.request(asked).await["rows"], json!([]));
        assert_eq!(stranger.expect_error(to("join", &id)).await, "seat_taken");
    }
    sleep(Duration::from_secs(3)).await;
    for stranger in [&mut dan, &mut cat] {
        assert_eq!(seqs(&stranger.drain_messages().await), [1, 2, 3, 4, 5]);
        let list = json!({"type": "list", "status": "ended"});
        assert_eq!(stranger.request(list).await["total"], 1);
        let asked = json!({"type": "history", "player": ann.id()});
        let rows = stranger.request(asked).await["rows"].clone();
        assert_eq!(rows.as_array().map(Vec::len), Some(1));
    }
}

/// Whoever takes a match over tells strangers nothing sooner, and all in the end.
#[tokio::test(start_paused = true)]
async fn a_delay_outlives_the_owner() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let create = json!({"game": "chess", "delay_ms": 600_000});
    let (mut ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
    let mut cat = there.server.connect_player("cat").await;
    assert_eq!(cat.request(to("watch", &id)).await["seq"], 0);
    ann.play_move(&id, 0, "e2e4").await;
    bob.expect_event("moved").await;
    here.server.server.stop().await;
    bob.play_move(&id, 1, "e7e5").await;
    let mut known = 0;
    for _ in 0..9 {
        sleep(Duration::from_secs(60)).await;
        for told in cat.drain_messages().await {
            known = known.max(told["seq"].as_u64().unwrap_or(0));
        }
        assert_eq!(known, 0, "nothing is ten minutes old");
    }
    sleep(Duration::from_secs(120)).await;
    for told in cat.drain_messages().await {
        known = known.max(told["seq"].as_u64().unwrap_or(0));
    }
    let shown = bob.request(to("watch", &id)).await;
    assert!(known >= 5, "{known} of {}", shown["seq"]);
}
