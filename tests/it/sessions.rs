//! One player with several connections: which of them stay, what each is told, and how sessions end.

use serde_json::{Value, json};

use crate::support::{Player, TestServer, calm, pass, settings, text};

/// One more connection of this session, beside the others.
pub(crate) async fn beside(server: &TestServer, token: &str) -> Player {
    let mut tab = server.connect().await;
    let welcome = tab.hello(json!({"token": token, "beside": true})).await;
    assert_eq!(welcome["resumed"], true, "{welcome}");
    tab
}

async fn sessions(player: &mut Player) -> Vec<Value> {
    let listed = player.ask(json!({"type": "sessions"})).await;
    listed["sessions"].as_array().expect("a list").clone()
}

#[tokio::test(start_paused = true)]
async fn a_connection_beside_others_ends_none() {
    let server = TestServer::start(settings());
    let (mut first, mut bob, id) = server.pair().await;
    let mut second = beside(&server, &first.token()).await;
    assert_eq!(second.event("match").await["you"], 0);

    // Moves come from either, and both are told.
    assert_eq!(second.play(&id, 0, "b2").await["type"], "ok");
    bob.event("moved").await;
    bob.play(&id, 1, "a1").await;
    for tab in [&mut first, &mut second] {
        for ply in 0..2 {
            assert_eq!(tab.event("moved").await["ply"], ply);
        }
    }
    assert_eq!(first.play(&id, 2, "c3").await["type"], "ok");
    assert_eq!(second.event("moved").await["ply"], 2);
    let shown = bob.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["spectators"], 0, "{shown}");

    // A plain one ends both.
    let (_third, _) = server.come_back(&first.token()).await;
    assert_eq!([first.closed().await, second.closed().await], [4001, 4001]);
}

#[tokio::test(start_paused = true)]
async fn the_oldest_of_nine_ends() {
    let server = TestServer::start(settings());
    let mut first = server.player("ann").await;
    let mut tabs = Vec::new();
    for _ in 0..7 {
        tabs.push(beside(&server, &first.token()).await);
    }
    assert_eq!(first.drain().await, [] as [Value; 0]);
    tabs.push(beside(&server, &first.token()).await);
    assert_eq!(first.closed().await, 4001);
    for mut tab in tabs {
        assert_eq!(tab.drain().await, [] as [Value; 0]);
    }
}

/// A player is there with any connection, also in matches of which only another has known.
#[tokio::test(start_paused = true)]
async fn a_player_is_gone_with_the_last_connection() {
    let server = TestServer::start(calm());
    let mut first = server.player("ann").await;
    let mut second = beside(&server, &first.token()).await;
    let id = first.create(json!({})).await;
    let mut bob = server.player("bob").await;
    bob.ask(json!({"type": "join", "match": id})).await;
    assert_eq!(second.drain().await, [] as [Value; 0], "it follows nothing");

    drop(first);
    let shown = second.event("match").await;
    assert_eq!((&shown["match"], &shown["you"]), (&json!(id), &json!(0)));
    // Longer than anybody may be absent.
    pass(70).await;
    let told = bob.drain().await;
    let is_gone = |told: &&Value| told["seats"] == json!([false, true]);
    assert_eq!(told.iter().find(is_gone), None);

    drop(second);
    bob.presence(json!([false, true]), 0).await;
    assert_eq!(bob.event("ended").await["outcome"]["reason"], "abandonment");
}

/// A player has one seek, which belongs to the connection that has sent it, and so does its match.
#[tokio::test(start_paused = true)]
async fn a_player_has_one_seek() {
    let server = TestServer::start(settings());
    let mut first = server.player("ann").await;
    let mut second = beside(&server, &first.token()).await;
    let seek = |game: &str| json!({"type": "seek", "game": game});
    first.ask(seek("tic-tac-toe")).await;
    second.ask(seek("chess")).await;
    let mut bob = server.player("bob").await;
    bob.ask(seek("tic-tac-toe")).await;
    assert_eq!(bob.drain().await, [] as [Value; 0], "the first is over");
    bob.ask(seek("chess")).await;
    let id = second.event("match").await["match"].clone();
    assert_eq!(bob.event("match").await["match"], id);
    assert_eq!(first.drain().await, [] as [Value; 0]);

    second.ask(seek("go")).await;
    drop(second);
    assert_eq!(first.event("match").await["match"], id);
    bob.ask(seek("go")).await;
    assert_eq!(bob.drain().await, [] as [Value; 0], "it ended with it");
}

/// What concerns the player is told on all connections.
#[tokio::test(start_paused = true)]
async fn all_connections_are_challenged() {
    let server = TestServer::start(settings());
    let mut first = server.player("ann").await;
    let mut second = beside(&server, &first.token()).await;
    let mut bob = server.player("bob").await;
    let id = bob.create(json!({"for": first.id()})).await;
    for tab in [&mut first, &mut second] {
        assert_eq!(tab.event("challenge").await["match"], json!(id));
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_is_listed_and_ends() {
    let server = TestServer::start(settings());
    let mut ann = server.connect().await;
    let welcome = ann.hello(json!({"name": "ann", "label": " laptop "})).await;
    let session = text(&welcome["session"]);
    let token = ann.token();
    let mut listed = sessions(&mut ann).await;
    let created_ms = listed[0]["created_ms"].take();
    assert!(created_ms.as_u64().is_some(), "{created_ms}");
    let day = text(&listed[0]["seen_day"].take());
    assert_eq!((day.len(), &day[..2]), (10, "20"));
    let expected = json!([{"session": session, "label": "laptop", "kind": "cli", "created_ms": null,
        "seen_day": null, "connected": true, "this": true}]);
    assert_eq!(json!(listed), expected);

    // What there is not has ended already.
    for gone in ["others", "b2", "0b9e0000-0000-4000-8000-000000000000"] {
        let end = json!({"type": "end_session", "session": gone});
        assert_eq!(ann.ask(end).await["type"], "ok");
    }
    let mut tab = beside(&server, &token).await;
    let end = json!({"type": "end_session", "session": session});
    assert_eq!(ann.ask(end).await["type"], "ok");
    assert_eq!([ann.closed().await, tab.closed().await], [4005, 4005]);
    let (again, welcome) = server.come_back(&token).await;
    assert_eq!(welcome["resumed"], false, "the token is void");
    assert_ne!(again.token(), token);
}

#[tokio::test(start_paused = true)]
async fn a_bad_label_is_refused() {
    let server = TestServer::start(settings());
    let mut ann = server.connect().await;
    for label in [json!(""), json!("a\u{202e}b"), json!("x".repeat(25))] {
        let refused = ann.hello(json!({"label": label})).await;
        assert_eq!(refused["code"], "bad_name", "{label}");
    }
    assert_eq!(ann.hello(json!({})).await["type"], "welcome");
    assert_eq!(sessions(&mut ann).await[0]["label"], "program");
}
