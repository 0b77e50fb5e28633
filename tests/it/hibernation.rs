//! Tests of hibernation: idle matches are removed from memory and loaded again on demand.

use std::sync::Arc;

use plyhouse_server::Settings;
use plyhouse_store::{MemoryStore, Store};
use serde_json::json;

use crate::fault_injecting_store::{FailingStore, HEALTHY, UNAVAILABLE};
use crate::support::{TestPlayer, TestServer, advance_time, settings_without_pings};

const SECONDS_PER_MINUTE: u64 = 60;
const SECONDS_PER_HOUR: u64 = 60 * SECONDS_PER_MINUTE;
const SECONDS_PER_DAY: u64 = 24 * SECONDS_PER_HOUR;

/// Returns settings for a server that starts `seconds` later than the test's first server, in
/// simulated time. The absence limit in matches against a bot is one day.
fn settings_started_at(seconds: u64) -> Settings {
    Settings {
        started_ms: Some(1_700_000_000_000 + seconds * 1000),
        seed: Some(seconds),
        abandon_after: None,
        ..settings_without_pings()
    }
}

fn start_server_with_store(settings: Settings, store: &Arc<MemoryStore>) -> TestServer {
    TestServer::with_store(settings, Arc::clone(store) as Arc<dyn Store>)
}

fn metric_value(server: &TestServer, name: &str) -> u64 {
    let metrics = server.server.metrics_text();
    let prefix = format!("plyhouse_{name} ");
    let value = metrics.lines().find_map(|line| line.strip_prefix(&prefix));
    value.expect("a known metric").parse().expect("a number")
}

/// Starts a match between Ann and a bot and waits for the bot's first move. Ann then disconnects.
/// Returns the match id and Ann's session token.
async fn start_and_leave_bot_match(server: &TestServer) -> (String, String) {
    let mut ann = server.connect_player("ann").await;
    let seats = json!(["me", {"bot": "beginner"}]);
    let id = ann
        .create_match(json!({"seats": seats, "game": "connect-four"}))
        .await;
    ann.play_move(&id, 0, "4").await;
    for _ in 0..2 {
        ann.expect_event("moved").await;
    }
    (id, ann.token())
}

async fn is_abandoned(player: &mut TestPlayer, id: &str) -> bool {
    let snapshot = player.request(json!({"type": "watch", "match": id})).await;
    if snapshot["status"] == "ended" {
        let outcome = json!({"winner": 1, "reason": "abandonment"});
        assert_eq!(snapshot["outcome"], outcome);
    }
    snapshot["status"] == "ended"
}

#[tokio::test(start_paused = true)]
async fn bot_match_hibernates_until_player_returns() {
    let server = TestServer::start(settings_started_at(0));
    let (id, token) = start_and_leave_bot_match(&server).await;
    advance_time(10 * SECONDS_PER_MINUTE - 2).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 0);
    advance_time(5).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 1);
    assert_eq!(
        metric_value(&server, "players"),
        0,
        "no player stays in memory"
    );
    let (mut ann, welcome) = server.resume_session(&token).await;
    assert_eq!(welcome["following"], json!([{"match": id, "you": 0}]));
    let snapshot = ann.expect_event("match").await;
    assert_eq!(
        (&snapshot["ply"], &snapshot["turn"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(metric_value(&server, "matches_dormant"), 0);
    advance_time(SECONDS_PER_HOUR).await;
    assert_eq!(
        metric_value(&server, "matches_dormant"),
        0,
        "the player is connected"
    );
    assert_eq!(ann.play_move(&id, 2, "4").await["type"], "ok");
    ann.expect_event("moved").await;
    ann.expect_event("moved").await;
    drop(ann);
    advance_time(SECONDS_PER_DAY - 10).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 1);
    advance_time(20).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 0);
    let (mut ann, welcome) = server.resume_session(&token).await;
    assert_eq!(welcome["following"], json!([]));
    assert!(is_abandoned(&mut ann, &id).await);
}

