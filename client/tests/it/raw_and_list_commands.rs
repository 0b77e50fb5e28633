//! Tests of the commands for scripts: `ply raw`, `ply list` and `--json`.

use serde_json::{Value, json};

use crate::scripted_server::{ClientConnection, MATCH_ID, PlyHome, ScriptedServer, match_snapshot};

#[test]
fn raw_waits_for_replies_to_all_requests() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept(listener);
        let first = connection.expect_request("ping");
        assert_eq!(connection.read_text(), " not JSON");
        let last = connection.expect_request("ping");
        connection.send(
            &json!({"type": "error", "code": "malformed", "message": "no", "retryable": false}),
        );
        connection.reply(&last, json!({"type": "pong", "now_ms": 2}));
        connection.reply(
            &first,
            json!({"type": "pong", "now_ms": 1, "x": "\u{202e}"}),
        );
        connection.wait_for_close();
    });
    let input = "{\"type\":\"ping\",\"id\":1}\n not JSON\n{\"type\":\"ping\",\"id\":7}";
    let output = PlyHome::new().run(&server.url, &["raw"], input);
    output.assert_output(0, &[r#""re":7"#, r#""re":1"#, r#""malformed""#, r"\u202e"]);
    assert_eq!(output.stdout.lines().count(), 3);
    server.join_script();
}

#[test]
fn raw_reports_close_reason_of_server() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept(listener);
        connection.read_text();
        connection.close(1008, "the protocol was broken too often");
    });
    let output = PlyHome::new().run(&server.url, &["raw"], "x\n{\"type\":\"ping\",\"id\":1}\n");
    output.assert_output(4, &["the protocol was broken too often (1008)"]);
    server.join_script();
}

fn reply_to_list_requests(connection: &mut ClientConnection) {
    let snapshot = match_snapshot(&Value::Null, &["b2"]);
    let open = connection.expect_request("list");
    assert_eq!(open["status"], "open");
    connection.reply(&open, json!({"type": "matches", "total": 0, "matches": []}));
    let running = connection.expect_request("list");
    assert_eq!(running["status"], "running");
    let mut reply = json!({"type": "matches", "total": 1, "matches": [{"match": MATCH_ID,
        "code": "K7QM2P", "game": "tic-tac-toe", "status": "running", "seats": snapshot["seats"],
        "ply": 1, "spectators": 2}]});
    reply["matches"][0]["seats"][0]["name"] = json!("a\u{1b}[2J\u{202e}a");
    connection.reply(&running, reply);
}

#[test]
fn list_shows_players_and_watch_command() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept(listener);
        reply_to_list_requests(&mut connection);
        connection.wait_for_close();
    });
    let output = PlyHome::new().run(&server.url, &["list"], "");
    let option = format!("Add --server {} to each command.", server.url);
    output.assert_output(0, &["x a�[2J�a, o ⚙ easy bot", "ply watch K7QM2P", &option]);
    assert!(!output.stdout.contains('\u{1b}'), "{output:#?}");
    server.join_script();
}

#[test]
fn followed_list_prints_changed_matches() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept(listener);
        let watch = connection.expect_request("watch_list");
        connection.reply(&watch, json!({"type": "ok"}));
        reply_to_list_requests(&mut connection);
        let snapshot = match_snapshot(&Value::Null, &["b2"]);
        let row = |code: &str, status: &str| {
            json!({"match": MATCH_ID, "code": code, "game": "tic-tac-toe", "status": status,
                "seats": snapshot["seats"], "ply": 1, "spectators": 2,
                "clock": {"kind": "move", "move_ms": 30_000}})
        };
        connection.send(&json!({"type": "list_changed", "gone": [], "total": 2,
            "changed": [row("AAAAAA", "open"), row("BBBBBB", "ended")]}));
        connection.send(
            &json!({"type": "list_changed", "gone": [], "total": 2, "changed": [],
            "reset": true}),
        );
        reply_to_list_requests(&mut connection);
        connection.close(1001, "bye");
    });
    let output = PlyHome::new().run(&server.url, &["list", "--follow"], "");
    let rows = [
        "AAAAAA  tic-tac-toe 30s  x ada, o ⚙ easy bot  ply join AAAAAA\n",
        "BBBBBB  tic-tac-toe 30s  x ada, o ⚙ easy bot  is over\n",
    ];
    output.assert_output(3, &rows);
    assert_eq!(
        output.stdout.matches("ply watch K7QM2P").count(),
        2,
        "{output:#?}"
    );
    server.join_script();
}

#[test]
fn json_list_contains_server_messages() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept(listener);
        reply_to_list_requests(&mut connection);
        connection.wait_for_close();
    });
    let output = PlyHome::new().run(&server.url, &["list", "--json"], "");
    output.assert_output(0, &[]);
    let messages: Vec<Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        messages[1]["matches"][0]["seats"][0]["name"],
        "a\u{1b}[2J\u{202e}a"
    );
    server.join_script();
}
