//! Matches by the clock: what moves are charged, when a flag falls, and why a clock stands.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_server::Settings;
use plyhouse_store::{MemoryStore, Store};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::failing_store::{FailingStore, HEALTHY, PANIC_ONCE, REFUSE_ONCE, UNAVAILABLE};
use crate::support::{TestPlayer, TestServer, advance_time, settings_without_pings};

fn blitz() -> Value {
    json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 2000})
}

fn by_clock(game: &str, clock: &Value) -> Value {
    json!({"game": game, "clock": clock})
}

async fn pass_ms(ms: u64) {
    sleep(Duration::from_millis(ms)).await;
}

/// Ann and Bob after the free plies e2e4 and e7e5 of chess by this clock, all of which has been told.
async fn begun(server: &TestServer, clock: &Value) -> (TestPlayer, TestPlayer, String) {
    let (mut ann, mut bob, id) = server.start_match_with(by_clock("chess", clock)).await;
    ann.play_move(&id, 0, "e2e4").await;
    bob.expect_event("moved").await;
    bob.play_move(&id, 1, "e7e5").await;
    ann.drain_messages().await;
    bob.drain_messages().await;
    (ann, bob, id)
}

/// The fields of a message that tell of time.
fn times(message: &Value) -> Value {
    let fields = [
        "left_ms",
        "periods",
        "spent_ms",
        "turn_ms",
        "stands",
        "first_move_ms",
        "patience_ms",
    ];
    let told = fields.into_iter().filter_map(|field| {
        let value = message.get(field)?;
        Some((field.to_owned(), value.clone()))
    });
    Value::Object(told.collect())
}

#[tokio::test(start_paused = true)]
async fn moves_are_charged_and_the_flag_falls() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = ann.create_match(by_clock("chess", &blitz())).await;
    let open = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(open["clock"], blitz());
    assert_eq!(times(&open), json!({"left_ms": [60000, 60000]}));
    let joined = bob.request(json!({"type": "join", "match": id})).await;
    ann.expect_event("seated").await;
    let started = ann.expect_event("started").await;
    assert_eq!(
        times(&started),
        json!({"left_ms": [60000, 60000], "first_move_ms": 30000, "patience_ms": 60000})
    );
    assert_eq!(
        times(&joined),
        json!({"left_ms": [60000, 60000], "turn_ms": 0, "stands": false,
               "first_move_ms": 30000, "patience_ms": 60000})
    );
    pass_ms(10_000).await;
    ann.play_move(&id, 0, "e2e4").await;
    assert_eq!(
        times(&bob.expect_event("moved").await),
        json!({"left_ms": [60000, 60000], "spent_ms": 0, "first_move_ms": 30000})
    );
    pass_ms(29_000).await;
    bob.play_move(&id, 1, "e7e5").await;
    bob.expect_event("moved").await;
    pass_ms(13_000).await;
    let shown = bob.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        times(&shown),
        json!({"left_ms": [60000, 60000], "turn_ms": 13000, "stands": false, "patience_ms": 60000})
    );
    ann.play_move(&id, 2, "g1f3").await;
    assert_eq!(
        times(&bob.expect_event("moved").await),
        json!({"left_ms": [49000, 60000], "spent_ms": 13000})
    );
    let begin = Instant::now();
    let ended = bob.expect_event("ended").await;
    assert_eq!(begin.elapsed().as_millis(), 60_000);
    assert_eq!(ended["outcome"], json!({"winner": 0, "reason": "timeout"}));
    assert_eq!(ended["left_ms"], json!([49000, 0]));
    let late = json!({"type": "move", "match": id, "ply": 3, "move": "b8c6"});
    assert_eq!(bob.expect_error(late).await, "match_ended");
}

#[tokio::test(start_paused = true)]
async fn a_first_ply_has_its_own_limit() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = server.start_match_with(by_clock("chess", &blitz())).await;
    pass_ms(29_999).await;
    ann.play_move(&id, 0, "e2e4").await;
    bob.expect_event("moved").await;
    let begin = Instant::now();
    let ended = bob.expect_event("ended").await;
    assert_eq!(begin.elapsed().as_millis(), 30_000);
    let outcome = json!({"winner": null, "reason": "aborted", "detail": "no-first-move", "by": 1});
    assert_eq!(ended["outcome"], outcome);
    assert_eq!(ended["left_ms"], json!([60000, 60000]));
}

