use super::*;
use crate::game::conformance::random_game;
use crate::game::{GameHistory, Outcome};
use crate::search::move_selection::choose_move;
use crate::search::{Level, Limits, Report, Stop, TranspositionTable, search};

fn evaluate_fen(fen: &str) -> i32 {
    fen.parse::<Chess>().expect(fen).evaluate().value()
}

/// Returns the FEN of the position with the board flipped and the colours exchanged.
fn color_flipped(fen: &str) -> String {
    let fields: Vec<&str> = fen.split(' ').collect();
    let swapped = |text: &str| -> String {
        let swap = |c: char| {
            if c.is_ascii_uppercase() {
                c.to_ascii_lowercase()
            } else {
                c.to_ascii_uppercase()
            }
        };
        text.chars().map(swap).collect()
    };
    let ranks: Vec<String> = fields[0].rsplit('/').map(swapped).collect();
    let turn = if fields[1] == "w" { "b" } else { "w" };
    let castling = swapped(fields[2]);
    let order = |c: &char| "KQkq".find(*c);
    let mut rights: Vec<char> = castling.chars().collect();
    rights.sort_by_key(order);
    format!(
        "{} {turn} {} - 0 1",
        ranks.join("/"),
        String::from_iter(rights)
    )
}

#[test]
fn evaluation_is_the_same_for_both_colors() {
    for seed in 0..30 {
        for pos in random_game::<Chess>(seed).0 {
            let fen = pos.to_string();
            assert_eq!(
                evaluate_fen(&color_flipped(&fen)),
                pos.evaluate().value(),
                "{fen}"
            );
        }
    }
}

/// White is to move in every position. The first position of each pair is better for White than the
/// second.
#[test]
fn evaluation_prefers_known_advantages() {
    for (better, worse, reason) in [
        (
            "4k3/8/8/3P4/8/8/8/4K3",
            "4k3/8/8/8/8/3P4/8/4K3",
            "a passed pawn that has come farther",
        ),
        (
            "4k3/7p/8/8/8/8/PP6/4K3",
            "4k3/7p/8/8/8/P7/P7/4K3",
            "doubled pawns",
        ),
        (
            "4k3/p1p5/8/8/8/8/PP6/4K3",
            "4k3/p1p5/8/8/8/8/P2P4/4K3",
            "isolated pawns",
        ),
        (
            "4k3/p6p/8/8/8/8/P6P/2B1KB2",
            "4k3/p6p/8/8/8/8/P6P/2B1KN2",
            "two bishops",
        ),
        (
            "4k3/p6p/8/8/8/8/P6P/3RK3",
            "4k3/p6p/8/8/8/8/P6P/R3K3",
            "a rook on an open file",
        ),
        (
            "7k/8/8/8/8/5K2/8/R7",
            "8/8/8/4k3/8/5K2/8/R7",
            "a bare king on the rim",
        ),
        (
            "r1bq1rk1/pppp1ppp/8/8/8/8/PPPP1PPP/R1BQ1RK1",
            "r1bq1rk1/pppp1ppp/8/8/1PP5/8/P2P1PPP/R1BQK2R",
            "a sheltered king",
        ),
    ] {
        let [better, worse] =
            [better, worse].map(|board| evaluate_fen(&format!("{board} w - - 0 1")));
        assert!(better > worse, "{reason}: {better} and {worse}");
    }
}

#[test]
fn insufficient_mating_material_is_no_advantage() {
    for fen in [
        "4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1",
        "4k3/p7/8/8/8/8/8/4KB2 w - - 0 1",
    ] {
        assert!(evaluate_fen(fen) <= 0, "{fen}");
    }
}

#[test]
fn bare_king_is_mated_with_150_nodes_a_move() {
    for fen in [
        "8/8/8/3k4/8/8/8/KQ6 w - - 0 1",
        "8/8/8/3k4/8/8/8/KR6 w - - 0 1",
    ] {
        let mut history = GameHistory::from(fen.parse::<Chess>().expect(fen));
        let winner = history.position().turn();
        let mut table = TranspositionTable::new(1 << 16);
        while history.outcome().is_none() {
            table.start_search();
            let report = search(&history, &Limits::nodes(150), &Stop::new(), &table);
            let Report { pv, .. } = report.expect("the game is not over");
            history.play(pv[0]).expect(fen);
        }
        let outcome = history.outcome();
        assert_eq!(outcome, Some(Outcome::Decisive { winner }), "{fen}");
    }
}

#[test]
fn medium_and_hard_mate_a_bare_king_against_best_defence() {
    let (stop, limits) = (Stop::new(), Limits::nodes(5000));
    let mut table = TranspositionTable::new(1 << 16);
    for fen in [
        "8/8/8/3k4/8/8/8/KQ6 w - - 0 1",
        "8/8/8/3k4/8/8/8/KR6 w - - 0 1",
    ] {
        for level in [Level::Medium, Level::Hard] {
            let mut history = GameHistory::from(fen.parse::<Chess>().expect(fen));
            let winner = history.position().turn();
            while history.outcome().is_none() {
                let level = match history.position().turn() == winner {
                    true => level,
                    false => Level::Max,
                };
                let choice = choose_move(&history, level, 0, &limits, &stop, &mut table);
                let (m, _) = choice.expect("the game is not over");
                history.play(m).expect(fen);
            }
            let won = Some(Outcome::Decisive { winner });
            assert_eq!(history.outcome(), won, "{level}: {fen}");
        }
    }
}
