//! A session as it went over the wire, kept in `tests/data/session.traffic`: the wire does not
//! change unnoticed, and the schemas fit what was really said and nothing else.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Player, TestServer, client_schema, server_schema, settings};

/// What differs from run to run is written by what it is.
#[derive(Default)]
struct Recorder {
    lines: Vec<String>,
    names: Vec<(String, String)>,
}

impl Recorder {
    /// From now on `value` is written as `name`.
    fn call(&mut self, value: &Value, name: &str) {
        let value = value.as_str().expect("a text").to_owned();
        self.names.push((value, name.to_owned()));
    }

    fn note(&mut self, who: &str, direction: char, message: &Value) {
        let mut message = message.clone();
        if message["type"] == "pong" {
            message["now_ms"] = 1_700_000_000_000_u64.into();
        }
        let mut line = message.to_string();
        for (value, name) in &self.names {
            line = line.replace(value, name);
        }
        self.lines.push(format!("{who} {direction} {line}"));
    }

    /// Asks, and notes the request and whatever comes up to the answer.
    async fn ask(&mut self, who: &str, player: &mut Player, request: Value) -> Value {
        let (sent, came) = player.ask_and_hear(request).await;
        self.note(who, '>', &sent);
        for message in came.iter().filter(|message| message["type"] != "presence") {
            if message["type"] == "welcome" {
                self.call(&message["token"], &format!("token-of-{who}"));
                self.call(&message["player"]["id"], &format!("player-{who}"));
            }
            self.note(who, '<', message);
        }
        came.last().expect("the answer").clone()
    }
}

#[tokio::test(start_paused = true)]
async fn the_wire_is_as_it_was_recorded() {
    let server = TestServer::start(settings());
    let (mut ann, mut bob) = (server.connect().await, server.connect().await);
    let mut record = Recorder::default();
    record
        .ask(
            "ann",
            &mut ann,
            json!({"type": "hello", "protocol": 1, "name": "Ann"}),
        )
        .await;
    record
        .ask("bob", &mut bob, json!({"type": "hello", "name": "Bob"}))
        .await;
    let created = ann
        .ask(json!({"type": "create", "game": "tic-tac-toe"}))
        .await;
    let id = created["match"].clone();
    record.call(&id, "match-1");
    record.call(&created["code"], "CODE-1");
    record.note("ann", '<', &created);
    record
        .ask("bob", &mut bob, json!({"type": "list", "status": "open"}))
        .await;
    record
        .ask(
            "bob",
            &mut bob,
            json!({"type": "join", "match": created["code"]}),
        )
        .await;
    for (ply, m) in ["a1", "a2", "b1", "b2", "c1"].iter().enumerate() {
        let (who, player) = if ply % 2 == 0 {
            ("ann", &mut ann)
        } else {
            ("bob", &mut bob)
        };
        let play = json!({"type": "move", "match": id, "ply": ply, "move": m});
        record.ask(who, player, play).await;
    }
    let refused = [
        json!({"type": "move", "match": id, "ply": 5, "move": "c2"}),
        json!({"type": "resync", "match": id, "since": 7}),
        json!({"type": "watch", "match": id}),
        json!({"type": "leave", "match": id}),
        json!({"type": "seek", "game": "ludo"}),
        json!({"type": "ping"}),
    ];
    for request in refused {
        record.ask("bob", &mut bob, request).await;
    }
    let made = record.lines.join("\n") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/session.traffic");
    if std::env::var_os("UPDATE_TRAFFIC").is_some() {
        fs::write(&path, &made).expect("writable");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        made == kept,
        "the wire has changed; `UPDATE_TRAFFIC=1 cargo test recorded` shows how"
    );
}

/// A schema that lets everything pass would fit any traffic.
#[test]
fn the_schemas_tell_what_is_no_message() {
    let id = "0b9e0000-0000-4000-8000-000000000000";
    for bad in [
        json!({"type": "fly"}),
        json!({"type": "move", "match": "K7QM2P", "ply": 0}),
        json!({"type": "move", "match": "K7QM2P", "ply": -1, "move": "a1"}),
        json!({"type": "create", "game": "ludo", "seats": ["me"]}),
        json!({"type": "create", "game": "ludo", "pace_ms": 10001}),
        json!({"type": "list", "limit": 0}),
        json!({"type": "ping", "id": "1"}),
        json!([]),
    ] {
        assert!(!client_schema().is_valid(&bad), "{bad}");
    }
    for bad in [
        json!({"type": "ok", "re": -1}),
        json!({"type": "error", "code": "no_such_code", "message": "", "retryable": false}),
        json!({"type": "ended", "match": id, "seq": 1, "outcome": {"reason": "rules"}}),
        json!({"type": "ended", "match": id, "seq": 1, "outcome": {"winner": 2, "reason": "rules"}}),
        json!({"type": "moved", "match": id, "seq": 1}),
    ] {
        assert!(!server_schema().is_valid(&bad), "{bad}");
    }
}
