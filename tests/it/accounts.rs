//! Names that are one player's alone, and the passwords by which their players come back.

use std::sync::Arc;

use plyhouse_server::{AccountPolicy, Settings};
use plyhouse_store::Store;
use serde_json::{Value, json};

use crate::failing::FailingStore;
use crate::sessions::{beside, coming, sessions};
use crate::support::{Player, TestServer, calm, pass, text};

pub(crate) const PASSWORD: &str = "correct horse";

/// A day in seconds.
const DAY: u64 = 24 * 3600;

fn register(name: &str) -> Value {
    json!({"type": "register", "name": name})
}

/// A guest who takes this name with the usual password.
pub(crate) async fn registered(server: &TestServer, name: &str) -> Player {
    let mut player = server.player(name).await;
    let register = json!({"type": "register", "name": name, "password": PASSWORD});
    assert_eq!(player.ask(register).await["type"], "ok");
    player.event("player").await;
    player
}

fn login(name: &str, password: &str) -> Value {
    json!({"name": name, "password": password, "label": "phone"})
}

/// Capitals look alike where the small letters do not.
#[tokio::test(start_paused = true)]
async fn names_that_are_written_alike_are_one() {
    let server = TestServer::start(calm());
    let _tom = registered(&server, "TOM").await;
    let _paul = registered(&server, "Paul").await;
    let mut guest = server.player("carl").await;
    for name in ["\u{422}\u{41e}\u{41c}", "T0M", "PauI"] {
        assert_eq!(guest.refused(register(name)).await, "name_taken", "{name}");
        let refused = server.connect().await.hello(json!({"name": name})).await;
        assert_eq!(refused["code"], "name_taken", "{name}");
    }
    assert_eq!(guest.ask(register("paula")).await["type"], "ok");
    guest.event("player").await;
    // One's own name is in nobody's way.
    let rename = json!({"type": "rename", "name": "PauIa"});
    assert_eq!(guest.ask(rename).await["type"], "ok");
}

/// Whoever comes by a password while another one is set does not stay.
#[tokio::test(start_paused = true)]
async fn a_password_is_good_until_another_is_set() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(calm(), Arc::clone(&store) as Arc<dyn Store>);
    let mut ann = registered(&server, "ann").await;
    let closed = store.gate.lock().await;
    let set = json!({"type": "set_password", "id": 90, "password": PASSWORD,
        "new": "battery staple"});
    ann.send(&set.to_string()).await;
    // It has been proved and waits to be kept.
    pass(1).await;
    let mut thief = server.connect().await;
    let hello = json!({"type": "hello", "id": 1, "name": "ann", "password": PASSWORD});
    thief.send(&hello.to_string()).await;
    pass(1).await;
    drop(closed);
    assert_eq!(thief.next().await["code"], "wrong_password");
    let listed = sessions(&mut ann).await;
    assert_eq!(listed.len(), 1, "{listed:?}");
}

/// A code from before is void with the devices that are thrown out.
#[tokio::test(start_paused = true)]
async fn a_pairing_code_is_void_with_the_sessions() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let others = json!({"type": "end_session", "session": "others", "password": PASSWORD});
    let set = json!({"type": "set_password", "password": PASSWORD, "new": "battery staple"});
    for ends in [others, set] {
        let code = text(&ann.ask(json!({"type": "pair"})).await["code"]);
        assert_eq!(ann.ask(ends).await["type"], "ok");
        let (_, refused) = coming(&server, json!({"pair": code})).await;
        assert_eq!(refused["code"], "bad_code");
    }
}

