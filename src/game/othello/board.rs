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

/// Steps by file and rank: first four by which the number of a square rises, then their opposites.
const STEPS: [(i8, i8); 8] = [
    (1, 0),
    (-1, 1),
    (0, 1),
    (1, 1),
    (-1, 0),
    (1, -1),
    (0, -1),
    (-1, -1),
];

/// The squares from each square to the edge, itself left out, for each of the [`STEPS`].
static RAYS: [[u64; 8]; 64] = {
    let mut rays = [[0; 8]; 64];
    let mut at: i8 = 0;
    while at < 64 {
        let mut way = 0;
        while way < 8 {
            let (mut file, mut rank) = (at % 8 + STEPS[way].0, at / 8 + STEPS[way].1);
            while file >= 0 && file < 8 && rank >= 0 && rank < 8 {
                rays[at as usize][way] |= 1 << (rank * 8 + file);
                file += STEPS[way].0;
                rank += STEPS[way].1;
            }
            way += 1;
        }
        at += 1;
    }
    rays
};

/// The discs of `other` that a disc of `own` on this square turns over.
///
/// In each direction the first square that is not the other's either is one's own and encloses what
/// lies before it, or it does not.
#[inline]
pub(crate) fn turned(own: u64, other: u64, square: u64) -> u64 {
    let rays = &RAYS[square.trailing_zeros() as usize % 64];
    let mut turned = 0;
    for ray in &rays[..4] {
        let blocked = ray & !other;
        let end = blocked & blocked.wrapping_neg() & own;
        // What is below the end, and nothing where there is no end.
        turned |= ray & end.wrapping_sub(u64::from(end != 0));
    }
    for ray in &rays[4..] {
        let blocked = ray & !other;
        let end = (1 << 63 >> (blocked | 1).leading_zeros()) & blocked & own;
        // What is above the end, and nothing where there is no end.
        turned |= ray & (end << 1).wrapping_neg();
    }
    turned
}

/// The squares beside those of a set, in all eight directions.
#[inline]
pub(crate) const fn neighbours(squares: u64) -> u64 {
    let beside = (squares & !H_FILE) << 1 | (squares & !A_FILE) >> 1;
    let ranks = squares | beside;
    beside | ranks << 8 | ranks >> 8
}
