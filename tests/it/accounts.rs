//! Names that are one player's alone, and the passwords by which their players come back.

use std::sync::Arc;

use plyhouse_server::{AccountPolicy, Settings};
use plyhouse_store::Store;
use serde_json::{Value, json};

use crate::failing_store::FailingStore;
use crate::sessions::{add_connection, connect_with_hello, list_sessions};
use crate::support::{TestPlayer, TestServer, advance_time, json_string, settings_without_pings};

pub(crate) const PASSWORD: &str = "correct horse";

/// A day in seconds.
const DAY: u64 = 24 * 3600;

fn register(name: &str) -> Value {
    json!({"type": "register", "name": name})
}

/// A guest who takes this name with the usual password.
pub(crate) async fn registered(server: &TestServer, name: &str) -> TestPlayer {
    let mut player = server.connect_player(name).await;
    let register = json!({"type": "register", "name": name, "password": PASSWORD});
    assert_eq!(player.request(register).await["type"], "ok");
    player.expect_event("player").await;
    player
}

fn login(name: &str, password: &str) -> Value {
    json!({"name": name, "password": password, "label": "phone"})
}

/// Capitals look alike where the small letters do not.
#[tokio::test(start_paused = true)]
async fn names_that_are_written_alike_are_one() {
    let server = TestServer::start(settings_without_pings());
    let _tom = registered(&server, "TOM").await;
    let _paul = registered(&server, "Paul").await;
    let mut guest = server.connect_player("carl").await;
    for name in ["\u{422}\u{41e}\u{41c}", "T0M", "PauI"] {
        assert_eq!(
            guest.expect_error(register(name)).await,
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
    assert_eq!(guest.request(register("paula")).await["type"], "ok");
    guest.expect_event("player").await;
    // One's own name is in nobody's way.
    let rename = json!({"type": "rename", "name": "PauIa"});
    assert_eq!(guest.request(rename).await["type"], "ok");
}

/// Whoever comes by a password while another one is set does not stay.
#[tokio::test(start_paused = true)]
async fn a_password_is_good_until_another_is_set() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let mut ann = registered(&server, "ann").await;
    let closed = store.write_gate.lock().await;
    let set = json!({"type": "set_password", "id": 90, "password": PASSWORD,
        "new": "battery staple"});
    ann.send_text(&set.to_string()).await;
    // It has been proved and waits to be kept.
    advance_time(1).await;
    let mut thief = server.connect().await;
    let hello = json!({"type": "hello", "id": 1, "name": "ann", "password": PASSWORD});
    thief.send_text(&hello.to_string()).await;
    advance_time(1).await;
    drop(closed);
    assert_eq!(thief.next_message().await["code"], "wrong_password");
    let listed = list_sessions(&mut ann).await;
    assert_eq!(listed.len(), 1, "{listed:?}");
}

/// A code from before is void with the devices that are thrown out.
#[tokio::test(start_paused = true)]
async fn a_pairing_code_is_void_with_the_sessions() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = registered(&server, "ann").await;
    let others = json!({"type": "end_session", "session": "others", "password": PASSWORD});
    let set = json!({"type": "set_password", "password": PASSWORD, "new": "battery staple"});
    for ends in [others, set] {
        let code = json_string(&ann.request(json!({"type": "pair"})).await["code"]);
        assert_eq!(ann.request(ends).await["type"], "ok");
        let (_, refused) = connect_with_hello(&server, json!({"pair": code})).await;
        assert_eq!(refused["code"], "bad_code");
    }
}

