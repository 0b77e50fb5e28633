//! A snapshot from a replica has the same clock as a snapshot from the owner.

use std::time::Duration;

use plyhouse_matches::{Action, Match, Timestamp};
use plyhouse_protocol::{MatchId, PlayerId};
use plyhouse_store::cluster_directory::ClusterDirectory;
use plyhouse_store::{JournalStore, NodeId};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::{Cluster, start_match_across_nodes};
use crate::support::{TestPlayer, json_string};

/// Maximum time that a replica waits for the owner before it sends a snapshot without the clock.
const SNAPSHOT_WAIT_MAX: Duration = Duration::from_secs(2);

fn clock_params() -> [Value; 5] {
    [
        json!({"kind": "fischer", "main_ms": 60_000, "increment_ms": 0}),
        json!({"kind": "delay", "main_ms": 60_000, "delay_ms": 2000}),
        json!({"kind": "byo-yomi", "main_ms": 60_000, "period_ms": 10_000, "periods": 3}),
        json!({"kind": "move", "move_ms": 30_000}),
        json!({"kind": "move", "move_ms": 259_200_000}),
    ]
}

fn watch_request(id: &str) -> Value {
    json!({"type": "watch", "match": id})
}

fn parse_match_id(id: &str) -> MatchId {
    MatchId(id.parse().expect("an id"))
}

fn parse_player_id(player: &TestPlayer) -> PlayerId {
    PlayerId(json_string(player.id()).parse().expect("an id"))
}

/// Asserts that two snapshots have the same clock, to within 100 ms.
fn assert_same_clock(replica_snapshot: &Value, owner_snapshot: &Value, label: &Value) {
    assert_eq!(
        replica_snapshot["stands"], owner_snapshot["stands"],
        "{label}: {replica_snapshot}"
    );
    assert!(
        replica_snapshot["stands"].is_boolean(),
        "{label}: {replica_snapshot}"
    );
    for field in ["turn_ms", "first_move_ms"] {
        let [copy_ms, owner_ms] =
            [replica_snapshot, owner_snapshot].map(|snapshot| snapshot[field].as_u64());
        assert_eq!(
            copy_ms.is_some(),
            owner_ms.is_some(),
            "{label}: {replica_snapshot}"
        );
        let difference_ms = copy_ms.unwrap_or(0).abs_diff(owner_ms.unwrap_or(0));
        assert!(
            difference_ms < 100,
            "{label}: {field} of {replica_snapshot} and {owner_snapshot}"
        );
    }
    assert!(
        replica_snapshot["turn_ms"].is_u64(),
        "{label}: {replica_snapshot}"
    );
}

