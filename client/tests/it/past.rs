//! What was played, and where it is one's turn.

use crate::fake::Home;
use crate::real::Real;

#[test]
fn a_match_is_found_and_shown_when_it_is_over() {
    let (server, home) = (Real::start(), Home::new());
    let run = |arguments: &[&str], input: &str| home.run(&server.url, arguments, input);
    run(&["history"], "").expect(4, &["nobody is known here"]);
    let play = ["play", "tic-tac-toe", "--bot", "beginner", "--as", "first"];
    run(&play, "b2\nquit\n");
    run(&["games"], "").expect(0, &["tic-tac-toe", "your turn"]);
    run(&["history"], "").expect(0, &["No match has ended yet."]);
    run(&["play", "tic-tac-toe"], "resign\n");

    let listed = run(&["history", "--result", "lost", "--with", "bot"], "");
    listed.expect(0, &["tic-tac-toe  lost against", "beginner bot, 2 moves"]);
    let id = listed
        .out
        .split_whitespace()
        .last()
        .expect("an id")
        .to_owned();
    run(&["history", "--result", "won"], "").expect(0, &["No match has ended yet."]);
    run(&["games"], "").expect(0, &["You play no match"]);
    let profile = run(&["profile"], "");
    profile.expect(0, &["a guest, since 20", "0 won, 1 lost, 0 drawn", &id]);
    run(&["profile", "nobody"], "").expect(4, &["nobody has this name"]);
    let file = format!("/record/{id}.txt");
    run(&["show", &id], "").expect(0, &["1. b2 ", "resign", &file]);
    let before = run(&["show", &id, "--ply", "1"], "");
    before.expect(0, &["1. b2\n"]);
    assert!(!before.out.contains("resign"), "{}", before.out);
    run(&["show", &id, "--ply", "3"], "").expect(4, &["has 2 moves"]);
}

/// Black is to move first, whom a bot plays.
#[test]
fn a_match_from_a_position_is_played_and_shown() {
    let (server, home) = (Real::start(), Home::new());
    let run = |arguments: &[&str], input: &str| home.run(&server.url, arguments, input);
    let start = "4k3/4p3/8/8/8/8/4P3/4K3 b - - 0 20";
    let play = [
        "play",
        "chess",
        "--bot",
        "beginner",
        "--as",
        "first",
        "--position",
    ];
    let played = run(&[&play[..], &[start]].concat(), "resign\n");
    played.expect(0, &["a position of its own", "▸ ♚ black"]);
    let listed = run(&["history"], "");
    listed.expect(0, &["chess from a position  lost against"]);
    let id = listed
        .out
        .split_whitespace()
        .last()
        .expect("an id")
        .to_owned();
    let began = format!("It began with {start}");
    run(&["show", &id], "").expect(0, &[&began, "1. … "]);
    run(&["show", &id, "--ply", "0"], "").expect(0, &[&began, "♚"]);
    let bots = ["watch", "tic-tac-toe", "--bots", "max,max", "--pace", "0"];
    let watched = run(
        &[&bots[..], &["--json", "--position", "x.o/.../x.."]].concat(),
        "",
    );
    watched.expect(0, &[r#""start":"x.o/.../x..""#]);
    let over = run(
        &[&play[..], &["7k/5KQ1/8/8/8/8/8/8 b - - 0 1"]].concat(),
        "",
    );
    over.expect(4, &["the game is over"]);
}
