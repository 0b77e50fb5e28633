//! One player with connections to several servers.

use serde_json::{Value, json};
use uuid::Uuid;

use super::{Cluster, start_match_across_nodes};
use crate::sessions::add_connection;
use crate::support::advance_time;

/// One session may be used on two servers beside each other; where it ends, it ends on both.
#[tokio::test(start_paused = true)]
async fn a_session_spans_servers() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let mut ann = here.server.connect_player("ann").await;
    let mut again = add_connection(&there.server, &ann.token()).await;
    for tab in [&mut ann, &mut again] {
        assert_eq!(tab.request(json!({"type": "ping"})).await["type"], "pong");
    }
    let (mut bob, token) = (here.server.connect_player("bob").await, ann.token());
    let id = bob.create_match(json!({"for": ann.id().clone()})).await;
    for tab in [&mut ann, &mut again] {
        assert_eq!(tab.expect_event("challenge").await["match"], json!(id));
    }
    let end = json!({"type": "end_session", "session": "all"});
    assert_eq!(ann.request(end).await["type"], "ok");
    assert_eq!(
        [ann.wait_for_close().await, again.wait_for_close().await],
        [4005, 4005]
    );
    for node in [&here, &there] {
        let (_, welcome) = node.server.resume_session(&token).await;
        assert_eq!(welcome["resumed"], false);
    }
}

/// What was told of sessions while nothing was heard is made up for afterwards.
#[tokio::test(start_paused = true)]
async fn a_session_that_ended_unheard_ends() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let mut ann = here.server.connect_player("ann").await;
    let mut again = add_connection(&there.server, &ann.token()).await;
    there.bus.close();
    let end = json!({"type": "end_session", "session": "all"});
    assert_eq!(again.request(end).await["type"], "ok");
    assert_eq!(ann.request(json!({"type": "ping"})).await["type"], "pong");
    cluster.hub.report_gap(Uuid::from_u128(1));
    assert_eq!(ann.wait_for_close().await, 4005);
}

/// Also while nothing is heard a session ends on all servers within the five seconds that are promised; whoever has
/// done nothing yet, of whom the store does not know, stays.
#[tokio::test(start_paused = true)]
async fn a_session_ends_while_nothing_is_heard() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let mut ann = here.server.connect_player("ann").await;
    let mut bob = here.server.connect_player("bob").await;
    let mut again = add_connection(&there.server, &ann.token()).await;
    there.bus.close();
    let end = json!({"type": "end_session", "session": "all"});
    assert_eq!(again.request(end).await["type"], "ok");
    let since = tokio::time::Instant::now();
    assert_eq!(ann.wait_for_close().await, 4005);
    assert!(since.elapsed().as_secs() < 5, "{:?}", since.elapsed());
    cluster.hub.report_gap(Uuid::from_u128(1));
    advance_time(5).await;
    assert_eq!(bob.request(json!({"type": "ping"})).await["type"], "pong");
}

/// A code from one server is good on another, and the player's other devices are told.
#[tokio::test(start_paused = true)]
async fn a_device_is_paired_on_another_server() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    // By then the servers know of each other.
    advance_time(2).await;
    let mut ann = here.server.connect_player("ann").await;
    let paired = ann.request(json!({"type": "pair"})).await;
    let mut phone = there.server.connect().await;
    let hello = json!({"pair": paired["code"], "label": "phone"});
    let welcome = phone.send_hello(hello).await;
    assert_eq!(welcome["player"], ann.welcome["player"]);
    let added = ann.expect_event("session_added").await;
    assert_eq!(added["session"], welcome["session"]);
    // Whoever asks is told of connections to other servers, too.
    let listed = ann.request(json!({"type": "sessions"})).await;
    let connected = listed["sessions"].as_array().expect("a list").iter();
    let connected: Vec<&Value> = connected.map(|session| &session["connected"]).collect();
    assert_eq!(connected, [true, true]);
    let (_, welcome) = here.server.resume_session(&phone.token()).await;
    assert_eq!(welcome["resumed"], true);
}