/// Of two names that one player asks for at once the second comes too soon.
#[tokio::test(start_paused = true)]
async fn a_player_takes_one_name_at_a_time() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(calm(), Arc::clone(&store) as Arc<dyn Store>);
    let mut ann = registered(&server, "ann").await;
    let mut tab = beside(&server, &ann.token()).await;
    let closed = store.gate.lock().await;
    for (connection, name) in [(&mut ann, "anna"), (&mut tab, "annette")] {
        let rename = json!({"type": "rename", "id": 90, "name": name});
        connection.send(&rename.to_string()).await;
    }
    pass(1).await;
    drop(closed);
    let mut codes = Vec::new();
    for connection in [&mut ann, &mut tab] {
        codes.push(loop {
            let message = connection.next().await;
            if message["re"] == 90 {
                break message["code"].clone();
            }
        });
    }
    assert_eq!(codes, [Value::Null, json!("too_soon")]);
}

#[tokio::test(start_paused = true)]
async fn a_guest_becomes_an_account() {
    let server = TestServer::start(calm());
    let mut ann = server.player("ann").await;
    assert_eq!(ann.welcome["accounts"], "open");
    assert_eq!(ann.welcome["player"].get("account"), None);
    let mut tab = beside(&server, &ann.token()).await;
    let early = ann.create(json!({})).await;
    let (_, told) = ann.ask_and_hear(register(" Ann Lovelace ")).await;
    assert_eq!(told.last().expect("an answer")["type"], "ok");
    let player = json!({"id": ann.id(), "name": "Ann Lovelace", "account": true});
    // Before the answer, and on all connections.
    let expected = json!({"type": "player", "player": player});
    assert!(told.contains(&expected), "{told:?}");
    assert_eq!(tab.event("player").await, expected);
    assert_eq!(ann.refused(register("anna")).await, "already_registered");

    // What is played from now on is played by that name, on whatever connection; what was, is as it was.
    let later = tab.create(json!({})).await;
    let mut bob = server.player("bob").await;
    for (id, name, account) in [(early, "ann", None), (later, "Ann Lovelace", Some(true))] {
        let shown = bob.ask(json!({"type": "watch", "match": id})).await;
        let seat = &shown["seats"][0];
        assert_eq!(seat["name"], name);
        assert_eq!(seat.get("account"), account.map(Value::from).as_ref());
    }
    let (_, welcome) = server.come_back(&ann.token()).await;
    assert_eq!(
        (&welcome["resumed"], &welcome["player"]),
        (&json!(true), &player)
    );
}

#[tokio::test(start_paused = true)]
async fn a_name_of_ones_own_is_nobody_elses() {
    let server = TestServer::start(calm());
    let mut early = server.player("Lady Ada").await;
    let _ada = registered(&server, "lady ada").await;
    let mut bob = server.player("bob").await;
    for name in ["Lady-Ada", "l\u{430}dy \u{430}d\u{430}", "LADYADA"] {
        assert_eq!(bob.refused(register(name)).await, "name_taken", "{name}");
        let (_, refused) = coming(&server, json!({"name": name})).await;
        assert_eq!(refused["code"], "name_taken", "{name}");
    }
    for name in ["guest-7", "hard", "someone", "moderator"] {
        assert_eq!(bob.refused(register(name)).await, "name_taken", "{name}");
    }
    for name in ["", "...", "a\u{202e}b"] {
        assert_eq!(bob.refused(register(name)).await, "bad_name", "{name}");
    }
    // A guest who had it before has another one from the next hello on, for good, and nothing else is lost.
    let id = early.create(json!({})).await;
    for _ in 0..2 {
        let (mut back, welcome) = server.come_back(&early.token()).await;
        assert_eq!(welcome["player"]["id"], *early.id());
        let name = text(&welcome["player"]["name"]);
        assert!(name.starts_with("guest-"), "{name}");
        assert_eq!(back.event("match").await["match"], json!(id));
        assert_eq!(back.refused(register("lady ada")).await, "name_taken");
    }
}

