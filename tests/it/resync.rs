//! Catching up.

use std::sync::Arc;

use plyhouse_server::Settings;
use plyhouse_store::MemoryStore;
use serde_json::{Value, json};

use crate::support::{TestServer, boundless, pass, settings};

#[tokio::test(start_paused = true)]
async fn what_was_missed_is_told_again() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.pair().await;
    ann.play(&id, 0, "b2").await;
    bob.play(&id, 1, "a1").await;
    let told = [ann.event("moved").await, ann.event("moved").await];
    let resync = |since: u64| json!({"type": "resync", "match": id, "since": since});
    let answer = ann.ask(resync(3)).await;
    assert_eq!(
        (&answer["type"], &answer["match"]),
        (&json!("events"), &json!(id))
    );
    assert_eq!(answer["events"], json!(told));
    assert_eq!(ann.ask(resync(5)).await["events"], json!([]));

    // What was before the connection followed is told as well; what lies ahead is a snapshot.
    let all = bob.ask(resync(0)).await;
    let kinds: Vec<&str> = all["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["seated", "seated", "started", "moved", "moved"]);
    assert_eq!(all["events"][0]["connected"], true);
    let ahead = ann.ask(resync(6)).await;
    assert_eq!(
        (&ahead["type"], &ahead["seq"], &ahead["you"]),
        (&json!("match"), &json!(5), &json!(0))
    );
}

#[tokio::test(start_paused = true)]
async fn only_who_follows_may_ask() {
    let server = TestServer::start(settings());
    let (mut ann, _bob, id) = server.pair().await;
    let mut cat = server.player("cat").await;
    let resync = |id: &str| json!({"type": "resync", "match": id, "since": 0});
    assert_eq!(cat.refused(resync(&id)).await, "not_following");
    assert_eq!(cat.refused(resync("no such match")).await, "unknown_match");
    cat.ask(json!({"type": "watch", "match": id})).await;
    assert_ne!(cat.ask(resync(&id)).await["type"], "error");
    cat.ask(json!({"type": "leave", "match": id})).await;
    assert_eq!(cat.refused(resync(&id)).await, "not_following");
    ann.ask(json!({"type": "resign", "match": id})).await;
    assert_eq!(
        ann.ask(json!({"type": "resync", "match": id, "since": 3}))
            .await["type"],
        "events"
    );
}

/// All that has happened in an ended match, as somebody is told who comes to see it, and in how many answers.
async fn replayed(server: &TestServer, id: &str) -> (Vec<Value>, u64) {
    let mut cat = server.player("cat").await;
    let shown = cat.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["status"], "ended", "{shown}");
    let last = shown["seq"].as_u64().expect("a number");
    let (mut told, mut answers) = (Vec::new(), 0);
    while (told.len() as u64) < last {
        let resync = json!({"type": "resync", "match": id, "since": told.len()});
        let answer = cat.ask(resync).await;
        told.extend(answer["events"].as_array().expect("events").clone());
        answers += 1;
    }
    let numbers = told.iter().map(|event| event["seq"].as_u64());
    assert!(numbers.eq((1..=last).map(Some)));
    (told, answers)
}

/// Of a match that has ended everything is told again, however much that is: long after, and by another server.
#[tokio::test(start_paused = true)]
async fn an_ended_match_is_told_from_its_first_event() {
    let store = Arc::new(MemoryStore::default());
    let bounded = |outbox_bytes, seed| Settings {
        outbox_bytes,
        seed: Some(seed),
        ..boundless()
    };
    let start = |settings| TestServer::with_store(settings, Arc::clone(&store) as _);
    let server = start(bounded(1 << 20, 7));
    let (mut ann, mut bob) = (server.player("ann").await, server.player("bob").await);
    let create = json!({"game": "tic-tac-toe", "seats": ["open", "open"]});
    let id = ann.create(create).await;
    let seat = |occupant| json!({"type": "seat", "match": id, "seat": 0, "occupant": occupant});
    for _ in 0..200 {
        for occupant in [json!({"bot": "max"}), json!("open")] {
            assert_eq!(ann.ask(seat(occupant)).await["type"], "ok");
        }
    }
    bob.ask(json!({"type": "join", "match": id})).await;
    let join = json!({"type": "join", "match": id});
    assert_eq!(ann.ask(join).await["status"], "running");
    // While it goes on there is no more than what is at hand.
    let resync = json!({"type": "resync", "match": id, "since": 0});
    assert_eq!(ann.ask(resync).await["type"], "match");
    ann.ask(json!({"type": "resign", "match": id})).await;

    let (told, answers) = replayed(&server, &id).await;
    assert_eq!((told.len(), answers), (404, 1));
    assert_eq!(told[403]["outcome"]["reason"], "resignation");
    pass(11 * 60).await;
    assert_eq!(replayed(&server, &id).await, (told.clone(), answers));
    server.server.stop().await;
    let server = start(bounded(64 << 10, 8));
    let (again, answers) = replayed(&server, &id).await;
    assert_eq!(again, told);
    assert!(answers > 1, "no answer is too large to be taken");
}
