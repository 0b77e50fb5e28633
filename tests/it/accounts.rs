//! Tests of account names, passwords, logins and API keys.

use std::sync::Arc;

use plyhouse_server::{AccountPolicy, Settings};
use plyhouse_store::Store;
use serde_json::{Value, json};

use crate::fault_injecting_store::FailingStore;
use crate::sessions::{add_connection, connect_with_hello, list_sessions};
use crate::support::{TestPlayer, TestServer, advance_time, json_string, settings_without_pings};

pub(crate) const PASSWORD: &str = "correct horse";

const SECONDS_PER_DAY: u64 = 24 * 3600;

fn register_request(name: &str) -> Value {
    json!({"type": "register", "name": name})
}

/// Connects a guest and registers the account `name` with [`PASSWORD`].
pub(crate) async fn connect_registered_player(server: &TestServer, name: &str) -> TestPlayer {
    let mut player = server.connect_player(name).await;
    let register = json!({"type": "register", "name": name, "password": PASSWORD});
    assert_eq!(player.request(register).await["type"], "ok");
    player.expect_event("player").await;
    player
}

fn login_hello(name: &str, password: &str) -> Value {
    json!({"name": name, "password": password, "label": "phone"})
}

/// The cases include names with letters that look alike, such as `I` and `l`.
#[tokio::test(start_paused = true)]
async fn visually_similar_names_are_taken() {
    let server = TestServer::start(settings_without_pings());
    let _tom = connect_registered_player(&server, "TOM").await;
    let _paul = connect_registered_player(&server, "Paul").await;
    let mut guest = server.connect_player("carl").await;
    for name in ["\u{422}\u{41e}\u{41c}", "T0M", "PauI"] {
        assert_eq!(
            guest.expect_error(register_request(name)).await,
            "name_taken",
            "{name}"
        );
        let refused = server
            .connect()
            .await
            .send_hello(json!({"name": name}))
            .await;
        assert_eq!(refused["code"], "name_taken", "{name}");
    }
    assert_eq!(guest.request(register_request("paula")).await["type"], "ok");
    guest.expect_event("player").await;
    // A name that resembles the player's own current name is allowed.
    let rename = json!({"type": "rename", "name": "PauIa"});
    assert_eq!(guest.request(rename).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn login_with_old_password_during_password_change_is_refused() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let mut ann = connect_registered_player(&server, "ann").await;
    let writes_blocked = store.write_gate.lock().await;
    let set = json!({"type": "set_password", "id": 90, "password": PASSWORD,
        "new": "battery staple"});
    ann.send_text(&set.to_string()).await;
    // At this point, the server has verified the old password and is waiting for the store to write
    // the new password.
    advance_time(1).await;
    let mut thief = server.connect().await;
    let hello = json!({"type": "hello", "id": 1, "name": "ann", "password": PASSWORD});
    thief.send_text(&hello.to_string()).await;
    advance_time(1).await;
    drop(writes_blocked);
    assert_eq!(thief.next_message().await["code"], "wrong_password");
    let listed = list_sessions(&mut ann).await;
    assert_eq!(listed.len(), 1, "{listed:?}");
}

/// A password change also revokes the pairing code.
#[tokio::test(start_paused = true)]
async fn ending_other_sessions_revokes_pairing_code() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let others = json!({"type": "end_session", "session": "others", "password": PASSWORD});
    let set = json!({"type": "set_password", "password": PASSWORD, "new": "battery staple"});
    for request in [others, set] {
        let code = json_string(&ann.request(json!({"type": "pair"})).await["code"]);
        assert_eq!(ann.request(request).await["type"], "ok");
        let (_, refused) = connect_with_hello(&server, json!({"pair": code})).await;
        assert_eq!(refused["code"], "bad_code");
    }
}

#[tokio::test(start_paused = true)]
async fn second_of_two_concurrent_renames_is_too_soon() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let mut ann = connect_registered_player(&server, "ann").await;
    let mut tab = add_connection(&server, &ann.token()).await;
    let writes_blocked = store.write_gate.lock().await;
    for (connection, name) in [(&mut ann, "anna"), (&mut tab, "annette")] {
        let rename = json!({"type": "rename", "id": 90, "name": name});
        connection.send_text(&rename.to_string()).await;
    }
    advance_time(1).await;
    drop(writes_blocked);
    let mut codes = Vec::new();
    for connection in [&mut ann, &mut tab] {
        codes.push(loop {
            let message = connection.next_message().await;
            if message["re"] == 90 {
                break message["code"].clone();
            }
        });
    }
    assert_eq!(codes, [Value::Null, json!("too_soon")]);
}