/// A name is a player's alone on all servers, and all connections are told of it, once they can be.
#[tokio::test(start_paused = true)]
async fn a_name_is_ones_own_on_all_servers() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let mut ann = here.server.connect_player("ann").await;
    let mut again = add_connection(&there.server, &ann.token()).await;
    let register = json!({"type": "register", "name": "ann", "password": "correct horse"});
    assert_eq!(ann.request(register).await["type"], "ok");
    let told = again.expect_event("player").await;
    assert_eq!(told["player"], ann.expect_event("player").await["player"]);
    assert_eq!(told["player"]["account"], true);
    let id = again.create_match(json!({})).await;
    let shown = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["seats"][0]["account"], true, "{shown}");
    let mut bob = there.server.connect().await;
    let refused = bob.send_hello(json!({"name": "Ann"})).await;
    assert_eq!(refused["code"], "name_taken");
    let login = json!({"name": "Ann", "password": "correct horse"});
    assert_eq!(bob.send_hello(login).await["resumed"], true);

    ann.drain_messages().await;
    there.bus.close();
    let rename = json!({"type": "rename", "name": "anna"});
    assert_eq!(again.request(rename).await["type"], "ok");
    cluster.hub.report_gap(Uuid::from_u128(1));
    // With the match that it follows, which is shown anew.
    let told = loop {
        let told = ann.next_message().await;
        if told["type"] == "player" {
            break told;
        }
    };
    assert_eq!(told["player"]["name"], "anna");
}

/// Also while nothing is heard whoever has registered or is called otherwise is so on all servers within five
/// seconds.
#[tokio::test(start_paused = true)]
async fn a_name_is_told_while_nothing_is_heard() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let mut ann = here.server.connect_player("ann").await;
    let mut again = add_connection(&there.server, &ann.token()).await;
    there.bus.close();
    let since = tokio::time::Instant::now();
    for (kind, name) in [("register", "ann"), ("rename", "anna")] {
        let named = again.request(json!({"type": kind, "name": name})).await;
        assert_eq!(named["type"], "ok");
        let told = ann.expect_event("player").await;
        assert_eq!(told["player"]["name"], name);
        assert_eq!(told["player"]["account"], true);
    }
    assert!(since.elapsed().as_secs() < 10, "{:?}", since.elapsed());
    let clock = json!({"kind": "fischer", "main_ms": 60_000, "increment_ms": 0});
    let id = ann
        .create_match(json!({"rated": true, "clock": clock}))
        .await;
    let shown = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["seats"][0]["name"], "anna", "{shown}");
    advance_time(10).await;
    let told = ann.drain_messages().await;
    assert!(told.iter().all(|told| told["type"] != "player"), "{told:?}");
}

/// A player is there with any connection, on whatever server.
#[tokio::test(start_paused = true)]
async fn a_player_is_gone_with_the_last_connection_of_all() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (ann, mut bob, id) =
        start_match_across_nodes(&here, &here, json!({"patience_ms": 10_000})).await;
    let mut again = add_connection(&there.server, &ann.token()).await;
    assert_eq!(again.expect_event("match").await["match"], json!(id));
    let other = again.create_match(json!({"patience_ms": 10_000})).await;
    bob.request(json!({"type": "join", "match": other})).await;
    drop(ann);
    advance_time(15).await;
    assert_eq!(again.play_move(&id, 0, "b2").await["type"], "ok");
    assert_eq!(bob.expect_event("moved").await["match"], json!(id));

    // What the last leaves behind on the one server goes on with a connection to the other.
    let mut third = add_connection(&here.server, &again.token()).await;
    for _ in 0..2 {
        third.expect_event("match").await;
    }
    let last = again.create_match(json!({"patience_ms": 10_000})).await;
    bob.request(json!({"type": "join", "match": last})).await;
    drop(again);
    assert_eq!(third.expect_event("match").await["match"], json!(last));
    advance_time(15).await;
    assert_eq!(third.play_move(&last, 0, "b2").await["type"], "ok");
}

/// A player has one seek, whatever the servers.
#[tokio::test(start_paused = true)]
async fn a_player_has_one_seek_on_all_servers() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let mut ann = here.server.connect_player("ann").await;
    let mut again = add_connection(&there.server, &ann.token()).await;
    let seek = |game: &str| json!({"type": "seek", "game": game});
    ann.request(seek("tic-tac-toe")).await;
    again.request(seek("chess")).await;
    // Until seeks have been looked after.
    advance_time(10).await;
    let mut bob = here.server.connect_player("bob").await;
    bob.request(seek("tic-tac-toe")).await;
    assert_eq!(bob.drain_messages().await, [] as [Value; 0]);
    bob.request(seek("chess")).await;
    let shown = again.expect_event("match").await;
    assert_eq!(bob.expect_event("match").await["match"], shown["match"]);
    assert_eq!(ann.drain_messages().await, [] as [Value; 0]);
}

