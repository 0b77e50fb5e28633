//! Tests of the match history, the list of current matches, and match records.

use crate::real_server::{PlyProcess, RealServer};
use crate::scripted_server::PlyHome;

#[test]
fn ended_match_is_listed_and_shown() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let run = |arguments: &[&str], input: &str| home.run(&server.url, arguments, input);
    run(&["history"], "").assert_output(4, &["no player is saved on this machine"]);
    let play = ["play", "tic-tac-toe", "--bot", "beginner", "--as", "first"];
    run(&play, "b2\nquit\n");
    run(&["games"], "").assert_output(0, &["tic-tac-toe", "your turn  ply join "]);
    run(&["games", "--name", "nobody"], "").assert_output(4, &["no player named nobody is saved"]);
    run(&["history"], "").assert_output(0, &["No matches found."]);
    run(&["play", "tic-tac-toe"], "resign\n");

    let listed = run(&["history", "--result", "lost", "--with", "bot"], "");
    listed.assert_output(0, &["tic-tac-toe  lost against", "beginner bot, 2 moves"]);
    let id = listed
        .stdout
        .split_whitespace()
        .last()
        .expect("a match ID")
        .to_owned();
    run(&["history", "--result", "won"], "").assert_output(0, &["No matches found."]);
    run(&["games"], "").assert_output(0, &["You have no current matches"]);
    let profile = run(&["profile"], "");
    profile.assert_output(0, &["guest, since 20", "0 won, 1 lost, 0 drawn", &id]);
    run(&["profile", "nobody"], "").assert_output(4, &["no account with this name"]);
    let file = format!("/record/{id}.txt");
    run(&["show", &id], "").assert_output(0, &["1. b2 ", "resign", &file]);
    let first_ply = run(&["show", &id, "--ply", "1"], "");
    first_ply.assert_output(0, &["1. b2\n"]);
    assert!(!first_ply.stdout.contains("resign"), "{}", first_ply.stdout);
    run(&["show", &id, "--ply", "3"], "").assert_output(4, &["has 2 moves"]);
}

#[test]
fn match_with_stand_in_bot_is_listed_and_rejoined() {
    let server = RealServer::start();
    let (ann, bob) = (PlyHome::new(), PlyHome::new());
    let mut first = PlyProcess::spawn(&ann, &server, &["play", "--open", "--stand-in", "easy"]);
    let join = first.wait_for_line("    ply join ");
    let code = join
        .split_whitespace()
        .nth(2)
        .expect("a match code")
        .to_owned();
    let mut second = PlyProcess::spawn(&bob, &server, &["join", &code]);
    first.type_lines("b2\n");
    second.wait_for_line("Your turn.");
    let games = bob.run(&server.url, &["games"], "");
    games.assert_output(4, &["another `ply` on this machine is using this player"]);
    second.type_lines("leave\n");
    let rejoin_command = format!("ply join {code}");
    assert_eq!(second.wait_for_exit(&rejoin_command), Some(1));
    let games = bob.run(&server.url, &["games"], "");
    games.assert_output(0, &[&format!("a bot is playing for you  ply join {code}")]);
    let list = bob.run(&server.url, &["list"], "");
    list.assert_output(0, &["⚙ easy bot for guest-"]);
    let mut rejoined = PlyProcess::spawn(&bob, &server, &["join", &code]);
    rejoined.wait_for_line("(you)");
    first.wait_for_line("is back in the seat.");
}

/// In this initial position Black is to move, and the bot plays Black.
#[test]
fn match_from_position_is_played_and_shown() {
    let (server, home) = (RealServer::start(), PlyHome::new());
    let run = |arguments: &[&str], input: &str| home.run(&server.url, arguments, input);
    let initial_position = "4k3/4p3/8/8/8/8/4P3/4K3 b - - 0 20";
    let play = [
        "play",
        "chess",
        "--bot",
        "beginner",
        "--as",
        "first",
        "--position",
    ];
    let match_output = run(&[&play[..], &[initial_position]].concat(), "resign\n");
    match_output.assert_output(0, &["It starts from a custom position.", "▸ ♚ black"]);
    let listed = run(&["history"], "");
    listed.assert_output(0, &["chess from a position  lost against"]);
    let id = listed
        .stdout
        .split_whitespace()
        .last()
        .expect("a match ID")
        .to_owned();
    let initial_line = format!("Starting position: {initial_position}");
    run(&["show", &id], "").assert_output(0, &[&initial_line, "1. … "]);
    run(&["show", &id, "--ply", "0"], "").assert_output(0, &[&initial_line, "♚"]);
    let bots = ["watch", "tic-tac-toe", "--bots", "max,max", "--pace", "0"];
    let watched = run(
        &[&bots[..], &["--json", "--position", "x.o/.../x.."]].concat(),
        "",
    );
    watched.assert_output(0, &[r#""start":"x.o/.../x..""#]);
    let ended_position = run(
        &[&play[..], &["7k/5KQ1/8/8/8/8/8/8 b - - 0 1"]].concat(),
        "",
    );
    ended_position.assert_output(4, &["the game is over"]);
}
