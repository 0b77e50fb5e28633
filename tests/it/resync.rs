//! Tests of `resync` requests, which fetch missed events.

use std::sync::Arc;

use plyhouse_server::Settings;
use plyhouse_store::MemoryStore;
use serde_json::{Value, json};

use crate::support::{TestServer, advance_time, settings, settings_without_limits};

#[tokio::test(start_paused = true)]
async fn resync_returns_missed_events_or_snapshot() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.start_match().await;
    ann.play_move(&id, 0, "b2").await;
    bob.play_move(&id, 1, "a1").await;
    let events = [
        ann.expect_event("moved").await,
        ann.expect_event("moved").await,
    ];
    let resync = |since: u64| json!({"type": "resync", "match": id, "since": since});
    let answer = ann.request(resync(3)).await;
    assert_eq!(
        (&answer["type"], &answer["match"]),
        (&json!("events"), &json!(id))
    );
    assert_eq!(answer["events"], json!(events));
    assert_eq!(ann.request(resync(5)).await["events"], json!([]));

    // The answer also contains events that were sent before the client followed the match. If
    // `since` is greater than the last sequence number, the server sends a snapshot.
    let all = bob.request(resync(0)).await;
    let kinds: Vec<&str> = all["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["seated", "seated", "started", "moved", "moved"]);
    assert_eq!(all["events"][0]["connected"], true);
    let ahead = ann.request(resync(6)).await;
    assert_eq!(
        (&ahead["type"], &ahead["seq"], &ahead["you"]),
        (&json!("match"), &json!(5), &json!(0))
    );
}

#[tokio::test(start_paused = true)]
async fn resync_requires_following_the_match() {
    let server = TestServer::start(settings());
    let (mut ann, _bob, id) = server.start_match().await;
    let mut cat = server.connect_player("cat").await;
    let resync = |id: &str| json!({"type": "resync", "match": id, "since": 0});
    assert_eq!(cat.expect_error(resync(&id)).await, "not_following");
    assert_eq!(
        cat.expect_error(resync("no such match")).await,
        "unknown_match"
    );
    cat.request(json!({"type": "watch", "match": id})).await;
    assert_ne!(cat.request(resync(&id)).await["type"], "error");
    cat.request(json!({"type": "leave", "match": id})).await;
    assert_eq!(cat.expect_error(resync(&id)).await, "not_following");
    ann.request(json!({"type": "resign", "match": id})).await;
    assert_eq!(
        ann.request(json!({"type": "resync", "match": id, "since": 3}))
            .await["type"],
        "events"
    );
}

/// Fetches all events of an ended match as a new spectator. Returns the events and the number of
/// answers.
async fn fetch_all_events(server: &TestServer, id: &str) -> (Vec<Value>, u64) {
    let mut cat = server.connect_player("cat").await;
    let shown = cat.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["status"], "ended", "{shown}");
    let last = shown["seq"].as_u64().expect("a number");
    let (mut events, mut answers) = (Vec::new(), 0);
    while (events.len() as u64) < last {
        let resync = json!({"type": "resync", "match": id, "since": events.len()});
        let answer = cat.request(resync).await;
        events.extend(answer["events"].as_array().expect("events").clone());
        answers += 1;
    }
    let numbers = events.iter().map(|event| event["seq"].as_u64());
    assert!(numbers.eq((1..=last).map(Some)));
    (events, answers)
}

/// The test requests the events shortly after the match, eleven minutes later, and from another
/// server with the same store.
#[tokio::test(start_paused = true)]
async fn ended_match_can_be_resynced_from_its_first_event() {
    let store = Arc::new(MemoryStore::default());
    let bounded = |outbox_bytes, seed| Settings {
        outbox_bytes,
        seed: Some(seed),
        ..settings_without_limits()
    };
    let start = |settings| TestServer::with_store(settings, Arc::clone(&store) as _);
    let server = start(bounded(1 << 20, 7));
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let create = json!({"game": "tic-tac-toe", "seats": ["open", "open"]});
    let id = ann.create_match(create).await;
    let seat = |occupant| json!({"type": "seat", "match": id, "seat": 0, "occupant": occupant});
    for _ in 0..200 {
        for occupant in [json!({"bot": "max"}), json!("open")] {
            assert_eq!(ann.request(seat(occupant)).await["type"], "ok");
        }
    }
    bob.request(json!({"type": "join", "match": id})).await;
    let join = json!({"type": "join", "match": id});
    assert_eq!(ann.request(join).await["status"], "running");
    // During the match, the server can resend only the recent events that it keeps in memory. The
    // client requests all events from the first one, so the server sends a snapshot instead.
    let resync = json!({"type": "resync", "match": id, "since": 0});
    assert_eq!(ann.request(resync).await["type"], "match");
    ann.request(json!({"type": "resign", "match": id})).await;

    let (events, answers) = fetch_all_events(&server, &id).await;
    assert_eq!((events.len(), answers), (404, 1));
    assert_eq!(events[403]["outcome"]["reason"], "resignation");
    advance_time(11 * 60).await;
    assert_eq!(
        fetch_all_events(&server, &id).await,
        (events.clone(), answers)
    );
    server.server.stop().await;
    let server = start(bounded(64 << 10, 8));
    let (again, answers) = fetch_all_events(&server, &id).await;
    assert_eq!(again, events);
    assert!(answers > 1, "the events are split over several answers");
}
