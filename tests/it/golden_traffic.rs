//! Compares the server's messages byte for byte with the sessions recorded in
//! `tests/data/session.traffic`, so that the protocol does not change unnoticed. Also checks that
//! the JSON schemas accept the recorded messages and reject invalid ones.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{TestPlayer, TestServer, client_schema, json_string, server_schema, settings};

/// Start time of the recorded server, in milliseconds since 1970.
const STARTED_MS: u64 = 1_700_000_000_000;

/// Recorder of the messages between clients and a server. It replaces values that differ between
/// runs with placeholders.
#[derive(Default)]
struct TrafficRecorder {
    lines: Vec<String>,
    placeholders: Vec<(String, String)>,
    match_count: usize,
}

/// Player whose messages are recorded.
struct RecordedPlayer {
    player_name: &'static str,
    player: TestPlayer,
}

impl TrafficRecorder {
    /// Connects a player and sends `hello`.
    async fn connect(
        &mut self,
        server: &TestServer,
        player_name: &'static str,
        mut hello: Value,
    ) -> RecordedPlayer {
        let mut player = server.connect().await;
        player.raw_messages = Some(Vec::new());
        let mut recorded = RecordedPlayer {
            player_name,
            player,
        };
        hello["type"] = "hello".into();
        recorded.player.welcome = self.request(&mut recorded, hello).await;
        recorded
    }

    /// Replaces `value` with `name` in all lines that are recorded later.
    fn add_placeholder(&mut self, value: &Value, name: &str) {
        let value = json_string(value);
        if !self.placeholders.iter().any(|(known, _)| *known == value) {
            self.placeholders.push((value, name.to_owned()));
        }
    }

    fn record_line(&mut self, player_name: &str, direction: char, message: &str) {
        let mut line = message.to_owned();
        for (value, name) in &self.placeholders {
            line = line.replace(value, name);
        }
        self.lines.push(format!("{player_name} {direction} {line}"));
    }

    /// Records the messages that a player received. `presence` messages are skipped, because their
    /// timing varies.
    fn record_received(
        &mut self,
        RecordedPlayer {
            player_name,
            player,
        }: &mut RecordedPlayer,
    ) {
        for written in player
            .raw_messages
            .as_mut()
            .expect("messages are recorded")
            .split_off(0)
        {
            let message: Value = serde_json::from_str(&written).expect("JSON");
            match message["type"].as_str() {
                Some("presence") => continue,
                Some("welcome") => {
                    self.add_placeholder(&message["token"], &format!("token-of-{player_name}"));
                    self.add_placeholder(
                        &message["player"]["id"],
                        &format!("player-{player_name}"),
                    );
                }
                Some("match") => {
                    let known = json_string(&message["match"]);
                    if !self.placeholders.iter().any(|(id, _)| *id == known) {
                        self.match_count += 1;
                        self.add_placeholder(
                            &message["match"],
                            &format!("match-{}", self.match_count),
                        );
                        self.add_placeholder(
                            &message["code"],
                            &format!("CODE-{}", self.match_count),
                        );
                    }
                }
                _ => {}
            }
            self.record_line(player_name, '<', &written);
        }
    }

    /// Sends a request and records the request and all messages up to its answer.
    async fn request(&mut self, recorded: &mut RecordedPlayer, request: Value) -> Value {
        let (sent, mut received) = recorded.player.request_and_collect(request).await;
        self.record_line(recorded.player_name, '>', &sent.to_string());
        self.record_received(recorded);
        received.pop().expect("the answer comes last")
    }

    /// Receives and records all messages that the server has sent to a player and that are not yet
    /// recorded.
    async fn receive_pending(&mut self, recorded: &mut RecordedPlayer) {
        recorded.player.drain_messages().await;
        self.record_received(recorded);
    }
}

/// Records a complete match between two players, with a spectator. The recording also contains
/// requests after the match end.
async fn record_complete_match(
    record: &mut TrafficRecorder,
    [ann, bob, cat]: [&mut RecordedPlayer; 3],
) {
    let create = json!({"type": "create", "game": "tic-tac-toe"});
    let created = record.request(ann, create).await;
    let id = created["match"].clone();
    record
        .request(bob, json!({"type": "list", "status": "open"}))
        .await;
    record
        .request(cat, json!({"type": "watch", "match": id}))
        .await;
    record
        .request(bob, json!({"type": "join", "match": created["code"]}))
        .await;
    for (ply, m) in ["a1", "a2", "b1", "b2", "c1"].iter().enumerate() {
        let player = if ply % 2 == 0 { &mut *ann } else { &mut *bob };
        let play = json!({"type": "move", "match": id, "ply": ply, "move": m});
        record.request(player, play).await;
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
        record.request(bob, request).await;
    }
    record.receive_pending(cat).await;
}