#[tokio::test(start_paused = true)]
async fn watch_on_node_without_replica_returns_clock() {
    for clock in clock_params() {
        for plies in [0, 1, 3] {
            let mut cluster = Cluster::default();
            let [here, there, third] = cluster.start_nodes().await;
            let create = json!({"seats": ["me", "open"], "clock": clock});
            let (mut ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
            for (ply, m) in ["a1", "b2", "a2"].into_iter().take(plies).enumerate() {
                let (mover, other) = match ply % 2 {
                    0 => (&mut ann, &mut bob),
                    _ => (&mut bob, &mut ann),
                };
                assert_eq!(mover.play_move(&id, ply as u64, m).await["type"], "ok");
                other.expect_event("moved").await;
            }
            sleep(Duration::from_secs(3)).await;
            let mut cat = third.server.connect_player("cat").await;
            let mut dan = here.server.connect_player("dan").await;
            let snapshot = cat.request(watch_request(&id)).await;
            let owner_snapshot = dan.request(watch_request(&id)).await;
            assert_same_clock(&snapshot, &owner_snapshot, &json!([clock, plies]));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn seek_paired_across_nodes_sends_clock_to_both_players() {
    for clock in &clock_params()[..3] {
        let mut cluster = Cluster::default();
        let [here, there] = cluster.start_nodes().await;
        let mut ann = here.server.connect_player("ann").await;
        let mut bob = there.server.connect_player("bob").await;
        let seek = json!({"type": "seek", "game": "chess", "clock": clock});
        assert_eq!(ann.request(seek.clone()).await["type"], "ok");
        assert_eq!(bob.request(seek).await["type"], "ok");
        let (first, second) = (
            ann.expect_event("match").await,
            bob.expect_event("match").await,
        );
        assert_eq!(first["match"], second["match"]);
        assert_same_clock(&first, &second, clock);
        assert!(first["first_move_ms"].is_u64(), "{first}");
        for snapshot in [first, second] {
            let seat = usize::try_from(snapshot["you"].as_u64().expect("a seat")).expect("0 or 1");
            assert_eq!(snapshot["seats"][seat]["connected"], true, "{snapshot}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn hello_on_node_without_replica_returns_clock() {
    for clock in clock_params().into_iter().take(4) {
        let mut cluster = Cluster::default();
        let [here, there, third] = cluster.start_nodes().await;
        let create = json!({"seats": ["me", "open"], "clock": clock});
        let (_ann, bob, id) = start_match_across_nodes(&here, &there, create).await;
        let (mut resumed, _) = third.server.resume_session(&bob.token()).await;
        let snapshot = resumed.expect_event("match").await;
        let mut dan = here.server.connect_player("dan").await;
        let owner_snapshot = dan.request(watch_request(&id)).await;
        assert_same_clock(&snapshot, &owner_snapshot, &clock);
    }
}

/// Another server takes over the match while its owner is still running. The former owner becomes a
/// replica and sends its followers a new snapshot.
#[tokio::test(start_paused = true)]
async fn former_owner_sends_snapshot_with_clock_of_new_owner() {
    for clock in clock_params().into_iter().take(4) {
        let mut cluster = Cluster::default();
        let [here, there, third] = cluster.start_nodes().await;
        let create = json!({"seats": ["me", "open"], "clock": clock});
        let (mut ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
        let mut cat = third.server.connect_player("cat").await;
        cat.request(watch_request(&id)).await;
        for (ply, m) in [(0, "a1"), (1, "b2"), (2, "a2")] {
            let mover = if ply == 1 { &mut bob } else { &mut ann };
            assert_eq!(mover.play_move(&id, ply, m).await["type"], "ok");
        }
        sleep(Duration::from_millis(1500)).await;
        for player in [&mut ann, &mut bob, &mut cat] {
            player.drain_messages().await;
        }
        let [owner, taker] = [1, 2].map(|number| NodeId(Uuid::from_u128(number)));
        let takeover = cluster
            .store
            .take_over(parse_match_id(&id), taker, Some(owner));
        assert!(takeover.await.expect("the write succeeds"));
        assert_eq!(bob.play_move(&id, 3, "a3").await["type"], "ok");
        for player in [&mut ann, &mut cat] {
            let snapshot = loop {
                let message = player.next_message().await;
                if message["type"] == "match" {
                    break message;
                }
            };
            assert_eq!(snapshot["epoch"], 1, "{snapshot}");
            assert!(snapshot["turn_ms"].is_u64(), "{snapshot}");
            assert!(snapshot["stands"].is_boolean(), "{snapshot}");
        }
    }
}

/// The owner has a valid lease but does not reply. The replica stops waiting and sends the snapshot
/// without the clock.
#[tokio::test(start_paused = true)]
async fn snapshot_is_sent_without_clock_when_owner_does_not_reply() {
    for clock in clock_params().into_iter().take(3) {
        let mut cluster = Cluster::default();
        let [here, there] = cluster.start_nodes().await;
        let silent_node = NodeId(Uuid::from_u128(99));
        let (_bus, _receiver) = cluster.hub.join(silent_node.0);
        let create = json!({"seats": ["me", "open"], "clock": clock});
        let (_ann, _bob, id) = start_match_across_nodes(&here, &here, create).await;
        cluster
            .store
            .renew_lease(silent_node)
            .await
            .expect("the write succeeds");
        let owner = NodeId(Uuid::from_u128(1));
        let takeover = cluster
            .store
            .take_over(parse_match_id(&id), silent_node, Some(owner));
        assert!(takeover.await.expect("the write succeeds"));
        let mut cat = there.server.connect_player("cat").await;
        let start = Instant::now();
        let snapshot = cat.request(watch_request(&id)).await;
        assert_eq!(snapshot["status"], "running", "{snapshot}");
        assert_eq!(snapshot["turn_ms"], Value::Null, "{snapshot}");
        let elapsed = start.elapsed();
        assert!(
            elapsed <= SNAPSHOT_WAIT_MAX + Duration::from_millis(100),
            "{elapsed:?}"
        );
    }
}

/// Simulates an owner that stops before it broadcasts the end of a match. The replicas must read
/// the final event of the match from the store.
#[tokio::test(start_paused = true)]
async fn snapshot_of_ended_match_has_no_turn_time() {
    for clock in clock_params() {
        let mut cluster = Cluster::default();
        let [here, there, third] = cluster.start_nodes().await;
        let create = json!({"seats": ["me", "open"], "clock": clock});
        let (ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
        let mut cat = third.server.connect_player("cat").await;
        cat.request(watch_request(&id)).await;
        let loaded = cluster.store.load(parse_match_id(&id)).await;
        let loaded = loaded.expect("readable").expect("the match is stored");
        let record = loaded.record;
        let state = Match::replay(record.creation, &record.events).expect("valid events");
        let player = parse_player_id(&ann);
        let ended = state.apply(&Action::Resign { player }, Timestamp::uncharged(1));
        let ended = ended.expect("the resignation is allowed");
        let stored = cluster.store.append(state.id(), loaded.position, ended);
        stored.await.expect("the write succeeds");
        here.server.server.stop().await;
        for player in [&mut bob, &mut cat] {
            loop {
                let message = player.next_message().await;
                if message["type"] == "ended" {
                    break;
                }
            }
            let snapshot = player.request(watch_request(&id)).await;
            assert_eq!(snapshot["status"], "ended", "{snapshot}");
            for field in ["turn_ms", "stands", "first_move_ms"] {
                assert_eq!(snapshot.get(field), None, "{clock}: {snapshot}");
            }
        }
    }
}
