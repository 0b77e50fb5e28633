//! Tests of request handling: ids, order and rate limits.

use serde_json::json;

use crate::support::{TestServer, advance_time, settings};

#[tokio::test(start_paused = true)]
async fn ping_returns_server_time() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    let first = ann.request(json!({"type": "ping"})).await["now_ms"]
        .as_u64()
        .unwrap();
    assert!(first > 1_700_000_000_000, "Unix time in milliseconds");
    advance_time(2).await;
    let second = ann.request(json!({"type": "ping"})).await["now_ms"]
        .as_u64()
        .unwrap();
    assert!((2000..2100).contains(&(second - first)));
}

#[tokio::test(start_paused = true)]
async fn requests_without_id_receive_no_ok() {
    let server = TestServer::start(settings());
    let (mut ann, _bob, id) = server.start_match().await;
    ann.drain_messages().await;
    ann.send_text(&json!({"type": "move", "match": id, "ply": 0, "move": "b2"}).to_string())
        .await;
    ann.send_text(&json!({"type": "unseek"}).to_string()).await;
    ann.send_text(&json!({"type": "move", "match": id, "ply": 0, "move": "c3"}).to_string())
        .await;
    ann.send_text(&json!({"type": "resync", "match": id, "since": 4}).to_string())
        .await;
    ann.send_text(&json!({"type": "list"}).to_string()).await;
    ann.send_text(&json!({"type": "watch", "match": id}).to_string())
        .await;
    let mut kinds = Vec::new();
    while kinds.last() != Some(&json!("match")) {
        kinds.push(ann.next_message().await["type"].clone());
    }
    kinds.retain(|kind| kind != "presence");
    // Answers to requests about different matches can arrive in any order. Answers to requests that
    // concern no match can also arrive in any order.
    let mut rest = kinds.split_off(2);
    assert_eq!(kinds.iter().filter(|kind| *kind == "ok").count(), 0);
    rest.append(&mut kinds);
    rest.sort_by_key(ToString::to_string);
    assert_eq!(rest, ["error", "events", "match", "matches", "moved"]);
}

#[tokio::test(start_paused = true)]
async fn bad_field_is_named_and_request_has_no_effect() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    ann.send_text(r#"{"type":"create","id":5,"game":"tic-tac-toe","seats":["me","me"]}"#)
        .await;
    let error = ann.next_message().await;
    assert_eq!(
        (&error["re"], &error["code"]),
        (&json!(5), &json!("bad_field"))
    );
    assert_eq!(
        (&error["field"], &error["retryable"]),
        (&json!("seats"), &json!(false))
    );
    ann.send_text(r#"{"type":"create","id":"5","game":"tic-tac-toe"}"#)
        .await;
    let error = ann.next_message().await;
    assert_eq!((error.get("re"), &error["field"]), (None, &json!("id")));
    assert_eq!(ann.request(json!({"type": "list"})).await["total"], 0);
}

#[tokio::test(start_paused = true)]
async fn requests_over_rate_limit_are_refused_individually() {
    let server = TestServer::start(settings());
    let mut ann = server.connect_player("ann").await;
    advance_time(10).await;
    for id in 100..150 {
        ann.send_text(&json!({"type": "ping", "id": id}).to_string())
            .await;
    }
    let mut refused = Vec::new();
    for id in 100..150 {
        let answer = ann.next_message().await;
        assert_eq!(answer["re"], id, "every request is answered, in order");
        if answer["type"] == "error" {
            assert_eq!(answer["code"], "rate_limited");
            assert_eq!(answer["retryable"], true);
            refused.push(answer["retry_after_ms"].as_u64().unwrap());
        }
    }
    assert_eq!(refused, [50; 10]);
    advance_time(1).await;
    assert_eq!(ann.request(json!({"type": "ping"})).await["type"], "pong");
}

#[tokio::test(start_paused = true)]
async fn pipelined_requests_are_handled_in_order() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.start_match().await;
    ann.drain_messages().await;
    bob.drain_messages().await;
    let play = |n: u64, ply: u64, m: &str| {
        json!({"type": "move", "id": n, "match": id, "ply": ply, "move": m}).to_string()
    };
    ann.send_text(&play(1000, 0, "a1")).await;
    ann.send_text(&play(1001, 1, "a2")).await;
    ann.send_text(&play(1002, 0, "a1")).await;
    ann.send_text(&json!({"type": "resign", "id": 1003, "match": id}).to_string())
        .await;
    ann.send_text(&play(1004, 0, "a1")).await;
    let mut kinds = Vec::new();
    while kinds.len() < 7 {
        let message = ann.next_message().await;
        let what = if message["type"] == "error" {
            "code"
        } else {
            "type"
        };
        if message["type"] != "presence" {
            kinds.push(message[what].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(
        kinds,
        ["moved", "ok", "not_your_turn", "ok", "ended", "ok", "ok"]
    );
}
