//! Matches that are played over days: who is told of them, when their flags fall, and how they wait in
//! the store.

mod many;

use std::sync::Arc;

use plyhouse_server::Settings;
use plyhouse_store::{MemoryStore, Store};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::failing_store::{FailingStore, HEALTHY, UNAVAILABLE};
use crate::support::{TestPlayer, TestServer, advance_time, json_string, settings_without_pings};

const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;

/// When the first server of a test starts, in milliseconds since 1970.
const START_MS: u64 = 1_700_000_000_000;

fn over_days(game: &str) -> Value {
    json!({"game": game, "clock": {"kind": "move", "move_ms": DAY * 1000}})
}

/// The settings of a server that starts so many seconds after the first.
fn started_at(seconds: u64) -> Settings {
    Settings {
        started_ms: Some(START_MS + seconds * 1000),
        seed: Some(seconds),
        ..settings_without_pings()
    }
}

fn with(settings: Settings, store: &Arc<MemoryStore>) -> TestServer {
    TestServer::with_store(settings, Arc::clone(store) as Arc<dyn Store>)
}

/// A match of days of these two that begins now.
async fn begun(ann: &mut TestPlayer, bob: &mut TestPlayer) -> String {
    let id = ann.create_match(over_days("chess")).await;
    bob.request(json!({"type": "join", "match": id})).await;
    ann.expect_event("seated").await;
    ann.expect_event("started").await;
    id
}

async fn watch(player: &mut TestPlayer, id: &str) -> Value {
    player.request(json!({"type": "watch", "match": id})).await
}

/// The value of a metric without labels.
fn metric(server: &TestServer, name: &str) -> u64 {
    let page = server.server.metrics_text();
    let begin = format!("plyhouse_{name} ");
    let value = page.lines().find_map(|line| line.strip_prefix(&begin));
    value.expect("it is on the page").parse().expect("a number")
}

/// What fell due while nobody was there, or does in the first hour, ends when that is over, in its order.
/// Who moves before then has not lost.
#[tokio::test(start_paused = true)]
async fn flags_wait_for_an_hour_after_the_start_and_fall_in_their_order() {
    let store = Arc::new(MemoryStore::default());
    let server = with(started_at(0), &store);
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(begun(&mut ann, &mut bob).await);
    }
    // In another order than that of their creation. The last but one is due half an hour after the start of
    // the second server, the last two hours after.
    for (hours, which) in [(1, 2), (1, 0), (1, 1), (2, 3), (6, 4)] {
        advance_time(hours * HOUR).await;
        ann.play_move(&ids[which], 0, "e2e4").await;
        bob.expect_event("moved").await;
    }
    server.server.stop().await;
    let down_until = DAY + 9 * HOUR;
    let server = with(started_at(down_until), &store);
    let recovered = server.server.recover().await.expect("readable");
    assert_eq!((recovered.live, recovered.hibernating), (0, 5));
    let (mut bob, _) = server.resume_session(&bob.token()).await;
    for id in &ids {
        let shown = watch(&mut bob, id).await;
        assert_eq!(shown["status"], "running", "{shown}");
    }
    let moved = bob.play_move(&ids[0], 1, "e7e5").await;
    assert_eq!(moved["type"], "ok", "{moved}");
    bob.expect_event("moved").await;
    let begin = Instant::now();
    for (which, after_s) in [(2, HOUR), (1, HOUR), (3, HOUR), (4, 2 * HOUR)] {
        if after_s > HOUR {
            advance_time(after_s - begin.elapsed().as_secs() - 1).await;
        } else if begin.elapsed().is_zero() {
            advance_time(HOUR - 1).await;
            assert_eq!(bob.drain_messages().await, [Value::Null; 0]);
        }
        let ended = bob.expect_event("ended").await;
        assert_eq!(ended["match"], ids[which]);
        assert_eq!(begin.elapsed().as_secs(), after_s, "{which}");
    }
}

