//! Tests of clocks: the time charged for moves, flag falls and pauses.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_server::Settings;
use plyhouse_store::Store;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::fault_injecting_store::{FailingStore, HEALTHY, PANIC_ONCE, REFUSE_ONCE, UNAVAILABLE};
use crate::support::{TestPlayer, TestServer, advance_time, settings_without_pings};

fn blitz_clock() -> Value {
    json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 2000})
}

fn params_with_clock(game: &str, clock: &Value) -> Value {
    json!({"game": game, "clock": clock})
}

async fn advance_ms(ms: u64) {
    sleep(Duration::from_millis(ms)).await;
}

/// Starts a chess match with `clock` and plays the untimed first moves e2e4 and e7e5. Also discards
/// the messages that the players have received so far.
async fn start_chess_after_free_plies(
    server: &TestServer,
    clock: &Value,
) -> (TestPlayer, TestPlayer, String) {
    let (mut ann, mut bob, id) = server
        .start_match_with(params_with_clock("chess", clock))
        .await;
    ann.play_move(&id, 0, "e2e4").await;
    bob.expect_event("moved").await;
    bob.play_move(&id, 1, "e7e5").await;
    ann.drain_messages().await;
    bob.drain_messages().await;
    (ann, bob, id)
}

/// Returns the fields of a message that concern clocks and time limits.
fn time_fields(message: &Value) -> Value {
    let fields = [
        "left_ms",
        "periods",
        "spent_ms",
        "turn_ms",
        "stands",
        "first_move_ms",
        "patience_ms",
    ];
    let present = fields.into_iter().filter_map(|field| {
        let value = message.get(field)?;
        Some((field.to_owned(), value.clone()))
    });
    Value::Object(present.collect())
}

#[tokio::test(start_paused = true)]
async fn moves_use_clock_time_until_flag_falls() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let id = ann
        .create_match(params_with_clock("chess", &blitz_clock()))
        .await;
    let snapshot = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(snapshot["clock"], blitz_clock());
    assert_eq!(time_fields(&snapshot), json!({"left_ms": [60000, 60000]}));
    let joined = bob.request(json!({"type": "join", "match": id})).await;
    ann.expect_event("seated").await;
    let started = ann.expect_event("started").await;
    assert_eq!(
        time_fields(&started),
        json!({"left_ms": [60000, 60000], "first_move_ms": 30000, "patience_ms": 60000})
    );
    assert_eq!(
        time_fields(&joined),
        json!({"left_ms": [60000, 60000], "turn_ms": 0, "stands": false,
               "first_move_ms": 30000, "patience_ms": 60000})
    );
    advance_ms(10_000).await;
    ann.play_move(&id, 0, "e2e4").await;
    assert_eq!(
        time_fields(&bob.expect_event("moved").await),
        json!({"left_ms": [60000, 60000], "spent_ms": 0, "first_move_ms": 30000})
    );
    advance_ms(29_000).await;
    bob.play_move(&id, 1, "e7e5").await;
    bob.expect_event("moved").await;
    advance_ms(13_000).await;
    let snapshot = bob.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        time_fields(&snapshot),
        json!({"left_ms": [60000, 60000], "turn_ms": 13000, "stands": false, "patience_ms": 60000})
    );
    ann.play_move(&id, 2, "g1f3").await;
    assert_eq!(
        time_fields(&bob.expect_event("moved").await),
        json!({"left_ms": [49000, 60000], "spent_ms": 13000})
    );
    let start = Instant::now();
    let ended = bob.expect_event("ended").await;
    assert_eq!(start.elapsed().as_millis(), 60_000);
    assert_eq!(ended["outcome"], json!({"winner": 0, "reason": "timeout"}));
    assert_eq!(ended["left_ms"], json!([49000, 0]));
    let late_move = json!({"type": "move", "match": id, "ply": 3, "move": "b8c6"});
    assert_eq!(bob.expect_error(late_move).await, "match_ended");
}

