//! State that all servers share: sessions, seeks and lists.

use std::time::Duration;

use plyhouse_protocol::{MatchId, PlayerId};
use plyhouse_server::{SearchMode, Settings};
use plyhouse_store::cluster_directory::ClusterDirectory;
use plyhouse_store::{JournalStore, MatchRecord, NodeId};
use serde_json::json;
use uuid::Uuid;

use super::{Cluster, start_match_across_nodes};
use crate::support::{TestPlayer, json_string, settings_without_limits, settings_without_pings};

#[tokio::test(start_paused = true)]
async fn login_on_second_node_closes_first_connection() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let mut ann = here.server.connect_player("ann").await;
    let (mut resumed, welcome) = there.server.resume_session(&ann.token()).await;
    assert_eq!(welcome["resumed"], true);
    assert_eq!(ann.wait_for_close().await, 4001);
    assert_eq!(
        resumed.request(json!({"type": "ping"})).await["type"],
        "pong"
    );
}

/// A withdrawn seek must not be paired with another seek.
#[tokio::test(start_paused = true)]
async fn seeks_are_paired_across_nodes() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let seek = json!({"type": "seek", "game": "chess"});
    let mut withdrawn = here.server.connect_player("gone").await;
    assert_eq!(withdrawn.request(seek.clone()).await["type"], "ok");
    assert_eq!(
        withdrawn.request(json!({"type": "unseek"})).await["type"],
        "ok"
    );
    let mut ann = here.server.connect_player("ann").await;
    assert_eq!(ann.request(seek.clone()).await["type"], "ok");
    let mut bob = there.server.connect_player("bob").await;
    assert_eq!(bob.request(seek).await["type"], "ok");
    let snapshot = bob.expect_event("match").await;
    assert_eq!(ann.expect_event("match").await["match"], snapshot["match"]);
    assert_eq!(snapshot["status"], "running");
    assert_eq!(
        withdrawn.drain_messages().await,
        Vec::<serde_json::Value>::new()
    );
}

#[tokio::test(start_paused = true)]
async fn concurrent_seeks_on_two_nodes_are_each_paired_once() {
    let mut cluster = Cluster::default();
    let nodes: [_; 2] = cluster.start_nodes().await;
    let mut players: Vec<TestPlayer> = Vec::new();
    for n in 0..500 {
        let mut player = nodes[n % 2].server.connect_player(&format!("p{n}")).await;
        let seek = json!({"type": "seek", "game": "othello"});
        player.send_text(&seek.to_string()).await;
        players.push(player);
    }
    let mut seats = std::collections::BTreeMap::new();
    for player in &mut players {
        let snapshot = player.expect_event("match").await;
        *seats.entry(snapshot["match"].to_string()).or_insert(0) += 1;
    }
    assert_eq!(seats.len(), 250);
    assert!(seats.values().all(|count| *count == 2), "{seats:?}");
}

/// The filters of a seek list also apply to seeks on other servers.
#[tokio::test(start_paused = true)]
async fn seek_list_includes_seeks_from_all_nodes() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let mut cat = there.server.connect_player("cat").await;
    let watch = json!({"type": "watch_list", "game": "chess", "seekers": true});
    assert_eq!(cat.request(watch).await["type"], "ok");
    assert_eq!(cat.expect_event("seekers").await["total"], 0);
    let mut ann = here.server.connect_player("ann").await;
    let clock = json!({"kind": "fischer", "main_ms": 60_000, "increment_ms": 0});
    let seek = json!({"type": "seek", "game": "chess", "clock": clock});
    assert_eq!(ann.request(seek.clone()).await["type"], "ok");
    let mut dan = here.server.connect_player("dan").await;
    assert_eq!(
        dan.request(json!({"type": "seek", "game": "go"})).await["type"],
        "ok"
    );
    let seek_list = cat.expect_event("seekers").await;
    let row = json!({"player": {"id": ann.id(), "name": "ann"}, "game": "chess", "clock": clock, "rated": false});
    assert_eq!(
        seek_list,
        json!({"type": "seekers", "total": 1, "rows": [row]})
    );
    for (node, total) in [(&here, 1), (&there, 2)] {
        // The player `dan` requests the seek list of the first server. The list does not include
        // his own seek, so its total is 1.
        let list = json!({"type": "list", "seekers": true});
        let mut eve = node.server.connect_player("eve").await;
        let player = if total == 1 { &mut dan } else { &mut eve };
        let listed = player.request(list).await;
        assert_eq!(listed["seekers"]["total"], total, "{listed}");
    }
    // Ann blocks Cat on the first server, and the block takes effect on Cat's server.
    let block = json!({"type": "block", "player": cat.id()});
    assert_eq!(ann.request(block).await["type"], "blocked");
    assert_eq!(cat.expect_event("seekers").await["total"], 0);
    let unblock = json!({"type": "block", "player": cat.id(), "on": false});
    assert_eq!(ann.request(unblock).await["type"], "blocked");
    assert_eq!(cat.expect_event("seekers").await["total"], 1);
    // A seek with the same parameters on the other server is paired with the listed seek.
    let mut bob = there.server.connect_player("bob").await;
    assert_eq!(bob.request(seek).await["type"], "ok");
    ann.expect_event("match").await;
    assert_eq!(cat.expect_event("seekers").await["total"], 0);
}

