//! A player with connections to several servers.

use serde_json::{Value, json};
use uuid::Uuid;

use super::{Cluster, start_match_across_nodes};
use crate::sessions::add_connection;
use crate::support::advance_time;

#[tokio::test(start_paused = true)]
async fn session_spans_nodes_and_ends_on_all() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let mut ann = here.server.connect_player("ann").await;
    let mut second_connection = add_connection(&there.server, &ann.token()).await;
    for connection in [&mut ann, &mut second_connection] {
        assert_eq!(
            connection.request(json!({"type": "ping"})).await["type"],
            "pong"
        );
    }
    let (mut bob, token) = (here.server.connect_player("bob").await, ann.token());
    let id = bob.create_match(json!({"for": ann.id().clone()})).await;
    for connection in [&mut ann, &mut second_connection] {
        assert_eq!(
            connection.expect_event("challenge").await["match"],
            json!(id)
        );
    }
    let end_session = json!({"type": "end_session", "session": "all"});
    assert_eq!(ann.request(end_session).await["type"], "ok");
    assert_eq!(
        [
            ann.wait_for_close().await,
            second_connection.wait_for_close().await
        ],
        [4005, 4005]
    );
    for node in [&here, &there] {
        let (_, welcome) = node.server.resume_session(&token).await;
        assert_eq!(welcome["resumed"], false);
    }
}

#[tokio::test(start_paused = true)]
async fn missed_session_end_is_applied_after_bus_gap() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let mut ann = here.server.connect_player("ann").await;
    let mut second_connection = add_connection(&there.server, &ann.token()).await;
    there.bus.close();
    let end_session = json!({"type": "end_session", "session": "all"});
    assert_eq!(second_connection.request(end_session).await["type"], "ok");
    assert_eq!(ann.request(json!({"type": "ping"})).await["type"], "pong");
    cluster.hub.report_gap(Uuid::from_u128(1));
    assert_eq!(ann.wait_for_close().await, 4005);
}

/// The player `bob` is not in the store, because he has made no request yet. His connection must
/// nevertheless stay open.
#[tokio::test(start_paused = true)]
async fn session_ends_on_all_nodes_within_5s_without_bus() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let mut ann = here.server.connect_player("ann").await;
    let mut bob = here.server.connect_player("bob").await;
    let mut second_connection = add_connection(&there.server, &ann.token()).await;
    there.bus.close();
    let end_session = json!({"type": "end_session", "session": "all"});
    assert_eq!(second_connection.request(end_session).await["type"], "ok");
    let start = tokio::time::Instant::now();
    assert_eq!(ann.wait_for_close().await, 4005);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    cluster.hub.report_gap(Uuid::from_u128(1));
    advance_time(5).await;
    assert_eq!(bob.request(json!({"type": "ping"})).await["type"], "pong");
}

#[tokio::test(start_paused = true)]
async fn pairing_code_is_accepted_on_other_node() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    // Gives the servers two seconds to discover each other.
    advance_time(2).await;
    let mut ann = here.server.connect_player("ann").await;
    let paired = ann.request(json!({"type": "pair"})).await;
    let mut phone = there.server.connect().await;
    let hello = json!({"pair": paired["code"], "label": "phone"});
    let welcome = phone.send_hello(hello).await;
    assert_eq!(welcome["player"], ann.welcome["player"]);
    let added = ann.expect_event("session_added").await;
    assert_eq!(added["session"], welcome["session"]);
    // The list of sessions includes connections to other servers.
    let listed = ann.request(json!({"type": "sessions"})).await;
    let connected = listed["sessions"].as_array().expect("a list").iter();
    let connected: Vec<&Value> = connected.map(|session| &session["connected"]).collect();
    assert_eq!(connected, [true, true]);
    let (_, welcome) = here.server.resume_session(&phone.token()).await;
    assert_eq!(welcome["resumed"], true);
}

/// A server misses a rename while the message bus is down. It applies the rename when the bus
/// reports the gap.
#[tokio::test(start_paused = true)]
async fn registered_name_is_unique_and_broadcast_on_all_nodes() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let mut ann = here.server.connect_player("ann").await;
    let mut second_connection = add_connection(&there.server, &ann.token()).await;
    let register = json!({"type": "register", "name": "ann", "password": "correct horse"});
    assert_eq!(ann.request(register).await["type"], "ok");
    let player_event = second_connection.expect_event("player").await;
    assert_eq!(
        player_event["player"],
        ann.expect_event("player").await["player"]
    );
    assert_eq!(player_event["player"]["account"], true);
    let id = second_connection.create_match(json!({})).await;
    let snapshot = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(snapshot["seats"][0]["account"], true, "{snapshot}");
    let mut bob = there.server.connect().await;
    let refused = bob.send_hello(json!({"name": "Ann"})).await;
    assert_eq!(refused["code"], "name_taken");
    let login = json!({"name": "Ann", "password": "correct horse"});
    assert_eq!(bob.send_hello(login).await["resumed"], true);

    ann.drain_messages().await;
    there.bus.close();
    let rename = json!({"type": "rename", "name": "anna"});
    assert_eq!(second_connection.request(rename).await["type"], "ok");
    cluster.hub.report_gap(Uuid::from_u128(1));
    // Other messages, such as a new snapshot of the followed match, may come first.
    let player_event = loop {
        let message = ann.next_message().await;
        if message["type"] == "player" {
            break message;
        }
    };
    assert_eq!(player_event["player"]["name"], "anna");
}

