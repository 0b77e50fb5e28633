//! Tests of the analysis of ended matches, of hints and of bot thinking.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_protocol::AnalysisAccess;
use plyhouse_server::{AccountPolicy, Settings};
use plyhouse_store::{ArchiveStore, MemoryStore, Store, StoredAnalysis};
use serde_json::{Value, json};

use crate::fault_injecting_store::FailingStore;
use crate::support::{
    TestPlayer, TestServer, advance_time, play_match_to_end, settings_without_pings,
};

/// A tic-tac-toe game that x wins. The first reply by o, `c3`, is a blunder.
const MOVES_WITH_BLUNDERS: [&str; 7] = ["a1", "c3", "c1", "b1", "a3", "b2", "a2"];

fn analyse_request(id: &str) -> Value {
    json!({"type": "analyse", "match": id})
}

/// Requests an analysis and collects the `analysis` messages. Returns three values: the analysed
/// plies from last to first, the first message's `end` field and the last message's `accuracy`
/// field.
async fn run_analysis(player: &mut TestPlayer, id: &str) -> (Vec<Value>, Value, Value) {
    assert_eq!(player.request(analyse_request(id)).await["type"], "ok");
    let (mut plies, mut end) = (Vec::new(), Value::Null);
    loop {
        let message = player.expect_event("analysis").await;
        assert_eq!(message["match"], *id);
        if plies.is_empty() && end.is_null() {
            end = message["end"].clone();
        }
        plies.extend(message["plies"].as_array().expect("a list").iter().cloned());
        assert_eq!(message["done"], plies.len());
        if message["done"] == message["of"] {
            return (plies, end, message["accuracy"].clone());
        }
        assert!(message.get("accuracy").is_none(), "{message}");
    }
}

#[tokio::test(start_paused = true)]
async fn stored_analysis_is_reused_unless_more_nodes_are_requested() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let create = json!({"game": "tic-tac-toe"});
    let id = play_match_to_end(&mut ann, &mut bob, create, &MOVES_WITH_BLUNDERS).await;
    let (plies, end, accuracy) = run_analysis(&mut ann, &id).await;
    assert_eq!(plies.len(), 7);
    assert_eq!((&end["wins"], &end["win"]), (&json!(0), &json!(1.0)));
    for (ply, ply_analysis) in plies.iter().rev().enumerate() {
        assert_eq!(
            (&ply_analysis["ply"], &ply_analysis["move"]),
            (&json!(ply), &json!(MOVES_WITH_BLUNDERS[ply]))
        );
        assert_eq!(ply_analysis["seat"], ply % 2);
        assert_eq!(
            ply_analysis.get("judged").is_some(),
            ply_analysis.get("why").is_some(),
            "{ply_analysis}"
        );
        assert_eq!(
            ply_analysis.get("judged").is_some(),
            ply_analysis.get("said").is_some(),
            "{ply_analysis}"
        );
    }
    // After x plays a1, the reply c3 in the opposite corner loses, because x can then create two
    // threats. The reply b2 in the centre leads to a draw.
    let blunder = &plies[5];
    assert_eq!(
        (&blunder["move"], &blunder["judged"]),
        (&json!("c3"), &json!("blunder"))
    );
    let explanation = &blunder["why"];
    assert_eq!(
        (&explanation["kind"], &explanation["keeps"]),
        (&json!("allows_win"), &json!("draw"))
    );
    assert_eq!(
        (&explanation["better"], &blunder["best"]),
        (&json!("b2"), &json!("b2"))
    );
    let text = blunder["said"].as_str().expect("text");
    assert!(
        text.contains("c3") && text.contains("x wins") && text.contains("b2"),
        "{text}"
    );
    let [first, second] = [0, 1].map(|seat| accuracy[seat].as_u64().expect("a number"));
    assert!(first == 100 && second < 100, "{accuracy}");

    // For a repeated request, the server sends the stored analysis and starts no new search.
    let repeated = run_analysis(&mut bob, &id).await;
    assert_eq!(repeated, (plies, end, accuracy));
    let metrics = server.server.metrics_text();
    for line in [
        "plyhouse_analyses_total 1",
        "plyhouse_analyses_kept_total 1",
    ] {
        assert!(metrics.contains(line), "{line}");
    }
    // A request with a higher node limit starts a new search.
    let deeper = json!({"type": "analyse", "match": id, "nodes": 1_000_000});
    assert_eq!(ann.request(deeper).await["type"], "ok");
    while ann.expect_event("analysis").await.get("accuracy").is_none() {}
    assert!(
        server
            .server
            .metrics_text()
            .contains("plyhouse_analyses_total 2")
    );
}