#[tokio::test(start_paused = true)]
async fn periods_and_delays_are_told() {
    let server = TestServer::start(settings_without_pings());
    let clock = json!({"kind": "byo-yomi", "main_ms": 1000, "period_ms": 5000, "periods": 2});
    let (mut ann, mut bob, id) = begun(&server, &clock).await;
    pass_ms(7000).await;
    ann.play_move(&id, 2, "g1f3").await;
    let moved = bob.expect_event("moved").await;
    assert_eq!(
        times(&moved),
        json!({"left_ms": [0, 1000], "periods": [1, 2], "spent_ms": 7000})
    );
    pass_ms(11_000).await;
    let ended = bob.expect_event("ended").await;
    assert_eq!(
        (&ended["left_ms"], &ended["periods"]),
        (&json!([0, 0]), &json!([1, 0]))
    );
    let clock = json!({"kind": "delay", "main_ms": 60000, "delay_ms": 5000});
    let (mut ann, mut bob, id) = begun(&server, &clock).await;
    pass_ms(7000).await;
    ann.play_move(&id, 2, "g1f3").await;
    assert_eq!(
        bob.expect_event("moved").await["left_ms"],
        json!([58000, 60000])
    );
}

/// Whoever runs out of time against somebody who can never win has not lost.
#[tokio::test(start_paused = true)]
async fn nobody_loses_to_who_cannot_win() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = server
        .start_match_with(by_clock("tic-tac-toe", &blitz()))
        .await;
    let moves = ["a3", "a2", "c3", "a1", "b1", "b2", "c2", "c1"];
    for (ply, m) in moves.into_iter().enumerate() {
        let player = if ply % 2 == 0 { &mut ann } else { &mut bob };
        assert_eq!(player.play_move(&id, ply as u64, m).await["type"], "ok");
    }
    ann.drain_messages().await;
    let ended = ann.expect_event("ended").await;
    let outcome = json!({"winner": null, "reason": "timeout", "detail": "cannot-win"});
    assert_eq!(ended["outcome"], outcome);
}

/// A move that was read in time counts, however long the store takes, and none of that is charged.
#[tokio::test(start_paused = true)]
async fn a_slow_store_takes_nobodys_time() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, mut bob, id) = begun(&server, &blitz()).await;
    pass_ms(59_999).await;
    let gate = Arc::clone(&store);
    let closed = gate.write_gate.lock().await;
    let play = json!({"type": "move", "id": 99, "match": id, "ply": 2, "move": "g1f3"});
    ann.send_text(&play.to_string()).await;
    pass_ms(10_000).await;
    drop(closed);
    let moved = bob.expect_event("moved").await;
    assert_eq!(
        times(&moved),
        json!({"left_ms": [2001, 60000], "spent_ms": 59999})
    );
    pass_ms(3000).await;
    bob.play_move(&id, 3, "b8c6").await;
    assert_eq!(bob.expect_event("moved").await["spent_ms"], 3000);
}

/// What waits behind a slow write, and was read before the flag, is served before it falls.
#[tokio::test(start_paused = true)]
async fn what_was_read_before_the_flag_is_served_before_it() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    for (waits_ms, is_in_time) in [(59_500, true), (60_100, false)] {
        let (mut ann, mut bob, id) = begun(&server, &blitz()).await;
        pass_ms(59_000).await;
        let closed = store.write_gate.lock().await;
        // Bob's offer waits in the store while Ann's move waits behind it.
        let offer = json!({"type": "offer", "match": id, "offer": "draw", "ply": 2});
        bob.send_text(&offer.to_string()).await;
        pass_ms(waits_ms - 59_000).await;
        let play = json!({"type": "move", "match": id, "ply": 2, "move": "g1f3"});
        ann.send_text(&play.to_string()).await;
        pass_ms(61_500 - waits_ms).await;
        drop(closed);
        bob.expect_event("offered").await;
        if is_in_time {
            assert_eq!(bob.expect_event("moved").await["spent_ms"], waits_ms);
        } else {
            let ended = bob.expect_event("ended").await;
            // A draw was offered by the one who would have won.
            let outcome = json!({"winner": null, "reason": "agreement", "detail": "flag"});
            assert_eq!(ended["outcome"], outcome);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn while_the_store_refuses_the_clock_stands() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, mut bob, id) = begun(&server, &blitz()).await;
    pass_ms(20_000).await;
    store.set_mode(UNAVAILABLE);
    assert_eq!(ann.play_move(&id, 2, "g1f3").await["code"], "overloaded");
    let clock = bob.expect_event("clock").await;
    assert_eq!(
        times(&clock),
        json!({"left_ms": [60000, 60000], "turn_ms": 20000, "stands": true})
    );
    advance_time(200).await;
    let told = bob.drain_messages().await;
    assert!(told.iter().all(|told| told["type"] != "clock"), "{told:?}");
    store.set_mode(HEALTHY);
    let clock = bob.expect_event("clock").await;
    assert_eq!(
        (&clock["turn_ms"], &clock["stands"]),
        (&json!(20000), &json!(false))
    );
    pass_ms(5000).await;
    ann.play_move(&id, 2, "g1f3").await;
    let spent_ms = bob.expect_event("moved").await["spent_ms"]
        .as_u64()
        .expect("a number");
    assert!((25_000..26_100).contains(&spent_ms), "{spent_ms}");
}

