//! Tests of Monte Carlo tree search for Go. In small endgames, the search must play moves that are
//! proven to win.

use super::*;
use crate::game::{Outcome, Position};
use crate::search::eval::go::BoardAnalysis;
use crate::search::{Level, Limits, Stop, TranspositionTable, choose_move};

fn choose_bot_move<const N: u8>(history: &GameHistory<Go<N>>, playouts: u64) -> Move<N> {
    let limits = Limits::nodes(playouts);
    let mut table = TranspositionTable::new(1 << 20);
    let level = Level::Max;
    let choice = choose_move(history, level, 0, &limits, &Stop::new(), &mut table);
    choice.expect("the game is not over").0
}

fn parse_history<const N: u8>(rows: &str, rest: &str) -> GameHistory<Go<N>> {
    let text = format!("{} {rest}", rows.replace(' ', "/"));
    GameHistory::from(text.parse::<Go<N>>().expect(&text))
}

/// Position with five white stones in atari. A stone on their last liberty connects them to other
/// white stones.
const CAUGHT_STONES: &str =
    ".b.b.bbw. bbbbbbbw. .bbbbb.w. bwwwww.w. .bbbbb.w. bbbbbbbw. .b.b.bbw. bbbbbbbw. .b.b.bbw.";

#[test]
fn mcts_captures_and_saves_stones_in_atari() {
    for turn in ["b 0 0 0 120", "w 0 0 0 121", "w 0 0 1 121"] {
        assert_eq!(
            choose_bot_move::<9>(&parse_history(CAUGHT_STONES, turn), 500).to_string(),
            "G6",
            "{turn}"
        );
    }
}

/// After the opponent's pass, a side that is ahead wins by passing. A side that is behind plays on.
#[test]
fn mcts_passes_after_a_pass_only_when_ahead() {
    let rows =
        "......... ......... ......... ......... bbbbbbbbb ......... ......... ......... .........";
    assert_eq!(
        choose_bot_move::<9>(&parse_history(rows, "b 0 0 1 40"), 0),
        Move::Pass
    );
    let rows =
        "......... ......... ......... wwwwwwwww bbbbbbbbb ......... ......... ......... .........";
    assert_ne!(
        choose_bot_move::<9>(&parse_history(rows, "w 0 0 1 41"), 200),
        Move::Pass
    );
}

/// Position with white stones in Black's corner that cannot be saved. The dead stones count for
/// White until Black captures them, so Black is ahead only after the capture.
const DEAD_STONES: &str =
    "w.wbbw... .wwbbw... bbbbbw... bbbbww... bbbbw.... bbbbw.... bbbbw.... bbbbbw... .b.bbw...";

#[test]
fn mcts_captures_dead_stones_before_the_game_ends() {
    let mut history = parse_history::<9>(DEAD_STONES, "b 0 0 1 80");
    assert!(history.position().scores()[0] < history.position().scores()[1]);
    let mut passes = 0;
    for _ in 0..60 {
        if history.outcome().is_some() {
            break;
        }
        // White has no useful play in the corner, so the test always passes for White.
        let m = match history.position().turn() {
            Seat::First => choose_bot_move(&history, 400),
            Seat::Second => Move::Pass,
        };
        passes += u32::from(m == Move::Pass);
        history.play(m).expect("the move is legal");
    }
    let won = Outcome::Decisive {
        winner: Seat::First,
    };
    assert_eq!(
        history.outcome(),
        Some(won),
        "{} {passes}",
        history.position()
    );
}

/// Only territory is left to fill, so even the side that is behind passes.
#[test]
fn mcts_passes_when_all_points_are_settled() {
    let settled =
        "b.b.bw.w. bbbbbwwww ....bw... bbbbbwwww b.b.bw.w. bbbbbwwww .b.bbw.ww bbbbbww.w .b.bbwww.";
    for turn in ["w 0 0 0 201", "b 0 0 1 202"] {
        assert_eq!(
            choose_bot_move::<9>(&parse_history(settled, turn), 200),
            Move::Pass,
            "{turn}"
        );
    }
}