/// Records changes of seats in an open match. The match is aborted when the host leaves.
async fn record_aborted_match(
    record: &mut TrafficRecorder,
    [ann, bob, cat]: [&mut RecordedPlayer; 3],
) {
    let create =
        json!({"type": "create", "game": "gomoku", "seats": ["open", "open"], "listed": false});
    let id = record.request(ann, create).await["match"].clone();
    let seat = |occupant| json!({"type": "seat", "match": id, "seat": 1, "occupant": occupant});
    record.request(ann, seat(json!({"bot": "hard"}))).await;
    record.request(ann, seat(json!("open"))).await;
    record
        .request(bob, json!({"type": "join", "match": id, "seat": 1}))
        .await;
    record
        .request(bob, json!({"type": "leave", "match": id}))
        .await;
    record
        .request(cat, json!({"type": "watch", "match": id}))
        .await;
    record
        .request(ann, json!({"type": "leave", "match": id}))
        .await;
    record.receive_pending(cat).await;
}

/// Records matches that end by the rules, by resignation and by abandonment.
async fn record_other_endings(
    record: &mut TrafficRecorder,
    ann: &mut RecordedPlayer,
    mut bob: RecordedPlayer,
) {
    let ends = [
        ("chess", &["f2f3", "e7e5", "g2g4", "Qh4"][..]),
        ("go", &["e5", "pass", "pass"][..]),
        ("othello", &["d3"][..]),
        ("connect-four", &["4", "3"][..]),
    ];
    for (game, moves) in ends {
        let create = json!({"type": "create", "game": game});
        let id = record.request(ann, create).await["match"].clone();
        record
            .request(&mut bob, json!({"type": "join", "match": id}))
            .await;
        for (ply, m) in moves.iter().enumerate() {
            let player = if ply % 2 == 0 { &mut *ann } else { &mut bob };
            let play = json!({"type": "move", "match": id, "ply": ply, "move": m});
            record.request(player, play).await;
        }
        if game == "othello" {
            record
                .request(ann, json!({"type": "resign", "match": id}))
                .await;
        }
        if game != "connect-four" {
            record
                .request(ann, json!({"type": "watch", "match": id}))
                .await;
        }
    }
    drop(bob);
    ann.player.expect_event("moved").await;
    ann.player.expect_event("ended").await;
    record.record_received(ann);
}

#[tokio::test(start_paused = true)]
async fn server_output_matches_recorded_traffic() {
    let mut settings = settings();
    settings.started_ms = Some(STARTED_MS);
    let server = TestServer::start(settings);
    let mut record = TrafficRecorder::default();
    let hello = json!({"protocol": 1, "name": "Ann"});
    let mut ann = record.connect(&server, "ann", hello).await;
    let mut bob = record.connect(&server, "bob", json!({"name": "Bob"})).await;
    let mut cat = record.connect(&server, "cat", json!({})).await;
    record_complete_match(&mut record, [&mut ann, &mut bob, &mut cat]).await;
    record_aborted_match(&mut record, [&mut ann, &mut bob, &mut cat]).await;
    record_other_endings(&mut record, &mut ann, bob).await;
    // Records a player who reconnects and receives the running match.
    let create = json!({"type": "create", "game": "draughts", "seats": [{"bot": "easy"}, "me"]});
    record.request(&mut ann, create).await;
    let token = json!({"token": ann.player.token()});
    let mut again = record.connect(&server, "ann", token).await;
    record.receive_pending(&mut again).await;

    let actual = record.lines.join("\n") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/session.traffic");
    if std::env::var_os("UPDATE_TRAFFIC").is_some() {
        fs::write(&path, &actual).expect("writable");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        actual == expected,
        "the wire has changed; `UPDATE_TRAFFIC=1 cargo test recorded` shows how"
    );
}

/// Schemas that accept any message would also accept the recorded traffic. This test therefore
/// checks that the schemas reject invalid messages.
#[test]
fn schemas_reject_invalid_messages() {
    let id = "0b9e0000-0000-4000-8000-000000000000";
    for invalid in [
        json!({"type": "fly"}),
        json!({"type": "move", "match": "K7QM2P", "ply": 0}),
        json!({"type": "move", "match": "K7QM2P", "ply": -1, "move": "a1"}),
        json!({"type": "create", "game": "ludo", "seats": ["me"]}),
        json!({"type": "create", "game": "ludo", "pace_ms": 10001}),
        json!({"type": "list", "limit": 0}),
        json!({"type": "ping", "id": "1"}),
        json!([]),
    ] {
        assert!(!client_schema().is_valid(&invalid), "{invalid}");
    }
    for invalid in [
        json!({"type": "ok", "re": -1}),
        json!({"type": "error", "code": "no_such_code", "message": "", "retryable": false}),
        json!({"type": "ended", "match": id, "seq": 1, "outcome": {"reason": "rules"}}),
        json!({"type": "ended", "match": id, "seq": 1, "outcome": {"winner": 2, "reason": "rules"}}),
        json!({"type": "moved", "match": id, "seq": 1}),
    ] {
        assert!(!server_schema().is_valid(&invalid), "{invalid}");
    }
}
