//! Looking for somebody to play.

use serde_json::json;

use crate::support::{TestServer, pass, settings};

#[tokio::test(start_paused = true)]
async fn two_who_seek_are_paired() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let mut bob = server.player("bob").await;
    let seek = || json!({"type": "seek", "game": "tic-tac-toe"});
    assert_eq!(ann.ask(seek()).await["type"], "ok");
    bob.send(r#"{"type":"seek","game":"tic-tac-toe","id":77}"#)
        .await;
    let ok = bob.next().await;
    assert_eq!((&ok["type"], &ok["re"]), (&json!("ok"), &json!(77)));
    let (for_ann, for_bob) = (ann.event("match").await, bob.event("match").await);
    assert_eq!(for_ann["match"], for_bob["match"]);
    for seat in for_ann["seats"]
        .as_array()
        .unwrap()
        .iter()
        .chain(for_bob["seats"].as_array().unwrap())
    {
        assert_eq!(seat["connected"], true, "both are there from the first");
    }
    assert_eq!(&for_ann["host"], ann.id(), "who waited longer is the host");
    assert_eq!(
        (&for_ann["status"], &for_ann["listed"]),
        (&json!("running"), &json!(false))
    );
    assert_eq!(for_ann.get("re"), None);
    assert_eq!(
        for_ann["you"].as_u64().unwrap() + for_bob["you"].as_u64().unwrap(),
        1
    );
    let id = for_ann["match"].as_str().unwrap();
    let (first, second) = if for_ann["you"] == 0 {
        (ann, bob)
    } else {
        (bob, ann)
    };
    let (mut first, mut second) = (first, second);
    assert_eq!(first.play(id, 0, "b2").await["type"], "ok");
    assert_eq!(second.event("moved").await["move"], "b2");
}

#[tokio::test(start_paused = true)]
async fn a_bot_comes_if_nobody_does() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let seek =
        json!({"type": "seek", "game": "tic-tac-toe", "bot": "medium", "bot_after_ms": 5000});
    assert_eq!(ann.ask(seek).await["type"], "ok");
    pass(4).await;
    assert_eq!(ann.drain().await, [] as [serde_json::Value; 0]);
    pass(2).await;
    let found = ann.event("match").await;
    let you = usize::try_from(found["you"].as_u64().unwrap()).unwrap();
    assert_eq!(found["seats"][1 - you]["level"], "medium");
    assert_eq!(&found["host"], ann.id());
}

#[tokio::test(start_paused = true)]
async fn a_seek_is_replaced_by_the_next_and_ended_by_unseek() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let bot =
        |ms: u64| json!({"type": "seek", "game": "tic-tac-toe", "bot": "easy", "bot_after_ms": ms});
    ann.ask(bot(1000)).await;
    ann.ask(json!({"type": "seek", "game": "tic-tac-toe"}))
        .await;
    pass(30).await;
    assert_eq!(
        ann.drain().await,
        [] as [serde_json::Value; 0],
        "the first seek was replaced"
    );
    ann.ask(bot(1000)).await;
    assert_eq!(ann.ask(json!({"type": "unseek"})).await["type"], "ok");
    pass(30).await;
    assert_eq!(
        ann.drain().await,
        [] as [serde_json::Value; 0],
        "the seek was ended"
    );
    let mut bob = server.player("bob").await;
    bob.ask(json!({"type": "seek", "game": "tic-tac-toe"}))
        .await;
    pass(30).await;
    assert_eq!(
        bob.drain().await,
        [] as [serde_json::Value; 0],
        "nobody is left to be paired with"
    );
}

#[tokio::test(start_paused = true)]
async fn a_seek_ends_with_its_connection() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let seek = json!({"type": "seek", "game": "tic-tac-toe"});
    ann.ask(seek.clone()).await;
    drop(ann);
    pass(1).await;
    let mut bob = server.player("bob").await;
    bob.ask(seek.clone()).await;
    pass(1).await;
    assert_eq!(bob.drain().await, [] as [serde_json::Value; 0]);
    let mut cat = server.player("cat").await;
    cat.ask(seek).await;
    assert_eq!(&cat.event("match").await["host"], bob.id());
}

#[tokio::test(start_paused = true)]
async fn who_waited_longest_is_paired_first_and_nobody_with_oneself() {
    let server = TestServer::start(settings());
    let seek = json!({"type": "seek", "game": "tic-tac-toe"});
    let mut ann = server.player("ann").await;
    ann.ask(seek.clone()).await;
    // The same player again: waits anew, and is not its own opponent.
    ann.ask(seek.clone()).await;
    let mut bob = server.player("bob").await;
    bob.ask(seek.clone()).await;
    ann.event("match").await;
    bob.event("match").await;
    for refused in ["ludo", "tic tac toe"] {
        assert_eq!(
            ann.refused(json!({"type": "seek", "game": refused})).await,
            "unknown_game"
        );
    }
    let godlike = json!({"type": "seek", "game": "tic-tac-toe", "bot": "godlike"});
    assert_eq!(ann.refused(godlike).await, "unknown_level");
}

/// Only those are paired who want the same clock; the weaker of two stand-ins will do for both.
#[tokio::test(start_paused = true)]
async fn who_seeks_another_clock_waits() {
    let server = TestServer::start(settings());
    let [mut ann, mut bob, mut cat] = [
        server.player("ann").await,
        server.player("bob").await,
        server.player("cat").await,
    ];
    let clock = json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 1000});
    let seek =
        |clock, level| json!({"type": "seek", "game": "go", "clock": clock, "stand_in": level});
    assert_eq!(ann.ask(seek(clock.clone(), "hard")).await["type"], "ok");
    let other = json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 0});
    assert_eq!(bob.ask(seek(other, "hard")).await["type"], "ok");
    assert_eq!(cat.ask(seek(clock.clone(), "easy")).await["type"], "ok");
    let shown = ann.event("match").await;
    assert_eq!(cat.event("match").await["match"], shown["match"]);
    assert_eq!(
        (&shown["clock"], &shown["stand_in"]),
        (&clock, &json!("easy"))
    );
    assert_eq!(bob.drain().await, [] as [serde_json::Value; 0]);

    // Not both want one.
    assert_eq!(
        ann.ask(json!({"type": "seek", "game": "go"})).await["type"],
        "ok"
    );
    assert_eq!(cat.ask(seek(json!(null), "easy")).await["type"], "ok");
    assert_eq!(cat.event("match").await.get("stand_in"), None);

    let rated = json!({"type": "seek", "game": "go", "rated": true});
    assert_eq!(ann.refused(rated).await, "bad_field");
    let unknown = json!({"type": "seek", "game": "go", "stand_in": "god"});
    assert_eq!(ann.refused(unknown).await, "unknown_level");
}
