//! What players offer each other in a match: draws, takebacks, and its end before it has begun.

use serde_json::{Value, json};

use crate::support::{Player, TestServer, pass, settings};

fn offer(id: &str, kind: &str, ply: u64) -> Value {
    json!({"type": "offer", "match": id, "offer": kind, "ply": ply})
}

fn decline(id: &str, kind: &str) -> Value {
    json!({"type": "decline", "match": id, "offer": kind})
}

/// Ann and Bob after the moves e2e4 and e7e5 of chess, all of which has been told, a while ago.
async fn begun(server: &TestServer) -> (Player, Player, String) {
    let (mut ann, mut bob, id) = server.pair_at("chess").await;
    ann.play(&id, 0, "e2e4").await;
    bob.play(&id, 1, "e7e5").await;
    ann.drain().await;
    bob.drain().await;
    pass(2).await;
    (ann, bob, id)
}

#[tokio::test(start_paused = true)]
async fn a_draw_is_offered_declined_and_agreed_on() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = begun(&server).await;
    let offered = ann.ask(offer(&id, "draw", 2)).await;
    let told = bob.event("offered").await;
    assert_eq!(
        json!([told["seq"], told["seat"], told["offer"], told["ply"]]),
        json!([offered["seq"], 0, "draw", 2])
    );
    let again = ann.ask(offer(&id, "draw", 2)).await;
    assert_eq!(again["seq"], offered["seq"], "it stands already");
    let shown = bob.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        shown["offers"],
        json!([{"seat": 0, "offer": "draw", "ply": 2}])
    );
    let declined = bob.ask(decline(&id, "draw")).await;
    assert_eq!(declined["type"], "ok");
    assert!(declined.get("seq").is_none());
    ann.event("offered").await;
    let told = ann.event("declined").await;
    assert_eq!(
        json!([told["seat"], told["offer"], told["by"]]),
        json!([0, "draw", 1])
    );
    assert_eq!(bob.refused(decline(&id, "draw")).await, "nothing_offered");
    let soon = ann.ask(offer(&id, "draw", 2)).await;
    assert_eq!(
        (&soon["code"], &soon["expected"]),
        (&json!("too_soon"), &json!(22))
    );
    let stale = ann.ask(offer(&id, "draw", 1)).await;
    assert_eq!(
        json!([stale["code"], stale["expected"], stale["takebacks"]]),
        json!(["stale_ply", 2, 0])
    );
    bob.ask(offer(&id, "draw", 2)).await;
    let agreed = ann.ask(offer(&id, "draw", 2)).await;
    assert_eq!(agreed["type"], "ok", "{agreed}");
    ann.event("offered").await;
    let ended = ann.event("ended").await;
    assert_eq!(
        ended["outcome"],
        json!({"winner": null, "reason": "agreement"})
    );
    assert_eq!(ended["seq"], agreed["seq"]);
}

