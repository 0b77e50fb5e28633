//! Tests of disconnected players and the end of their matches.

use plyhouse_server::Settings;
use serde_json::json;

use crate::support::{TestServer, advance_time, json_string, settings, settings_without_pings};

/// The present player receives a single `ended` event. The server refuses a late move by the absent
/// player.
#[tokio::test(start_paused = true)]
async fn disconnected_player_loses_after_timeout() {
    let server = TestServer::start(settings());
    let (mut ann, bob, id) = server.start_match().await;
    ann.play_move(&id, 0, "b2").await;
    let token = bob.token();
    drop(bob);
    let disconnected_at = tokio::time::Instant::now();
    let outcome = json!({"winner": 0, "reason": "abandonment"});
    ann.expect_event("moved").await;
    assert_eq!(ann.expect_event("ended").await["outcome"], outcome);
    assert_eq!(disconnected_at.elapsed().as_secs(), 60);
    let (mut bob, welcome) = server.resume_session(&token).await;
    assert_eq!(
        (&welcome["resumed"], &welcome["following"]),
        (&json!(true), &json!([]))
    );
    let late = json!({"type": "move", "match": id, "ply": 1, "move": "a1"});
    assert_eq!(bob.expect_error(late).await, "match_ended");
}

#[tokio::test(start_paused = true)]
async fn player_who_reconnects_in_time_continues_match() {
    let server = TestServer::start(settings());
    let (mut ann, bob, id) = server.start_match().await;
    let token = bob.token();
    drop(bob);
    advance_time(59).await;
    let (mut bob, _) = server.resume_session(&token).await;
    assert_eq!(bob.expect_event("match").await["status"], "running");
    ann.drain_messages().await;
    // Bob now stays connected, so the absence limit must not end the match. The server must not add
    // Bob's earlier absence of 59 seconds.
    for _ in 0..4 {
        advance_time(30).await;
        ann.drain_messages().await;
        bob.drain_messages().await;
    }
    assert_eq!(ann.play_move(&id, 0, "b2").await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn absent_player_vacates_seat_of_open_match() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let mut bob = server.connect_player("bob").await;
    let id = ann.create_match(json!({"seats": ["open", "open"]})).await;
    bob.request(json!({"type": "join", "match": id})).await;
    ann.expect_event("seated").await;
    drop(bob);
    let vacated = ann.expect_event("seated").await;
    assert_eq!(
        (&vacated["seat"], &vacated["occupant"]),
        (&json!(0), &json!("open"))
    );
    assert_eq!(
        ann.request(json!({"type": "watch", "match": id})).await["status"],
        "open"
    );
}

/// At the limit of live matches per player, a new match replaces one of the player's matches
/// against bots. The server ends the match whose bot has waited longest for the player's move. The
/// bot must have waited at least ten minutes, or the server refuses the new match.
#[tokio::test(start_paused = true)]
async fn match_with_longest_waiting_bot_is_ended_at_match_limit() {
    let server = TestServer::start(Settings {
        live_matches_per_player: 2,
        abandon_after: None,
        ..settings_without_pings()
    });
    let mut ann = server.connect_player("ann").await;
    let with_bot =
        json!({"type": "create", "game": "connect-four", "seats": ["me", {"bot": "beginner"}]});
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(json_string(&ann.request(with_bot.clone()).await["match"]));
        advance_time(60).await;
    }
    // Ann's move in the first match restarts the waiting time of the bot in that match. The bot in
    // the second match has now waited longest.
    ann.play_move(&ids[0], 0, "4").await;
    ann.expect_event("moved").await;
    ann.expect_event("moved").await;
    advance_time(539).await;
    assert_eq!(ann.expect_error(with_bot.clone()).await, "too_many_matches");
    advance_time(2).await;
    let (_, events) = ann.request_and_collect(with_bot.clone()).await;
    assert_eq!(events[0]["type"], "ended", "{events:?}");
    assert_eq!(events[0]["match"], ids[1]);
    let outcome = json!({"winner": 1, "reason": "abandonment"});
    assert_eq!(events[0]["outcome"], outcome);
    assert_eq!(ann.expect_error(with_bot).await, "too_many_matches");
    advance_time(60).await;
    let seek = json!({"type": "seek", "game": "chess"});
    let (_, events) = ann.request_and_collect(seek).await;
    assert_eq!(events[0]["match"], ids[0], "{events:?}");
}
