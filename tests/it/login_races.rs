//! Tests of changes that happen while a client logs in. The store holds back the result of a read,
//! so that each change happens between the read and the `welcome` message.

use std::sync::Arc;

use plyhouse_server::Settings;
use plyhouse_store::Store;
use serde_json::{Value, json};

use crate::accounts::connect_registered_player;
use crate::fault_injecting_store::{FailingStore, HeldRead, ReadGate};
use crate::support::{TestPlayer, TestServer, advance_time, json_string, settings_without_pings};

const MINUTE: u64 = 60;

fn start_server() -> (Arc<FailingStore>, TestServer) {
    let store = Arc::new(FailingStore::default());
    let settings = Settings {
        started_ms: Some(1_700_000_000_000),
        abandon_after: None,
        ..settings_without_pings()
    };
    let server = TestServer::with_store(settings, Arc::clone(&store) as Arc<dyn Store>);
    (store, server)
}

/// Starts a login next to the session's other connections, and waits until the store holds back a
/// read of the login.
async fn start_login(server: &TestServer, token: &str, gate: &ReadGate) -> (TestPlayer, HeldRead) {
    let mut read = gate.hold_next();
    let mut client = server.connect().await;
    let hello = json!({"type": "hello", "token": token, "beside": true});
    client.send_text(&hello.to_string()).await;
    read.wait_until_read().await;
    (client, read)
}

/// Returns the next snapshot. The player who moves first receives `your_turn` before the snapshot.
async fn wait_for_match(player: &mut TestPlayer) -> Value {
    loop {
        let message = player.next_message().await;
        match json_string(&message["type"]).as_str() {
            "match" => return message,
            kind => assert_eq!(kind, "your_turn"),
        }
    }
}

fn correspondence_clock() -> Value {
    json!({"kind": "move", "move_ms": 24 * 3_600_000})
}

#[tokio::test(start_paused = true)]
async fn turn_begun_during_login_is_sent_after_welcome() {
    let (store, server) = start_server();
    let create = json!({"game": "chess", "clock": correspondence_clock()});
    let (mut ann, bob, id) = server.start_match_with(create).await;
    let (mut bob, read) = start_login(&server, &bob.token(), &store.participation_reads).await;
    ann.play_move(&id, 0, "e2e4").await;
    read.release();
    let welcome = bob.expect_event("welcome").await;
    assert_eq!(welcome["following"][0]["turn"], 0, "{welcome}");
    let your_turn = bob.expect_event("your_turn").await;
    assert_eq!(
        (&your_turn["match"], &your_turn["ply"]),
        (&json!(id), &json!(1))
    );
    assert_eq!(bob.drain_messages().await, [Value::Null; 0]);
}

#[tokio::test(start_paused = true)]
async fn session_ended_during_login_closes_the_connection() {
    let (store, server) = start_server();
    for gate in [&store.session_lookups, &store.participation_reads] {
        let name = format!(
            "ann{}",
            std::ptr::eq(gate, &raw const store.session_lookups)
        );
        let mut ann = connect_registered_player(&server, &name).await;
        let (mut again, read) = start_login(&server, &ann.token(), gate).await;
        let end = json!({"type": "end_session", "session": ann.welcome["session"]});
        assert_eq!(ann.request(end).await["type"], "ok");
        read.release();
        assert_eq!(again.wait_for_close().await, 4005);
    }
}

#[tokio::test(start_paused = true)]
async fn account_deleted_during_login_closes_the_connection() {
    let (store, server) = start_server();
    for gate in [&store.session_lookups, &store.participation_reads] {
        let mut ann = server.connect_player("ann").await;
        ann.create_match(json!({})).await;
        let (mut again, read) = start_login(&server, &ann.token(), gate).await;
        assert_eq!(
            ann.request(json!({"type": "forget_me"})).await["type"],
            "ok"
        );
        read.release();
        assert_eq!(again.wait_for_close().await, 4005);
    }
}

#[tokio::test(start_paused = true)]
async fn name_registered_during_login_reaches_the_client() {
    let (store, server) = start_server();
    let register = |name: &str| json!({"type": "register", "name": name});
    let mut ann = server.connect_player("ann").await;
    ann.create_match(json!({})).await;
    let (mut again, read) = start_login(&server, &ann.token(), &store.session_lookups).await;
    assert_eq!(ann.request(register("ada")).await["type"], "ok");
    read.release();
    let welcome = again.expect_event("welcome").await;
    assert_eq!(welcome["player"]["name"], "ada");

    let mut bob = server.connect_player("bob").await;
    bob.create_match(json!({})).await;
    let (mut again, read) = start_login(&server, &bob.token(), &store.participation_reads).await;
    assert_eq!(bob.request(register("ben")).await["type"], "ok");
    read.release();
    assert_eq!(again.expect_event("welcome").await["player"]["name"], "bob");
    assert_eq!(again.expect_event("player").await["player"]["name"], "ben");
}

