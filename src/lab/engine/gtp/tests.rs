use std::time::Duration;

use plyhouse_engine::catalog::find;
use plyhouse_engine::search::{Level, Stop};

use super::super::driver::answer;
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
        if let Next::Think(question) = next.expect("it can be written") {
            let (analyst, stop) = (self.analyst.as_mut(), Stop::new());
            let thought = answer(analyst, &question, 1, &stop, &mut |_, _| {});
            let found = (self.gtp).found(thought, false, &mut self.analyst, &mut out);
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
        ("komi 1e40", "? syntax error\n\n"),
        ("komi -inf", "? syntax error\n\n"),
        ("komi nan", "? syntax error\n\n"),
        // What is ridiculous has to be taken.
        ("komi -1000", "=\n\n"),
        ("undo", "? cannot undo\n\n"),
        ("play b D4", "=\n\n"),
        ("play white d4", "? illegal move\n\n"),
        ("play white Z9", "? illegal move\n\n"),
        // There is no column I, on no board.
        ("play white I5", "? syntax error\n\n"),
        ("play white e0", "? syntax error\n\n"),
        ("play white resign", "? syntax error\n\n"),
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

/// Nobody has passed before white's first move, so that white wins nothing by passing.
#[test]
fn a_pass_that_nobody_made_ends_nothing() {
    for before in [&[][..], &["play b E5"], &["play b E5", "play b C3"]] {
        for color in ["b", "w"] {
            let mut table = Table::new();
            table.check(&[("clear_board", "=\n\n")]);
            for line in before {
                table.check(&[(line, "=\n\n")]);
            }
            let answer = table.say(&format!("genmove {color}"));
            assert!(
                answer.starts_with("= ") && !answer.contains("pass"),
                "{answer}"
            );
        }
    }
}

#[test]
fn a_move_may_be_asked_for_and_not_played() {
    let mut table = Table::new();
    table.check(&[("play b E5", "=\n\n")]);
    let before = table.position();
    for color in ["w", "b"] {
        let answer = table.say(&format!("reg_genmove {color}"));
        assert!(answer.starts_with("= "), "{answer}");
        assert_eq!(table.position(), before);
    }
    let answer = table.say("kgs-genmove_cleanup w");
    assert!(
        answer.starts_with("= ") && table.position() != before,
        "{answer}"
    );
}

#[test]
fn stones_of_a_handicap_are_put_down_at_once() {
    let mut table = Table::new();
    table.check(&[
        ("fixed_handicap 1", "? invalid number of stones\n\n"),
        ("fixed_handicap", "? syntax error\n\n"),
        ("fixed_handicap 5", "= C3 G7 C7 G3 E5\n\n"),
        ("fixed_handicap 2", "? board not empty\n\n"),
        ("final_status_list alive", "= C7 G7\nE5\nC3 G3\n\n"),
    ]);
    // White moves.
    assert!(table.position().contains(" w "), "{}", table.position());
    assert!(!table.say("genmove w").contains("pass"));
    table.check(&[
        ("clear_board", "=\n\n"),
        ("place_free_handicap 2", "= C3 G7\n\n"),
        ("clear_board", "=\n\n"),
        ("set_free_handicap D4", "? bad vertex list\n\n"),
        ("set_free_handicap D4 pass", "? bad vertex list\n\n"),
        ("set_free_handicap D4 D4", "? bad vertex list\n\n"),
        ("set_free_handicap D4 I9", "? syntax error\n\n"),
        ("set_free_handicap D4 E6 F2", "=\n\n"),
        ("final_status_list alive", "= E6\nD4\nF2\n\n"),
        ("final_status_list dead", "=\n\n"),
        ("final_status_list seki", "=\n\n"),
        ("final_status_list dying", "? syntax error\n\n"),
    ]);
}

#[test]
fn a_record_is_set_up_or_nothing_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("text").to_owned()
    };
    let good = file(
        "good.sgf",
        "(;SZ[9]KM[5.5];B[ee];W[cc];B[gg](;W[aa])(;W[bb]))",
    );
    let twice = file("twice.sgf", "(;SZ[9];B[ee];W[ee])");
    let large = file("large.sgf", "(;SZ[19];B[ee])");
    let mut table = Table::new();
    table.check(&[("play b C3", "=\n\n")]);
    let before = table.position();
    for bad in [&twice, &large, "nowhere.sgf"] {
        table.check(&[(&format!("loadsgf {bad}"), "? cannot load file\n\n")]);
        assert_eq!(table.position(), before);
    }
    table.check(&[
        ("loadsgf", "? syntax error\n\n"),
        (&format!("loadsgf {good} soon"), "? syntax error\n\n"),
        (&format!("loadsgf {good} 3"), "=\n\n"),
        ("final_status_list alive", "= C7\nE5\n\n"),
        (&format!("loadsgf {good}"), "=\n\n"),
        ("final_status_list alive", "= A9\nC7\nE5\nG3\n\n"),
        ("final_score", "= W+5.5\n\n"),
    ]);
    assert!(
        table.position().ends_with(" b 0 0 0 4"),
        "{}",
        table.position()
    );
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
    // A period for each stone, none of which is to be lost.
    let kgs = |text: &str| TimeSystem::read_kgs(&text.split(' ').collect::<Vec<_>>());
    assert_eq!(kgs("none"), Some(TimeSystem::default()));
    assert_eq!(kgs("absolute 60"), read("60 0 0"));
    assert_eq!(kgs("canadian 0 10 5"), read("0 10 5"));
    assert_eq!((kgs("byoyomi 0 10"), kgs("fischer 1 2 3")), (None, None));
    let mut periods = kgs("byoyomi 60 10 3").expect("a time");
    assert_eq!(ms(&periods), Some(1999));
    periods.spend(Seat::First, Duration::from_secs(60));
    for _ in 0..5 {
        assert_eq!(ms(&periods), Some(9970));
        periods.spend(Seat::First, Duration::from_secs(9));
    }
    periods.tell(Seat::First, &["5", "1"]).expect("a time");
    assert_eq!(ms(&periods), Some(4970));
}