#[tokio::test(start_paused = true)]
async fn spectator_does_not_extend_absence_limit() {
    let server = TestServer::start(settings_started_at(0));
    let (id, _) = start_and_leave_bot_match(&server).await;
    advance_time(SECONDS_PER_DAY - SECONDS_PER_HOUR).await;
    let mut cat = server.connect_player("cat").await;
    assert!(!is_abandoned(&mut cat, &id).await);
    let presence = cat.expect_event("presence").await;
    let absent_ms = presence["gone_ms"][0].as_u64().expect("an absent player");
    assert!(absent_ms <= SECONDS_PER_HOUR * 1000, "{presence}");
    assert!(absent_ms > (SECONDS_PER_HOUR - 5) * 1000, "{presence}");
    advance_time(SECONDS_PER_HOUR).await;
    assert!(is_abandoned(&mut cat, &id).await);
}

#[tokio::test(start_paused = true)]
async fn restart_resets_absence_of_hibernating_match() {
    let store = Arc::new(MemoryStore::default());
    let server = start_server_with_store(settings_started_at(0), &store);
    let (id, _) = start_and_leave_bot_match(&server).await;
    advance_time(SECONDS_PER_HOUR).await;
    server.server.stop().await;
    let server = start_server_with_store(settings_started_at(2 * SECONDS_PER_DAY), &store);
    let recovered = server.server.recover().await.expect("readable");
    assert_eq!((recovered.live, recovered.hibernating), (0, 1));
    advance_time(SECONDS_PER_DAY - SECONDS_PER_HOUR).await;
    let mut cat = server.connect_player("cat").await;
    assert!(!is_abandoned(&mut cat, &id).await);
    advance_time(SECONDS_PER_HOUR + SECONDS_PER_MINUTE).await;
    assert!(is_abandoned(&mut cat, &id).await);
}

#[tokio::test(start_paused = true)]
async fn match_does_not_hibernate_while_store_is_unavailable() {
    let store = Arc::new(FailingStore::default());
    let server =
        TestServer::with_store(settings_started_at(0), Arc::clone(&store) as Arc<dyn Store>);
    let (_, token) = start_and_leave_bot_match(&server).await;
    store.set_mode(UNAVAILABLE);
    advance_time(SECONDS_PER_HOUR).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 0);
    store.set_mode(HEALTHY);
    advance_time(5).await;
    assert_eq!(metric_value(&server, "matches_dormant"), 1);
    let (mut ann, _) = server.resume_session(&token).await;
    ann.expect_event("match").await;
}

#[tokio::test(start_paused = true)]
async fn ended_unlisted_match_leaves_memory_without_followers() {
    let server = TestServer::start(settings_started_at(0));
    let unlisted = json!({"listed": false});
    let (mut ann, bob, id) = server.start_match_with(unlisted).await;
    ann.request(json!({"type": "resign", "match": id})).await;
    let is_in_memory = || {
        let ended = "plyhouse_matches{game=\"tic-tac-toe\",status=\"ended\"} 1";
        server.server.metrics_text().contains(ended)
    };
    drop(bob);
    advance_time(5).await;
    assert!(is_in_memory(), "ann follows the match");
    let watch = json!({"type": "watch", "match": id});
    let before = ann.request(watch.clone()).await;
    drop(ann);
    advance_time(5).await;
    assert!(!is_in_memory());
    let mut cat = server.connect_player("cat").await;
    let after = cat.request(watch).await;
    for field in ["code", "outcome", "seq", "moves", "position", "said"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert!(is_in_memory(), "cat follows the match");
}

#[tokio::test(start_paused = true)]
async fn ended_match_with_chat_stays_in_memory() {
    let server = TestServer::start(settings_started_at(0));
    let unlisted = json!({"listed": false});
    let (mut ann, bob, id) = server.start_match_with(unlisted).await;
    ann.request(json!({"type": "resign", "match": id})).await;
    let said = ann.request(json!({"type": "say", "match": id, "preset": "good-game"}));
    assert_eq!(said.await["type"], "ok");
    drop((ann, bob));
    advance_time(5).await;
    let mut cat = server.connect_player("cat").await;
    let snapshot = cat.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        snapshot["said"].as_array().map(Vec::len),
        Some(1),
        "{snapshot}"
    );
}
