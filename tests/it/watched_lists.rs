//! Lists that are watched: what changes is told, once, and nothing is missed.

use std::time::Duration;

use plyhouse_server::Settings;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{Player, TestServer, boundless, pass, settings, text};

async fn watch(player: &mut Player, filter: Value) {
    let mut request = filter;
    request["type"] = "watch_list".into();
    assert_eq!(player.ask(request).await["type"], "ok");
}

fn ids(changes: &Value, field: &str) -> Vec<String> {
    let rows = changes[field].as_array().expect("a list").iter();
    rows.map(|row| text(row.get("match").unwrap_or(row)))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn what_comes_and_goes_is_told() {
    let server = TestServer::start(settings());
    let (mut ann, mut eve) = (server.player("ann").await, server.player("eve").await);
    let old = ann.create(json!({})).await;
    watch(&mut eve, json!({"game": "tic-tac-toe", "status": "open"})).await;

    let new = ann.create(json!({})).await;
    let changes = eve.event("list_changed").await;
    assert_eq!(ids(&changes, "changed"), std::slice::from_ref(&new));
    assert_eq!(ids(&changes, "gone"), [] as [String; 0]);
    assert_eq!((&changes["total"], changes.get("reset")), (&json!(2), None));
    let listed = eve.ask(json!({"type": "list", "status": "open"})).await;
    assert_eq!(changes["changed"][0], listed["matches"][0]);

    // What fits no filter is told to nobody; what fits no more is gone.
    ann.create(json!({"game": "go"})).await;
    ann.create(json!({"listed": false})).await;
    let mut bob = server.player("bob").await;
    bob.ask(json!({"type": "join", "match": old})).await;
    let changes = eve.event("list_changed").await;
    assert_eq!(ids(&changes, "changed"), [] as [String; 0]);
    assert_eq!(ids(&changes, "gone"), [old]);
    assert_eq!(changes["total"], 1);

    ann.ask(json!({"type": "leave", "match": new})).await;
    assert_eq!(ids(&eve.event("list_changed").await, "gone"), [new]);
}

#[tokio::test(start_paused = true)]
async fn who_sits_where_is_a_change_and_a_move_is_none() {
    let server = TestServer::start(settings());
    let (mut ann, mut eve) = (server.player("ann").await, server.player("eve").await);
    let open = json!({"type": "create", "game": "tic-tac-toe", "seats": ["open", "open"]});
    let id = text(&ann.ask(open).await["match"]);
    watch(&mut eve, json!({})).await;
    ann.ask(json!({"type": "join", "match": id})).await;
    let changes = eve.event("list_changed").await;
    assert_eq!(changes["changed"][0]["seats"][0]["name"], "ann");

    let mut bob = server.player("bob").await;
    bob.ask(json!({"type": "join", "match": id})).await;
    let changes = eve.event("list_changed").await;
    assert_eq!(changes["changed"][0]["status"], "running");
    assert_eq!(changes["total"], 1);
    assert_eq!(ann.play(&id, 0, "b2").await["type"], "ok");
    pass(5).await;
    assert_eq!(eve.drain().await, [] as [Value; 0]);
    // It is told along with what is one.
    ann.ask(json!({"type": "resign", "match": id})).await;
    let changes = eve.event("list_changed").await;
    let row = &changes["changed"][0];
    assert_eq!((&row["status"], &row["ply"]), (&json!("ended"), &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn much_is_told_once_a_second_and_too_much_is_to_be_listed() {
    let server = TestServer::start(Settings {
        live_matches_per_player: 1000,
        following_max: 1000,
        ..boundless()
    });
    let (mut ann, mut eve) = (server.player("ann").await, server.player("eve").await);
    watch(&mut eve, json!({"status": "open"})).await;
    ann.create(json!({})).await;
    assert_eq!(eve.event("list_changed").await["total"], 1);
    for _ in 0..100 {
        ann.create(json!({})).await;
    }
    let before = Instant::now();
    let changes = eve.event("list_changed").await;
    assert!(before.elapsed() >= Duration::from_millis(900));
    assert_eq!(ids(&changes, "changed").len(), 100);
    assert_eq!(
        (&changes["total"], changes.get("reset")),
        (&json!(101), None)
    );
    for _ in 0..101 {
        ann.create(json!({})).await;
    }
    let changes = eve.event("list_changed").await;
    assert_eq!(
        changes,
        json!({"type": "list_changed", "changed": [], "gone": [], "total": 202, "reset": true})
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_and_is_replaced() {
    let server = TestServer::start(settings());
    let (mut ann, mut eve) = (server.player("ann").await, server.player("eve").await);
    watch(&mut eve, json!({})).await;
    watch(&mut eve, json!({"game": "go"})).await;
    ann.create(json!({})).await;
    let id = ann.create(json!({"game": "go"})).await;
    assert_eq!(ids(&eve.event("list_changed").await, "changed"), [id]);
    pass(5).await;
    assert_eq!(eve.drain().await, [] as [Value; 0]);

    let counted = || server.server.metrics_text();
    assert!(counted().contains("plyhouse_watched_lists 1\n"));
    assert_eq!(eve.ask(json!({"type": "unwatch_list"})).await["type"], "ok");
    assert!(counted().contains("plyhouse_watched_lists 0\n"));
    ann.create(json!({"game": "go"})).await;
    pass(5).await;
    assert_eq!(eve.drain().await, [] as [Value; 0]);
    let ludo = json!({"type": "watch_list", "game": "ludo"});
    assert_eq!(eve.refused(ludo).await, "unknown_game");
    watch(&mut eve, json!({})).await;
    drop(eve);
    pass(1).await;
    assert!(counted().contains("plyhouse_watched_lists 0\n"));
}
