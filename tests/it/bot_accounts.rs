//! Tests of bot accounts. A bot account belongs to a player, has its own name and logs in with an
//! API key.

use std::sync::Arc;

use plyhouse_store::Store;
use serde_json::{Value, json};

use crate::accounts::{PASSWORD, connect_registered_player};
use crate::fault_injecting_store::FailingStore;
use crate::sessions::{add_connection, connect_with_hello, list_sessions};
use crate::support::{TestPlayer, TestServer, advance_time, json_string, settings_without_pings};

fn create_key_request(bot: &str) -> Value {
    json!({"type": "create_key", "bot": bot, "password": PASSWORD})
}

/// Creates an API key for the bot account `name` and connects with it. Returns the `key` message
/// and the bot's connection.
async fn connect_bot(
    server: &TestServer,
    owner: &mut TestPlayer,
    name: &str,
) -> (Value, TestPlayer) {
    let key = owner.request(create_key_request(name)).await;
    assert_eq!(key["type"], "key", "{key}");
    let (program, _) = server.resume_session(&json_string(&key["key"])).await;
    (key, program)
}

#[tokio::test(start_paused = true)]
async fn bot_key_logs_in_as_separate_bot_account() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let mut tab = add_connection(&server, &ann.token()).await;
    let (key, mut randy) = connect_bot(&server, &mut ann, "Randy").await;
    let player = &key["player"];
    assert_ne!(player["id"], *ann.id());
    let expected = json!({"id": player["id"], "name": "Randy", "account": true, "bot": true});
    assert_eq!((player, &randy.welcome["player"]), (&expected, &expected));
    assert_eq!(randy.welcome["session"], key["session"]);
    let added = tab.expect_event("session_added").await;
    assert_eq!(added["session"], key["session"]);

    // Other players see that the account is a bot.
    let id = randy.create_match(json!({})).await;
    let mut bob = server.connect_player("bob").await;
    let snapshot = bob.request(json!({"type": "watch", "match": id})).await;
    let seat = &snapshot["seats"][0];
    assert_eq!(
        (&seat["name"], &seat["account"], &seat["bot"]),
        (&json!("Randy"), &json!(true), &json!(true))
    );
    for kind in ["pair", "recovery", "sessions", "create_key"] {
        let refused = randy.expect_error(json!({"type": kind})).await;
        assert_eq!(refused, "not_allowed", "{kind}");
    }
    let (_, refused) =
        connect_with_hello(&server, json!({"name": "randy", "password": PASSWORD})).await;
    assert_eq!(refused["code"], "wrong_password");

    // A key request with a different spelling of the bot's name creates a second key for the same
    // bot account.
    let (second_key, _other) = connect_bot(&server, &mut ann, "r-a-n-d-y").await;
    assert_eq!(second_key["player"], expected);
}