#[tokio::test(start_paused = true)]
async fn an_account_takes_another_name() {
    let server = TestServer::start(calm());
    let mut ann = server.player("ann").await;
    let rename = |name: &str| json!({"type": "rename", "name": name});
    assert_eq!(ann.refused(rename("")).await, "not_registered");
    let mut ann = registered(&server, "ann").await;
    let mut bob = registered(&server, "bob").await;
    assert_eq!(ann.refused(rename("B.O.B")).await, "name_taken");
    assert_eq!(ann.ask(rename("anna")).await["type"], "ok");
    let told = ann.event("player").await;
    assert_eq!(told["player"]["name"], "anna");
    // What else is wrong is told first.
    assert_eq!(ann.refused(rename("\u{202e}")).await, "bad_name");
    assert_eq!(ann.refused(rename("bob")).await, "name_taken");
    let soon = ann.ask_anything(rename("annie")).await;
    assert_eq!(soon["code"], "too_soon");
    assert_eq!(soon["retry_after_ms"], json!(30 * DAY * 1000));
    // The name before is nobody else's for a while.
    assert_eq!(bob.refused(rename("ann")).await, "name_taken");
    let (_, refused) = coming(&server, json!({"name": "ann"})).await;
    assert_eq!(refused["code"], "name_taken");
    let (_, refused) = coming(&server, login("ann", PASSWORD)).await;
    assert_eq!(refused["code"], "wrong_password");

    drop((ann, bob));
    pass(30 * DAY).await;
    let (mut ann, _) = coming(&server, login("anna", PASSWORD)).await;
    assert_eq!(ann.ask(rename("ann")).await["type"], "ok");
    drop(ann);
    pass(90 * DAY).await;
    let (_, welcome) = coming(&server, json!({"name": "anna"})).await;
    assert_eq!(welcome["player"]["name"], "anna");
}

#[tokio::test(start_paused = true)]
async fn a_password_brings_an_account_back() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let _bob = server.player("bob").await;
    let hello = login("A-N-N", PASSWORD);
    let (_phone, welcome) = coming(&server, hello).await;
    assert_eq!(welcome["resumed"], true);
    assert_eq!(welcome["player"]["name"], "ann");
    assert_ne!(welcome["token"], json!(ann.token()));
    assert_eq!(
        ann.event("session_added").await["session"],
        welcome["session"]
    );
    let mut messages = Vec::new();
    for (name, password) in [
        ("ann", "wrong password"),
        ("bob", PASSWORD),
        ("nobody", PASSWORD),
        ("\u{202e}", ""),
    ] {
        let (_, refused) = coming(&server, login(name, password)).await;
        assert_eq!(refused["code"], "wrong_password", "{name}");
        messages.push(refused["message"].clone());
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "they are told the same");
    let mut other = server.connect().await;
    let refused = other
        .hello(json!({"name": "ann", "password": PASSWORD, "label": ""}))
        .await;
    assert_eq!(refused["code"], "bad_name");
    for (hello, field) in [
        (json!({"password": PASSWORD}), "name"),
        (
            json!({"name": "ann", "password": PASSWORD, "token": "t"}),
            "password",
        ),
    ] {
        let refused = other.hello(hello).await;
        assert_eq!(
            (&refused["code"], &refused["field"]),
            (&json!("bad_field"), &json!(field))
        );
    }
}