#[tokio::test(start_paused = true)]
async fn registration_turns_guest_into_account() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    assert_eq!(ann.welcome["accounts"], "open");
    assert_eq!(ann.welcome["player"].get("account"), None);
    let mut tab = add_connection(&server, &ann.token()).await;
    let early = ann.create_match(json!({})).await;
    let (_, messages) = ann
        .request_and_collect(register_request(" Ann Lovelace "))
        .await;
    assert_eq!(messages.last().expect("an answer")["type"], "ok");
    let player = json!({"id": ann.id(), "name": "Ann Lovelace", "account": true});
    // The server sends the `player` event to all connections of the player before it answers the
    // request.
    let expected = json!({"type": "player", "player": player});
    assert!(messages.contains(&expected), "{messages:?}");
    assert_eq!(tab.expect_event("player").await, expected);
    assert_eq!(
        ann.expect_error(register_request("anna")).await,
        "already_registered"
    );

    // New matches show the registered name, even if another connection of the player creates them.
    // Earlier matches keep the guest name.
    let later = tab.create_match(json!({})).await;
    let mut bob = server.connect_player("bob").await;
    for (id, name, account) in [(early, "ann", None), (later, "Ann Lovelace", Some(true))] {
        let snapshot = bob.request(json!({"type": "watch", "match": id})).await;
        let seat = &snapshot["seats"][0];
        assert_eq!(seat["name"], name);
        assert_eq!(seat.get("account"), account.map(Value::from).as_ref());
    }
    let (_, welcome) = server.resume_session(&ann.token()).await;
    assert_eq!(
        (&welcome["resumed"], &welcome["player"]),
        (&json!(true), &player)
    );
}

