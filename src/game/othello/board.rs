//! Discs as sets of squares: a bit a square, and all eight directions at once by shifting whole sets.
//!
//! A run of discs is followed by shifts of one, two and four squares, each with what the ones before
//! have found ("parallel prefix": Kogge and Stone, "A parallel algorithm for the efficient solution
//! of a general class of recurrence equations", 1973), so no loop depends on the discs.

/// All squares but those of the a-file and the h-file, where a step along a rank or a diagonal would
/// come out on the other edge. No disc on an edge can be turned over in these directions.
const INNER_FILES: u64 = 0x7e7e_7e7e_7e7e_7e7e;

const A_FILE: u64 = 0x0101_0101_0101_0101;
const H_FILE: u64 = A_FILE << 7;

/// Along a rank, and along both diagonals. Along a file it is 8.
const SIDEWAYS: [u32; 3] = [1, 7, 9];

/// The free squares on which a side can play: those from which a run of the other's discs leads to
/// one of its own.
#[inline]
pub(crate) const fn targets(own: u64, other: u64) -> u64 {
    let inner = other & INNER_FILES;
    let ends = run_ends(own, inner, SIDEWAYS[0])
        | run_ends(own, inner, SIDEWAYS[1])
        | run_ends(own, inner, SIDEWAYS[2])
        | run_ends(own, other, 8);
    ends & !(own | other)
}

/// The squares behind all runs of `other` that begin beside `own`, both ways.
#[inline]
const fn run_ends(own: u64, other: u64, by: u32) -> u64 {
    up(own, other, by) << by | down(own, other, by) >> by
}

/// The runs of `other` that begin one step up from `from`.
#[inline]
const fn up(from: u64, other: u64, by: u32) -> u64 {
    let mut run = other & (from << by);
    run |= other & (run << by);
    let pairs = other & (other << by);
    run |= pairs & (run << (2 * by));
    run | pairs & (run << (2 * by))
}

/// The runs of `other` that begin one step down from `from`.
#[inline]
const fn down(from: u64, other: u64, by: u32) -> u64 {
    let mut run = other & (from >> by);
    run |= other & (run >> by);
    let pairs = other & (other >> by);
    run |= pairs & (run >> (2 * by));
    run | pairs & (run >> (2 * by))
}

/// The discs of `other` that a disc of `own` on this square turns over.
#[inline]
pub(crate) const fn turned(own: u64, other: u64, square: u64) -> u64 {
    let inner = other & INNER_FILES;
    enclosed(own, inner, square, SIDEWAYS[0])
        | enclosed(own, inner, square, SIDEWAYS[1])
        | enclosed(own, inner, square, SIDEWAYS[2])
        | enclosed(own, other, square, 8)
}

/// The runs of `other` between the square and `own`, both ways.
#[inline]
const fn enclosed(own: u64, other: u64, square: u64, by: u32) -> u64 {
    let (above, below) = (up(square, other, by), down(square, other, by));
    all_if(own & (above << by)) & above | all_if(own & (below >> by)) & below
}

/// Every square if the set has any, else none.
#[inline]
const fn all_if(set: u64) -> u64 {
    0_u64.wrapping_sub((set != 0) as u64)
}

/// The squares beside those of a set, in all eight directions.
#[inline]
pub(crate) const fn neighbours(squares: u64) -> u64 {
    let beside = (squares & !H_FILE) << 1 | (squares & !A_FILE) >> 1;
    let ranks = squares | beside;
    beside | ranks << 8 | ranks >> 8
}