#[tokio::test(start_paused = true)]
async fn bot_sessions_are_listed_and_ended_by_owner() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let mut bob = connect_registered_player(&server, "bob").await;
    let (key, mut randy) = connect_bot(&server, &mut ann, "randy").await;
    advance_time(1).await;
    let (_, mut rudi) = connect_bot(&server, &mut ann, "rudi").await;
    let listed = list_sessions(&mut ann).await;
    let bots: Vec<_> = listed.iter().map(|session| &session["bot"]).collect();
    assert_eq!(bots, [&Value::Null, &json!("randy"), &json!("rudi")]);
    assert_eq!(listed[1]["kind"], "key");
    assert_eq!(listed[1]["connected"], true);

    let end =
        |session: &Value| json!({"type": "end_session", "session": session, "password": PASSWORD});
    // Other players cannot end the bot's session.
    assert_eq!(bob.request(end(&key["session"])).await["type"], "ok");
    assert_eq!(randy.request(json!({"type": "ping"})).await["type"], "pong");
    assert_eq!(ann.request(end(&key["session"])).await["type"], "ok");
    assert_eq!(randy.wait_for_close().await, 4005);
    let (_, refused) = connect_with_hello(&server, json!({"token": key["key"]})).await;
    assert_eq!(refused["code"], "bad_code");
    assert_eq!(ann.request(end(&json!("others"))).await["type"], "ok");
    assert_eq!(rudi.wait_for_close().await, 4005);
    assert_eq!(list_sessions(&mut ann).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn bot_names_follow_account_rules_and_limits() {
    let server = TestServer::start(settings_without_pings());
    let mut guest = server.connect_player("carl").await;
    assert_eq!(
        guest.expect_error(create_key_request("randy")).await,
        "not_registered"
    );
    let mut ann = connect_registered_player(&server, "ann").await;
    let mut bob = connect_registered_player(&server, "bob").await;
    for (name, code) in [
        ("", "bad_name"),
        ("ann", "name_taken"),
        ("B O B", "name_taken"),
        ("max", "name_taken"),
        ("server", "name_taken"),
    ] {
        assert_eq!(
            ann.expect_error(create_key_request(name)).await,
            code,
            "{name}"
        );
    }
    let without_password = json!({"type": "create_key", "bot": "randy"});
    assert_eq!(ann.expect_error(without_password).await, "wrong_password");
    for name in ["one", "two", "three", "four", "five"] {
        assert_eq!(ann.request(create_key_request(name)).await["type"], "key");
        advance_time(1).await;
    }
    assert_eq!(
        ann.expect_error(create_key_request("six")).await,
        "not_allowed"
    );
    assert_eq!(
        ann.expect_error(create_key_request("bob")).await,
        "name_taken"
    );
    assert_eq!(ann.request(create_key_request("five")).await["type"], "key");
    // No other player can use the names of Ann's bots.
    assert_eq!(
        bob.expect_error(create_key_request("one")).await,
        "name_taken"
    );
    let one = json!({"type": "register", "name": "one"});
    assert_eq!(guest.expect_error(one).await, "name_taken");
    // An account can have at most 20 keys.
    for _ in 0..14 {
        assert_eq!(ann.request(create_key_request("one")).await["type"], "key");
        advance_time(1).await;
    }
    for request in [
        create_key_request("one"),
        json!({"type": "create_key", "password": PASSWORD}),
    ] {
        assert_eq!(ann.expect_error(request).await, "not_allowed");
    }
}

#[tokio::test(start_paused = true)]
async fn outdated_password_proof_creates_no_credentials() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let mut ann = connect_registered_player(&server, "ann").await;
    let hello = json!({"name": "ann", "password": PASSWORD, "label": "thief"});
    let key = json!({"type": "create_key", "password": PASSWORD});
    let recovery = json!({"type": "recovery", "password": PASSWORD});
    let recovery_key = json_string(&ann.request(recovery.clone()).await["key"]);
    for (n, request) in [key, create_key_request("randy"), recovery]
        .into_iter()
        .enumerate()
    {
        let (mut thief, _) = connect_with_hello(&server, hello.clone()).await;
        let writes_blocked = store.write_gate.lock().await;
        let new = format!("battery staple {n}");
        let set = json!({"type": "set_password", "id": 90, "password": PASSWORD, "new": new});
        ann.send_text(&set.to_string()).await;
        advance_time(1).await;
        let mut late_request = request.clone();
        late_request["id"] = json!(91);
        thief.send_text(&late_request.to_string()).await;
        // The server verifies the passwords of both requests while the store blocks all writes. The
        // second request's proof becomes outdated when the store writes the new password.
        advance_time(1).await;
        drop(writes_blocked);
        // The password change closes the connection `thief`, possibly before the server answers the
        // request from this connection.
        let answer = loop {
            match thief.receive().await {
                Ok(message) if message["re"] == 91 => break Some(message["code"].clone()),
                Ok(_) => {}
                Err(_) => break None,
            }
        };
        assert_eq!(answer.unwrap_or(json!("wrong_password")), "wrong_password");
        // Restores the original password for the next iteration.
        let restore = json!({"type": "set_password", "password": new, "new": PASSWORD});
        assert_eq!(ann.request(restore).await["type"], "ok");
        assert_eq!(list_sessions(&mut ann).await.len(), 1, "{request}");
    }
    let (_, welcome) = connect_with_hello(&server, json!({"recovery": recovery_key})).await;
    assert_eq!(welcome["resumed"], true, "{welcome}");
}
