//! One player with connections to several servers.

use serde_json::{Value, json};
use uuid::Uuid;

use super::{Cluster, pair};
use crate::sessions::beside;
use crate::support::pass;

/// One session may be used on two servers beside each other; where it ends, it ends on both.
#[tokio::test(start_paused = true)]
async fn a_session_spans_servers() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    let mut ann = here.server.player("ann").await;
    let mut again = beside(&there.server, &ann.token()).await;
    for tab in [&mut ann, &mut again] {
        assert_eq!(tab.ask(json!({"type": "ping"})).await["type"], "pong");
    }
    let (mut bob, token) = (here.server.player("bob").await, ann.token());
    let id = bob.create(json!({"for": ann.id().clone()})).await;
    for tab in [&mut ann, &mut again] {
        assert_eq!(tab.event("challenge").await["match"], json!(id));
    }
    let end = json!({"type": "end_session", "session": "all"});
    assert_eq!(ann.ask(end).await["type"], "ok");
    assert_eq!([ann.closed().await, again.closed().await], [4005, 4005]);
    for node in [&here, &there] {
        let (_, welcome) = node.server.come_back(&token).await;
        assert_eq!(welcome["resumed"], false);
    }
}

/// What was told of sessions while nothing was heard is made up for afterwards.
#[tokio::test(start_paused = true)]
async fn a_session_that_ended_unheard_ends() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    let mut ann = here.server.player("ann").await;
    let mut again = beside(&there.server, &ann.token()).await;
    there.bus.close();
    let end = json!({"type": "end_session", "session": "all"});
    assert_eq!(again.ask(end).await["type"], "ok");
    assert_eq!(ann.ask(json!({"type": "ping"})).await["type"], "pong");
    cluster.hub.tell_of_gap(Uuid::from_u128(1));
    assert_eq!(ann.closed().await, 4005);
}

/// Also while nothing is heard a session ends on all servers within the five seconds that are promised; whoever has
/// done nothing yet, of whom the store does not know, stays.
#[tokio::test(start_paused = true)]
async fn a_session_ends_while_nothing_is_heard() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    pass(2).await;
    let mut ann = here.server.player("ann").await;
    let mut bob = here.server.player("bob").await;
    let mut again = beside(&there.server, &ann.token()).await;
    there.bus.close();
    let end = json!({"type": "end_session", "session": "all"});
    assert_eq!(again.ask(end).await["type"], "ok");
    let since = tokio::time::Instant::now();
    assert_eq!(ann.closed().await, 4005);
    assert!(since.elapsed().as_secs() < 5, "{:?}", since.elapsed());
    cluster.hub.tell_of_gap(Uuid::from_u128(1));
    pass(5).await;
    assert_eq!(bob.ask(json!({"type": "ping"})).await["type"], "pong");
}

/// A code from one server is good on another, and the player's other devices are told.
#[tokio::test(start_paused = true)]
async fn a_device_is_paired_on_another_server() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    // By then the servers know of each other.
    pass(2).await;
    let mut ann = here.server.player("ann").await;
    let paired = ann.ask(json!({"type": "pair"})).await;
    let mut phone = there.server.connect().await;
    let hello = json!({"pair": paired["code"], "label": "phone"});
    let welcome = phone.hello(hello).await;
    assert_eq!(welcome["player"], ann.welcome["player"]);
    let added = ann.event("session_added").await;
    assert_eq!(added["session"], welcome["session"]);
    // Whoever asks is told of connections to other servers, too.
    let listed = ann.ask(json!({"type": "sessions"})).await;
    let connected = listed["sessions"].as_array().expect("a list").iter();
    let connected: Vec<&Value> = connected.map(|session| &session["connected"]).collect();
    assert_eq!(connected, [true, true]);
    let (_, welcome) = here.server.come_back(&phone.token()).await;
    assert_eq!(welcome["resumed"], true);
}