#[tokio::test(start_paused = true)]
async fn byo_yomi_periods_are_reported() {
    let server = TestServer::start(settings_without_pings());
    let clock = json!({"kind": "byo-yomi", "main_ms": 1000, "period_ms": 5000, "periods": 2});
    let (mut ann, mut bob, id) = start_chess_after_free_plies(&server, &clock).await;
    advance_ms(7000).await;
    ann.play_move(&id, 2, "g1f3").await;
    let moved = bob.expect_event("moved").await;
    assert_eq!(
        time_fields(&moved),
        json!({"left_ms": [0, 1000], "periods": [1, 2], "spent_ms": 7000})
    );
    advance_ms(11_000).await;
    let ended = bob.expect_event("ended").await;
    assert_eq!(
        (&ended["left_ms"], &ended["periods"]),
        (&json!([0, 0]), &json!([1, 0]))
    );
}

/// Ann moves 1 ms before her time runs out, and the store then blocks for 10 s. The server must
/// charge Ann only for the time before her move.
#[tokio::test(start_paused = true)]
async fn slow_store_write_uses_no_clock_time() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, mut bob, id) = start_chess_after_free_plies(&server, &blitz_clock()).await;
    advance_ms(59_999).await;
    let gated_store = Arc::clone(&store);
    let writes_blocked = gated_store.write_gate.lock().await;
    let play = json!({"type": "move", "id": 99, "match": id, "ply": 2, "move": "g1f3"});
    ann.send_text(&play.to_string()).await;
    advance_ms(10_000).await;
    drop(writes_blocked);
    let moved = bob.expect_event("moved").await;
    assert_eq!(
        time_fields(&moved),
        json!({"left_ms": [2001, 60000], "spent_ms": 59999})
    );
    advance_ms(3000).await;
    bob.play_move(&id, 3, "b8c6").await;
    assert_eq!(bob.expect_event("moved").await["spent_ms"], 3000);
}

#[tokio::test(start_paused = true)]
async fn request_received_before_flag_is_served_first() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    for (move_at_ms, is_in_time) in [(59_500, true), (60_100, false)] {
        let (mut ann, mut bob, id) = start_chess_after_free_plies(&server, &blitz_clock()).await;
        advance_ms(59_000).await;
        let writes_blocked = store.write_gate.lock().await;
        // While the store blocks Bob's draw offer, Ann's move waits in the queue. The move's
        // arrival time must decide whether Ann moved in time.
        let offer = json!({"type": "offer", "match": id, "offer": "draw", "ply": 2});
        bob.send_text(&offer.to_string()).await;
        advance_ms(move_at_ms - 59_000).await;
        let play = json!({"type": "move", "match": id, "ply": 2, "move": "g1f3"});
        ann.send_text(&play.to_string()).await;
        advance_ms(61_500 - move_at_ms).await;
        drop(writes_blocked);
        bob.expect_event("offered").await;
        if is_in_time {
            assert_eq!(bob.expect_event("moved").await["spent_ms"], move_at_ms);
        } else {
            let ended = bob.expect_event("ended").await;
            // Ann's time has run out, but Bob's open draw offer turns the flag fall into a draw.
            let outcome = json!({"winner": null, "reason": "agreement", "detail": "flag"});
            assert_eq!(ended["outcome"], outcome);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn clock_pauses_while_store_is_unavailable() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, mut bob, id) = start_chess_after_free_plies(&server, &blitz_clock()).await;
    advance_ms(20_000).await;
    store.set_mode(UNAVAILABLE);
    assert_eq!(ann.play_move(&id, 2, "g1f3").await["code"], "overloaded");
    let clock = bob.expect_event("clock").await;
    assert_eq!(
        time_fields(&clock),
        json!({"left_ms": [60000, 60000], "turn_ms": 20000, "stands": true})
    );
    advance_time(200).await;
    let messages = bob.drain_messages().await;
    assert!(
        messages.iter().all(|message| message["type"] != "clock"),
        "{messages:?}"
    );
    store.set_mode(HEALTHY);
    let clock = bob.expect_event("clock").await;
    assert_eq!(
        (&clock["turn_ms"], &clock["stands"]),
        (&json!(20000), &json!(false))
    );
    advance_ms(5000).await;
    ann.play_move(&id, 2, "g1f3").await;
    let spent_ms = bob.expect_event("moved").await["spent_ms"]
        .as_u64()
        .expect("a number");
    assert!((25_000..26_100).contains(&spent_ms), "{spent_ms}");
}

