//! Complete matches against a scripted server.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::scripted_server::{
    ClientConnection, CommandOutput, MATCH_ID, PlyHome, ScriptedServer, ended_event,
    match_snapshot, moved_event,
};

fn winning_outcome() -> Value {
    json!({"winner": 0, "reason": "rules", "line": ["a1", "b2", "c3"]})
}

/// Receives the winning move from `ply`, and replies with the events that end the match.
fn play_winning_move(connection: &mut ClientConnection) {
    let m = connection.expect_request("move");
    assert_eq!((&m["move"], &m["ply"]), (&json!("c3"), &json!(4)));
    let moves = ["a1", "a2", "b2", "a3", "c3"];
    connection.send(&moved_event(&moves, true));
    connection.send(&ended_event(&moves, &winning_outcome()));
    connection.reply(&m, json!({"type": "ok", "seq": 8}));
}

const FIRST_FOUR_MOVES: [&str; 4] = ["a1", "a2", "b2", "a3"];

#[test]
fn bot_match_is_played_to_its_end() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        let create = connection.expect_request("create");
        assert_eq!(create["seats"], json!(["me", {"bot": "easy"}]));
        assert_eq!(create["game"], "tic-tac-toe");
        connection.reply(&create, match_snapshot(&json!(0), &FIRST_FOUR_MOVES));
        let illegal_move = connection.expect_request("move");
        assert_eq!(illegal_move["move"], "b2");
        connection.reply(
            &illegal_move,
            json!({"type": "error", "code": "illegal_move", "message": "b2 is already taken",
                "retryable": false}),
        );
        let limited_move = connection.expect_request("move");
        connection.reply(
            &limited_move,
            json!({"type": "error", "code": "rate_limited", "message": "slow down",
                "retryable": true, "retry_after_ms": 1}),
        );
        play_winning_move(&mut connection);
        connection.wait_for_close();
    });
    let home = PlyHome::new();
    let output = home.run(&server.url, &["play", "--bot", "easy"], "5\n9\n");
    output.assert_output(
        0,
        &["You win! Winning line: a1 b2 c3.", "*x*", "You play c3."],
    );
    assert_eq!(output.stderr, "ply: b2 is already taken\n");
    assert!(!output.stdout.contains('\u{1b}'), "{output:#?}");
    server.join_script();

    let mut files = home
        .state_dir()
        .read_dir()
        .unwrap()
        .map(|file| file.unwrap().path());
    assert!(files.all(|file| file.metadata().unwrap().permissions().mode() & 0o777 == 0o600));
    assert_eq!(
        home.state_dir().metadata().unwrap().permissions().mode() & 0o777,
        0o700
    );
}

#[test]
fn arguments_set_sides_and_opponents_of_request() {
    fn assert_request(arguments: &[&str], expect: Value) {
        let server = ScriptedServer::start(move |listener| {
            let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
            let mut request: Value = serde_json::from_str(&connection.read_text()).unwrap();
            let error = json!({"type": "error", "code": "overloaded", "message": "no",
                "retryable": false});
            connection.reply(&request, error);
            request.as_object_mut().unwrap().remove("id");
            assert_eq!(request, expect);
            connection.wait_for_close();
        });
        PlyHome::new()
            .run(&server.url, arguments, "")
            .assert_output(4, &["ply: no"]);
        server.join_script();
    }
    let game = "tic-tac-toe";
    assert_request(
        &["play", "--bot", "max", "--as", "second"],
        json!({"type": "create", "game": game, "seats": [{"bot": "max"}, "me"]}),
    );
    assert_request(
        &["play", "chess", "--open", "--as", "random"],
        json!({"type": "create", "game": "chess", "seats": ["me", "open"], "shuffle": true}),
    );
    assert_request(
        &["play"],
        json!({"type": "create", "game": game, "seats": ["me", {"bot": "medium"}]}),
    );
    assert_request(&["play", "--seek"], json!({"type": "seek", "game": game}));
    assert_request(
        &["play", "--seek", "--bot", "easy"],
        json!({"type": "seek", "game": game, "bot": "easy"}),
    );
    assert_request(
        &["watch", "--bots", "max,easy"],
        json!({"type": "create", "game": game, "seats": [{"bot": "max"}, {"bot": "easy"}],
            "pace_ms": 700}),
    );
    assert_request(
        &["watch", "K7QM2P"],
        json!({"type": "watch", "match": "K7QM2P"}),
    );
    assert_request(
        &["join", "K7QM2P"],
        json!({"type": "join", "match": "K7QM2P"}),
    );
}

