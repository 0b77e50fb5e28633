//! How requests are answered, whatever they are: numbers, order, rates.

use serde_json::json;

use crate::support::{TestServer, pass, settings};

#[tokio::test(start_paused = true)]
async fn a_ping_is_answered_with_the_time() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    let first = ann.ask(json!({"type": "ping"})).await["now_ms"]
        .as_u64()
        .unwrap();
    assert!(first > 1_700_000_000_000, "Unix time in milliseconds");
    pass(2).await;
    let second = ann.ask(json!({"type": "ping"})).await["now_ms"]
        .as_u64()
        .unwrap();
    assert!((2000..2100).contains(&(second - first)));
}

#[tokio::test(start_paused = true)]
async fn without_a_number_only_data_and_errors_are_answered() {
    let server = TestServer::start(settings());
    let (mut ann, _bob, id) = server.pair().await;
    ann.drain().await;
    ann.send(&json!({"type": "move", "match": id, "ply": 0, "move": "b2"}).to_string())
        .await;
    ann.send(&json!({"type": "unseek"}).to_string()).await;
    ann.send(&json!({"type": "move", "match": id, "ply": 0, "move": "c3"}).to_string())
        .await;
    ann.send(&json!({"type": "resync", "match": id, "since": 4}).to_string())
        .await;
    ann.send(&json!({"type": "list"}).to_string()).await;
    ann.send(&json!({"type": "watch", "match": id}).to_string())
        .await;
    let mut told = Vec::new();
    while told.last() != Some(&json!("match")) {
        told.push(ann.next().await["type"].clone());
    }
    told.retain(|kind| kind != "presence");
    // Answers about different matches may overtake each other; these are about one and about none.
    let mut rest = told.split_off(2);
    assert_eq!(told.iter().filter(|kind| *kind == "ok").count(), 0);
    rest.append(&mut told);
    rest.sort_by_key(ToString::to_string);
    assert_eq!(rest, ["error", "events", "match", "matches", "moved"]);
}

#[tokio::test(start_paused = true)]
async fn a_bad_field_is_named_and_nothing_is_done() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    ann.send(r#"{"type":"create","id":5,"game":"tic-tac-toe","seats":["me","me"]}"#)
        .await;
    let error = ann.next().await;
    assert_eq!(
        (&error["re"], &error["code"]),
        (&json!(5), &json!("bad_field"))
    );
    assert_eq!(
        (&error["field"], &error["retryable"]),
        (&json!("seats"), &json!(false))
    );
    ann.send(r#"{"type":"create","id":"5","game":"tic-tac-toe"}"#)
        .await;
    let error = ann.next().await;
    assert_eq!((error.get("re"), &error["field"]), (None, &json!("id")));
    assert_eq!(ann.ask(json!({"type": "list"})).await["total"], 0);
}

#[tokio::test(start_paused = true)]
async fn too_many_requests_are_refused_one_by_one() {
    let server = TestServer::start(settings());
    let mut ann = server.player("ann").await;
    pass(10).await;
    for id in 100..150 {
        ann.send(&json!({"type": "ping", "id": id}).to_string())
            .await;
    }
    let mut refused = Vec::new();
    for id in 100..150 {
        let answer = ann.next().await;
        assert_eq!(answer["re"], id, "every request is answered, in order");
        if answer["type"] == "error" {
            assert_eq!(answer["code"], "rate_limited");
            assert_eq!(answer["retryable"], true);
            refused.push(answer["retry_after_ms"].as_u64().unwrap());
        }
    }
    assert_eq!(refused, [50; 10]);
    pass(1).await;
    assert_eq!(ann.ask(json!({"type": "ping"})).await["type"], "pong");
}

#[tokio::test(start_paused = true)]
async fn requests_sent_at_once_are_handled_in_order() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob, id) = server.pair().await;
    ann.drain().await;
    bob.drain().await;
    let play = |n: u64, ply: u64, m: &str| {
        json!({"type": "move", "id": n, "match": id, "ply": ply, "move": m}).to_string()
    };
    ann.send(&play(1000, 0, "a1")).await;
    ann.send(&play(1001, 1, "a2")).await;
    ann.send(&play(1002, 0, "a1")).await;
    ann.send(&json!({"type": "resign", "id": 1003, "match": id}).to_string())
        .await;
    ann.send(&play(1004, 0, "a1")).await;
    let mut told = Vec::new();
    while told.len() < 7 {
        let message = ann.next().await;
        let what = if message["type"] == "error" {
            "code"
        } else {
            "type"
        };
        if message["type"] != "presence" {
            told.push(message[what].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(
        told,
        ["moved", "ok", "not_your_turn", "ok", "ended", "ok", "ok"]
    );
}
