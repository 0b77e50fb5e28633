use super::*;
use crate::game::Position;
use crate::game::conformance::random_game;
use crate::game::connect_four::ConnectFour;
use crate::game::tic_tac_toe::{Move, TicTacToe};

fn analyse_fully<P: Evaluate>(pos: &P, limits: &Limits) -> Report<P::Move> {
    analyse(
        &GameHistory::from(pos.clone()),
        limits,
        &Stop::new(),
        &mut TranspositionTable::new(1 << 16),
        &mut |_| {},
    )
    .expect("the game is not over")
}

fn depth_limit(depth: u32) -> Limits {
    Limits::depth(depth)
}

/// Checks that `solve_all_moves` and `analyse` return the same value for every move as plain
/// minimax.
fn assert_all_moves_solved<P: Evaluate>(pos: &P) {
    let mut expected = minimax(pos, pos.remaining_plies_max(), Scale::Plies);
    expected.moves.sort_by_key(|(_, score)| -*score);
    let table = TranspositionTable::new(1 << 16);
    let (limits, stop) = (Limits::default(), Stop::new());
    let solved = solve_all_moves(
        &GameHistory::from(pos.clone()),
        &limits,
        &stop,
        &table,
        &mut |_| {},
    )
    .expect("the search has no limit");
    for report in [solved, analyse_fully(pos, &limits)] {
        assert!(report.exact, "{pos}");
        assert_eq!(report.score, expected.score, "{pos}");
        let scores = report.moves.iter().map(|value| value.score);
        let expected_scores = expected.moves.iter().map(|(_, score)| *score);
        assert!(scores.eq(expected_scores), "{pos}: {report:?}");
        for value in &report.moves {
            assert!(expected.moves.contains(&(value.m, value.score)), "{pos}");
            assert_eq!(value.certainty, Certainty::Exact, "{pos}");
        }
        assert_pv_reaches_score(pos, &report);
    }
}

/// Checks that the principal variation starts with the first listed move and ends with the reported
/// score.
fn assert_pv_reaches_score<P: Evaluate>(pos: &P, report: &Report<P::Move>) {
    assert_eq!(report.pv[0], report.moves[0].m, "{pos}");
    let mut end = pos.clone();
    for m in &report.pv {
        end.play(*m).expect("the variation is legal");
    }
    let outcome = end.outcome().expect("the variation ends the game");
    let plies = u32::try_from(report.pv.len()).expect("the line is short");
    let end_score = Score::from_outcome(outcome, pos.turn(), plies);
    assert_eq!(end_score, report.score, "{pos}");
}

#[test]
fn every_move_is_solved_near_the_end() {
    for seed in 0..40 {
        for pos in random_game::<TicTacToe>(seed).0 {
            if pos.outcome().is_none() && pos.remaining_plies_max() < 8 {
                assert_all_moves_solved(&pos);
            }
        }
        for pos in random_game::<ConnectFour>(seed).0 {
            if pos.outcome().is_none() && pos.remaining_plies_max() < 8 {
                assert_all_moves_solved(&pos);
            }
        }
    }
}

#[test]
fn limited_depth_gives_estimates_and_proven_results() {
    let pos: TicTacToe = "xx./oo./...".parse().expect("the position is reachable");
    let report = analyse_fully(&pos, &depth_limit(2));
    let value_of = |text: &str| {
        let is_it = |value: &&MoveValue<Move>| value.m.to_string() == text;
        report.moves.iter().find(is_it).expect(text)
    };
    assert_eq!(report.moves[0].m.to_string(), "c3");
    assert_eq!(value_of("c3").score, Score::win_in(1));
    assert_eq!(value_of("a1").score, Score::loss_in(2));
    assert_eq!(value_of("a1").certainty, Certainty::Exact);
    assert_eq!(value_of("c2").certainty, Certainty::Estimate);
    assert_eq!(report.moves.len(), 5);
}

