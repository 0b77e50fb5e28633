//! Match analyses, hints and the `thinking` messages of bots work on all servers of a cluster.

use std::time::Duration;

use plyhouse_server::{SearchMode, Settings};
use serde_json::{Value, json};

use super::{Cluster, Node, start_match_across_nodes};
use crate::support::{TestPlayer, advance_time, play_match_to_end, settings_without_pings};

fn match_request(kind: &str, id: &str) -> Value {
    json!({"type": kind, "match": id})
}

/// Requests the analysis of a match. Returns the analysed plies, last ply first, and the accuracy.
async fn run_analysis(player: &mut TestPlayer, id: &str) -> (Vec<Value>, Value) {
    let answer = player.request(match_request("analyse", id)).await;
    assert_eq!(answer["type"], "ok", "{answer}");
    let mut plies = Vec::new();
    loop {
        let message = player.expect_event("analysis").await;
        plies.extend(message["plies"].as_array().expect("a list").iter().cloned());
        if message["done"] == message["of"] {
            return (plies, message["accuracy"].clone());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn analysis_is_run_once_and_shared_by_all_nodes() {
    let mut cluster = Cluster::default();
    let [here, there, third] = cluster.start_nodes().await;
    let create = json!({"game": "tic-tac-toe", "seats": ["me", "open"]});
    let (mut ann, mut bob, id) = start_match_across_nodes(&here, &there, create).await;
    let mut cat = third.server.connect_player("cat").await;
    cat.request(match_request("watch", &id)).await;
    assert_eq!(
        bob.expect_error(match_request("analyse", &id)).await,
        "match_running"
    );
    for (ply, m) in (0..).zip(["a1", "c3", "c1", "b1"]) {
        let mover = if ply % 2 == 0 { &mut ann } else { &mut bob };
        assert_eq!(mover.play_move(&id, ply, m).await["type"], "ok");
    }
    ann.request(match_request("resign", &id)).await;
    for player in [&mut bob, &mut cat] {
        while player.next_message().await["type"] != "ended" {}
    }
    let (plies, accuracy) = run_analysis(&mut bob, &id).await;
    let moves: Vec<&Value> = plies.iter().rev().map(|ply| &ply["move"]).collect();
    assert_eq!(moves, ["a1", "c3", "c1", "b1"]);
    assert!(accuracy[1].is_u64(), "{accuracy}");

    // Only the players may request the analysis. The store keeps the analysis, so every server
    // sends the players the same analysis.
    assert_eq!(
        cat.expect_error(match_request("analyse", &id)).await,
        "not_seated"
    );
    let mut ann = resume_on_node(ann, &third).await;
    assert_eq!(run_analysis(&mut ann, &id).await, (plies, accuracy));
    let metrics = third.server.server.metrics_text();
    for line in [
        "plyhouse_analyses_total 0",
        "plyhouse_analyses_kept_total 1",
    ] {
        assert!(metrics.contains(line), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn daily_analysis_limit_applies_across_nodes() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut ann, mut bob) = (
        here.server.connect_player("ann").await,
        here.server.connect_player("bob").await,
    );
    let mut match_ids = Vec::new();
    for _ in 0..21 {
        let create = json!({"game": "tic-tac-toe"});
        match_ids.push(play_match_to_end(&mut ann, &mut bob, create, &["b2"]).await);
        advance_time(11).await;
    }
    for id in &match_ids[..10] {
        assert_eq!(run_analysis(&mut ann, id).await.0.len(), 1);
    }
    let mut ann = resume_on_node(ann, &there).await;
    for id in &match_ids[10..20] {
        assert_eq!(run_analysis(&mut ann, id).await.0.len(), 1);
    }
    for node in [&there, &here] {
        ann = resume_on_node(ann, node).await;
        assert_eq!(
            ann.expect_error(match_request("analyse", &match_ids[20]))
                .await,
            "too_soon"
        );
        assert_eq!(
            run_analysis(&mut ann, &match_ids[0]).await.0.len(),
            1,
            "a stored analysis is free"
        );
    }
}

/// Closes the player's connection and resumes the session on `node`.
async fn resume_on_node(player: TestPlayer, node: &Node) -> TestPlayer {
    let token = player.token();
    drop(player);
    node.server.resume_session(&token).await.0
}

/// Creates a match against a bot on the node `here`. The human player is connected to the node
/// `there`. Returns the host, the player and the match id.
async fn create_bot_match_with_remote_player(
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
    let snapshot = ann.request(match_request("join", &id)).await;
    assert_eq!(snapshot["status"], "running", "{snapshot}");
    host.expect_event("seated").await;
    host.expect_event("started").await;
    (host, ann, id)
}

#[tokio::test(start_paused = true)]
async fn hint_reaches_remote_player_after_hinted_event() {
    let mut cluster = Cluster::default();
    let [here, there, third] = cluster.start_nodes().await;
    let (mut host, mut ann, id) = create_bot_match_with_remote_player(&here, &there, false).await;
    let mut cat = third.server.connect_player("cat").await;
    cat.request(match_request("watch", &id)).await;
    let hint_request = |ply: u64| json!({"type": "hint", "match": id, "ply": ply});
    let (_, messages) = ann.request_and_collect(hint_request(0)).await;
    let kinds: Vec<&Value> = messages.iter().map(|message| &message["type"]).collect();
    let first_index = |kind: &str| kinds.iter().position(|message_kind| *message_kind == kind);
    assert!(
        first_index("hinted").is_some() && first_index("hinted") < first_index("hint"),
        "{kinds:?}"
    );
    let answer = messages.last().expect("the answer");
    let best = answer["move"].as_str().expect("a move").to_owned();
    for other in [&mut host, &mut cat] {
        let hinted = other.expect_event("hinted").await;
        assert_eq!(
            (&hinted["seat"], &hinted["ply"]),
            (&json!(0), &json!(0)),
            "{hinted}"
        );
    }
    // A repeated hint request adds no event, and a hint request for another ply is refused.
    let (_, messages) = ann.request_and_collect(hint_request(0)).await;
    assert!(
        messages.iter().all(|message| message["type"] != "hinted"),
        "{messages:?}"
    );
    assert_eq!(ann.expect_error(hint_request(1)).await, "stale_ply");
    assert_eq!(host.expect_error(hint_request(0)).await, "not_seated");
    assert_eq!(cat.expect_error(hint_request(0)).await, "not_seated");
    assert_eq!(ann.play_move(&id, 0, &best).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn bot_thinking_is_sent_on_all_nodes() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (mut host, mut ann, id) = create_bot_match_with_remote_player(&here, &there, true).await;
    ann.play_move(&id, 0, "b2").await;
    for player in [&mut host, &mut ann] {
        let thinking = loop {
            let message = player.next_message().await;
            if message["type"] == "thinking" {
                break message;
            }
        };
        assert_eq!(
            (&thinking["match"], &thinking["ply"]),
            (&json!(id), &json!(1)),
            "{thinking}"
        );
        assert!(!thinking["pv"].as_array().expect("a list").is_empty());
    }
}

/// A player's hint request is pending on a replica when the player moves on another server. The
/// replica must answer the pending hint request with `stale_ply`.
#[tokio::test]
async fn move_on_other_node_cancels_running_hint() {
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
        let hello = json!({"token": ann.token(), "beside": true});
        let mut second_connection = there.server.connect().await;
        second_connection.send_hello(hello).await;
        second_connection.expect_event("match").await;
        let hint_request = json!({"type": "hint", "id": 1000, "match": id, "ply": 0});
        second_connection.send_text(&hint_request.to_string()).await;
        assert_eq!(
            second_connection.request(json!({"type": "ping"})).await["type"],
            "pong"
        );
        assert_eq!(ann.play_move(&id, 0, m).await["type"], "ok");
        let receive_answer = async {
            loop {
                let message = second_connection.next_message().await;
                if message["re"] == 1000 {
                    break message;
                }
            }
        };
        let result = tokio::time::timeout(Duration::from_secs(60), receive_answer).await;
        assert_eq!(result.expect("in time")["code"], "stale_ply");
    }
}