#[tokio::test(start_paused = true)]
async fn two_draws_offered_at_once_are_agreed_on() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = begun(&server).await;
    for player in [&mut ann, &mut bob] {
        player.send(&offer(&id, "draw", 2).to_string()).await;
    }
    for player in [&mut ann, &mut bob] {
        assert_eq!(player.event("offered").await["offer"], "draw");
        let ended = player.event("ended").await;
        assert_eq!(ended["outcome"]["reason"], "agreement", "{ended}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_move_is_taken_back_and_not_played_anew() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = begun(&server).await;
    let mut asked = offer(&id, "takeback", 2);
    asked["to_ply"] = json!(1);
    let offered = bob.ask(asked).await;
    assert_eq!(ann.event("offered").await["to_ply"], 1);
    let other = json!({"type": "offer", "match": id, "offer": "takeback", "ply": 2, "to_ply": 0});
    assert_eq!(ann.refused(other).await, "nothing_offered");
    ann.ask(offer(&id, "takeback", 2)).await;
    bob.event("offered").await;
    let taken = bob.event("taken_back").await;
    assert_eq!(
        json!([taken["ply"], taken["turn"], taken["takebacks"]]),
        json!([1, 1, 1])
    );
    assert_eq!(taken["seq"], offered["seq"].as_u64().expect("a number") + 1);
    assert!(taken.get("left_ms").is_none(), "there is no clock");
    let shown = bob.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        json!([
            shown["moves"],
            shown["ply"],
            shown["takebacks"],
            shown["offers"]
        ]),
        json!([["e2e4"], 1, 1, []])
    );
    // A move that is sent again, by a client that does not know of the takeback, is not played.
    let mut again = json!({"type": "move", "match": id, "ply": 1, "move": "e7e5", "takebacks": 0});
    let stale = bob.ask(again.clone()).await;
    assert_eq!(
        json!([stale["code"], stale["expected"], stale["takebacks"]]),
        json!(["stale_ply", 1, 1])
    );
    again["takebacks"] = json!(1);
    assert_eq!(bob.ask(again.clone()).await["type"], "ok");
    let repeated = bob.ask(again).await;
    assert_eq!(repeated["type"], "ok", "{repeated}");
    // Whoever has missed it gets it told.
    let missed = json!({"type": "resync", "match": id, "since": offered["seq"]});
    let missed = ann.ask(missed).await;
    let kinds: Vec<_> = missed["events"]
        .as_array()
        .expect("events")
        .iter()
        .collect();
    assert_eq!(kinds.len(), 2);
    assert_eq!(
        (&kinds[0]["type"], &kinds[1]["type"]),
        (&json!("taken_back"), &json!("moved"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_takeback_is_declined_by_a_move() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = begun(&server).await;
    bob.ask(offer(&id, "takeback", 2)).await;
    ann.play(&id, 2, "g1f3").await;
    bob.drain().await;
    let stale = ann.ask(offer(&id, "takeback", 2)).await;
    assert_eq!(stale["code"], "stale_ply");
    let soon = ann.ask(offer(&id, "takeback", 3)).await;
    assert_eq!(soon["type"], "ok", "its ply began long ago: {soon}");
    assert_eq!(bob.ask(decline(&id, "takeback")).await["type"], "ok");
    let shown = ann.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["offers"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn terms_exclude_takebacks() {
    let server = TestServer::start(settings());
    let terms = json!({"game": "chess", "takeback": false});
    let (mut ann, _bob, id) = server.pair_with(terms).await;
    let shown = ann.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["takeback"], false);
    ann.play(&id, 0, "e2e4").await;
    pass(2).await;
    assert_eq!(ann.refused(offer(&id, "takeback", 1)).await, "not_allowed");
}

#[tokio::test(start_paused = true)]
async fn a_bot_takes_back_and_answers_a_draw() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let seats = json!({"game": "chess", "seats": ["me", {"bot": "beginner"}], "pace_ms": 2000});
    let id = ann.create(seats).await;
    ann.play(&id, 0, "e2e4").await;
    ann.event("moved").await;
    ann.event("moved").await;
    pass(2).await;
    let asked = ann.ask(offer(&id, "takeback", 2)).await;
    ann.event("offered").await;
    let taken = ann.event("taken_back").await;
    assert_eq!(json!([taken["ply"], taken["takebacks"]]), json!([0, 1]));
    assert_eq!(taken["seq"], asked["seq"].as_u64().expect("a number") + 1);
    // The bot's move is thought about anew once it is its turn again.
    ann.play(&id, 0, "d2d4").await;
    ann.event("moved").await;
    assert_eq!(ann.event("moved").await["seat"], 1);
    ann.ask(offer(&id, "draw", 2)).await;
    ann.event("offered").await;
    let begin = tokio::time::Instant::now();
    let declined = ann.event("declined").await;
    assert_eq!((&declined["seat"], &declined["by"]), (&json!(0), &json!(1)));
    assert_eq!(begin.elapsed().as_secs(), 2, "at its pace");
}

#[tokio::test(start_paused = true)]
async fn a_match_that_has_hardly_begun_is_called_off() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.pair_at("chess").await;
    let abort = json!({"type": "abort", "match": id});
    ann.play(&id, 0, "e2e4").await;
    let called_off = bob.ask(abort).await;
    ann.event("moved").await;
    let ended = ann.event("ended").await;
    assert_eq!(
        ended["outcome"],
        json!({"winner": null, "reason": "aborted", "by": 1})
    );
    assert_eq!(ended["seq"], called_off["seq"]);
    let (mut ann, _bob, id) = begun(&server).await;
    let abort = json!({"type": "abort", "match": id});
    assert_eq!(ann.refused(abort).await, "not_allowed");
}
