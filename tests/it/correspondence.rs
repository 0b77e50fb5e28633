//! Tests of correspondence matches: notifications, flag falls and hibernation.

mod many_matches;

use std::sync::Arc;

use plyhouse_server::Settings;
use plyhouse_store::{MemoryStore, Store};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::fault_injecting_store::{FailingStore, HEALTHY, UNAVAILABLE};
use crate::support::{TestPlayer, TestServer, advance_time, json_string, settings_without_pings};

const SECONDS_PER_HOUR: u64 = 3600;
const SECONDS_PER_DAY: u64 = 24 * SECONDS_PER_HOUR;

/// Start time of a test's first server, in milliseconds since 1970.
const START_MS: u64 = 1_700_000_000_000;

fn correspondence_params(game: &str) -> Value {
    json!({"game": game, "clock": {"kind": "move", "move_ms": SECONDS_PER_DAY * 1000}})
}

/// Returns settings for a server that starts `seconds` later than the test's first server, in
/// simulated time.
fn settings_started_at(seconds: u64) -> Settings {
    Settings {
        started_ms: Some(START_MS + seconds * 1000),
        seed: Some(seconds),
        ..settings_without_pings()
    }
}

fn start_server_with_store(settings: Settings, store: &Arc<MemoryStore>) -> TestServer {
    TestServer::with_store(settings, Arc::clone(store) as Arc<dyn Store>)
}

/// Starts a correspondence match between Ann and Bob.
async fn start_correspondence_match(ann: &mut TestPlayer, bob: &mut TestPlayer) -> String {
    let id = ann.create_match(correspondence_params("chess")).await;
    bob.request(json!({"type": "join", "match": id})).await;
    ann.expect_event("seated").await;
    ann.expect_event("started").await;
    id
}

async fn watch_match(player: &mut TestPlayer, id: &str) -> Value {
    player.request(json!({"type": "watch", "match": id})).await
}

/// Returns the current value of the metric `name`, which must have no labels.
fn metric_value(server: &TestServer, name: &str) -> u64 {
    let metrics = server.server.metrics_text();
    let prefix = format!("plyhouse_{name} ");
    let value = metrics.lines().find_map(|line| line.strip_prefix(&prefix));
    value.expect("a known metric").parse().expect("a number")
}

/// If a player's time has run out while the server was down, the flag falls one hour after the
/// restart. The flags fall in the same order as the times ran out. A player who moves within that
/// hour does not lose.
#[tokio::test(start_paused = true)]
async fn overdue_flags_fall_in_order_an_hour_after_restart() {
    let store = Arc::new(MemoryStore::default());
    let server = start_server_with_store(settings_started_at(0), &store);
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(start_correspondence_match(&mut ann, &mut bob).await);
    }
    // The order of the moves differs from the order of the matches in `ids`. In the first four
    // matches of this list, Bob's time runs out before the second server starts. In the fifth
    // match, it runs out two hours later.
    for (hours, index) in [(1, 2), (1, 0), (1, 1), (2, 3), (6, 4)] {
        advance_time(hours * SECONDS_PER_HOUR).await;
        ann.play_move(&ids[index], 0, "e2e4").await;
        bob.expect_event("moved").await;
    }
    server.server.stop().await;
    let restart_s = SECONDS_PER_DAY + 9 * SECONDS_PER_HOUR;
    let server = start_server_with_store(settings_started_at(restart_s), &store);
    let recovered = server.server.recover().await.expect("readable");
    assert_eq!((recovered.live, recovered.hibernating), (0, 5));
    let (mut bob, _) = server.resume_session(&bob.token()).await;
    for id in &ids {
        let snapshot = watch_match(&mut bob, id).await;
        assert_eq!(snapshot["status"], "running", "{snapshot}");
    }
    let moved = bob.play_move(&ids[0], 1, "e7e5").await;
    assert_eq!(moved["type"], "ok", "{moved}");
    bob.expect_event("moved").await;
    let start = Instant::now();
    for (index, after_s) in [
        (2, SECONDS_PER_HOUR),
        (1, SECONDS_PER_HOUR),
        (3, SECONDS_PER_HOUR),
        (4, 2 * SECONDS_PER_HOUR),
    ] {
        if after_s > SECONDS_PER_HOUR {
            advance_time(after_s - start.elapsed().as_secs() - 1).await;
        } else if start.elapsed().is_zero() {
            advance_time(SECONDS_PER_HOUR - 1).await;
            assert_eq!(bob.drain_messages().await, [Value::Null; 0]);
        }
        let ended = bob.expect_event("ended").await;
        assert_eq!(ended["match"], ids[index]);
        assert_eq!(start.elapsed().as_secs(), after_s, "{index}");
    }
}