/// While the store refuses, the clock of a match in which nobody does anything stands, too.
#[tokio::test(start_paused = true)]
async fn all_clocks_stand_while_the_store_refuses() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, _bob, busy) = begun(&server, &blitz()).await;
    let (mut cat, mut dan, idle) = begun(&server, &blitz()).await;
    pass_ms(20_000).await;
    store.set_mode(UNAVAILABLE);
    assert_eq!(ann.play_move(&busy, 2, "g1f3").await["code"], "overloaded");
    assert_eq!(dan.expect_event("clock").await["stands"], true);
    advance_time(300).await;
    store.set_mode(HEALTHY);
    assert_eq!(dan.expect_event("clock").await["stands"], false);
    pass_ms(5000).await;
    cat.play_move(&idle, 2, "g1f3").await;
    let spent_ms = dan.expect_event("moved").await["spent_ms"]
        .as_u64()
        .expect("a number");
    assert!((25_000..26_100).contains(&spent_ms), "{spent_ms}");
}

/// A clock that stands for one write that was refused goes on, too, though the store has been well.
#[tokio::test(start_paused = true)]
async fn what_is_refused_once_stops_no_clock_for_long() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, mut bob, id) = begun(&server, &blitz()).await;
    let (_cat, mut dan, _) = begun(&server, &blitz()).await;
    store.set_mode(REFUSE_ONCE);
    assert_eq!(ann.play_move(&id, 2, "g1f3").await["code"], "overloaded");
    assert_eq!(bob.expect_event("clock").await["stands"], true);
    advance_time(2).await;
    assert_eq!(bob.expect_event("clock").await["stands"], false);
    let others = dan.drain_messages().await;
    assert!(
        others.iter().all(|told| told["type"] != "clock"),
        "{others:?}"
    );
}

/// A flag that falls while the store refuses waits for it.
#[tokio::test(start_paused = true)]
async fn a_flag_waits_for_the_store() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (_ann, mut bob, _) = begun(&server, &blitz()).await;
    store.set_mode(UNAVAILABLE);
    advance_time(100).await;
    let told = bob.drain_messages().await;
    assert!(told.iter().all(|told| told["type"] != "ended"), "{told:?}");
    store.set_mode(HEALTHY);
    assert_eq!(bob.expect_event("clock").await["stands"], false);
    assert_eq!(
        bob.expect_event("ended").await["outcome"]["reason"],
        "timeout"
    );
}

/// A process that stood still flags nobody: what came meanwhile is read first.
#[tokio::test(start_paused = true)]
async fn a_late_alarm_flags_nobody() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = begun(&server, &blitz()).await;
    tokio::time::advance(Duration::from_secs(65)).await;
    assert_eq!(ann.play_move(&id, 2, "g1f3").await["type"], "ok");
    let moved = loop {
        let told = bob.next_message().await;
        if told["type"] == "moved" {
            break told;
        }
    };
    let spent_ms = moved["spent_ms"].as_u64().expect("a number");
    assert!((58_000..60_000).contains(&spent_ms), "{spent_ms}");
}

/// After a restart the turn begins anew, and stands until whoever is to move is there.
#[tokio::test(start_paused = true)]
async fn a_restart_takes_nobodys_time() {
    let store = Arc::new(MemoryStore::default());
    let first = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, mut bob, id) = begun(&first, &blitz()).await;
    pass_ms(13_000).await;
    ann.play_move(&id, 2, "g1f3").await;
    bob.expect_event("moved").await;
    pass_ms(40_000).await;
    let (ann, bob) = (ann.token(), bob.token());
    first.server.stop().await;
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    server.server.recover().await.expect("it can be read");
    let (mut ann, _) = server.resume_session(&ann).await;
    let shown = ann.expect_event("match").await;
    assert_eq!(
        times(&shown),
        json!({"left_ms": [49000, 60000], "turn_ms": 0, "stands": true, "patience_ms": 60000})
    );
    pass_ms(30_000).await;
    let (mut bob, _) = server.resume_session(&bob).await;
    let clock = ann.expect_event("clock").await;
    assert_eq!(
        (&clock["turn_ms"], &clock["stands"]),
        (&json!(0), &json!(false))
    );
    pass_ms(5000).await;
    bob.play_move(&id, 3, "b8c6").await;
    assert_eq!(ann.expect_event("moved").await["spent_ms"], 5000);
}