/// An analysis stored by an older server can lack newer fields. In this case, the server repeats
/// the analysis with the same node limit and stores the result.
#[tokio::test(start_paused = true)]
async fn analysis_stored_by_older_server_is_replaced() {
    let store = Arc::new(MemoryStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let create = json!({"game": "tic-tac-toe"});
    let id = play_match_to_end(&mut ann, &mut bob, create, &MOVES_WITH_BLUNDERS).await;
    let end = json!({"value": 0, "win": 0.5, "exact": false});
    let outdated =
        json!({"match": id, "done": 0, "of": 0, "plies": [], "end": end, "accuracy": [50, 50]});
    let nodes = 200_000;
    let text = outdated.to_string();
    let match_id = serde_json::from_value(json!(id)).expect("an id");
    let stored = store
        .store_analysis(match_id, StoredAnalysis { nodes, text })
        .await;
    assert_eq!(stored, Ok(true));
    let analysis = run_analysis(&mut ann, &id).await;
    assert_eq!(analysis.0.len(), MOVES_WITH_BLUNDERS.len());
    // The server answers Bob's request with the analysis that it stored for Ann.
    assert_eq!(run_analysis(&mut bob, &id).await, analysis);
    let metrics = server.server.metrics_text();
    for line in [
        "plyhouse_analyses_total 1",
        "plyhouse_analyses_kept_total 1",
    ] {
        assert!(metrics.contains(line), "{line}");
    }
    let stored = store.analysis(match_id).await.expect("readable");
    assert_eq!(
        stored.map(|stored_analysis| stored_analysis.nodes),
        Some(nodes)
    );
}

#[tokio::test(start_paused = true)]
async fn next_analysis_does_not_wait_for_store_write() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(
            play_match_to_end(
                &mut ann,
                &mut bob,
                json!({"game": "tic-tac-toe"}),
                &MOVES_WITH_BLUNDERS,
            )
            .await,
        );
    }
    let writes_blocked = store.write_gate.lock().await;
    for id in &ids {
        assert_eq!(
            run_analysis(&mut ann, id).await.0.len(),
            MOVES_WITH_BLUNDERS.len()
        );
    }
    // The store has not written the first match's analysis yet, but the server can already send
    // this analysis to Bob.
    assert_eq!(
        run_analysis(&mut bob, &ids[0]).await.0.len(),
        MOVES_WITH_BLUNDERS.len()
    );
    drop(writes_blocked);
}

#[tokio::test(start_paused = true)]
async fn analysis_is_stored_when_accounts_are_off() {
    let server = TestServer::start(Settings {
        accounts: AccountPolicy::Off,
        ..settings_without_pings()
    });
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let create = json!({"game": "tic-tac-toe"});
    let id = play_match_to_end(&mut ann, &mut bob, create, &MOVES_WITH_BLUNDERS).await;
    assert_eq!(
        run_analysis(&mut ann, &id).await,
        run_analysis(&mut ann, &id).await
    );
    let metrics = server.server.metrics_text();
    assert!(metrics.contains("plyhouse_analyses_total 1"), "{metrics}");
}

