//! `plyhouse engine`, as interfaces and managers of tournaments use it, and against the field's own
//! programs.

mod program;

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use plyhouse_engine::catalog::{AnyPosition, find_game};
use plyhouse_engine::game::Outcome;

use self::program::{Program, installed};

/// How long any answer may take; far longer than one does.
const PATIENCE: Duration = Duration::from_secs(60);

/// Plies after which a game against another program has shown enough.
const PLIES_MAX: usize = 160;

fn chess() -> Program {
    Program::plyhouse(&["engine", "--game", "chess", "--table", "8"])
}

/// What it tells while it thinks reads as UCI has it, and what it plays can be played.
#[test]
fn chess_is_thought_about_in_uci() {
    let mut engine = chess();
    engine.say("uci");
    assert!(engine.hear("uciok").starts_with("id name Plyhouse"));
    engine.say("isready");
    engine.hear("readyok");
    // Mate in two by the rooks.
    engine.say("position fen 7k/8/8/8/8/8/R7/1R5K w - - 0 1\ngo depth 6");
    let told = engine.hear("bestmove");
    let info = told.lines().rev().nth(1).expect("a line before the last");
    for word in [
        "info depth ",
        " score mate 2 ",
        " nodes ",
        " nps ",
        " time ",
        " pv ",
    ] {
        assert!(info.contains(word), "{word}: {info}");
    }
    let best = told.lines().last().and_then(|line| line.split(' ').nth(1));
    let first = info
        .split(" pv ")
        .nth(1)
        .and_then(|pv| pv.split(' ').next());
    assert_eq!(best, first);
    engine.say("quit");
    engine.ends();
}

/// Commands may end with any line end. One that ends with CR alone is carried out at once.
#[test]
fn commands_may_end_with_cr_alone() {
    for (game, commands) in [
        (
            "chess",
            &[("isready", "readyok"), ("go depth 1", "bestmove ")][..],
        ),
        ("go", &[("protocol_version", "= 2"), ("genmove b", "= ")]),
        ("gomoku", &[("START 15", "OK"), ("BEGIN", ",")]),
    ] {
        let mut engine = Program::plyhouse(&["engine", "--game", game, "--time", "20"]);
        for (command, answer) in commands {
            for end in ["\r", "\r\n", "\n"] {
                engine.say_bytes(format!("{command}{end}").as_bytes());
                engine.hear(answer);
            }
        }
        engine.close();
        engine.ends();
    }
}

/// A search without an end is ended by `stop` and by `quit`, and does not keep `isready` waiting.
#[test]
fn commands_are_heard_during_a_search() {
    let mut engine = chess();
    engine.say("position startpos\ngo infinite");
    engine.hear("info depth 1 ");
    engine.say("isready");
    engine.hear("readyok");
    // What needs the board waits for it.
    engine.say("position startpos moves e2e4\nstop");
    engine.hear("bestmove ");
    engine.say("go depth 1");
    let told = engine.hear("bestmove ");
    let reply = told.split_whitespace().last().expect("a move");
    assert!(
        matches!(reply.as_bytes()[1], b'7' | b'8'),
        "black moves: {reply}"
    );
    engine.say("go infinite");
    engine.hear("info depth 1 ");
    engine.say("quit");
    engine.hear("bestmove ");
    engine.ends();
}

/// The time of a search in the opponent's time counts from its move on.
#[test]
fn a_search_in_the_opponents_time_is_ended_by_its_move() {
    let mut engine = chess();
    engine.say("position startpos moves e2e4 e7e5\ngo ponder wtime 60000 btime 60000 movetime 300");
    engine.hear("info depth 3 ");
    engine.say("isready");
    let told = engine.hear("readyok");
    assert!(!told.contains("bestmove"), "{told}");
    engine.say("ponderhit");
    engine.hear("bestmove ");
    engine.say("quit");
    engine.ends();
}

