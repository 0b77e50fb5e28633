//! Tests of chat: which messages players and spectators can send, and who receives them.

use plyhouse_protocol::ChatMode;
use plyhouse_server::Settings;
use serde_json::{Value, json};

use crate::support::{TestPlayer, TestServer, settings};

fn say_preset(id: &str, preset: &str) -> Value {
    json!({"type": "say", "match": id, "preset": preset})
}

fn say_text(id: &str, text: &str) -> Value {
    json!({"type": "say", "match": id, "text": text})
}

async fn start_server(chat: ChatMode) -> TestServer {
    TestServer::start(Settings { chat, ..settings() })
}

async fn connect_spectator(server: &TestServer, id: &str) -> TestPlayer {
    let mut cat = server.connect_player("cat").await;
    cat.request(json!({"type": "watch", "match": id})).await;
    cat
}

async fn resign_match(ann: &mut TestPlayer, others: &mut [&mut TestPlayer], id: &str) {
    ann.request(json!({"type": "resign", "match": id})).await;
    ann.expect_event("ended").await;
    for other in others {
        other.expect_event("ended").await;
    }
}

#[tokio::test(start_paused = true)]
async fn presets_are_broadcast_to_all_followers() {
    let server = start_server(ChatMode::Presets).await;
    let mut dan = server.connect().await;
    let welcome = dan.send_hello(json!({"name": "dan"})).await;
    assert_eq!(welcome["chat"], "presets");
    assert_eq!(
        welcome["presets"][3],
        json!({"preset": "good-game", "text": "Good game"})
    );

    let (mut ann, mut bob, id) = server.start_match().await;
    let mut cat = connect_spectator(&server, &id).await;
    let expected =
        json!({"type": "said", "match": id, "seat": 0, "name": "ann", "preset": "hello"});
    let (_, messages) = ann.request_and_collect(say_preset(&id, "hello")).await;
    let messages: Vec<&Value> = messages.iter().rev().take(2).collect();
    assert_eq!(
        (&messages[0]["type"], messages[1]),
        (&json!("ok"), &expected)
    );
    for other in [&mut bob, &mut cat] {
        assert_eq!(other.expect_event("said").await, expected);
    }
    assert_eq!(ann.expect_error(say_preset(&id, "hello")).await, "too_soon");

    assert_eq!(ann.expect_error(say_text(&id, "hi")).await, "not_allowed");
    assert_eq!(
        cat.expect_error(say_preset(&id, "hello")).await,
        "not_allowed"
    );
    assert_eq!(
        dan.expect_error(say_preset(&id, "hello")).await,
        "not_following"
    );
    assert_eq!(
        dan.expect_error(say_preset("", "hello")).await,
        "unknown_match"
    );
    let snapshot = dan.request(json!({"type": "watch", "match": id})).await;
    let line = json!({"seat": 0, "name": "ann", "preset": "hello"});
    assert_eq!(snapshot["said"], json!([line]));
}

#[tokio::test(start_paused = true)]
async fn spectators_may_chat_after_match_end() {
    let server = start_server(ChatMode::Text).await;
    let (mut ann, mut bob, id) = server.start_match().await;
    let mut cat = connect_spectator(&server, &id).await;
    resign_match(&mut ann, &mut [&mut bob, &mut cat], &id).await;
    assert_eq!(
        cat.request(say_preset(&id, "well-played")).await["type"],
        "ok"
    );
    let message = ann.expect_event("said").await;
    assert_eq!(
        (&message["seat"], &message["name"]),
        (&json!(null), &json!("cat"))
    );
    assert_eq!(
        cat.expect_error(say_text(&id, "well played")).await,
        "not_allowed"
    );
}

#[tokio::test(start_paused = true)]
async fn text_chat_is_hidden_from_spectators_during_play() {
    let server = start_server(ChatMode::Text).await;
    let (mut ann, mut bob, id) = server.start_match().await;
    let mut cat = connect_spectator(&server, &id).await;
    assert_eq!(
        ann.request(say_text(&id, " do you see e5? ")).await["type"],
        "ok"
    );
    for player in [&mut ann, &mut bob] {
        assert_eq!(player.expect_event("said").await["text"], "do you see e5?");
    }
    let watch = json!({"type": "watch", "match": id});
    assert_eq!(cat.request(watch.clone()).await["said"], json!([]));
    assert_eq!(
        bob.request(watch).await["said"][0]["text"],
        "do you see e5?"
    );

    resign_match(&mut ann, &mut [&mut bob, &mut cat], &id).await;
    assert_eq!(bob.request(say_text(&id, "thanks")).await["type"], "ok");
    assert_eq!(cat.expect_event("said").await["text"], "thanks");
}

#[tokio::test(start_paused = true)]
async fn chat_is_refused_when_disabled() {
    let server = start_server(ChatMode::Off).await;
    let (mut ann, _bob, id) = server.start_match().await;
    assert_eq!(
        ann.expect_error(say_preset(&id, "hello")).await,
        "not_allowed"
    );
    let welcome = server.connect().await.send_hello(json!({})).await;
    assert_eq!(
        (&welcome["chat"], &welcome["presets"]),
        (&json!("off"), &json!([]))
    );
}

#[tokio::test(start_paused = true)]
async fn snapshot_contains_last_twenty_chat_messages() {
    let server = start_server(ChatMode::Text).await;
    let (mut ann, mut bob, id) = server.start_match().await;
    for n in 0..12 {
        for player in [&mut ann, &mut bob] {
            assert_eq!(
                player.request(say_text(&id, &n.to_string())).await["type"],
                "ok"
            );
        }
        crate::support::advance_time(10).await;
    }
    let snapshot = bob.request(json!({"type": "watch", "match": id})).await;
    let messages = snapshot["said"].as_array().expect("a list");
    assert_eq!(messages.len(), 20);
    assert_eq!(
        (&messages[0]["text"], &messages[19]["text"]),
        (&json!("2"), &json!("11"))
    );
}