/// Whoever is there proves anew who that is, where a password is set.
#[tokio::test(start_paused = true)]
async fn what_others_could_take_away_wants_a_password() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let key = json!({"type": "recovery", "password": PASSWORD});
    let key = text(&ann.ask(key).await["key"]);
    let (phone, _) = coming(&server, login("ann", PASSWORD)).await;
    let new = "battery staple";
    let set = json!({"type": "set_password", "new": new});
    let end = json!({"type": "end_session", "session": phone.welcome["session"]});
    for asked in [json!({"type": "recovery"}), end, set.clone()] {
        let kind = text(&asked["type"]);
        assert_eq!(ann.refused(asked.clone()).await, "wrong_password", "{kind}");
        for proof in [("password", "wrong password"), ("recovery", "WRONGKEY")] {
            let mut asked = asked.clone();
            asked[proof.0] = json!(proof.1);
            assert_eq!(ann.refused(asked).await, "wrong_password", "{kind}");
        }
    }
    assert_eq!(sessions(&mut ann).await.len(), 2);
    let same = json!({"type": "set_password", "password": PASSWORD, "new": "ann"});
    let refused = ann.ask_anything(same).await;
    assert_eq!(
        (&refused["code"], &refused["field"]),
        (&json!("bad_field"), &json!("new"))
    );

    ann.drain().await;
    let mut proved = set.clone();
    proved["recovery"] = json!(key);
    assert_eq!(ann.ask(proved).await["type"], "ok");
    ann.event("player").await;
    let mut phone = phone;
    assert_eq!(phone.closed().await, 4005, "others are to know it, too");
    assert_eq!(sessions(&mut ann).await.len(), 1);
    let (_, refused) = coming(&server, login("ann", PASSWORD)).await;
    assert_eq!(refused["code"], "wrong_password");

    // Whoever has forgotten the password has an hour after a recovery.
    let (mut tablet, _) = coming(&server, json!({"recovery": key})).await;
    assert_eq!(
        tablet.ask(json!({"type": "recovery"})).await["type"],
        "recovery_key"
    );
    drop(tablet.drain().await);
    let token = tablet.token();
    drop(tablet);
    pass(3601).await;
    let (mut tablet, _) = server.come_back(&token).await;
    assert_eq!(tablet.refused(set).await, "wrong_password");
    // One's own session ends as ever.
    let end = json!({"type": "end_session", "session": tablet.welcome["session"]});
    assert_eq!(tablet.ask(end).await["type"], "ok");
}

#[tokio::test(start_paused = true)]
async fn a_guest_has_no_password() {
    let server = TestServer::start(calm());
    let mut ann = server.player("ann").await;
    let set = json!({"type": "set_password", "new": "ann has none"});
    assert_eq!(ann.refused(set.clone()).await, "not_registered");
    // Without one there is nothing to prove.
    assert_eq!(ann.ask(register("ann")).await["type"], "ok");
    assert_eq!(
        ann.ask(json!({"type": "recovery"})).await["type"],
        "recovery_key"
    );
    assert_eq!(ann.ask(set).await["type"], "ok");
    let (_, welcome) = coming(&server, login("ann", "ann has none")).await;
    assert_eq!(welcome["resumed"], true);
}

#[tokio::test(start_paused = true)]
async fn passwords_are_not_guessed() {
    let server = TestServer::start(calm());
    let ann = registered(&server, "ann").await;
    let from = "192.0.2.1".parse().expect("an address");
    let mut guest = server.connect_from(from).await;
    for n in 0..10 {
        let name = ["ann", "a n n"][n % 2];
        let refused = guest.hello(login(name, "wrong password")).await;
        assert_eq!(refused["code"], "wrong_password", "{n}");
        pass(1).await;
    }
    let refused = guest.hello(login("ann", PASSWORD)).await;
    assert_eq!(refused["code"], "too_soon");
    assert_eq!(refused["retry_after_ms"], 590_000);
    // Others are not, nor is whoever has a session, wherever that is.
    let refused = guest.hello(login("bob", PASSWORD)).await;
    assert_eq!(refused["code"], "wrong_password");
    let (_, elsewhere) = coming(&server, login("ann", PASSWORD)).await;
    assert_eq!(elsewhere["resumed"], true);
    let resumed = guest.hello(json!({"token": ann.token()})).await;
    assert_eq!(resumed["resumed"], true);
}

