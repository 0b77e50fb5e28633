//! Golden-file tests of complete games. `tests/data/<game>.playthrough` contains the data that
//! players receive at every ply, so a change to the rules or the notation appears as a readable
//! diff.
//!
//! A golden file lists each game by its moves (`game b2 a1 …`), and the test generates all other
//! lines. To add a game, add a line with the moves. To accept a change or a new game, run the test
//! with `REGENERATE=1`.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use plyhouse_engine::catalog::{CATALOG, GameEntry};
use plyhouse_engine::game::Outcome;

#[test]
fn every_game_matches_its_golden_playthrough() {
    for entry in &CATALOG {
        check_playthrough(entry);
    }
}

fn check_playthrough(entry: &GameEntry) {
    let name = format!("{}.playthrough", entry.info.id);
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "data", &name]
        .iter()
        .collect();
    let golden = fs::read_to_string(&path).expect(&name);

    let comments = golden.lines().take_while(|line| line.starts_with('#'));
    let mut replayed: String = comments.map(|line| format!("{line}\n")).collect();
    let games: Vec<&str> = golden
        .lines()
        .filter_map(|line| line.strip_prefix("game "))
        .collect();
    assert!(!games.is_empty(), "{name} names its games");
    for moves in games {
        replayed.push_str(&format_playthrough(entry, moves));
    }

    if env::var_os("REGENERATE").is_some() {
        fs::write(&path, &replayed).expect(&name);
    } else {
        let differs = replayed
            .lines()
            .zip(golden.lines())
            .find(|(now, before)| now != before);
        assert_eq!(replayed, golden, "{name}; first difference: {differs:?}");
    }
}

/// Plays the given moves and formats the game: the data of every ply, followed by the result.
fn format_playthrough(entry: &GameEntry, moves: &str) -> String {
    let mut pos = entry.initial_position();
    let mut output = format!("\ngame {moves}\n");
    for (ply, text) in moves.split_whitespace().enumerate() {
        let (side, legal) = (
            entry.info.sides[pos.turn().index()],
            pos.legal_moves().join(" "),
        );
        write!(
            output,
            "\nply {ply}\nposition {pos}\nturn {side}\nlegal {legal}\n"
        )
        .expect("a string");
        assert_eq!(
            (pos.outcome(), pos.ending(), pos.winning_line()),
            (None, None, None),
            "{moves} at ply {ply}"
        );

        let m = pos.play(text).expect(text);
        writeln!(output, "move {m}").expect("a string");
    }

    assert!(pos.legal_moves().is_empty(), "{moves} plays to the end");
    let outcome = match pos.outcome().expect("game is over") {
        Outcome::Decisive { winner } => format!("{} wins", entry.info.sides[winner.index()]),
        Outcome::Draw => "draw".to_owned(),
    };
    write!(output, "\nend\nposition {pos}\noutcome {outcome}\n").expect("a string");
    if let Some(ending) = pos.ending() {
        writeln!(output, "detail {}", ending.detail).expect("a string");
        if let Some([first, second]) = ending.scores {
            writeln!(output, "scores {first} {second}").expect("a string");
        }
    }
    if let Some(line) = pos.winning_line() {
        writeln!(output, "line {}", line.join(" ")).expect("a string");
    }
    output
}