/// Of two names that one player asks for at once the second comes too soon.
#[tokio::test(start_paused = true)]
async fn a_player_takes_one_name_at_a_time() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(
        settings_without_pings(),
        Arc::clone(&store) as Arc<dyn Store>,
    );
    let mut ann = registered(&server, "ann").await;
    let mut tab = add_connection(&server, &ann.token()).await;
    let closed = store.write_gate.lock().await;
    for (connection, name) in [(&mut ann, "anna"), (&mut tab, "annette")] {
        let rename = json!({"type": "rename", "id": 90, "name": name});
        connection.send_text(&rename.to_string()).await;
    }
    advance_time(1).await;
    drop(closed);
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
async fn a_guest_becomes_an_account() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    assert_eq!(ann.welcome["accounts"], "open");
    assert_eq!(ann.welcome["player"].get("account"), None);
    let mut tab = add_connection(&server, &ann.token()).await;
    let early = ann.create_match(json!({})).await;
    let (_, told) = ann.request_and_collect(register(" Ann Lovelace ")).await;
    assert_eq!(told.last().expect("an answer")["type"], "ok");
    let player = json!({"id": ann.id(), "name": "Ann Lovelace", "account": true});
    // Before the answer, and on all connections.
    let expected = json!({"type": "player", "player": player});
    assert!(told.contains(&expected), "{told:?}");
    assert_eq!(tab.expect_event("player").await, expected);
    assert_eq!(
        ann.expect_error(register("anna")).await,
        "already_registered"
    );

    // What is played from now on is played by that name, on whatever connection; what was, is as it was.
    let later = tab.create_match(json!({})).await;
    let mut bob = server.connect_player("bob").await;
    for (id, name, account) in [(early, "ann", None), (later, "Ann Lovelace", Some(true))] {
        let shown = bob.request(json!({"type": "watch", "match": id})).await;
        let seat = &shown["seats"][0];
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
async fn a_name_of_ones_own_is_nobody_elses() {
    let server = TestServer::start(settings_without_pings());
    let mut early = server.connect_player("Lady Ada").await;
    let _ada = registered(&server, "lady ada").await;
    let mut bob = server.connect_player("bob").await;
    for name in ["Lady-Ada", "l\u{430}dy \u{430}d\u{430}", "LADYADA"] {
        assert_eq!(
            bob.expect_error(register(name)).await,
            "name_taken",
            "{name}"
        );
        let (_, refused) = connect_with_hello(&server, json!({"name": name})).await;
        assert_eq!(refused["code"], "name_taken", "{name}");
    }
    for name in ["guest-7", "hard", "someone", "moderator"] {
        assert_eq!(
            bob.expect_error(register(name)).await,
            "name_taken",
            "{name}"
        );
    }
    for name in ["", "...", "a\u{202e}b"] {
        assert_eq!(bob.expect_error(register(name)).await, "bad_name", "{name}");
    }
    // A guest who had it before has another one from the next hello on, for good, and nothing else is lost.
    let id = early.create_match(json!({})).await;
    for _ in 0..2 {
        let (mut back, welcome) = server.resume_session(&early.token()).await;
        assert_eq!(welcome["player"]["id"], *early.id());
        let name = json_string(&welcome["player"]["name"]);
        assert!(name.starts_with("guest-"), "{name}");
        assert_eq!(back.expect_event("match").await["match"], json!(id));
        assert_eq!(back.expect_error(register("lady ada")).await, "name_taken");
    }
}

#[tokio::test(start_paused = true)]
async fn an_account_takes_another_name() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let rename = |name: &str| json!({"type": "rename", "name": name});
    assert_eq!(ann.expect_error(rename("")).await, "not_registered");
    let mut ann = registered(&server, "ann").await;
    let mut bob = registered(&server, "bob").await;
    assert_eq!(ann.expect_error(rename("B.O.B")).await, "name_taken");
    assert_eq!(ann.request(rename("anna")).await["type"], "ok");
    let told = ann.expect_event("player").await;
    assert_eq!(told["player"]["name"], "anna");
    // What else is wrong is told first.
    assert_eq!(ann.expect_error(rename("\u{202e}")).await, "bad_name");
    assert_eq!(ann.expect_error(rename("bob")).await, "name_taken");
    let soon = ann.request_unchecked(rename("annie")).await;
    assert_eq!(soon["code"], "too_soon");
    assert_eq!(soon["retry_after_ms"], json!(30 * DAY * 1000));
    // The name before is nobody else's for a while.
    assert_eq!(bob.expect_error(rename("ann")).await, "name_taken");
    let (_, refused) = connect_with_hello(&server, json!({"name": "ann"})).await;
    assert_eq!(refused["code"], "name_taken");
    let (_, refused) = connect_with_hello(&server, login("ann", PASSWORD)).await;
    assert_eq!(refused["code"], "wrong_password");

    drop((ann, bob));
    advance_time(30 * DAY).await;
    let (mut ann, _) = connect_with_hello(&server, login("anna", PASSWORD)).await;
    assert_eq!(ann.request(rename("ann")).await["type"], "ok");
    drop(ann);
    advance_time(90 * DAY).await;
    let (_, welcome) = connect_with_hello(&server, json!({"name": "anna"})).await;
    assert_eq!(welcome["player"]["name"], "anna");
}

