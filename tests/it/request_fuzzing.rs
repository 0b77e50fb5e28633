//! Tests with clients that send random requests. The server answers each request or closes the
//! connection as the protocol documents, and other clients are not affected.

use plyhouse_protocol::ClientMessage;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Map, Value, json};

use crate::support::{TestPlayer, TestServer, json_string, settings_without_limits};

/// Generator of requests of every kind, with valid, almost valid and nonsensical fields.
struct RandomRequests {
    rng: StdRng,
    matches: Vec<String>,
}

impl RandomRequests {
    fn random_request(&mut self) -> Value {
        let mut request = Map::new();
        let kind = match self.rng.random_range(0..20) {
            0 => json!("fly"),
            _ => json!(
                ClientMessage::TYPES
                    .choose(&mut self.rng)
                    .expect("not empty")
            ),
        };
        request.insert("type".to_owned(), kind);
        for field in [
            "match",
            "game",
            "seats",
            "seat",
            "occupant",
            "ply",
            "move",
            "since",
            "limit",
            "after",
            "status",
            "bot",
            "bot_after_ms",
            "pace_ms",
            "listed",
            "shuffle",
            "name",
            "protocol",
        ] {
            if self.rng.random_bool(0.8) {
                let value = self.random_value(field);
                request.insert(field.to_owned(), value);
            }
        }
        Value::Object(request)
    }

    fn random_value(&mut self, field: &str) -> Value {
        if self.rng.random_bool(0.05) {
            return self.random_junk();
        }
        let occupant = [
            json!("me"),
            json!("open"),
            json!({"bot": "easy"}),
            json!({"bot": "x"}),
        ];
        let rng = &mut self.rng;
        match field {
            "match" | "after" => json!(self.matches.choose(rng)),
            "game" => json!(["tic-tac-toe", "tic-tac-toe", "ludo"].choose(rng)),
            "seats" => json!([occupant.choose(rng), occupant.choose(rng)]),
            "occupant" => json!(occupant.choose(rng)),
            "seat" => json!(rng.random_range(0..3)),
            "ply" | "since" => json!(rng.random_range(0..6)),
            "move" => json!(["a1", "b2", "C3", "a2", "zz"].choose(rng)),
            "limit" => json!(rng.random_range(0..102)),
            "status" => json!(["open", "running", "ended", "over"].choose(rng)),
            "bot" => json!(["easy", "max", "godlike"].choose(rng)),
            "bot_after_ms" | "pace_ms" => json!(rng.random_range(0..3)),
            _ => self.random_junk(),
        }
    }

    fn random_junk(&mut self) -> Value {
        let junk = [
            json!(null),
            json!(true),
            json!(-1),
            json!(0.5),
            json!(1e300),
            json!(u64::MAX),
            json!(""),
            json!("\u{0}\u{202e}\u{1f600}"),
            json!("x".repeat(2000)),
            json!([]),
            json!([[[[{}]]]]),
            json!({"bot": null}),
        ];
        junk.choose(&mut self.rng).expect("not empty").clone()
    }
}

#[tokio::test(start_paused = true)]
async fn random_requests_are_all_answered() {
    let server = TestServer::start(settings_without_limits());
    let (mut ann, mut bob, id) = server.start_match().await;
    for seed in 0..8 {
        let mut client = server.connect().await;
        let mut nonsense = RandomRequests {
            rng: StdRng::seed_from_u64(seed),
            matches: vec![id.clone(), "ABCDEF".into()],
        };
        for _ in 0..300 {
            let request = nonsense.random_request();
            let answer = client.request_unchecked(request.clone()).await;
            let kind = json_string(&answer["type"]);
            assert_ne!(answer["code"], "internal", "{request}");
            let is_valid_answer = match json_string(&request["type"]).as_str() {
                "hello" => kind == "welcome" || kind == "error",
                "ping" => kind == "pong",
                "create" | "join" | "watch" => kind == "match" || kind == "error",
                "list" => kind == "matches" || kind == "error",
                "sessions" => kind == "sessions",
                "pair" => kind == "paired" || kind == "error",
                "recovery" => kind == "recovery_key" || kind == "error",
                "block" => kind == "blocked" || kind == "error",
                "history" => kind == "history" || kind == "error",
                "profile" => kind == "profile" || kind == "error",
                "hint" => kind == "hint" || kind == "error",
                "analyse" => kind == "ok" || kind == "error",
                "explore" => kind == "explore" || kind == "error",
                "leaders" => kind == "leaders" || kind == "error",
                "create_key" => kind == "key" || kind == "error",
                "resync" => kind == "events" || kind == "match" || kind == "error",
                "fly" => answer["code"] == "unknown_type",
                _ => kind == "ok" || kind == "error",
            };
            assert!(is_valid_answer, "{request} was answered {answer}");
            if kind == "match" {
                nonsense.matches.push(json_string(&answer["match"]));
            }
            if kind == "ok" && request["type"] == "forget_me" {
                assert_eq!(client.wait_for_close().await, 4005);
                client = server.connect().await;
            }
        }
    }
    assert_eq!(ann.play_move(&id, 0, "b2").await["type"], "ok");
    assert_eq!(bob.expect_event("moved").await["move"], "b2");
}

#[tokio::test(start_paused = true)]
async fn corrupted_json_is_answered() {
    let server = TestServer::start(settings_without_limits());
    let mut rng = StdRng::seed_from_u64(1);
    let valid = json!({"type": "create", "id": 1, "game": "tic-tac-toe", "seats": ["me", "open"]});
    let valid: Vec<char> = valid.to_string().chars().collect();
    for _ in 0..300 {
        let mut client: TestPlayer = server.connect_player("vandal").await;
        let mut text = valid.clone();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..text.len());
            match rng.random_range(0..3) {
                0 => drop(text.remove(at)),
                1 => text.insert(
                    at,
                    *['"', '{', '}', '\\', 'e', '0', '\u{0}']
                        .choose(&mut rng)
                        .expect("not empty"),
                ),
                _ => text[at] = char::from_u32(rng.random_range(1..0xd800)).expect("a character"),
            }
        }
        let text: String = text.into_iter().collect();
        client.send_text(&text).await;
        let answer = client.next_message().await;
        assert!(
            answer["type"] == "match" || answer["type"] == "error",
            "{text}: {answer}"
        );
        assert_ne!(answer["code"], "internal", "{text}");
    }
}
