//! Tests of subscriptions to match lists: the server sends each change exactly once.

use std::time::Duration;

use plyhouse_server::Settings;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{
    TestPlayer, TestServer, advance_time, json_string, settings, settings_without_limits,
};

async fn watch_list(player: &mut TestPlayer, filter: Value) {
    let mut request = filter;
    request["type"] = "watch_list".into();
    assert_eq!(player.request(request).await["type"], "ok");
}

fn match_ids(changes: &Value, field: &str) -> Vec<String> {
    let rows = changes[field].as_array().expect("a list").iter();
    rows.map(|row| json_string(row.get("match").unwrap_or(row)))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn list_changes_are_sent_for_matching_matches() {
    let server = TestServer::start(settings());
    let (mut ann, mut eve) = (
        server.connect_player("ann").await,
        server.connect_player("eve").await,
    );
    let old = ann.create_match(json!({})).await;
    watch_list(&mut eve, json!({"game": "tic-tac-toe", "status": "open"})).await;

    let new = ann.create_match(json!({})).await;
    let changes = eve.expect_event("list_changed").await;
    assert_eq!(match_ids(&changes, "changed"), std::slice::from_ref(&new));
    assert_eq!(match_ids(&changes, "gone"), [] as [String; 0]);
    assert_eq!((&changes["total"], changes.get("reset")), (&json!(2), None));
    let listed = eve.request(json!({"type": "list", "status": "open"})).await;
    assert_eq!(changes["changed"][0], listed["matches"][0]);

    // The server sends only matches that fit the filter. If a match no longer fits the filter, the
    // server reports it as gone.
    ann.create_match(json!({"game": "go"})).await;
    ann.create_match(json!({"listed": false})).await;
    let mut bob = server.connect_player("bob").await;
    bob.request(json!({"type": "join", "match": old})).await;
    let changes = eve.expect_event("list_changed").await;
    assert_eq!(match_ids(&changes, "changed"), [] as [String; 0]);
    assert_eq!(match_ids(&changes, "gone"), [old]);
    assert_eq!(changes["total"], 1);

    ann.request(json!({"type": "leave", "match": new})).await;
    assert_eq!(
        match_ids(&eve.expect_event("list_changed").await, "gone"),
        [new]
    );
}

#[tokio::test(start_paused = true)]
async fn seat_changes_update_the_list_but_moves_do_not() {
    let server = TestServer::start(settings());
    let (mut ann, mut eve) = (
        server.connect_player("ann").await,
        server.connect_player("eve").await,
    );
    let open = json!({"type": "create", "game": "tic-tac-toe", "seats": ["open", "open"]});
    let id = json_string(&ann.request(open).await["match"]);
    watch_list(&mut eve, json!({})).await;
    ann.request(json!({"type": "join", "match": id})).await;
    let changes = eve.expect_event("list_changed").await;
    assert_eq!(changes["changed"][0]["seats"][0]["name"], "ann");

    let mut bob = server.connect_player("bob").await;
    bob.request(json!({"type": "join", "match": id})).await;
    let changes = eve.expect_event("list_changed").await;
    assert_eq!(changes["changed"][0]["status"], "running");
    assert_eq!(changes["total"], 1);
    assert_eq!(ann.play_move(&id, 0, "b2").await["type"], "ok");
    advance_time(5).await;
    assert_eq!(eve.drain_messages().await, [] as [Value; 0]);
    // A move does not trigger a list update. The new ply count arrives with the next update of the
    // match's row.
    ann.request(json!({"type": "resign", "match": id})).await;
    let changes = eve.expect_event("list_changed").await;
    let row = &changes["changed"][0];
    assert_eq!((&row["status"], &row["ply"]), (&json!("ended"), &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn list_updates_are_throttled_and_reset_after_too_many_changes() {
    let server = TestServer::start(Settings {
        live_matches_per_player: 1000,
        following_max: 1000,
        ..settings_without_limits()
    });
    let (mut ann, mut eve) = (
        server.connect_player("ann").await,
        server.connect_player("eve").await,
    );
    watch_list(&mut eve, json!({"status": "open"})).await;
    ann.create_match(json!({})).await;
    assert_eq!(eve.expect_event("list_changed").await["total"], 1);
    for _ in 0..100 {
        ann.create_match(json!({})).await;
    }
    let before = Instant::now();
    let changes = eve.expect_event("list_changed").await;
    assert!(before.elapsed() >= Duration::from_millis(900));
    assert_eq!(match_ids(&changes, "changed").len(), 100);
    assert_eq!(
        (&changes["total"], changes.get("reset")),
        (&json!(101), None)
    );
    for _ in 0..101 {
        ann.create_match(json!({})).await;
    }
    let changes = eve.expect_event("list_changed").await;
    assert_eq!(
        changes,
        json!({"type": "list_changed", "changed": [], "gone": [], "total": 202, "reset": true})
    );
}

#[tokio::test(start_paused = true)]
async fn list_subscription_can_be_replaced_and_ended() {
    let server = TestServer::start(settings());
    let (mut ann, mut eve) = (
        server.connect_player("ann").await,
        server.connect_player("eve").await,
    );
    watch_list(&mut eve, json!({})).await;
    watch_list(&mut eve, json!({"game": "go"})).await;
    ann.create_match(json!({})).await;
    let id = ann.create_match(json!({"game": "go"})).await;
    assert_eq!(
        match_ids(&eve.expect_event("list_changed").await, "changed"),
        [id]
    );
    advance_time(5).await;
    assert_eq!(eve.drain_messages().await, [] as [Value; 0]);

    let metrics = || server.server.metrics_text();
    assert!(metrics().contains("plyhouse_watched_lists 1\n"));
    assert_eq!(
        eve.request(json!({"type": "unwatch_list"})).await["type"],
        "ok"
    );
    assert!(metrics().contains("plyhouse_watched_lists 0\n"));
    ann.create_match(json!({"game": "go"})).await;
    advance_time(5).await;
    assert_eq!(eve.drain_messages().await, [] as [Value; 0]);
    let ludo = json!({"type": "watch_list", "game": "ludo"});
    assert_eq!(eve.expect_error(ludo).await, "unknown_game");
    watch_list(&mut eve, json!({})).await;
    drop(eve);
    advance_time(1).await;
    assert!(metrics().contains("plyhouse_watched_lists 0\n"));
}