#[tokio::test(start_paused = true)]
async fn hibernating_match_ends_by_timeout_without_connections() {
    let store = Arc::new(MemoryStore::default());
    let server = start_server_with_store(settings_started_at(0), &store);
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = start_correspondence_match(&mut ann, &mut bob).await;
    for (ply, m) in ["e2e4", "e7e5"].into_iter().enumerate() {
        let mover = if ply == 0 { &mut ann } else { &mut bob };
        mover.play_move(&id, ply as u64, m).await;
    }
    let (ann_token, bob_token) = (ann.token(), bob.token());
    drop((ann, bob));
    advance_time(11 * 60).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 1);
    let (ann, welcome) = server.resume_session(&ann_token).await;
    let due_ms = START_MS + SECONDS_PER_DAY * 1000;
    let row = json!({"match": id, "you": 0, "days": true, "turn": 0, "due_ms": due_ms});
    assert_eq!(welcome["following"], json!([row]));
    assert_eq!(
        metric_value(&server, "matches_dormant"),
        1,
        "listing a match does not load it"
    );
    drop(ann);
    advance_time(SECONDS_PER_DAY).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 0);
    assert_eq!(metric_value(&server, "matches_woken_total"), 1);
    let ended_metric = "plyhouse_matches{game=\"chess\",status=\"ended\"} 0";
    let metrics = server.server.metrics_text();
    assert!(metrics.contains(ended_metric), "still in memory: {metrics}");
    let (mut bob, welcome) = server.resume_session(&bob_token).await;
    assert_eq!(welcome["following"], json!([]));
    let snapshot = watch_match(&mut bob, &id).await;
    let outcome = json!({"winner": 1, "reason": "timeout"});
    assert_eq!(snapshot["outcome"], outcome);
}

#[tokio::test(start_paused = true)]
async fn hibernating_match_is_loaded_on_request() {
    let server = TestServer::start(settings_started_at(0));
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = start_correspondence_match(&mut ann, &mut bob).await;
    let code = watch_match(&mut ann, &id).await["code"].clone();
    let list = json!({"type": "list", "status": "running"});
    assert_eq!(ann.request(list.clone()).await["total"], 1);
    let (ann_token, bob_token) = (ann.token(), bob.token());
    drop((ann, bob));
    let mut cat = server.connect_player("cat").await;
    cat.request(json!({"type": "watch_list", "status": "running"}))
        .await;
    advance_time(599).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 0);
    advance_time(3).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 1);
    assert_eq!(cat.expect_event("list_changed").await["gone"], json!([id]));
    assert_eq!(cat.request(list.clone()).await["total"], 0);
    let snapshot = watch_match(&mut cat, &json_string(&code)).await;
    assert_eq!(
        (&snapshot["match"], &snapshot["status"]),
        (&json!(id), &json!("running"))
    );
    assert_eq!(metric_value(&server, "matches_dormant"), 0);
    assert_eq!(cat.request(list).await["total"], 1);
    advance_time(SECONDS_PER_HOUR).await;
    assert_eq!(
        metric_value(&server, "matches_dormant"),
        0,
        "a spectator follows it"
    );
    cat.request(json!({"type": "leave", "match": id})).await;
    advance_time(602).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 1);
    // A player can move in a hibernating match without watching it first.
    let (mut ann, _) = server.resume_session(&ann_token).await;
    assert_eq!(ann.play_move(&id, 0, "e2e4").await["type"], "ok");
    let (mut bob, _) = server.resume_session(&bob_token).await;
    assert_eq!(watch_match(&mut bob, &id).await["moves"], json!(["e2e4"]));
    assert_eq!(bob.play_move(&id, 1, "e7e5").await["type"], "ok");
    let your_turn = ann.expect_event("your_turn").await;
    assert_eq!(
        (&your_turn["match"], &your_turn["ply"]),
        (&json!(id), &json!(2))
    );
    let now_ms = ann.request(json!({"type": "ping"})).await["now_ms"].clone();
    let due_ms = now_ms
        .as_u64()
        .map(|now_ms| now_ms + SECONDS_PER_DAY * 1000);
    assert_eq!(your_turn["due_ms"], json!(due_ms));
}

#[tokio::test(start_paused = true)]
async fn your_turn_is_sent_only_to_players_not_following_match() {
    let server = TestServer::start(settings_started_at(0));
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = start_correspondence_match(&mut ann, &mut bob).await;
    ann.play_move(&id, 0, "e2e4").await;
    let messages = bob.drain_messages().await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    let (mut bob, welcome) = server.resume_session(&bob.token()).await;
    let due_ms = START_MS + SECONDS_PER_DAY * 1000;
    let row = json!({"match": id, "you": 1, "days": true, "turn": 1, "due_ms": due_ms});
    assert_eq!(welcome["following"], json!([row]));
    assert_eq!(
        bob.drain_messages().await,
        [Value::Null; 0],
        "no snapshot is sent"
    );
    advance_time(60).await;
    assert_eq!(bob.play_move(&id, 1, "e7e5").await["type"], "ok");
    ann.play_move(&id, 2, "g1f3").await;
    let your_turn = json!({"type": "your_turn", "match": id, "game": "chess", "ply": 3,
                      "due_ms": due_ms + 60_000});
    assert_eq!(bob.next_message().await, your_turn);
    let open = ann.create_match(correspondence_params("chess")).await;
    let (_, welcome) = server.resume_session(&ann.token()).await;
    assert_eq!(
        welcome["following"][1],
        json!({"match": open, "you": 0, "days": true, "turn": null})
    );
}

