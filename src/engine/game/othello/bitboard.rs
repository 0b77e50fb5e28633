//! Discs as sets of squares: a bit a square, and all discs at once by shifting whole sets.
//!
//! A run of discs is followed by shifts of one, two and four squares, each with what the ones before
//! have found ("parallel prefix": Kogge and Stone, "A parallel algorithm for the efficient solution
//! of a general class of recurrence equations", 1973), so no loop depends on the discs.

use wide::u64x2;

/// All squares but those of the a-file and the h-file, where a step along a rank or a diagonal would
/// come out on the other edge. No disc on an edge can be turned over in these directions.
const INNER_FILES: u64 = 0x7e7e_7e7e_7e7e_7e7e;

const A_FILE: u64 = 0x0101_0101_0101_0101;
const H_FILE: u64 = A_FILE << 7;

/// The free squares on which a side can play: those from which a run of the other's discs leads to
/// one of its own.
///
/// Two boards are looked at side by side, as they are and mirrored, so that shifts up find what
/// lies in six of the eight directions, in vectors of two.
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

/// The squares behind the runs of `other` that begin one step up from `own`.
#[inline]
fn run_ends_up<const BY: u32>(own: u64x2, other: u64x2) -> u64x2 {
    let mut run = other & (own << BY);
    run |= other & (run << BY);
    let pairs = other & (other << BY);
    run |= pairs & (run << (2 * BY));
    run |= pairs & (run << (2 * BY));
    run << BY
}

/// The squares to the right of the runs of `inner` that begin to the right of `own`: added to the
/// first disc of a run, a bit is carried to the square behind its last.
#[inline]
const fn run_ends_right(own: u64, inner: u64) -> u64 {
    (inner + (inner & (own << 1))) & !inner
}

/// The squares to the left of the runs of `inner` that begin to the left of `own`.
#[inline]
const fn run_ends_left(own: u64, inner: u64) -> u64 {
    let mut run = inner & (own >> 1);
    run |= inner & (run >> 1);
    let pairs = inner & (inner >> 1);
    run |= pairs & (run >> 2);
    run |= pairs & (run >> 2);
    run >> 1
}

/// A board as it is, and mirrored: with its last rank first.
#[inline]
fn with_mirror(squares: u64) -> u64x2 {
    u64x2::new([squares, squares.swap_bytes()])
}

/// The squares from a square to the edge, itself left out.
struct Rays {
    /// Up a diagonal, up the file and up the other diagonal: on the board as it is, and from the same
    /// square of the mirrored board.
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

/// The squares from a square to the edge by steps of so many files and ranks.
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

/// The discs of `other` that a disc of `own` on this square turns over.
///
/// In each direction the first square that is not the other's either is one's own and encloses what
/// lies before it, or it does not.
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
        // What is below the end, and nothing where there is no end.
        up |= ray & (end - found);
    }
    let [upright, mirrored] = up.to_array();

    let blocked = rays.right & !other;
    let end = blocked & blocked.wrapping_neg() & own;
    let right = rays.right & end.wrapping_sub(u64::from(end != 0));

    let blocked = rays.left & !other;
    let end = (1 << 63 >> (blocked | 1).leading_zeros()) & blocked & own;
    // What is above the end, and nothing where there is no end.
    let left = rays.left & (end << 1).wrapping_neg();

    upright | mirrored.swap_bytes() | right | left
}

/// The squares beside those of a set, in all eight directions.
#[inline]
pub(crate) const fn neighbours(squares: u64) -> u64 {
    let beside = (squares & !H_FILE) << 1 | (squares & !A_FILE) >> 1;
    let ranks = squares | beside;
    beside | ranks << 8 | ranks >> 8
}