#[tokio::test(start_paused = true)]
async fn registered_or_reserved_name_is_refused_to_others() {
    let server = TestServer::start(settings_without_pings());
    let mut early = server.connect_player("Lady Ada").await;
    let _ada = connect_registered_player(&server, "lady ada").await;
    let mut bob = server.connect_player("bob").await;
    for name in ["Lady-Ada", "l\u{430}dy \u{430}d\u{430}", "LADYADA"] {
        assert_eq!(
            bob.expect_error(register_request(name)).await,
            "name_taken",
            "{name}"
        );
        let (_, refused) = connect_with_hello(&server, json!({"name": name})).await;
        assert_eq!(refused["code"], "name_taken", "{name}");
    }
    for name in ["guest-7", "hard", "someone", "moderator"] {
        assert_eq!(
            bob.expect_error(register_request(name)).await,
            "name_taken",
            "{name}"
        );
    }
    for name in ["", "...", "a\u{202e}b"] {
        assert_eq!(
            bob.expect_error(register_request(name)).await,
            "bad_name",
            "{name}"
        );
    }
    // If another player registers the name of a guest, the guest gets a generated name at the next
    // `hello`. The guest keeps the seat in an open match.
    let id = early.create_match(json!({})).await;
    for _ in 0..2 {
        let (mut resumed, welcome) = server.resume_session(&early.token()).await;
        assert_eq!(welcome["player"]["id"], *early.id());
        let name = json_string(&welcome["player"]["name"]);
        assert!(name.starts_with("guest-"), "{name}");
        assert_eq!(resumed.expect_event("match").await["match"], json!(id));
        assert_eq!(
            resumed.expect_error(register_request("lady ada")).await,
            "name_taken"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn renamed_account_reserves_old_name_and_waits_a_month() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let rename = |name: &str| json!({"type": "rename", "name": name});
    assert_eq!(ann.expect_error(rename("")).await, "not_registered");
    let mut ann = connect_registered_player(&server, "ann").await;
    let mut bob = connect_registered_player(&server, "bob").await;
    assert_eq!(ann.expect_error(rename("B.O.B")).await, "name_taken");
    assert_eq!(ann.request(rename("anna")).await["type"], "ok");
    let event = ann.expect_event("player").await;
    assert_eq!(event["player"]["name"], "anna");
    // The server reports an invalid or taken name before it checks the minimum interval between
    // renames.
    assert_eq!(ann.expect_error(rename("\u{202e}")).await, "bad_name");
    assert_eq!(ann.expect_error(rename("bob")).await, "name_taken");
    let refused = ann.request_unchecked(rename("annie")).await;
    assert_eq!(refused["code"], "too_soon");
    assert_eq!(
        refused["retry_after_ms"],
        json!(30 * SECONDS_PER_DAY * 1000)
    );
    // After a rename, other players cannot take the previous name for 90 days.
    assert_eq!(bob.expect_error(rename("ann")).await, "name_taken");
    let (_, refused) = connect_with_hello(&server, json!({"name": "ann"})).await;
    assert_eq!(refused["code"], "name_taken");
    let (_, refused) = connect_with_hello(&server, login_hello("ann", PASSWORD)).await;
    assert_eq!(refused["code"], "wrong_password");

    drop((ann, bob));
    advance_time(30 * SECONDS_PER_DAY).await;
    let (mut ann, _) = connect_with_hello(&server, login_hello("anna", PASSWORD)).await;
    assert_eq!(ann.request(rename("ann")).await["type"], "ok");
    drop(ann);
    advance_time(90 * SECONDS_PER_DAY).await;
    let (_, welcome) = connect_with_hello(&server, json!({"name": "anna"})).await;
    assert_eq!(welcome["player"]["name"], "anna");
}

#[tokio::test(start_paused = true)]
async fn login_by_password_resumes_account() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let _bob = server.connect_player("bob").await;
    let hello = login_hello("A-N-N", PASSWORD);
    let (_phone, welcome) = connect_with_hello(&server, hello).await;
    assert_eq!(welcome["resumed"], true);
    assert_eq!(welcome["player"]["name"], "ann");
    assert_ne!(welcome["token"], json!(ann.token()));
    assert_eq!(
        ann.expect_event("session_added").await["session"],
        welcome["session"]
    );
    let mut messages = Vec::new();
    for (name, password) in [
        ("ann", "wrong password"),
        ("bob", PASSWORD),
        ("nobody", PASSWORD),
        ("\u{202e}", ""),
    ] {
        let (_, refused) = connect_with_hello(&server, login_hello(name, password)).await;
        assert_eq!(refused["code"], "wrong_password", "{name}");
        messages.push(refused["message"].clone());
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "all refusals have the same message");
    let mut other = server.connect().await;
    let refused = other
        .send_hello(json!({"name": "ann", "password": PASSWORD, "label": ""}))
        .await;
    assert_eq!(refused["code"], "bad_name");
    for (hello, field) in [
        (json!({"password": PASSWORD}), "name"),
        (
            json!({"name": "ann", "password": PASSWORD, "token": "t"}),
            "password",
        ),
    ] {
        let refused = other.send_hello(hello).await;
        assert_eq!(
            (&refused["code"], &refused["field"]),
            (&json!("bad_field"), &json!(field))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn sensitive_requests_require_password_or_recovery_key() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let key = json!({"type": "recovery", "password": PASSWORD});
    let key = json_string(&ann.request(key).await["key"]);
    let (phone, _) = connect_with_hello(&server, login_hello("ann", PASSWORD)).await;
    let new = "battery staple";
    let set = json!({"type": "set_password", "new": new});
    let end = json!({"type": "end_session", "session": phone.welcome["session"]});
    for request in [json!({"type": "recovery"}), end, set.clone()] {
        let kind = json_string(&request["type"]);
        assert_eq!(
            ann.expect_error(request.clone()).await,
            "wrong_password",
            "{kind}"
        );
        for proof in [("password", "wrong password"), ("recovery", "WRONGKEY")] {
            let mut request = request.clone();
            request[proof.0] = json!(proof.1);
            assert_eq!(ann.expect_error(request).await, "wrong_password", "{kind}");
        }
    }
    assert_eq!(list_sessions(&mut ann).await.len(), 2);
    let same = json!({"type": "set_password", "password": PASSWORD, "new": "ann"});
    let refused = ann.request_unchecked(same).await;
    assert_eq!(
        (&refused["code"], &refused["field"]),
        (&json!("bad_field"), &json!("new"))
    );

    ann.drain_messages().await;
    let mut proved = set.clone();
    proved["recovery"] = json!(key);
    assert_eq!(ann.request(proved).await["type"], "ok");
    ann.expect_event("player").await;
    let mut phone = phone;
    assert_eq!(
        phone.wait_for_close().await,
        4005,
        "other sessions are closed"
    );
    assert_eq!(list_sessions(&mut ann).await.len(), 1);
    let (_, refused) = connect_with_hello(&server, login_hello("ann", PASSWORD)).await;
    assert_eq!(refused["code"], "wrong_password");

    // A login with the recovery key counts as proof of identity for one hour.
    let (mut tablet, _) = connect_with_hello(&server, json!({"recovery": key})).await;
    assert_eq!(
        tablet.request(json!({"type": "recovery"})).await["type"],
        "recovery_key"
    );
    drop(tablet.drain_messages().await);
    let token = tablet.token();
    drop(tablet);
    advance_time(3601).await;
    let (mut tablet, _) = server.resume_session(&token).await;
    assert_eq!(tablet.expect_error(set).await, "wrong_password");
    // A player can end the current session without a password.
    let end = json!({"type": "end_session", "session": tablet.welcome["session"]});
    assert_eq!(tablet.request(end).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn guest_cannot_set_password_before_registration() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let set = json!({"type": "set_password", "new": "ann has none"});
    assert_eq!(ann.expect_error(set.clone()).await, "not_registered");
    // An account without a password can request a recovery key and set a password without proof of
    // identity.
    assert_eq!(ann.request(register_request("ann")).await["type"], "ok");
    assert_eq!(
        ann.request(json!({"type": "recovery"})).await["type"],
        "recovery_key"
    );
    assert_eq!(ann.request(set).await["type"], "ok");
    let (_, welcome) = connect_with_hello(&server, login_hello("ann", "ann has none")).await;
    assert_eq!(welcome["resumed"], true);
}

#[tokio::test(start_paused = true)]
async fn tenth_wrong_password_blocks_name_for_the_address() {
    let server = TestServer::start(settings_without_pings());
    let ann = connect_registered_player(&server, "ann").await;
    let from = "192.0.2.1".parse().expect("an address");
    let mut guest = server.connect_from(from).await;
    for n in 0..10 {
        let name = ["ann", "a n n"][n % 2];
        let refused = guest.send_hello(login_hello(name, "wrong password")).await;
        assert_eq!(refused["code"], "wrong_password", "{n}");
        advance_time(1).await;
    }
    let refused = guest.send_hello(login_hello("ann", PASSWORD)).await;
    assert_eq!(refused["code"], "too_soon");
    assert_eq!(refused["retry_after_ms"], 590_000);
    // The block after ten wrong passwords must not affect other accounts, other addresses or
    // existing sessions.
    let refused = guest.send_hello(login_hello("bob", PASSWORD)).await;
    assert_eq!(refused["code"], "wrong_password");
    let (_, welcome) = connect_with_hello(&server, login_hello("ann", PASSWORD)).await;
    assert_eq!(welcome["resumed"], true);
    let resumed = guest.send_hello(json!({"token": ann.token()})).await;
    assert_eq!(resumed["resumed"], true);
}

#[tokio::test(start_paused = true)]
async fn concurrent_registrations_of_one_name_succeed_once() {
    let server = TestServer::start(settings_without_pings());
    let mut players = Vec::new();
    for name in ["ann", "bob"] {
        players.push(server.connect_player(name).await);
    }
    players.push(add_connection(&server, &players[0].token()).await);
    for player in &mut players {
        let request = json!({"type": "register", "id": 7, "name": "carl", "password": PASSWORD});
        player.send_text(&request.to_string()).await;
    }
    let mut codes = Vec::new();
    for player in &mut players {
        let answer = loop {
            let message = player.next_message().await;
            if message["re"] == 7 {
                break message;
            }
        };
        codes.push(json_string(answer.get("code").unwrap_or(&json!("ok"))));
    }
    codes.sort();
    let expected = [
        ["already_registered", "name_taken", "ok"],
        ["name_taken", "name_taken", "ok"],
    ];
    assert!(
        expected.contains(&[&*codes[0], &*codes[1], &*codes[2]]),
        "{codes:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn account_requests_are_unknown_when_accounts_are_off() {
    let settings = Settings {
        accounts: AccountPolicy::Off,
        ..settings_without_pings()
    };
    let server = TestServer::start(settings);
    let mut ann = server.connect().await;
    let welcome = ann.send_hello(login_hello("ann", PASSWORD)).await;
    assert_eq!(welcome.get("accounts"), None);
    assert_eq!(
        (&welcome["resumed"], &welcome["ignored"]),
        (&json!(false), &json!(["password"]))
    );
    for kind in ["register", "rename", "set_password"] {
        let refused = ann
            .request_unchecked(json!({"type": kind, "name": "ann", "new": PASSWORD}))
            .await;
        assert_eq!(refused["code"], "unknown_type", "{kind}");
        assert!(
            !json_string(&refused["message"]).contains("register"),
            "{refused}"
        );
    }
    assert_eq!(
        ann.request(json!({"type": "recovery"})).await["type"],
        "recovery_key"
    );
}

#[tokio::test(start_paused = true)]
async fn api_key_plays_but_cannot_manage_account() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = connect_registered_player(&server, "ann").await;
    let create = json!({"type": "create_key", "label": "laptop", "password": PASSWORD});
    let unproved = json!({"type": "create_key"});
    assert_eq!(ann.expect_error(unproved).await, "wrong_password");
    let created = ann.request(create.clone()).await;
    let key = json_string(&created["key"]);
    assert!(key.starts_with("ply_") && key.len() == 47, "{created}");
    assert_eq!(created["player"]["name"], "ann");
    let listed = list_sessions(&mut ann).await;
    assert_eq!(
        (&listed[1]["kind"], &listed[1]["label"]),
        (&json!("key"), &json!("laptop"))
    );

    let (mut program, welcome) = server.resume_session(&key).await;
    assert_eq!(
        (&welcome["resumed"], &welcome["token"]),
        (&json!(true), &json!(key))
    );
    assert_eq!(welcome["session"], created["session"]);
    let id = program.create_match(json!({})).await;
    assert_eq!(
        program.request(json!({"type": "leave", "match": id})).await["type"],
        "ok"
    );
    for kind in [
        "sessions",
        "pair",
        "recovery",
        "register",
        "rename",
        "create_key",
        "end_session",
        "set_password",
    ] {
        let request = json!({"type": kind, "name": "eve", "session": "all", "new": PASSWORD});
        let refused = program.request_unchecked(request).await;
        assert_eq!(refused["code"], "not_allowed", "{kind}");
    }
    // A password change does not end a session that uses an API key, but `end_session` does.
    let set = json!({"type": "set_password", "password": PASSWORD, "new": "battery staple"});
    assert_eq!(ann.request(set).await["type"], "ok");
    assert_eq!(
        program.request(json!({"type": "ping"})).await["type"],
        "pong"
    );
    let end =
        json!({"type": "end_session", "session": created["session"], "password": "battery staple"});
    assert_eq!(ann.request(end).await["type"], "ok");
    assert_eq!(program.wait_for_close().await, 4005);
    let (_, refused) = connect_with_hello(&server, json!({"token": key})).await;
    assert_eq!(refused["code"], "bad_code", "no new guest is created");
}

#[tokio::test(start_paused = true)]
async fn api_keys_are_limited_to_twenty() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let with_bot = json!({"type": "create_key", "bot": "randy"});
    assert_eq!(ann.expect_error(with_bot).await, "not_registered");
    let create = json!({"type": "create_key"});
    for _ in 0..20 {
        assert_eq!(ann.request(create.clone()).await["type"], "key");
        // The pause between requests keeps the test below the request rate limit.
        advance_time(1).await;
    }
    assert_eq!(ann.expect_error(create).await, "not_allowed");
    let bad = json!({"type": "create_key", "label": ""});
    assert_eq!(ann.expect_error(bad).await, "bad_name");
}