#[test]
fn open_match_shows_join_command_for_opponent() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        let create = connection.expect_request("create");
        let mut open = match_snapshot(&json!(0), &[]);
        open["status"] = json!("open");
        open["seq"] = json!(1);
        open["turn"] = Value::Null;
        open["seats"][1] = json!({"side": "o", "occupant": "open"});
        connection.reply(&create, open);
        let bo = "5f0c0000-0000-4000-8000-000000000002";
        connection.send(
            &json!({"type": "seated", "match": MATCH_ID, "seq": 2, "seat": 1,
            "occupant": "player", "player": bo, "name": "bo\u{1b}[31m", "connected": true}),
        );
        connection.send(
            &json!({"type": "started", "match": MATCH_ID, "seq": 3, "position": ".../.../...",
            "ply": 0, "turn": 0, "legal": ["a1"]}),
        );
        connection.send(
            &json!({"type": "presence", "match": MATCH_ID, "seats": [true, false],
            "spectators": 0}),
        );
        connection.send(&json!({"type": "a later version's", "match": MATCH_ID}));
        let outcome = json!({"winner": 0, "reason": "abandonment"});
        connection.send(&json!({"type": "ended", "match": MATCH_ID, "seq": 4, "outcome": outcome}));
        connection.wait_for_close();
    });
    let home = PlyHome::new();
    let output = home.run_with_open_stdin(&server.url, &["play", "--open"]);
    let command = format!("\n    ply join K7QM2P --server {}\n", server.url);
    output.assert_output(
        0,
        &[
            &command,
            "bo�[31m joined as o.",
            "The match begins.",
            "bo�[31m (o) disconnected and has 60 s to reconnect.",
            "You win! bo�[31m (o) left the match.",
        ],
    );
    server.join_script();
}

#[test]
fn lost_connection_is_restored_and_move_is_sent_again() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        let create = connection.expect_request("create");
        connection.reply(&create, match_snapshot(&json!(0), &FIRST_FOUR_MOVES));
        connection.expect_request("move");
        drop(connection);

        let mut connection = ClientConnection::accept_and_welcome(
            listener,
            true,
            &json!([{"match": MATCH_ID, "you": 0}]),
        );
        connection.send(&match_snapshot(&json!(0), &FIRST_FOUR_MOVES));
        connection.expect_request("move");
        connection.close(1001, "the server is shutting down; connect again");

        let mut connection = ClientConnection::accept_and_welcome(
            listener,
            true,
            &json!([{"match": MATCH_ID, "you": 0}]),
        );
        connection.send(&match_snapshot(&json!(0), &FIRST_FOUR_MOVES));
        play_winning_move(&mut connection);
        connection.wait_for_close();
    });
    let output = PlyHome::new().run(&server.url, &["play", "--bot", "easy"], "c3\n");
    output.assert_output(
        0,
        &[
            "Connection lost; reconnecting",
            "Connection lost: the server is shutting down; reconnecting",
            "Connected again.",
            "You win!",
        ],
    );
    server.join_script();
}

#[test]
fn spectator_watches_match_again_after_reconnect() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        let watch = connection.expect_request("watch");
        connection.reply(&watch, match_snapshot(&Value::Null, &FIRST_FOUR_MOVES));
        drop(connection);

        let mut connection = ClientConnection::accept_and_welcome(listener, true, &json!([]));
        let watch = connection.expect_request("watch");
        let mut ended_match = match_snapshot(&Value::Null, &["a1", "a2", "b2", "a3", "c3"]);
        ended_match["status"] = json!("ended");
        ended_match["turn"] = Value::Null;
        ended_match["outcome"] = winning_outcome();
        connection.reply(&watch, ended_match);
        connection.wait_for_close();
    });
    let home = PlyHome::new();
    let output = home.run(&server.url, &["watch", "K7QM2P"], "");
    output.assert_output(0, &["Connected again.", "ada (x) wins."]);
    assert!(!home.state_dir().exists());
    server.join_script();
}

#[test]
fn replaced_connection_does_not_reconnect() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        let join = connection.expect_request("join");
        connection.reply(&join, match_snapshot(&json!(1), &FIRST_FOUR_MOVES));
        connection.close(4001, "replaced by a newer connection of the same player");
    });
    let home = PlyHome::new();
    let output = home.run_with_open_stdin(&server.url, &["join", "K7QM2P"]);
    output.assert_output(4, &["replaced by a newer connection"]);
    server.join_script();
}

