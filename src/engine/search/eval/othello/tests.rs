use super::*;
use crate::game::GameHistory;
use crate::game::conformance::random_game;
use crate::search::minimax::{Scale, minimax};
use crate::search::{Limits, Stop, TranspositionTable, search, solve};

/// Solves the positions of a file and compares the final disc margins with the known scores. The
/// solver must also find the same margin for the position after the best move.
fn check_problem_file(file: &str, count: usize) {
    let (limits, stop, mut table) = (
        Limits::default(),
        Stop::new(),
        TranspositionTable::new(64 << 20),
    );
    let lines = file.lines().filter(|line| !line.starts_with('%'));
    let mut solved = 0;
    for line in lines {
        let (position, best) = line.split_once(';').expect(line);
        let (_, score) = best.trim_end_matches(';').split_once(':').expect(line);
        let score: i32 = score.parse().expect(line);
        let pos: Othello = position.replace('X', "*").parse().expect(line);
        table.clear();
        let report = solve(&GameHistory::from(pos), &limits, &stop, &table).expect(line);
        assert_eq!(report.score, Score::win_by_points(score), "{line}");
        let after = GameHistory::from(pos.after(report.pv[0]));
        let reply = solve(&after, &limits, &stop, &table).expect(line);
        assert_eq!(-reply.score, report.score, "{line}");
        solved += 1;
    }
    assert_eq!(solved, count);
}

#[test]
fn solver_finds_the_disc_margins_of_the_ffo_positions() {
    check_problem_file(include_str!("../../../../../tests/data/othello.obf"), 19);
}

/// The endgame solver returns the minimax value, or a bound on it if the value is outside the
/// window.
#[test]
fn endgame_solver_matches_minimax_for_any_window() {
    let mut checked = 0;
    for seed in 0..200 {
        for pos in random_game::<Othello>(seed).0 {
            if pos.empties() > EMPTIES_MAX || pos.outcome().is_some() {
                continue;
            }
            let expected = minimax(&pos, pos.remaining_plies_max(), Scale::Plies).score;
            let value = |alpha: i32, beta: i32| {
                let (alpha, beta) = (Score::win_by_points(alpha), Score::win_by_points(beta));
                pos.solve_directly(alpha, beta, &mut 0)
                    .expect("few squares are empty")
            };
            assert_eq!(value(-65, 65), expected, "{pos}");
            for alpha in (-64..64).step_by(7) {
                let (alpha_score, found) = (Score::win_by_points(alpha), value(alpha, alpha + 1));
                assert_eq!(
                    found > alpha_score,
                    expected > alpha_score,
                    "{pos}, {alpha}"
                );
                let is_bound = if found > alpha_score {
                    found <= expected
                } else {
                    found >= expected
                };
                assert!(is_bound, "{pos}, {alpha}: {found}, truly {expected}");
            }
            checked += 1;
        }
    }
    assert!(checked > 1000, "{checked}");
}

/// The transposition table, move ordering and pruning must not change the value of a position.
#[test]
fn solver_matches_the_endgame_solver_beyond_its_range() {
    let mut checked = 0;
    for seed in 0..40 {
        for pos in random_game::<Othello>(seed).0 {
            let is_near = (EMPTIES_MAX + 1..=10).contains(&pos.empties());
            if !is_near || pos.outcome().is_some() {
                continue;
            }
            let expected = endgame_solver::solve_margin(
                pos.discs(),
                pos.playable_squares(),
                [-64, 64],
                &mut 0,
            );
            let (limits, stop, table) = (
                Limits::default(),
                Stop::new(),
                TranspositionTable::new(1 << 20),
            );
            let report = solve(&GameHistory::from(pos), &limits, &stop, &table)
                .expect("the game is not over");
            assert_eq!(report.score, Score::win_by_points(expected), "{pos}");
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

/// At full strength, the search maximizes its disc margin even if the winner is already known.
#[test]
fn full_strength_maximizes_the_disc_margin() {
    let pos: Othello = "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X"
        .replace('X', "*")
        .parse()
        .expect("the position is valid");
    let (limits, stop, table) = (
        Limits::default(),
        Stop::new(),
        TranspositionTable::new(16 << 20),
    );
    let report =
        search(&GameHistory::from(pos), &limits, &stop, &table).expect("the game is not over");
    assert_eq!(
        (report.score, report.exact),
        (Score::win_by_points(18), true)
    );
    assert_eq!(report.pv[0].to_string(), "g8");
}

/// Estimates are converted to discs, too, and limited to the number of squares.
#[test]
fn conventional_score_is_in_discs() {
    let pos = Othello::initial();
    let estimates = [0, 5, 6, -6, 77, -77, 900].map(Score::estimate);
    let scores = estimates.map(|score| pos.conventional_score(score));
    assert_eq!(scores, [0, 0, 1, -1, 6, -6, 64]);
    assert_eq!(pos.conventional_score(Score::win_by_points(-18)), -18);
}

/// The notes that the search stores with the moves must not change the resulting positions.
#[test]
fn candidates_are_the_legal_moves() {
    for pos in (0..50).flat_map(|seed| random_game::<Othello>(seed).0) {
        let (mut legal, mut candidates) = (Vec::new(), MoveStack::new());
        pos.legal_moves(&mut legal);
        if pos.outcome().is_some() {
            continue;
        }
        candidates.push_list();
        pos.list_candidates(&mut candidates);
        let listed: Vec<_> = candidates
            .top_list()
            .iter()
            .map(|ranked| ranked.m)
            .collect();
        assert_eq!(listed, legal, "{pos}");
        for ranked in candidates.top_list() {
            assert_eq!(
                pos.after_candidate(ranked.m, ranked.note),
                pos.after(ranked.m),
                "{pos}"
            );
        }
    }
}

fn check_estimate(better: &str, worse: &str) {
    let value = |text: &str| {
        let pos: Othello = text.parse().expect(text);
        pos.evaluate()
    };
    assert!(value(better) > value(worse), "{better} over {worse}");
}

/// In the first pair, one side holds a corner and the square diagonally next to it. This side is
/// the side to move in the better position, and its opponent in the worse position. In the second
/// pair, the better position has an empty square diagonally next to an empty corner. In the worse
/// position, the side to move holds the square diagonally next to this corner.
#[test]
fn evaluation_rewards_corners_and_penalizes_adjacent_squares() {
    check_estimate(
        "*--------*-------***O-----**OO----*OO*---**OO------------------- *",
        "O--------O-------***O-----**OO----*OO*---**OO------------------- *",
    );
    check_estimate(
        "------------------**O-----**OO----*OO*---**OO------------------- *",
        "---------*-------***O-----**OO----*OO*---**OO------------------- *",
    );
}