#[tokio::test(start_paused = true)]
async fn refused_analysis_states_reason() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let mut cyd = server.connect_player("cyd").await;
    assert_eq!(
        ann.expect_error(analyse_request("QQQQQQ")).await,
        "unknown_match"
    );
    let open = ann.create_match(json!({"game": "tic-tac-toe"})).await;
    assert_eq!(cyd.expect_error(analyse_request(&open)).await, "not_seated");
    assert_eq!(
        ann.expect_error(analyse_request(&open)).await,
        "match_not_started"
    );
    bob.request(json!({"type": "join", "match": open})).await;
    assert_eq!(cyd.expect_error(analyse_request(&open)).await, "not_seated");
    assert_eq!(
        bob.expect_error(analyse_request(&open)).await,
        "match_running"
    );
    bob.request(json!({"type": "resign", "match": open})).await;
    assert_eq!(
        ann.expect_error(analyse_request(&open)).await,
        "not_allowed",
        "no move was played"
    );
    let hidden = json!({"game": "tic-tac-toe", "watch": "nobody"});
    let hidden = play_match_to_end(&mut ann, &mut bob, hidden, &["a1"]).await;
    assert_eq!(
        cyd.expect_error(analyse_request(&hidden)).await,
        "unknown_match"
    );
    for nodes in [99, 1_000_001] {
        let request = json!({"type": "analyse", "match": hidden, "nodes": nodes});
        let refused = ann.request_unchecked(request).await;
        assert_eq!(
            (&refused["code"], &refused["field"]),
            (&json!("bad_field"), &json!("nodes"))
        );
    }
    assert_eq!(run_analysis(&mut ann, &hidden).await.0.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn analysis_setting_admits_spectators_or_nobody() {
    let server = TestServer::start(Settings {
        analysis: AnalysisAccess::Anyone,
        ..settings_without_pings()
    });
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let mut cyd = server.connect_player("cyd").await;
    assert_eq!(cyd.welcome["analysis"], "anyone");
    let create = json!({"game": "tic-tac-toe"});
    let id = play_match_to_end(&mut ann, &mut bob, create.clone(), &MOVES_WITH_BLUNDERS).await;
    assert_eq!(
        cyd.expect_error(analyse_request(&id)).await,
        "not_following"
    );
    cyd.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(run_analysis(&mut cyd, &id).await.0.len(), 7);
    // The delayed spectator does not see the match start yet, so the server refuses the spectator's
    // analysis request.
    let delayed = json!({"game": "tic-tac-toe", "delay_ms": 60_000});
    let delayed_id = play_match_to_end(&mut ann, &mut bob, delayed, &MOVES_WITH_BLUNDERS).await;
    cyd.request(json!({"type": "watch", "match": delayed_id}))
        .await;
    assert_eq!(
        cyd.expect_error(analyse_request(&delayed_id)).await,
        "match_not_started",
        "as seen by a delayed spectator"
    );
    assert_eq!(run_analysis(&mut ann, &delayed_id).await.0.len(), 7);

    let server = TestServer::start(Settings {
        analysis: AnalysisAccess::Off,
        ..settings_without_pings()
    });
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = play_match_to_end(&mut ann, &mut bob, create, &MOVES_WITH_BLUNDERS).await;
    assert_eq!(ann.expect_error(analyse_request(&id)).await, "not_allowed");
}

#[tokio::test(start_paused = true)]
async fn daily_analysis_limit_survives_restart() {
    let store = Arc::new(MemoryStore::default());
    let start_server = |seed| {
        let settings = Settings {
            seed: Some(seed),
            ..settings_without_pings()
        };
        TestServer::with_store(settings, Arc::clone(&store) as Arc<dyn Store>)
    };
    let server = start_server(8);
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let create = json!({"game": "tic-tac-toe"});
    let mut ids = Vec::new();
    for _ in 0..21 {
        ids.push(play_match_to_end(&mut ann, &mut bob, create.clone(), &["b2"]).await);
        advance_time(11).await;
    }
    for id in &ids[..20] {
        assert_eq!(run_analysis(&mut ann, id).await.0.len(), 1);
    }
    let refused = ann.request(analyse_request(&ids[20])).await;
    assert_eq!(refused["code"], "too_soon");
    // After a restart, the server still counts the player's earlier analyses towards the limit.
    server.server.stop().await;
    let server = start_server(9);
    assert_eq!(server.server.recover().await.expect("readable").corrupt, 0);
    let (mut ann, _) = server.resume_session(&ann.token()).await;
    let refused = ann.request(analyse_request(&ids[20])).await;
    assert_eq!(refused["code"], "too_soon", "{refused}");
    let wait_ms = refused["retry_after_ms"].as_u64().expect("a number");
    assert!(wait_ms <= 24 * 3600 * 1000, "{wait_ms}");
    // A request for a stored analysis does not count towards the limit.
    assert_eq!(run_analysis(&mut ann, &ids[0]).await.0.len(), 1);
    // The restarted server reads the system time, but the first server's simulated time has
    // advanced further. The test waits 600 seconds longer to compensate for this difference.
    advance_time(wait_ms / 1000 + 600).await;
    assert_eq!(run_analysis(&mut ann, &ids[20]).await.0.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn explanation_contains_findings_and_san() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    // After x plays a corner, a reply by o in the opposite corner lets x create two threats.
    let create = json!({"game": "tic-tac-toe"});
    let id = play_match_to_end(&mut ann, &mut bob, create, &MOVES_WITH_BLUNDERS).await;
    let (plies, _, _) = run_analysis(&mut ann, &id).await;
    let explanation = &plies[5]["why"];
    assert_eq!(
        explanation["signs"],
        json!([{"sign": "two_threats"}]),
        "{explanation}"
    );
    assert!(
        explanation.get("goes_on").is_none() && explanation.get("san").is_none(),
        "{explanation}"
    );
    assert!(plies.iter().all(|ply| ply.get("san").is_none()));
    let text = plies[5]["said"].as_str().expect("text");
    assert!(text.contains("a double threat"), "{text}");

    let moves = ["e2e4", "e7e5", "d1g4", "d7d6", "g1f3", "c8g4"];
    let id = play_match_to_end(&mut ann, &mut bob, json!({"game": "chess"}), &moves).await;
    let (plies, _, _) = run_analysis(&mut ann, &id).await;
    for ply in &plies {
        let (pv, san) = (&ply["pv"], &ply["san"]);
        assert_eq!(line_length(pv), line_length(san), "{ply}");
    }
    assert_eq!(
        (&plies[0]["best"], &plies[0]["san"][0]),
        (&json!("c8g4"), &json!("Bxg4"))
    );
    // The chess move `g1f3` lets the bishop capture the queen on g4.
    let explanation = &plies[1]["why"];
    assert_eq!(explanation["kind"], "loses_material", "{explanation}");
    assert_eq!(
        (&explanation["san"][0], &explanation["goes_on"]),
        (&json!("Bxg4"), &json!(true))
    );
    assert_eq!(
        line_length(&explanation["punished"]),
        line_length(&explanation["san"]),
        "{explanation}"
    );
    assert!(explanation.get("signs").is_none(), "{explanation}");
}

fn line_length(line: &Value) -> usize {
    line.as_array().expect("a line").len()
}

#[tokio::test(start_paused = true)]
async fn hints_and_bot_thinking_contain_san_only_in_chess() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    for (game, writes_san) in [("chess", true), ("tic-tac-toe", false)] {
        let seats = json!(["me", {"bot": "max"}]);
        // `pace_ms` delays the bot's move by two seconds, so the server broadcasts the bot's
        // thinking before the move.
        let fields = json!({"game": game, "seats": seats, "pace_ms": 2000, "thinking": true});
        let id = create_match_against_bot(&mut ann, fields).await;
        let hint_answer = ann.request(hint_request(&id, 0)).await;
        let m = hint_answer["move"].as_str().expect("a move").to_owned();
        assert_eq!(ann.play_move(&id, 0, &m).await["type"], "ok");
        let thought = loop {
            let message = ann.next_message().await;
            if message["type"] == "thinking" {
                break message;
            }
        };
        assert_eq!(
            (&thought["match"], &thought["ply"]),
            (&json!(id), &json!(1))
        );
        for message in [&hint_answer, &thought] {
            let san = message.get("san");
            assert_eq!(san.is_some(), writes_san, "{message}");
            assert!(
                san.is_none_or(|san| line_length(san) == line_length(&message["pv"])),
                "{message}"
            );
        }
        ann.request(json!({"type": "resign", "match": id})).await;
    }
}

/// Some of the tested games use a search algorithm that counts each playout as one node.
#[tokio::test(start_paused = true)]
async fn analysis_covers_every_ply_in_all_games() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let games = [
        "chess",
        "othello",
        "draughts",
        "connect-four",
        "gomoku",
        "go",
    ];
    let moves = [
        ["f2f3", "e7e5", "g2g4", "d8h4"].as_slice(),
        &["d3", "c3"],
        &["11-15", "23-19"],
        &["4", "4"],
        &["h8", "a1"],
        &["e5", "a1"],
    ];
    for (game, moves) in games.into_iter().zip(moves) {
        let id = play_match_to_end(&mut ann, &mut bob, json!({"game": game}), moves).await;
        let request = json!({"type": "analyse", "match": id, "nodes": 500});
        assert_eq!(ann.request(request).await["type"], "ok", "{game}");
        let mut ply_count = 0;
        loop {
            let message = ann.expect_event("analysis").await;
            ply_count += message["plies"].as_array().expect("a list").len();
            if message.get("accuracy").is_some() {
                break;
            }
        }
        assert_eq!(ply_count, moves.len(), "{game}");
    }
}