#[tokio::test(start_paused = true)]
async fn clocks_of_idle_matches_pause_while_store_is_unavailable() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, _bob, busy) = start_chess_after_free_plies(&server, &blitz_clock()).await;
    let (mut cat, mut dan, idle) = start_chess_after_free_plies(&server, &blitz_clock()).await;
    advance_ms(20_000).await;
    store.set_mode(UNAVAILABLE);
    assert_eq!(ann.play_move(&busy, 2, "g1f3").await["code"], "overloaded");
    assert_eq!(dan.expect_event("clock").await["stands"], true);
    advance_time(300).await;
    store.set_mode(HEALTHY);
    assert_eq!(dan.expect_event("clock").await["stands"], false);
    advance_ms(5000).await;
    cat.play_move(&idle, 2, "g1f3").await;
    let spent_ms = dan.expect_event("moved").await["spent_ms"]
        .as_u64()
        .expect("a number");
    assert!((25_000..26_100).contains(&spent_ms), "{spent_ms}");
}

#[tokio::test(start_paused = true)]
async fn clock_resumes_soon_after_single_failed_write() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, mut bob, id) = start_chess_after_free_plies(&server, &blitz_clock()).await;
    let (_cat, mut dan, _) = start_chess_after_free_plies(&server, &blitz_clock()).await;
    store.set_mode(REFUSE_ONCE);
    assert_eq!(ann.play_move(&id, 2, "g1f3").await["code"], "overloaded");
    assert_eq!(bob.expect_event("clock").await["stands"], true);
    advance_time(2).await;
    assert_eq!(bob.expect_event("clock").await["stands"], false);
    let messages = dan.drain_messages().await;
    assert!(
        messages.iter().all(|message| message["type"] != "clock"),
        "{messages:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn flag_falls_only_after_store_recovers() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (_ann, mut bob, _) = start_chess_after_free_plies(&server, &blitz_clock()).await;
    store.set_mode(UNAVAILABLE);
    advance_time(100).await;
    let messages = bob.drain_messages().await;
    assert!(
        messages.iter().all(|message| message["type"] != "ended"),
        "{messages:?}"
    );
    store.set_mode(HEALTHY);
    assert_eq!(bob.expect_event("clock").await["stands"], false);
    assert_eq!(
        bob.expect_event("ended").await["outcome"]["reason"],
        "timeout"
    );
}

#[tokio::test(start_paused = true)]
async fn reloaded_match_restarts_turn_clock() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let (mut ann, mut bob, id) = start_chess_after_free_plies(&server, &blitz_clock()).await;
    advance_ms(30_000).await;
    store.set_mode(PANIC_ONCE);
    ann.play_move(&id, 2, "g1f3").await;
    let snapshot = bob.expect_event("match").await;
    assert_eq!(
        (&snapshot["turn_ms"], &snapshot["stands"]),
        (&json!(0), &json!(false))
    );
    advance_ms(59_000).await;
    assert_eq!(ann.play_move(&id, 2, "g1f3").await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn given_time_is_added_to_clock() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob, id) = start_chess_after_free_plies(&server, &blitz_clock()).await;
    let give = json!({"type": "give_time", "match": id, "ms": 15000});
    let given = bob.request(give).await;
    let time_given = ann.expect_event("time_given").await;
    assert_eq!(time_given["seq"], given["seq"]);
    assert_eq!(
        json!([time_given["seat"], time_given["ms"], time_given["left_ms"]]),
        json!([0, 15000, [75000, 60000]])
    );
    let (ended, start) = (ann.expect_event("ended"), Instant::now());
    assert_eq!(ended.await["outcome"]["winner"], 1);
    assert_eq!(
        start.elapsed().as_millis(),
        75_000,
        "the added time counts from the start of the turn"
    );
}

