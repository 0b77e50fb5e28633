//! What searches think is told on all servers alike.

use std::time::Duration;

use plyhouse_server::{SearchMode, Settings};
use serde_json::{Value, json};

use super::{Cluster, Node, start_match_across_nodes};
use crate::support::{TestPlayer, advance_time, play_match_to_end, settings_without_pings};

fn to(kind: &str, id: &str) -> Value {
    json!({"type": kind, "match": id})
}

/// Asks what is thought of a match, and gives all that is told: the plies from the last on, and the accuracy.
async fn analysed(player: &mut TestPlayer, id: &str) -> (Vec<Value>, Value) {
    let answer = player.request(to("analyse", id)).await;
    assert_eq!(answer["type"], "ok", "{answer}");
    let mut plies = Vec::new();
    loop {
        let part = player.expect_event("analysis").await;
        plies.extend(part["plies"].as_array().expect("a list").iter().cloned());
        if part["done"] == part["of"] {
            return (plies, part["accuracy"].clone());
        }
    }
}

/// A match that was decided on one server is looked at on another, once for all servers.
#[tokio::test(start_paused = true)]
async fn a_match_is_looked_at_on_any_server() {
    let mut cluster = Cluster::default();
    let [here, there, beside] = cluster.start_nodes().await;
    let create = json!({"game": "tic-tac-toe", "seats": ["me", "open"]});
    let (mut ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
    let mut cat = beside.server.connect_player("cat").await;
    cat.request(to("watch", &id)).await;
    assert_eq!(bob.expect_error(to("analyse", &id)).await, "match_running");
    for (ply, m) in (0..).zip(["a1", "c3", "c1", "b1"]) {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        assert_eq!(mover.play_move(&id, ply, m).await["type"], "ok");
    }
    ann.request(to("resign", &id)).await;
    for player in [&mut bob, &mut cat] {
        while player.next_message().await["type"] != "ended" {}
    }
    let (plies, accuracy) = analysed(&mut bob, &id).await;
    let moves: Vec<&Value> = plies.iter().rev().map(|ply| &ply["move"]).collect();
    assert_eq!(moves, ["a1", "c3", "c1", "b1"]);
    assert!(accuracy[1].is_u64(), "{accuracy}");

    // It is nobody's else, wherever they are, and is kept for its players, wherever they come back.
    assert_eq!(cat.expect_error(to("analyse", &id)).await, "not_seated");
    let mut ann = again(ann, &beside).await;
    assert_eq!(analysed(&mut ann, &id).await, (plies, accuracy));
    let metrics = beside.server.server.metrics_text();
    for line in [
        "plyhouse_analyses_total 0",
        "plyhouse_analyses_kept_total 1",
    ] {
        assert!(metrics.contains(line), "{line}");
    }
}

/// What a player may have looked at is one count, whatever server is asked.
#[tokio::test(start_paused = true)]
async fn twenty_are_looked_at_on_all_servers_together() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob) = (
        here.server.connect_player("ann").await,
        here.server.connect_player("bob").await,
    );
    let mut all = Vec::new();
    for _ in 0..21 {
        let create = json!({"game": "tic-tac-toe"});
        all.push(play_match_to_end(&mut ann, &mut bob, create, &["b2"]).await);
        advance_time(11).await;
    }
    for id in &all[..10] {
        assert_eq!(analysed(&mut ann, id).await.0.len(), 1);
    }
    let mut ann = again(ann, &there).await;
    for id in &all[10..20] {
        assert_eq!(analysed(&mut ann, id).await.0.len(), 1);
    }
    for node in [&there, &here] {
        ann = again(ann, node).await;
        assert_eq!(ann.expect_error(to("analyse", &all[20])).await, "too_soon");
        assert_eq!(analysed(&mut ann, &all[0]).await.0.len(), 1, "what is kept");
    }
}

/// A player who has gone, on another server.
async fn again(player: TestPlayer, node: &Node) -> TestPlayer {
    let token = player.token();
    drop(player);
    node.server.resume_session(&token).await.0
}

