//! Another match of the same two: offers of it, the code that moves on, and how the series stands.

use std::sync::Arc;
use std::time::Duration;

use plyhouse_server::Settings;
use plyhouse_store::{MemoryStore, Store};
use serde_json::{Value, json};

use crate::support::{Player, TestServer, pass, settings, text};

fn offer(id: &str) -> Value {
    json!({"type": "offer", "match": id, "offer": "rematch"})
}

/// Settings with which nobody is closed for being silent, and ended matches are kept for long.
fn patient() -> Settings {
    Settings {
        idle_timeout: Duration::from_hours(1),
        linger: Duration::from_hours(1),
        ..settings()
    }
}

fn decline(id: &str) -> Value {
    json!({"type": "decline", "match": id, "offer": "rematch"})
}

/// Two who have played a match, which the first has lost.
async fn played(server: &TestServer) -> (Player, Player, String) {
    let (mut ann, mut bob, id) = server.pair().await;
    resign(&mut ann, &mut bob, &id).await;
    (ann, bob, id)
}

async fn resign(loser: &mut Player, winner: &mut Player, id: &str) {
    let resigned = loser.ask(json!({"type": "resign", "match": id})).await;
    assert_eq!(resigned["type"], "ok", "{resigned}");
    for player in [loser, winner] {
        player.event("ended").await;
    }
}

/// The two agree on a rematch, which is told to them and to nobody who only watches.
#[tokio::test(start_paused = true)]
async fn both_wish_it_and_the_code_moves_on() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, first) = played(&server).await;
    let mut cat = server.player("cat").await;
    let before = cat.ask(json!({"type": "watch", "match": first})).await;
    let code = text(&before["code"]);
    let here = json!({"offers": [false, false], "declined": [false, false],
        "here": [true, true], "next": null});
    assert_eq!(before["rematch"], here);

    assert_eq!(ann.ask(offer(&first)).await["type"], "ok");
    for player in [&mut ann, &mut bob, &mut cat] {
        let told = player.event("rematch").await;
        assert_eq!(
            told,
            json!({"type": "rematch", "match": first, "offers": [true, false],
            "declined": [false, false], "here": [true, true], "next": null})
        );
    }
    // It stands already.
    assert_eq!(ann.ask(offer(&first)).await["type"], "ok");

    let (_, came) = bob.ask_and_hear(offer(&first)).await;
    let kinds: Vec<&Value> = came.iter().map(|message| &message["type"]).collect();
    assert_eq!(kinds, ["rematch", "match", "ok"]);
    let second = text(&came[0]["next"]["match"]);
    assert_eq!(came[0]["next"]["code"], code);
    let snapshot = &came[1];
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
    assert_eq!(ann.event("rematch").await["next"]["match"], json!(second));
    assert_eq!(ann.event("match").await["you"], 1);
    assert_eq!(cat.event("rematch").await["next"]["match"], json!(second));

    // The code is the table; the match that has ended tells the code that it had.
    let table = cat.ask(json!({"type": "watch", "match": code})).await;
    assert_eq!(table["match"], json!(second));
    let old = cat.ask(json!({"type": "watch", "match": first})).await;
    assert_eq!(old["code"], json!(code));
    // Who wishes it again is told of it again.
    let (_, came) = ann.ask_and_hear(offer(&first)).await;
    assert_eq!(came[0]["next"]["match"], json!(second));
    assert_eq!(bob.refused(decline(&first)).await, "nothing_offered");

    // A draw or a loss later the series goes on.
    resign(&mut bob, &mut ann, &second).await;
    bob.ask(offer(&second)).await;
    ann.ask(offer(&second)).await;
    ann.event("rematch").await;
    ann.event("rematch").await;
    let third = ann.event("match").await;
    assert_eq!(third["series"], json!({"game": 3, "points": [2, 2]}));
    assert_eq!(third["code"], json!(code));
}

