//! Plain minimax as the judge of the search: whatever alpha-beta leaves out, it must find the same
//! values. Values are judged, not moves: among equals any is right.
//!
//! A good evaluator hides mistakes, since most of its values agree with each other. So the searches
//! are also compared with values that are random, and in a game without any sense or regularity.

mod games;

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::time::Duration;

use games::{Hashed, Reckless, Tree};

use super::alpha_beta::alpha_beta;
use super::budget::Budget;
use super::deepening::deepen;
use super::findings::Findings;
use super::minimax::{Scale, minimax};
use super::parts::Parts;
use super::pvs::Searcher;
use super::window::Window;
use super::{Evaluate, Limits, Score, Stop, Table, search, solve};
use crate::game::conformance::{pick_index, random_game};
use crate::game::connect_four::ConnectFour;
use crate::game::othello::Othello;
use crate::game::tic_tac_toe::TicTacToe;
use crate::game::{GameHistory, KeyHistory, Position};

/// A table so small that entries of different positions contend for its places.
const TABLE_BYTES: usize = 1 << 14;

/// Every choice of the parts that change no value.
fn exact_parts() -> [Parts; 4] {
    [(true, true), (true, false), (false, true), (false, false)].map(|(table, aspiration)| Parts {
        table,
        aspiration,
        ..Parts::EXACT
    })
}

/// The value by plain minimax.
fn truth<P: Evaluate>(pos: &P, depth: u32) -> Score {
    minimax(pos, depth, Scale::Plies).score
}

