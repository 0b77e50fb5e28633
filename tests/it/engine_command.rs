//! Tests of `plyhouse engine` with the commands of graphical interfaces and tournament managers,
//! and in games against other engines.

mod engine_process;

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use plyhouse_engine::catalog::{AnyPosition, find_game};
use plyhouse_engine::game::Outcome;

use self::engine_process::{EngineProcess, find_installed_program};

/// Maximum time to wait for an answer. Normal answers arrive much sooner.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum length in plies of a game between two engines.
const PLIES_MAX: usize = 160;

fn start_chess_engine() -> EngineProcess {
    EngineProcess::start_plyhouse(&["engine", "--game", "chess", "--table", "8"])
}

#[test]
fn uci_search_reports_mate_score_and_best_move() {
    let mut engine = start_chess_engine();
    engine.send_lines("uci");
    assert!(engine.read_until("uciok").starts_with("id name Plyhouse"));
    engine.send_lines("isready");
    engine.read_until("readyok");
    // White mates in two moves with the rooks.
    engine.send_lines("position fen 7k/8/8/8/8/8/R7/1R5K w - - 0 1\ngo depth 6");
    let output = engine.read_until("bestmove");
    let info = output.lines().rev().nth(1).expect("a line before the last");
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
    let best = output
        .lines()
        .last()
        .and_then(|line| line.split(' ').nth(1));
    let first = info
        .split(" pv ")
        .nth(1)
        .and_then(|pv| pv.split(' ').next());
    assert_eq!(best, first);
    engine.send_lines("quit");
    engine.wait_for_success();
}

/// The engine must also accept a carriage return without a line feed as the end of a command.
#[test]
fn commands_accept_any_line_ending() {
    for (game, commands) in [
        (
            "chess",
            &[("isready", "readyok"), ("go depth 1", "bestmove ")][..],
        ),
        ("go", &[("protocol_version", "= 2"), ("genmove b", "= ")]),
        ("gomoku", &[("START 15", "OK"), ("BEGIN", ",")]),
    ] {
        let mut engine = EngineProcess::start_plyhouse(&["engine", "--game", game, "--time", "20"]);
        for (command, answer) in commands {
            for end in ["\r", "\r\n", "\n"] {
                engine.send_bytes(format!("{command}{end}").as_bytes());
                engine.read_until(answer);
            }
        }
        engine.close_input();
        engine.wait_for_success();
    }
}

/// `stop` and `quit` end an infinite search. `isready` is answered during the search.
#[test]
fn commands_are_handled_during_search() {
    let mut engine = start_chess_engine();
    engine.send_lines("position startpos\ngo infinite");
    engine.read_until("info depth 1 ");
    engine.send_lines("isready");
    engine.read_until("readyok");
    // The engine applies a `position` command only after the search has ended.
    engine.send_lines("position startpos moves e2e4\nstop");
    engine.read_until("bestmove ");
    engine.send_lines("go depth 1");
    let output = engine.read_until("bestmove ");
    let reply = output.split_whitespace().last().expect("a move");
    assert!(
        matches!(reply.as_bytes()[1], b'7' | b'8'),
        "black moves: {reply}"
    );
    engine.send_lines("go infinite");
    engine.read_until("info depth 1 ");
    engine.send_lines("quit");
    engine.read_until("bestmove ");
    engine.wait_for_success();
}

/// The `movetime` of a ponder search counts from `ponderhit`.
#[test]
fn ponder_search_ends_after_ponderhit() {
    let mut engine = start_chess_engine();
    engine.send_lines(
        "position startpos moves e2e4 e7e5\ngo ponder wtime 60000 btime 60000 movetime 300",
    );
    engine.read_until("info depth 3 ");
    engine.send_lines("isready");
    let output = engine.read_until("readyok");
    assert!(!output.contains("bestmove"), "{output}");
    engine.send_lines("ponderhit");
    engine.read_until("bestmove ");
    engine.send_lines("quit");
    engine.wait_for_success();
}

