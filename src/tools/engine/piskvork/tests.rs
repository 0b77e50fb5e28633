use std::time::Duration;

use plyhouse_engine::catalog::find_game;
use plyhouse_engine::search::{Level, Limits, Stop};

use super::*;
use crate::engine::driver::answer;

struct Table {
    piskvork: Piskvork,
    analyst: Box<dyn AnalysisBoard>,
    limits: Option<Limits>,
}

impl Table {
    fn new() -> Self {
        let game = find_game("gomoku").expect("it is hosted");
        let settings = Settings {
            game,
            level: Level::Max,
            time: Duration::from_millis(20),
            table_mib: 1,
        };
        Self {
            piskvork: Piskvork::new(settings),
            analyst: game.analysis_board(0),
            limits: None,
        }
    }

    /// What is answered; a search is let run.
    fn say(&mut self, line: &str) -> String {
        let mut out = Vec::new();
        let next = self.piskvork.take(line, &mut self.analyst, &mut out);
        if let Next::Think(question) = next.expect("it can be written") {
            self.limits = Some(question.limits);
            let (analyst, stop) = (self.analyst.as_mut(), Stop::new());
            let thought = answer(analyst, &question, 1, &stop, &mut |_, _| {});
            let found = (self.piskvork).found(thought, false, &mut self.analyst, &mut out);
            found.expect("it can be written");
        }
        String::from_utf8(out).expect("text")
    }

    fn check(&mut self, lines: &[(&str, &str)]) {
        for (line, answer) in lines {
            assert_eq!(self.say(line), *answer, "{line}");
        }
    }
}

#[test]
fn orders_are_answered_as_the_protocol_has_it() {
    let mut table = Table::new();
    table.check(&[
        ("TURN 7,7", "ERROR no game was begun: START comes first\n"),
        ("BEGIN", "ERROR no game was begun: START comes first\n"),
        ("START 20", "ERROR unsupported size\n"),
        ("START", "ERROR START is followed by a size\n"),
        ("START 15", "OK\n"),
        ("FLY 7,7", "UNKNOWN command\n"),
        ("INFO timeout_turn 40", ""),
        ("INFO favourite_colour blue", ""),
        ("INFO rule 0", ""),
        (
            "INFO rule 1",
            "MESSAGE only rule 0 (freestyle) is played, not 1\n",
        ),
        ("", ""),
        ("TURN 15,0", "ERROR not a point of the board\n"),
        ("TURN 7", "ERROR not a point of the board\n"),
    ]);
    assert!(table.say("ABOUT").starts_with("name=\"Plyhouse\", "));
    let mut out = Vec::new();
    let next = table.piskvork.take("END", &mut table.analyst, &mut out);
    assert_eq!(next.expect("it can be written"), Next::Quit);
}

#[test]
fn a_game_is_played_and_taken_back() {
    let mut table = Table::new();
    table.check(&[("START 15", "OK\n")]);
    let first = table.say("BEGIN");
    let first = first.trim_end();
    assert!(Point::read(first, 15).is_some(), "{first}");
    assert_eq!(
        table.say(&format!("TURN {first}")),
        "ERROR there is a stone already\n"
    );
    let corner = table.say("TURN 0,0");
    assert!(Point::read(&corner, 15).is_some(), "{corner}");
    let corner = corner.trim_end();
    table.check(&[
        (&format!("TAKEBACK {corner}"), "OK\n"),
        (&format!("TAKEBACK {corner}"), "ERROR there is no stone\n"),
        ("TAKEBACK 0,0", "OK\n"),
        ("RESTART", "OK\n"),
    ]);
    assert!(Point::read(&table.say("TURN 7,7"), 15).is_some());
}

/// From the top, so that what the wire calls h15 is in row 0.
#[test]
fn points_count_from_the_upper_left_corner() {
    let corner = Point::of_move("a15", 15);
    assert_eq!(corner.to_string(), "0,0");
    assert_eq!(Point::of_move("o1", 15).to_string(), "14,14");
    let mut board = Board::default();
    board.put(corner, Owner::Other).expect("it is free");
    assert!(
        board
            .position(15)
            .expect("a position")
            .starts_with("b14/15/")
    );
}

#[test]
fn a_board_is_told_whole_or_not_at_all() {
    let mut table = Table::new();
    table.check(&[("START 15", "OK\n"), ("BOARD", "")]);
    // Four in a row of the engine's own, open at one end only.
    for line in [
        "3,7,1", "4,7,1", "5,7,1", "6,7,1", "2,7,2", "0,0,2", "0,2,2", "0,4,2",
    ] {
        assert_eq!(table.say(line), "", "{line}");
    }
    assert_eq!(table.say("DONE"), "7,7\n");
    assert!(
        table.say("TURN 10,10").starts_with("ERROR "),
        "the game is over"
    );
    for (lines, why) in [
        (&["7,7,1"][..], "it is not the engine's turn"),
        (&["7,7,3"], "a field is 1 or 2"),
        (&["7,7,2", "7,7,1"], "there is a stone already"),
        (&["seven"], NOT_A_POINT),
    ] {
        assert_eq!(table.say("BOARD"), "");
        for line in lines {
            assert_eq!(table.say(line), "", "{line}");
        }
        assert_eq!(table.say("DONE"), format!("ERROR {why}\n"));
        // The board is still the one before.
        assert_eq!(table.say("TURN 7,7"), "ERROR there is a stone already\n");
    }
}

#[test]
fn time_is_kept_as_info_tells() {
    let mut table = Table::new();
    table.check(&[("START 15", "OK\n")]);
    table.say("BEGIN");
    let time = |table: &Table| table.limits.expect("it has thought").time;
    assert_eq!(time(&table), Some(Duration::from_millis(20)));
    table.check(&[("INFO timeout_turn 40", ""), ("RESTART", "OK\n")]);
    table.say("BEGIN");
    assert_eq!(time(&table), Some(Duration::from_millis(10)));
    table.check(&[
        ("INFO timeout_turn 5000", ""),
        ("INFO timeout_match 100030", ""),
        ("INFO time_left 330", ""),
        ("RESTART", "OK\n"),
    ]);
    table.say("BEGIN");
    let whole = Duration::from_secs(100) / 30;
    assert_eq!(time(&table), Some(whole), "a new match has all its time");
    table.check(&[("RESTART", "OK\n"), ("INFO time_left 330", "")]);
    table.say("BEGIN");
    assert_eq!(time(&table), Some(Duration::from_millis(10)));
    table.check(&[("INFO timeout_turn 0", ""), ("RESTART", "OK\n")]);
    table.say("BEGIN");
    assert_eq!(time(&table), Some(Duration::from_millis(1)));
    // A table of less memory is a table still.
    table.check(&[("INFO max_memory 1000000", ""), ("RESTART", "OK\n")]);
    assert!(Point::read(&table.say("BEGIN"), 15).is_some());
}
