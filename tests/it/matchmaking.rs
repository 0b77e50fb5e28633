//! Tests of seeks and pairing.

use serde_json::json;

use crate::support::{TestServer, advance_time, settings};

#[tokio::test(start_paused = true)]
async fn matching_seeks_start_a_match() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let mut bob = server.connect_player("bob").await;
    let seek = || json!({"type": "seek", "game": "tic-tac-toe"});
    assert_eq!(ann.request(seek()).await["type"], "ok");
    bob.send_text(r#"{"type":"seek","game":"tic-tac-toe","id":77}"#)
        .await;
    let ok = bob.next_message().await;
    assert_eq!((&ok["type"], &ok["re"]), (&json!("ok"), &json!(77)));
    let (for_ann, for_bob) = (
        ann.expect_event("match").await,
        bob.expect_event("match").await,
    );
    assert_eq!(for_ann["match"], for_bob["match"]);
    for seat in for_ann["seats"]
        .as_array()
        .unwrap()
        .iter()
        .chain(for_bob["seats"].as_array().unwrap())
    {
        assert_eq!(seat["connected"], true, "both are connected from the start");
    }
    assert_eq!(&for_ann["host"], ann.id(), "the earlier seeker is the host");
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
    assert_eq!(first.play_move(id, 0, "b2").await["type"], "ok");
    assert_eq!(second.expect_event("moved").await["move"], "b2");
}

#[tokio::test(start_paused = true)]
async fn unanswered_seek_is_paired_with_bot() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let seek =
        json!({"type": "seek", "game": "tic-tac-toe", "bot": "medium", "bot_after_ms": 5000});
    assert_eq!(ann.request(seek).await["type"], "ok");
    advance_time(4).await;
    assert_eq!(ann.drain_messages().await, [] as [serde_json::Value; 0]);
    advance_time(2).await;
    let found = ann.expect_event("match").await;
    let you = usize::try_from(found["you"].as_u64().unwrap()).unwrap();
    assert_eq!(found["seats"][1 - you]["level"], "medium");
    assert_eq!(&found["host"], ann.id());
}

#[tokio::test(start_paused = true)]
async fn new_seek_replaces_old_one_and_unseek_ends_it() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let bot =
        |ms: u64| json!({"type": "seek", "game": "tic-tac-toe", "bot": "easy", "bot_after_ms": ms});
    ann.request(bot(1000)).await;
    ann.request(json!({"type": "seek", "game": "tic-tac-toe"}))
        .await;
    advance_time(30).await;
    assert_eq!(
        ann.drain_messages().await,
        [] as [serde_json::Value; 0],
        "the first seek was replaced"
    );
    ann.request(bot(1000)).await;
    assert_eq!(ann.request(json!({"type": "unseek"})).await["type"], "ok");
    advance_time(30).await;
    assert_eq!(
        ann.drain_messages().await,
        [] as [serde_json::Value; 0],
        "the seek was ended"
    );
    let mut bob = server.connect_player("bob").await;
    bob.request(json!({"type": "seek", "game": "tic-tac-toe"}))
        .await;
    advance_time(30).await;
    assert_eq!(
        bob.drain_messages().await,
        [] as [serde_json::Value; 0],
        "no seek is left to pair with"
    );
}

#[tokio::test(start_paused = true)]
async fn disconnect_ends_seek() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let seek = json!({"type": "seek", "game": "tic-tac-toe"});
    ann.request(seek.clone()).await;
    drop(ann);
    advance_time(1).await;
    let mut bob = server.connect_player("bob").await;
    bob.request(seek.clone()).await;
    advance_time(1).await;
    assert_eq!(bob.drain_messages().await, [] as [serde_json::Value; 0]);
    let mut cat = server.connect_player("cat").await;
    cat.request(seek).await;
    assert_eq!(&cat.expect_event("match").await["host"], bob.id());
}

#[tokio::test(start_paused = true)]
async fn repeated_seek_is_not_paired_with_itself() {
    let server = TestServer::start(settings());
    let seek = json!({"type": "seek", "game": "tic-tac-toe"});
    let mut ann = server.connect_player("ann").await;
    ann.request(seek.clone()).await;
    // The server does not pair two seeks of the same player.
    ann.request(seek.clone()).await;
    let mut bob = server.connect_player("bob").await;
    bob.request(seek.clone()).await;
    ann.expect_event("match").await;
    bob.expect_event("match").await;
    for refused in ["ludo", "tic tac toe"] {
        assert_eq!(
            ann.expect_error(json!({"type": "seek", "game": refused}))
                .await,
            "unknown_game"
        );
    }
    let godlike = json!({"type": "seek", "game": "tic-tac-toe", "bot": "godlike"});
    assert_eq!(ann.expect_error(godlike).await, "unknown_level");
}

/// If the players request different stand-in bots, the match gets the weaker one.
#[tokio::test(start_paused = true)]
async fn seeks_with_different_clocks_are_not_paired() {
    let server = TestServer::start(settings());
    let [mut ann, mut bob, mut cat] = [
        server.connect_player("ann").await,
        server.connect_player("bob").await,
        server.connect_player("cat").await,
    ];
    let clock = json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 1000});
    let seek =
        |clock, level| json!({"type": "seek", "game": "go", "clock": clock, "stand_in": level});
    assert_eq!(ann.request(seek(clock.clone(), "hard")).await["type"], "ok");
    let other = json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 0});
    assert_eq!(bob.request(seek(other, "hard")).await["type"], "ok");
    assert_eq!(cat.request(seek(clock.clone(), "easy")).await["type"], "ok");
    let shown = ann.expect_event("match").await;
    assert_eq!(cat.expect_event("match").await["match"], shown["match"]);
    assert_eq!(
        (&shown["clock"], &shown["stand_in"]),
        (&clock, &json!("easy"))
    );
    assert_eq!(bob.drain_messages().await, [] as [serde_json::Value; 0]);

    // If only one of the two players requests a stand-in bot, the match has none.
    assert_eq!(
        ann.request(json!({"type": "seek", "game": "go"})).await["type"],
        "ok"
    );
    assert_eq!(cat.request(seek(json!(null), "easy")).await["type"], "ok");
    assert_eq!(cat.expect_event("match").await.get("stand_in"), None);

    let rated = json!({"type": "seek", "game": "go", "rated": true});
    assert_eq!(ann.expect_error(rated).await, "bad_field");
    let unknown = json!({"type": "seek", "game": "go", "stand_in": "god"});
    assert_eq!(ann.expect_error(unknown).await, "unknown_level");
}
