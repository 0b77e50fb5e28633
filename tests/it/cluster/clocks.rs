//! A snapshot from a copy has the same clock as one from the owner.

use std::time::Duration;

use plyhouse_matches::{Action, Match, Timestamp};
use plyhouse_protocol::{MatchId, PlayerId};
use plyhouse_store::cluster_directory::ClusterDirectory;
use plyhouse_store::{NodeId, Store};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::{Cluster, start_match_across_nodes};
use crate::support::{TestPlayer, json_string};

/// Longest that a copy waits for the owner before it sends a snapshot without the clock.
const WAIT_MAX: Duration = Duration::from_secs(2);

fn clocks() -> [Value; 5] {
    [
        json!({"kind": "fischer", "main_ms": 60_000, "increment_ms": 0}),
        json!({"kind": "delay", "main_ms": 60_000, "delay_ms": 2000}),
        json!({"kind": "byo-yomi", "main_ms": 60_000, "period_ms": 10_000, "periods": 3}),
        json!({"kind": "move", "move_ms": 30_000}),
        json!({"kind": "move", "move_ms": 259_200_000}),
    ]
}

fn watch(id: &str) -> Value {
    json!({"type": "watch", "match": id})
}

fn parse_match_id(id: &str) -> MatchId {
    MatchId(id.parse().expect("it is an id"))
}

fn parse_player_id(player: &TestPlayer) -> PlayerId {
    PlayerId(json_string(player.id()).parse().expect("it is an id"))
}

/// Asserts that two snapshots have the same clock, except for 100 ms.
fn assert_same_clock(copy: &Value, owner: &Value, what: &Value) {
    assert_eq!(copy["stands"], owner["stands"], "{what}: {copy}");
    assert!(copy["stands"].is_boolean(), "{what}: {copy}");
    for field in ["turn_ms", "first_move_ms"] {
        let [copy_ms, owner_ms] = [copy, owner].map(|shown| shown[field].as_u64());
        assert_eq!(copy_ms.is_some(), owner_ms.is_some(), "{what}: {copy}");
        let apart = copy_ms.unwrap_or(0).abs_diff(owner_ms.unwrap_or(0));
        assert!(apart < 100, "{what}: {field} of {copy} and {owner}");
    }
    assert!(copy["turn_ms"].is_u64(), "{what}: {copy}");
}

