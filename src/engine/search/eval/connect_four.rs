//! Connect Four evaluation: the values of the discs by file, and the free squares that complete a
//! line.
//!
//! Quiet games are decided by zugzwang: a player runs out of safe moves and must play below a
//! square that completes the opponent's line. Once only one file is left to fill, the first player
//! plays on its odd ranks and the second player on its even ranks. A winning square therefore
//! counts more for the side that gets to play on its rank (Allis, "A knowledge-based approach of
//! Connect-Four", 1988).

mod opening_book;

use std::cmp::Ordering;

use crate::game::connect_four::{ConnectFour, Move, winning_squares};
use crate::game::{Position, Seat, single_squares};
use crate::search::{Bounds, Evaluate, MoveStack, Score, VisibleFeatures};

/// Values of a winning square: a free square where a disc completes a line for a side. The second
/// value applies if that side would play on the square's rank once only one file is left to fill.
/// The first value applies on all other ranks.
const WINNING_SQUARE_VALUES: [i32; 2] = [12, 40];

/// Value of a disc, indexed by the distance of its file from the edge. The value grows with the
/// number of lines that lead through the squares of the file.
const FILE_VALUES: [i32; 4] = [0, 2, 4, 7];

impl Evaluate for ConnectFour {
    /// The game can be solved from the start.
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
        // The side to move cannot win with its next disc, and it can prevent the opponent from
        // winning with the reply. A win therefore takes at least 3 plies, and a loss at least 4.
        distance_bounds(self.remaining_plies_max(), 4, 3)
    }

    /// The threat counts also include a winning square directly above an immediate threat. If the
    /// opponent blocks the immediate threat, the side can win on the square above.
    fn visible_features(&self) -> VisibleFeatures {
        let threats = self.free_winning_squares().map(|wins| {
            let immediate_wins = wins & self.playable_squares();
            immediate_wins.count_ones() + (immediate_wins << 1 & wins).count_ones()
        });
        VisibleFeatures {
            winning_threats: Some(self.turn().order_by_seat(threats)),
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
            for square in single_squares(if wins != 0 { wins } else { playable }) {
                moves.push(Move::from_square(square), 0, winning_squares(own | square));
            }
            return self.static_bounds();
        }
        let free = Self::ALL_SQUARES ^ self.occupied();
        for square in single_squares(safe) {
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

    /// Returns one plus the number of discs that the winner has left at the end, negated for a
    /// loss. Faster wins have greater scores. Pascal Pons's solver and test sets use the same
    /// scale. Estimates are returned unchanged.
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

/// Returns the score bounds of a position where a loss takes at least `nearest_loss` plies and a
/// win takes at least `nearest_win` plies. If the game ends before a loss is possible, the lower
/// bound is a draw. If the game ends before a win is possible, the upper bound is a draw.
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

/// Counts the squares of a set. The function loops over the bits, because the sets are small and
/// not every processor has an instruction that counts bits.
#[inline]
const fn count_squares(mut squares: u64) -> i32 {
    let mut count = 0;
    while squares != 0 {
        squares &= squares - 1;
        count += 1;
    }
    count
}

/// Last ply at which mirror images share a key. After this ply, the search rarely reaches both a
/// position and its mirror image, so computing the mirrored key costs more than it saves.
const MIRROR_KEY_PLIES_MAX: u8 = 14;

/// Move-ordering preference for each file. Central files have the highest values.
const FILE_PREFERENCE: [i32; 7] = [1, 3, 5, 6, 4, 2, 0];

/// Mask of ranks 1, 3 and 5.
const ODD_RANKS: u64 = ConnectFour::ranks_mask([0, 2, 4]);

/// Mask of ranks 2, 4 and 6.
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
