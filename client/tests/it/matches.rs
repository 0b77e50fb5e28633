//! Whole matches against a scripted server.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::fake::{Fake, Home, MATCH, Peer, Ran, ended, moved, snapshot};

fn win() -> Value {
    json!({"winner": 0, "reason": "rules", "line": ["a1", "b2", "c3"]})
}

/// Takes the last move of a match that `ply` wins.
fn play_the_last_move(peer: &mut Peer) {
    let m = peer.expect("move");
    assert_eq!((&m["move"], &m["ply"]), (&json!("c3"), &json!(4)));
    let moves = ["a1", "a2", "b2", "a3", "c3"];
    peer.send(&moved(&moves, true));
    peer.send(&ended(&moves, &win()));
    peer.answer(&m, json!({"type": "ok", "seq": 8}));
}

const FOUR: [&str; 4] = ["a1", "a2", "b2", "a3"];

#[test]
fn a_match_against_a_bot_is_played_to_its_end() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::welcome(listener, false, &json!([]));
        let create = peer.expect("create");
        assert_eq!(create["seats"], json!(["me", {"bot": "easy"}]));
        assert_eq!(create["game"], "tic-tac-toe");
        peer.answer(&create, snapshot(&json!(0), &FOUR));
        let wrong = peer.expect("move");
        assert_eq!(wrong["move"], "b2");
        peer.answer(
            &wrong,
            json!({"type": "error", "code": "illegal_move", "message": "b2 is already taken",
                "retryable": false}),
        );
        let busy = peer.expect("move");
        peer.answer(
            &busy,
            json!({"type": "error", "code": "rate_limited", "message": "slow down",
                "retryable": true, "retry_after_ms": 1}),
        );
        play_the_last_move(&mut peer);
        peer.closed();
    });
    let home = Home::new();
    let ran = home.run(&fake.url, &["play", "--bot", "easy"], "5\n9\n");
    ran.expect(
        0,
        &["You win! The line is a1 b2 c3.", "*x*", "You play c3."],
    );
    assert_eq!(ran.err, "ply: b2 is already taken\n");
    assert!(!ran.out.contains('\u{1b}'), "{ran:#?}");
    fake.finish();

    let mut files = home
        .state()
        .read_dir()
        .unwrap()
        .map(|file| file.unwrap().path());
    assert!(files.all(|file| file.metadata().unwrap().permissions().mode() & 0o777 == 0o600));
    assert_eq!(
        home.state().metadata().unwrap().permissions().mode() & 0o777,
        0o700
    );
}

#[test]
fn sides_and_opponents_are_asked_for_as_told() {
    fn check(arguments: &[&str], expect: Value) {
        let fake = Fake::start(move |listener| {
            let mut peer = Peer::welcome(listener, false, &json!([]));
            let mut request: Value = serde_json::from_str(&peer.text()).unwrap();
            let no = json!({"type": "error", "code": "overloaded", "message": "no",
                "retryable": false});
            peer.answer(&request, no);
            request.as_object_mut().unwrap().remove("id");
            assert_eq!(request, expect);
            peer.closed();
        });
        Home::new()
            .run(&fake.url, arguments, "")
            .expect(4, &["ply: no"]);
        fake.finish();
    }
    let game = "tic-tac-toe";
    check(
        &["play", "--bot", "max", "--as", "second"],
        json!({"type": "create", "game": game, "seats": [{"bot": "max"}, "me"]}),
    );
    check(
        &["play", "chess", "--open", "--as", "random"],
        json!({"type": "create", "game": "chess", "seats": ["me", "open"], "shuffle": true}),
    );
    check(
        &["play"],
        json!({"type": "create", "game": game, "seats": ["me", {"bot": "medium"}]}),
    );
    check(&["play", "--seek"], json!({"type": "seek", "game": game}));
    check(
        &["play", "--seek", "--bot", "easy"],
        json!({"type": "seek", "game": game, "bot": "easy"}),
    );
    check(
        &["watch", "--bots", "max,easy"],
        json!({"type": "create", "game": game, "seats": [{"bot": "max"}, {"bot": "easy"}],
            "pace_ms": 700}),
    );
    check(
        &["watch", "K7QM2P"],
        json!({"type": "watch", "match": "K7QM2P"}),
    );
    check(
        &["join", "K7QM2P"],
        json!({"type": "join", "match": "K7QM2P"}),
    );
}

