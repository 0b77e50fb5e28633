//! `ply raw`, `ply list` and `--json`: for scripts.

use serde_json::{Value, json};

use crate::fake::{Fake, Home, MATCH, Peer, snapshot};

#[test]
fn raw_waits_for_the_answers_to_what_it_sent() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::accept(listener);
        let first = peer.expect("ping");
        assert_eq!(peer.text(), " not JSON");
        let last = peer.expect("ping");
        peer.send(
            &json!({"type": "error", "code": "malformed", "message": "no", "retryable": false}),
        );
        peer.answer(&last, json!({"type": "pong", "now_ms": 2}));
        peer.answer(
            &first,
            json!({"type": "pong", "now_ms": 1, "x": "\u{202e}"}),
        );
        peer.closed();
    });
    let input = "{\"type\":\"ping\",\"id\":1}\n not JSON\n{\"type\":\"ping\",\"id\":7}";
    let ran = Home::new().run(&fake.url, &["raw"], input);
    ran.expect(0, &[r#""re":7"#, r#""re":1"#, r#""malformed""#, r"\u202e"]);
    assert_eq!(ran.out.lines().count(), 3);
    fake.finish();
}

#[test]
fn raw_says_when_it_was_thrown_out() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::accept(listener);
        peer.text();
        peer.close(1008, "the protocol was broken too often");
    });
    let ran = Home::new().run(&fake.url, &["raw"], "x\n{\"type\":\"ping\",\"id\":1}\n");
    ran.expect(4, &["the protocol was broken too often (1008)"]);
    fake.finish();
}

fn answer_lists(peer: &mut Peer) {
    let now = snapshot(&Value::Null, &["b2"]);
    let open = peer.expect("list");
    assert_eq!(open["status"], "open");
    peer.answer(&open, json!({"type": "matches", "total": 0, "matches": []}));
    let running = peer.expect("list");
    assert_eq!(running["status"], "running");
    let mut page = json!({"type": "matches", "total": 1, "matches": [{"match": MATCH,
        "code": "K7QM2P", "game": "tic-tac-toe", "status": "running", "seats": now["seats"],
        "ply": 1, "spectators": 2}]});
    page["matches"][0]["seats"][0]["name"] = json!("a\u{1b}[2J\u{202e}a");
    peer.answer(&running, page);
}

#[test]
fn a_list_shows_who_plays_and_how_to_watch() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::accept(listener);
        answer_lists(&mut peer);
        peer.closed();
    });
    let ran = Home::new().run(&fake.url, &["list"], "");
    let option = format!("… each with --server {}", fake.url);
    ran.expect(0, &["x a�[2J�a, o ⚙ easy bot", "ply watch K7QM2P", &option]);
    assert!(!ran.out.contains('\u{1b}'), "{ran:#?}");
    fake.finish();
}

/// What changes is told without asking again.
#[test]
fn a_list_that_is_followed_tells_what_changes() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::accept(listener);
        let watch = peer.expect("watch_list");
        peer.answer(&watch, json!({"type": "ok"}));
        answer_lists(&mut peer);
        let now = snapshot(&Value::Null, &["b2"]);
        let row = |code: &str, status: &str| {
            json!({"match": MATCH, "code": code, "game": "tic-tac-toe", "status": status,
                "seats": now["seats"], "ply": 1, "spectators": 2,
                "clock": {"kind": "move", "move_ms": 30_000}})
        };
        peer.send(&json!({"type": "list_changed", "gone": [], "total": 2,
            "changed": [row("AAAAAA", "open"), row("BBBBBB", "ended")]}));
        peer.send(
            &json!({"type": "list_changed", "gone": [], "total": 2, "changed": [],
            "reset": true}),
        );
        answer_lists(&mut peer);
        peer.close(1001, "bye");
    });
    let ran = Home::new().run(&fake.url, &["list", "--follow"], "");
    let rows = [
        "AAAAAA  tic-tac-toe 30s  x ada, o ⚙ easy bot  ply join AAAAAA\n",
        "BBBBBB  tic-tac-toe 30s  x ada, o ⚙ easy bot  is over\n",
    ];
    ran.expect(3, &rows);
    assert_eq!(ran.out.matches("ply watch K7QM2P").count(), 2, "{ran:#?}");
    fake.finish();
}

#[test]
fn a_list_as_json_is_what_the_server_said() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::accept(listener);
        answer_lists(&mut peer);
        peer.closed();
    });
    let ran = Home::new().run(&fake.url, &["list", "--json"], "");
    ran.expect(0, &[]);
    let messages: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        messages[1]["matches"][0]["seats"][0]["name"],
        "a\u{1b}[2J\u{202e}a"
    );
    fake.finish();
}
