//! Compares all searches with plain minimax. Pruning must not change the value of a position. The
//! tests compare values and not moves, because several moves can be equally good.
//!
//! With a good evaluation, related positions have mostly consistent values, so a faulty search may
//! still return the right value. The tests therefore also use random evaluations and a random game
//! tree.

mod test_games;

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::time::Duration;

use test_games::{RandomTree, RandomlyEvaluated, UnsafelyPruned};

use super::alpha_beta::alpha_beta;
use super::iterative_deepening::deepen;
use super::minimax::{Scale, minimax};
use super::pvs::Searcher;
use super::search_options::SearchOptions;
use super::search_result::SearchResult;
use super::search_window::Window;
use super::{Evaluate, Limits, Score, Stop, TranspositionTable, search, solve};
use crate::game::conformance::{pick_index, random_game};
use crate::game::connect_four::ConnectFour;
use crate::game::othello::Othello;
use crate::game::tic_tac_toe::TicTacToe;
use crate::game::{GameHistory, KeyHistory, Position};

/// Table size in bytes. The table is small enough that entries of different positions compete for
/// slots.
const TABLE_BYTES: usize = 1 << 14;

/// Returns search options for all four combinations of the transposition table and aspiration
/// windows. These techniques must not change values.
fn exact_options() -> [SearchOptions; 4] {
    [(true, true), (true, false), (false, true), (false, false)].map(|(table, aspiration)| {
        SearchOptions {
            transposition_table: table,
            aspiration_windows: aspiration,
            ..SearchOptions::EXACT
        }
    })
}

/// Returns the value that plain minimax computes.
fn minimax_value<P: Evaluate>(pos: &P, depth: u32) -> Score {
    minimax(pos, depth, Scale::Plies).score
}