fn unlimited<P: Evaluate, T>(parts: Parts, look: impl FnOnce(&mut Searcher<'_, P>) -> T) -> T {
    let (table, stop) = (Table::new(TABLE_BYTES), Stop::new());
    let budget = Budget::new(Limits::default(), &stop);
    look(&mut Searcher::new(
        budget,
        &table,
        parts,
        &KeyHistory::new(),
    ))
}

/// Every position of tic-tac-toe that play can reach, in the order of their texts.
pub(super) fn all_positions() -> Vec<TicTacToe> {
    let mut seen = BTreeSet::new();
    let mut open = vec![TicTacToe::initial()];
    let mut all = Vec::new();
    while let Some(pos) = open.pop() {
        if seen.insert(pos.to_string()) {
            open.extend(children(&pos).into_iter().map(|(_, child)| child));
            all.push(pos);
        }
    }
    assert_eq!(all.len(), 5478);
    all.sort_by_cached_key(TicTacToe::to_string);
    all
}

/// The value of every position of tic-tac-toe for the seat to move, by plain minimax.
pub(super) static VALUES: LazyLock<HashMap<TicTacToe, Score>> = LazyLock::new(|| {
    all_positions()
        .into_iter()
        .map(|pos| (pos, truth(&pos, 9)))
        .collect()
});

pub(super) fn children<P: Position>(pos: &P) -> Vec<(P::Move, P)> {
    let mut moves = Vec::new();
    pos.legal_moves(&mut moves);
    moves.into_iter().map(|m| (m, pos.after(m))).collect()
}

/// Compares every setting of the search with plain minimax, at one position and depth.
fn check<P: Evaluate>(pos: &P, depth: u32) {
    let value = truth(pos, depth);
    assert_eq!(alpha_beta(pos, depth, Scale::Plies).score, value, "{pos:?}");
    for parts in exact_parts() {
        check_windows(pos, depth, value, parts);
        if pos.outcome().is_none() && depth > 0 {
            check_deepening(pos, depth, value, parts);
            check_margin(pos, depth, value, parts);
        }
    }
}

/// A window tells on which side of it the value lies, and the value itself within it.
fn check_windows<P: Evaluate>(pos: &P, depth: u32, truth: Score, parts: Parts) {
    let narrow = |by: i32| {
        Score::estimate(i32::try_from(pick_index((pos, depth), 40)).expect("small") - 20 + by)
    };
    let windows = [
        Window::FULL,
        Window {
            alpha: narrow(0),
            beta: narrow(1),
        },
        Window {
            alpha: narrow(-9),
            beta: narrow(9),
        },
        Window {
            alpha: Score::loss_in(2),
            beta: Score::loss_in(6),
        },
    ];
    for window in windows {
        let score = unlimited(parts, |search| search.value(pos, depth, 0, window));
        let score = score.expect("no limit");
        let right = if score <= window.alpha {
            truth <= score
        } else if score >= window.beta {
            truth >= score
        } else {
            truth == score
        };
        // At depth 1 nothing but beta cuts, so failing low, softly, tells the value itself.
        let soft = depth != 1 || score > window.alpha || score == truth;
        assert!(
            right && soft,
            "{score} in {window:?}, truly {truth}, {pos:?} at depth {depth}"
        );
    }
}

/// The principal variation is a line of legal moves that ends in what the score says.
fn check_deepening<P: Evaluate>(pos: &P, depth: u32, value: Score, parts: Parts) {
    let found = unlimited(parts, |search| deepen(search, pos, None, depth));
    let Findings {
        score, pv, close, ..
    } = &found;
    assert_eq!(*score, value, "{pos:?} at depth {depth}: {found:?}");
    assert_eq!(*close, [(pv[0], value)], "{pos:?} at depth {depth}");

    let mut end = pos.clone();
    for m in pv {
        end.play(*m).expect("the variation is legal");
    }
    let plies = u32::try_from(pv.len()).expect("short");
    let there = truth(&end, 0);
    let there = if end.turn() == pos.turn() {
        there
    } else {
        -there
    };
    match end.outcome() {
        Some(outcome) => {
            let score = Score::of_end(outcome, end.ending(), pos.turn(), plies);
            assert_eq!(score, value, "{pos:?}");
        }
        None => assert_eq!((there, plies), (value, found.depth), "{pos:?}"),
    }
}

/// Exactly the moves within the margin are reported, with their values.
fn check_margin<P: Evaluate>(pos: &P, depth: u32, value: Score, parts: Parts) {
    // No margin at all, so equals only, and one that is wide for values from -20 to 20.
    let margin = [0, 15][pick_index(("margin", pos), 2)];
    let mut found = unlimited(parts, |search| deepen(search, pos, Some(margin), depth));
    let close = &mut found.close;
    for (m, child) in children(pos) {
        let score = truth(&child, found.depth - 1);
        let score = later(if child.turn() == pos.turn() {
            score
        } else {
            -score
        });
        let expected = Some(score).filter(|score| *score >= value.lowered(margin));
        let index = close.iter().position(|(listed, _)| *listed == m);
        let told = index.map(|index| close.swap_remove(index).1);
        assert_eq!(
            told, expected,
            "{m:?} in {pos:?}, margin {margin}, depth {depth}"
        );
    }
    assert!(close.is_empty());
}

/// A child's score as its parent counts it: what ends is one ply farther away.
fn later(score: Score) -> Score {
    match score.plies_to_end() {
        Some(plies) if score > Score::DRAW => Score::win_in(plies + 1),
        Some(plies) => Score::loss_in(plies + 1),
        None => score,
    }
}

#[test]
fn every_position_of_tic_tac_toe_has_its_value() {
    let (mut won, mut drawn, mut lost) = (0, 0, 0);
    for (pos, value) in VALUES.iter() {
        if let Some(report) = search(
            &GameHistory::from(*pos),
            &Limits::default(),
            &Stop::new(),
            &Table::new(TABLE_BYTES),
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
fn random_values_are_found_at_every_depth() {
    for pos in all_positions() {
        let empty = pos.to_string().matches('.').count();
        // Plain minimax takes long on emptier boards: from these, few plies or few of them will do.
        let deepest = if empty > 5 && pick_index(pos, 16) != 0 {
            4
        } else {
            empty.min(7)
        };
        for depth in 0..=u32::try_from(deepest).expect("at most 9") {
            check(&Hashed(pos), depth);
        }
    }
}

#[test]
fn random_trees_are_valued_right() {
    for seed in 0..300 {
        for depth in 0..6 {
            check(&Tree::of(seed), depth);
        }
    }
}

/// With all that the game knows, and to the end: what is left out changes nothing.
fn check_solved<P: Evaluate>(pos: &P) {
    let (limits, stop, table) = (Limits::default(), Stop::new(), Table::new(TABLE_BYTES));
    let value = truth(pos, pos.plies_left());
    let solved = solve(&GameHistory::from(pos.clone()), &limits, &stop, &table).expect("goes on");
    let found = unlimited(Parts::ALL, |search| {
        deepen(search, pos, None, pos.plies_left())
    });
    assert_eq!((solved.score, found.score), (value, value), "{pos}");
    for pv in [solved.pv, found.pv] {
        let after = pos.after(pv[0]);
        assert_eq!(
            later(-truth(&after, pos.plies_left() - 1)),
            value,
            "{pos}: {}",
            pv[0]
        );
    }
}

#[test]
fn what_a_game_knows_is_true() {
    for pos in all_positions().iter().filter(|pos| pos.outcome().is_none()) {
        if pos.plies_left() <= 7 {
            check_solved(pos);
        }
    }
    for seed in 0..150 {
        for pos in random_game::<ConnectFour>(seed).0 {
            if pos.plies_left() <= 8 && pos.outcome().is_none() {
                check_solved(&pos);
            }
        }
    }
    for seed in 0..40 {
        for pos in random_game::<Othello>(seed).0 {
            if pos.plies_left() <= 8 && pos.outcome().is_none() {
                check_solved(&pos);
            }
        }
    }
}

#[test]
fn searches_of_connect_four_are_right_where_they_are_cut() {
    for seed in 0..30 {
        let positions = random_game::<ConnectFour>(seed).0;
        let pos = positions[pick_index(("cut", seed), positions.len())];
        for depth in 0..4 {
            check(&pos, depth);
        }
    }
}

#[test]
fn a_faster_win_and_a_slower_loss_are_preferred() {
    let best = |text: &str| {
        let pos: TicTacToe = text.parse().expect(text);
        let report = search(
            &GameHistory::from(pos),
            &Limits::default(),
            &Stop::new(),
            &Table::new(TABLE_BYTES),
        )
        .expect(text);
        format!("{}: {}", report.score, report.pv[0])
    };
    assert_eq!(best("xox/oox/..."), "win in 1: c1");
    assert_eq!(best("xxo/x../o.."), "win in 1: b2"); // b1, which is listed before it, wins in 3.
    assert_eq!(best(".../..o/xxo"), "loss in 4: c3");
}

/// A budget that runs out leaves the best move of the last complete look, or one that was seen to
/// be better by looking one ply farther.
#[test]
fn any_budget_gives_a_move_and_a_greater_one_no_worse() {
    for seed in 0..20 {
        let pos = Tree::of(seed);
        for nodes in (0..600).step_by(11) {
            let limits = Limits::nodes(nodes);
            let cut = search(
                &GameHistory::from(pos.clone()),
                &limits,
                &Stop::new(),
                &Table::new(TABLE_BYTES),
            )
            .expect("goes on");
            // The first ply: the root, and its moves twice, asked about and valued.
            assert!(cut.nodes <= nodes.max(11), "{nodes}: {cut:?}");

            let limits = Limits::depth(cut.depth);
            let complete = search(
                &GameHistory::from(pos.clone()),
                &limits,
                &Stop::new(),
                &Table::new(TABLE_BYTES),
            )
            .expect("goes on");
            let farther = |m| {
                let (_, child) = children(&pos).swap_remove(usize::from(m));
                let score = truth(&child, cut.depth);
                if child.turn() == pos.turn() {
                    score
                } else {
                    -score
                }
            };
            let [now, before] = [cut.pv[0], complete.pv[0]];
            assert!(
                now == before || farther(now) > farther(before),
                "{nodes}: {cut:?}"
            );
        }
    }
}

/// A raised flag or a clock that has run out is noticed, and the first look is made all the same.
#[test]
fn a_stopped_search_answers_at_once() {
    let (raised, late) = (Stop::new(), Limits::time(Duration::ZERO));
    raised.clone().stop();
    for (limits, stop) in [(Limits::default(), raised), (late, Stop::new())] {
        let report = search(
            &GameHistory::<TicTacToe>::initial(),
            &limits,
            &stop,
            &Table::new(TABLE_BYTES),
        )
        .expect("goes on");
        assert_eq!((report.depth, report.nodes, report.pv.len()), (1, 10, 1));
    }
}

/// Whatever is asked, the same question costs and tells the same again, whatever the table has seen.
#[test]
fn searches_repeat() {
    let (stop, mut table) = (Stop::new(), Table::new(TABLE_BYTES));
    for seed in 0..12 {
        let positions = random_game::<ConnectFour>(seed).0;
        let pos = positions[12.min(positions.len() - 2)];
        for (depth, nodes) in [(Some(6), None), (None, Some(20_000))] {
            let limits = Limits {
                depth,
                nodes,
                ..Limits::default()
            };
            let [first, again] = [0, 1].map(|_| {
                table.forget();
                let report =
                    search(&GameHistory::from(pos), &limits, &stop, &table).expect("goes on");
                (report.score, report.nodes, report.pv, report.table_use)
            });
            assert_eq!(first, again, "{pos}");
        }
    }
}

/// Wherever a search is cut off, it has a move, and what it says is proven is true.
#[test]
fn a_proof_that_is_cut_short_says_nothing_wrong() {
    let pos = random_game::<ConnectFour>(3).0[22];
    let (stop, mut table) = (Stop::new(), Table::new(TABLE_BYTES));
    let value = solve(&GameHistory::from(pos), &Limits::default(), &stop, &table)
        .expect("goes on")
        .score;
    for nodes in (0..60).map(|step| step * step * 4) {
        let limits = Limits::nodes(nodes);
        table.forget();
        let report = search(&GameHistory::from(pos), &limits, &stop, &table).expect("goes on");
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

/// Of a position that is not known to be lost, nothing is told but an estimate or what is sure: that
/// it is not lost sooner than so is no reason to play a move.
#[test]
fn a_bound_that_says_little_is_not_told() {
    let (stop, mut table) = (Stop::new(), Table::new(1 << 20));
    // Who wins here is not known by heart.
    let mut course = GameHistory::<ConnectFour>::initial();
    for m in ["1", "2", "3"] {
        course.play(m.parse().expect(m)).expect(m);
    }
    for nodes in (0..8).map(|step| 5_000 << step) {
        let limits = Limits::nodes(nodes);
        table.forget();
        let report = search(&course, &limits, &stop, &table).expect("goes on");
        assert_eq!(report.score.plies_to_end(), None, "{report:?}");
    }
}

/// Threads that share a table find what one finds.
#[test]
fn more_threads_find_the_same_value() {
    let (stop, mut table) = (Stop::new(), Table::new(TABLE_BYTES));
    for seed in 0..8 {
        let positions = random_game::<ConnectFour>(seed).0;
        let pos = positions[24.min(positions.len() - 2)];
        let [one, three] = [1, 3].map(|threads| {
            table.forget();
            let limits = Limits {
                threads: NonZeroUsize::new(threads),
                ..Limits::default()
            };
            solve(&GameHistory::from(pos), &limits, &stop, &table)
                .expect("goes on")
                .score
        });
        assert_eq!(one, three, "{pos}");
    }
}

/// Whatever is left out: what is said to be won or lost is.
#[test]
fn pruning_that_may_err_makes_no_wins_and_no_losses() {
    let mut decided = 0;
    for seed in 0..300 {
        let positions = random_game::<TicTacToe>(seed).0;
        let pos = positions[2.min(positions.len() - 2)];
        for depth in 1..=7 {
            let found = unlimited(Parts::ALL, |search| {
                deepen(search, &Reckless(Hashed(pos)), None, depth).score
            });
            if found.plies_to_end().is_some() {
                decided += 1;
                let truth = VALUES[&pos];
                assert!(
                    truth.plies_to_end().is_some(),
                    "{found} in {pos}, truly {truth}"
                );
                assert_eq!(found > Score::DRAW, truth > Score::DRAW, "{pos}");
            }
        }
    }
    assert!(decided > 300, "{decided}");
}

/// What may change values for the worse does so only where it is asked for.
#[test]
fn pruning_that_may_err_is_switched_off_with_its_part() {
    let (mut fewer, mut nodes) = (0, [0, 0]);
    for seed in 0..200 {
        let pos = random_game::<TicTacToe>(seed).0[1];
        let found = [
            Parts::EXACT,
            Parts {
                null_move: true,
                reductions: true,
                futility: true,
                ..Parts::EXACT
            },
        ]
        .map(|parts| {
            unlimited(parts, |search| {
                let found = deepen(search, &Reckless(Hashed(pos)), None, 6);
                (found.score, search.budget.nodes())
            })
        });
        assert_eq!(found[0].0, truth(&Reckless(Hashed(pos)), 6), "{pos}");
        fewer += u32::from(found[1].1 < found[0].1);
        nodes = [nodes[0] + found[0].1, nodes[1] + found[1].1];
    }
    assert!(
        nodes[1] < nodes[0] && fewer > 100,
        "{nodes:?}, fewer {fewer} times"
    );
}