/// Whoever reads the output may have seen enough.
#[test]
fn a_reader_that_is_gone_is_no_failure() {
    for arguments in [
        &["perft", "--game", "tic-tac-toe", "--depth", "3"][..],
        &["tournament", "--game", "tic-tac-toe", "--games", "2"],
        &["analyse", "--game", "tic-tac-toe"],
        &["engine", "--game", "chess", "--table", "1"],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let (input, mut lines) = std::io::pipe().expect("a pipe");
        lines.write_all(b"uci\n").expect("it is open");
        drop(lines);
        let mut command = Command::new(env!("CARGO_BIN_EXE_plyhouse"));
        command.args(arguments).stdin(input).stdout(writer);
        let ran = command.stderr(Stdio::piped()).output().expect("it runs");
        let told = String::from_utf8_lossy(&ran.stderr);
        assert!(
            ran.status.success() && told.is_empty(),
            "{arguments:?}: {told}"
        );
    }
}

#[test]
fn the_end_of_the_input_is_the_end() {
    let mut engine = chess();
    engine.say("go infinite");
    engine.hear("info depth 1 ");
    engine.close();
    engine.hear("bestmove ");
    engine.ends();
    // The example of the help.
    let mut engine = chess();
    engine.say("uci\nposition startpos moves e2e4\ngo movetime 300");
    engine.close();
    let told = engine.hear("bestmove ");
    let best = told
        .lines()
        .last()
        .expect("a move")
        .split(' ')
        .nth(1)
        .expect("a move");
    assert!(
        matches!(best.as_bytes()[1], b'7' | b'8'),
        "black moves: {best}"
    );
    assert!(!told.contains(" pv \n"), "{told}");
    engine.ends();
    let mut engine = Program::plyhouse(&["engine", "--game", "gomoku", "--table", "1"]);
    engine.say("START 15\nINFO timeout_turn 100\nTURN 7,7");
    engine.close();
    engine.hear(",");
    engine.ends();
    // A script is done first.
    let mut engine =
        Program::plyhouse(&["engine", "--game", "go", "--time", "100", "--table", "1"]);
    engine.say("1 genmove b\n2 genmove w\n3 showboard");
    engine.close();
    engine.hear("=1 ");
    engine.hear("=2 ");
    engine.hear("=3 ");
    engine.ends();
}

/// `quit` makes GTP's other commands hurry, but all of them are answered.
#[test]
fn gtp_quits_in_the_middle_of_a_thought() {
    let mut engine = Program::plyhouse(&[
        "engine", "--game", "go", "--time", "3600000", "--table", "1",
    ]);
    engine.say("1 genmove b\n2 genmove w\n3 quit");
    engine.hear("=1 ");
    engine.hear("=2 ");
    engine.hear("=3");
    engine.ends();
}

#[test]
fn gomoku_is_played_as_gomocup_has_it() {
    let mut engine = Program::plyhouse(&["engine", "--game", "gomoku", "--table", "1"]);
    engine.say("INFO timeout_turn 100\nSTART 15");
    engine.hear("OK");
    engine.say("BEGIN");
    let first = engine.hear(",");
    assert_eq!(first.trim(), "7,7", "the middle");
    engine.say("NONSENSE");
    engine.hear("UNKNOWN");
    // Quits in the middle of a thought.
    engine.say("INFO timeout_turn 3600000\nTURN 8,8\nEND");
    engine.ends();
}

#[test]
fn nonsense_does_no_harm() {
    let mut engine = chess();
    engine.say_bytes(b"\xff\xfe position\x00\r\n\r\ngo nowhere depth 1\r\n");
    engine.hear("bestmove ");
    engine.say(&"position startpos moves ".repeat(200_000));
    engine.say("isready");
    engine.hear("readyok");
    engine.say("quit");
    engine.ends();
}