/// Creates a match between Ann and a bot. Ann moves first.
async fn create_match_against_bot(ann: &mut TestPlayer, fields: Value) -> String {
    let mut create = json!({"game": "tic-tac-toe", "seats": ["me", {"bot": "easy"}]});
    create
        .as_object_mut()
        .expect("fields")
        .extend(fields.as_object().expect("fields").clone());
    ann.create_match(create).await
}

fn hint_request(id: &str, ply: u64) -> Value {
    json!({"type": "hint", "match": id, "ply": ply})
}

#[tokio::test(start_paused = true)]
async fn hint_is_answered_broadcast_and_recorded_once() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut cyd) = (
        server.connect_player("ann").await,
        server.connect_player("cyd").await,
    );
    let id = create_match_against_bot(&mut ann, json!({})).await;
    cyd.request(json!({"type": "watch", "match": id})).await;
    let (_, messages) = ann.request_and_collect(hint_request(&id, 0)).await;
    let [.., event, answer] = &messages[..] else {
        panic!("an event and an answer: {messages:?}");
    };
    assert_eq!(
        (&event["type"], &event["seat"], &event["ply"]),
        (&json!("hinted"), &json!(0), &json!(0))
    );
    assert_eq!(
        (&answer["type"], &answer["ply"], &answer["win"]),
        (&json!("hint"), &json!(0), &json!(0.5))
    );
    assert_eq!(
        (&answer["exact"], &answer["move"]),
        (&json!(true), &answer["pv"][0])
    );
    assert_eq!(cyd.expect_event("hinted").await["seq"], event["seq"]);
    // A repeated hint request creates no further `hinted` event.
    assert_eq!(
        ann.request(hint_request(&id, 0)).await["move"],
        answer["move"]
    );
    assert!(
        cyd.drain_messages()
            .await
            .iter()
            .all(|message| message["type"] != "hinted")
    );
    let m = answer["move"].as_str().expect("a move").to_owned();
    assert_eq!(ann.play_move(&id, 0, &m).await["type"], "ok");
    while ann.expect_event("moved").await["ply"] != 1 {}
    // A later `resync` also returns the `hinted` event.
    let events = cyd
        .request(json!({"type": "resync", "match": id, "since": 0}))
        .await;
    let hinted = events["events"].as_array().expect("a list").iter();
    assert_eq!(hinted.filter(|event| event["type"] == "hinted").count(), 1);
    assert_eq!(ann.expect_error(hint_request(&id, 1)).await, "stale_ply");
    assert_eq!(ann.request(hint_request(&id, 2)).await["type"], "hint");
}