/// A name is a player's alone on all servers, and all connections are told of it, once they can be.
#[tokio::test(start_paused = true)]
async fn a_name_is_ones_own_on_all_servers() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    let mut ann = here.server.player("ann").await;
    let mut again = beside(&there.server, &ann.token()).await;
    let register = json!({"type": "register", "name": "ann", "password": "correct horse"});
    assert_eq!(ann.ask(register).await["type"], "ok");
    let told = again.event("player").await;
    assert_eq!(told["player"], ann.event("player").await["player"]);
    assert_eq!(told["player"]["account"], true);
    let id = again.create(json!({})).await;
    let shown = ann.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["seats"][0]["account"], true, "{shown}");
    let mut bob = there.server.connect().await;
    let refused = bob.hello(json!({"name": "Ann"})).await;
    assert_eq!(refused["code"], "name_taken");
    let login = json!({"name": "Ann", "password": "correct horse"});
    assert_eq!(bob.hello(login).await["resumed"], true);

    ann.drain().await;
    there.bus.close();
    let rename = json!({"type": "rename", "name": "anna"});
    assert_eq!(again.ask(rename).await["type"], "ok");
    cluster.hub.tell_of_gap(Uuid::from_u128(1));
    // With the match that it follows, which is shown anew.
    let told = loop {
        let told = ann.next().await;
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
    let [here, there] = cluster.nodes().await;
    pass(2).await;
    let mut ann = here.server.player("ann").await;
    let mut again = beside(&there.server, &ann.token()).await;
    there.bus.close();
    let since = tokio::time::Instant::now();
    for (kind, name) in [("register", "ann"), ("rename", "anna")] {
        let named = again.ask(json!({"type": kind, "name": name})).await;
        assert_eq!(named["type"], "ok");
        let told = ann.event("player").await;
        assert_eq!(told["player"]["name"], name);
        assert_eq!(told["player"]["account"], true);
    }
    assert!(since.elapsed().as_secs() < 10, "{:?}", since.elapsed());
    let clock = json!({"kind": "fischer", "main_ms": 60_000, "increment_ms": 0});
    let id = ann.create(json!({"rated": true, "clock": clock})).await;
    let shown = ann.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["seats"][0]["name"], "anna", "{shown}");
    pass(10).await;
    let told = ann.drain().await;
    assert!(told.iter().all(|told| told["type"] != "player"), "{told:?}");
}

/// A player is there with any connection, on whatever server.
#[tokio::test(start_paused = true)]
async fn a_player_is_gone_with_the_last_connection_of_all() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    let (ann, mut bob, id) = pair(&here, &here, json!({"patience_ms": 10_000})).await;
    let mut again = beside(&there.server, &ann.token()).await;
    assert_eq!(again.event("match").await["match"], json!(id));
    let other = again.create(json!({"patience_ms": 10_000})).await;
    bob.ask(json!({"type": "join", "match": other})).await;
    drop(ann);
    pass(15).await;
    assert_eq!(again.play(&id, 0, "b2").await["type"], "ok");
    assert_eq!(bob.event("moved").await["match"], json!(id));

    // What the last leaves behind on the one server goes on with a connection to the other.
    let mut third = beside(&here.server, &again.token()).await;
    for _ in 0..2 {
        third.event("match").await;
    }
    let last = again.create(json!({"patience_ms": 10_000})).await;
    bob.ask(json!({"type": "join", "match": last})).await;
    drop(again);
    assert_eq!(third.event("match").await["match"], json!(last));
    pass(15).await;
    assert_eq!(third.play(&last, 0, "b2").await["type"], "ok");
}

/// A player has one seek, whatever the servers.
#[tokio::test(start_paused = true)]
async fn a_player_has_one_seek_on_all_servers() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    let mut ann = here.server.player("ann").await;
    let mut again = beside(&there.server, &ann.token()).await;
    let seek = |game: &str| json!({"type": "seek", "game": game});
    ann.ask(seek("tic-tac-toe")).await;
    again.ask(seek("chess")).await;
    // Until seeks have been looked after.
    pass(10).await;
    let mut bob = here.server.player("bob").await;
    bob.ask(seek("tic-tac-toe")).await;
    assert_eq!(bob.drain().await, [] as [Value; 0]);
    bob.ask(seek("chess")).await;
    let shown = again.event("match").await;
    assert_eq!(bob.event("match").await["match"], shown["match"]);
    assert_eq!(ann.drain().await, [] as [Value; 0]);
}

