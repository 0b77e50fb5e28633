//! Sessions as they went over the wire, kept in `tests/data/session.traffic`: what the server sends is
//! there byte for byte, so the wire does not change unnoticed; and the schemas fit what was really
//! said and nothing else.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Player, TestServer, client_schema, server_schema, settings, text};

/// When the server of the record was started, in milliseconds since 1970.
const STARTED_MS: u64 = 1_700_000_000_000;

/// What differs from run to run is written by what it is.
#[derive(Default)]
struct Recorder {
    lines: Vec<String>,
    names: Vec<(String, String)>,
    matches: usize,
}

/// A player whose messages are recorded.
struct Recorded {
    who: &'static str,
    player: Player,
}

impl Recorder {
    /// A player who says hello.
    async fn connect(
        &mut self,
        server: &TestServer,
        who: &'static str,
        mut hello: Value,
    ) -> Recorded {
        let mut player = server.connect().await;
        player.written = Some(Vec::new());
        let mut recorded = Recorded { who, player };
        hello["type"] = "hello".into();
        recorded.player.welcome = self.ask(&mut recorded, hello).await;
        recorded
    }

    /// From now on `value` is written as `name`.
    fn call(&mut self, value: &Value, name: &str) {
        let value = text(value);
        if !self.names.iter().any(|(known, _)| *known == value) {
            self.names.push((value, name.to_owned()));
        }
    }

    fn note(&mut self, who: &str, direction: char, message: &str) {
        let mut line = message.to_owned();
        for (value, name) in &self.names {
            line = line.replace(value, name);
        }
        self.lines.push(format!("{who} {direction} {line}"));
    }

    /// Notes what has come to a player, but for `presence`, which comes when it will.
    fn note_what_came(&mut self, Recorded { who, player }: &mut Recorded) {
        for written in player.written.as_mut().expect("recorded").split_off(0) {
            let message: Value = serde_json::from_str(&written).expect("JSON");
            match message["type"].as_str() {
                Some("presence") => continue,
                Some("welcome") => {
                    self.call(&message["token"], &format!("token-of-{who}"));
                    self.call(&message["player"]["id"], &format!("player-{who}"));
                }
                Some("match") => {
                    let known = text(&message["match"]);
                    if !self.names.iter().any(|(id, _)| *id == known) {
                        self.matches += 1;
                        self.call(&message["match"], &format!("match-{}", self.matches));
                        self.call(&message["code"], &format!("CODE-{}", self.matches));
                    }
                }
                _ => {}
            }
            self.note(who, '<', &written);
        }
    }

    /// Asks, and notes the request and whatever comes up to the answer.
    async fn ask(&mut self, recorded: &mut Recorded, request: Value) -> Value {
        let (sent, mut came) = recorded.player.ask_and_hear(request).await;
        self.note(recorded.who, '>', &sent.to_string());
        self.note_what_came(recorded);
        came.pop().expect("it ends with the answer")
    }

    /// Lets a player who asks for nothing tell what has come.
    async fn hear(&mut self, recorded: &mut Recorded) {
        recorded.player.drain().await;
        self.note_what_came(recorded);
    }
}

/// A match of two with somebody who watches, from its creation to what is answered after its end.
async fn a_whole_match(record: &mut Recorder, [ann, bob, cat]: [&mut Recorded; 3]) {
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    let created = record.ask(ann, create).await;
    let id = created["match"].clone();
    record
        .ask(bob, json!({"type": "list", "status": "open"}))
        .await;
    record.ask(cat, json!({"type": "watch", "match": id})).await;
    record
        .ask(bob, json!({"type": "join", "match": created["code"]}))
        .await;
    for (ply, m) in ["a1", "a2", "b1", "b2", "c1"].iter().enumerate() {
        let player = if ply % 2 == 0 { &mut *ann } else { &mut *bob };
        let play = json!({"type": "move", "match": id, "ply": ply, "move": m});
        record.ask(player, play).await;
    }
    for request in [
        json!({"type": "move", "match": id, "ply": 3, "move": "b2"}),
        json!({"type": "move", "match": id, "ply": 3, "move": " B2"}),
        json!({"type": "move", "match": id, "ply": 3, "move": "c3"}),
        json!({"type": "move", "match": id, "ply": 5, "move": "c2"}),
        json!({"type": "resync", "match": id, "since": 0}),
        json!({"type": "resync", "match": id, "since": 7}),
        json!({"type": "watch", "match": id}),
        json!({"type": "leave", "match": id}),
        json!({"type": "seek", "game": "ludo"}),
        json!({"type": "ping"}),
    ] {
        record.ask(bob, request).await;
    }
    record.hear(cat).await;
}