#[tokio::test(start_paused = true)]
async fn a_wish_is_declined_withdrawn_and_counted() {
    let server = TestServer::start(patient());
    let (mut ann, mut bob, id) = played(&server).await;
    ann.ask(offer(&id)).await;
    assert_eq!(bob.ask(decline(&id)).await["type"], "ok");
    for offers in [json!([true, false]), json!([false, false])] {
        assert_eq!(ann.event("rematch").await["offers"], offers);
    }
    let refused = ann.ask(offer(&id)).await;
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
    pass(60).await;
    assert_eq!(ann.ask(offer(&id)).await["type"], "ok");
    let told = ann.event("rematch").await;
    assert_eq!(told["declined"], json!([false, false]));
    // Withdrawn by oneself, and offered for the third time.
    assert_eq!(ann.ask(decline(&id)).await["type"], "ok");
    assert_eq!(ann.refused(decline(&id)).await, "nothing_offered");
    assert_eq!(ann.ask(offer(&id)).await["type"], "ok");
    assert_eq!(ann.ask(decline(&id)).await["type"], "ok");
    assert_eq!(ann.refused(offer(&id)).await, "too_soon");
    // To accept is bound by no count.
    assert_eq!(bob.ask(offer(&id)).await["type"], "ok");
    assert_eq!(ann.ask(offer(&id)).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn whoever_goes_wishes_nothing_any_more() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = played(&server).await;
    ann.ask(offer(&id)).await;
    ann.event("rematch").await;
    bob.event("rematch").await;
    ann.ask(json!({"type": "leave", "match": id})).await;
    let told = bob.event("rematch").await;
    assert_eq!(
        (&told["offers"], &told["here"]),
        (&json!([false, false]), &json!([false, true]))
    );
    assert_eq!(bob.refused(offer(&id)).await, "too_soon");
    ann.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(bob.event("rematch").await["here"], json!([true, true]));
    assert_eq!(bob.ask(offer(&id)).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn what_allows_no_rematch() {
    let server = TestServer::start(patient());
    let (mut ann, mut bob, id) = server.pair().await;
    let mut cat = server.player("cat").await;
    assert_eq!(cat.refused(offer(&id)).await, "not_seated");
    assert_eq!(ann.refused(offer(&id)).await, "match_running");
    let open = ann.create(json!({})).await;
    assert_eq!(ann.refused(offer(&open)).await, "match_not_started");
    ann.ask(json!({"type": "leave", "match": open})).await;
    assert_eq!(
        ann.refused(offer(&open)).await,
        "not_allowed",
        "it never started"
    );
    assert_eq!(ann.refused(decline(&id)).await, "nothing_offered");
    resign(&mut ann, &mut bob, &id).await;
    pass(599).await;
    assert_eq!(ann.ask(offer(&id)).await["type"], "ok");
    ann.ask(decline(&id)).await;
    pass(2).await;
    assert_eq!(
        ann.refused(offer(&id)).await,
        "not_allowed",
        "ten minutes are over"
    );
}

#[tokio::test(start_paused = true)]
async fn a_bot_grants_it_at_once() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let seats = json!(["me", {"bot": "beginner"}]);
    let id = ann
        .create(json!({"seats": seats, "game": "connect-four"}))
        .await;
    ann.ask(json!({"type": "resign", "match": id})).await;
    ann.event("ended").await;
    let (_, came) = ann.ask_and_hear(offer(&id)).await;
    let snapshot = came.iter().find(|message| message["type"] == "match");
    let snapshot = snapshot.expect("it begins");
    assert_eq!(snapshot["you"], 1);
    assert_eq!(snapshot["series"], json!({"game": 2, "points": [2, 0]}));
}

/// A restart forgets wishes, and never a match.
#[tokio::test(start_paused = true)]
async fn a_restart_knows_the_rematch() {
    let store = Arc::new(MemoryStore::default());
    let server = TestServer::with_store(settings(), Arc::clone(&store) as Arc<dyn Store>);
    let (mut ann, mut bob, first) = played(&server).await;
    ann.ask(offer(&first)).await;
    bob.ask(offer(&first)).await;
    for _ in 0..2 {
        bob.event("rematch").await;
    }
    let second = text(&bob.event("match").await["match"]);
    server.server.stop().await;
    let again = Settings {
        seed: Some(8),
        ..settings()
    };
    let server = TestServer::with_store(again, store);
    server.server.recover().await.expect("readable");
    let (mut bob, welcome) = server.come_back(&bob.token()).await;
    assert_eq!(welcome["following"], json!([{"match": second, "you": 0}]));
    bob.event("match").await;
    let (_, came) = bob.ask_and_hear(offer(&first)).await;
    let next = came.iter().find(|message| message["type"] == "rematch");
    assert_eq!(next.expect("it is told")["next"]["match"], json!(second));
}

/// Two who wish it in the same moment get one match.
#[tokio::test(start_paused = true)]
async fn two_wishes_at_once_make_one_match() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, first) = played(&server).await;
    for player in [&mut ann, &mut bob] {
        player.send(&offer(&first).to_string()).await;
    }
    let mut made = Vec::new();
    for player in [&mut ann, &mut bob] {
        made.push(player.event("match").await["match"].clone());
    }
    assert_eq!(made[0], made[1]);
    assert_ne!(made[0], json!(first));
    let again = ann.ask(offer(&first)).await;
    assert_eq!(again["type"], "ok", "{again}");
    let shown = ann.ask(json!({"type": "watch", "match": first})).await;
    assert_eq!(shown["rematch"]["next"]["match"], made[0]);
}

/// What nobody has agreed on ten minutes after the end stands no more, and everybody is told.
#[tokio::test(start_paused = true)]
async fn a_wish_ends_with_its_time() {
    let server = TestServer::start(patient());
    let (mut ann, mut bob, first) = played(&server).await;
    pass(590).await;
    assert_eq!(ann.ask(offer(&first)).await["type"], "ok");
    assert_eq!(bob.event("rematch").await["offers"], json!([true, false]));
    let over = bob.event("rematch").await;
    assert_eq!(over["offers"], json!([false, false]));
    assert_eq!(over["next"], Value::Null);
    assert_eq!(ann.refused(offer(&first)).await, "not_allowed");
    assert_eq!(bob.refused(decline(&first)).await, "nothing_offered");
}