#[tokio::test(start_paused = true)]
async fn welcome_lists_matches_that_are_live_at_the_end_of_the_login() {
    let (store, server) = start_server();
    let (mut ann, mut bob, ended) = server.start_match().await;
    let (mut again, read) = start_login(&server, &ann.token(), &store.participation_reads).await;
    bob.request(json!({"type": "resign", "match": ended})).await;
    let created = ann.create_match(json!({})).await;
    read.release();
    let welcome = again.expect_event("welcome").await;
    assert_eq!(welcome["following"], json!([{"match": created, "you": 0}]));
    assert_eq!(again.expect_event("match").await["match"], json!(created));
    assert_eq!(again.drain_messages().await, [Value::Null; 0]);
}

#[tokio::test(start_paused = true)]
async fn match_stays_in_memory_during_login() {
    let (store, server) = start_server();
    let mut ann = server.connect_player("ann").await;
    let seats = json!(["me", {"bot": "beginner"}]);
    let create = json!({"seats": seats, "game": "connect-four"});
    let id = ann.create_match(create).await;
    ann.play_move(&id, 0, "4").await;
    for _ in 0..2 {
        ann.expect_event("moved").await;
    }
    let token = ann.token();
    drop(ann);
    advance_time(9 * MINUTE).await;
    let (mut ann, read) = start_login(&server, &token, &store.participation_reads).await;
    advance_time(2 * MINUTE).await;
    read.release();
    let welcome = ann.expect_event("welcome").await;
    assert_eq!(welcome["following"], json!([{"match": id, "you": 0}]));
    assert_eq!(ann.expect_event("match").await["ply"], 2);
}

/// Ann's seek is paired while her only connection is closed and another one logs in.
#[tokio::test(start_paused = true)]
async fn correspondence_match_paired_during_login_is_sent_after_welcome() {
    let (store, server) = start_server();
    let seek = json!({"type": "seek", "game": "chess", "clock": correspondence_clock()});
    let mut ann = connect_registered_player(&server, "ann").await;
    assert_eq!(ann.request(seek.clone()).await["type"], "ok");
    let writes_blocked = store.write_gate.lock().await;
    let mut bob = server.connect_player("bob").await;
    assert_eq!(bob.request(seek).await["type"], "ok");
    let token = ann.token();
    drop(ann);
    advance_time(1).await;
    let (mut ann, read) = start_login(&server, &token, &store.participation_reads).await;
    drop(writes_blocked);
    let paired = wait_for_match(&mut bob).await;
    advance_time(1).await;
    read.release();
    assert_eq!(ann.expect_event("welcome").await["following"], json!([]));
    assert_eq!(wait_for_match(&mut ann).await["match"], paired["match"]);
}

#[tokio::test(start_paused = true)]
async fn block_set_during_login_applies() {
    let (store, server) = start_server();
    let ann = connect_registered_player(&server, "ann").await;
    let mut bob = connect_registered_player(&server, "bob").await;
    let (token, id) = (ann.token(), ann.id().clone());
    drop(ann);
    let (mut ann, read) = start_login(&server, &token, &store.block_reads).await;
    let block = json!({"type": "block", "player": id});
    assert_eq!(bob.request(block).await["type"], "blocked");
    let bob_id = bob.id().clone();
    drop(bob);
    read.release();
    ann.expect_event("welcome").await;
    let challenge =
        json!({"type": "create", "game": "chess", "for": bob_id, "seats": ["me", "open"]});
    assert_eq!(ann.expect_error(challenge).await, "not_allowed");
}

#[tokio::test(start_paused = true)]
async fn failed_login_can_be_repeated() {
    let (store, server) = start_server();
    let ann = connect_registered_player(&server, "ann").await;
    let token = ann.token();
    drop(ann);
    advance_time(1).await;
    let (mut ann, read) = start_login(&server, &token, &store.participation_reads).await;
    read.fail();
    assert_eq!(ann.expect_event("error").await["code"], "overloaded");
    let metrics = server.server.metrics_text();
    assert!(metrics.contains("\nplyhouse_players 0\n"), "{metrics}");
    let welcome = ann.send_hello(json!({"token": token})).await;
    assert_eq!(welcome["resumed"], true, "{welcome}");
}
