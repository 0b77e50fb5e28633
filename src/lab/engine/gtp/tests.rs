use std::time::Duration;

use plyhouse_engine::catalog::find;
use plyhouse_engine::search::{Level, Stop};

use super::*;

struct Table {
    gtp: Gtp,
    analyst: Box<dyn Analyst>,
}

impl Table {
    fn new() -> Self {
        let game = find("go").expect("it is hosted");
        let settings = Settings {
            game,
            level: Level::Max,
            time: Duration::from_millis(20),
            table_mib: 1,
        };
        Self {
            gtp: Gtp::new(settings, 7),
            analyst: game.analyst(0),
        }
    }

    /// What is answered; a search is let run.
    fn say(&mut self, line: &str) -> String {
        let mut out = Vec::new();
        let next = self.gtp.take(line, &mut self.analyst, &mut out);
        if let Next::Think(Question { level, limits }) = next.expect("it can be written") {
            let choice = (self.analyst).choose(level, 1, &limits, &Stop::new(), &mut |_| {});
            let found = (self.gtp).found(choice, false, &mut self.analyst, &mut out);
            found.expect("it can be written");
        }
        String::from_utf8(out).expect("text")
    }

    fn check(&mut self, lines: &[(&str, &str)]) {
        for (line, answer) in lines {
            assert_eq!(self.say(line), *answer, "{line}");
        }
    }

    fn position(&self) -> String {
        self.analyst.position().to_string()
    }
}

#[test]
fn commands_are_answered_as_the_protocol_has_it() {
    Table::new().check(&[
        ("protocol_version", "= 2\n\n"),
        ("7 name", "=7 Plyhouse\n\n"),
        ("8 known_command genmove", "=8 true\n\n"),
        ("known_command fly", "= false\n\n"),
        ("12 fly", "?12 unknown command\n\n"),
        ("# nothing but a comment", ""),
        ("", ""),
        ("13", ""),
        ("boardsize 9", "=\n\n"),
        ("boardsize 19", "? unacceptable size\n\n"),
        ("boardsize", "? syntax error\n\n"),
        ("komi 6.5 # as usual", "=\n\n"),
        ("komi much", "? syntax error\n\n"),
        ("undo", "? cannot undo\n\n"),
        ("play b D4", "=\n\n"),
        ("play white d4", "? illegal move\n\n"),
        ("play white Z9", "? illegal move\n\n"),
        ("play green E5", "? syntax error\n\n"),
        ("play w", "? syntax error\n\n"),
        ("3\tquit", "=3\n\n"),
    ]);
}

#[test]
fn every_command_that_is_listed_is_known() {
    let mut table = Table::new();
    let list = table.say("list_commands");
    let names: Vec<&str> = list.trim_start_matches("= ").split_whitespace().collect();
    assert_eq!(names.len(), COMMANDS.len());
    for name in names {
        assert_eq!(table.say(&format!("known_command {name}")), "= true\n\n");
        assert!(!table.say(name).contains("unknown"), "{name}");
    }
}

#[test]
fn stones_are_put_down_and_taken_back() {
    let mut table = Table::new();
    let start = table.position();
    table.check(&[("play b D4", "=\n\n"), ("play w E5", "=\n\n")]);
    let two = table.position();
    // Twice black: white has passed, and both go at once when it is taken back.
    table.check(&[("play b C3", "=\n\n"), ("play b C4", "=\n\n")]);
    assert!(
        table.position().contains(" w 0 0 0 5"),
        "{}",
        table.position()
    );
    table.check(&[("undo", "=\n\n"), ("undo", "=\n\n")]);
    assert_eq!(table.position(), two);
    table.check(&[("clear_board", "=\n\n")]);
    assert_eq!(table.position(), start);
    // What cannot be played leaves no pass behind.
    table.check(&[("play w D4", "=\n\n"), ("play w D4", "? illegal move\n\n")]);
    assert!(
        table.position().ends_with(" b 0 0 0 2"),
        "{}",
        table.position()
    );
}

#[test]
fn a_move_is_made_and_played() {
    let mut table = Table::new();
    let answer = table.say("5 genmove b");
    let vertex = answer.strip_prefix("=5 ").expect("an answer").trim_end();
    assert!(
        table.position().ends_with(" w 0 0 0 1"),
        "{vertex}: {}",
        table.position()
    );
    table.check(&[("undo", "=\n\n")]);
    assert!(table.position().ends_with(" b 0 0 0 0"), "{vertex}");
    table.check(&[
        ("clear_board", "=\n\n"),
        ("play b pass", "=\n\n"),
        ("play w pass", "=\n\n"),
        ("genmove pink", "? syntax error\n\n"),
    ]);
}

#[test]
fn two_passes_end_nothing() {
    let mut table = Table::new();
    table.check(&[
        ("play b pass", "=\n\n"),
        // Twice black: white passes, too.
        ("play b D4", "=\n\n"),
        ("play w pass", "=\n\n"),
        ("play w E5", "=\n\n"),
        ("play b pass", "=\n\n"),
        ("play w pass", "=\n\n"),
    ]);
    let passed = table.position();
    for color in ["w", "b", "b"] {
        let answer = table.say(&format!("genmove {color}"));
        assert!(answer.starts_with("= "), "{answer}");
    }
    table.check(&[("undo", "=\n\n"); 3]);
    assert_eq!(table.position(), passed);
    table.check(&[("play b C3", "=\n\n")]);
    let board = table.say("showboard");
    for rank in ["\n 5 . . . . O ", "\n 4 . . . X ", "\n 3 . . X "] {
        assert!(board.contains(rank), "{board}");
    }
}

#[test]
fn the_score_is_that_of_the_board_with_the_komi_that_was_told() {
    let mut table = Table::new();
    table.check(&[
        ("final_score", "= W+7\n\n"),
        ("komi 5.5", "=\n\n"),
        ("final_score", "= W+5.5\n\n"),
        ("play b E5", "=\n\n"),
        ("final_score", "= B+75.5\n\n"),
        ("komi 81", "=\n\n"),
        ("final_score", "= 0\n\n"),
    ]);
    let board = table.say("showboard");
    assert!(board.contains("\n 5 . . . . X . . . . 5\n"), "{board}");
    assert!(board.contains("\n   A B C D E F G H J\n"), "{board}");
}

#[test]
fn time_is_shared_out() {
    let ms = |system: &TimeSystem| system.share(Seat::First).map(|time| time.as_millis());
    let read = |text: &str| TimeSystem::read(&text.split(' ').collect::<Vec<_>>());
    assert_eq!(read("0 10 0"), Some(TimeSystem::default()));
    assert_eq!(ms(&TimeSystem::default()), None);
    assert_eq!(read("ten 0 0"), None);
    assert_eq!(read("10 0"), None);
    let mut main = read("60 0 0").expect("a time");
    assert_eq!(ms(&main), Some(1999));
    main.spend(Seat::First, Duration::from_secs(30));
    assert_eq!(ms(&main), Some(999));
    main.tell(Seat::First, &["15", "0"]).expect("a time");
    assert_eq!(ms(&main), Some(499));
    // Ten seconds for five stones, anew after the fifth.
    let mut byo_yomi = read("0 10 5").expect("a time");
    assert_eq!(ms(&byo_yomi), Some(1994));
    for _ in 0..5 {
        byo_yomi.spend(Seat::First, Duration::from_secs(1));
    }
    assert_eq!(ms(&byo_yomi), Some(1994));
    byo_yomi.tell(Seat::First, &["2", "4"]).expect("a time");
    assert_eq!(ms(&byo_yomi), Some(492));
}