fn run_unlimited<P: Evaluate, T>(
    options: SearchOptions,
    run: impl FnOnce(&mut Searcher<'_, P>) -> T,
) -> T {
    let (table, stop) = (TranspositionTable::new(TABLE_BYTES), Stop::new());
    let (limits, keys) = (Limits::default(), KeyHistory::new());
    run(&mut Searcher::new(limits, &stop, &table, options, &keys))
}

/// Returns every reachable position of tic-tac-toe, sorted by text form.
pub(super) fn all_positions() -> Vec<TicTacToe> {
    let mut visited = BTreeSet::new();
    let mut open = vec![TicTacToe::initial()];
    let mut positions = Vec::new();
    while let Some(pos) = open.pop() {
        if visited.insert(pos.to_string()) {
            open.extend(children(&pos).into_iter().map(|(_, child)| child));
            positions.push(pos);
        }
    }
    assert_eq!(positions.len(), 5478);
    positions.sort_by_cached_key(TicTacToe::to_string);
    positions
}

/// Values of all reachable tic-tac-toe positions for the seat to move, computed by plain minimax.
pub(super) static VALUES: LazyLock<HashMap<TicTacToe, Score>> = LazyLock::new(|| {
    all_positions()
        .into_iter()
        .map(|pos| (pos, minimax_value(&pos, 9)))
        .collect()
});

pub(super) fn children<P: Position>(pos: &P) -> Vec<(P::Move, P)> {
    let mut moves = Vec::new();
    pos.legal_moves(&mut moves);
    moves.into_iter().map(|m| (m, pos.after(m))).collect()
}

/// Compares each search with plain minimax in one position at one depth, for every combination of
/// options.
fn check_all_searches<P: Evaluate>(pos: &P, depth: u32) {
    let value = minimax_value(pos, depth);
    assert_eq!(alpha_beta(pos, depth, Scale::Plies).score, value, "{pos:?}");
    for options in exact_options() {
        check_window_results(pos, depth, value, options);
        if pos.outcome().is_none() && depth > 0 {
            check_iterative_deepening(pos, depth, value, options);
            check_margin(pos, depth, value, options);
        }
    }
}

/// Checks that a search returns the exact value if the value lies inside the window, and otherwise
/// a valid bound.
fn check_window_results<P: Evaluate>(pos: &P, depth: u32, expected: Score, options: SearchOptions) {
    let near_zero = |by: i32| {
        Score::estimate(
            i32::try_from(pick_index((pos, depth), 40)).expect("the number is small") - 20 + by,
        )
    };
    let windows = [
        Window::FULL,
        Window {
            alpha: near_zero(0),
            beta: near_zero(1),
        },
        Window {
            alpha: near_zero(-9),
            beta: near_zero(9),
        },
        Window {
            alpha: Score::loss_in(2),
            beta: Score::loss_in(6),
        },
    ];
    for window in windows {
        let score = run_unlimited(options, |search| {
            search.search_position(pos, depth, 0, window)
        });
        let score = score.expect("the search has no limit");
        let is_correct_bound = if score <= window.alpha {
            expected <= score
        } else if score >= window.beta {
            expected >= score
        } else {
            expected == score
        };
        // At depth 1, only scores at or above beta cause a cutoff. At this depth, a fail-soft
        // result at or below alpha must therefore be the exact value.
        let is_exact_below_alpha = depth != 1 || score > window.alpha || score == expected;
        assert!(
            is_correct_bound && is_exact_below_alpha,
            "{score} in {window:?}, truly {expected}, {pos:?} at depth {depth}"
        );
    }
}

/// Checks that the principal variation is a line of legal moves and leads to the reported score.
fn check_iterative_deepening<P: Evaluate>(
    pos: &P,
    depth: u32,
    value: Score,
    options: SearchOptions,
) {
    let result = run_unlimited(options, |search| deepen(search, pos, None, depth));
    let SearchResult {
        score,
        pv,
        near_best_moves: close,
        ..
    } = &result;
    assert_eq!(*score, value, "{pos:?} at depth {depth}: {result:?}");
    assert_eq!(*close, [(pv[0], value)], "{pos:?} at depth {depth}");

    let mut end = pos.clone();
    for m in pv {
        end.play(*m).expect("the variation is legal");
    }
    let plies = u32::try_from(pv.len()).expect("the line is short");
    let end_value = minimax_value(&end, 0);
    let end_value_for_root = if end.turn() == pos.turn() {
        end_value
    } else {
        -end_value
    };
    match end.outcome() {
        Some(outcome) => {
            let score = Score::from_game_end(outcome, end.ending(), pos.turn(), plies);
            assert_eq!(score, value, "{pos:?}");
        }
        None => assert_eq!(
            (end_value_for_root, plies),
            (value, result.depth),
            "{pos:?}"
        ),
    }
}

/// Checks that the search reports all moves within the margin and no others, with their values.
fn check_margin<P: Evaluate>(pos: &P, depth: u32, value: Score, options: SearchOptions) {
    // A margin of 0 includes only moves that are as good as the best move. A margin of 15 includes
    // many moves in test games whose values lie between -20 and 20.
    let margin = [0, 15][pick_index(("margin", pos), 2)];
    let mut result = run_unlimited(options, |search| deepen(search, pos, Some(margin), depth));
    let near_best = &mut result.near_best_moves;
    for (m, child) in children(pos) {
        let score = minimax_value(&child, result.depth - 1);
        let score = one_ply_later(if child.turn() == pos.turn() {
            score
        } else {
            -score
        });
        let expected = Some(score).filter(|score| *score >= value.saturating_sub(margin));
        let index = near_best.iter().position(|(listed, _)| *listed == m);
        let reported = index.map(|index| near_best.swap_remove(index).1);
        assert_eq!(
            reported, expected,
            "{m:?} in {pos:?}, margin {margin}, depth {depth}"
        );
    }
    assert!(near_best.is_empty());
}

/// Converts a score counted from a child position to a score counted from its parent. Wins and
/// losses become one ply more distant.
fn one_ply_later(score: Score) -> Score {
    match score.plies_to_end() {
        Some(plies) if score > Score::DRAW => Score::win_in(plies + 1),
        Some(plies) => Score::loss_in(plies + 1),
        None => score,
    }
}

#[test]
fn search_matches_minimax_in_every_tic_tac_toe_position() {
    let (mut won, mut drawn, mut lost) = (0, 0, 0);
    for (pos, value) in VALUES.iter() {
        if let Some(report) = search(
            &GameHistory::from(*pos),
            &Limits::default(),
            &Stop::new(),
            &TranspositionTable::new(TABLE_BYTES),
        ) {
            assert_eq!(report.score, *value, "{pos}");
        }
        match value.cmp(&Score::DRAW) {
            Ordering::Greater => won += 1,
            Ordering::Equal => drawn += 1,
            Ordering::Less => lost += 1,
        }
    }
    assert_eq!(
        (won, drawn, lost),
        (2836, 1068, 1574),
        "for the seat to move"
    );
}

#[test]
fn searches_match_minimax_on_random_evaluations() {
    for pos in all_positions() {
        let empty = pos.to_string().matches('.').count();
        // Plain minimax is slow on emptier boards, so the test searches most of them to 4 plies
        // only.
        let deepest = if empty > 5 && pick_index(pos, 16) != 0 {
            4
        } else {
            empty.min(7)
        };
        for depth in 0..=u32::try_from(deepest).expect("at most 9") {
            check_all_searches(&RandomlyEvaluated(pos), depth);
        }
    }
}

#[test]
fn searches_match_minimax_on_random_trees() {
    for seed in 0..300 {
        for depth in 0..6 {
            check_all_searches(&RandomTree::with_seed(seed), depth);
        }
    }
}

/// Checks that a search to the end of the game with all game knowledge returns the value of plain
/// minimax.
fn check_solver<P: Evaluate>(pos: &P) {
    let (limits, stop, table) = (
        Limits::default(),
        Stop::new(),
        TranspositionTable::new(TABLE_BYTES),
    );
    let value = minimax_value(pos, pos.remaining_plies_max());
    let solved = solve(&GameHistory::from(pos.clone()), &limits, &stop, &table)
        .expect("the game is not over");
    let result = run_unlimited(SearchOptions::ALL, |search| {
        deepen(search, pos, None, pos.remaining_plies_max())
    });
    assert_eq!((solved.score, result.score), (value, value), "{pos}");
    for pv in [solved.pv, result.pv] {
        let position_after = pos.after(pv[0]);
        assert_eq!(
            one_ply_later(-minimax_value(
                &position_after,
                pos.remaining_plies_max() - 1
            )),
            value,
            "{pos}: {}",
            pv[0]
        );
    }
}

#[test]
fn game_knowledge_does_not_change_solved_values() {
    for pos in all_positions().iter().filter(|pos| pos.outcome().is_none()) {
        if pos.remaining_plies_max() <= 7 {
            check_solver(pos);
        }
    }
    for seed in 0..150 {
        for pos in random_game::<ConnectFour>(seed).0 {
            if pos.remaining_plies_max() <= 8 && pos.outcome().is_none() {
                check_solver(&pos);
            }
        }
    }
    for seed in 0..40 {
        for pos in random_game::<Othello>(seed).0 {
            if pos.remaining_plies_max() <= 8 && pos.outcome().is_none() {
                check_solver(&pos);
            }
        }
    }
}

#[test]
fn connect_four_searches_match_minimax_at_limited_depth() {
    for seed in 0..30 {
        let positions = random_game::<ConnectFour>(seed).0;
        let pos = positions[pick_index(("cut", seed), positions.len())];
        for depth in 0..4 {
            check_all_searches(&pos, depth);
        }
    }
}

#[test]
fn search_prefers_faster_wins_and_slower_losses() {
    let best = |text: &str| {
        let pos: TicTacToe = text.parse().expect(text);
        let report = search(
            &GameHistory::from(pos),
            &Limits::default(),
            &Stop::new(),
            &TranspositionTable::new(TABLE_BYTES),
        )
        .expect(text);
        format!("{}: {}", report.score, report.pv[0])
    };
    assert_eq!(best("xox/oox/..."), "win in 1: c1");
    assert_eq!(best("xxo/x../o.."), "win in 1: b2"); // b1 is listed first, but wins in 3 plies.
    assert_eq!(best(".../..o/xxo"), "loss in 4: c3");
}

/// When the budget is exhausted, the search returns the best move of the last completed iteration.
/// The search may also return another move that proves better when searched one ply deeper.
#[test]
fn any_node_limit_yields_a_move_no_worse_than_its_full_depth() {
    for seed in 0..20 {
        let pos = RandomTree::with_seed(seed);
        for nodes in (0..600).step_by(11) {
            let limits = Limits::nodes(nodes);
            let interrupted = search(
                &GameHistory::from(pos.clone()),
                &limits,
                &Stop::new(),
                &TranspositionTable::new(TABLE_BYTES),
            )
            .expect("the game is not over");
            // The first iteration visits the root once. It visits each child of the root at most
            // twice: with a null window and with the full window.
            assert!(
                interrupted.nodes <= nodes.max(11),
                "{nodes}: {interrupted:?}"
            );

            let limits = Limits::depth(interrupted.depth);
            let complete = search(
                &GameHistory::from(pos.clone()),
                &limits,
                &Stop::new(),
                &TranspositionTable::new(TABLE_BYTES),
            )
            .expect("the game is not over");
            let value_one_ply_deeper = |m| {
                let (_, child) = children(&pos).swap_remove(usize::from(m));
                let score = minimax_value(&child, interrupted.depth);
                if child.turn() == pos.turn() {
                    score
                } else {
                    -score
                }
            };
            let [chosen, full_depth_move] = [interrupted.pv[0], complete.pv[0]];
            assert!(
                chosen == full_depth_move
                    || value_one_ply_deeper(chosen) > value_one_ply_deeper(full_depth_move),
                "{nodes}: {interrupted:?}"
            );
        }
    }
}

/// A set stop flag or an expired time limit ends the search, but only after the first iteration.
#[test]
fn stopped_search_returns_after_one_ply() {
    let (stopped, no_time) = (Stop::new(), Limits::time(Duration::ZERO));
    stopped.clone().stop();
    for (limits, stop) in [(Limits::default(), stopped), (no_time, Stop::new())] {
        let report = search(
            &GameHistory::<TicTacToe>::initial(),
            &limits,
            &stop,
            &TranspositionTable::new(TABLE_BYTES),
        )
        .expect("the game is not over");
        assert_eq!((report.depth, report.nodes, report.pv.len()), (1, 10, 1));
    }
}

/// Identical searches must return equal results at equal cost, even if the table had different
/// contents before it was cleared.
#[test]
fn equal_searches_give_equal_results_and_node_counts() {
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(TABLE_BYTES));
    for seed in 0..12 {
        let positions = random_game::<ConnectFour>(seed).0;
        let pos = positions[12.min(positions.len() - 2)];
        for (depth, nodes) in [(Some(6), None), (None, Some(20_000))] {
            let limits = Limits {
                depth,
                nodes,
                ..Limits::default()
            };
            let [first, second] = [0, 1].map(|_| {
                table.clear();
                let report = search(&GameHistory::from(pos), &limits, &stop, &table)
                    .expect("the game is not over");
                (
                    report.score,
                    report.nodes,
                    report.pv,
                    report.table_fill_per_mille,
                )
            });
            assert_eq!(first, second, "{pos}");
        }
    }
}