#[test]
fn an_invitation_names_the_command_for_the_friend() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::welcome(listener, false, &json!([]));
        let create = peer.expect("create");
        let mut open = snapshot(&json!(0), &[]);
        open["status"] = json!("open");
        open["seq"] = json!(1);
        open["turn"] = Value::Null;
        open["seats"][1] = json!({"side": "o", "occupant": "open"});
        peer.answer(&create, open);
        let bo = "5f0c0000-0000-4000-8000-000000000002";
        peer.send(
            &json!({"type": "seated", "match": MATCH, "seq": 2, "seat": 1,
            "occupant": "player", "player": bo, "name": "bo\u{1b}[31m", "connected": true}),
        );
        peer.send(
            &json!({"type": "started", "match": MATCH, "seq": 3, "position": ".../.../...",
            "ply": 0, "turn": 0, "legal": ["a1"]}),
        );
        peer.send(
            &json!({"type": "presence", "match": MATCH, "seats": [true, false],
            "spectators": 0}),
        );
        peer.send(&json!({"type": "a later version's", "match": MATCH}));
        let outcome = json!({"winner": 0, "reason": "abandonment"});
        peer.send(&json!({"type": "ended", "match": MATCH, "seq": 4, "outcome": outcome}));
        peer.closed();
    });
    let home = Home::new();
    let ran = home.run_unasked(&fake.url, &["play", "--open"]);
    let command = format!("\n    ply join K7QM2P --server {}\n", fake.url);
    ran.expect(
        0,
        &[
            &command,
            "bo�[31m sits down as o.",
            "The match begins.",
            "bo�[31m (o) has lost the connection and has 60 s to come back.",
            "You win! bo�[31m (o) did not come back.",
        ],
    );
    fake.finish();
}

#[test]
fn a_dropped_connection_is_made_again_and_the_move_sent_again() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::welcome(listener, false, &json!([]));
        let create = peer.expect("create");
        peer.answer(&create, snapshot(&json!(0), &FOUR));
        peer.expect("move");
        drop(peer);

        let mut peer = Peer::welcome(listener, true, &json!([{"match": MATCH, "you": 0}]));
        peer.send(&snapshot(&json!(0), &FOUR));
        peer.expect("move");
        peer.close(1001, "the server is going away; connect again");

        let mut peer = Peer::welcome(listener, true, &json!([{"match": MATCH, "you": 0}]));
        peer.send(&snapshot(&json!(0), &FOUR));
        play_the_last_move(&mut peer);
        peer.closed();
    });
    let ran = Home::new().run(&fake.url, &["play", "--bot", "easy"], "c3\n");
    ran.expect(
        0,
        &[
            "Connection lost; trying again",
            "Connection lost: the server is going away; trying again",
            "Connected again.",
            "You win!",
        ],
    );
    fake.finish();
}

#[test]
fn what_was_watched_is_watched_again() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::welcome(listener, false, &json!([]));
        let watch = peer.expect("watch");
        peer.answer(&watch, snapshot(&Value::Null, &FOUR));
        drop(peer);

        let mut peer = Peer::welcome(listener, true, &json!([]));
        let watch = peer.expect("watch");
        let mut over = snapshot(&Value::Null, &["a1", "a2", "b2", "a3", "c3"]);
        over["status"] = json!("ended");
        over["turn"] = Value::Null;
        over["outcome"] = win();
        peer.answer(&watch, over);
        peer.closed();
    });
    let home = Home::new();
    let ran = home.run(&fake.url, &["watch", "K7QM2P"], "");
    ran.expect(0, &["Connected again.", "ada (x) wins."]);
    assert!(!home.state().exists());
    fake.finish();
}

#[test]
fn a_replaced_connection_is_not_made_again() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::welcome(listener, false, &json!([]));
        let join = peer.expect("join");
        peer.answer(&join, snapshot(&json!(1), &FOUR));
        peer.close(4001, "replaced by a newer connection of the same player");
    });
    let home = Home::new();
    let ran = home.run_unasked(&fake.url, &["join", "K7QM2P"]);
    ran.expect(4, &["replaced by a newer connection"]);
    fake.finish();
}

