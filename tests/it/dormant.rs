//! Matches that nobody needs for a while, and that are read again when somebody does.

use std::sync::Arc;

use plyhouse_server::Settings;
use plyhouse_store::{MemoryStore, Store};
use serde_json::json;

use crate::failing_store::{FailingStore, HEALTHY, UNAVAILABLE};
use crate::support::{TestPlayer, TestServer, advance_time, settings_without_pings};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The settings of a server that starts so many seconds after the first, and gives people a day to come
/// back to a bot.
fn started_at(seconds: u64) -> Settings {
    Settings {
        started_ms: Some(1_700_000_000_000 + seconds * 1000),
        seed: Some(seconds),
        abandon_after: None,
        ..settings_without_pings()
    }
}

fn with(settings: Settings, store: &Arc<MemoryStore>) -> TestServer {
    TestServer::with_store(settings, Arc::clone(store) as Arc<dyn Store>)
}

fn metric(server: &TestServer, name: &str) -> u64 {
    let page = server.server.metrics_text();
    let begin = format!("plyhouse_{name} ");
    let value = page.lines().find_map(|line| line.strip_prefix(&begin));
    value.expect("it is on the page").parse().expect("a number")
}

/// A match of Ann against a bot that has answered her first move; she is gone.
async fn left(server: &TestServer) -> (String, String) {
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

async fn ended(player: &mut TestPlayer, id: &str) -> bool {
    let shown = player.request(json!({"type": "watch", "match": id})).await;
    if shown["status"] == "ended" {
        let outcome = json!({"winner": 1, "reason": "abandonment"});
        assert_eq!(shown["outcome"], outcome);
    }
    shown["status"] == "ended"
}

/// Whoever comes back finds the match as it was, and notices nothing.
#[tokio::test(start_paused = true)]
async fn a_match_against_a_bot_rests_until_its_player_comes_back() {
    let server = TestServer::start(started_at(0));
    let (id, token) = left(&server).await;
    advance_time(10 * MINUTE - 2).await;
    assert_eq!(metric(&server, "matches_dormant"), 0);
    advance_time(5).await;
    assert_eq!(metric(&server, "matches_dormant"), 1);
    assert_eq!(metric(&server, "players"), 0, "nobody is held for it");
    let (mut ann, welcome) = server.resume_session(&token).await;
    assert_eq!(welcome["following"], json!([{"match": id, "you": 0}]));
    let shown = ann.expect_event("match").await;
    assert_eq!((&shown["ply"], &shown["turn"]), (&json!(2), &json!(0)));
    assert_eq!(metric(&server, "matches_dormant"), 0);
    advance_time(HOUR).await;
    assert_eq!(metric(&server, "matches_dormant"), 0, "she is there");
    assert_eq!(ann.play_move(&id, 2, "4").await["type"], "ok");
    ann.expect_event("moved").await;
    ann.expect_event("moved").await;
    drop(ann);
    advance_time(DAY - 10).await;
    assert_eq!(metric(&server, "matches_dormant"), 1);
    advance_time(20).await;
    assert_eq!(metric(&server, "matches_dormant"), 0);
    let (mut ann, welcome) = server.resume_session(&token).await;
    assert_eq!(welcome["following"], json!([]));
    assert!(ended(&mut ann, &id).await);
}

/// To be looked at gives nobody more time.
#[tokio::test(start_paused = true)]
async fn who_watches_changes_nothing_for_those_who_are_away() {
    let server = TestServer::start(started_at(0));
    let (id, _) = left(&server).await;
    advance_time(DAY - HOUR).await;
    let mut cat = server.connect_player("cat").await;
    assert!(!ended(&mut cat, &id).await);
    let presence = cat.expect_event("presence").await;
    let gone_ms = presence["gone_ms"][0].as_u64().expect("she is away");
    assert!(gone_ms <= HOUR * 1000, "{presence}");
    assert!(gone_ms > (HOUR - 5) * 1000, "{presence}");
    advance_time(HOUR).await;
    assert!(ended(&mut cat, &id).await);
}

/// After a restart absence counts anew, also where nobody has read the match.
#[tokio::test(start_paused = true)]
async fn a_restart_leaves_it_where_it_is() {
    let store = Arc::new(MemoryStore::default());
    let server = with(started_at(0), &store);
    let (id, _) = left(&server).await;
    advance_time(HOUR).await;
    server.server.stop().await;
    let server = with(started_at(2 * DAY), &store);
    let recovered = server.server.recover().await.expect("readable");
    assert_eq!((recovered.live, recovered.hibernating), (0, 1));
    advance_time(DAY - HOUR).await;
    let mut cat = server.connect_player("cat").await;
    assert!(!ended(&mut cat, &id).await);
    advance_time(HOUR + MINUTE).await;
    assert!(ended(&mut cat, &id).await);
}

/// What the store does not take is not let go of.
#[tokio::test(start_paused = true)]
async fn while_the_store_refuses_nothing_rests() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(started_at(0), Arc::clone(&store) as Arc<dyn Store>);
    let (_, token) = left(&server).await;
    store.set_mode(UNAVAILABLE);
    advance_time(HOUR).await;
    assert_eq!(metric(&server, "matches_dormant"), 0);
    store.set_mode(HEALTHY);
    advance_time(5).await;
    assert_eq!(metric(&server, "matches_dormant"), 1);
    let (mut ann, _) = server.resume_session(&token).await;
    ann.expect_event("match").await;
}
