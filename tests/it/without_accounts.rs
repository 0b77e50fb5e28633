//! A server without accounts shows no trace of those that its store has.

use std::sync::Arc;

use plyhouse_server::{AccountPolicy, Settings};
use plyhouse_store::{MemoryStore, Store};
use serde_json::{Value, json};

use crate::accounts::PASSWORD;
use crate::ratings::until;
use crate::support::{TestServer, calm, text};

fn off() -> Settings {
    Settings {
        accounts: AccountPolicy::Off,
        ..calm()
    }
}

/// A server without accounts, and what is known of what was there before.
struct World {
    server: TestServer,
    /// The token of one who played then, and the ids of both.
    token: String,
    ids: [Value; 2],
    /// The match that they played.
    id: String,
    /// What is, or was, a key.
    key: String,
}

/// Two have played a match: with accounts and for ratings, or as guests.
async fn world(has_accounts: bool) -> World {
    let store = Arc::new(MemoryStore::default());
    let before = if has_accounts { calm() } else { off() };
    let server = TestServer::with_store(before, Arc::clone(&store) as Arc<dyn Store>);
    let mut players = [server.player("ann").await, server.player("bob").await];
    let clock = json!({"kind": "fischer", "main_ms": 600_000, "increment_ms": 0});
    let mut create = json!({"clock": clock, "seats": ["me", "open"]});
    if has_accounts {
        for (player, name) in players.iter_mut().zip(["ann", "bob"]) {
            let register = json!({"type": "register", "name": name, "password": PASSWORD});
            assert_eq!(player.ask(register).await["type"], "ok");
        }
        create["rated"] = json!(true);
    } else {
        create["takeback"] = json!(false);
    }
    let [ann, bob] = &mut players;
    let id = ann.create(create).await;
    bob.ask(json!({"type": "join", "match": id})).await;
    assert_eq!(ann.play(&id, 0, "b2").await["type"], "ok");
    assert_eq!(bob.play(&id, 1, "a1").await["type"], "ok");
    bob.ask(json!({"type": "resign", "match": id})).await;
    until(ann, "ended").await;
    let mut key = "ply_none".to_owned();
    if has_accounts {
        until(ann, "rating").await;
        let create = json!({"type": "create_key", "password": PASSWORD});
        key = text(&ann.ask(create).await["key"]);
    }
    let (token, ids) = (ann.token(), [ann.id().clone(), bob.id().clone()]);
    server.server.stop().await;
    let again = Settings {
        seed: Some(8),
        ..off()
    };
    let server = TestServer::with_store(again, store as Arc<dyn Store>);
    server.server.recover().await.expect("readable");
    World {
        server,
        token,
        ids,
        id,
        key,
    }
}

/// What is told, but for what chance and the time of day make of it.
fn masked(told: &Value) -> Value {
    const CHANCE: [&str; 9] = [
        "match",
        "code",
        "session",
        "token",
        "id",
        "player",
        "host",
        "key",
        "retry_after_ms",
    ];
    match told {
        Value::Object(fields) => {
            let mask = |(field, value): (&String, &Value)| {
                let is_chance = CHANCE.contains(&&**field) && value.is_string();
                let is_error = field == "code" && told["type"] == "error";
                let is_time = field.ends_with("_ms") && value.as_u64() > Some(1_000_000_000);
                let value = match (is_chance && !is_error) || is_time {
                    true => json!("any"),
                    false => masked(value),
                };
                (field.clone(), value)
            };
            Value::Object(fields.iter().map(mask).collect())
        }
        Value::Array(values) => values.iter().map(masked).collect(),
        other => other.clone(),
    }
}

/// All that a stranger and one who played are told.
async fn told(world: World) -> Vec<(String, Value)> {
    let World {
        server,
        token,
        ids,
        id,
        key,
    } = world;
    let mut told = Vec::new();
    for hello in [
        json!({"name": "ann"}),
        json!({"name": "ann", "password": PASSWORD}),
        json!({"name": "ann", "password": "mistaken horse"}),
        json!({"token": key}),
        json!({"token": token, "beside": true}),
    ] {
        let mut player = server.connect().await;
        let (is_of_key, welcome) = (hello["token"] == key, player.hello(hello.clone()).await);
        let what = if is_of_key { "a key" } else { "hello" };
        told.push((what.to_owned(), masked(&welcome)));
        if is_of_key {
            continue;
        }
        for request in requests(&ids, &id) {
            let answer = player.ask_anything(request.clone()).await;
            told.push((text(&request["type"]), masked(&answer)));
        }
    }
    told
}

fn requests(ids: &[Value; 2], id: &str) -> Vec<Value> {
    let clock = json!({"kind": "fischer", "main_ms": 600_000, "increment_ms": 0});
    vec![
        json!({"type": "sessions"}),
        json!({"type": "profile", "name": "ann"}),
        json!({"type": "profile", "player": ids[0]}),
        json!({"type": "history", "player": ids[1]}),
        json!({"type": "explore", "game": "tic-tac-toe", "moves": ["b2"]}),
        json!({"type": "leaders", "game": "tic-tac-toe", "pool": "live"}),
        json!({"type": "watch", "match": id}),
        json!({"type": "resync", "match": id, "since": 0}),
        json!({"type": "list"}),
        json!({"type": "register", "name": "ann"}),
        json!({"type": "rename", "name": "ann2"}),
        json!({"type": "set_password", "password": PASSWORD, "new": "battery staple"}),
        json!({"type": "create_key", "label": "laptop"}),
        json!({"type": "forget_me"}),
        json!({"type": "recovery"}),
        json!({"type": "pair"}),
        json!({"type": "end_session", "session": "others"}),
        json!({"type": "block", "player": ids[1], "on": true}),
        json!({"type": "block", "player": ids[1], "on": false}),
        json!({"type": "create", "game": "chess", "rated": true, "clock": clock}),
        json!({"type": "seek", "game": "chess", "rated": true, "clock": clock}),
        json!({"type": "create", "game": "chess", "seats": ["me", {"bot": "easy"}]}),
    ]
}

/// Whatever is asked, the answer is the one of a server whose store never had accounts.
#[tokio::test(start_paused = true)]
async fn nothing_is_told_of_accounts_that_there_were() {
    let (had, never) = (
        told(world(true).await).await,
        told(world(false).await).await,
    );
    assert_eq!(had.len(), never.len());
    for ((what, had), (_, never)) in had.iter().zip(&never) {
        assert_eq!(had, never, "{what}");
    }
    let all = format!("{had:?}");
    for word in [
        "account\": Bool(true)",
        "rated\": Bool(true)",
        "wrong_password",
        "name_taken",
    ] {
        assert!(!all.contains(word), "{word} is in {all}");
    }
}
