//! Tests of a server with accounts disabled whose store contains accounts from an earlier run. The
//! server's answers must not reveal these accounts.

use std::sync::Arc;

use plyhouse_server::{AccountPolicy, Settings};
use plyhouse_store::{MemoryStore, Store};
use serde_json::{Value, json};

use crate::accounts::PASSWORD;
use crate::rated_matches::receive_until;
use crate::support::{TestServer, json_string, settings_without_pings};

fn settings_without_accounts() -> Settings {
    Settings {
        accounts: AccountPolicy::Off,
        ..settings_without_pings()
    }
}

/// Server without accounts whose store contains the data of an earlier server.
struct GuestOnlyServer {
    server: TestServer,
    /// Session token of Ann, who played the match on the earlier server.
    token: String,
    player_ids: [Value; 2],
    /// Match that Ann and Bob played on the earlier server.
    match_id: String,
    /// API key from the earlier server, or an invalid key if that server had no accounts.
    api_key: String,
}

/// Plays a match between Ann and Bob, and then restarts the server without accounts. If
/// `has_accounts` is true, the players are registered and the match is rated.
async fn start_after_match(has_accounts: bool) -> GuestOnlyServer {
    let store = Arc::new(MemoryStore::default());
    let before = if has_accounts {
        settings_without_pings()
    } else {
        settings_without_accounts()
    };
    let server = TestServer::with_store(before, Arc::clone(&store) as Arc<dyn Store>);
    let mut players = [
        server.connect_player("ann").await,
        server.connect_player("bob").await,
    ];
    let clock = json!({"kind": "fischer", "main_ms": 600_000, "increment_ms": 0});
    let mut create = json!({"clock": clock, "seats": ["me", "open"]});
    if has_accounts {
        for (player, name) in players.iter_mut().zip(["ann", "bob"]) {
            let register = json!({"type": "register", "name": name, "password": PASSWORD});
            assert_eq!(player.request(register).await["type"], "ok");
        }
        create["rated"] = json!(true);
    } else {
        create["takeback"] = json!(false);
    }
    let [ann, bob] = &mut players;
    let match_id = ann.create_match(create).await;
    bob.request(json!({"type": "join", "match": match_id}))
        .await;
    assert_eq!(ann.play_move(&match_id, 0, "b2").await["type"], "ok");
    assert_eq!(bob.play_move(&match_id, 1, "a1").await["type"], "ok");
    bob.request(json!({"type": "resign", "match": match_id}))
        .await;
    receive_until(ann, "ended").await;
    let mut api_key = "ply_none".to_owned();
    if has_accounts {
        receive_until(ann, "rating").await;
        let create = json!({"type": "create_key", "password": PASSWORD});
        api_key = json_string(&ann.request(create).await["key"]);
    }
    let (token, player_ids) = (ann.token(), [ann.id().clone(), bob.id().clone()]);
    server.server.stop().await;
    let again = Settings {
        seed: Some(8),
        ..settings_without_accounts()
    };
    let server = TestServer::with_store(again, store as Arc<dyn Store>);
    server.server.recover().await.expect("readable");
    GuestOnlyServer {
        server,
        token,
        player_ids,
        match_id,
        api_key,
    }
}

/// Replaces random values and times in a message, so that the messages of two servers can be
/// compared.
fn mask_volatile_values(message: &Value) -> Value {
    const RANDOM_FIELDS: [&str; 9] = [
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
    match message {
        Value::Object(fields) => {
            let mask = |(field, value): (&String, &Value)| {
                let is_chance = RANDOM_FIELDS.contains(&&**field) && value.is_string();
                let is_error = field == "code" && message["type"] == "error";
                let is_time = field.ends_with("_ms") && value.as_u64() > Some(1_000_000_000);
                let value = match (is_chance && !is_error) || is_time {
                    true => json!("any"),
                    false => mask_volatile_values(value),
                };
                (field.clone(), value)
            };
            Value::Object(fields.iter().map(mask).collect())
        }
        Value::Array(values) => values.iter().map(mask_volatile_values).collect(),
        other => other.clone(),
    }
}

/// Sends different `hello` requests and collects the answers. Each `hello` without an API key is
/// followed by the requests from [`test_requests`].
async fn collect_answers(world: GuestOnlyServer) -> Vec<(String, Value)> {
    let GuestOnlyServer {
        server,
        token,
        player_ids,
        match_id,
        api_key,
    } = world;
    let mut answers = Vec::new();
    for hello in [
        json!({"name": "ann"}),
        json!({"name": "ann", "password": PASSWORD}),
        json!({"name": "ann", "password": "mistaken horse"}),
        json!({"token": api_key}),
        json!({"token": token, "beside": true}),
    ] {
        let mut player = server.connect().await;
        let (is_of_key, welcome) = (
            hello["token"] == api_key,
            player.send_hello(hello.clone()).await,
        );
        let what = if is_of_key { "a key" } else { "hello" };
        answers.push((what.to_owned(), mask_volatile_values(&welcome)));
        if is_of_key {
            continue;
        }
        for request in test_requests(&player_ids, &match_id) {
            let answer = player.request_unchecked(request.clone()).await;
            answers.push((json_string(&request["type"]), mask_volatile_values(&answer)));
        }
    }
    answers
}

fn test_requests(ids: &[Value; 2], id: &str) -> Vec<Value> {
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

#[tokio::test(start_paused = true)]
async fn answers_equal_those_of_a_server_that_never_had_accounts() {
    let (had, never) = (
        collect_answers(start_after_match(true).await).await,
        collect_answers(start_after_match(false).await).await,
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