/// Games that have no protocol of their own are spoken of by UCI, with the positions of the wire.
#[test]
fn other_games_are_thought_about_in_uci() {
    for game in ["tic-tac-toe", "connect-four", "othello", "draughts"] {
        let mut pos = find_game(game).expect("it is hosted").initial_position();
        let mut engine = Program::plyhouse(&["engine", game, "--table", "8"]);
        let first = pos.legal_moves().swap_remove(0);
        engine.say(&format!("position fen {pos} moves {first}\ngo depth 3"));
        pos.play(&first).expect("it is legal");
        let told = engine.hear("bestmove ");
        let m = told.lines().last().and_then(|line| line.split(' ').nth(1));
        pos.play(m.expect(game)).expect(game);
        engine.say("quit");
        engine.ends();
    }
}

/// Finds a side's move after these.
type Side<'a> = &'a mut dyn FnMut(&[String]) -> String;

/// Two programs play each other, and the rules are kept by neither of them.
fn game(game: &str, sides: [Side<'_>; 2]) -> (Box<dyn AnyPosition>, usize) {
    let mut pos = find_game(game).expect("it is hosted").initial_position();
    let mut moves: Vec<String> = Vec::new();
    while pos.outcome().is_none() && moves.len() < PLIES_MAX {
        let m = sides[moves.len() % 2](&moves);
        let played = pos.play(&m);
        moves.push(played.unwrap_or_else(|error| panic!("after {moves:?}: {error}")));
    }
    (pos, moves.len())
}

/// Every move of a game against Stockfish is legal to both, and Stockfish does not lose.
#[test]
fn stockfish_plays_it() {
    let mut engine = chess();
    let mut stockfish = Program::start(installed("stockfish"), &[]);
    let ask = |program: &mut Program, moves: &[String], nodes: u32| {
        program.say(&format!(
            "position startpos moves {}\ngo nodes {nodes}",
            moves.join(" ")
        ));
        let told = program.hear("bestmove ");
        let best = told.lines().last().and_then(|line| line.split(' ').nth(1));
        best.expect("a move").to_owned()
    };
    let (pos, plies) = game(
        "chess",
        [&mut |moves| ask(&mut engine, moves, 1000), &mut |moves| {
            ask(&mut stockfish, moves, 3000)
        }],
    );
    let lost = matches!(pos.outcome(), Some(Outcome::Decisive { winner }) if winner.index() == 0);
    assert!(!lost && plies > 10, "{plies} plies: {pos}");
    engine.say("quit");
    engine.ends();
}

/// GNU Go takes every move of a game, and tells moves that are taken.
#[test]
fn gnu_go_plays_it() {
    let time = "20";
    let mut engine = Program::plyhouse(&["engine", "--game", "go", "--time", time, "--table", "1"]);
    let options = [
        "--mode",
        "gtp",
        "--level",
        "1",
        "--chinese-rules",
        "--positional-superko",
    ];
    let mut gnugo = Program::start(installed("gnugo"), &options);
    let ask = |program: &mut Program, command: &str| {
        program.say(command);
        let told = program.hear("=");
        let line = told.lines().last().expect("a line");
        line.trim_start_matches('=').trim().to_owned()
    };
    for command in ["boardsize 9", "clear_board", "komi 7"] {
        ask(&mut engine, command);
        ask(&mut gnugo, command);
    }
    let mut turn = |program: &mut Program, moves: &[String], color: [&str; 2]| {
        if let Some(last) = moves.last() {
            ask(program, &format!("play {} {last}", color[1]));
        }
        ask(program, &format!("genmove {}", color[0]))
    };
    let turn = std::cell::RefCell::new(&mut turn);
    let (pos, plies) = game(
        "go",
        [
            &mut |moves| turn.borrow_mut()(&mut engine, moves, ["b", "w"]),
            &mut |moves| turn.borrow_mut()(&mut gnugo, moves, ["w", "b"]),
        ],
    );
    assert!(plies > 20, "{plies} plies: {pos}");
    engine.say("quit");
    engine.ends();
}
