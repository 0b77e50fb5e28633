//! Catching up.

use serde_json::json;

use crate::support::{TestServer, settings};

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
