//! `presence` on copies: its fields agree with each other, and the time left is counted from when it is sent.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Cluster, start_match_across_nodes};
use crate::presence::assert_presence_consistent;

/// Asserts that the player in seat 1 is gone and may be so for this long, except for 1.5 s.
fn assert_gone(presence: &Value, left_ms: u64) {
    assert_eq!(presence["seats"], json!([true, false]), "{presence}");
    assert_eq!(presence["gone_ms"][0], Value::Null, "{presence}");
    let told_ms = presence["gone_ms"][1].as_u64().expect("he is gone");
    assert!(told_ms.abs_diff(left_ms) < 1500, "{left_ms}: {presence}");
}

#[tokio::test(start_paused = true)]
async fn gone_ms_on_a_copy_counts_down() {
    let mut cluster = Cluster::default();
    let [here, there, beside] = cluster.start_nodes().await;
    let create = json!({"seats": ["me", "open"], "patience_ms": 60_000});
    let (mut ann, bob, id) = start_match_across_nodes(&here, &there, create).await;
    let watch = json!({"type": "watch", "match": id});
    let mut cat = beside.server.connect_player("cat").await;
    cat.request(watch.clone()).await;
    ann.wait_for_presence(json!([true, true]), 1).await;
    drop(bob);
    ann.wait_for_presence(json!([true, false]), 1).await;
    let (mut gone_s, mut watchers) = (0, Vec::new());
    for (name, wait_s) in [("dan", 7), ("eve", 13), ("flo", 20)] {
        cat.drain_messages().await;
        sleep(Duration::from_secs(wait_s)).await;
        gone_s += wait_s;
        let mut late = beside.server.connect_player(name).await;
        late.request(watch.clone()).await;
        assert_gone(&late.expect_event("presence").await, 60_000 - gone_s * 1000);
        assert_gone(&cat.expect_event("presence").await, 60_000 - gone_s * 1000);
        watchers.push(late);
    }
}

/// Spectators who see the match later get the time left as it was then.
#[tokio::test(start_paused = true)]
async fn gone_ms_of_a_delayed_match_counts_down() {
    let mut cluster = Cluster::default();
    let [here, there, beside] = cluster.start_nodes().await;
    let create = json!({"game": "chess", "patience_ms": 60_000, "delay_ms": 10_000});
    let (_ann, bob, id) = start_match_across_nodes(&here, &there, create).await;
    sleep(Duration::from_secs(15)).await;
    drop(bob);
    let watch = json!({"type": "watch", "match": id});
    for (name, node, wait_s, gone_s) in [("dan", &here, 15, 5), ("eve", &beside, 15, 20)] {
        sleep(Duration::from_secs(wait_s)).await;
        let mut late = node.server.connect_player(name).await;
        late.request(watch.clone()).await;
        if name == "dan" {
            assert_gone(&late.expect_event("presence").await, 60_000 - gone_s * 1000);
        } else {
            for told in late.drain_messages().await {
                assert_presence_consistent(&told);
            }
        }
    }
}

/// A player changes servers again and again: each message agrees with itself, and the last one is right.
#[tokio::test(start_paused = true)]
async fn presence_agrees_with_itself_on_every_server() {
    let mut cluster = Cluster::default();
    let nodes: [_; 3] = cluster.start_nodes().await;
    let create = json!({"seats": ["me", "open"], "patience_ms": 60_000});
    let (mut ann, mut bob, id) = start_match_across_nodes(&nodes[0], &nodes[1], create).await;
    let mut cat = nodes[2].server.connect_player("cat").await;
    cat.request(json!({"type": "watch", "match": id})).await;
    for round in 0..12 {
        let token = bob.token();
        if round % 3 != 0 {
            drop(bob);
            sleep(Duration::from_millis(240 + 20 * round)).await;
        }
        let node = &nodes[usize::try_from(round).expect("few") % 3];
        bob = node.server.resume_session(&token).await.0;
        sleep(Duration::from_millis(100 * (round % 4))).await;
    }
    sleep(Duration::from_secs(2)).await;
    for player in [&mut ann, &mut cat] {
        let told = player.drain_messages().await;
        let presence: Vec<&Value> = told
            .iter()
            .filter(|told| told["type"] == "presence")
            .collect();
        presence
            .iter()
            .for_each(|told| assert_presence_consistent(told));
        let last = presence.last().expect("he has come and gone");
        assert_eq!(last["seats"], json!([true, true]), "{last}");
        assert_eq!(last["gone_ms"], json!([null, null]), "{last}");
    }
}
