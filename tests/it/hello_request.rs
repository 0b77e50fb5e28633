//! Tests of the `hello` request, which identifies a client: the `welcome` message, names and
//! tokens.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use crate::support::{TestServer, advance_time, settings};

#[tokio::test(start_paused = true)]
async fn hello_creates_guest_and_lists_server_features() {
    let server = TestServer::start(settings());
    let mut ada = server.connect().await;
    let welcome = ada
        .send_hello(json!({"protocol": 1, "name": "  ada ", "unknown": {}}))
        .await;
    assert_eq!(welcome["re"], 1);
    assert_eq!(welcome["protocol"], 1);
    assert_eq!(
        welcome["server"],
        concat!("plyhouse/", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(welcome["player"]["name"], "ada");
    assert_eq!(welcome["resumed"], false);
    assert_eq!(welcome["following"], json!([]));
    assert!(
        welcome["token"].as_str().unwrap().len() >= 22,
        "128 bits in base64"
    );
    let tic_tac_toe = json!({"game": "tic-tac-toe", "title": "Tic-tac-toe", "sides": ["x", "o"],
        "files": 3, "ranks": 3, "draws": false, "record": "txt"});
    assert!(welcome["games"].as_array().unwrap().contains(&tic_tac_toe));
    let levels = welcome["levels"].as_array().unwrap().iter();
    let levels: Vec<&str> = levels
        .map(|level| level["level"].as_str().unwrap())
        .collect();
    assert_eq!(levels, ["beginner", "easy", "medium", "hard", "max"]);
    assert_eq!(
        welcome["limits"],
        json!({"message_bytes": 8192, "requests_per_s": 20, "burst": 40, "live_matches": 16,
               "following": 64, "idle_ms": 60000, "abandon_after_ms": 60000,
               "days_matches": 20, "watching_cost": 1, "bot_think_ms": 2000})
    );
    assert_eq!(welcome["ignored"], json!(["unknown"]));
    let titles = welcome["clocks"].as_array().unwrap().iter();
    let titles: Vec<&str> = titles
        .map(|preset| preset["title"].as_str().unwrap())
        .collect();
    assert_eq!(
        titles,
        [
            "1+0",
            "3+2",
            "5+3",
            "10+5",
            "30+20",
            "5 min + 3 x 30 s",
            "1 day a move",
            "3 days a move",
            "7 days a move"
        ]
    );
    assert_eq!(
        welcome["clocks"][2]["clock"],
        json!({"kind": "fischer", "main_ms": 300_000, "increment_ms": 3000})
    );
}

#[tokio::test(start_paused = true)]
async fn unknown_fields_are_reported_as_ignored() {
    let server = TestServer::start(settings());
    let mut ada = server.connect_player("ada").await;
    for (request, kind) in [
        (
            json!({"type": "create", "game": "go", "pace": 300}),
            "match",
        ),
        (json!({"type": "ping", "pace": 1}), "pong"),
        (json!({"type": "list", "pace": 1}), "matches"),
        (json!({"type": "unseek", "pace": 1}), "ok"),
        (
            json!({"type": "create", "game": "ludo", "pace": 1}),
            "error",
        ),
    ] {
        let answer = ada.request(request).await;
        assert_eq!(answer["type"], kind, "{answer}");
        assert_eq!(answer["ignored"], json!(["pace"]), "{answer}");
    }
    let pong = ada.request(json!({"type": "ping", "pace": null})).await;
    assert_eq!(pong.get("ignored"), None);
}

/// All forty guests connect from the same address and watch the same match.
#[tokio::test(start_paused = true)]
async fn spectating_guests_can_resume_for_an_hour_and_expire_later() {
    let server = TestServer::start(settings());
    let address = "192.0.2.1".parse().expect("an address");
    let (_ann, _bob, id) = server.start_match().await;
    let mut guests = Vec::new();
    for _ in 0..40 {
        let mut guest = server.connect_from(address).await;
        guest.send_hello(json!({})).await;
        let watch = json!({"type": "watch", "match": id});
        assert_eq!(guest.request(watch).await["type"], "match");
        guests.push((guest.token(), guest.welcome["player"].clone()));
    }
    advance_time(3590).await;
    let before = Instant::now();
    for (token, player) in guests.clone() {
        let mut guest = server.connect_from(address).await;
        let welcome = guest.send_hello(json!({"token": token})).await;
        assert_eq!(
            (&welcome["resumed"], &welcome["player"]),
            (&json!(true), &player)
        );
    }
    // The server delays its answers to an address that guesses tokens. The token of an expired
    // guest must not count as a guess.
    advance_time(3 * 3600).await;
    let mut last = server.connect_from(address).await;
    last.send_hello(json!({})).await;
    drop(last);
    advance_time(1).await;
    let elapsed = before.elapsed();
    for (token, _) in guests {
        let mut guest = server.connect_from(address).await;
        let welcome = guest.send_hello(json!({"token": token})).await;
        assert_eq!(welcome["resumed"], false);
    }
    assert!(before.elapsed() - elapsed < Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn hello_without_name_assigns_guest_name() {
    let server = TestServer::start(settings());
    let welcome = server
        .connect()
        .await
        .send_hello(json!({"name": null}))
        .await;
    let name = welcome["player"]["name"].as_str().unwrap();
    let letters = name.strip_prefix("guest-").expect("guest-");
    assert_eq!(letters.len(), 4);
    assert!(letters.chars().all(|c| c.is_ascii_alphanumeric()));
}

#[tokio::test(start_paused = true)]
async fn first_request_without_hello_triggers_welcome() {
    let server = TestServer::start(settings());
    let mut client = server.connect().await;
    client.send_text("{").await;
    let error = client.next_message().await;
    assert_eq!(
        (&error["type"], &error["code"]),
        (&json!("error"), &json!("malformed"))
    );
    client.send_text(r#"{"type":"fly","id":5}"#).await;
    let welcome = client.next_message().await;
    assert_eq!(welcome["type"], "welcome");
    assert_eq!(welcome.get("re"), None);
    let error = client.next_message().await;
    assert_eq!(
        (&error["code"], &error["re"]),
        (&json!("unknown_type"), &json!(5))
    );
    assert_eq!(
        client.expect_error(json!({"type": "hello"})).await,
        "already_welcomed"
    );
}

#[tokio::test(start_paused = true)]
async fn refused_hello_can_be_retried() {
    let server = TestServer::start(settings());
    let mut client = server.connect().await;
    client
        .send_text(r#"{"type":"hello","id":9,"name":7}"#)
        .await;
    let error = client.next_message().await;
    assert_eq!(
        (&error["code"], &error["field"]),
        (&json!("bad_field"), &json!("name"))
    );
    let error = client.send_hello(json!({"protocol": 2, "name": ""})).await;
    assert_eq!(error["code"], "unsupported_protocol");
    assert_eq!(error["supported"], json!([1]));
    assert_eq!(
        client.send_hello(json!({"name": "a\u{202e}b"})).await["code"],
        "bad_name"
    );
    let taken = client.send_hello(json!({"name": "Adm\u{456}n"})).await;
    assert_eq!(
        (&taken["code"], &taken["retryable"]),
        (&json!("name_taken"), &json!(false))
    );
    assert_eq!(
        client.send_hello(json!({"name": "ada"})).await["type"],
        "welcome"
    );
    assert_eq!(
        client.send_hello(json!({"protocol": 2})).await["code"],
        "unsupported_protocol"
    );
    assert_eq!(
        client.send_hello(json!({"name": ""})).await["code"],
        "already_welcomed"
    );
}

#[tokio::test(start_paused = true)]
async fn resume_with_unknown_token_creates_guest() {
    let server = TestServer::start(settings());
    let (client, welcome) = server.resume_session("no such token").await;
    assert_eq!(welcome["resumed"], false);
    assert_ne!(client.token(), "no such token");
}

#[tokio::test(start_paused = true)]
async fn resume_restores_player_and_live_matches() {
    let server = TestServer::start(settings());
    let (ann, mut bob, id) = server.start_match().await;
    let (token, who) = (ann.token(), ann.welcome["player"].clone());
    let mut ann = ann;
    let hosted = ann.create_match(json!({"seats": ["open", "open"]})).await;
    drop(ann);
    bob.wait_for_presence(json!([false, true]), 0).await;

    // With a valid token, the server ignores the name in the `hello` request, even if the name is
    // invalid.
    let mut ann = server.connect().await;
    let welcome = ann.send_hello(json!({"token": token, "name": ""})).await;
    assert_eq!(welcome["resumed"], true);
    assert_eq!(welcome["player"], who);
    assert_eq!(welcome["token"], token);
    assert_eq!(
        welcome["following"],
        json!([{"match": id, "you": 0}, {"match": hosted, "you": null}])
    );
    let snapshots = [ann.next_message().await, ann.next_message().await];
    assert_eq!(
        snapshots.clone().map(|s| s["type"].clone()),
        ["match", "match"]
    );
    assert_eq!(
        snapshots.clone().map(|s| s["match"].clone()),
        [json!(id), json!(hosted)]
    );
    assert_eq!(
        snapshots.clone().map(|s| s["you"].clone()),
        [json!(0), json!(null)]
    );
    assert!(snapshots.iter().all(|s| s.get("re").is_none()));

    bob.wait_for_presence(json!([true, true]), 0).await;
    assert_eq!(ann.play_move(&id, 0, "b2").await["type"], "ok");
    assert_eq!(bob.expect_event("moved").await["move"], "b2");
}

#[tokio::test(start_paused = true)]
async fn resume_closes_older_connection() {
    let server = TestServer::start(settings());
    let (mut older, mut bob, id) = server.start_match().await;
    let (mut newer, welcome) = server.resume_session(&older.token()).await;
    assert_eq!(welcome["resumed"], true);
    assert_eq!(older.wait_for_close().await, 4001);
    assert_eq!(newer.expect_event("match").await["you"], 0);
    newer.play_move(&id, 0, "b2").await;
    bob.expect_event("moved").await;
    // Ann always had at least one open connection, so no `presence` message may show her as absent.
    let presences = bob.drain_messages().await;
    assert!(
        presences.iter().all(|p| p["seats"] == json!([true, true])),
        "{presences:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn resume_omits_ended_matches() {
    let server = TestServer::start(settings());
    let (mut ann, _bob, id) = server.start_match().await;
    ann.request(json!({"type": "resign", "match": id})).await;
    let (_, welcome) = server.resume_session(&ann.token()).await;
    assert_eq!(
        (&welcome["resumed"], &welcome["following"]),
        (&json!(true), &json!([]))
    );
}

#[tokio::test(start_paused = true)]
async fn connection_takeover_sends_each_snapshot_once() {
    let server = TestServer::start(settings());
    let mut older = server.connect_player("ann").await;
    for _ in 0..5 {
        older.create_match(json!({})).await;
    }
    let (mut newer, welcome) = server.resume_session(&older.token()).await;
    assert_eq!(welcome["following"].as_array().map(Vec::len), Some(5));
    assert_eq!(older.wait_for_close().await, 4001);
    advance_time(1).await;
    let snapshots = newer.drain_messages().await;
    let shown: Vec<_> = snapshots
        .iter()
        .filter(|message| message["type"] == "match")
        .collect();
    assert_eq!(shown.len(), 5);
}