#[tokio::test(start_paused = true)]
async fn a_password_brings_an_account_back() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = registered(&server, "ann").await;
    let _bob = server.connect_player("bob").await;
    let hello = login("A-N-N", PASSWORD);
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
        let (_, refused) = connect_with_hello(&server, login(name, password)).await;
        assert_eq!(refused["code"], "wrong_password", "{name}");
        messages.push(refused["message"].clone());
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "they are told the same");
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

/// Whoever is there proves anew who that is, where a password is set.
#[tokio::test(start_paused = true)]
async fn what_others_could_take_away_wants_a_password() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = registered(&server, "ann").await;
    let key = json!({"type": "recovery", "password": PASSWORD});
    let key = json_string(&ann.request(key).await["key"]);
    let (phone, _) = connect_with_hello(&server, login("ann", PASSWORD)).await;
    let new = "battery staple";
    let set = json!({"type": "set_password", "new": new});
    let end = json!({"type": "end_session", "session": phone.welcome["session"]});
    for asked in [json!({"type": "recovery"}), end, set.clone()] {
        let kind = json_string(&asked["type"]);
        assert_eq!(
            ann.expect_error(asked.clone()).await,
            "wrong_password",
            "{kind}"
        );
        for proof in [("password", "wrong password"), ("recovery", "WRONGKEY")] {
            let mut asked = asked.clone();
            asked[proof.0] = json!(proof.1);
            assert_eq!(ann.expect_error(asked).await, "wrong_password", "{kind}");
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
        "others are to know it, too"
    );
    assert_eq!(list_sessions(&mut ann).await.len(), 1);
    let (_, refused) = connect_with_hello(&server, login("ann", PASSWORD)).await;
    assert_eq!(refused["code"], "wrong_password");

    // Whoever has forgotten the password has an hour after a recovery.
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
    // One's own session ends as ever.
    let end = json!({"type": "end_session", "session": tablet.welcome["session"]});
    assert_eq!(tablet.request(end).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn a_guest_has_no_password() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let set = json!({"type": "set_password", "new": "ann has none"});
    assert_eq!(ann.expect_error(set.clone()).await, "not_registered");
    // Without one there is nothing to prove.
    assert_eq!(ann.request(register("ann")).await["type"], "ok");
    assert_eq!(
        ann.request(json!({"type": "recovery"})).await["type"],
        "recovery_key"
    );
    assert_eq!(ann.request(set).await["type"], "ok");
    let (_, welcome) = connect_with_hello(&server, login("ann", "ann has none")).await;
    assert_eq!(welcome["resumed"], true);
}

#[tokio::test(start_paused = true)]
async fn passwords_are_not_guessed() {
    let server = TestServer::start(settings_without_pings());
    let ann = registered(&server, "ann").await;
    let from = "192.0.2.1".parse().expect("an address");
    let mut guest = server.connect_from(from).await;
    for n in 0..10 {
        let name = ["ann", "a n n"][n % 2];
        let refused = guest.send_hello(login(name, "wrong password")).await;
        assert_eq!(refused["code"], "wrong_password", "{n}");
        advance_time(1).await;
    }
    let refused = guest.send_hello(login("ann", PASSWORD)).await;
    assert_eq!(refused["code"], "too_soon");
    assert_eq!(refused["retry_after_ms"], 590_000);
    // Others are not, nor is whoever has a session, wherever that is.
    let refused = guest.send_hello(login("bob", PASSWORD)).await;
    assert_eq!(refused["code"], "wrong_password");
    let (_, elsewhere) = connect_with_hello(&server, login("ann", PASSWORD)).await;
    assert_eq!(elsewhere["resumed"], true);
    let resumed = guest.send_hello(json!({"token": ann.token()})).await;
    assert_eq!(resumed["resumed"], true);
}

/// Two connections register at once: one of them does.
#[tokio::test(start_paused = true)]
async fn a_name_is_taken_once() {
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
            let told = player.next_message().await;
            if told["re"] == 7 {
                break told;
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

/// Without accounts nothing is to be seen of them.
#[tokio::test(start_paused = true)]
async fn without_accounts_there_are_guests_alone() {
    let settings = Settings {
        accounts: AccountPolicy::Off,
        ..settings_without_pings()
    };
    let server = TestServer::start(settings);
    let mut ann = server.connect().await;
    let welcome = ann.send_hello(login("ann", PASSWORD)).await;
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

/// A key plays and reads, and nothing else; it is revoked as any session.
#[tokio::test(start_paused = true)]
async fn a_key_plays_and_reads() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = registered(&server, "ann").await;
    let create = json!({"type": "create_key", "label": "laptop", "password": PASSWORD});
    let unproved = json!({"type": "create_key"});
    assert_eq!(ann.expect_error(unproved).await, "wrong_password");
    let made = ann.request(create.clone()).await;
    let key = json_string(&made["key"]);
    assert!(key.starts_with("ply_") && key.len() == 47, "{made}");
    assert_eq!(made["player"]["name"], "ann");
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
    assert_eq!(welcome["session"], made["session"]);
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
        let asked = json!({"type": kind, "name": "eve", "session": "all", "new": PASSWORD});
        let refused = program.request_unchecked(asked).await;
        assert_eq!(refused["code"], "not_allowed", "{kind}");
    }
    // Another password ends it not, and `end_session` does.
    let set = json!({"type": "set_password", "password": PASSWORD, "new": "battery staple"});
    assert_eq!(ann.request(set).await["type"], "ok");
    assert_eq!(
        program.request(json!({"type": "ping"})).await["type"],
        "pong"
    );
    let end =
        json!({"type": "end_session", "session": made["session"], "password": "battery staple"});
    assert_eq!(ann.request(end).await["type"], "ok");
    assert_eq!(program.wait_for_close().await, 4005);
    let (_, refused) = connect_with_hello(&server, json!({"token": key})).await;
    assert_eq!(refused["code"], "bad_code", "it is no new guest");
}

#[tokio::test(start_paused = true)]
async fn a_player_has_twenty_keys() {
    let server = TestServer::start(settings_without_pings());
    let mut ann = server.connect_player("ann").await;
    let with_bot = json!({"type": "create_key", "bot": "randy"});
    assert_eq!(ann.expect_error(with_bot).await, "not_registered");
    let create = json!({"type": "create_key"});
    for _ in 0..20 {
        assert_eq!(ann.request(create.clone()).await["type"], "key");
        // No faster than requests may come.
        advance_time(1).await;
    }
    assert_eq!(ann.expect_error(create).await, "not_allowed");
    let bad = json!({"type": "create_key", "label": ""});
    assert_eq!(ann.expect_error(bad).await, "bad_name");
}