#[test]
fn unsolved_moves_are_estimates_when_nodes_run_out() {
    let pos = ConnectFour::initial();
    let limits = Limits::nodes(20_000);
    let report = analyse_fully(&pos, &limits);
    assert!(!report.exact);
    assert!(report.nodes <= 20_000);
    assert_eq!(report.moves.len(), 7);
    let is_estimate = |value: &MoveValue<_>| value.certainty == Certainty::Estimate;
    assert!(report.moves.iter().all(is_estimate), "{report:?}");
    assert_eq!(report.score.plies_to_end(), None, "{report:?}");

    let (stop, table) = (Stop::new(), TranspositionTable::new(1 << 16));
    let solved = solve_all_moves(&GameHistory::from(pos), &limits, &stop, &table, &mut |_| {});
    assert_eq!(solved, None, "all or nothing");
}

#[test]
fn progress_is_reported_per_depth_and_per_solved_move() {
    let (mut table, stop) = (TranspositionTable::new(1 << 16), Stop::new());
    let mut depths = Vec::new();
    let pos = ConnectFour::initial();
    let _ = analyse(
        &GameHistory::from(pos),
        &depth_limit(3),
        &stop,
        &mut table,
        &mut |report| {
            depths.push(report.depth);
        },
    );
    assert_eq!(depths, [1, 2, 3]);

    let mut reports = 0;
    let pos = TicTacToe::initial();
    let report = solve_all_moves(
        &GameHistory::from(pos),
        &Limits::default(),
        &stop,
        &table,
        &mut |_| reports += 1,
    );
    assert_eq!(
        report.expect("the search has no limit").moves.len(),
        reports
    );
}

/// Checks the node counts of three searches of the empty board: minimax, alpha-beta, and the full
/// search with move ordering and a transposition table.
#[test]
fn alpha_beta_and_full_search_visit_fewer_nodes() {
    let pos = TicTacToe::initial();
    let nodes = |method, scale| textbook_search(&pos, method, 9, scale).nodes;
    for (scale, pruning) in [(Scale::Plies, 20_866), (Scale::Outcome, 18_297)] {
        assert_eq!(nodes(TextbookMethod::Minimax, scale), 549_946);
        assert_eq!(nodes(TextbookMethod::AlphaBeta, scale), pruning);
    }
    let engine = analyse_fully(&pos, &Limits::default());
    assert!(engine.exact);
    assert!(engine.nodes < 2_000, "{}", engine.nodes);
}

/// The principal variation of every textbook search must lead to the reported score. With
/// alpha-beta, only some moves have an exact value. All other scores must be valid upper bounds.
#[test]
fn textbook_search_reports_pv_and_alpha_beta_bounds() {
    for seed in 0..40 {
        for pos in random_game::<TicTacToe>(seed).0 {
            let plies_left = pos.remaining_plies_max();
            if pos.outcome().is_some() || plies_left > 7 {
                continue;
            }
            let minimax_report =
                textbook_search(&pos, TextbookMethod::Minimax, plies_left, Scale::Plies);
            assert_pv_reaches_score(&pos, &minimax_report);
            let pruned = textbook_search(&pos, TextbookMethod::AlphaBeta, plies_left, Scale::Plies);
            assert_pv_reaches_score(&pos, &pruned);
            for MoveValue {
                m,
                score,
                certainty,
                playouts: _,
            } in &minimax_report.moves
            {
                assert_eq!(*certainty, Certainty::Exact);
                let pruned_value = pruned.moves.iter().find(|value| value.m == *m);
                let pruned_value = pruned_value.expect("every move is reported");
                match pruned_value.certainty {
                    Certainty::Exact => assert_eq!(pruned_value.score, *score, "{pos}: {m}"),
                    Certainty::UpperBound => assert!(pruned_value.score >= *score, "{pos}: {m}"),
                    Certainty::Estimate => panic!("{pos}: {m} is estimated"),
                }
            }
        }
    }
    let cut = textbook_search(
        &TicTacToe::initial(),
        TextbookMethod::Minimax,
        2,
        Scale::Plies,
    );
    assert!(!cut.exact);
    assert_eq!(cut.moves[0].certainty, Certainty::Estimate);
    assert_eq!(cut.pv.len(), 2);
}
