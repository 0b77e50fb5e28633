//! Who looks for somebody to play is seen by whoever asks for it.

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::accounts::registered;
use crate::support::{Player, TestServer, boundless, calm, pass, settings};

fn seek(game: &str) -> Value {
    json!({"type": "seek", "game": game})
}

async fn watch(player: &mut Player, fields: Value) {
    let mut request = fields;
    request["type"] = "watch_list".into();
    request["seekers"] = true.into();
    assert_eq!(player.ask(request).await["type"], "ok");
}

/// Their names.
fn names(seekers: &Value) -> Vec<&str> {
    let rows = seekers["rows"].as_array().expect("a list").iter();
    rows.map(|row| row["player"]["name"].as_str().expect("a name"))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn who_comes_and_goes_is_told() {
    let server = TestServer::start(settings());
    let (mut ann, mut eve) = (server.player("ann").await, server.player("eve").await);
    let clock = json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 0});
    let timed =
        json!({"type": "seek", "game": "go", "clock": clock, "bot": "easy", "bot_after_ms": 60000});
    assert_eq!(ann.ask(timed).await["type"], "ok");
    watch(&mut eve, json!({})).await;
    let told = eve.event("seekers").await;
    let row = json!({"player": {"id": ann.id(), "name": "ann"}, "game": "go", "clock": clock, "rated": false});
    assert_eq!(told, json!({"type": "seekers", "total": 1, "rows": [row]}));

    let mut bob = server.player("bob").await;
    bob.ask(seek("chess")).await;
    let both = eve.event("seekers").await;
    assert_eq!(
        (names(&both), &both["total"]),
        (vec!["ann", "bob"], &json!(2))
    );
    assert_eq!(both["rows"][1]["clock"], Value::Null);
    let list = json!({"type": "list", "seekers": true});
    let listed = eve.ask(list.clone()).await["seekers"].clone();
    assert_eq!(
        (&listed["rows"], &listed["total"]),
        (&both["rows"], &json!(2))
    );

    // The very same seek is the answer, and both are gone.
    let mut dan = server.player("dan").await;
    assert_eq!(dan.ask(seek("chess")).await["type"], "ok");
    bob.event("match").await;
    assert_eq!(names(&eve.event("seekers").await), ["ann"]);
    ann.ask(json!({"type": "unseek"})).await;
    let nobody = eve.event("seekers").await;
    assert_eq!(nobody, json!({"type": "seekers", "total": 0, "rows": []}));
    pass(30).await;
    assert_eq!(eve.drain().await, [] as [Value; 0], "nothing has changed");

    eve.ask(json!({"type": "unwatch_list"})).await;
    ann.ask(seek("go")).await;
    pass(3).await;
    assert_eq!(
        eve.drain().await,
        [] as [Value; 0],
        "it is not watched any more"
    );
    assert_eq!(names(&eve.ask(list).await["seekers"]), ["ann"]);
    drop(ann);
    pass(3).await;
    watch(&mut eve, json!({})).await;
    assert_eq!(names(&eve.event("seekers").await), [] as [&str; 0]);
}