#[tokio::test(start_paused = true)]
async fn hint_is_refused_outside_own_turn_against_bot() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = server.start_match().await;
    assert_eq!(
        ann.expect_error(hint_request("QQQQQQ", 0)).await,
        "unknown_match"
    );
    let mut cyd = server.connect_player("cyd").await;
    assert_eq!(cyd.expect_error(hint_request(&id, 0)).await, "not_seated");
    let open = ann.create_match(json!({"game": "tic-tac-toe"})).await;
    assert_eq!(
        ann.expect_error(hint_request(&open, 0)).await,
        "match_not_started"
    );
    let (mut first, mut second) = (&mut ann, &mut bob);
    if first.expect_error(hint_request(&id, 0)).await == "not_your_turn" {
        std::mem::swap(&mut first, &mut second);
    }
    assert_eq!(
        first.expect_error(hint_request(&id, 0)).await,
        "not_allowed"
    );
    assert_eq!(first.expect_error(hint_request(&id, 1)).await, "stale_ply");
    assert_eq!(
        second.expect_error(hint_request(&id, 0)).await,
        "not_your_turn"
    );
    first.request(json!({"type": "resign", "match": id})).await;
    assert_eq!(
        first.expect_error(hint_request(&id, 0)).await,
        "match_ended"
    );
}