#[test]
fn restarted_ply_resumes_seat_of_killed_process() {
    let server = ScriptedServer::start(|listener| {
        let mut first = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        let create = first.expect_request("create");
        first.reply(&create, match_snapshot(&json!(0), &FIRST_FOUR_MOVES));
        // While the first process is running, a second process connects as a different player.
        let mut second = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        let join = second.expect_request("join");
        let seat_taken = json!({"type": "error", "code": "seat_taken", "message": "no seat is open",
            "retryable": false});
        second.reply(&join, seat_taken);
        second.wait_for_close();
        first.wait_for_close();

        let mut resumed = ClientConnection::accept_and_welcome(
            listener,
            true,
            &json!([{"match": MATCH_ID, "you": 0}]),
        );
        resumed.send(&match_snapshot(&json!(0), &FIRST_FOUR_MOVES));
        play_winning_move(&mut resumed);
        resumed.wait_for_close();
    });
    let home = PlyHome::new();
    let mut first = home.spawn(&server.url, &["play", "--bot", "easy"]);
    wait_for_turn(&mut first);
    let second = home.run(&server.url, &["join", "k7qm2p"], "");
    second.assert_output(4, &["no seat is open", "ply watch k7qm2p"]);
    first.kill().unwrap();
    first.wait().unwrap();
    home.run(&server.url, &["play"], "c3\n")
        .assert_output(0, &["You win!"]);
    server.join_script();
}

fn wait_for_turn(child: &mut std::process::Child) {
    let mut stdout = std::io::BufReader::new(child.stdout.take().expect("stdout is piped"));
    let mut line = String::new();
    while !line.contains("Your turn") {
        assert_ne!(
            std::io::BufRead::read_line(&mut stdout, &mut line).expect("UTF-8 output"),
            0
        );
    }
}

/// Two players were killed, and the first player's match has ended. The stored seat record is out
/// of date, so `ply` must search for the match and find it with the second player.
#[test]
fn stale_seat_record_falls_back_to_other_identity() {
    let server = ScriptedServer::start(|listener| {
        let accept_player = || {
            let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
            let create = connection.expect_request("create");
            connection.reply(&create, match_snapshot(&json!(0), &FIRST_FOUR_MOVES));
            connection
        };
        let (first, second) = (accept_player(), accept_player());
        first.wait_for_close();
        second.wait_for_close();

        let mut resumed = ClientConnection::accept(listener);
        ClientConnection::accept_and_welcome(listener, true, &json!([])).wait_for_close();
        let following = json!([{"match": MATCH_ID, "you": 0}]);
        let mut lookup = ClientConnection::accept_and_welcome(listener, true, &following);
        lookup.send(&match_snapshot(&json!(0), &FIRST_FOUR_MOVES));
        lookup.wait_for_close();
        let hello = resumed.expect_request("hello");
        resumed.reply(
            &hello,
            crate::scripted_server::welcome_message(true, &following),
        );
        resumed.send(&match_snapshot(&json!(0), &FIRST_FOUR_MOVES));
        play_winning_move(&mut resumed);
        resumed.wait_for_close();
    });
    let home = PlyHome::new();
    let killed = [(); 2].map(|()| {
        let mut child = home.spawn(&server.url, &["play", "--bot", "easy"]);
        wait_for_turn(&mut child);
        child
    });
    for mut child in killed {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    home.run(&server.url, &["play", "--bot", "easy"], "c3\n")
        .assert_output(0, &["Resuming your match.", "You win!"]);
    server.join_script();
}

#[test]
fn join_of_own_match_resumes_it() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        let join = connection.expect_request("join");
        let already_seated = json!({"type": "error", "code": "already_seated", "message": "you sit here",
            "retryable": false});
        connection.reply(&join, already_seated);
        let watch = connection.expect_request("watch");
        connection.reply(&watch, match_snapshot(&json!(0), &FIRST_FOUR_MOVES));
        play_winning_move(&mut connection);
        connection.wait_for_close();
    });
    PlyHome::new()
        .run(&server.url, &["join", "K7QM2P"], "c3\n")
        .assert_output(0, &["You win!"]);
    server.join_script();
}

#[test]
fn end_of_input_on_own_turn_exits_with_join_command() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        let create = connection.expect_request("create");
        connection.reply(&create, match_snapshot(&json!(0), &FIRST_FOUR_MOVES));
        connection.wait_for_close();
    });
    let output = PlyHome::new().run(&server.url, &["play", "--bot", "easy"], "");
    output.assert_output(1, &["the input ended on your turn", "ply join K7QM2P"]);
    server.join_script();
}

/// Replies to `create` with an open match, which still lacks an opponent.
fn reply_with_open_match(connection: &mut ClientConnection) {
    let create = connection.expect_request("create");
    let mut open = match_snapshot(&json!(0), &[]);
    open["status"] = json!("open");
    open["turn"] = Value::Null;
    open["seats"][1] = json!({"side": "o", "occupant": "open"});
    connection.reply(&create, open);
}

