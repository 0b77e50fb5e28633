//! What people say to each other: who may say what and when, and who hears it.

use plyhouse_protocol::ChatMode;
use plyhouse_server::Settings;
use serde_json::{Value, json};

use crate::support::{Player, TestServer, settings};

fn say(id: &str, preset: &str) -> Value {
    json!({"type": "say", "match": id, "preset": preset})
}

fn tell(id: &str, text: &str) -> Value {
    json!({"type": "say", "match": id, "text": text})
}

async fn server(chat: ChatMode) -> TestServer {
    TestServer::start(Settings { chat, ..settings() })
}

/// A spectator of the match.
async fn spectator(server: &TestServer, id: &str) -> Player {
    let mut cat = server.player("cat").await;
    cat.ask(json!({"type": "watch", "match": id})).await;
    cat
}

async fn end(ann: &mut Player, others: &mut [&mut Player], id: &str) {
    ann.ask(json!({"type": "resign", "match": id})).await;
    ann.event("ended").await;
    for other in others {
        other.event("ended").await;
    }
}

#[tokio::test(start_paused = true)]
async fn players_say_presets_and_all_who_follow_hear_them() {
    let server = server(ChatMode::Presets).await;
    let mut dan = server.connect().await;
    let welcome = dan.hello(json!({"name": "dan"})).await;
    assert_eq!(welcome["chat"], "presets");
    assert_eq!(
        welcome["presets"][3],
        json!({"preset": "good-game", "text": "Good game"})
    );

    let (mut ann, mut bob, id) = server.pair().await;
    let mut cat = spectator(&server, &id).await;
    let told = json!({"type": "said", "match": id, "seat": 0, "name": "ann", "preset": "hello"});
    let (_, heard) = ann.ask_and_hear(say(&id, "hello")).await;
    let heard: Vec<&Value> = heard.iter().rev().take(2).collect();
    assert_eq!((&heard[0]["type"], heard[1]), (&json!("ok"), &told));
    for other in [&mut bob, &mut cat] {
        assert_eq!(other.event("said").await, told);
    }
    assert_eq!(ann.refused(say(&id, "hello")).await, "too_soon");

    assert_eq!(ann.refused(tell(&id, "hi")).await, "not_allowed");
    assert_eq!(cat.refused(say(&id, "hello")).await, "not_allowed");
    assert_eq!(dan.refused(say(&id, "hello")).await, "not_following");
    assert_eq!(dan.refused(say("", "hello")).await, "unknown_match");
    let snapshot = dan.ask(json!({"type": "watch", "match": id})).await;
    let line = json!({"seat": 0, "name": "ann", "preset": "hello"});
    assert_eq!(snapshot["said"], json!([line]));
}

#[tokio::test(start_paused = true)]
async fn spectators_speak_after_the_end() {
    let server = server(ChatMode::Text).await;
    let (mut ann, mut bob, id) = server.pair().await;
    let mut cat = spectator(&server, &id).await;
    end(&mut ann, &mut [&mut bob, &mut cat], &id).await;
    assert_eq!(cat.ask(say(&id, "well-played")).await["type"], "ok");
    let told = ann.event("said").await;
    assert_eq!(
        (&told["seat"], &told["name"]),
        (&json!(null), &json!("cat"))
    );
    assert_eq!(cat.refused(tell(&id, "well played")).await, "not_allowed");
}

#[tokio::test(start_paused = true)]
async fn texts_stay_between_the_two_while_they_play() {
    let server = server(ChatMode::Text).await;
    let (mut ann, mut bob, id) = server.pair().await;
    let mut cat = spectator(&server, &id).await;
    assert_eq!(ann.ask(tell(&id, " do you see e5? ")).await["type"], "ok");
    for player in [&mut ann, &mut bob] {
        assert_eq!(player.event("said").await["text"], "do you see e5?");
    }
    let watch = json!({"type": "watch", "match": id});
    assert_eq!(cat.ask(watch.clone()).await["said"], json!([]));
    assert_eq!(bob.ask(watch).await["said"][0]["text"], "do you see e5?");

    end(&mut ann, &mut [&mut bob, &mut cat], &id).await;
    assert_eq!(bob.ask(tell(&id, "thanks")).await["type"], "ok");
    assert_eq!(cat.event("said").await["text"], "thanks");
}

#[tokio::test(start_paused = true)]
async fn a_server_may_be_silent() {
    let server = server(ChatMode::Off).await;
    let (mut ann, _bob, id) = server.pair().await;
    assert_eq!(ann.refused(say(&id, "hello")).await, "not_allowed");
    let welcome = server.connect().await.hello(json!({})).await;
    assert_eq!(
        (&welcome["chat"], &welcome["presets"]),
        (&json!("off"), &json!([]))
    );
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_shows_the_last_twenty() {
    let server = server(ChatMode::Text).await;
    let (mut ann, mut bob, id) = server.pair().await;
    for n in 0..12 {
        for player in [&mut ann, &mut bob] {
            assert_eq!(player.ask(tell(&id, &n.to_string())).await["type"], "ok");
        }
        crate::support::pass(10).await;
    }
    let shown = bob.ask(json!({"type": "watch", "match": id})).await;
    let said = shown["said"].as_array().expect("a list");
    assert_eq!(said.len(), 20);
    assert_eq!(
        (&said[0]["text"], &said[19]["text"]),
        (&json!("2"), &json!("11"))
    );
}