/// Clients that know nothing of it are told nothing of it.
#[tokio::test(start_paused = true)]
async fn who_does_not_ask_is_told_nothing() {
    let server = TestServer::start(settings());
    let (mut ann, mut eve) = (server.player("ann").await, server.player("eve").await);
    eve.ask(json!({"type": "watch_list"})).await;
    ann.ask(seek("chess")).await;
    pass(5).await;
    assert_eq!(eve.drain().await, [] as [Value; 0]);
    let list = eve.ask(json!({"type": "list"})).await;
    assert_eq!(list.get("seekers"), None, "{list}");
    // A list that is watched without it takes the place of one with it.
    watch(&mut eve, json!({})).await;
    assert_eq!(names(&eve.event("seekers").await), ["ann"]);
    eve.ask(json!({"type": "watch_list"})).await;
    ann.ask(json!({"type": "unseek"})).await;
    pass(5).await;
    assert_eq!(eve.drain().await, [] as [Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn of_one_game_those_alone_are_told_who_seek_it() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob) = (server.player("ann").await, server.player("bob").await);
    ann.ask(seek("go")).await;
    bob.ask(seek("chess")).await;
    let mut eve = server.player("eve").await;
    watch(&mut eve, json!({"game": "chess", "status": "ended"})).await;
    let told = eve.event("seekers").await;
    assert_eq!((names(&told), &told["total"]), (vec!["bob"], &json!(1)));
    let list = json!({"type": "list", "game": "go", "seekers": true});
    assert_eq!(names(&eve.ask(list).await["seekers"]), ["ann"]);
}

/// Nobody is shown oneself, whoever does not meet them, or somebody who was forgotten.
#[tokio::test(start_paused = true)]
async fn who_is_not_to_be_met_is_not_shown() {
    let server = TestServer::start(calm());
    let (mut ann, mut bob) = (server.player("ann").await, server.player("bob").await);
    let mut eve = server.player("eve").await;
    watch(&mut ann, json!({})).await;
    watch(&mut eve, json!({})).await;
    for player in [&mut ann, &mut eve] {
        assert_eq!(player.event("seekers").await["total"], 0);
    }
    ann.ask(seek("go")).await;
    bob.ask(seek("chess")).await;
    assert_eq!(names(&ann.event("seekers").await), ["bob"]);
    assert_eq!(names(&eve.event("seekers").await), ["ann", "bob"]);
    let block = |on| json!({"type": "block", "player": ann.id().clone(), "on": on});
    let (block, unblock) = (block(true), block(false));
    bob.ask(block).await;
    let told = ann.event("seekers").await;
    assert_eq!((names(&told), &told["total"]), (vec![], &json!(0)));
    let list = json!({"type": "list", "seekers": true});
    assert_eq!(names(&bob.ask(list).await["seekers"]), [] as [&str; 0]);
    bob.ask(unblock).await;
    assert_eq!(names(&ann.event("seekers").await), ["bob"]);
    assert_eq!(bob.ask(json!({"type": "forget_me"})).await["type"], "ok");
    assert_eq!(names(&ann.event("seekers").await), [] as [&str; 0]);
    assert_eq!(names(&eve.event("seekers").await), ["ann"]);
}

#[tokio::test(start_paused = true)]
async fn an_account_is_shown_with_its_rating() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let clock = json!({"kind": "fischer", "main_ms": 60000, "increment_ms": 0});
    let rated = json!({"type": "seek", "game": "chess", "clock": clock, "rated": true});
    assert_eq!(ann.ask(rated).await["type"], "ok");
    let mut eve = server.player("eve").await;
    let list = json!({"type": "list", "seekers": true});
    let row = eve.ask(list).await["seekers"]["rows"][0].clone();
    assert_eq!(row["player"]["account"], true);
    assert_eq!(
        (&row["rating"], &row["provisional"]),
        (&json!(1500), &json!(true))
    );
    assert_eq!(row["rated"], true);
}

/// Of many those are shown who have waited longest, and of many changes it is told once a second.
#[tokio::test(start_paused = true)]
async fn of_many_fifty_are_told_and_once_a_second() {
    let server = TestServer::start(boundless());
    let mut eve = server.player("eve").await;
    watch(&mut eve, json!({})).await;
    eve.event("seekers").await;
    let begin = Instant::now();
    let mut players = Vec::new();
    for number in 0..60 {
        let mut player = server.player(&format!("p{number}")).await;
        let clock = json!({"kind": "fischer", "main_ms": 60000 + 1000 * number, "increment_ms": 0});
        player
            .ask(json!({"type": "seek", "game": "go", "clock": clock}))
            .await;
        players.push(player);
    }
    let mut messages = 0;
    let told = loop {
        let told = eve.event("seekers").await;
        messages += 1;
        if told["total"] == 60 {
            break told;
        }
    };
    let expected: Vec<String> = (0..50).map(|number| format!("p{number}")).collect();
    assert_eq!(names(&told), expected);
    assert!(
        messages <= 1 + begin.elapsed().as_secs(),
        "{messages} messages"
    );
}
