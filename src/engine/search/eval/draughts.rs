//! Draughts at a glance: how well the pieces stand, as self-play has taught (`learnt`), once all captures are
//! made that must be made. With four pieces or fewer it is known who wins.

mod endgame_table;
mod trained_eval;

use std::cmp::Ordering;

use crate::game::draughts::{Draughts, Move};
use crate::game::{Position, Seat};
use crate::search::{Bounds, Evaluate, Level, Score, Strength};

pub use trained_eval::Features;

/// What a man is worth.
const MAN_VALUE: i32 = 100;

/// What a king is worth, about.
const KING_VALUE: i32 = 140;

/// How much worse every row and file is, between a king and the kings it hunts.
const HUNT_DISTANCE_PENALTY: i32 = 2;

/// From so many quiet plies on, how many there are makes a difference to what can still be done
/// before the game is drawn.
const QUIET_PLIES_KEY_MIN: u8 = 48;

/// What an ending is worth that is won by the table, more than all else; what it is worth more for every
/// piece and every man that is gone, which comes before all that is seen at a glance; and what it is worth
/// less for every step that the loser can hold out.
const WON_ENDGAME: i32 = 10_000;
const WON_PER_PIECE_CAPTURED: i32 = 3_000;
const WON_PER_MAN_GONE: i32 = 1_000;
const WON_PER_RESISTANCE_STEP: i32 = 40;

/// What is seen at a glance counts for no more than this where it is known who wins.
const WON_STATIC_VALUE_MAX: i32 = 150;

/// What no piece can do anything about: more than all pieces.
const NO_MOVES_LOSS: i32 = 5_000;

impl Evaluate for Draughts {
    const SEATS_ALTERNATE: bool = true;

    const MOVE_INDEX_COUNT: usize = Move::INDEX_COUNT;

    const USES_LATE_MOVE_REDUCTIONS: bool = true;

    /// What is learnt tells moves apart that seemed alike, so that `easy` has to be content with more.
    #[rustfmt::skip] // A table is read by columns.
    fn strength(level: Level) -> Strength {
        match level {
            Level::Beginner => Strength { depth: 1,        margin: Some(200), avoids_loss_in_one: false },
            Level::Easy     => Strength { depth: 1,        margin: Some(50),  avoids_loss_in_one: false },
            Level::Medium   => Strength { depth: 2,        margin: Some(50),  avoids_loss_in_one: true },
            Level::Hard     => Strength { depth: 4,        margin: Some(30),  avoids_loss_in_one: true },
            Level::Max      => Strength { depth: u32::MAX, margin: None,      avoids_loss_in_one: true },
        }
    }

    /// In endings a draw is known, and that who wins cannot lose. A win is no more than an estimate, as it may
    /// take too many moves.
    fn static_bounds(&self) -> Bounds {
        match endgame_table::probe_outcome(self) {
            None => Bounds::UNBOUNDED,
            Some(Ordering::Equal) => Bounds::exact(Score::DRAW),
            Some(Ordering::Greater) => Bounds {
                lower: Score::DRAW,
                ..Bounds::UNBOUNDED
            },
            Some(Ordering::Less) => Bounds {
                upper: Score::DRAW,
                ..Bounds::UNBOUNDED
            },
        }
    }

    /// The value when all captures are made that must be made. A side cannot choose to leave its
    /// position as it is while it has one, so there is nothing to estimate before.
    fn evaluate(&self) -> Score {
        Score::estimate(quiescence_value(
            self,
            -NO_MOVES_LOSS - 1,
            NO_MOVES_LOSS + 1,
        ))
    }

    /// Who must capture has little choice.
    #[inline]
    fn is_forced(&self) -> bool {
        self.capturers() != 0
    }

    /// The greatest captures first.
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

    /// Positions that differ in their counts alone share a key until the counts matter.
    fn key(&self) -> u64 {
        let quiet_plies_excess = self.quiet_plies().saturating_sub(QUIET_PLIES_KEY_MIN);
        self.repetition_key() ^ u64::from(quiet_plies_excess).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// The value for the side to move after the captures that must be made (alpha-beta, fail-soft). There
/// are seldom many ways to make them, and never more captures than pieces.
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

/// The value for the side to move where nothing can be captured.
#[inline]
fn static_value(pos: &Draughts) -> i32 {
    if pos.movable_pieces(pos.turn()) == 0 {
        return -NO_MOVES_LOSS;
    }
    let [own, other] = [pos.turn(), pos.turn().other()];
    let is_hunt = pos.men(own) == 0 || pos.men(other) == 0;
    trained_eval::evaluate(pos) + if is_hunt { king_hunt_value(pos) } else { 0 }
}

/// The value for the side to move of an ending that the table knows.
fn endgame_value(pos: &Draughts, outcome: Ordering) -> i32 {
    match outcome {
        Ordering::Equal => 0,
        Ordering::Less => -value_of_lost_endgame_for_winner(pos),
        // How far a win has come is known of those who lose.
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

/// The value for the other side, which wins, of an ending that the side to move loses.
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

/// Kings that are ahead, and have only kings against them, must go where these are.
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
