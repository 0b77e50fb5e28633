//! Tests of the `presence` messages that replicas send. The fields of each message must be
//! consistent with each other. The remaining time of an absent player must be correct at the time
//! of sending.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Cluster, start_match_across_nodes};
use crate::presence::assert_presence_consistent;

/// Asserts that the player in seat 1 is absent. The player's remaining time to return must differ
/// from `expected_ms` by less than 1.5 s.
fn assert_absent(presence: &Value, expected_ms: u64) {
    assert_eq!(presence["seats"], json!([true, false]), "{presence}");
    assert_eq!(presence["gone_ms"][0], Value::Null, "{presence}");
    let absent_ms = presence["gone_ms"][1].as_u64().expect("an absence time");
    assert!(
        absent_ms.abs_diff(expected_ms) < 1500,
        "{expected_ms}: {presence}"
    );
}

#[tokio::test(start_paused = true)]
async fn gone_ms_on_replica_counts_down() {
    let mut cluster = Cluster::default();
    let [here, there, third] = cluster.start_nodes().await;
    let create = json!({"seats": ["me", "open"], "patience_ms": 60_000});
    let (mut ann, bob, id) = start_match_across_nodes(&here, &there, create).await;
    let watch = json!({"type": "watch", "match": id});
    let mut cat = third.server.connect_player("cat").await;
    cat.request(watch.clone()).await;
    ann.wait_for_presence(json!([true, true]), 1).await;
    drop(bob);
    ann.wait_for_presence(json!([true, false]), 1).await;
    let (mut absent_s, mut spectators) = (0, Vec::new());
    for (name, wait_s) in [("dan", 7), ("eve", 13), ("flo", 20)] {
        cat.drain_messages().await;
        sleep(Duration::from_secs(wait_s)).await;
        absent_s += wait_s;
        let mut spectator = third.server.connect_player(name).await;
        spectator.request(watch.clone()).await;
        assert_absent(
            &spectator.expect_event("presence").await,
            60_000 - absent_s * 1000,
        );
        assert_absent(
            &cat.expect_event("presence").await,
            60_000 - absent_s * 1000,
        );
        spectators.push(spectator);
    }
}

/// Spectators who follow a match with a delay see an absent player's remaining time with the same
/// delay.
#[tokio::test(start_paused = true)]
async fn gone_ms_of_delayed_match_counts_down() {
    let mut cluster = Cluster::default();
    let [here, there, third] = cluster.start_nodes().await;
    let create = json!({"game": "chess", "patience_ms": 60_000, "delay_ms": 10_000});
    let (_ann, bob, id) = start_match_across_nodes(&here, &there, create).await;
    sleep(Duration::from_secs(15)).await;
    drop(bob);
    let watch = json!({"type": "watch", "match": id});
    for (name, node, wait_s, absent_s) in [("dan", &here, 15, 5), ("eve", &third, 15, 20)] {
        sleep(Duration::from_secs(wait_s)).await;
        let mut spectator = node.server.connect_player(name).await;
        spectator.request(watch.clone()).await;
        if name == "dan" {
            assert_absent(
                &spectator.expect_event("presence").await,
                60_000 - absent_s * 1000,
            );
        } else {
            for message in spectator.drain_messages().await {
                assert_presence_consistent(&message);
            }
        }
    }
}

/// A player switches servers repeatedly. Each `presence` message is consistent, and the last one
/// shows that both players are present.
#[tokio::test(start_paused = true)]
async fn presence_is_consistent_while_player_switches_nodes() {
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
        let node = &nodes[usize::try_from(round).expect("fits in usize") % 3];
        bob = node.server.resume_session(&token).await.0;
        sleep(Duration::from_millis(100 * (round % 4))).await;
    }
    sleep(Duration::from_secs(2)).await;
    for player in [&mut ann, &mut cat] {
        let messages = player.drain_messages().await;
        let presence: Vec<&Value> = messages
            .iter()
            .filter(|message| message["type"] == "presence")
            .collect();
        presence
            .iter()
            .for_each(|message| assert_presence_consistent(message));
        let last = presence.last().expect("at least one presence message");
        assert_eq!(last["seats"], json!([true, true]), "{last}");
        assert_eq!(last["gone_ms"], json!([null, null]), "{last}");
    }
}