/// Nobody need follow a match for its flag to fall, nor be there.
#[tokio::test(start_paused = true)]
async fn the_sweeper_ends_what_nobody_looks_at() {
    let store = Arc::new(MemoryStore::default());
    let server = with(started_at(0), &store);
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = begun(&mut ann, &mut bob).await;
    for (ply, m) in ["e2e4", "e7e5"].into_iter().enumerate() {
        let mover = if ply == 0 { &mut ann } else { &mut bob };
        mover.play_move(&id, ply as u64, m).await;
    }
    let (ann_token, bob_token) = (ann.token(), bob.token());
    drop((ann, bob));
    advance_time(11 * 60).await;
    assert_eq!(metric(&server, "matches_dormant"), 1);
    let (ann, welcome) = server.resume_session(&ann_token).await;
    let due_ms = START_MS + DAY * 1000;
    let row = json!({"match": id, "you": 0, "days": true, "turn": 0, "due_ms": due_ms});
    assert_eq!(welcome["following"], json!([row]));
    assert_eq!(
        metric(&server, "matches_dormant"),
        1,
        "to be listed wakes none"
    );
    drop(ann);
    advance_time(DAY).await;
    assert_eq!(metric(&server, "matches_dormant"), 0);
    assert_eq!(metric(&server, "matches_woken_total"), 1);
    let counted = "plyhouse_matches{game=\"chess\",status=\"ended\"} 0";
    let page = server.server.metrics_text();
    assert!(page.contains(counted), "it does not stay in memory: {page}");
    let (mut bob, welcome) = server.resume_session(&bob_token).await;
    assert_eq!(welcome["following"], json!([]));
    let shown = watch(&mut bob, &id).await;
    let outcome = json!({"winner": 1, "reason": "timeout"});
    assert_eq!(shown["outcome"], outcome);
}

/// A match that was let go of goes on as if nothing had been.
#[tokio::test(start_paused = true)]
async fn a_dormant_match_is_read_when_it_is_asked_for() {
    let server = TestServer::start(started_at(0));
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = begun(&mut ann, &mut bob).await;
    let code = watch(&mut ann, &id).await["code"].clone();
    let list = json!({"type": "list", "status": "running"});
    assert_eq!(ann.request(list.clone()).await["total"], 1);
    let (ann_token, bob_token) = (ann.token(), bob.token());
    drop((ann, bob));
    let mut cat = server.connect_player("cat").await;
    cat.request(json!({"type": "watch_list", "status": "running"}))
        .await;
    advance_time(599).await;
    assert_eq!(metric(&server, "matches_dormant"), 0);
    advance_time(3).await;
    assert_eq!(metric(&server, "matches_dormant"), 1);
    assert_eq!(cat.expect_event("list_changed").await["gone"], json!([id]));
    assert_eq!(cat.request(list.clone()).await["total"], 0);
    let shown = watch(&mut cat, &json_string(&code)).await;
    assert_eq!(
        (&shown["match"], &shown["status"]),
        (&json!(id), &json!("running"))
    );
    assert_eq!(metric(&server, "matches_dormant"), 0);
    assert_eq!(cat.request(list).await["total"], 1);
    advance_time(HOUR).await;
    assert_eq!(metric(&server, "matches_dormant"), 0, "somebody follows it");
    cat.request(json!({"type": "leave", "match": id})).await;
    advance_time(602).await;
    assert_eq!(metric(&server, "matches_dormant"), 1);
    // A move needs no look at the match before.
    let (mut ann, _) = server.resume_session(&ann_token).await;
    assert_eq!(ann.play_move(&id, 0, "e2e4").await["type"], "ok");
    let (mut bob, _) = server.resume_session(&bob_token).await;
    assert_eq!(watch(&mut bob, &id).await["moves"], json!(["e2e4"]));
    assert_eq!(bob.play_move(&id, 1, "e7e5").await["type"], "ok");
    let told = ann.expect_event("your_turn").await;
    assert_eq!((&told["match"], &told["ply"]), (&json!(id), &json!(2)));
    let now_ms = ann.request(json!({"type": "ping"})).await["now_ms"].clone();
    let due_ms = now_ms.as_u64().map(|now_ms| now_ms + DAY * 1000);
    assert_eq!(told["due_ms"], json!(due_ms));
}

/// Whoever follows is told by the event alone, and whoever does not by a message of its own.
#[tokio::test(start_paused = true)]
async fn whose_turn_it_is_is_told_where_the_match_is_not_followed() {
    let server = TestServer::start(started_at(0));
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = begun(&mut ann, &mut bob).await;
    ann.play_move(&id, 0, "e2e4").await;
    let heard = bob.drain_messages().await;
    assert_eq!(heard.len(), 1, "{heard:?}");
    let (mut bob, welcome) = server.resume_session(&bob.token()).await;
    let due_ms = START_MS + DAY * 1000;
    let row = json!({"match": id, "you": 1, "days": true, "turn": 1, "due_ms": due_ms});
    assert_eq!(welcome["following"], json!([row]));
    assert_eq!(
        bob.drain_messages().await,
        [Value::Null; 0],
        "no snapshot comes"
    );
    advance_time(60).await;
    assert_eq!(bob.play_move(&id, 1, "e7e5").await["type"], "ok");
    ann.play_move(&id, 2, "g1f3").await;
    let told = json!({"type": "your_turn", "match": id, "game": "chess", "ply": 3,
                      "due_ms": due_ms + 60_000});
    assert_eq!(bob.next_message().await, told);
    let open = ann.create_match(over_days("chess")).await;
    let (_, welcome) = server.resume_session(&ann.token()).await;
    assert_eq!(
        welcome["following"][1],
        json!({"match": open, "you": 0, "days": true, "turn": null})
    );
}