/// After the end of the input, the user can no longer make a move. `ply` must therefore leave the
/// open match or end the seek.
#[test]
fn end_of_input_without_opponent_leaves_open_match_or_seek() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        reply_with_open_match(&mut connection);
        let leave = connection.expect_request("leave");
        connection.reply(&leave, json!({"type": "ok"}));
        connection.wait_for_close();
    });
    let output = PlyHome::new().run(&server.url, &["play", "--open"], "");
    output.assert_output(
        1,
        &["the input ended before an opponent joined", "You left"],
    );
    server.join_script();
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        let seek = connection.expect_request("seek");
        connection.reply(&seek, json!({"type": "ok"}));
        connection.wait_for_close();
    });
    let output = PlyHome::new().run(&server.url, &["play", "--seek"], "");
    output.assert_output(1, &["the input ended before an opponent was found"]);
    server.join_script();
}

#[test]
fn buffered_moves_are_played_after_opponent_joins() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        reply_with_open_match(&mut connection);
        connection.send(
            &json!({"type": "started", "match": MATCH_ID, "seq": 4, "position": ".../.../...",
            "ply": 0, "turn": 0, "legal": ["c3"]}),
        );
        assert_eq!(connection.expect_request("move")["move"], "c3");
        connection.close(4001, "enough");
    });
    let output = PlyHome::new().run(&server.url, &["play", "--open"], "c3\n");
    output.assert_output(4, &["The match begins."]);
    server.join_script();
}

#[test]
fn ascii_locale_or_option_prints_only_ascii() {
    for (locale, arguments) in [
        ("C", &["join", "K7QM2P"][..]),
        ("C.UTF-8", &["--ascii", "join", "K7QM2P"]),
    ] {
        let server = ScriptedServer::start(|listener| {
            let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
            let join = connection.expect_request("join");
            let mut snapshot = match_snapshot(&json!(0), &FIRST_FOUR_MOVES);
            snapshot["seats"][0]["name"] = json!("zo\u{eb}");
            connection.reply(&join, snapshot);
            connection.wait_for_close();
        });
        let home = PlyHome::new();
        let mut ply = home.ply_command(&server.url, arguments);
        let output = CommandOutput::from_output(
            ply.env("LC_ALL", locale)
                .stdin(Stdio::null())
                .output()
                .unwrap(),
        );
        output.assert_output(1, &["> x  zo?", "o  % easy bot"]);
        assert!(
            output.stdout.is_ascii() && output.stderr.is_ascii(),
            "{output:#?}"
        );
        server.join_script();
    }
}

#[test]
fn missing_events_are_requested_and_applied() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        let watch = connection.expect_request("watch");
        connection.reply(&watch, match_snapshot(&Value::Null, &["a1", "a2"]));
        connection.send(&moved_event(&FIRST_FOUR_MOVES, false));
        let resync = connection.expect_request("resync");
        assert_eq!(resync["since"], 5);
        let moves = ["a1", "a2", "b2", "a3", "c3"];
        let missed_events = [
            moved_event(&moves[..3], false),
            moved_event(&FIRST_FOUR_MOVES, false),
            moved_event(&moves, true),
            ended_event(&moves, &winning_outcome()),
        ];
        connection.reply(
            &resync,
            json!({"type": "events", "match": MATCH_ID, "events": missed_events}),
        );
        connection.wait_for_close();
    });
    let output = PlyHome::new().run(&server.url, &["watch", "K7QM2P"], "");
    output.assert_output(
        0,
        &[
            "ada (x) plays b2.",
            "⚙ easy bot (o) plays a3.",
            "ada (x) wins.",
        ],
    );
    server.join_script();
}

#[test]
fn json_output_contains_server_messages() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        let create = connection.expect_request("create");
        connection.reply(&create, match_snapshot(&json!(0), &FIRST_FOUR_MOVES));
        play_winning_move(&mut connection);
        connection.wait_for_close();
    });
    let output = PlyHome::new().run(&server.url, &["--json", "play", "--bot", "easy"], "c3\n");
    output.assert_output(0, &[]);
    let kinds: Vec<String> = output
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["type"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(kinds[..4], ["welcome", "match", "moved", "ended"]);
    server.join_script();
}

#[test]
fn unknown_level_error_lists_available_levels() {
    let server = ScriptedServer::start(|listener| {
        let mut connection = ClientConnection::accept_and_welcome(listener, false, &json!([]));
        let create = connection.expect_request("create");
        let error = json!({"type": "error", "code": "unknown_level", "message": "no level `x`",
            "retryable": false});
        connection.reply(&create, error);
        connection.wait_for_close();
    });
    let output = PlyHome::new().run(&server.url, &["play", "--bot", "x"], "");
    output.assert_output(4, &["no level `x`\nlevels: easy, medium, max"]);
    server.join_script();
}