/// Collects the `thinking` messages until the match ends.
async fn collect_thinking_until_end(player: &mut TestPlayer) -> Vec<Value> {
    let mut thinking_messages = Vec::new();
    loop {
        let message = player.next_message().await;
        match message["type"].as_str() {
            Some("thinking") => thinking_messages.push(message),
            Some("ended") => return thinking_messages,
            _ => {}
        }
    }
}

#[tokio::test(start_paused = true)]
async fn bot_thinking_is_broadcast_only_when_requested() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let bots = json!([{"bot": "medium"}, {"bot": "max"}]);
    let create = json!({"game": "tic-tac-toe", "seats": bots, "pace_ms": 1000, "thinking": true});
    let id = ann.create_match(create.clone()).await;
    let snapshot = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(snapshot["thinking"], true);
    let thinking_events = collect_thinking_until_end(&mut ann).await;
    assert!(thinking_events.len() >= 5, "{thinking_events:?}");
    let plies: Vec<u64> = thinking_events
        .iter()
        .filter_map(|thought| thought["ply"].as_u64())
        .collect();
    assert!(plies.is_sorted() && plies.last() > Some(&4), "{plies:?}");
    for thought in &thinking_events {
        assert_eq!(thought["match"], id);
        assert!(
            !thought["pv"].as_array().expect("a list").is_empty(),
            "{thought}"
        );
    }
    // The server broadcasts bot thinking at most every 250 ms. A match between fast bots ends
    // sooner, so the server sends at most one `thinking` message.
    let mut fast = create.clone();
    fast["pace_ms"] = json!(10);
    ann.create_match(fast.clone()).await;
    assert!(collect_thinking_until_end(&mut ann).await.len() <= 1);
    // The server broadcasts bot thinking only if the match requests it.
    let mut silent = fast;
    silent["thinking"] = Value::Null;
    ann.create_match(silent).await;
    assert!(collect_thinking_until_end(&mut ann).await.is_empty());
    let clock = json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 0});
    let rated =
        json!({"type": "create", "game": "chess", "clock": clock, "rated": true, "thinking": true});
    let refused = ann.request(rated).await;
    assert_eq!(
        (&refused["code"], &refused["field"]),
        (&json!("bad_field"), &json!("thinking"))
    );
}