/// Whoever is forgotten is so on all servers, also by those who follow a match elsewhere.
#[tokio::test(start_paused = true)]
async fn a_player_is_forgotten_on_all_servers() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    pass(2).await;
    let (mut ann, mut bob, id) = pair(&here, &there, json!({})).await;
    let mut again = beside(&there.server, &ann.token()).await;
    assert_eq!(
        ann.refused(json!({"type": "forget_me"})).await,
        "match_running"
    );
    ann.ask(json!({"type": "resign", "match": id})).await;
    bob.event("ended").await;
    let open = again.create(json!({})).await;
    bob.ask(json!({"type": "watch", "match": open})).await;
    assert_eq!(ann.ask(json!({"type": "forget_me"})).await["type"], "ok");
    assert_eq!([ann.closed().await, again.closed().await], [4005, 4005]);
    pass(1).await;
    let told = bob.drain().await;
    let shown = told
        .iter()
        .rfind(|told| told["type"] == "match" && told["match"] == json!(id));
    assert_eq!(
        shown.expect("it is shown anew")["seats"][0]["name"],
        "someone"
    );
    for match_id in [&id, &open] {
        let shown = bob.ask(json!({"type": "watch", "match": match_id})).await;
        assert_eq!(shown["status"], "ended");
        assert_eq!(shown["seats"][0]["name"], "someone", "{shown}");
    }
    let (_, welcome) = there.server.come_back(&ann.token()).await;
    assert_eq!(welcome["resumed"], false);
}

/// Also while nothing is heard whoever is forgotten is so on all servers within five seconds, with what stands in
/// memory there.
#[tokio::test(start_paused = true)]
async fn a_player_is_forgotten_while_nothing_is_heard() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    pass(2).await;
    let (mut ann, mut bob, id) = pair(&there, &here, json!({})).await;
    let mut again = beside(&here.server, &ann.token()).await;
    ann.ask(json!({"type": "resign", "match": id})).await;
    bob.event("ended").await;
    again.drain().await;
    bob.drain().await;
    there.bus.close();
    assert_eq!(ann.ask(json!({"type": "forget_me"})).await["type"], "ok");
    let since = tokio::time::Instant::now();
    assert_eq!(again.closed().await, 4005);
    let shown = bob.event("match").await;
    assert_eq!(shown["seats"][0]["name"], "someone", "{shown}");
    assert!(since.elapsed().as_secs() < 5, "{:?}", since.elapsed());
}

/// Nobody is forgotten whose match cannot be reached, and who asks again may be.
#[tokio::test(start_paused = true)]
async fn nobody_is_forgotten_whose_match_is_out_of_reach() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    pass(2).await;
    let mut ann = here.server.player("ann").await;
    let mut again = beside(&there.server, &ann.token()).await;
    again.create(json!({})).await;
    // From now on nobody answers there.
    let _silence = cluster.hub.enter(Uuid::from_u128(2));
    let forget = json!({"type": "forget_me"});
    assert_eq!(ann.refused(forget).await, "overloaded");
    let (_, welcome) = here.server.come_back(&ann.token()).await;
    assert_eq!(welcome["resumed"], true);
}

/// Whoever was forgotten while nothing was heard is so afterwards, also in what stands in memory.
#[tokio::test(start_paused = true)]
async fn whoever_was_forgotten_unheard_is_forgotten() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.nodes().await;
    pass(2).await;
    let (mut ann, mut bob, id) = pair(&there, &here, json!({})).await;
    let mut again = beside(&here.server, &ann.token()).await;
    ann.ask(json!({"type": "resign", "match": id})).await;
    bob.event("ended").await;
    there.bus.close();
    assert_eq!(ann.ask(json!({"type": "forget_me"})).await["type"], "ok");
    assert_eq!(ann.closed().await, 4005);
    pass(1).await;
    assert_eq!(again.ask(json!({"type": "ping"})).await["type"], "pong");
    cluster.hub.tell_of_gap(Uuid::from_u128(1));
    assert_eq!(again.closed().await, 4005);
    pass(1).await;
    let told = bob.drain().await;
    let shown = told.iter().rfind(|told| told["type"] == "match");
    let shown = shown.expect("it is shown anew");
    assert_eq!(shown["seats"][0]["name"], "someone", "{shown}");
    let shown = bob.ask(json!({"type": "watch", "match": id})).await;
    assert_eq!(shown["seats"][0]["name"], "someone", "{shown}");
}