#[tokio::test(start_paused = true)]
async fn a_match_that_is_rebuilt_begins_its_turn_anew() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, mut bob, id) = begun(&server, &blitz()).await;
    pass_ms(30_000).await;
    store.set_mode(PANIC_ONCE);
    ann.play_move(&id, 2, "g1f3").await;
    let shown = bob.expect_event("match").await;
    assert_eq!(
        (&shown["turn_ms"], &shown["stands"]),
        (&json!(0), &json!(false))
    );
    pass_ms(59_000).await;
    assert_eq!(ann.play_move(&id, 2, "g1f3").await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn more_time_is_given() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = begun(&server, &blitz()).await;
    let give = json!({"type": "give_time", "match": id, "ms": 15000});
    let given = bob.request(give.clone()).await;
    let told = ann.expect_event("time_given").await;
    assert_eq!(told["seq"], given["seq"]);
    assert_eq!(
        json!([told["seat"], told["ms"], told["left_ms"]]),
        json!([0, 15000, [75000, 60000]])
    );
    let again = bob.request(give).await;
    assert_eq!(
        (&again["code"], &again["expected"]),
        (&json!("too_soon"), &json!(3))
    );
    let (ended, begin) = (ann.expect_event("ended"), Instant::now());
    assert_eq!(ended.await["outcome"]["winner"], 1);
    assert_eq!(
        begin.elapsed().as_millis(),
        75_000,
        "as if it had been there from the begin"
    );
}

/// Bots have clocks, too, and are charged for their search alone: the pace costs nothing.
#[tokio::test(start_paused = true)]
async fn a_bot_plays_by_the_clock() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let mut create = by_clock("tic-tac-toe", &blitz());
    create["seats"] = json!(["me", {"bot": "easy"}]);
    create["pace_ms"] = json!(5000);
    let id = ann.create_match(create).await;
    ann.play_move(&id, 0, "b2").await;
    ann.expect_event("moved").await;
    let moved = ann.expect_event("moved").await;
    assert_eq!(
        json!([moved["seat"], moved["spent_ms"], moved["left_ms"]]),
        json!([1, 0, [60000, 60000]])
    );
    pass_ms(1000).await;
    let legal = moved["legal"][0].as_str().expect("a move").to_owned();
    ann.play_move(&id, 2, &legal).await;
    ann.expect_event("moved").await;
    let moved = ann.expect_event("moved").await;
    assert_eq!(moved["spent_ms"], 0, "its search takes no paused time");
    assert_eq!(moved["left_ms"], json!([61000, 62000]));
    let gift = json!({"type": "give_time", "match": id, "ms": 15000});
    assert_eq!(ann.expect_error(gift).await, "not_allowed");
}

/// Nobody loses to a bot by a nap; with people it takes minutes, by a clock one.
#[tokio::test(start_paused = true)]
async fn patience_depends_on_the_match() {
    let settings = Settings {
        abandon_after: None,
        ..settings_without_pings()
    };
    let server = TestServer::start(settings);
    for (create, patience_ms) in [
        (json!({"game": "chess"}), 300_000_u64),
        (by_clock("chess", &blitz()), 60_000),
        (json!({"game": "chess", "patience_ms": 10000}), 10_000),
    ] {
        let (ann, mut bob, id) = server.start_match_with(create).await;
        let shown = bob.request(json!({"type": "watch", "match": id})).await;
        assert_eq!(shown["patience_ms"], patience_ms);
        bob.drain_messages().await;
        if shown["clock"] != json!(null) {
            continue;
        }
        drop(ann);
        let gone = Instant::now();
        let presence = bob.expect_event("presence").await;
        assert_eq!(presence["seats"], json!([false, true]));
        assert_eq!(presence["gone_ms"], json!([patience_ms - 250, null]));
        let ended = bob.expect_event("ended").await;
        assert_eq!(ended["outcome"]["reason"], "abandonment");
        assert_eq!(gone.elapsed(), Duration::from_millis(patience_ms));
    }
    let mut ann = server.connect_player("ann").await;
    let with_bot = json!({"seats": ["me", {"bot": "easy"}]});
    let id = ann.create_match(with_bot).await;
    let shown = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["patience_ms"], 86_400_000);
}

/// What the way to a player and back takes is measured, and given back within bounds.
#[tokio::test(start_paused = true)]
async fn what_the_network_takes_is_given_back() {
    let server = TestServer::start(Settings {
        lag_compensation: Duration::from_millis(300),
        ..settings_without_pings()
    });
    let (mut ann, mut bob, id) = server.start_match_with(by_clock("chess", &blitz())).await;
    // Ann's client answers the ping that came with the start when it reads on.
    pass_ms(200).await;
    ann.play_move(&id, 0, "e2e4").await;
    bob.play_move(&id, 1, "e7e5").await;
    pass_ms(200).await;
    ann.drain_messages().await;
    pass_ms(5000).await;
    ann.play_move(&id, 2, "g1f3").await;
    bob.drain_messages().await;
    let shown = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        shown["left_ms"],
        json!([57000, 60000]),
        "5.2 s less 0.2 s, and 2 s more"
    );
}