#[tokio::test]
async fn thinking_bot_reports_increasing_depths() {
    let server = TestServer::start(Settings {
        search: plyhouse_server::SearchMode::Threads(1),
        search_table: 1 << 20,
        ..settings_without_pings()
    });
    let mut ann = server.connect_player("ann").await;
    let create = json!({"game": "chess", "seats": [{"bot": "max"}, "me"], "thinking": true});
    ann.create_match(create).await;
    let mut thinking_messages = Vec::new();
    loop {
        let message = ann.next_message().await;
        match message["type"].as_str() {
            Some("thinking") => thinking_messages.push(message),
            Some("moved") => break,
            _ => {}
        }
    }
    let depths: Vec<u64> = thinking_messages
        .iter()
        .filter_map(|thought| thought["depth"].as_u64())
        .collect();
    assert!(depths.len() > 1 && depths.is_sorted(), "{depths:?}");
    let last = thinking_messages.last().expect("at least one message");
    assert!(
        last["pruned"].as_u64() > Some(0) && last["nodes"].as_u64() > Some(0),
        "{last}"
    );
}

/// The bot has finished its search when the spectator connects, but `pace_ms` still delays the
/// bot's move.
#[tokio::test(start_paused = true)]
async fn late_spectator_receives_current_thinking() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let seats = json!([{"bot": "max"}, "me"]);
    let create = json!({"game": "tic-tac-toe", "seats": seats, "pace_ms": 2000, "thinking": true});
    let id = ann.create_match(create).await;
    let thought = ann.expect_event("thinking").await;
    assert_eq!(thought["ply"], 0);
    let mut bob = server.connect_player("bob").await;
    let snapshot = bob.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(snapshot["type"], "match");
    assert_eq!(bob.next_message().await, thought);
    // A new spectator must not receive bot thinking about an earlier position.
    ann.expect_event("moved").await;
    let mut eve = server.connect_player("eve").await;
    eve.request(json!({"type": "watch", "match": id})).await;
    let (_, messages) = eve.request_and_collect(json!({"type": "ping"})).await;
    assert!(
        messages.iter().all(|message| message["type"] != "thinking"),
        "{messages:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn ping_is_answered_before_running_hints() {
    let settings = Settings {
        search_time: Duration::from_secs(1),
        ..settings_without_pings()
    };
    let server = TestServer::start(settings);
    let mut ann = server.connect_player("ann").await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(create_match_against_bot(&mut ann, json!({"game": "chess"})).await);
    }
    for (number, id) in ids.iter().enumerate() {
        let request = json!({"type": "hint", "id": number + 1000, "match": id, "ply": 0});
        ann.send_text(&request.to_string()).await;
    }
    let ping = json!({"type": "ping", "id": 2000});
    ann.send_text(&ping.to_string()).await;
    let mut answers = Vec::new();
    while answers.len() < 5 {
        let message = ann.next_message().await;
        let re = message["re"].as_u64();
        answers.extend(re.map(|re| (re, message["type"].clone())));
    }
    assert_ne!(answers[4].0, 2000, "{answers:?}");
    answers.sort_by_key(|(re, _)| *re);
    let hints = (1000..1004).map(|re| (re, json!("hint")));
    assert_eq!(answers[..4], hints.collect::<Vec<_>>());
}