/// Two connections register at once: one of them does.
#[tokio::test(start_paused = true)]
async fn a_name_is_taken_once() {
    let server = TestServer::start(calm());
    let mut players = Vec::new();
    for name in ["ann", "bob"] {
        players.push(server.player(name).await);
    }
    players.push(beside(&server, &players[0].token()).await);
    for player in &mut players {
        let request = json!({"type": "register", "id": 7, "name": "carl", "password": PASSWORD});
        player.send(&request.to_string()).await;
    }
    let mut codes = Vec::new();
    for player in &mut players {
        let answer = loop {
            let told = player.next().await;
            if told["re"] == 7 {
                break told;
            }
        };
        codes.push(text(answer.get("code").unwrap_or(&json!("ok"))));
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
        ..calm()
    };
    let server = TestServer::start(settings);
    let mut ann = server.connect().await;
    let welcome = ann.hello(login("ann", PASSWORD)).await;
    assert_eq!(welcome.get("accounts"), None);
    assert_eq!(
        (&welcome["resumed"], &welcome["ignored"]),
        (&json!(false), &json!(["password"]))
    );
    for kind in ["register", "rename", "set_password"] {
        let refused = ann
            .ask_anything(json!({"type": kind, "name": "ann", "new": PASSWORD}))
            .await;
        assert_eq!(refused["code"], "unknown_type", "{kind}");
        assert!(!text(&refused["message"]).contains("register"), "{refused}");
    }
    assert_eq!(
        ann.ask(json!({"type": "recovery"})).await["type"],
        "recovery_key"
    );
}

/// A key plays and reads, and nothing else; it is revoked as any session.
#[tokio::test(start_paused = true)]
async fn a_key_plays_and_reads() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let create = json!({"type": "create_key", "label": "laptop", "password": PASSWORD});
    let unproved = json!({"type": "create_key"});
    assert_eq!(ann.refused(unproved).await, "wrong_password");
    let made = ann.ask(create.clone()).await;
    let key = text(&made["key"]);
    assert!(key.starts_with("ply_") && key.len() == 47, "{made}");
    assert_eq!(made["player"]["name"], "ann");
    let listed = sessions(&mut ann).await;
    assert_eq!(
        (&listed[1]["kind"], &listed[1]["label"]),
        (&json!("key"), &json!("laptop"))
    );

    let (mut program, welcome) = server.come_back(&key).await;
    assert_eq!(
        (&welcome["resumed"], &welcome["token"]),
        (&json!(true), &json!(key))
    );
    assert_eq!(welcome["session"], made["session"]);
    let id = program.create(json!({})).await;
    assert_eq!(
        program.ask(json!({"type": "leave", "match": id})).await["type"],
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
        let refused = program.ask_anything(asked).await;
        assert_eq!(refused["code"], "not_allowed", "{kind}");
    }
    // Another password ends it not, and `end_session` does.
    let set = json!({"type": "set_password", "password": PASSWORD, "new": "battery staple"});
    assert_eq!(ann.ask(set).await["type"], "ok");
    assert_eq!(program.ask(json!({"type": "ping"})).await["type"], "pong");
    let end =
        json!({"type": "end_session", "session": made["session"], "password": "battery staple"});
    assert_eq!(ann.ask(end).await["type"], "ok");
    assert_eq!(program.closed().await, 4005);
    let (_, refused) = coming(&server, json!({"token": key})).await;
    assert_eq!(refused["code"], "bad_code", "it is no new guest");
}

#[tokio::test(start_paused = true)]
async fn a_player_has_twenty_keys() {
    let server = TestServer::start(calm());
    let mut ann = server.player("ann").await;
    let with_bot = json!({"type": "create_key", "bot": "randy"});
    assert_eq!(ann.refused(with_bot).await, "not_registered");
    let create = json!({"type": "create_key"});
    for _ in 0..20 {
        assert_eq!(ann.ask(create.clone()).await["type"], "key");
        // No faster than requests may come.
        pass(1).await;
    }
    assert_eq!(ann.refused(create).await, "not_allowed");
    let bad = json!({"type": "create_key", "label": ""});
    assert_eq!(ann.refused(bad).await, "bad_name");
}