/// The client receives each name change once, within five seconds.
#[tokio::test(start_paused = true)]
async fn name_change_reaches_other_nodes_without_bus() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let mut ann = here.server.connect_player("ann").await;
    let mut second_connection = add_connection(&there.server, &ann.token()).await;
    there.bus.close();
    let start = tokio::time::Instant::now();
    for (kind, name) in [("register", "ann"), ("rename", "anna")] {
        let answer = second_connection
            .request(json!({"type": kind, "name": name}))
            .await;
        assert_eq!(answer["type"], "ok");
        let player_event = ann.expect_event("player").await;
        assert_eq!(player_event["player"]["name"], name);
        assert_eq!(player_event["player"]["account"], true);
    }
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    let clock = json!({"kind": "fischer", "main_ms": 60_000, "increment_ms": 0});
    let id = ann
        .create_match(json!({"rated": true, "clock": clock}))
        .await;
    let snapshot = ann.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(snapshot["seats"][0]["name"], "anna", "{snapshot}");
    advance_time(10).await;
    let messages = ann.drain_messages().await;
    assert!(
        messages.iter().all(|message| message["type"] != "player"),
        "{messages:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn player_is_absent_only_without_connection_to_any_node() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let (ann, mut bob, id) =
        start_match_across_nodes(&here, &here, json!({"patience_ms": 10_000})).await;
    let mut second_connection = add_connection(&there.server, &ann.token()).await;
    assert_eq!(
        second_connection.expect_event("match").await["match"],
        json!(id)
    );
    let second_id = second_connection
        .create_match(json!({"patience_ms": 10_000}))
        .await;
    bob.request(json!({"type": "join", "match": second_id}))
        .await;
    drop(ann);
    advance_time(15).await;
    assert_eq!(
        second_connection.play_move(&id, 0, "b2").await["type"],
        "ok"
    );
    assert_eq!(bob.expect_event("moved").await["match"], json!(id));

    // When the last connection to one server closes, a connection to the other server keeps the
    // player present. The connection to the other server also receives the snapshots of the
    // player's matches.
    let mut third_connection = add_connection(&here.server, &second_connection.token()).await;
    for _ in 0..2 {
        third_connection.expect_event("match").await;
    }
    let third_id = second_connection
        .create_match(json!({"patience_ms": 10_000}))
        .await;
    bob.request(json!({"type": "join", "match": third_id}))
        .await;
    drop(second_connection);
    assert_eq!(
        third_connection.expect_event("match").await["match"],
        json!(third_id)
    );
    advance_time(15).await;
    assert_eq!(
        third_connection.play_move(&third_id, 0, "b2").await["type"],
        "ok"
    );
}

#[tokio::test(start_paused = true)]
async fn new_seek_replaces_own_seek_on_other_node() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    let mut ann = here.server.connect_player("ann").await;
    let mut second_connection = add_connection(&there.server, &ann.token()).await;
    let seek = |game: &str| json!({"type": "seek", "game": game});
    ann.request(seek("tic-tac-toe")).await;
    second_connection.request(seek("chess")).await;
    // Waits until each server has run its periodic comparison of its seeks with the store.
    advance_time(10).await;
    let mut bob = here.server.connect_player("bob").await;
    bob.request(seek("tic-tac-toe")).await;
    assert_eq!(bob.drain_messages().await, [] as [Value; 0]);
    bob.request(seek("chess")).await;
    let snapshot = second_connection.expect_event("match").await;
    assert_eq!(bob.expect_event("match").await["match"], snapshot["match"]);
    assert_eq!(ann.drain_messages().await, [] as [Value; 0]);
}