/// Seats that change hands, and a host who leaves: the match is aborted.
async fn a_match_that_is_aborted(record: &mut Recorder, [ann, bob, cat]: [&mut Recorded; 3]) {
    let create =
        json!({"type": "create", "game": "gomoku", "seats": ["open", "open"], "listed": false});
    let id = record.ask(ann, create).await["match"].clone();
    let seat = |occupant| json!({"type": "seat", "match": id, "seat": 1, "occupant": occupant});
    record.ask(ann, seat(json!({"bot": "hard"}))).await;
    record.ask(ann, seat(json!("open"))).await;
    record
        .ask(bob, json!({"type": "join", "match": id, "seat": 1}))
        .await;
    record.ask(bob, json!({"type": "leave", "match": id})).await;
    record.ask(cat, json!({"type": "watch", "match": id})).await;
    record.ask(ann, json!({"type": "leave", "match": id})).await;
    record.hear(cat).await;
}

/// Matches that end by the rules in a way of their own, by resignation, and because somebody stays
/// away.
async fn other_ends(record: &mut Recorder, ann: &mut Recorded, mut bob: Recorded) {
    let ends = [
        ("chess", &["f2f3", "e7e5", "g2g4", "Qh4"][..]),
        ("go", &["e5", "pass", "pass"][..]),
        ("othello", &["d3"][..]),
        ("connect-four", &["4", "3"][..]),
    ];
    for (game, moves) in ends {
        let create = json!({"type": "create", "game": game});
        let id = record.ask(ann, create).await["match"].clone();
        record
            .ask(&mut bob, json!({"type": "join", "match": id}))
            .await;
        for (ply, m) in moves.iter().enumerate() {
            let player = if ply % 2 == 0 { &mut *ann } else { &mut bob };
            let play = json!({"type": "move", "match": id, "ply": ply, "move": m});
            record.ask(player, play).await;
        }
        if game == "othello" {
            record
                .ask(ann, json!({"type": "resign", "match": id}))
                .await;
        }
        if game != "connect-four" {
            record.ask(ann, json!({"type": "watch", "match": id})).await;
        }
    }
    drop(bob);
    ann.player.event("moved").await;
    ann.player.event("ended").await;
    record.note_what_came(ann);
}

#[tokio::test(start_paused = true)]
async fn the_wire_is_as_it_was_recorded() {
    let mut settings = settings();
    settings.started_ms = Some(STARTED_MS);
    let server = TestServer::start(settings);
    let mut record = Recorder::default();
    let hello = json!({"protocol": 1, "name": "Ann"});
    let mut ann = record.connect(&server, "ann", hello).await;
    let mut bob = record.connect(&server, "bob", json!({"name": "Bob"})).await;
    let mut cat = record.connect(&server, "cat", json!({})).await;
    a_whole_match(&mut record, [&mut ann, &mut bob, &mut cat]).await;
    a_match_that_is_aborted(&mut record, [&mut ann, &mut bob, &mut cat]).await;
    other_ends(&mut record, &mut ann, bob).await;
    // Who comes back is shown what goes on.
    let create = json!({"type": "create", "game": "draughts", "seats": [{"bot": "easy"}, "me"]});
    record.ask(&mut ann, create).await;
    let token = json!({"token": ann.player.token()});
    let mut again = record.connect(&server, "ann", token).await;
    record.hear(&mut again).await;

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
