//! Tests of rematches: offers, the transfer of the match code and the score of the series.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_server::Settings;
use plyhouse_store::{MemoryStore, Store};
use serde_json::{Value, json};

use crate::support::{TestPlayer, TestServer, advance_time, json_string, settings};

fn rematch_offer(id: &str) -> Value {
    json!({"type": "offer", "match": id, "offer": "rematch"})
}

/// Returns settings that keep idle connections and ended matches for one hour.
fn settings_without_idle_timeout() -> Settings {
    Settings {
        idle_timeout: Duration::from_hours(1),
        linger: Duration::from_hours(1),
        ..settings()
    }
}

fn rematch_decline(id: &str) -> Value {
    json!({"type": "decline", "match": id, "offer": "rematch"})
}

/// Plays a match that Ann loses.
async fn play_lost_match(server: &TestServer) -> (TestPlayer, TestPlayer, String) {
    let (mut ann, mut bob, id) = server.start_match().await;
    resign_match(&mut ann, &mut bob, &id).await;
    (ann, bob, id)
}

async fn resign_match(loser: &mut TestPlayer, winner: &mut TestPlayer, id: &str) {
    let resigned = loser.request(json!({"type": "resign", "match": id})).await;
    assert_eq!(resigned["type"], "ok", "{resigned}");
    for player in [loser, winner] {
        player.expect_event("ended").await;
    }
}

#[tokio::test(start_paused = true)]
async fn accepted_rematch_swaps_seats_and_takes_over_the_code() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, first) = play_lost_match(&server).await;
    let mut cat = server.connect_player("cat").await;
    let before = cat.request(json!({"type": "watch", "match": first})).await;
    let code = json_string(&before["code"]);
    let no_offers = json!({"offers": [false, false], "declined": [false, false],
        "here": [true, true], "next": null});
    assert_eq!(before["rematch"], no_offers);

    assert_eq!(ann.request(rematch_offer(&first)).await["type"], "ok");
    for player in [&mut ann, &mut bob, &mut cat] {
        let rematch = player.expect_event("rematch").await;
        assert_eq!(
            rematch,
            json!({"type": "rematch", "match": first, "offers": [true, false],
            "declined": [false, false], "here": [true, true], "next": null})
        );
    }
    // Repeating an open offer has no effect.
    assert_eq!(ann.request(rematch_offer(&first)).await["type"], "ok");

    let (_, messages) = bob.request_and_collect(rematch_offer(&first)).await;
    let kinds: Vec<&Value> = messages.iter().map(|message| &message["type"]).collect();
    assert_eq!(kinds, ["rematch", "match", "ok"]);
    let second = json_string(&messages[0]["next"]["match"]);
    assert_eq!(messages[0]["next"]["code"], code);
    let snapshot = &messages[1];
    assert_eq!(
        (&snapshot["match"], &snapshot["code"]),
        (&json!(second), &json!(code))
    );
    assert_eq!(
        (&snapshot["you"], &snapshot["status"]),
        (&json!(0), &json!("running"))
    );
    assert_eq!(snapshot["previous"], json!(first));
    assert_eq!(snapshot["series"], json!({"game": 2, "points": [2, 0]}));
    assert_eq!(snapshot["host"], *ann.id());
    assert_eq!(
        ann.expect_event("rematch").await["next"]["match"],
        json!(second)
    );
    assert_eq!(ann.expect_event("match").await["you"], 1);
    assert_eq!(
        cat.expect_event("rematch").await["next"]["match"],
        json!(second)
    );

    // The match code now refers to the rematch. The ended match still shows the same code.
    let current = cat.request(json!({"type": "watch", "match": code})).await;
    assert_eq!(current["match"], json!(second));
    let old = cat.request(json!({"type": "watch", "match": first})).await;
    assert_eq!(old["code"], json!(code));
    // If a player repeats an offer after the rematch has started, the server sends this player the
    // `rematch` event again.
    let (_, messages) = ann.request_and_collect(rematch_offer(&first)).await;
    assert_eq!(messages[0]["next"]["match"], json!(second));
    assert_eq!(
        bob.expect_error(rematch_decline(&first)).await,
        "nothing_offered"
    );

    // The series continues with a third match.
    resign_match(&mut bob, &mut ann, &second).await;
    bob.request(rematch_offer(&second)).await;
    ann.request(rematch_offer(&second)).await;
    ann.expect_event("rematch").await;
    ann.expect_event("rematch").await;
    let third = ann.expect_event("match").await;
    assert_eq!(third["series"], json!({"game": 3, "points": [2, 2]}));
    assert_eq!(third["code"], json!(code));
}