/// An interrupted search must return a legal move, and everything that it reports as proven must be
/// correct.
#[test]
fn interrupted_proof_claims_nothing_false() {
    let pos = random_game::<ConnectFour>(3).0[22];
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(TABLE_BYTES));
    let value = solve(&GameHistory::from(pos), &Limits::default(), &stop, &table)
        .expect("the game is not over")
        .score;
    for nodes in (0..60).map(|step| step * step * 4) {
        let limits = Limits::nodes(nodes);
        table.clear();
        let report =
            search(&GameHistory::from(pos), &limits, &stop, &table).expect("the game is not over");
        assert!(report.nodes <= nodes.max(15), "{report:?}");
        assert_eq!(pos.check_legal(report.pv[0]), Ok(()), "{report:?}");
        assert!(
            !report.exact || report.score == value,
            "{report:?}, truly {value}"
        );
        if report.score > Score::DRAW && report.score.plies_to_end().is_some() {
            assert!(report.score <= value, "{report:?}, truly {value}");
        }
    }
}

/// If a position is not known to be lost, the report contains an estimate or a proven result. A
/// search may prove only that the seat does not lose within a few plies. Such a bound must not
/// replace an estimate.
#[test]
fn uninformative_bound_is_not_reported() {
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(1 << 20));
    // The opening book gives no result for this position.
    let mut history = GameHistory::<ConnectFour>::initial();
    for m in ["1", "2", "3"] {
        history.play(m.parse().expect(m)).expect(m);
    }
    for nodes in (0..8).map(|step| 5_000 << step) {
        let limits = Limits::nodes(nodes);
        table.clear();
        let report = search(&history, &limits, &stop, &table).expect("the game is not over");
        assert_eq!(report.score.plies_to_end(), None, "{report:?}");
    }
}