/// Followers of the player's matches on another server receive a snapshot without the player's
/// name.
#[tokio::test(start_paused = true)]
async fn account_deletion_applies_on_all_nodes() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let (mut ann, mut bob, id) = start_match_across_nodes(&here, &there, json!({})).await;
    let mut second_connection = add_connection(&there.server, &ann.token()).await;
    assert_eq!(
        ann.expect_error(json!({"type": "forget_me"})).await,
        "match_running"
    );
    ann.request(json!({"type": "resign", "match": id})).await;
    bob.expect_event("ended").await;
    let open_id = second_connection.create_match(json!({})).await;
    bob.request(json!({"type": "watch", "match": open_id}))
        .await;
    assert_eq!(
        ann.request(json!({"type": "forget_me"})).await["type"],
        "ok"
    );
    assert_eq!(
        [
            ann.wait_for_close().await,
            second_connection.wait_for_close().await
        ],
        [4005, 4005]
    );
    advance_time(1).await;
    let messages = bob.drain_messages().await;
    let snapshot = messages
        .iter()
        .rfind(|message| message["type"] == "match" && message["match"] == json!(id));
    assert_eq!(
        snapshot.expect("a new snapshot")["seats"][0]["name"],
        "someone"
    );
    for match_id in [&id, &open_id] {
        let snapshot = bob
            .request(json!({"type": "watch", "match": match_id}))
            .await;
        assert_eq!(snapshot["status"], "ended");
        assert_eq!(snapshot["seats"][0]["name"], "someone", "{snapshot}");
    }
    let (_, welcome) = there.server.resume_session(&ann.token()).await;
    assert_eq!(welcome["resumed"], false);
}

/// When an account is deleted on one server, the other server also removes the player's name from
/// the matches in its memory.
#[tokio::test(start_paused = true)]
async fn account_deletion_reaches_other_nodes_within_5s_without_bus() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let (mut ann, mut bob, id) = start_match_across_nodes(&there, &here, json!({})).await;
    let mut second_connection = add_connection(&here.server, &ann.token()).await;
    ann.request(json!({"type": "resign", "match": id})).await;
    bob.expect_event("ended").await;
    second_connection.drain_messages().await;
    bob.drain_messages().await;
    there.bus.close();
    assert_eq!(
        ann.request(json!({"type": "forget_me"})).await["type"],
        "ok"
    );
    let start = tokio::time::Instant::now();
    assert_eq!(second_connection.wait_for_close().await, 4005);
    let snapshot = bob.expect_event("match").await;
    assert_eq!(snapshot["seats"][0]["name"], "someone", "{snapshot}");
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

/// If the server refuses to delete an account, the session must remain valid, so that the client
/// can repeat the request.
#[tokio::test(start_paused = true)]
async fn account_deletion_is_refused_while_owner_is_unreachable() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let mut ann = here.server.connect_player("ann").await;
    let mut second_connection = add_connection(&there.server, &ann.token()).await;
    second_connection.create_match(json!({})).await;
    // A second node that joins the bus with the same node id takes over the first node's inbox. The
    // first node then receives no more requests and cannot reply.
    let _silent_node = cluster.hub.join(Uuid::from_u128(2));
    let delete_account = json!({"type": "forget_me"});
    assert_eq!(ann.expect_error(delete_account).await, "overloaded");
    let (_, welcome) = here.server.resume_session(&ann.token()).await;
    assert_eq!(welcome["resumed"], true);
}

/// When a server learns of a missed account deletion, it also removes the player's name from the
/// matches in its memory.
#[tokio::test(start_paused = true)]
async fn missed_account_deletion_is_applied_after_bus_gap() {
    let mut cluster = Cluster::default();
    let [here, there] = cluster.start_nodes().await;
    advance_time(2).await;
    let (mut ann, mut bob, id) = start_match_across_nodes(&there, &here, json!({})).await;
    let mut second_connection = add_connection(&here.server, &ann.token()).await;
    ann.request(json!({"type": "resign", "match": id})).await;
    bob.expect_event("ended").await;
    there.bus.close();
    assert_eq!(
        ann.request(json!({"type": "forget_me"})).await["type"],
        "ok"
    );
    assert_eq!(ann.wait_for_close().await, 4005);
    advance_time(1).await;
    assert_eq!(
        second_connection.request(json!({"type": "ping"})).await["type"],
        "pong"
    );
    cluster.hub.report_gap(Uuid::from_u128(1));
    assert_eq!(second_connection.wait_for_close().await, 4005);
    advance_time(1).await;
    let messages = bob.drain_messages().await;
    let snapshot = messages.iter().rfind(|message| message["type"] == "match");
    let snapshot = snapshot.expect("a new snapshot");
    assert_eq!(snapshot["seats"][0]["name"], "someone", "{snapshot}");
    let snapshot = bob.request(json!({"type": "watch", "match": id})).await;
    assert_eq!(snapshot["seats"][0]["name"], "someone", "{snapshot}");
}
