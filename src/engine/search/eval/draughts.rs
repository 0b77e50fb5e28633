//! Draughts evaluation: trained pattern weights (`trained_eval`), applied after all forced
//! captures. The endgame table gives the outcome of positions with at most four pieces.

mod endgame_table;
mod trained_eval;

use std::cmp::Ordering;

use crate::game::draughts::{Draughts, Move};
use crate::game::{Position, Seat};
use crate::search::{Bounds, Evaluate, Score};

pub use trained_eval::Features;

/// Value of a man.
const MAN_VALUE: i32 = 100;

/// Approximate value of a king.
const KING_VALUE: i32 = 140;

/// Penalty for distance from the opposing kings, used to make the leading side hunt them. Each king
/// step between a king of the leading side and an opposing king costs this value.
const HUNT_DISTANCE_PENALTY: i32 = 2;

/// The position key includes the number of quiet plies only if the number exceeds this value. Near
/// the draw limit, the number of remaining plies affects the value of a position.
const QUIET_PLIES_KEY_MIN: u8 = 48;

/// Base value for the winner of an endgame that the table scores as won. The base value exceeds all
/// static values. `WON_PER_PIECE_CAPTURED` is multiplied by 4 minus the number of pieces on the
/// board. `WON_PER_MAN_GONE` is multiplied by 4 minus the number of men on the board. Both products
/// are added as bonuses, and both bonuses outweigh the static value. `WON_PER_RESISTANCE_STEP` is
/// subtracted for each step that the loser can resist, as stored in the endgame table.
const WON_ENDGAME: i32 = 10_000;
const WON_PER_PIECE_CAPTURED: i32 = 3_000;
const WON_PER_MAN_GONE: i32 = 1_000;
const WON_PER_RESISTANCE_STEP: i32 = 40;

/// Maximum amount by which the static value may change the value of an endgame that the table
/// scores as won.
const WON_STATIC_VALUE_MAX: i32 = 150;

/// Penalty for a side without legal moves, which loses the game. The penalty exceeds the value of
/// all pieces.
const NO_MOVES_LOSS: i32 = 5_000;

impl Evaluate for Draughts {
    const SEATS_ALTERNATE: bool = true;

    const MOVE_INDEX_COUNT: usize = Move::INDEX_COUNT;

    const USES_LATE_MOVE_REDUCTIONS: bool = true;

    /// The trained evaluation gives even similar moves different values, so level `Easy` needs a
    /// larger `margin` than the default to vary its moves.
    const DEPTHS_AND_MARGINS: [(u32, u32); 4] = [(1, 200), (1, 50), (2, 50), (4, 30)];

    /// Returns bounds from the endgame table. A draw in the table is an exact score. A win or loss
    /// in the table only excludes the opposite result, because the win may take too many moves
    /// under the draw rules.
    fn static_bounds(&self) -> Bounds {
        let outcome = endgame_table::probe_outcome(self);
        outcome.map_or(Bounds::UNBOUNDED, |outcome| {
            Bounds::from_outcome(outcome, Score::DRAW)
        })
    }

    /// Returns the value after all forced captures. Captures are mandatory, so there is no
    /// stand-pat value.
    fn evaluate(&self) -> Score {
        Score::estimate(quiescence_value(
            self,
            -NO_MOVES_LOSS - 1,
            NO_MOVES_LOSS + 1,
        ))
    }

    /// Returns whether the side to move must capture.
    #[inline]
    fn is_forced(&self) -> bool {
        self.capturers() != 0
    }

    /// Ranks moves by the number of captured pieces.
    fn rank_move(&self, m: Move) -> i32 {
        i32::from(m.capture_count())
    }

    fn move_index(&self, m: Move) -> usize {
        m.index()
    }

    fn material(&self) -> Option<[i32; 2]> {
        let count = |pieces: u64| pieces.count_ones().cast_signed();
        Some(Seat::ALL.map(|seat| count(self.men(seat)) + 2 * count(self.kings(seat))))
    }

