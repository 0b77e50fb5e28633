//! Bitboard operations for Othello. A set of discs has a bit for each square, and a shift moves all
//! discs at once.
//!
//! In most directions, runs of discs are found by shifting a bitboard by one square, then by two
//! squares. Each shift extends the runs that the previous shifts found ("parallel prefix": Kogge
//! and Stone, "A parallel algorithm for the efficient solution of a general class of recurrence
//! equations", 1973). The number of shifts does not depend on the position.

use wide::u64x2;

/// All squares outside the a-file and the h-file. Shifting a disc from the a-file or the h-file
/// along a rank or a diagonal could wrap it to the opposite edge. Discs on these files cannot be
/// flipped along a rank or a diagonal.
const INNER_FILES: u64 = 0x7e7e_7e7e_7e7e_7e7e;

const A_FILE: u64 = 0x0101_0101_0101_0101;
const H_FILE: u64 = A_FILE << 7;

/// Returns the free squares where a side can play. From such a square, a run of opposing discs
/// leads to a disc of that side.
///
/// The board and its vertical mirror image are processed together in a vector of two lanes. Upward
/// shifts in both lanes cover six of the eight directions.
#[inline]
pub(crate) fn playable_squares(own: u64, other: u64) -> u64 {
    let inner = other & INNER_FILES;
    let (own_both, inner_both) = (with_mirror(own), with_mirror(inner));
    let ends = run_ends_up::<7>(own_both, inner_both)
        | run_ends_up::<8>(own_both, with_mirror(other))
        | run_ends_up::<9>(own_both, inner_both);
    let [upright, mirrored] = ends.to_array();
    let along_rank = run_ends_right(own, inner) | run_ends_left(own, inner);
    (upright | mirrored.swap_bytes() | along_rank) & !(own | other)
}

/// Finds each run of `other` discs that leads upwards from an `own` disc, and returns the square
/// after the run. `BY` is the number of bits that a disc is shifted for a step to the next rank,
/// straight or diagonally.
#[inline]
fn run_ends_up<const BY: u32>(own: u64x2, other: u64x2) -> u64x2 {
    let mut run = other & (own << BY);
    run |= other & (run << BY);
    let pairs = other & (other << BY);
    run |= pairs & (run << (2 * BY));
    run |= pairs & (run << (2 * BY));
    run << BY
}

/// Returns the square just past each run of `inner` discs that begins directly to the right of an
/// `own` disc. Adding the first disc of a run to `inner` carries a bit to the square after the last
/// disc of the run.
#[inline]
const fn run_ends_right(own: u64, inner: u64) -> u64 {
    (inner + (inner & (own << 1))) & !inner
}

/// Returns the square just past each run of `inner` discs that begins directly to the left of an
/// `own` disc.
#[inline]
const fn run_ends_left(own: u64, inner: u64) -> u64 {
    let mut run = inner & (own >> 1);
    run |= inner & (run >> 1);
    let pairs = inner & (inner >> 1);
    run |= pairs & (run >> 2);
    run |= pairs & (run >> 2);
    run >> 1
}

/// Returns the board and its vertical mirror image, with the ranks in reverse order.
#[inline]
fn with_mirror(squares: u64) -> u64x2 {
    u64x2::new([squares, squares.swap_bytes()])
}

/// Squares from a given square to the edge in each direction, without the square itself.
struct Rays {
    /// Rays up one diagonal, up the file and up the other diagonal. In each pair, the first ray
    /// starts at the given square, and the second ray starts at its mirror image.
    up: [[u64; 2]; 3],
    right: u64,
    left: u64,
}

impl Rays {
    const NONE: Self = Self {
        up: [[0; 2]; 3],
        right: 0,
        left: 0,
    };
}

static RAYS: [Rays; 64] = {
    let mut rays = [const { Rays::NONE }; 64];
    let mut square: i8 = 0;
    while square < 64 {
        let mirrored = square ^ 56;
        rays[square as usize] = Rays {
            up: [
                [ray(square, -1, 1), ray(mirrored, -1, 1)],
                [ray(square, 0, 1), ray(mirrored, 0, 1)],
                [ray(square, 1, 1), ray(mirrored, 1, 1)],
            ],
            right: ray(square, 1, 0),
            left: ray(square, -1, 0),
        };
        square += 1;
    }
    rays
};

/// Returns the squares after `from` up to the edge. Each step advances by the given numbers of
/// files and ranks.
const fn ray(from: i8, files: i8, ranks: i8) -> u64 {
    let mut ray = 0;
    let mut file = from % 8 + files;
    let mut rank = from / 8 + ranks;
    while file >= 0 && file < 8 && rank >= 0 && rank < 8 {
        ray |= 1 << (rank * 8 + file);
        file += files;
        rank += ranks;
    }
    ray
}

/// Returns the discs of `other` that a disc of `own` on this square flips.
///
/// In each direction, the first square without a disc of `other` ends the run. The run is flipped
/// only if that square has a disc of `own`.
#[inline]
pub(crate) fn flipped_discs(own: u64, other: u64, square: u64) -> u64 {
    let rays = &RAYS[square.trailing_zeros() as usize % 64];
    let (own_both, other_both) = (with_mirror(own), with_mirror(other));
    let mut up = u64x2::ZERO;
    for ray in rays.up {
        let ray = u64x2::new(ray);
        let blocked = ray & !other_both;
        let end = blocked & (u64x2::ZERO - blocked) & own_both;
        let found = (end | (u64x2::ZERO - end)) >> 63;
        // If a disc of `own` ends the run, this mask selects the squares below that disc. Otherwise
        // the mask is empty.
        up |= ray & (end - found);
    }
    let [upright, mirrored] = up.to_array();

    let blocked = rays.right & !other;
    let end = blocked & blocked.wrapping_neg() & own;
    let right = rays.right & end.wrapping_sub(u64::from(end != 0));

    let blocked = rays.left & !other;
    let end = (1 << 63 >> (blocked | 1).leading_zeros()) & blocked & own;
    // If a disc of `own` ends the run, this mask selects the squares above that disc. Otherwise the
    // mask is empty.
    let left = rays.left & (end << 1).wrapping_neg();

    upright | mirrored.swap_bytes() | right | left
}

/// Returns the squares adjacent to any square of a set, in all eight directions.
#[inline]
pub(crate) const fn neighbours(squares: u64) -> u64 {
    let beside = (squares & !H_FILE) << 1 | (squares & !A_FILE) >> 1;
    let ranks = squares | beside;
    beside | ranks << 8 | ranks >> 8
}
