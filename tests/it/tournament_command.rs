//! Tests of `plyhouse tournament`. Short tournaments also check that each bot level is stronger
//! than the level below it.

use std::num::NonZeroUsize;
use std::process::{Command, Output};

use plyhouse_engine::catalog;
use plyhouse_engine::search::{Level, Limits};
use plyhouse_tools::tournament::{Player, Ratings, Tournament, TournamentPlan};
use serde_json::Value;

/// Checks that each level is stronger than the level below it, and that the lowest level is
/// stronger than random moves. The number of games is small, so the check may miss a strength
/// difference of less than about 50 Elo. After changing the levels, run `plyhouse tournament`.
fn check_level_order(game: &str, openings: usize, opening_plies: u32, nodes: u64) {
    let bots = Level::ALL.map(Player::Bot);
    let plan = TournamentPlan {
        game: catalog::find_game(game).expect("a known game"),
        players: [&[Player::Random], &bots[..]].concat(),
        opening_count: openings,
        opening_plies,
        limits: Limits::nodes(nodes),
        seed: 1,
    };
    let players = plan.players.clone();
    let tournament = Tournament::new(plan).expect("enough distinct openings");
    let threads = NonZeroUsize::new(2).expect("two");
    let ratings = Ratings::fit(players.len(), &tournament.play(threads, || {}));
    for index in 1..players.len() {
        let step = ratings.elo_difference(index, index - 1);
        let [player, below] = [players[index], players[index - 1]];
        assert!(step.elo > 0.0, "{game}: {player} above {below}: {step:?}");
    }
}

/// Uses all openings of two plies. With longer openings, the highest level could hardly play better
/// than the other levels.
#[test]
fn tic_tac_toe_levels_increase_in_strength() {
    check_level_order("tic-tac-toe", 72, 2, 10_000);
}

#[test]
fn connect_four_levels_increase_in_strength() {
    check_level_order("connect-four", 10, 4, 5000);
}

fn run_tournament(options: &str) -> Output {
    let options = options.split_whitespace();
    Command::new(env!("CARGO_BIN_EXE_plyhouse"))
        .arg("tournament")
        .args(options)
        .output()
        .expect("the binary runs")
}

fn tournament_stdout(options: &str) -> String {
    let output = run_tournament(options);
    assert!(output.status.success(), "{options}: {output:?}");
    assert!(output.stderr.is_empty(), "no bar without a terminal");
    String::from_utf8(output.stdout).expect("text")
}

const SMALL_TOURNAMENT: &str = "--game tic-tac-toe --levels hard,easy --games 20";

#[test]
fn command_prints_tables() {
    let text = tournament_stdout(SMALL_TOURNAMENT);
    let head = "tic-tac-toe: 20 games per pair from 10 openings of 3 plies, at most 200000 nodes \
        per move, seed 0";
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], head);
    let begins = |number: usize, name: &str| assert!(lines[number].starts_with(name), "{text}");
    for (number, name) in [
        (2, "player "),
        (3, "hard "),
        (4, "easy "),
        (5, "random "),
        (7, "pair "),
        (8, "hard - easy "),
        (9, "hard - random "),
        (10, "easy - random "),
    ] {
        begins(number, name);
    }
    assert_eq!(lines.len(), 11);
}

#[test]
fn command_prints_consistent_json() {
    let text = tournament_stdout(&format!("{SMALL_TOURNAMENT} --json"));
    let report: Value = serde_json::from_str(&text).expect("one object");
    assert_eq!(report["games_per_pair"], 20);
    let names = |field: &str| -> Vec<&str> {
        let rows = report[field].as_array().expect("rows").iter();
        rows.map(|row| row["player"].as_str().expect("a name"))
            .collect()
    };
    assert_eq!(names("players"), ["hard", "easy", "random"]);
    assert_eq!(names("pairs"), ["hard", "hard", "easy"]);

    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
    let pairs = report["pairs"].as_array().expect("rows");
    for row in pairs {
        let [games, wins, draws, losses] =
            ["games", "wins", "draws", "losses"].map(|field| number(&row[field]));
        assert_eq!((games, wins + draws + losses), (20.0, 20.0), "{row}");
        assert_eq!(number(&row["score"]), (wins + draws / 2.0) / games, "{row}");
        let difference = ["low", "elo", "high"].map(|field| number(&row["difference"][field]));
        assert!(difference.is_sorted(), "{row}");
        assert!((0.0..=1.0).contains(&number(&row["superiority"])), "{row}");
    }
    let hard = &report["players"][0];
    let scores = pairs[..2].iter().map(|row| number(&row["score"]));
    assert_eq!(number(&hard["score"]), scores.sum::<f64>() / 2.0);
    let [own, below] = [0, 1].map(|row| number(&report["players"][row]["rating"]["elo"]));
    // Both ratings are rounded, so the test allows a small difference.
    assert!((number(&hard["step"]["elo"]) - (own - below)).abs() < 0.11);
    let random = &report["players"][2];
    assert_eq!(number(&random["rating"]["elo"]), 0.0);
    assert_eq!(random["step"], Value::Null);
}

#[test]
fn same_seed_prints_same_results() {
    let seven = tournament_stdout(&format!("{SMALL_TOURNAMENT} --seed 7 --threads 1"));
    assert_eq!(
        seven,
        tournament_stdout(&format!("{SMALL_TOURNAMENT} --seed 7 --threads 3"))
    );
    let positional = SMALL_TOURNAMENT.replace("--game ", "");
    assert_eq!(seven, tournament_stdout(&format!("{positional} --seed 7")));
    let eight = tournament_stdout(&format!("{SMALL_TOURNAMENT} --seed 8"));
    assert_ne!(seven.replace("seed 7", "seed 8"), eight);
}

#[test]
fn invalid_options_are_refused_with_a_reason() {
    for (options, why) in [
        ("", "<GAME>"),
        ("whist", "tic-tac-toe"),
        ("--game whist", "tic-tac-toe"),
        ("--game tic-tac-toe --levels easy,perfect", "beginner"),
        ("--game tic-tac-toe --games 7", "an even number"),
        ("--game tic-tac-toe --games 0", "an even number"),
        ("--game tic-tac-toe --nodes 0", "--nodes"),
        ("--game tic-tac-toe --threads 0", "--threads"),
        ("--game tic-tac-toe --games 1000", "found 252, need 500"),
        ("--game tic-tac-toe --listen 127.0.0.1:0", "--listen"),
    ] {
        let output = run_tournament(options);
        assert_eq!(output.status.code(), Some(2), "{options}: {output:?}");
        assert!(output.stdout.is_empty(), "{options}: {output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(why), "{options}: {stderr}");
    }
}