#[test]
fn a_killed_player_finds_the_seat_again() {
    let fake = Fake::start(|listener| {
        let mut first = Peer::welcome(listener, false, &json!([]));
        let create = first.expect("create");
        first.answer(&create, snapshot(&json!(0), &FOUR));
        // A second process while the first one lives is somebody else.
        let mut second = Peer::welcome(listener, false, &json!([]));
        let join = second.expect("join");
        let taken = json!({"type": "error", "code": "seat_taken", "message": "no seat is open",
            "retryable": false});
        second.answer(&join, taken);
        second.closed();
        first.closed();

        let mut again = Peer::welcome(listener, true, &json!([{"match": MATCH, "you": 0}]));
        again.send(&snapshot(&json!(0), &FOUR));
        play_the_last_move(&mut again);
        again.closed();
    });
    let home = Home::new();
    let mut first = home.start(&fake.url, &["play", "--bot", "easy"]);
    sees_its_turn(&mut first);
    let second = home.run(&fake.url, &["join", "k7qm2p"], "");
    second.expect(4, &["no seat is open", "ply watch k7qm2p"]);
    first.kill().unwrap();
    first.wait().unwrap();
    home.run(&fake.url, &["play"], "c3\n")
        .expect(0, &["You win!"]);
    fake.finish();
}

fn sees_its_turn(child: &mut std::process::Child) {
    let mut seen = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("Your turn") {
        assert_ne!(
            std::io::BufRead::read_line(&mut seen, &mut line).expect("text"),
            0
        );
    }
}

/// The first of two killed players has lost the match meanwhile: the note of it is not believed,
/// and the other player's match is found.
#[test]
fn a_stale_note_is_not_believed() {
    let fake = Fake::start(|listener| {
        let sit = || {
            let mut peer = Peer::welcome(listener, false, &json!([]));
            let create = peer.expect("create");
            peer.answer(&create, snapshot(&json!(0), &FOUR));
            peer
        };
        let (first, second) = (sit(), sit());
        first.closed();
        second.closed();

        let mut again = Peer::accept(listener);
        Peer::welcome(listener, true, &json!([])).closed();
        let following = json!([{"match": MATCH, "you": 0}]);
        let mut scout = Peer::welcome(listener, true, &following);
        scout.send(&snapshot(&json!(0), &FOUR));
        scout.closed();
        let hello = again.expect("hello");
        again.answer(&hello, crate::fake::welcome(true, &following));
        again.send(&snapshot(&json!(0), &FOUR));
        play_the_last_move(&mut again);
        again.closed();
    });
    let home = Home::new();
    let killed = [(); 2].map(|()| {
        let mut child = home.start(&fake.url, &["play", "--bot", "easy"]);
        sees_its_turn(&mut child);
        child
    });
    for mut child in killed {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    home.run(&fake.url, &["play", "--bot", "easy"], "c3\n")
        .expect(0, &["Back at the match", "You win!"]);
    fake.finish();
}

#[test]
fn joining_where_one_sits_goes_on() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::welcome(listener, false, &json!([]));
        let join = peer.expect("join");
        let seated = json!({"type": "error", "code": "already_seated", "message": "you sit here",
            "retryable": false});
        peer.answer(&join, seated);
        let watch = peer.expect("watch");
        peer.answer(&watch, snapshot(&json!(0), &FOUR));
        play_the_last_move(&mut peer);
        peer.closed();
    });
    Home::new()
        .run(&fake.url, &["join", "K7QM2P"], "c3\n")
        .expect(0, &["You win!"]);
    fake.finish();
}

#[test]
fn a_script_without_moves_stops_when_it_has_to_move() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::welcome(listener, false, &json!([]));
        let create = peer.expect("create");
        peer.answer(&create, snapshot(&json!(0), &FOUR));
        peer.closed();
    });
    let ran = Home::new().run(&fake.url, &["play", "--bot", "easy"], "");
    ran.expect(
        1,
        &["the input has ended and it is your turn", "ply join K7QM2P"],
    );
    fake.finish();
}

/// Answers a `create` with a match in which the other seat is open.
fn waits_for_somebody(peer: &mut Peer) {
    let create = peer.expect("create");
    let mut open = snapshot(&json!(0), &[]);
    open["status"] = json!("open");
    open["turn"] = Value::Null;
    open["seats"][1] = json!({"side": "o", "occupant": "open"});
    peer.answer(&create, open);
}