    /// Two positions that differ only in their move counters have the same key until a draw limit
    /// is near.
    fn key(&self) -> u64 {
        let quiet_plies_excess = self.quiet_plies().saturating_sub(QUIET_PLIES_KEY_MIN);
        self.repetition_key() ^ u64::from(quiet_plies_excess).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Returns the value for the side to move after all forced captures (fail-soft alpha-beta search).
/// The search is small: few capture sequences exist, and each capture removes a piece.
fn quiescence_value(pos: &Draughts, mut alpha: i32, beta: i32) -> i32 {
    if let Some(outcome) = endgame_table::probe_outcome(pos) {
        return endgame_value(pos, outcome);
    }
    if pos.capturers() == 0 {
        return static_value(pos);
    }
    let mut captures = Vec::new();
    pos.push_captures(&mut captures);
    let mut best = -NO_MOVES_LOSS;
    for m in captures {
        let value = -quiescence_value(&pos.after(m), -beta, -alpha);
        best = best.max(value);
        alpha = alpha.max(value);
        if alpha >= beta {
            break;
        }
    }
    best
}

/// Returns the value of a position without captures, for the side to move.
#[inline]
fn static_value(pos: &Draughts) -> i32 {
    if pos.movable_pieces(pos.turn()) == 0 {
        return -NO_MOVES_LOSS;
    }
    let [own, other] = [pos.turn(), pos.turn().other()];
    let is_hunt = pos.men(own) == 0 || pos.men(other) == 0;
    trained_eval::evaluate(pos) + if is_hunt { king_hunt_value(pos) } else { 0 }
}

/// Returns the value of an endgame with a known outcome, for the side to move.
fn endgame_value(pos: &Draughts, outcome: Ordering) -> i32 {
    match outcome {
        Ordering::Equal => 0,
        Ordering::Less => -value_of_lost_endgame_for_winner(pos),
        // The table stores how long the side to move can resist if it loses. The value of a win is
        // therefore taken from the best successor, where the opponent is the losing side to move.
        Ordering::Greater => {
            let mut moves = Vec::new();
            pos.legal_moves(&mut moves);
            let successors = moves.into_iter().map(|m| pos.after(m));
            let lost_successors = successors.filter(|after| {
                endgame_table::probe_outcome(after).is_none_or(|outcome| outcome == Ordering::Less)
            });
            lost_successors
                .map(|lost| value_of_lost_endgame_for_winner(&lost))
                .max()
                .unwrap_or(WON_ENDGAME)
        }
    }
}

/// Returns the value of an endgame that the side to move loses, for the winner.
fn value_of_lost_endgame_for_winner(pos: &Draughts) -> i32 {
    let men = pos.men(pos.turn()) | pos.men(pos.turn().other());
    let static_score = -static_value(pos);
    WON_ENDGAME
        + WON_PER_PIECE_CAPTURED * (4 - count_squares(pos.occupied()))
        + WON_PER_MAN_GONE * (4 - count_squares(men))
        - WON_PER_RESISTANCE_STEP * i32::from(endgame_table::resistance_steps(pos))
        + static_score.clamp(-WON_STATIC_VALUE_MAX, WON_STATIC_VALUE_MAX)
}

fn piece_value(pos: &Draughts, seat: Seat) -> i32 {
    MAN_VALUE * count_squares(pos.men(seat)) + KING_VALUE * count_squares(pos.kings(seat))
}

/// Returns the value of the king hunt for the side to move. The leading side gets a penalty for
/// each step between its kings and the opponent's kings. The value is 0 if no side leads, or if the
/// trailing side still has men.
fn king_hunt_value(pos: &Draughts) -> i32 {
    let lead = piece_value(pos, pos.turn()) - piece_value(pos, pos.turn().other());
    let hunter = if lead > 0 {
        pos.turn()
    } else {
        pos.turn().other()
    };
    if lead == 0 || pos.men(hunter.other()) != 0 {
        return 0;
    }
    let distance: i32 = Draughts::squares_of(pos.kings(hunter))
        .flat_map(|king| {
            let hunted = Draughts::squares_of(pos.kings(hunter.other()));
            hunted.map(move |other| {
                let king_steps = king
                    .rank
                    .abs_diff(other.rank)
                    .max(king.file.abs_diff(other.file));
                i32::from(king_steps)
            })
        })
        .sum();
    -lead.signum() * HUNT_DISTANCE_PENALTY * distance
}

fn count_squares(squares: u64) -> i32 {
    squares.count_ones().cast_signed()
}

#[cfg(test)]
mod tests;