#[tokio::test(start_paused = true)]
async fn rematch_offers_can_be_declined_or_withdrawn_and_are_limited() {
    let server = TestServer::start(settings_without_idle_timeout());
    let (mut ann, mut bob, id) = play_lost_match(&server).await;
    ann.request(rematch_offer(&id)).await;
    assert_eq!(bob.request(rematch_decline(&id)).await["type"], "ok");
    for offers in [json!([true, false]), json!([false, false])] {
        assert_eq!(ann.expect_event("rematch").await["offers"], offers);
    }
    let refused = ann.request(rematch_offer(&id)).await;
    assert_eq!(
        (&refused["code"], &refused["retryable"]),
        (&json!("too_soon"), &json!(true))
    );
    assert!(
        refused["retry_after_ms"]
            .as_u64()
            .is_some_and(|ms| ms > 50_000),
        "{refused}"
    );
    advance_time(60).await;
    assert_eq!(ann.request(rematch_offer(&id)).await["type"], "ok");
    let rematch = ann.expect_event("rematch").await;
    assert_eq!(rematch["declined"], json!([false, false]));
    // Ann withdraws the offer that is open now. She then makes and withdraws another offer.
    assert_eq!(ann.request(rematch_decline(&id)).await["type"], "ok");
    assert_eq!(
        ann.expect_error(rematch_decline(&id)).await,
        "nothing_offered"
    );
    assert_eq!(ann.request(rematch_offer(&id)).await["type"], "ok");
    assert_eq!(ann.request(rematch_decline(&id)).await["type"], "ok");
    assert_eq!(ann.expect_error(rematch_offer(&id)).await, "too_soon");
    // Accepting an offer does not count towards the limit on offers.
    assert_eq!(bob.request(rematch_offer(&id)).await["type"], "ok");
    assert_eq!(ann.request(rematch_offer(&id)).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn leaving_withdraws_rematch_offer() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = play_lost_match(&server).await;
    ann.request(rematch_offer(&id)).await;
    ann.expect_event("rematch").await;
    bob.expect_event("rematch").await;
    ann.request(json!({"type": "leave", "match": id})).await;
    let rematch = bob.expect_event("rematch").await;
    assert_eq!(
        (&rematch["offers"], &rematch["here"]),
        (&json!([false, false]), &json!([false, true]))
    );
    assert_eq!(bob.expect_error(rematch_offer(&id)).await, "too_soon");
    ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        bob.expect_event("rematch").await["here"],
        json!([true, true])
    );
    assert_eq!(bob.request(rematch_offer(&id)).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn rematch_is_refused_unless_match_ended_recently() {
    let server = TestServer::start(settings_without_idle_timeout());
    let (mut ann, mut bob, id) = server.start_match().await;
    let mut cat = server.connect_player("cat").await;
    assert_eq!(cat.expect_error(rematch_offer(&id)).await, "not_seated");
    assert_eq!(ann.expect_error(rematch_offer(&id)).await, "match_running");
    let open = ann.create_match(json!({})).await;
    assert_eq!(
        ann.expect_error(rematch_offer(&open)).await,
        "match_not_started"
    );
    ann.request(json!({"type": "leave", "match": open})).await;
    assert_eq!(
        ann.expect_error(rematch_offer(&open)).await,
        "not_allowed",
        "the match never started"
    );
    assert_eq!(
        ann.expect_error(rematch_decline(&id)).await,
        "nothing_offered"
    );
    resign_match(&mut ann, &mut bob, &id).await;
    advance_time(599).await;
    assert_eq!(ann.request(rematch_offer(&id)).await["type"], "ok");
    ann.request(rematch_decline(&id)).await;
    advance_time(2).await;
    assert_eq!(
        ann.expect_error(rematch_offer(&id)).await,
        "not_allowed",
        "the ten minutes have passed"
    );
}

#[tokio::test(start_paused = true)]
async fn bot_accepts_rematch_at_once() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let seats = json!(["me", {"bot": "beginner"}]);
    let id = ann
        .create_match(json!({"seats": seats, "game": "connect-four"}))
        .await;
    ann.request(json!({"type": "resign", "match": id})).await;
    ann.expect_event("ended").await;
    let (_, messages) = ann.request_and_collect(rematch_offer(&id)).await;
    let snapshot = messages.iter().find(|message| message["type"] == "match");
    let snapshot = snapshot.expect("the rematch starts");
    assert_eq!(snapshot["you"], 1);
    assert_eq!(snapshot["series"], json!({"game": 2, "points": [2, 0]}));
}

/// A restart discards open rematch offers, but keeps a rematch that has started.
#[tokio::test(start_paused = true)]
async fn restart_preserves_the_rematch() {
    let store = Arc::new(MemoryStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, mut bob, first) = play_lost_match(&server).await;
    ann.request(rematch_offer(&first)).await;
    bob.request(rematch_offer(&first)).await;
    for _ in 0..2 {
        bob.expect_event("rematch").await;
    }
    let second = json_string(&bob.expect_event("match").await["match"]);
    server.server.stop().await;
    let again = Settings {
        seed: Some(8),
        ..settings()
    };
    let server = TestServer::with_store(again, store);
    server.server.recover().await.expect("readable");
    let (mut bob, welcome) = server.resume_session(&bob.token()).await;
    assert_eq!(welcome["following"], json!([{"match": second, "you": 0}]));
    bob.expect_event("match").await;
    let (_, messages) = bob.request_and_collect(rematch_offer(&first)).await;
    let next = messages.iter().find(|message| message["type"] == "rematch");
    assert_eq!(
        next.expect("a rematch message")["next"]["match"],
        json!(second)
    );
}

#[tokio::test(start_paused = true)]
async fn simultaneous_rematch_offers_create_one_match() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, first) = play_lost_match(&server).await;
    for player in [&mut ann, &mut bob] {
        player.send_text(&rematch_offer(&first).to_string()).await;
    }
    let mut match_ids = Vec::new();
    for player in [&mut ann, &mut bob] {
        match_ids.push(player.expect_event("match").await["match"].clone());
    }
    assert_eq!(match_ids[0], match_ids[1]);
    assert_ne!(match_ids[0], json!(first));
    let again = ann.request(rematch_offer(&first)).await;
    assert_eq!(again["type"], "ok", "{again}");
    let shown = ann.request(json!({"type": "watch", "match": first})).await;
    assert_eq!(shown["rematch"]["next"]["match"], match_ids[0]);
}

/// Players can offer a rematch until ten minutes after the end of the match. An open offer expires
/// at that time.
#[tokio::test(start_paused = true)]
async fn rematch_offer_expires_after_ten_minutes() {
    let server = TestServer::start(settings_without_idle_timeout());
    let (mut ann, mut bob, first) = play_lost_match(&server).await;
    advance_time(590).await;
    assert_eq!(ann.request(rematch_offer(&first)).await["type"], "ok");
    assert_eq!(
        bob.expect_event("rematch").await["offers"],
        json!([true, false])
    );
    let over = bob.expect_event("rematch").await;
    assert_eq!(over["offers"], json!([false, false]));
    assert_eq!(over["next"], Value::Null);
    assert_eq!(ann.expect_error(rematch_offer(&first)).await, "not_allowed");
    assert_eq!(
        bob.expect_error(rematch_decline(&first)).await,
        "nothing_offered"
    );
}