/// Nobody would ever make a move in it.
#[test]
fn a_script_without_moves_does_not_wait_for_somebody_to_sit_down() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::welcome(listener, false, &json!([]));
        waits_for_somebody(&mut peer);
        let leave = peer.expect("leave");
        peer.answer(&leave, json!({"type": "ok"}));
        peer.closed();
    });
    let ran = Home::new().run(&fake.url, &["play", "--open"], "");
    ran.expect(
        1,
        &["the input has ended and nobody has sat down", "You leave"],
    );
    fake.finish();
    let fake = Fake::start(|listener| {
        let mut peer = Peer::welcome(listener, false, &json!([]));
        let seek = peer.expect("seek");
        peer.answer(&seek, json!({"type": "ok"}));
        peer.closed();
    });
    let ran = Home::new().run(&fake.url, &["play", "--seek"], "");
    ran.expect(1, &["the input has ended and nobody has come"]);
    fake.finish();
}

/// What a script has to say before its match begins is kept for then.
#[test]
fn a_script_with_moves_waits_for_somebody_to_sit_down() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::welcome(listener, false, &json!([]));
        waits_for_somebody(&mut peer);
        peer.send(
            &json!({"type": "started", "match": MATCH, "seq": 4, "position": ".../.../...",
            "ply": 0, "turn": 0, "legal": ["c3"]}),
        );
        assert_eq!(peer.expect("move")["move"], "c3");
        peer.close(4001, "enough");
    });
    let ran = Home::new().run(&fake.url, &["play", "--open"], "c3\n");
    ran.expect(4, &["The match begins."]);
    fake.finish();
}

#[test]
fn a_terminal_without_other_letters_gets_ascii_alone() {
    for (locale, arguments) in [
        ("C", &["join", "K7QM2P"][..]),
        ("C.UTF-8", &["--ascii", "join", "K7QM2P"]),
    ] {
        let fake = Fake::start(|listener| {
            let mut peer = Peer::welcome(listener, false, &json!([]));
            let join = peer.expect("join");
            let mut now = snapshot(&json!(0), &FOUR);
            now["seats"][0]["name"] = json!("zo\u{eb}");
            peer.answer(&join, now);
            peer.closed();
        });
        let home = Home::new();
        let mut ply = home.ply(&fake.url, arguments);
        let ran = Ran::of(
            ply.env("LC_ALL", locale)
                .stdin(Stdio::null())
                .output()
                .unwrap(),
        );
        ran.expect(1, &["> x  zo?", "o  % easy bot"]);
        assert!(ran.out.is_ascii() && ran.err.is_ascii(), "{ran:#?}");
        fake.finish();
    }
}

#[test]
fn a_gap_is_filled() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::welcome(listener, false, &json!([]));
        let watch = peer.expect("watch");
        peer.answer(&watch, snapshot(&Value::Null, &["a1", "a2"]));
        peer.send(&moved(&FOUR, false));
        let resync = peer.expect("resync");
        assert_eq!(resync["since"], 5);
        let moves = ["a1", "a2", "b2", "a3", "c3"];
        let missed = [
            moved(&moves[..3], false),
            moved(&FOUR, false),
            moved(&moves, true),
            ended(&moves, &win()),
        ];
        peer.answer(
            &resync,
            json!({"type": "events", "match": MATCH, "events": missed}),
        );
        peer.closed();
    });
    let ran = Home::new().run(&fake.url, &["watch", "K7QM2P"], "");
    ran.expect(
        0,
        &[
            "ada (x) plays b2.",
            "⚙ easy bot (o) plays a3.",
            "ada (x) wins.",
        ],
    );
    fake.finish();
}

#[test]
fn json_is_what_the_server_said() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::welcome(listener, false, &json!([]));
        let create = peer.expect("create");
        peer.answer(&create, snapshot(&json!(0), &FOUR));
        play_the_last_move(&mut peer);
        peer.closed();
    });
    let ran = Home::new().run(&fake.url, &["--json", "play", "--bot", "easy"], "c3\n");
    ran.expect(0, &[]);
    let kinds: Vec<String> = ran
        .out
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["type"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(kinds[..4], ["welcome", "match", "moved", "ended"]);
    fake.finish();
}

#[test]
fn an_unknown_level_is_told_with_those_that_there_are() {
    let fake = Fake::start(|listener| {
        let mut peer = Peer::welcome(listener, false, &json!([]));
        let create = peer.expect("create");
        let no = json!({"type": "error", "code": "unknown_level", "message": "no level `x`",
            "retryable": false});
        peer.answer(&create, no);
        peer.closed();
    });
    let ran = Home::new().run(&fake.url, &["play", "--bot", "x"], "");
    ran.expect(4, &["no level `x`\nlevels: easy, medium, max"]);
    fake.finish();
}
