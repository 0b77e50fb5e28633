//! Tests of offers in a match: draws, takebacks and aborts.

use serde_json::{Value, json};

use crate::support::{TestPlayer, TestServer, advance_time, settings};

fn offer_request(id: &str, kind: &str, ply: u64) -> Value {
    json!({"type": "offer", "match": id, "offer": kind, "ply": ply})
}

fn decline_request(id: &str, kind: &str) -> Value {
    json!({"type": "decline", "match": id, "offer": kind})
}

/// Starts a chess match, plays e2e4 and e7e5, drains all messages and waits two seconds.
async fn start_chess_match(server: &TestServer) -> (TestPlayer, TestPlayer, String) {
    let (mut ann, mut bob, id) = server.start_match_of("chess").await;
    ann.play_move(&id, 0, "e2e4").await;
    bob.play_move(&id, 1, "e7e5").await;
    ann.drain_messages().await;
    bob.drain_messages().await;
    advance_time(2).await;
    (ann, bob, id)
}

#[tokio::test(start_paused = true)]
async fn draw_offer_can_be_declined_and_accepted() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = start_chess_match(&server).await;
    let offered = ann.request(offer_request(&id, "draw", 2)).await;
    let offer_event = bob.expect_event("offered").await;
    assert_eq!(
        json!([
            offer_event["seq"],
            offer_event["seat"],
            offer_event["offer"],
            offer_event["ply"]
        ]),
        json!([offered["seq"], 0, "draw", 2])
    );
    let again = ann.request(offer_request(&id, "draw", 2)).await;
    assert_eq!(again["seq"], offered["seq"], "the offer is already pending");
    let shown = bob.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        shown["offers"],
        json!([{"seat": 0, "offer": "draw", "ply": 2}])
    );
    let declined = bob.request(decline_request(&id, "draw")).await;
    assert_eq!(declined["type"], "ok");
    assert!(declined.get("seq").is_none());
    ann.expect_event("offered").await;
    let decline_event = ann.expect_event("declined").await;
    assert_eq!(
        json!([
            decline_event["seat"],
            decline_event["offer"],
            decline_event["by"]
        ]),
        json!([0, "draw", 1])
    );
    let early = ann.request(offer_request(&id, "draw", 2)).await;
    assert_eq!(
        (&early["code"], &early["expected"]),
        (&json!("too_soon"), &json!(22))
    );
    bob.request(offer_request(&id, "draw", 2)).await;
    let agreed = ann.request(offer_request(&id, "draw", 2)).await;
    assert_eq!(agreed["type"], "ok", "{agreed}");
    ann.expect_event("offered").await;
    let ended = ann.expect_event("ended").await;
    assert_eq!(
        ended["outcome"],
        json!({"winner": null, "reason": "agreement"})
    );
    assert_eq!(ended["seq"], agreed["seq"]);
}

#[tokio::test(start_paused = true)]
async fn accepted_takeback_rejects_resent_move() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = start_chess_match(&server).await;
    let mut request = offer_request(&id, "takeback", 2);
    request["to_ply"] = json!(1);
    bob.request(request.clone()).await;
    let declined = ann.request(decline_request(&id, "takeback")).await;
    assert_eq!(declined["type"], "ok");
    ann.drain_messages().await;
    bob.drain_messages().await;
    advance_time(2).await;
    let offered = bob.request(request.clone()).await;
    let again = bob.request(request).await;
    assert_eq!(again["seq"], offered["seq"], "the offer is already pending");
    assert_eq!(ann.expect_event("offered").await["to_ply"], 1);
    let other = json!({"type": "offer", "match": id, "offer": "takeback", "ply": 2, "to_ply": 0});
    assert_eq!(ann.expect_error(other).await, "nothing_offered");
    ann.request(offer_request(&id, "takeback", 2)).await;
    bob.expect_event("offered").await;
    let taken = bob.expect_event("taken_back").await;
    assert_eq!(
        json!([taken["ply"], taken["turn"], taken["takebacks"]]),
        json!([1, 1, 1])
    );
    assert_eq!(taken["seq"], offered["seq"].as_u64().expect("a number") + 1);
    assert!(taken.get("left_ms").is_none(), "there is no clock");
    let shown = bob.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        json!([
            shown["moves"],
            shown["ply"],
            shown["takebacks"],
            shown["offers"]
        ]),
        json!([["e2e4"], 1, 1, []])
    );
    // Bob's client repeats its move without knowing of the takeback, so the server must refuse the
    // move.
    let mut again = json!({"type": "move", "match": id, "ply": 1, "move": "e7e5", "takebacks": 0});
    let stale = bob.request(again.clone()).await;
    assert_eq!(
        json!([stale["code"], stale["expected"], stale["takebacks"]]),
        json!(["stale_ply", 1, 1])
    );
    again["takebacks"] = json!(1);
    assert_eq!(bob.request(again).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn snapshot_shows_that_takebacks_are_disallowed() {
    let server = TestServer::start(settings());
    let terms = json!({"game": "chess", "takeback": false});
    let (mut ann, _bob, id) = server.start_match_with(terms).await;
    let shown = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["takeback"], false);
}

#[tokio::test(start_paused = true)]
async fn bot_accepts_takeback_and_declines_draw() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let seats = json!({"game": "chess", "seats": ["me", {"bot": "beginner"}], "pace_ms": 2000});
    let id = ann.create_match(seats).await;
    ann.play_move(&id, 0, "e2e4").await;
    ann.expect_event("moved").await;
    ann.expect_event("moved").await;
    advance_time(2).await;
    let offered = ann.request(offer_request(&id, "takeback", 2)).await;
    ann.expect_event("offered").await;
    let taken = ann.expect_event("taken_back").await;
    assert_eq!(json!([taken["ply"], taken["takebacks"]]), json!([0, 1]));
    assert_eq!(taken["seq"], offered["seq"].as_u64().expect("a number") + 1);
    // After the takeback, the bot searches again at its next turn.
    ann.play_move(&id, 0, "d2d4").await;
    ann.expect_event("moved").await;
    assert_eq!(ann.expect_event("moved").await["seat"], 1);
    ann.request(offer_request(&id, "draw", 2)).await;
    ann.expect_event("offered").await;
    let begin = tokio::time::Instant::now();
    let declined = ann.expect_event("declined").await;
    assert_eq!((&declined["seat"], &declined["by"]), (&json!(0), &json!(1)));
    assert_eq!(begin.elapsed().as_secs(), 2, "after the bot's pace");
}

#[tokio::test(start_paused = true)]
async fn player_aborts_match_before_own_first_move() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.start_match_of("chess").await;
    let abort = json!({"type": "abort", "match": id});
    ann.play_move(&id, 0, "e2e4").await;
    let aborted = bob.request(abort).await;
    ann.expect_event("moved").await;
    let ended = ann.expect_event("ended").await;
    assert_eq!(
        ended["outcome"],
        json!({"winner": null, "reason": "aborted", "by": 1})
    );
    assert_eq!(ended["seq"], aborted["seq"]);
}