/// Returns the moves that force a win within this number of plies. This exhaustive search applies
/// the full rules with superko. It skips only plays that are no better than a pass.
fn winning_moves(history: &GameHistory<Go<5>>, plies: u32) -> Vec<Move<5>> {
    let mut moves = useful_moves(history);
    moves.retain(|m| is_won_after(history, *m, plies));
    moves
}

fn is_won_after(history: &GameHistory<Go<5>>, m: Move<5>, plies: u32) -> bool {
    let mut after_move = history.clone();
    after_move.play(m).expect("the move is legal");
    is_lost(&after_move, plies - 1)
}

/// Returns whether the seat to move loses by force within this number of plies.
fn is_lost(history: &GameHistory<Go<5>>, plies: u32) -> bool {
    if let Some(outcome) = history.outcome() {
        let winner = history.position().turn().other();
        return outcome == Outcome::Decisive { winner };
    }
    let is_refuted = |m: &Move<5>| {
        let mut after_move = history.clone();
        after_move.play(*m).expect("the move is legal");
        match after_move.outcome() {
            Some(_) => is_lost_by_last_mover(&after_move),
            None => {
                plies > 1
                    && useful_moves(&after_move)
                        .iter()
                        .any(|m| is_won_after(&after_move, *m, plies - 1))
            }
        }
    };
    plies > 0 && useful_moves(history).iter().all(is_refuted)
}

/// Returns whether the game is over and the seat that moved last has lost.
fn is_lost_by_last_mover(history: &GameHistory<Go<5>>) -> bool {
    let winner = history.position().turn();
    history.outcome() == Some(Outcome::Decisive { winner })
}

/// Returns the pass and all legal plays that may be better than a pass. The pass comes first,
/// because games end by passing.
fn useful_moves(history: &GameHistory<Go<5>>) -> Vec<Move<5>> {
    let useless_points = BoardAnalysis::from_position(history.position()).useless_points();
    let mut moves = Vec::new();
    history.legal_moves(&mut moves);
    moves.retain(|m| !matches!(m, Move::Play(point) if useless_points.has(point.bit_index())));
    moves.rotate_right(1);
    moves
}

/// Tests positions with three to eight empty points where some moves win and others do not. Plain
/// minimax should prove that the chosen move wins within eleven plies. Minimax may fail to prove at
/// most two of the chosen moves. After an unproven move, the opponent must not be able to force a
/// win within seven plies.
#[test]
fn mcts_plays_winning_moves_of_5x5_endgames_proven_by_minimax() {
    let (mut tested, mut undecided) = ([0; 9], 0);
    for seed in 0..80 {
        for history in endgame_positions(seed) {
            let winning = winning_moves(&history, 7);
            if winning.is_empty() || winning.len() == useful_moves(&history).len() {
                continue;
            }
            let pos = history.position();
            tested[pos.empty().len() as usize] += 1;
            let m = choose_bot_move(&history, 1000);
            let wins_within = |plies| is_won_after(&history, m, plies);
            if !winning.contains(&m) && !wins_within(9) && !wins_within(11) {
                // A move that does not win within eleven plies may still win later. For example,
                // the bot may capture nearly all stones and then needs many moves to fill the board
                // again.
                undecided += 1;
                let mut after_move = history.clone();
                after_move.play(m).expect("the move is legal");
                assert_eq!(winning_moves(&after_move, 7), [], "{m} in {pos}");
            }
        }
    }
    assert!(tested[3..].iter().all(|count| *count > 2), "{tested:?}");
    assert!(undecided <= 2, "{undecided} of {tested:?}");
}

/// Plays a random playout and returns its positions that have three to eight empty points.
fn endgame_positions(seed: u64) -> Vec<GameHistory<Go<5>>> {
    let mut rng = SeededRng::new(seed, "endgame");
    let mut history = GameHistory::<Go<5>>::initial();
    let mut positions = Vec::new();
    while history.outcome().is_none() && history.position().plies() < 40 {
        if (3..=8).contains(&history.position().empty().len()) {
            positions.push(history.clone());
        }
        let board = Board::from_position(history.position(), history.last_move());
        let m = choose_playout_move(&board, &mut rng).map_or(Move::Pass, Move::from_bit_index);
        if history.play(m).is_err() {
            history.play(Move::Pass).expect("a pass is always legal");
        }
    }
    positions
}
