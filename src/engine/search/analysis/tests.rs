use super::*;
use crate::game::Position;
use crate::game::conformance::random_game;
use crate::game::connect_four::ConnectFour;
use crate::game::tic_tac_toe::{Move, TicTacToe};

fn whole<P: Evaluate>(pos: &P, limits: &Limits) -> Report<P::Move> {
    analyse(
        &GameHistory::from(pos.clone()),
        limits,
        &Stop::new(),
        &mut Table::new(1 << 16),
        &mut |_| {},
    )
    .expect("goes on")
}

fn depth(depth: u32) -> Limits {
    Limits::depth(depth)
}

/// Every move has the value that plain minimax finds, whichever way it is asked.
fn check_exact<P: Evaluate>(pos: &P) {
    let mut expected = minimax(pos, pos.plies_left(), Scale::Plies);
    expected.moves.sort_by_key(|(_, score)| -*score);
    let table = Table::new(1 << 16);
    let (limits, stop) = (Limits::default(), Stop::new());
    let solved = solve_every_move(
        &GameHistory::from(pos.clone()),
        &limits,
        &stop,
        &table,
        &mut |_| {},
    )
    .expect("no limit");
    for report in [solved, whole(pos, &limits)] {
        assert!(report.exact, "{pos}");
        assert_eq!(report.score, expected.score, "{pos}");
        let scores = report.moves.iter().map(|value| value.score);
        let expected_scores = expected.moves.iter().map(|(_, score)| *score);
        assert!(scores.eq(expected_scores), "{pos}: {report:?}");
        for value in &report.moves {
            assert!(expected.moves.contains(&(value.m, value.score)), "{pos}");
            assert_eq!(value.certainty, Certainty::Exact, "{pos}");
        }
        check_line(pos, &report);
    }
}

/// The variation begins with the first move of the list and ends as the score tells.
fn check_line<P: Evaluate>(pos: &P, report: &Report<P::Move>) {
    assert_eq!(report.pv[0], report.moves[0].m, "{pos}");
    let mut end = pos.clone();
    for m in &report.pv {
        end.play(*m).expect("the variation is legal");
    }
    let outcome = end.outcome().expect("the variation goes to the end");
    let plies = u32::try_from(report.pv.len()).expect("short");
    let there = Score::of(outcome, pos.turn(), plies);
    assert_eq!(there, report.score, "{pos}");
}

#[test]
fn every_move_is_solved() {
    for seed in 0..40 {
        for pos in random_game::<TicTacToe>(seed).0 {
            if pos.outcome().is_none() && pos.plies_left() < 8 {
                check_exact(&pos);
            }
        }
        for pos in random_game::<ConnectFour>(seed).0 {
            if pos.outcome().is_none() && pos.plies_left() < 8 {
                check_exact(&pos);
            }
        }
    }
}

#[test]
fn a_limited_depth_gives_estimates_and_what_is_certain() {
    let pos: TicTacToe = "xx./oo./...".parse().expect("reachable");
    let report = whole(&pos, &depth(2));
    let of = |text: &str| {
        let is_it = |value: &&MoveValue<Move>| value.m.to_string() == text;
        report.moves.iter().find(is_it).expect(text)
    };
    assert_eq!(report.moves[0].m.to_string(), "c3");
    assert_eq!(of("c3").score, Score::win_in(1));
    assert_eq!(of("a1").score, Score::loss_in(2));
    assert_eq!(of("a1").certainty, Certainty::Exact);
    assert_eq!(of("c2").certainty, Certainty::Estimate);
    assert_eq!(report.moves.len(), 5);
}

#[test]
fn what_cannot_be_solved_in_time_is_an_estimate() {
    let pos = ConnectFour::initial();
    let limits = Limits::nodes(20_000);
    let report = whole(&pos, &limits);
    assert!(!report.exact);
    assert!(report.nodes <= 20_000);
    assert_eq!(report.moves.len(), 7);
    let is_estimate = |value: &MoveValue<_>| value.certainty == Certainty::Estimate;
    assert!(report.moves.iter().all(is_estimate), "{report:?}");
    assert_eq!(report.score.plies_to_end(), None, "{report:?}");

    let (stop, table) = (Stop::new(), Table::new(1 << 16));
    let solved = solve_every_move(&GameHistory::from(pos), &limits, &stop, &table, &mut |_| {});
    assert_eq!(solved, None, "all or nothing");
}

#[test]
fn a_watcher_is_told_of_every_depth_and_every_move() {
    let (mut table, stop) = (Table::new(1 << 16), Stop::new());
    let mut depths = Vec::new();
    let pos = ConnectFour::initial();
    let _ = analyse(
        &GameHistory::from(pos),
        &depth(3),
        &stop,
        &mut table,
        &mut |report| {
            depths.push(report.depth);
        },
    );
    assert_eq!(depths, [1, 2, 3]);

    let mut told = 0;
    let pos = TicTacToe::initial();
    let report = solve_every_move(
        &GameHistory::from(pos),
        &Limits::default(),
        &stop,
        &table,
        &mut |_| told += 1,
    );
    assert_eq!(report.expect("no limit").moves.len(), told);
}

/// What each idea saves on the empty board: nothing left out, alpha-beta, order and a table.
#[test]
fn each_idea_saves_nodes() {
    let pos = TicTacToe::initial();
    let nodes = |method, scale| textbook(&pos, method, 9, scale).nodes;
    for (scale, pruning) in [(Scale::Plies, 20_866), (Scale::Outcome, 18_297)] {
        assert_eq!(nodes(Method::Minimax, scale), 549_946);
        assert_eq!(nodes(Method::AlphaBeta, scale), pruning);
    }
    let engine = whole(&pos, &Limits::default());
    assert!(engine.exact);
    assert!(engine.nodes < 2_000, "{}", engine.nodes);
}

/// By the textbook, too, the variation leads where the score says. Under alpha-beta no move but the
/// first best has a value, and none is better than its bound.
#[test]
fn the_textbook_tells_lines_and_bounds() {
    for seed in 0..40 {
        for pos in random_game::<TicTacToe>(seed).0 {
            let left = pos.plies_left();
            if pos.outcome().is_some() || left > 7 {
                continue;
            }
            let plain = textbook(&pos, Method::Minimax, left, Scale::Plies);
            check_line(&pos, &plain);
            let pruned = textbook(&pos, Method::AlphaBeta, left, Scale::Plies);
            check_line(&pos, &pruned);
            for MoveValue {
                m,
                score,
                certainty,
                playouts: _,
            } in &plain.moves
            {
                assert_eq!(*certainty, Certainty::Exact);
                let told = pruned.moves.iter().find(|value| value.m == *m);
                let told = told.expect("all moves are looked at");
                match told.certainty {
                    Certainty::Exact => assert_eq!(told.score, *score, "{pos}: {m}"),
                    Certainty::AtMost => assert!(told.score >= *score, "{pos}: {m}"),
                    Certainty::Estimate => panic!("{pos}: {m} is estimated"),
                }
            }
        }
    }
    let cut = textbook(&TicTacToe::initial(), Method::Minimax, 2, Scale::Plies);
    assert!(!cut.exact);
    assert_eq!(cut.moves[0].certainty, Certainty::Estimate);
    assert_eq!(cut.pv.len(), 2);
}