/// A hint counts as running until its event is stored. In this test, the store blocks the write of
/// the event.
#[tokio::test(start_paused = true)]
async fn fifth_concurrent_hint_is_refused() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let mut ann = server.connect_player("ann").await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(create_match_against_bot(&mut ann, json!({})).await);
    }
    let writes_blocked = store.write_gate.lock().await;
    for (number, id) in (1000..).zip(&ids) {
        let request = json!({"type": "hint", "id": number, "match": id, "ply": 0});
        ann.send_text(&request.to_string()).await;
    }
    let refused = ann.next_message().await;
    assert_eq!(
        (&refused["re"], &refused["code"]),
        (&json!(1004), &json!("overloaded"))
    );
    drop(writes_blocked);
    let mut answers = Vec::new();
    while answers.len() < 4 {
        let message = ann.next_message().await;
        let re = message["re"].as_u64();
        answers.extend(re.map(|re| (re, message["type"].clone())));
    }
    answers.sort_by_key(|(re, _)| *re);
    let hints = (1000..1004).map(|re| (re, json!("hint")));
    assert_eq!(answers, hints.collect::<Vec<_>>());
    // The first four hints are finished, so they no longer count towards the limit of concurrent
    // hints.
    assert_eq!(ann.request(hint_request(&ids[4], 0)).await["type"], "hint");
}

/// Returns settings with one search thread and a search time of one hour.
fn slow_search_settings() -> Settings {
    Settings {
        search: plyhouse_server::SearchMode::Threads(1),
        search_table: 1 << 20,
        search_time: Duration::from_secs(3600),
        ..settings_without_pings()
    }
}

/// Waits for the answers to the requests whose ids are in `numbers`, and returns them in the same
/// order. Panics if the answers take longer than one minute. A complete search in these tests would
/// take much longer.
async fn receive_answers<const N: usize>(player: &mut TestPlayer, numbers: [u64; N]) -> [Value; N] {
    let mut answers = [const { Value::Null }; N];
    let receive_all = async {
        while answers.iter().any(Value::is_null) {
            let message = player.next_message().await;
            let index = numbers.iter().position(|number| message["re"] == *number);
            if let Some(place) = index {
                answers[place] = message;
            }
        }
    };
    let result = tokio::time::timeout(Duration::from_secs(60), receive_all).await;
    result.unwrap_or_else(|_| panic!("not answered: {answers:?}"));
    answers
}

async fn send_with_id(player: &mut TestPlayer, number: u64, mut request: Value) {
    request["id"] = number.into();
    player.send_text(&request.to_string()).await;
}

#[tokio::test]
async fn move_cancels_running_hint() {
    for (game, m) in [("chess", "e2e4"), ("draughts", "11-15"), ("go", "D4")] {
        let server = TestServer::start(slow_search_settings());
        let mut ann = server.connect_player("ann").await;
        let id = create_match_against_bot(&mut ann, json!({"game": game})).await;
        send_with_id(&mut ann, 1000, hint_request(&id, 0)).await;
        let play = json!({"type": "move", "match": id, "ply": 0, "move": m});
        send_with_id(&mut ann, 1001, play).await;
        let [hinted, played] = receive_answers(&mut ann, [1000, 1001]).await;
        assert_eq!(played["type"], "ok", "{played}");
        assert_eq!(hinted["code"], "stale_ply", "{hinted}");
        assert_eq!(hinted["expected"], 1, "{hinted}");
        let events = json!({"type": "resync", "match": id, "since": 0});
        let events = ann.request(events).await;
        let mut events = events["events"].as_array().expect("a list").iter();
        assert!(events.all(|event| event["type"] != "hinted"));
    }
}

#[tokio::test]
async fn match_end_cancels_running_hint() {
    for game in ["chess", "othello", "gomoku"] {
        let server = TestServer::start(slow_search_settings());
        let mut ann = server.connect_player("ann").await;
        let id = create_match_against_bot(&mut ann, json!({"game": game})).await;
        send_with_id(&mut ann, 1000, hint_request(&id, 0)).await;
        let resign = json!({"type": "resign", "match": id});
        send_with_id(&mut ann, 1001, resign).await;
        let [hinted, resigned] = receive_answers(&mut ann, [1000, 1001]).await;
        assert_eq!(resigned["type"], "ok", "{resigned}");
        assert_eq!(hinted["code"], "match_ended", "{hinted}");
    }
}