#[tokio::test(start_paused = true)]
async fn watch_on_a_server_without_a_copy_shows_the_clock() {
    for clock in clocks() {
        for plies in [0, 1, 3] {
            let mut cluster = Cluster::default();
            let [here, there, beside] = cluster.start_nodes().await;
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
            let mut cat = beside.server.connect_player("cat").await;
            let mut dan = here.server.connect_player("dan").await;
            let shown = cat.request(watch(&id)).await;
            let owner = dan.request(watch(&id)).await;
            assert_same_clock(&shown, &owner, &json!([clock, plies]));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn both_players_of_a_seek_across_servers_see_the_clock() {
    for clock in &clocks()[..3] {
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
        for shown in [first, second] {
            let you = usize::try_from(shown["you"].as_u64().expect("a seat")).expect("0 or 1");
            assert_eq!(shown["seats"][you]["connected"], true, "{shown}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn hello_on_a_server_without_a_copy_shows_the_clock() {
    for clock in clocks().into_iter().take(4) {
        let mut cluster = Cluster::default();
        let [here, there, beside] = cluster.start_nodes().await;
        let create = json!({"seats": ["me", "open"], "clock": clock});
        let (_ann, bob, id) = start_match_across_nodes(&here, &there, create).await;
        let (mut again, _) = beside.server.resume_session(&bob.token()).await;
        let shown = again.expect_event("match").await;
        let mut dan = here.server.connect_player("dan").await;
        let owner = dan.request(watch(&id)).await;
        assert_same_clock(&shown, &owner, &clock);
    }
}

/// The match is taken from a server that is alive: it sends its followers a new snapshot as a copy.
#[tokio::test(start_paused = true)]
async fn snapshot_of_a_former_owner_shows_the_clock_of_the_new_owner() {
    for clock in clocks().into_iter().take(4) {
        let mut cluster = Cluster::default();
        let [here, there, beside] = cluster.start_nodes().await;
        let create = json!({"seats": ["me", "open"], "clock": clock});
        let (mut ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
        let mut cat = beside.server.connect_player("cat").await;
        cat.request(watch(&id)).await;
        for (ply, m) in [(0, "a1"), (1, "b2"), (2, "a2")] {
            let mover = if ply == 1 { &mut bob } else { &mut ann };
            assert_eq!(mover.play_move(&id, ply, m).await["type"], "ok");
        }
        sleep(Duration::from_millis(1500)).await;
        for player in [&mut ann, &mut bob, &mut cat] {
            player.drain_messages().await;
        }
        let [owner, taker] = [1, 2].map(|number| NodeId(Uuid::from_u128(number)));
        let taken = cluster
            .store
            .take_over(parse_match_id(&id), taker, Some(owner));
        assert!(taken.await.expect("it is written"));
        assert_eq!(bob.play_move(&id, 3, "a3").await["type"], "ok");
        for player in [&mut ann, &mut cat] {
            let shown = loop {
                let told = player.next_message().await;
                if told["type"] == "match" {
                    break told;
                }
            };
            assert_eq!(shown["epoch"], 1, "{shown}");
            assert!(shown["turn_ms"].is_u64(), "{shown}");
            assert!(shown["stands"].is_boolean(), "{shown}");
        }
    }
}

/// An owner whose lease holds does not answer: the wait has an end, and the snapshot comes without the clock.
#[tokio::test(start_paused = true)]
async fn wait_for_a_silent_owner_ends() {
    for clock in clocks().into_iter().take(3) {
        let mut cluster = Cluster::default();
        let [here, there] = cluster.start_nodes().await;
        let silent = NodeId(Uuid::from_u128(99));
        let (_bus, _unheard) = cluster.hub.join(silent.0);
        let create = json!({"seats": ["me", "open"], "clock": clock});
        let (_ann, _bob, id) = start_match_across_nodes(&here, &here, create).await;
        cluster
            .store
            .renew_lease(silent)
            .await
            .expect("it is written");
        let owner = NodeId(Uuid::from_u128(1));
        let taken = cluster
            .store
            .take_over(parse_match_id(&id), silent, Some(owner));
        assert!(taken.await.expect("it is written"));
        let mut cat = there.server.connect_player("cat").await;
        let began = Instant::now();
        let shown = cat.request(watch(&id)).await;
        assert_eq!(shown["status"], "running", "{shown}");
        assert_eq!(shown["turn_ms"], Value::Null, "{shown}");
        let waited = began.elapsed();
        assert!(
            waited <= WAIT_MAX + Duration::from_millis(100),
            "{waited:?}"
        );
    }
}

/// The copies read the end in the store, since the owner stopped before it sent the end.
#[tokio::test(start_paused = true)]
async fn snapshot_of_an_ended_match_has_no_turn() {
    for clock in clocks() {
        let mut cluster = Cluster::default();
        let [here, there, beside] = cluster.start_nodes().await;
        let create = json!({"seats": ["me", "open"], "clock": clock});
        let (ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
        let mut cat = beside.server.connect_player("cat").await;
        cat.request(watch(&id)).await;
        let loaded = cluster.store.load(parse_match_id(&id)).await;
        let loaded = loaded.expect("it can be read").expect("it is kept");
        let record = loaded.record;
        let state = Match::replay(record.creation, &record.events).expect("it makes sense");
        let player = parse_player_id(&ann);
        let ended = state.apply(&Action::Resign { player }, Timestamp::uncharged(1));
        let ended = ended.expect("she may resign");
        let stored = cluster.store.append(state.id(), loaded.position, ended);
        stored.await.expect("it is written");
        here.server.server.stop().await;
        for player in [&mut bob, &mut cat] {
            loop {
                let told = player.next_message().await;
                if told["type"] == "ended" {
                    break;
                }
            }
            let shown = player.request(watch(&id)).await;
            assert_eq!(shown["status"], "ended", "{shown}");
            for field in ["turn_ms", "stands", "first_move_ms"] {
                assert_eq!(shown.get(field), None, "{clock}: {shown}");
            }
        }
    }
}
