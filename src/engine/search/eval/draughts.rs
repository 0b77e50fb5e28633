//! Draughts at a glance: who has more pieces, and whose stand better.
//!
//! The terms are those that programs of the field began with: pieces, advancement, the back row, the
//! centre and mobility (Samuel, "Some studies in machine learning using the game of checkers", 1959),
//! and men that nothing can keep from being crowned (Schaeffer et al., "A world championship caliber
//! checkers program", 1992). With four pieces or fewer it is known who wins.

mod endings;

use std::cmp::Ordering;

use crate::game::draughts::{Draughts, Move, ROWS};
use crate::game::{Position, Seat};
use crate::search::{Bounds, Evaluate, Score};

/// What a man is worth.
const MAN: i32 = 100;

/// What a king is worth: half as much again, as Samuel had it, less a little, since kings also come
/// to stand well.
const KING: i32 = 140;

/// What it is worth to be a piece ahead when few are left, divided by how many there are: who is ahead
/// wants to exchange.
const FEWER_PIECES: i32 = 240;

/// What a man is worth more by the rows it has gone. The last before the crown is worth the most; the
/// first is worth staying on, for it guards where the other side is crowned.
const ROWS_GONE: [i32; 7] = [8, 0, 2, 5, 9, 14, 24];

/// What the two men are worth more, of those on the back row, that guard all of it together.
const BRIDGE: i32 = 10;

/// What a man is worth more that can go to the last row through squares that no piece of the other side
/// can reach, and how much less for every row that it has still to go.
const RUNAWAY: [i32; 2] = [42, 5];

/// What a piece in the middle is worth more, which goes everywhere, by whether it is a king.
const CENTRE: [i32; 2] = [4, 10];

/// What a piece is worth more that can step.
const MOBILE: i32 = 3;

/// How much worse every row and file is, between a king and the kings it hunts.
const DISTANCE: i32 = 2;

/// A man is looked at for that from this row on: farther back, something always stops it.
const RUNAWAY_ROWS: std::ops::Range<u8> = 3..7;

/// The two men of the bridge, of each seat.
const BRIDGES: [u64; 2] = [Draughts::bits(&[1, 3]), Draughts::bits(&[30, 32])];

/// The squares in the middle.
const MIDDLE: u64 = Draughts::bits(&[10, 11, 14, 15, 18, 19, 22, 23]);

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

    const MOVE_INDICES: usize = Move::INDICES;

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

    /// The greatest captures first.
    fn rank(&self, m: Move) -> i32 {
        i32::from(m.captures())
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
    pos.captures(&mut captures);
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
fn quiet_value(pos: &Draughts) -> i32 {
    let (seat, other) = (pos.turn(), pos.turn().other());
    if pos.mobile(seat) == 0 {
        return -LOST;
    }
    let material = [seat, other].map(|seat| material(pos, seat));
    let ahead = material[0] - material[1];
    let pieces = count(pos.taken());
    ahead + ahead * FEWER_PIECES / (MAN * pieces) + standing(pos, seat) - standing(pos, other)
        + hunt(pos, ahead)
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
    WON + WON_PIECE_GONE * (4 - count(pos.taken())) + WON_MAN_GONE * (4 - count(men))
        - WON_STEP * i32::from(endings::resistance(pos))
        + glance.clamp(-WON_GLANCE_MAX, WON_GLANCE_MAX)
}

fn material(pos: &Draughts, seat: Seat) -> i32 {
    MAN * count(pos.men(seat)) + KING * count(pos.kings(seat))
}

/// How well a side's pieces stand.
fn standing(pos: &Draughts, seat: Seat) -> i32 {
    let (men, kings) = (pos.men(seat), pos.kings(seat));
    let rows = (0..).zip(ROWS_GONE);
    let gone: i32 = rows
        .map(|(row, worth)| worth * count(men & row_of(seat, row)))
        .sum();
    let bridge = if men & BRIDGES[seat.index()] == BRIDGES[seat.index()] {
        BRIDGE
    } else {
        0
    };
    gone + bridge
        + CENTRE[0] * count(men & MIDDLE)
        + CENTRE[1] * count(kings & MIDDLE)
        + MOBILE * count(pos.mobile(seat))
        + runaways(pos, seat)
}

/// What the men are worth that nothing stops.
fn runaways(pos: &Draughts, seat: Seat) -> i32 {
    if pos.kings(seat.other()) != 0 {
        return 0;
    }
    let others = pos.men(seat.other());
    let mut worth = 0;
    for row in RUNAWAY_ROWS {
        let mut rest = pos.men(seat) & row_of(seat, row);
        while rest != 0 {
            let man = rest & rest.wrapping_neg();
            rest ^= man;
            if Draughts::ahead_of(seat, man) & others == 0 {
                worth += RUNAWAY[0] - RUNAWAY[1] * (7 - i32::from(row));
            }
        }
    }
    worth
}

/// Kings that are ahead, and have only kings against them, must go where these are.
fn hunt(pos: &Draughts, ahead: i32) -> i32 {
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

/// The row a seat's pieces come to after so many rows.
fn row_of(seat: Seat, gone: u8) -> u64 {
    let row = usize::from(gone);
    match seat {
        Seat::First => ROWS[row],
        Seat::Second => ROWS[7 - row],
    }
}

fn count(squares: u64) -> i32 {
    squares.count_ones().cast_signed()
}

#[cfg(test)]
mod tests;
