//! Connect Four at a glance: who has better squares to hope for.
//!
//! What decides quiet games is who must play below a square on which the opponent would win. With
//! all else filled, the first player is left to play on odd ranks and the second on even ones, so
//! a square counts for more to the side that comes to it so (Allis, "A knowledge-based approach of
//! Connect-Four", 1988).

mod opening_book;

use std::cmp::Ordering;

use crate::game::connect_four::{ConnectFour, Move, winning_squares};
use crate::game::{Position, Seat};
use crate::search::{Bounds, Evaluate, MoveStack, Score, VisibleFeatures};

/// What a free square is worth on which a side would complete a line, by whether its rank is one
/// that the side comes to when all else is filled.
const WINNING_SQUARE_VALUES: [i32; 2] = [12, 40];

/// What a disc is worth on each file: a measure of the lines that lead through its squares.
const FILE_VALUES: [i32; 4] = [0, 2, 4, 7];

impl Evaluate for ConnectFour {
    /// From the start.
    const SOLVABLE_PLIES_MAX: u32 = 42;

    const SEATS_ALTERNATE: bool = true;

    fn evaluate(&self) -> Score {
        let [own, other] = self.discs();
        let [own_wins, other_wins] = self.free_winning_squares();
        let seat = self.turn();
        Score::estimate(
            disc_value(own) + winning_square_value(own_wins, seat)
                - disc_value(other)
                - winning_square_value(other_wins, seat.other()),
        )
    }

    fn static_bounds(&self) -> Bounds {
        let [own_wins, _] = self.free_winning_squares();
        if own_wins & self.playable_squares() != 0 {
            return Bounds::exact(Score::win_in(1));
        }
        if self.safe_squares() == 0 {
            return Bounds::exact(Score::loss_in(2));
        }
        // Neither side wins with its next disc.
        distance_bounds(self.remaining_plies_max(), 4, 3)
    }

    /// Whoever stops one threat with a disc has the other side play above it.
    fn visible_features(&self) -> VisibleFeatures {
        let mut threats = self.free_winning_squares().map(|wins| {
            let immediate_wins = wins & self.playable_squares();
            immediate_wins.count_ones() + (immediate_wins << 1 & wins).count_ones()
        });
        if self.turn() == Seat::Second {
            threats.reverse();
        }
        VisibleFeatures {
            winning_threats: Some(threats),
            ..VisibleFeatures::default()
        }
    }

    #[inline]
    fn list_candidates(&self, moves: &mut MoveStack<Move>) -> Bounds {
        let [own, _] = self.discs();
        let [own_wins, _] = self.free_winning_squares();
        let playable = self.playable_squares();
        let (wins, safe) = (own_wins & playable, self.safe_squares());
        if wins != 0 || safe == 0 {
            let mut remaining = if wins != 0 { wins } else { playable };
            while remaining != 0 {
                let square = remaining & remaining.wrapping_neg();
                remaining ^= square;
                moves.push(Move::from_square(square), 0, winning_squares(own | square));
            }
            return self.static_bounds();
        }
        let free = Self::ALL_SQUARES ^ self.occupied();
        let mut remaining = safe;
        while remaining != 0 {
            let square = remaining & remaining.wrapping_neg();
            remaining ^= square;
            let m = Move::from_square(square);
            let wins = winning_squares(own | square);
            moves.push(
                m,
                8 * count_squares(wins & free) + FILE_PREFERENCE[usize::from(m.file())],
                wins,
            );
            if self.after_disc(square, wins).safe_squares() == 0 {
                moves.prefer_last();
                return Bounds::exact(Score::win_in(3));
            }
        }
        distance_bounds(self.remaining_plies_max(), 4, 5)
    }

    #[inline]
    fn after_candidate(&self, m: Move, note: u64) -> Self {
        self.after_disc(self.landing_square(m), note)
    }

    #[inline]
    fn key(&self) -> u64 {
        let key = self.unique_key();
        if self.plies() > MIRROR_KEY_PLIES_MAX {
            return key;
        }
        key.min(self.mirror_key())
    }

    fn probe_book(&self) -> Option<(Ordering, Move)> {
        opening_book::probe(self)
    }

    #[inline]
    fn remaining_plies_max(&self) -> u32 {
        Self::INFO.plies_max - u32::from(self.plies())
    }

    /// The number of the winner's own discs left, and one: the faster win is the greater number
    /// (the scale of Pascal Pons's solver and test sets).
    fn conventional_score(&self, score: Score) -> i32 {
        let Some(plies) = score.plies_to_end() else {
            return score.value();
        };
        let last_ply = u32::from(self.plies()) + plies;
        let discs_left = 22 - last_ply.div_ceil(2).cast_signed();
        if score > Score::DRAW {
            discs_left
        } else {
            -discs_left
        }
    }
}

/// The bounds where neither a loss nor a win can come sooner than this, if the board has room for
/// them at all.
#[inline]
const fn distance_bounds(plies_left: u32, nearest_loss: u32, nearest_win: u32) -> Bounds {
    Bounds {
        lower: if plies_left < nearest_loss {
            Score::DRAW
        } else {
            Score::loss_in(nearest_loss)
        },
        upper: if plies_left < nearest_win {
            Score::DRAW
        } else {
            Score::win_in(nearest_win)
        },
    }
}

/// How many squares a set has. There are few, and not every processor can count bits at once.
#[inline]
const fn count_squares(mut squares: u64) -> i32 {
    let mut count = 0;
    while squares != 0 {
        squares &= squares - 1;
        count += 1;
    }
    count
}

/// Until when mirror images are taken for one. Later, lines of play that are each other's image have
/// parted for good, unless the game began with an image of itself, and looking costs more.
const MIRROR_KEY_PLIES_MAX: u8 = 14;

/// The files from the middle outwards, most preferred first.
const FILE_PREFERENCE: [i32; 7] = [1, 3, 5, 6, 4, 2, 0];

/// Ranks 1, 3 and 5 of every file.
const ODD_RANKS: u64 = ConnectFour::ranks_mask([0, 2, 4]);

/// Ranks 2, 4 and 6.
const EVEN_RANKS: u64 = ConnectFour::ranks_mask([1, 3, 5]);

fn winning_square_value(squares: u64, seat: Seat) -> i32 {
    let favourable = squares
        & match seat {
            Seat::First => ODD_RANKS,
            Seat::Second => EVEN_RANKS,
        };
    let count = |squares: u64| squares.count_ones().cast_signed();
    WINNING_SQUARE_VALUES[0] * count(squares ^ favourable)
        + WINNING_SQUARE_VALUES[1] * count(favourable)
}

fn disc_value(discs: u64) -> i32 {
    (0..4)
        .map(|distance: u8| {
            let files = ConnectFour::file_mask(distance) | ConnectFour::file_mask(6 - distance);
            FILE_VALUES[usize::from(distance)] * (discs & files).count_ones().cast_signed()
        })
        .sum()
}
