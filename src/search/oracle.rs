//! Plain minimax as the judge of the search: whatever alpha-beta leaves out, it must find the same
//! values. Values are judged, not moves: among equals any is right.
//!
//! A good evaluator hides mistakes, since most of its values agree with each other. So the searches
//! are also compared with values that are random, and in a game without any sense or regularity.

mod games;

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;
use std::time::Duration;

use games::{Hashed, Tree};

use super::alpha_beta::{AlphaBeta, Window};
use super::budget::Budget;
use super::deepening::{Findings, deepen};
use super::minimax::minimax;
use super::{Evaluate, Limits, Score, Stop, search};
use crate::game::laws::pick;
use crate::game::tic_tac_toe::TicTacToe;
use crate::game::{Position, Seat};

/// Every position of tic-tac-toe that play can reach, in the order of their texts.
pub(super) fn all_positions() -> Vec<TicTacToe> {
    let mut seen = BTreeSet::new();
    let mut open = vec![TicTacToe::start()];
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
        .map(|pos| (pos, minimax(&pos, 9).score))
        .collect()
});

pub(super) fn children<P: Position>(pos: &P) -> Vec<(P::Move, P)> {
    let mut moves = Vec::new();
    pos.legal_moves(&mut moves);
    moves.into_iter().map(|m| (m, pos.after(m))).collect()
}

/// Compares every setting of the search with plain minimax, at one position and depth.
fn check<P: Evaluate>(pos: &P, depth: u32) {
    let truth = minimax(pos, depth).score;
    check_windows(pos, depth, truth);
    if pos.outcome().is_none() && depth > 0 {
        check_deepening(pos, depth, truth);
        check_margin(pos, depth, truth);
    }
}

/// A window tells on which side of it the value lies, and the value itself within it.
fn check_windows<P: Evaluate>(pos: &P, depth: u32, truth: Score) {
    let narrow =
        |by: i32| Score::estimate(i32::try_from(pick((pos, depth), 40)).expect("small") - 20 + by);
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
        let (limits, stop) = (Limits::default(), Stop::new());
        let mut search = AlphaBeta::new(Budget::new(&limits, &stop));
        let score = search
            .value(pos, pos.turn(), depth, 0, window)
            .expect("no limit");
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
fn check_deepening<P: Evaluate>(pos: &P, depth: u32, truth: Score) {
    let limits = Limits {
        depth: Some(depth),
        ..Limits::default()
    };
    let Findings { report, close } = deepen(pos, None, &limits, &Stop::new()).expect("goes on");
    assert_eq!(report.score, truth, "{pos:?} at depth {depth}: {report:?}");
    assert_eq!(close, [(report.pv[0], truth)], "{pos:?} at depth {depth}");

    let mut end = pos.clone();
    for m in &report.pv {
        end.play(*m).expect("the variation is legal");
    }
    let plies = u32::try_from(report.pv.len()).expect("short");
    let value = minimax(&end, 0).score;
    let value = if end.turn() == pos.turn() {
        value
    } else {
        -value
    };
    match end.outcome() {
        Some(outcome) => assert_eq!(Score::of(outcome, pos.turn(), plies), truth, "{pos:?}"),
        None => assert_eq!((value, plies), (truth, report.depth), "{pos:?}"),
    }
}

/// Exactly the moves within the margin are reported, with their values.
fn check_margin<P: Evaluate>(pos: &P, depth: u32, truth: Score) {
    // No margin at all, so equals only, and one that is wide for values from -20 to 20.
    let margin = [0, 15][pick(("margin", pos), 2)];
    let limits = Limits {
        depth: Some(depth),
        ..Limits::default()
    };
    let Findings { report, mut close } =
        deepen(pos, Some(margin), &limits, &Stop::new()).expect("goes on");
    for (m, child) in children(pos) {
        let score = minimax(&child, report.depth - 1).score;
        let score = later(if child.turn() == pos.turn() {
            score
        } else {
            -score
        });
        let expected = Some(score).filter(|score| *score >= truth.lowered(margin));
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
        if let Some(report) = search(pos, &Limits::default(), &Stop::new()) {
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
        let deepest = if empty > 5 && pick(pos, 16) != 0 {
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

/// The effort of plain alpha-beta on the empty board, squares in the order of the board, is known.
/// Cutting only where alpha exceeds beta, a common mistake, would show as over 100,000 nodes.
#[test]
fn alpha_beta_visits_as_many_nodes_as_is_known() {
    let (limits, stop) = (Limits::default(), Stop::new());
    let mut search = AlphaBeta::new(Budget::new(&limits, &stop));
    let pos = TicTacToe::start();
    let score = search.value(&pos, Seat::First, 9, 0, Window::FULL);
    assert_eq!((score, search.budget.nodes()), (Ok(Score::DRAW), 20_866));
}

#[test]
fn a_faster_win_and_a_slower_loss_are_preferred() {
    let best = |text: &str| {
        let pos: TicTacToe = text.parse().expect(text);
        let report = search(&pos, &Limits::default(), &Stop::new()).expect(text);
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
            let limits = Limits {
                nodes: Some(nodes),
                ..Limits::default()
            };
            let cut = search(&pos, &limits, &Stop::new()).expect("goes on");
            assert!(cut.nodes <= nodes.max(6), "{nodes}: {cut:?}");

            let limits = Limits {
                depth: Some(cut.depth),
                ..Limits::default()
            };
            let complete = search(&pos, &limits, &Stop::new()).expect("goes on");
            let farther = |m| {
                let (_, child) = children(&pos).swap_remove(usize::from(m));
                let score = minimax(&child, cut.depth).score;
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
    let (raised, late) = (
        Stop::new(),
        Limits {
            time: Some(Duration::ZERO),
            ..Limits::default()
        },
    );
    raised.clone().stop();
    for (limits, stop) in [(Limits::default(), raised), (late, Stop::new())] {
        let report = search(&TicTacToe::start(), &limits, &stop).expect("goes on");
        assert_eq!((report.depth, report.nodes, report.pv.len()), (1, 10, 1));
    }
}
