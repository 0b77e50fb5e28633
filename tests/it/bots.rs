//! Tests of bots in matches: their moves, the minimum time between moves, and matches without
//! spectators.

use std::time::Duration;

use plyhouse_server::{SearchMode, Settings};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{TestPlayer, TestServer, advance_time, settings};

#[tokio::test(start_paused = true)]
async fn strongest_bot_is_never_beaten() {
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
async fn bot_only_match_ends_without_spectators() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let created = json!({"seats": [{"bot": "max"}, {"bot": "max"}], "pace_ms": 500});
    let id = ann.create_match(created).await;
    drop(ann);
    advance_time(60).await;
    let mut bob = server.connect_player("bob").await;
    let snapshot = bob.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(
        snapshot["outcome"],
        json!({"winner": null, "reason": "rules"})
    );
    assert_eq!(snapshot["ply"], 9);
}

/// Starts a match between Ann and a bot that waits at least three seconds before each move. Plays
/// Ann's first move.
async fn start_match_against_slow_bot(server: &TestServer) -> (TestPlayer, String) {
    let mut ann = server.connect_player("ann").await;
    let seats = json!({"seats": ["me", {"bot": "hard"}], "pace_ms": 3000});
    let id = ann.create_match(seats).await;
    ann.play_move(&id, 0, "b2").await;
    (ann, id)
}

#[tokio::test(start_paused = true)]
async fn bot_moves_at_requested_pace() {
    let server = TestServer::start(settings());
    let (mut ann, _) = start_match_against_slow_bot(&server).await;
    ann.expect_event("moved").await;
    let start = Instant::now();
    let reply = ann.expect_event("moved").await;
    assert_eq!((&reply["ply"], &reply["seat"]), (&json!(1), &json!(1)));
    let elapsed = start.elapsed();
    assert!(
        (Duration::from_millis(3000)..Duration::from_millis(3100)).contains(&elapsed),
        "{elapsed:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn bot_does_not_move_after_resignation() {
    let server = TestServer::start(settings());
    let (mut ann, id) = start_match_against_slow_bot(&server).await;
    ann.request(json!({"type": "resign", "match": id})).await;
    advance_time(10).await;
    let messages = ann.drain_messages().await;
    assert_eq!(
        messages.iter().filter(|m| m["type"] == "moved").count(),
        1,
        "{messages:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn bots_of_same_level_vary_their_play() {
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

/// The test uses real search threads and creates more matches than the search queue can hold.
#[tokio::test]
async fn more_bot_matches_than_search_threads_finish() {
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
        // A bot of level `max` never loses at tic-tac-toe if it searches before each move. A loss
        // would therefore show that the bot moved without searching.
        let outcome = &ann.request(json!({"type": "watch", "match": id})).await["outcome"];
        assert_ne!(outcome["winner"], 1);
    }
    server.server.stop().await;
}

#[tokio::test(start_paused = true)]
async fn bot_moves_with_zero_search_time() {
    let server = TestServer::start(Settings {
        search_time: Duration::ZERO,
        ..settings()
    });
    let mut ann = server.connect_player("ann").await;
    let id = ann
        .create_match(json!({"seats": [{"bot": "max"}, {"bot": "max"}]}))
        .await;
    advance_time(1).await;
    let snapshot = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(snapshot["outcome"]["reason"], "rules");
}
