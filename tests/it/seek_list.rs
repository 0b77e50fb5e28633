//! Tests of the seek list and of subscriptions to it.

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::accounts::connect_registered_player;
use crate::support::{
    TestPlayer, TestServer, advance_time, settings, settings_without_limits, settings_without_pings,
};

fn seek_request(game: &str) -> Value {
    json!({"type": "seek", "game": game})
}

async fn watch_seeks(player: &mut TestPlayer, fields: Value) {
    let mut request = fields;
    request["type"] = "watch_list".into();
    request["seekers"] = true.into();
    assert_eq!(player.request(request).await["type"], "ok");
}

/// Returns the names of the players in a seek list.
fn seeker_names(seekers: &Value) -> Vec<&str> {
    let rows = seekers["rows"].as_array().expect("a list").iter();
    rows.map(|row| row["player"]["name"].as_str().expect("a name"))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn seek_list_updates_on_seek_pairing_and_unseek() {
    let server = TestServer::start(settings());
    let (mut ann, mut eve) = (
        server.connect_player("ann").await,
        server.connect_player("eve").await,
    );
    let clock = json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 0});
    let timed =
        json!({"type": "seek", "game": "go", "clock": clock, "bot": "easy", "bot_after_ms": 60000});
    assert_eq!(ann.request(timed).await["type"], "ok");
    watch_seeks(&mut eve, json!({})).await;
    let seek_list = eve.expect_event("seekers").await;
    let row = json!({"player": {"id": ann.id(), "name": "ann"}, "game": "go", "clock": clock, "rated": false});
    assert_eq!(
        seek_list,
        json!({"type": "seekers", "total": 1, "rows": [row]})
    );

    let mut bob = server.connect_player("bob").await;
    bob.request(seek_request("chess")).await;
    let both = eve.expect_event("seekers").await;
    assert_eq!(
        (seeker_names(&both), &both["total"]),
        (vec!["ann", "bob"], &json!(2))
    );
    assert_eq!(both["rows"][1]["clock"], Value::Null);
    let list = json!({"type": "list", "seekers": true});
    let listed = eve.request(list.clone()).await["seekers"].clone();
    assert_eq!(
        (&listed["rows"], &listed["total"]),
        (&both["rows"], &json!(2))
    );

    // Dan's identical seek is paired with Bob's, and both seeks leave the list.
    let mut dan = server.connect_player("dan").await;
    assert_eq!(dan.request(seek_request("chess")).await["type"], "ok");
    bob.expect_event("match").await;
    assert_eq!(seeker_names(&eve.expect_event("seekers").await), ["ann"]);
    ann.request(json!({"type": "unseek"})).await;
    let empty = eve.expect_event("seekers").await;
    assert_eq!(empty, json!({"type": "seekers", "total": 0, "rows": []}));
    advance_time(30).await;
    assert_eq!(
        eve.drain_messages().await,
        [] as [Value; 0],
        "nothing has changed"
    );

    eve.request(json!({"type": "unwatch_list"})).await;
    ann.request(seek_request("go")).await;
    advance_time(3).await;
    assert_eq!(
        eve.drain_messages().await,
        [] as [Value; 0],
        "it is not watched any more"
    );
    assert_eq!(seeker_names(&eve.request(list).await["seekers"]), ["ann"]);
    drop(ann);
    advance_time(3).await;
    watch_seeks(&mut eve, json!({})).await;
    assert_eq!(
        seeker_names(&eve.expect_event("seekers").await),
        [] as [&str; 0]
    );
}

