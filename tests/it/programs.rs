//! Accounts of programs: a person's, with names of their own and keys by which they play.

use std::sync::Arc;

use plyhouse_store::Store;
use serde_json::{Value, json};

use crate::accounts::{PASSWORD, registered};
use crate::failing::FailingStore;
use crate::sessions::{beside, coming, sessions};
use crate::support::{Player, TestServer, calm, pass, text};

fn key_of(bot: &str) -> Value {
    json!({"type": "create_key", "bot": bot, "password": PASSWORD})
}

/// A key of a program, and who plays by it.
async fn program(server: &TestServer, owner: &mut Player, name: &str) -> (Value, Player) {
    let made = owner.ask(key_of(name)).await;
    assert_eq!(made["type"], "key", "{made}");
    let (program, _) = server.come_back(&text(&made["key"])).await;
    (made, program)
}

#[tokio::test(start_paused = true)]
async fn a_program_has_an_account_of_its_own() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let mut tab = beside(&server, &ann.token()).await;
    let (made, mut randy) = program(&server, &mut ann, "Randy").await;
    let player = &made["player"];
    assert_ne!(player["id"], *ann.id());
    let expected = json!({"id": player["id"], "name": "Randy", "account": true, "bot": true});
    assert_eq!((player, &randy.welcome["player"]), (&expected, &expected));
    assert_eq!(randy.welcome["session"], made["session"]);
    let told = tab.event("session_added").await;
    assert_eq!(told["session"], made["session"]);

    // Others see what it is.
    let id = randy.create(json!({})).await;
    let mut bob = server.player("bob").await;
    let shown = bob.ask(json!({"type": "watch", "match": id})).await;
    let seat = &shown["seats"][0];
    assert_eq!(
        (&seat["name"], &seat["account"], &seat["bot"]),
        (&json!("Randy"), &json!(true), &json!(true))
    );
    for kind in ["pair", "recovery", "sessions", "create_key"] {
        let refused = randy.refused(json!({"type": kind})).await;
        assert_eq!(refused, "not_allowed", "{kind}");
    }
    let (_, refused) = coming(&server, json!({"name": "randy", "password": PASSWORD})).await;
    assert_eq!(refused["code"], "wrong_password");

    // One more key is of the same account, however the name is written.
    let (again, _other) = program(&server, &mut ann, "r-a-n-d-y").await;
    assert_eq!(again["player"], expected);
}

#[tokio::test(start_paused = true)]
async fn a_programs_sessions_are_its_owners() {
    let server = TestServer::start(calm());
    let mut ann = registered(&server, "ann").await;
    let mut bob = registered(&server, "bob").await;
    let (made, mut randy) = program(&server, &mut ann, "randy").await;
    pass(1).await;
    let (_, mut rudi) = program(&server, &mut ann, "rudi").await;
    let listed = sessions(&mut ann).await;
    let of: Vec<_> = listed.iter().map(|one| &one["bot"]).collect();
    assert_eq!(of, [&Value::Null, &json!("randy"), &json!("rudi")]);
    assert_eq!(listed[1]["kind"], "key");
    assert_eq!(listed[1]["connected"], true);

    let end =
        |session: &Value| json!({"type": "end_session", "session": session, "password": PASSWORD});
    // It is nobody else's.
    assert_eq!(bob.ask(end(&made["session"])).await["type"], "ok");
    assert_eq!(randy.ask(json!({"type": "ping"})).await["type"], "pong");
    assert_eq!(ann.ask(end(&made["session"])).await["type"], "ok");
    assert_eq!(randy.closed().await, 4005);
    let (_, refused) = coming(&server, json!({"token": made["key"]})).await;
    assert_eq!(refused["code"], "bad_code");
    assert_eq!(ann.ask(end(&json!("others"))).await["type"], "ok");
    assert_eq!(rudi.closed().await, 4005);
    assert_eq!(sessions(&mut ann).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn names_of_programs_are_as_those_of_people() {
    let server = TestServer::start(calm());
    let mut guest = server.player("carl").await;
    assert_eq!(guest.refused(key_of("randy")).await, "not_registered");
    let mut ann = registered(&server, "ann").await;
    let mut bob = registered(&server, "bob").await;
    for (name, code) in [
        ("", "bad_name"),
        ("ann", "name_taken"),
        ("B O B", "name_taken"),
        ("max", "name_taken"),
        ("server", "name_taken"),
    ] {
        assert_eq!(ann.refused(key_of(name)).await, code, "{name}");
    }
    let unproved = json!({"type": "create_key", "bot": "randy"});
    assert_eq!(ann.refused(unproved).await, "wrong_password");
    for name in ["one", "two", "three", "four", "five"] {
        assert_eq!(ann.ask(key_of(name)).await["type"], "key");
        pass(1).await;
    }
    assert_eq!(ann.refused(key_of("six")).await, "not_allowed");
    assert_eq!(ann.refused(key_of("bob")).await, "name_taken");
    assert_eq!(ann.ask(key_of("five")).await["type"], "key");
    // They are hers, and nobody else is called so.
    assert_eq!(bob.refused(key_of("one")).await, "name_taken");
    let one = json!({"type": "register", "name": "one"});
    assert_eq!(guest.refused(one).await, "name_taken");
    // Twenty keys in all.
    for _ in 0..14 {
        assert_eq!(ann.ask(key_of("one")).await["type"], "key");
        pass(1).await;
    }
    for asked in [
        key_of("one"),
        json!({"type": "create_key", "password": PASSWORD}),
    ] {
        assert_eq!(ann.refused(asked).await, "not_allowed");
    }
}

/// Whoever has proved by a password that is another one by now gets nothing for it that lasts.
#[tokio::test(start_paused = true)]
async fn what_an_old_password_has_proved_is_void() {
    let store = Arc::new(FailingStore::default());
    let server = TestServer::with_store(calm(), Arc::clone(&store) as Arc<dyn Store>);
    let mut ann = registered(&server, "ann").await;
    let hello = json!({"name": "ann", "password": PASSWORD, "label": "thief"});
    let key = json!({"type": "create_key", "password": PASSWORD});
    let recovery = json!({"type": "recovery", "password": PASSWORD});
    let own = text(&ann.ask(recovery.clone()).await["key"]);
    for (n, asked) in [key, key_of("randy"), recovery].into_iter().enumerate() {
        let (mut thief, _) = coming(&server, hello.clone()).await;
        let closed = store.gate.lock().await;
        let new = format!("battery staple {n}");
        let set = json!({"type": "set_password", "id": 90, "password": PASSWORD, "new": new});
        ann.send(&set.to_string()).await;
        pass(1).await;
        let mut late = asked.clone();
        late["id"] = json!(91);
        thief.send(&late.to_string()).await;
        // Both are proved, and wait to be kept.
        pass(1).await;
        drop(closed);
        // It is thrown out, with an answer or without.
        let answer = loop {
            match thief.receive().await {
                Ok(told) if told["re"] == 91 => break Some(told["code"].clone()),
                Ok(_) => {}
                Err(_) => break None,
            }
        };
        assert_eq!(answer.unwrap_or(json!("wrong_password")), "wrong_password");
        // As it was, for the next.
        let back = json!({"type": "set_password", "password": new, "new": PASSWORD});
        assert_eq!(ann.ask(back).await["type"], "ok");
        assert_eq!(sessions(&mut ann).await.len(), 1, "{asked}");
    }
    let (_, back) = coming(&server, json!({"recovery": own})).await;
    assert_eq!(back["resumed"], true, "{back}");
}