#[tokio::test(start_paused = true)]
async fn bot_is_charged_for_search_but_not_for_pace() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let mut create = params_with_clock("tic-tac-toe", &blitz_clock());
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
    advance_ms(1000).await;
    let legal = moved["legal"][0].as_str().expect("a move").to_owned();
    ann.play_move(&id, 2, &legal).await;
    ann.expect_event("moved").await;
    let moved = ann.expect_event("moved").await;
    assert_eq!(moved["spent_ms"], 0, "its search takes no paused time");
    assert_eq!(moved["left_ms"], json!([61000, 62000]));
}

/// The default absence limit is 5 minutes without a clock and 1 minute with a clock. Against a bot,
/// it is 24 hours.
#[tokio::test(start_paused = true)]
async fn absence_limit_depends_on_opponent_and_clock() {
    let settings = Settings {
        abandon_after: None,
        ..settings_without_pings()
    };
    let server = TestServer::start(settings);
    for (create, absence_limit_ms) in [
        (json!({"game": "chess"}), 300_000_u64),
        (params_with_clock("chess", &blitz_clock()), 60_000),
        (json!({"game": "chess", "patience_ms": 10000}), 10_000),
    ] {
        let (ann, mut bob, id) = server.start_match_with(create).await;
        let snapshot = bob.request(json!({"type": "watch", "match": id})).await;
        assert_eq!(snapshot["patience_ms"], absence_limit_ms);
        bob.drain_messages().await;
        if snapshot["clock"] != json!(null) {
            continue;
        }
        drop(ann);
        let disconnected_at = Instant::now();
        let presence = bob.expect_event("presence").await;
        assert_eq!(presence["seats"], json!([false, true]));
        assert_eq!(presence["gone_ms"], json!([absence_limit_ms - 250, null]));
        let ended = bob.expect_event("ended").await;
        assert_eq!(ended["outcome"]["reason"], "abandonment");
        assert_eq!(
            disconnected_at.elapsed(),
            Duration::from_millis(absence_limit_ms)
        );
    }
    let mut ann = server.connect_player("ann").await;
    let with_bot = json!({"seats": ["me", {"bot": "easy"}]});
    let id = ann.create_match(with_bot).await;
    let snapshot = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(snapshot["patience_ms"], 86_400_000);
}

/// The server measures the network round-trip time and does not charge it to the player's clock, up
/// to the configured limit.
#[tokio::test(start_paused = true)]
async fn network_lag_is_compensated() {
    // The quota of a seat is 150 ms at the start. Its first ply raises the quota to 200 ms.
    let server = TestServer::start(Settings {
        lag_compensation: Duration::from_millis(50),
        ..settings_without_pings()
    });
    let (mut ann, mut bob, id) = server
        .start_match_with(params_with_clock("chess", &blitz_clock()))
        .await;
    // The server sends a ping at the start of the match. Ann's test client answers the ping only
    // when the test next reads from the client.
    advance_ms(200).await;
    ann.play_move(&id, 0, "e2e4").await;
    bob.play_move(&id, 1, "e7e5").await;
    advance_ms(200).await;
    ann.drain_messages().await;
    advance_ms(5000).await;
    ann.play_move(&id, 2, "g1f3").await;
    bob.drain_messages().await;
    let snapshot = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        snapshot["left_ms"],
        json!([57000, 60000]),
        "5.2 s less 0.2 s, and 2 s more"
    );
}
