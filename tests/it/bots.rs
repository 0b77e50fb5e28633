//! Bots at the board: they move, keep their pace, and play to the end unwatched.

use std::time::Duration;

use plyhouse_server::{SearchMode, Settings};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{TestPlayer, TestServer, advance_time, settings};

#[tokio::test(start_paused = true)]
async fn a_person_plays_a_bot_to_the_end() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let id = ann
        .create_match(json!({"seats": [{"bot": "max"}, "me"]}))
        .await;
    let mut ply = 0;
    loop {
        let snapshot = ann.request(json!({"type": "watch", "match": id})).await;
        if snapshot["status"] == "ended" {
            assert_eq!(snapshot["outcome"]["reason"], "rules");
            assert_ne!(
                snapshot["outcome"]["winner"], 1,
                "full strength is never beaten"
            );
            break;
        }
        if snapshot["turn"] == 1 {
            let legal = snapshot["legal"].as_array().unwrap();
            let m = legal.last().unwrap().as_str().unwrap().to_owned();
            assert_eq!(
                ann.play_move(&id, snapshot["ply"].as_u64().unwrap(), &m)
                    .await["type"],
                "ok"
            );
            ply += 1;
        }
        assert!(ply < 10);
    }
}

#[tokio::test(start_paused = true)]
async fn an_exhibition_plays_to_its_end_watched_or_not() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let created = json!({"seats": [{"bot": "max"}, {"bot": "max"}], "pace_ms": 500});
    let id = ann.create_match(created).await;
    drop(ann);
    advance_time(60).await;
    let mut bob = server.connect_player("bob").await;
    let seen = bob.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(seen["outcome"], json!({"winner": null, "reason": "rules"}));
    assert_eq!(seen["ply"], 9);
}

/// Ann, who has begun against a bot that takes three seconds for a move.
async fn against_a_slow_bot(server: &TestServer) -> (TestPlayer, String) {
    let mut ann = server.connect_player("ann").await;
    let seats = json!({"seats": ["me", {"bot": "hard"}], "pace_ms": 3000});
    let id = ann.create_match(seats).await;
    ann.play_move(&id, 0, "b2").await;
    (ann, id)
}

#[tokio::test(start_paused = true)]
async fn a_bot_keeps_its_pace() {
    let server = TestServer::start(settings());
    let (mut ann, _) = against_a_slow_bot(&server).await;
    ann.expect_event("moved").await;
    let asked = Instant::now();
    let reply = ann.expect_event("moved").await;
    assert_eq!((&reply["ply"], &reply["seat"]), (&json!(1), &json!(1)));
    let waited = asked.elapsed();
    assert!(
        (Duration::from_millis(3000)..Duration::from_millis(3100)).contains(&waited),
        "{waited:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_match_that_ends_needs_no_bot_any_more() {
    let server = TestServer::start(settings());
    let (mut ann, id) = against_a_slow_bot(&server).await;
    ann.request(json!({"type": "resign", "match": id})).await;
    advance_time(10).await;
    let told = ann.drain_messages().await;
    assert_eq!(
        told.iter().filter(|m| m["type"] == "moved").count(),
        1,
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn bots_of_the_same_level_do_not_always_play_the_same() {
    let server = TestServer::start(settings());
    let mut games = Vec::new();
    for _ in 0..12 {
        let mut ann = server.connect_player("ann").await;
        let id = ann
            .create_match(json!({"seats": [{"bot": "easy"}, {"bot": "easy"}]}))
            .await;
        advance_time(1).await;
        games.push(ann.request(json!({"type": "watch", "match": id})).await["moves"].to_string());
    }
    games.sort();
    games.dedup();
    assert!(games.len() > 1, "{games:?}");
}

/// With real threads, and more matches than the queue has room for.
#[tokio::test]
async fn search_threads_serve_more_matches_than_they_are() {
    let server = TestServer::start(Settings {
        search: SearchMode::Threads(2),
        search_queue: 3,
        ..settings()
    });
    let mut ann = server.connect_player("ann").await;
    let mut ids = Vec::new();
    for _ in 0..16 {
        ids.push(
            ann.create_match(json!({"seats": [{"bot": "max"}, {"bot": "easy"}]}))
                .await,
        );
    }
    let mut live = ids.len();
    while live > 0 {
        live -= usize::from(ann.next_message().await["type"] == "ended");
    }
    for id in ids {
        // `max` thinks in every one of these matches, so it loses none.
        let outcome = &ann.request(json!({"type": "watch", "match": id})).await["outcome"];
        assert_ne!(outcome["winner"], 1);
    }
    server.server.stop().await;
}

/// A search that may not take any time still gives a move.
#[tokio::test(start_paused = true)]
async fn a_bot_without_time_moves_all_the_same() {
    let server = TestServer::start(Settings {
        search_time: Duration::ZERO,
        ..settings()
    });
    let mut ann = server.connect_player("ann").await;
    let id = ann
        .create_match(json!({"seats": [{"bot": "max"}, {"bot": "max"}]}))
        .await;
    advance_time(1).await;
    let seen = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(seen["outcome"]["reason"], "rules");
}