/// A command must not fail if the reader of its output closes the pipe early.
#[test]
fn closed_stdout_is_not_an_error() {
    for arguments in [
        &["perft", "--game", "tic-tac-toe", "--depth", "3"][..],
        &["tournament", "--game", "tic-tac-toe", "--games", "2"],
        &["analyse", "--game", "tic-tac-toe"],
        &["engine", "--game", "chess", "--table", "1"],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let (input, mut lines) = std::io::pipe().expect("a pipe");
        lines.write_all(b"uci\n").expect("the pipe is open");
        drop(lines);
        let mut command = Command::new(env!("CARGO_BIN_EXE_plyhouse"));
        command.args(arguments).stdin(input).stdout(writer);
        let output = command
            .stderr(Stdio::piped())
            .output()
            .expect("the command runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && stderr.is_empty(),
            "{arguments:?}: {stderr}"
        );
    }
}

#[test]
fn end_of_input_finishes_pending_commands() {
    let mut engine = start_chess_engine();
    engine.send_lines("go infinite");
    engine.read_until("info depth 1 ");
    engine.close_input();
    engine.read_until("bestmove ");
    engine.wait_for_success();
    // The command-line help shows these commands as an example.
    let mut engine = start_chess_engine();
    engine.send_lines("uci\nposition startpos moves e2e4\ngo movetime 300");
    engine.close_input();
    let output = engine.read_until("bestmove ");
    let best = output
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
    assert!(!output.contains(" pv \n"), "{output}");
    engine.wait_for_success();
    let mut engine = EngineProcess::start_plyhouse(&["engine", "--game", "gomoku", "--table", "1"]);
    engine.send_lines("START 15\nINFO timeout_turn 100\nTURN 7,7");
    engine.close_input();
    engine.read_until(",");
    engine.wait_for_success();
    // At the end of the input, the engine completes the remaining commands before it exits.
    let mut engine =
        EngineProcess::start_plyhouse(&["engine", "--game", "go", "--time", "100", "--table", "1"]);
    engine.send_lines("1 genmove b\n2 genmove w\n3 showboard");
    engine.close_input();
    engine.read_until("=1 ");
    engine.read_until("=2 ");
    engine.read_until("=3 ");
    engine.wait_for_success();
}

/// On `quit`, the engine still answers all earlier commands.
#[test]
fn gtp_quit_shortens_pending_searches() {
    let mut engine = EngineProcess::start_plyhouse(&[
        "engine", "--game", "go", "--time", "3600000", "--table", "1",
    ]);
    engine.send_lines("1 genmove b\n2 genmove w\n3 quit");
    engine.read_until("=1 ");
    engine.read_until("=2 ");
    engine.read_until("=3");
    engine.wait_for_success();
}

#[test]
fn gomoku_follows_gomocup_protocol() {
    let mut engine = EngineProcess::start_plyhouse(&["engine", "--game", "gomoku", "--table", "1"]);
    engine.send_lines("INFO timeout_turn 100\nSTART 15");
    engine.read_until("OK");
    engine.send_lines("BEGIN");
    let first = engine.read_until(",");
    assert_eq!(first.trim(), "7,7", "the middle");
    engine.send_lines("NONSENSE");
    engine.read_until("UNKNOWN");
    // The command `END` stops the engine during a search.
    engine.send_lines("INFO timeout_turn 3600000\nTURN 8,8\nEND");
    engine.wait_for_success();
}

#[test]
fn invalid_input_is_ignored() {
    let mut engine = start_chess_engine();
    engine.send_bytes(b"\xff\xfe position\x00\r\n\r\ngo nowhere depth 1\r\n");
    engine.read_until("bestmove ");
    engine.send_lines(&"position startpos moves ".repeat(200_000));
    engine.send_lines("isready");
    engine.read_until("readyok");
    engine.send_lines("quit");
    engine.wait_for_success();
}