#[test]
fn three_threads_find_the_same_value_as_one() {
    let (stop, mut table) = (Stop::new(), TranspositionTable::new(TABLE_BYTES));
    for seed in 0..8 {
        let positions = random_game::<ConnectFour>(seed).0;
        let pos = positions[24.min(positions.len() - 2)];
        let [one, three] = [1, 3].map(|threads| {
            table.clear();
            let limits = Limits {
                threads: NonZeroUsize::new(threads),
                ..Limits::default()
            };
            solve(&GameHistory::from(pos), &limits, &stop, &table)
                .expect("the game is not over")
                .score
        });
        assert_eq!(one, three, "{pos}");
    }
}

#[test]
fn unsafe_pruning_reports_no_false_wins_or_losses() {
    let mut decided = 0;
    for seed in 0..300 {
        let positions = random_game::<TicTacToe>(seed).0;
        let pos = positions[2.min(positions.len() - 2)];
        for depth in 1..=7 {
            let score = run_unlimited(SearchOptions::ALL, |search| {
                deepen(search, &UnsafelyPruned(RandomlyEvaluated(pos)), None, depth).score
            });
            if score.plies_to_end().is_some() {
                decided += 1;
                let expected = VALUES[&pos];
                assert!(
                    expected.plies_to_end().is_some(),
                    "{score} in {pos}, truly {expected}"
                );
                assert_eq!(score > Score::DRAW, expected > Score::DRAW, "{pos}");
            }
        }
    }
    assert!(decided > 300, "{decided}");
}

/// A technique that may change values must have no effect unless its option is set.
#[test]
fn disabled_unsafe_pruning_does_not_change_values() {
    let (mut fewer, mut nodes) = (0, [0, 0]);
    for seed in 0..200 {
        let pos = random_game::<TicTacToe>(seed).0[1];
        let results = [
            SearchOptions::EXACT,
            SearchOptions {
                null_move: true,
                late_move_reductions: true,
                futility: true,
                ..SearchOptions::EXACT
            },
        ]
        .map(|options| {
            run_unlimited(options, |search| {
                let result = deepen(search, &UnsafelyPruned(RandomlyEvaluated(pos)), None, 6);
                (result.score, search.budget.nodes())
            })
        });
        assert_eq!(
            results[0].0,
            minimax_value(&UnsafelyPruned(RandomlyEvaluated(pos)), 6),
            "{pos}"
        );
        fewer += u32::from(results[1].1 < results[0].1);
        nodes = [nodes[0] + results[0].1, nodes[1] + results[1].1];
    }
    assert!(
        nodes[1] < nodes[0] && fewer > 100,
        "{nodes:?}, fewer {fewer} times"
    );
}
