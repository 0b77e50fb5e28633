use std::time::Duration;

use plyhouse_engine::catalog::find_game;
use plyhouse_engine::search::{Level, Limits, Stop};

use super::*;
use crate::engine::protocol_loop::run_search;

struct TestEngine {
    piskvork: Piskvork,
    limits: Option<Limits>,
}

impl TestEngine {
    fn new() -> Self {
        let game = find_game("gomoku").expect("the game is in the catalog");
        let settings = EngineSettings {
            game,
            level: Level::Max,
            default_time: Duration::from_millis(20),
            table_mib: 1,
        };
        Self {
            piskvork: Piskvork::new(settings),
            limits: None,
        }
    }

    /// Handles a line and returns the reply. Runs the search if the command starts one.
    fn send(&mut self, line: &str) -> String {
        let mut out = Vec::new();
        let next = self.piskvork.handle_line(line, &mut out);
        if let NextAction::Search(question) = next.expect("writing succeeds") {
            self.limits = Some(question.limits);
            let (analysis_board, stop) = (self.piskvork.analysis_board.as_mut(), Stop::new());
            let result = run_search(analysis_board, &question, 1, &stop, &mut |_, _| {});
            let written = (self.piskvork).on_search_end(result, &mut out);
            written.expect("writing succeeds");
        }
        String::from_utf8(out).expect("the output is UTF-8")
    }

    fn check(&mut self, lines: &[(&str, &str)]) {
        for (line, answer) in lines {
            assert_eq!(self.send(line), *answer, "{line}");
        }
    }
}

#[test]
fn commands_get_the_replies_of_the_protocol() {
    let mut engine = TestEngine::new();
    engine.check(&[
        ("TURN 7,7", "ERROR no game started: send START first\n"),
        ("BEGIN", "ERROR no game started: send START first\n"),
        ("START 20", "ERROR unsupported board size\n"),
        ("START", "ERROR invalid START: expected a board size\n"),
        ("START 15", "OK\n"),
        ("FLY 7,7", "UNKNOWN command\n"),
        ("INFO timeout_turn 40", ""),
        ("INFO favourite_colour blue", ""),
        ("INFO rule 0", ""),
        (
            "INFO rule 1",
            "MESSAGE unsupported rule '1': only 0 (freestyle) is supported\n",
        ),
        ("", ""),
        (
            "TURN 15,0",
            "ERROR invalid point: expected x,y on the board\n",
        ),
        ("TURN 7", "ERROR invalid point: expected x,y on the board\n"),
    ]);
    assert!(engine.send("ABOUT").starts_with("name=\"Plyhouse\", "));
    let mut out = Vec::new();
    let next = engine.piskvork.handle_line("END", &mut out);
    assert_eq!(next.expect("writing succeeds"), NextAction::Quit);
}

#[test]
fn moves_are_played_and_taken_back() {
    let mut engine = TestEngine::new();
    engine.check(&[("START 15", "OK\n")]);
    let first = engine.send("BEGIN");
    let first = first.trim_end();
    assert!(Point::parse(first, 15).is_some(), "{first}");
    assert_eq!(
        engine.send(&format!("TURN {first}")),
        "ERROR the point is occupied\n"
    );
    let corner = engine.send("TURN 0,0");
    assert!(Point::parse(&corner, 15).is_some(), "{corner}");
    let corner = corner.trim_end();
    engine.check(&[
        (&format!("TAKEBACK {corner}"), "OK\n"),
        (&format!("TAKEBACK {corner}"), "ERROR the point is empty\n"),
        ("TAKEBACK 0,0", "OK\n"),
        ("RESTART", "OK\n"),
    ]);
    assert!(Point::parse(&engine.send("TURN 7,7"), 15).is_some());
}

/// Row 0 is the top row, which is rank 15 in wire notation.
#[test]
fn points_count_from_the_upper_left_corner() {
    let corner = Point::from_move("a15", 15);
    assert_eq!(corner.to_string(), "0,0");
    assert_eq!(Point::from_move("o1", 15).to_string(), "14,14");
    let mut board = Board::default();
    board
        .place(corner, Owner::Opponent)
        .expect("the point is empty");
    assert!(
        board
            .to_position(15)
            .expect("a position")
            .starts_with("b14/15/")
    );
}

#[test]
fn board_command_applies_completely_or_not_at_all() {
    let mut engine = TestEngine::new();
    engine.check(&[("START 15", "OK\n"), ("BOARD", "")]);
    // The engine has four stones in a row with one open end, so it must win by playing there.
    for line in [
        "3,7,1", "4,7,1", "5,7,1", "6,7,1", "2,7,2", "0,0,2", "0,2,2", "0,4,2",
    ] {
        assert_eq!(engine.send(line), "", "{line}");
    }
    assert_eq!(engine.send("DONE"), "7,7\n");
    assert!(
        engine.send("TURN 10,10").starts_with("ERROR "),
        "the game is over"
    );
    for (lines, expected) in [
        (&["7,7,1"][..], "it is not the engine's turn"),
        (
            &["7,7,3"],
            "invalid field: expected 1 (own stone) or 2 (opponent's stone)",
        ),
        (&["7,7,2", "7,7,1"], "the point is occupied"),
        (&["seven"], INVALID_POINT),
    ] {
        assert_eq!(engine.send("BOARD"), "");
        for line in lines {
            assert_eq!(engine.send(line), "", "{line}");
        }
        assert_eq!(engine.send("DONE"), format!("ERROR {expected}\n"));
        // The rejected `BOARD` command leaves the board unchanged.
        assert_eq!(engine.send("TURN 7,7"), "ERROR the point is occupied\n");
    }
}

#[test]
fn info_sets_the_time_limits() {
    let mut engine = TestEngine::new();
    engine.check(&[("START 15", "OK\n")]);
    engine.send("BEGIN");
    let time = |table: &TestEngine| table.limits.expect("a search has run").time;
    assert_eq!(time(&engine), Some(Duration::from_millis(20)));
    engine.check(&[("INFO timeout_turn 40", ""), ("RESTART", "OK\n")]);
    engine.send("BEGIN");
    assert_eq!(time(&engine), Some(Duration::from_millis(10)));
    engine.check(&[
        ("INFO timeout_turn 5000", ""),
        ("INFO timeout_match 100030", ""),
        ("INFO time_left 330", ""),
        ("RESTART", "OK\n"),
    ]);
    engine.send("BEGIN");
    let match_share = Duration::from_secs(100) / 30;
    assert_eq!(
        time(&engine),
        Some(match_share),
        "a new match has all its time"
    );
    engine.check(&[("RESTART", "OK\n"), ("INFO time_left 330", "")]);
    engine.send("BEGIN");
    assert_eq!(time(&engine), Some(Duration::from_millis(10)));
    engine.check(&[("INFO timeout_turn 0", ""), ("RESTART", "OK\n")]);
    engine.send("BEGIN");
    assert_eq!(time(&engine), Some(Duration::from_millis(1)));
    // After the memory limit shrinks the transposition table, the engine must still reply with a
    // move.
    engine.check(&[("INFO max_memory 1000000", ""), ("RESTART", "OK\n")]);
    assert!(Point::parse(&engine.send("BEGIN"), 15).is_some());
}