/// Whoever is forgotten is so on all servers, also by those who follow a match elsewhere.
#[tokio::test(start_paused = true)]
async fn a_player_is_forgotten_on_all_servers() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let (mut ann, mut bob, id) = start_match_across_nodes(&here, &there, json!({})).await;
    let mut again = add_connection(&there.server, &ann.token()).await;
    assert_eq!(
        ann.expect_error(json!({"type": "forget_me"})).await,
        "match_running"
    );
    ann.request(json!({"type": "resign", "match": id})).await;
    bob.expect_event("ended").await;
    let open = again.create_match(json!({})).await;
    bob.request(json!({"type": "watch", "match": open})).await;
    assert_eq!(
        ann.request(json!({"type": "forget_me"})).await["type"],
        "ok"
    );
    assert_eq!(
        [ann.wait_for_close().await, again.wait_for_close().await],
        [4005, 4005]
    );
    advance_time(1).await;
    let told = bob.drain_messages().await;
    let shown = told
        .iter()
        .rfind(|told| told["type"] == "match" && told["match"] == json!(id));
    assert_eq!(
        shown.expect("it is shown anew")["seats"][0]["name"],
        "someone"
    );
    for match_id in [&id, &open] {
        let shown = bob
            .request(json!({"type": "watch", "match": match_id}))
            .await;
        assert_eq!(shown["status"], "ended");
        assert_eq!(shown["seats"][0]["name"], "someone", "{shown}");
    }
    let (_, welcome) = there.server.resume_session(&ann.token()).await;
    assert_eq!(welcome["resumed"], false);
}

/// Also while nothing is heard whoever is forgotten is so on all servers within five seconds, with what stands in
/// memory there.
#[tokio::test(start_paused = true)]
async fn a_player_is_forgotten_while_nothing_is_heard() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let (mut ann, mut bob, id) = start_match_across_nodes(&there, &here, json!({})).await;
    let mut again = add_connection(&here.server, &ann.token()).await;
    ann.request(json!({"type": "resign", "match": id})).await;
    bob.expect_event("ended").await;
    again.drain_messages().await;
    bob.drain_messages().await;
    there.bus.close();
    assert_eq!(
        ann.request(json!({"type": "forget_me"})).await["type"],
        "ok"
    );
    let since = tokio::time::Instant::now();
    assert_eq!(again.wait_for_close().await, 4005);
    let shown = bob.expect_event("match").await;
    assert_eq!(shown["seats"][0]["name"], "someone", "{shown}");
    assert!(since.elapsed().as_secs() < 5, "{:?}", since.elapsed());
}

/// Nobody is forgotten whose match cannot be reached, and who asks again may be.
#[tokio::test(start_paused = true)]
async fn nobody_is_forgotten_whose_match_is_out_of_reach() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let mut ann = here.server.connect_player("ann").await;
    let mut again = add_connection(&there.server, &ann.token()).await;
    again.create_match(json!({})).await;
    // From now on nobody answers there.
    let _silence = cluster.hub.join(Uuid::from_u128(2));
    let forget = json!({"type": "forget_me"});
    assert_eq!(ann.expect_error(forget).await, "overloaded");
    let (_, welcome) = here.server.resume_session(&ann.token()).await;
    assert_eq!(welcome["resumed"], true);
}

/// Whoever was forgotten while nothing was heard is so afterwards, also in what stands in memory.
#[tokio::test(start_paused = true)]
async fn whoever_was_forgotten_unheard_is_forgotten() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let (mut ann, mut bob, id) = start_match_across_nodes(&there, &here, json!({})).await;
    let mut again = add_connection(&here.server, &ann.token()).await;
    ann.request(json!({"type": "resign", "match": id})).await;
    bob.expect_event("ended").await;
    there.bus.close();
    assert_eq!(
        ann.request(json!({"type": "forget_me"})).await["type"],
        "ok"
    );
    assert_eq!(ann.wait_for_close().await, 4005);
    advance_time(1).await;
    assert_eq!(again.request(json!({"type": "ping"})).await["type"], "pong");
    cluster.hub.report_gap(Uuid::from_u128(1));
    assert_eq!(again.wait_for_close().await, 4005);
    advance_time(1).await;
    let told = bob.drain_messages().await;
    let shown = told.iter().rfind(|told| told["type"] == "match");
    let shown = shown.expect("it is shown anew");
    assert_eq!(shown["seats"][0]["name"], "someone", "{shown}");
    let shown = bob.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["seats"][0]["name"], "someone", "{shown}");
}