#[tokio::test(start_paused = true)]
async fn clients_that_do_not_request_seekers_receive_none() {
    let server = TestServer::start(settings());
    let (mut ann, mut eve) = (
        server.connect_player("ann").await,
        server.connect_player("eve").await,
    );
    eve.request(json!({"type": "watch_list"})).await;
    ann.request(seek_request("chess")).await;
    advance_time(5).await;
    assert_eq!(eve.drain_messages().await, [] as [Value; 0]);
    let list = eve.request(json!({"type": "list"})).await;
    assert_eq!(list.get("seekers"), None, "{list}");
    // A client has only one list subscription. A `watch_list` request without seeks therefore
    // replaces a subscription that includes seeks.
    watch_seeks(&mut eve, json!({})).await;
    assert_eq!(seeker_names(&eve.expect_event("seekers").await), ["ann"]);
    eve.request(json!({"type": "watch_list"})).await;
    ann.request(json!({"type": "unseek"})).await;
    advance_time(5).await;
    assert_eq!(eve.drain_messages().await, [] as [Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn seek_list_is_filtered_by_game() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    ann.request(seek_request("go")).await;
    bob.request(seek_request("chess")).await;
    let mut eve = server.connect_player("eve").await;
    watch_seeks(&mut eve, json!({"game": "chess", "status": "ended"})).await;
    let seek_list = eve.expect_event("seekers").await;
    assert_eq!(
        (seeker_names(&seek_list), &seek_list["total"]),
        (vec!["bob"], &json!(1))
    );
    let list = json!({"type": "list", "game": "go", "seekers": true});
    assert_eq!(seeker_names(&eve.request(list).await["seekers"]), ["ann"]);
}

#[tokio::test(start_paused = true)]
async fn seek_list_hides_self_blocked_and_deleted_players() {
    let server = TestServer::start(settings_without_pings());
    let (mut ann, mut bob) = (
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    );
    let mut eve = server.connect_player("eve").await;
    watch_seeks(&mut ann, json!({})).await;
    watch_seeks(&mut eve, json!({})).await;
    for player in [&mut ann, &mut eve] {
        assert_eq!(player.expect_event("seekers").await["total"], 0);
    }
    ann.request(seek_request("go")).await;
    bob.request(seek_request("chess")).await;
    assert_eq!(seeker_names(&ann.expect_event("seekers").await), ["bob"]);
    assert_eq!(
        seeker_names(&eve.expect_event("seekers").await),
        ["ann", "bob"]
    );
    let block = |on| json!({"type": "block", "player": ann.id().clone(), "on": on});
    let (block, unblock) = (block(true), block(false));
    bob.request(block).await;
    let seek_list = ann.expect_event("seekers").await;
    assert_eq!(
        (seeker_names(&seek_list), &seek_list["total"]),
        (vec![], &json!(0))
    );
    let list = json!({"type": "list", "seekers": true});
    assert_eq!(
        seeker_names(&bob.request(list).await["seekers"]),
        [] as [&str; 0]
    );
    bob.request(unblock).await;
    assert_eq!(seeker_names(&ann.expect_event("seekers").await), ["bob"]);
    assert_eq!(
        bob.request(json!({"type": "forget_me"})).await["type"],
        "ok"
    );
    assert_eq!(
        seeker_names(&ann.expect_event("seekers").await),
        [] as [&str; 0]
    );
    assert_eq!(seeker_names(&eve.expect_event("seekers").await), ["ann"]);
}

#[tokio::test(start_paused = true)]
async fn seek_list_shows_rating_of_accounts() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let clock = json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 0});
    let rated = json!({"type": "seek", "game": "chess", "clock": clock, "rated": true});
    assert_eq!(ann.request(rated).await["type"], "ok");
    let mut eve = server.connect_player("eve").await;
    let list = json!({"type": "list", "seekers": true});
    let row = eve.request(list).await["seekers"]["rows"][0].clone();
    assert_eq!(row["player"]["account"], true);
    assert_eq!(
        (&row["rating"], &row["provisional"]),
        (&json!(1500), &json!(true))
    );
    assert_eq!(row["rated"], true);
}

/// The list has at most 50 rows. If there are more seeks, the list contains the seeks that have
/// waited longest.
#[tokio::test(start_paused = true)]
async fn seek_list_has_at_most_fifty_rows_and_one_update_per_second() {
    let server = TestServer::start(settings_without_limits());
    let mut eve = server.connect_player("eve").await;
    watch_seeks(&mut eve, json!({})).await;
    eve.expect_event("seekers").await;
    let begin = Instant::now();
    let mut players = Vec::new();
    for number in 0..60 {
        let mut player = server.connect_player(&format!("p{number}")).await;
        let clock = json!({"kind": "fischer", "main_ms": 60000 + 1000 * number, "increment_ms": 0});
        player
            .request(json!({"type": "seek", "game": "go", "clock": clock}))
            .await;
        players.push(player);
    }
    let mut messages = 0;
    let seek_list = loop {
        let seek_list = eve.expect_event("seekers").await;
        messages += 1;
        if seek_list["total"] == 60 {
            break seek_list;
        }
    };
    let expected: Vec<String> = (0..50).map(|number| format!("p{number}")).collect();
    assert_eq!(seeker_names(&seek_list), expected);
    assert!(
        messages <= 1 + begin.elapsed().as_secs(),
        "{messages} messages"
    );
}