/// A match against a bot that is decided here, and its player there.
async fn against_bot(
    here: &Node,
    there: &Node,
    thinking: bool,
) -> (TestPlayer, TestPlayer, String) {
    let (mut host, mut ann) = (
        here.server.connect_player("host").await,
        there.server.connect_player("ann").await,
    );
    let seats = json!(["open", {"bot": "medium"}]);
    let create =
        json!({"game": "tic-tac-toe", "seats": seats, "thinking": thinking, "pace_ms": 1000});
    let id = host.create_match(create).await;
    let shown = ann.request(to("join", &id)).await;
    assert_eq!(shown["status"], "running", "{shown}");
    host.expect_event("seated").await;
    host.expect_event("started").await;
    (host, ann, id)
}

/// A hint comes to a player of a match that is decided elsewhere, after it has become part of the match.
#[tokio::test(start_paused = true)]
async fn a_hint_is_told_through_a_copy() {
    let mut cluster = Cluster::default();
    let [here, there, beside] = cluster.start_nodes().await;
    let (mut host, mut ann, id) = against_bot(&here, &there, false).await;
    let mut cat = beside.server.connect_player("cat").await;
    cat.request(to("watch", &id)).await;
    let hint = |ply: u64| json!({"type": "hint", "match": id, "ply": ply});
    let (_, came) = ann.request_and_collect(hint(0)).await;
    let kinds: Vec<&Value> = came.iter().map(|told| &told["type"]).collect();
    let is_first = |kind: &str| kinds.iter().position(|told| *told == kind);
    assert!(
        is_first("hinted").is_some() && is_first("hinted") < is_first("hint"),
        "{kinds:?}"
    );
    let told = came.last().expect("the answer");
    let best = told["move"].as_str().expect("a move").to_owned();
    for other in [&mut host, &mut cat] {
        let hinted = other.expect_event("hinted").await;
        assert_eq!(
            (&hinted["seat"], &hinted["ply"]),
            (&json!(0), &json!(0)),
            "{hinted}"
        );
    }
    // Once more is no other event, and what is not the match's turn is refused as ever.
    let (_, came) = ann.request_and_collect(hint(0)).await;
    assert!(came.iter().all(|told| told["type"] != "hinted"), "{came:?}");
    assert_eq!(ann.expect_error(hint(1)).await, "stale_ply");
    assert_eq!(host.expect_error(hint(0)).await, "not_seated");
    assert_eq!(cat.expect_error(hint(0)).await, "not_seated");
    assert_eq!(ann.play_move(&id, 0, &best).await["type"], "ok");
}

/// What a bot thinks is told wherever somebody follows.
#[tokio::test(start_paused = true)]
async fn what_a_bot_thinks_is_told_on_all_servers() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut host, mut ann, id) = against_bot(&here, &there, true).await;
    ann.play_move(&id, 0, "b2").await;
    for player in [&mut host, &mut ann] {
        let thought = loop {
            let told = player.next_message().await;
            if told["type"] == "thinking" {
                break told;
            }
        };
        assert_eq!(
            (&thought["match"], &thought["ply"]),
            (&json!(id), &json!(1)),
            "{thought}"
        );
        assert!(!thought["pv"].as_array().expect("a list").is_empty());
    }
}

/// A copy answers a hint when the move that ends its ply comes to it.
#[tokio::test]
async fn a_move_on_another_server_ends_the_search_for_a_hint() {
    for m in ["d2d4", "g1f3", "e2e4"] {
        let mut cluster = Cluster::default();
        let settings = || Settings {
            search: SearchMode::Threads(1),
            search_table: 1 << 20,
            search_time: Duration::from_secs(3600),
            ..settings_without_pings()
        };
        let here = cluster.start_node_with(settings()).await;
        let there = cluster.start_node_with(settings()).await;
        let mut ann = here.server.connect_player("ann").await;
        let create = json!({"game": "chess", "seats": ["me", {"bot": "easy"}]});
        let id = ann.create_match(create).await;
        let beside = json!({"token": ann.token(), "beside": true});
        let mut again = there.server.connect().await;
        again.send_hello(beside).await;
        again.expect_event("match").await;
        let asked = json!({"type": "hint", "id": 1000, "match": id, "ply": 0});
        again.send_text(&asked.to_string()).await;
        assert_eq!(again.request(json!({"type": "ping"})).await["type"], "pong");
        assert_eq!(ann.play_move(&id, 0, m).await["type"], "ok");
        let answered = async {
            loop {
                let told = again.next_message().await;
                if told["re"] == 1000 {
                    break told;
                }
            }
        };
        let told = tokio::time::timeout(Duration::from_secs(60), answered).await;
        assert_eq!(told.expect("in time")["code"], "stale_ply");
    }
}