/// Matches of days have a number of their own, and take no place from others.
#[tokio::test(start_paused = true)]
async fn matches_of_days_are_counted_by_themselves() {
    let server = TestServer::start(Settings {
        correspondence_matches_per_player: 2,
        live_matches_per_player: 1,
        following_max: 1,
        ..started_at(0)
    });
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    assert_eq!(bob.welcome["limits"]["days_matches"], 2);
    let mut own = Vec::new();
    for _ in 0..2 {
        own.push(ann.create_match(over_days("chess")).await);
    }
    let create = json!({"type": "create", "game": "chess",
                        "clock": {"kind": "move", "move_ms": DAY * 1000}});
    assert_eq!(ann.expect_error(create).await, "too_many_matches");
    let seek = json!({"type": "seek", "game": "chess",
                      "clock": {"kind": "move", "move_ms": DAY * 1000}});
    assert_eq!(ann.expect_error(seek).await, "too_many_matches");
    ann.create_match(json!({})).await;
    let join = |id: &str| json!({"type": "join", "match": id});
    for id in &own {
        bob.request(join(id)).await;
    }
    let mut cat = server.connect_player("cat").await;
    let third = cat.create_match(over_days("chess")).await;
    assert_eq!(bob.expect_error(join(&third)).await, "too_many_matches");
    assert_eq!(bob.expect_error(join(&own[0])).await, "already_seated");
    // Of those in which one has no part, one counts like any other.
    let watch = |id: &str| json!({"type": "watch", "match": id});
    assert_eq!(bob.request(watch(&third)).await["type"], "match");
    let fourth = cat.create_match(json!({"listed": false})).await;
    assert_eq!(bob.expect_error(watch(&fourth)).await, "too_many_matches");
    assert_eq!(cat.expect_error(join(&own[0])).await, "seat_taken");
}

#[tokio::test(start_paused = true)]
async fn an_open_match_of_days_waits_for_a_fortnight() {
    let store = Arc::new(MemoryStore::default());
    let server = with(started_at(0), &store);
    let mut ann = server.connect_player("ann").await;
    let id = ann.create_match(over_days("chess")).await;
    let token = ann.token();
    drop(ann);
    advance_time(7 * DAY).await;
    server.server.stop().await;
    let server = with(started_at(7 * DAY), &store);
    let recovered = server.server.recover().await.expect("readable");
    assert_eq!((recovered.live, recovered.hibernating), (1, 0));
    advance_time(7 * DAY - 2).await;
    let (mut ann, _) = server.resume_session(&token).await;
    assert_eq!(watch(&mut ann, &id).await["status"], "open");
    let begin = Instant::now();
    let ended = ann.expect_event("ended").await;
    assert!(begin.elapsed().as_secs() <= 2);
    assert_eq!(
        ended["outcome"],
        json!({"winner": null, "reason": "aborted"})
    );
}

/// While the store refuses, nothing ends; then everything does that is due.
#[tokio::test(start_paused = true)]
async fn a_store_that_refuses_holds_the_sweeper_up() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(started_at(0), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = begun(&mut ann, &mut bob).await;
    ann.play_move(&id, 0, "e2e4").await;
    let token = ann.token();
    drop((ann, bob));
    advance_time(HOUR).await;
    assert_eq!(metric(&server, "matches_dormant"), 1);
    store.set_mode(UNAVAILABLE);
    advance_time(DAY).await;
    let (mut ann, _) = server.resume_session(&token).await;
    assert_eq!(watch(&mut ann, &id).await["status"], "running");
    store.set_mode(HEALTHY);
    let ended = ann.expect_event("ended").await;
    assert_eq!(ended["outcome"]["detail"], "no-first-move");
}

/// Where there is no room, a match that is due waits until there is.
#[tokio::test(start_paused = true)]
async fn what_is_due_waits_for_room() {
    let server = TestServer::start(Settings {
        matches_max: 1,
        ..started_at(0)
    });
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = begun(&mut ann, &mut bob).await;
    drop(bob);
    ann.request(json!({"type": "leave", "match": id})).await;
    let (mut ann, _) = server.resume_session(&ann.token()).await;
    advance_time(HOUR).await;
    assert_eq!(metric(&server, "matches_dormant"), 1);
    let other = ann.create_match(json!({})).await;
    advance_time(DAY).await;
    assert_eq!(metric(&server, "matches_dormant"), 1);
    ann.request(json!({"type": "leave", "match": other})).await;
    advance_time(10).await;
    assert_eq!(metric(&server, "matches_dormant"), 0);
    assert_eq!(watch(&mut ann, &id).await["status"], "ended");
}