#[tokio::test(start_paused = true)]
async fn correspondence_matches_have_a_separate_limit() {
    let server = TestServer::start(Settings {
        correspondence_matches_per_player: 2,
        live_matches_per_player: 1,
        following_max: 1,
        ..settings_started_at(0)
    });
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    assert_eq!(bob.welcome["limits"]["days_matches"], 2);
    let mut match_ids = Vec::new();
    for _ in 0..2 {
        match_ids.push(ann.create_match(correspondence_params("chess")).await);
    }
    let create = json!({"type": "create", "game": "chess",
                        "clock": {"kind": "move", "move_ms": SECONDS_PER_DAY * 1000}});
    assert_eq!(ann.expect_error(create).await, "too_many_matches");
    let seek = json!({"type": "seek", "game": "chess",
                      "clock": {"kind": "move", "move_ms": SECONDS_PER_DAY * 1000}});
    assert_eq!(ann.expect_error(seek).await, "too_many_matches");
    ann.create_match(json!({})).await;
    let join = |id: &str| json!({"type": "join", "match": id});
    for id in &match_ids {
        bob.request(join(id)).await;
    }
    let mut cat = server.connect_player("cat").await;
    let third = cat.create_match(correspondence_params("chess")).await;
    assert_eq!(bob.expect_error(join(&third)).await, "too_many_matches");
    assert_eq!(
        bob.expect_error(join(&match_ids[0])).await,
        "already_seated"
    );
    // Matches that a player only watches also count towards the limit of followed matches.
    let watch = |id: &str| json!({"type": "watch", "match": id});
    assert_eq!(bob.request(watch(&third)).await["type"], "match");
    let fourth = cat.create_match(json!({"listed": false})).await;
    assert_eq!(bob.expect_error(watch(&fourth)).await, "too_many_matches");
    assert_eq!(cat.expect_error(join(&match_ids[0])).await, "seat_taken");
}

#[tokio::test(start_paused = true)]
async fn open_correspondence_match_is_aborted_after_two_weeks() {
    let store = Arc::new(MemoryStore::default());
    let server = start_server_with_store(settings_started_at(0), &store);
    let mut ann = server.connect_player("ann").await;
    let id = ann.create_match(correspondence_params("chess")).await;
    let token = ann.token();
    drop(ann);
    advance_time(7 * SECONDS_PER_DAY).await;
    server.server.stop().await;
    let server = start_server_with_store(settings_started_at(7 * SECONDS_PER_DAY), &store);
    let recovered = server.server.recover().await.expect("readable");
    assert_eq!((recovered.live, recovered.hibernating), (1, 0));
    advance_time(7 * SECONDS_PER_DAY - 2).await;
    let (mut ann, _) = server.resume_session(&token).await;
    assert_eq!(watch_match(&mut ann, &id).await["status"], "open");
    let start = Instant::now();
    let ended = ann.expect_event("ended").await;
    assert!(start.elapsed().as_secs() <= 2);
    assert_eq!(
        ended["outcome"],
        json!({"winner": null, "reason": "aborted"})
    );
}

#[tokio::test(start_paused = true)]
async fn unavailable_store_postpones_overdue_endings() {
    let store = Arc::new(FailingStore::default());
    let server =
        TestServer::with_store(settings_started_at(0), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = start_correspondence_match(&mut ann, &mut bob).await;
    ann.play_move(&id, 0, "e2e4").await;
    let token = ann.token();
    drop((ann, bob));
    advance_time(SECONDS_PER_HOUR).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 1);
    store.set_mode(UNAVAILABLE);
    advance_time(SECONDS_PER_DAY).await;
    let (mut ann, _) = server.resume_session(&token).await;
    assert_eq!(watch_match(&mut ann, &id).await["status"], "running");
    store.set_mode(HEALTHY);
    let ended = ann.expect_event("ended").await;
    assert_eq!(ended["outcome"]["detail"], "no-first-move");
}

#[tokio::test(start_paused = true)]
async fn overdue_match_waits_for_free_match_slot() {
    let server = TestServer::start(Settings {
        matches_max: 1,
        ..settings_started_at(0)
    });
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = start_correspondence_match(&mut ann, &mut bob).await;
    drop(bob);
    ann.request(json!({"type": "leave", "match": id})).await;
    let (mut ann, _) = server.resume_session(&ann.token()).await;
    advance_time(SECONDS_PER_HOUR).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 1);
    let other = ann.create_match(json!({})).await;
    advance_time(SECONDS_PER_DAY).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 1);
    ann.request(json!({"type": "leave", "match": other})).await;
    advance_time(10).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 0);
    assert_eq!(watch_match(&mut ann, &id).await["status"], "ended");
}
