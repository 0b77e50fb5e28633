//! Draughts at a glance: how well the pieces stand, as self-play has taught (`learnt`), once all captures are
//! made that must be made. With four pieces or fewer it is known who wins.

mod endings;
mod learnt;

use std::cmp::Ordering;

use crate::game::draughts::{Draughts, Move};
use crate::game::{Position, Seat};
use crate::search::{Bounds, Evaluate, Level, Score, Strength};

pub use learnt::Features;

/// What a man is worth.
const MAN: i32 = 100;

/// What a king is worth, about.
const KING: i32 = 140;

/// How much worse every row and file is, between a king and the kings it hunts.
const DISTANCE: i32 = 2;

/// From so many quiet plies on, how many there are makes a difference to what can still be done
/// before the game is drawn.
const QUIET_PLIES_THAT_MATTER: u8 = 48;

/// What an ending is worth that is won by the table, more than all else; what it is worth more for every
/// piece and every man that is gone, which comes before all that is seen at a glance; and what it is worth
/// less for every step that the loser can hold out.
const WON: i32 = 10_000;
const WON_PIECE_GONE: i32 = 3_000;
const WON_MAN_GONE: i32 = 1_000;
const WON_STEP: i32 = 40;

/// What is seen at a glance counts for no more than this where it is known who wins.
const WON_GLANCE_MAX: i32 = 150;

/// What no piece can do anything about: more than all pieces.
const LOST: i32 = 5_000;

impl Evaluate for Draughts {
    const TAKES_TURNS: bool = true;

    const MOVE_INDICES: usize = Move::INDEX_COUNT;

    const REDUCES: bool = true;

    /// What is learnt tells moves apart that seemed alike, so that `easy` has to be content with more.
    #[rustfmt::skip] // A table is read by columns.
    fn strength(level: Level) -> Strength {
        match level {
            Level::Beginner => Strength { depth: 1,        margin: Some(200), blocks: false },
            Level::Easy     => Strength { depth: 1,        margin: Some(50),  blocks: false },
            Level::Medium   => Strength { depth: 2,        margin: Some(50),  blocks: true },
            Level::Hard     => Strength { depth: 4,        margin: Some(30),  blocks: true },
            Level::Max      => Strength { depth: u32::MAX, margin: None,      blocks: true },
        }
    }

    /// In endings a draw is known, and that who wins cannot lose. A win is no more than an estimate, as it may
    /// take too many moves.
    fn bounds(&self) -> Bounds {
        match endings::outcome(self) {
            None => Bounds::ANY,
            Some(Ordering::Equal) => Bounds::exactly(Score::DRAW),
            Some(Ordering::Greater) => Bounds {
                lower: Score::DRAW,
                ..Bounds::ANY
            },
            Some(Ordering::Less) => Bounds {
                upper: Score::DRAW,
                ..Bounds::ANY
            },
        }
    }

    /// The value when all captures are made that must be made. A side cannot choose to leave its
    /// position as it is while it has one, so there is nothing to estimate before.
    fn evaluate(&self) -> Score {
        Score::estimate(settled(self, -LOST - 1, LOST + 1))
    }

    /// Who must capture has little choice.
    #[inline]
    fn is_tense(&self) -> bool {
        self.capturers() != 0
    }

    /// The greatest captures first.
    fn rank(&self, m: Move) -> i32 {
        i32::from(m.capture_count())
    }

    fn index(&self, m: Move) -> usize {
        m.index()
    }

    fn material(&self) -> Option<[i32; 2]> {
        let count = |pieces: u64| pieces.count_ones().cast_signed();
        Some(Seat::ALL.map(|seat| count(self.men(seat)) + 2 * count(self.kings(seat))))
    }

    /// Positions that differ in their counts alone share a key until the counts matter.
    fn key(&self) -> u64 {
        let quiet = self.quiet_plies().saturating_sub(QUIET_PLIES_THAT_MATTER);
        self.repetition_key() ^ u64::from(quiet).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// The value for the side to move after the captures that must be made (alpha-beta, fail-soft). There
/// are seldom many ways to make them, and never more captures than pieces.
fn settled(pos: &Draughts, mut alpha: i32, beta: i32) -> i32 {
    if let Some(outcome) = endings::outcome(pos) {
        return ending_value(pos, outcome);
    }
    if pos.capturers() == 0 {
        return quiet_value(pos);
    }
    let mut captures = Vec::new();
    pos.push_captures(&mut captures);
    let mut best = -LOST;
    for m in captures {
        let value = -settled(&pos.after(m), -beta, -alpha);
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
fn quiet_value(pos: &Draughts) -> i32 {
    if pos.movable_pieces(pos.turn()) == 0 {
        return -LOST;
    }
    let [own, other] = [pos.turn(), pos.turn().other()];
    let is_hunt = pos.men(own) == 0 || pos.men(other) == 0;
    learnt::value(pos) + if is_hunt { hunt(pos) } else { 0 }
}

/// The value for the side to move of an ending that the table knows.
fn ending_value(pos: &Draughts, outcome: Ordering) -> i32 {
    match outcome {
        Ordering::Equal => 0,
        Ordering::Less => -won_value(pos),
        // How far a win has come is known of those who lose.
        Ordering::Greater => {
            let mut moves = Vec::new();
            pos.legal_moves(&mut moves);
            let after = moves.into_iter().map(|m| pos.after(m));
            let lost = after.filter(|after| {
                endings::outcome(after).is_none_or(|outcome| outcome == Ordering::Less)
            });
            lost.map(|lost| won_value(&lost)).max().unwrap_or(WON)
        }
    }
}

/// The value for the other side, which wins, of an ending that the side to move loses.
fn won_value(pos: &Draughts) -> i32 {
    let men = pos.men(pos.turn()) | pos.men(pos.turn().other());
    let glance = -quiet_value(pos);
    WON + WON_PIECE_GONE * (4 - count(pos.occupied())) + WON_MAN_GONE * (4 - count(men))
        - WON_STEP * i32::from(endings::resistance(pos))
        + glance.clamp(-WON_GLANCE_MAX, WON_GLANCE_MAX)
}

fn material(pos: &Draughts, seat: Seat) -> i32 {
    MAN * count(pos.men(seat)) + KING * count(pos.kings(seat))
}

/// Kings that are ahead, and have only kings against them, must go where these are.
fn hunt(pos: &Draughts) -> i32 {
    let ahead = material(pos, pos.turn()) - material(pos, pos.turn().other());
    let hunter = if ahead > 0 {
        pos.turn()
    } else {
        pos.turn().other()
    };
    if ahead == 0 || pos.men(hunter.other()) != 0 {
        return 0;
    }
    let distance: i32 = Draughts::squares_of(pos.kings(hunter))
        .flat_map(|king| {
            let hunted = Draughts::squares_of(pos.kings(hunter.other()));
            hunted.map(move |other| {
                let apart = king
                    .rank
                    .abs_diff(other.rank)
                    .max(king.file.abs_diff(other.file));
                i32::from(apart)
            })
        })
        .sum();
    -ahead.signum() * DISTANCE * distance
}

fn count(squares: u64) -> i32 {
    squares.count_ones().cast_signed()
}

#[cfg(test)]
mod tests;
