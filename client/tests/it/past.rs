//! What was played, and where it is one's turn.

use crate::fake::Home;
use crate::real::{Real, Somebody};

#[test]
fn a_match_is_found_and_shown_when_it_is_over() {
    let (server, home) = (Real::start(), Home::new());
    let run = |arguments: &[&str], input: &str| home.run(&server.url, arguments, input);
    run(&["history"], "").expect(4, &["nobody is known here"]);
    let play = ["play", "tic-tac-toe", "--bot", "beginner", "--as", "first"];
    run(&play, "b2\nquit\n");
    run(&["games"], "").expect(0, &["tic-tac-toe", "your turn  ply join "]);
    run(&["games", "--name", "nobody"], "").expect(4, &["nobody is known here"]);
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

/// What a bot plays on for somebody is found again, with the way back.
#[test]
fn a_match_that_a_bot_keeps_is_found_again() {
    let server = Real::start();
    let (ann, bob) = (Home::new(), Home::new());
    let mut first = Somebody::start(&ann, &server, &["play", "--open", "--stand-in", "easy"]);
    let join = first.sees("    ply join ");
    let code = join.split_whitespace().nth(2).expect("a code").to_owned();
    let mut second = Somebody::start(&bob, &server, &["join", &code]);
    first.types("b2\n");
    second.sees("Your turn.");
    let busy = bob.run(&server.url, &["games"], "");
    busy.expect(4, &["you are at play in another `ply` here"]);
    second.types("leave\n");
    let left = format!("ply join {code}");
    assert_eq!(second.ends(&left), Some(1));
    let games = bob.run(&server.url, &["games"], "");
    games.expect(0, &[&format!("a bot plays on for you  ply join {code}")]);
    let list = bob.run(&server.url, &["list"], "");
    list.expect(0, &["⚙ easy bot for guest-"]);
    let mut back = Somebody::start(&bob, &server, &["join", &code]);
    back.sees("(you)");
    first.sees("is back in the seat.");
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