/// Subscribers of the match list receive the changes of all servers.
#[tokio::test(start_paused = true)]
async fn match_list_includes_matches_from_all_nodes() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let mut cat = there.server.connect_player("cat").await;
    let watch = json!({"type": "watch_list", "status": "running"});
    assert_eq!(cat.request(watch).await["type"], "ok");
    let (_ann, _bob, id) =
        start_match_across_nodes(&here, &there, json!({"seats": ["me", "open"]})).await;
    loop {
        let changed = cat.expect_event("list_changed").await;
        let changed = changed["changed"].as_array().unwrap();
        if changed.iter().any(|row| row["match"] == json!(id)) {
            break;
        }
    }
    for node in [&here, &there] {
        let mut dan = node.server.connect_player("dan").await;
        let list = dan
            .request(json!({"type": "list", "status": "running"}))
            .await;
        assert_eq!(list["total"], 1, "{list}");
        assert_eq!(list["matches"][0]["match"], json!(id));
    }
}

#[tokio::test(start_paused = true)]
async fn rows_of_remote_matches_include_from_position() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob) = (
        here.server.connect_player("ann").await,
        there.server.connect_player("bob").await,
    );
    let watch = json!({"type": "watch_list", "status": "open"});
    assert_eq!(bob.request(watch).await["type"], "ok");
    let create = json!({"game": "tic-tac-toe", "position": "x.o/.../..x"});
    let id = ann.create_match(create.clone()).await;
    loop {
        let changed = bob.expect_event("list_changed").await["changed"].clone();
        if changed[0]["match"] == json!(id) {
            assert_eq!(changed[0]["from_position"], true, "{changed}");
            break;
        }
    }
    let list = bob.request(json!({"type": "list", "status": "open"})).await;
    assert_eq!(list["matches"][0]["from_position"], true, "{list}");
    let mut challenge = create;
    challenge["for"] = bob.id().clone();
    ann.create_match(challenge).await;
    assert_eq!(bob.expect_event("challenge").await["from_position"], true);
    bob.request(json!({"type": "join", "match": id})).await;
    bob.request(json!({"type": "resign", "match": id})).await;
    let history = ann.request(json!({"type": "history"})).await;
    assert_eq!(history["rows"][0]["from_position"], true, "{history}");
}

#[tokio::test(start_paused = true)]
async fn challenge_reaches_player_on_other_node() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let mut ann = here.server.connect_player("ann").await;
    let mut bob = there.server.connect_player("bob").await;
    let id = ann
        .create_match(json!({"seats": ["me", "open"], "for": bob.id().clone()}))
        .await;
    assert_eq!(bob.expect_event("challenge").await["match"], json!(id));
    let joined = bob.request(json!({"type": "join", "match": id})).await;
    assert_eq!(joined["status"], "running", "{joined}");
    ann.expect_event("seated").await;
    ann.expect_event("started").await;
}

#[tokio::test(start_paused = true)]
async fn host_match_limit_applies_across_nodes() {
    let mut cluster = Cluster::default();
    let settings = Settings {
        live_matches_per_player: 2,
        ..settings_without_pings()
    };
    let here = cluster.start_node_with(settings.clone()).await;
    let there = cluster.start_node_with(settings).await;
    let mut ann = here.server.connect_player("ann").await;
    ann.create_match(json!({"seats": ["me", "open"]})).await;
    // Writes a second match of the same host directly to the store. This simulates a server that
    // stores the second match before it learns of the first one.
    let mut remote_record = load_hosted_record(&cluster, &ann).await;
    remote_record.creation.id = MatchId(Uuid::from_u128(1));
    remote_record.creation.code = "AAAAAA".parse().expect("a match code");
    let owner = NodeId(Uuid::from_u128(2));
    let created = cluster.store.create(owner, remote_record).await;
    created.expect("the write succeeds");
    let error_code = ann
        .expect_error(json!({"type": "create", "game": "chess"}))
        .await;
    assert_eq!(error_code, "too_many_matches");
    drop(there);
}

async fn load_hosted_record(cluster: &Cluster, host: &TestPlayer) -> MatchRecord {
    let id = host.id().as_str().expect("a string").parse();
    let player = PlayerId(id.expect("an id"));
    let hosted = cluster
        .store
        .involved_matches(player)
        .await
        .expect("readable");
    let loaded = cluster.store.load(hosted[0]).await.expect("readable");
    loaded.expect("the match is stored").record
}

#[tokio::test(start_paused = true)]
async fn new_bot_matches_move_to_node_with_shorter_search_queue() {
    let mut cluster = Cluster::default();
    let settings = Settings {
        search: SearchMode::Threads(1),
        search_time: Duration::from_millis(50),
        live_matches_per_player: 200,
        ..settings_without_limits()
    };
    let busy = cluster.start_node_with(settings.clone()).await;
    let idle = cluster.start_node_with(settings).await;
    let mut ann = busy.server.connect_player("ann").await;
    let create =
        json!({"type": "create", "game": "chess", "seats": [{"bot": "max"}, {"bot": "max"}]});
    // When a match moves to the idle server, its followers on the busy server receive a new
    // snapshot.
    let moved_id = loop {
        let snapshot = ann.request(create.clone()).await;
        assert_eq!(snapshot["type"], "match", "{snapshot}");
        // Waiting for a message advances the paused test clock, so the timers of the servers can
        // fire.
        let message = ann.next_message().await;
        if message["epoch"] == 1 {
            break message["match"].clone();
        }
    };
    let id = MatchId(json_string(&moved_id).parse().expect("an id"));
    let route = cluster.store.find_route(id).await.expect("readable");
    let idle_id = NodeId(Uuid::from_u128(2));
    assert_eq!(route.expect("the match is stored").owner, Some(idle_id));
    loop {
        let message = ann.next_message().await;
        if message["type"] == "moved" && message["match"] == moved_id {
            break;
        }
    }
    drop(idle);
}