/// Games without a standard engine protocol are played over UCI. For these games, positions in UCI
/// commands use the position format of the Plyhouse protocol.
#[test]
fn games_without_own_protocol_use_uci() {
    for game in ["tic-tac-toe", "connect-four", "othello", "draughts"] {
        let mut pos = find_game(game).expect("a known game").initial_position();
        let mut engine = EngineProcess::start_plyhouse(&["engine", game, "--table", "8"]);
        let first = pos.legal_moves().swap_remove(0);
        engine.send_lines(&format!("position fen {pos} moves {first}\ngo depth 3"));
        pos.play(&first).expect("a legal move");
        let output = engine.read_until("bestmove ");
        let m = output
            .lines()
            .last()
            .and_then(|line| line.split(' ').nth(1));
        pos.play(m.expect(game)).expect(game);
        engine.send_lines("quit");
        engine.wait_for_success();
    }
}

/// Callback that returns the next move, given the moves played so far.
type MoveChooser<'a> = &'a mut dyn FnMut(&[String]) -> String;

/// Plays a game between two programs and checks every move against the rules. Returns the last
/// position and the number of plies.
fn play_game(game: &str, choosers: [MoveChooser<'_>; 2]) -> (Box<dyn AnyPosition>, usize) {
    let mut pos = find_game(game).expect("a known game").initial_position();
    let mut moves: Vec<String> = Vec::new();
    while pos.outcome().is_none() && moves.len() < PLIES_MAX {
        let m = choosers[moves.len() % 2](&moves);
        let played = pos.play(&m);
        moves.push(played.unwrap_or_else(|error| panic!("after {moves:?}: {error}")));
    }
    (pos, moves.len())
}

/// Also checks that Stockfish does not lose the game.
#[test]
fn game_against_stockfish_is_legal() {
    let mut engine = start_chess_engine();
    let mut stockfish = EngineProcess::spawn(find_installed_program("stockfish"), &[]);
    let request_move = |program: &mut EngineProcess, moves: &[String], nodes: u32| {
        program.send_lines(&format!(
            "position startpos moves {}\ngo nodes {nodes}",
            moves.join(" ")
        ));
        let output = program.read_until("bestmove ");
        let best = output
            .lines()
            .last()
            .and_then(|line| line.split(' ').nth(1));
        best.expect("a move").to_owned()
    };
    let (pos, plies) = play_game(
        "chess",
        [
            &mut |moves| request_move(&mut engine, moves, 1000),
            &mut |moves| request_move(&mut stockfish, moves, 3000),
        ],
    );
    let lost = matches!(pos.outcome(), Some(Outcome::Decisive { winner }) if winner.index() == 0);
    assert!(!lost && plies > 10, "{plies} plies: {pos}");
    engine.send_lines("quit");
    engine.wait_for_success();
}

#[test]
fn game_against_gnu_go_is_legal() {
    let time = "20";
    let mut engine =
        EngineProcess::start_plyhouse(&["engine", "--game", "go", "--time", time, "--table", "1"]);
    let options = [
        "--mode",
        "gtp",
        "--level",
        "1",
        "--chinese-rules",
        "--positional-superko",
    ];
    let mut gnugo = EngineProcess::spawn(find_installed_program("gnugo"), &options);
    let send_command = |program: &mut EngineProcess, command: &str| {
        program.send_lines(command);
        let output = program.read_until("=");
        let line = output.lines().last().expect("a line");
        line.trim_start_matches('=').trim().to_owned()
    };
    for command in ["boardsize 9", "clear_board", "komi 7"] {
        send_command(&mut engine, command);
        send_command(&mut gnugo, command);
    }
    let mut play_turn = |program: &mut EngineProcess, moves: &[String], color: [&str; 2]| {
        if let Some(last) = moves.last() {
            send_command(program, &format!("play {} {last}", color[1]));
        }
        send_command(program, &format!("genmove {}", color[0]))
    };
    let play_turn = std::cell::RefCell::new(&mut play_turn);
    let (pos, plies) = play_game(
        "go",
        [
            &mut |moves| play_turn.borrow_mut()(&mut engine, moves, ["b", "w"]),
            &mut |moves| play_turn.borrow_mut()(&mut gnugo, moves, ["w", "b"]),
        ],
    );
    assert!(plies > 20, "{plies} plies: {pos}");
    engine.send_lines("quit");
    engine.wait_for_success();
}
