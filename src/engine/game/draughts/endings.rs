//! Positions with few pieces, numbered almost without gaps, so that a table can tell something of each.
//!
//! The board is seen from the side that is to move, so a number does not say which seat that is. Nor does
//! it say how many quiet plies there were.

use super::{Draughts, SQUARES};
use crate::game::{Position, Seat};

/// No more pieces than this are numbered.
const PIECES_MAX: usize = 4;

/// How many counts of pieces of a kind there are.
const COUNTS: usize = PIECES_MAX + 1;

/// How many kinds of pieces there are: men and kings of the side to move, men and kings of the other.
const KINDS: usize = 4;

/// On how many squares each kind can stand, and the first of them: men never stand on their last row.
const STANDS: [(usize, u32); KINDS] = {
    let (all, but_last) = (SQUARES as usize, SQUARES as usize - 4);
    [(but_last, 0), (all, 0), (but_last, 4), (all, 0)]
};

/// In how many ways so many pieces can stand on so many squares (Pascal's triangle).
const WAYS: [[u32; COUNTS]; SQUARES as usize + 1] = {
    let mut ways = [[0; COUNTS]; SQUARES as usize + 1];
    let mut squares = 0;
    while squares < ways.len() {
        ways[squares][0] = 1;
        let mut pieces = 1;
        while squares > 0 && pieces < COUNTS {
            ways[squares][pieces] = ways[squares - 1][pieces - 1] + ways[squares - 1][pieces];
            pieces += 1;
        }
        squares += 1;
    }
    ways
};

/// By the counts of each kind, read as a number: the first number of such positions, and after all of
/// them how many numbers there are. There are none where a side has no piece, or both have too many.
const FIRSTS: [u32; COUNTS.pow(4) + 1] = {
    let mut firsts = [0; COUNTS.pow(4) + 1];
    let mut code = 0;
    while code < COUNTS.pow(4) {
        let counts = counts_of(code);
        let (own, other) = (counts[0] + counts[1], counts[2] + counts[3]);
        let mut size = (own > 0 && other > 0 && own + other <= PIECES_MAX) as u32;
        let mut kind = 0;
        while kind < KINDS {
            size *= WAYS[STANDS[kind].0][counts[kind]];
            kind += 1;
        }
        firsts[code + 1] = firsts[code] + size;
        code += 1;
    }
    firsts
};

const fn counts_of(code: usize) -> [usize; KINDS] {
    let [first, second] = [code / COUNTS.pow(2), code % COUNTS.pow(2)];
    [
        first / COUNTS,
        first % COUNTS,
        second / COUNTS,
        second % COUNTS,
    ]
}

/// The numbers of the endings with these counts.
const fn family(counts: [usize; KINDS]) -> std::ops::Range<u32> {
    let code = (counts[0] * COUNTS + counts[1]) * COUNTS.pow(2) + counts[2] * COUNTS + counts[3];
    FIRSTS[code]..FIRSTS[code + 1]
}

impl Draughts {
    /// How many numbers of endings there are.
    pub const ENDINGS: u32 = FIRSTS[FIRSTS.len() - 1];

    /// The numbers of endings that take long: of a king, then of a king and a man, to move against two kings.
    pub const LONG_ENDINGS: [std::ops::Range<u32>; 2] =
        [family([0, 1, 0, 2]), family([1, 1, 0, 2])];

    /// How many men and how many kings a seat has.
    #[must_use]
    pub const fn counts(&self, seat: Seat) -> [u32; 2] {
        [self.men(seat).count_ones(), self.kings(seat).count_ones()]
    }

    /// The number of the ending, which is less than `ENDINGS`; `None` where a side has no piece, or both
    /// together have more than four.
    #[must_use]
    pub fn ending_number(&self) -> Option<u32> {
        if self.taken().count_ones() as usize > PIECES_MAX || self.sides.contains(&0) {
            return None;
        }
        let (mut code, mut within) = (0, 0);
        for (set, (squares, first)) in self.seen_by_mover().into_iter().zip(STANDS) {
            let count = set.count_ones() as usize;
            code = code * COUNTS + count;
            within = within * WAYS[squares][count] + rank(set >> first);
        }
        Some(FIRSTS[code] + within)
    }

    /// The ending with this number, the first seat to move; `None` where there is none, as two pieces
    /// would share a square.
    #[must_use]
    pub fn of_ending_number(ending: u32) -> Option<Self> {
        let code = FIRSTS
            .partition_point(|first| *first <= ending)
            .checked_sub(1)?;
        let mut within = ending - FIRSTS[code];
        let counts = (code < COUNTS.pow(4)).then(|| counts_of(code))?;
        let mut kinds = [0; KINDS];
        for kind in (0..KINDS).rev() {
            let ((squares, first), count) = (STANDS[kind], counts[kind]);
            let ways = WAYS[squares][count];
            kinds[kind] = set_of(within % ways, count) << first;
            within /= ways;
        }
        let pieces: usize = counts.iter().sum();
        let pos = Self::of_seen(kinds);
        (pos.taken().count_ones() as usize == pieces).then_some(pos)
    }

    /// The position that the side to move, the first seat, sees so: the reverse of `seen_by_mover`.
    #[must_use]
    pub fn of_seen(seen: [u32; KINDS]) -> Self {
        let [men, kings, other_men, other_kings] = seen.map(places);
        Self {
            sides: [men | kings, other_men | other_kings],
            kings: kings | other_kings,
            ..Self::start()
        }
    }

    /// The squares of the men and of the kings of the side to move, then those of the other, one bit each, from
    /// the own side of the one to move.
    #[inline]
    #[must_use]
    pub const fn seen_by_mover(&self) -> [u32; KINDS] {
        let [own, other] = [self.turn, self.turn.other()];
        [
            self.seen(self.men(own)),
            self.seen(self.kings(own)),
            self.seen(self.men(other)),
            self.seen(self.kings(other)),
        ]
    }

    /// The squares of a set, one bit each, from the own side of the one to move.
    #[inline]
    const fn seen(&self, set: u64) -> u32 {
        // Every eight squares are followed by a bit that is none.
        let seen =
            set & 0xff | set >> 1 & 0xff << 8 | set >> 2 & 0xff << 16 | set >> 3 & 0xff << 24;
        #[expect(clippy::cast_possible_truncation, reason = "there are 32 squares")]
        let seen = seen as u32;
        match self.turn {
            Seat::First => seen,
            Seat::Second => seen.reverse_bits(),
        }
    }
}

/// The reverse of `seen` for the first seat.
const fn places(seen: u32) -> u64 {
    let seen = seen as u64;
    seen & 0xff | (seen & 0xff << 8) << 1 | (seen & 0xff << 16) << 2 | (seen & 0xff << 24) << 3
}

/// Which of all sets with as many members this is (the combinatorial number system).
fn rank(mut set: u32) -> u32 {
    let (mut rank, mut nth) = (0, 1);
    while set != 0 {
        rank += WAYS[set.trailing_zeros() as usize][nth];
        set &= set - 1;
        nth += 1;
    }
    rank
}

/// The set of this rank with so many members.
fn set_of(mut rank: u32, count: usize) -> u32 {
    let mut set = 0;
    for nth in (1..=count).rev() {
        let highest = WAYS.partition_point(|ways| ways[nth] <= rank) - 1;
        rank -= WAYS[highest][nth];
        set |= 1 << highest;
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_that_of_its_ending() {
        let mut endings = 0;
        for number in (0..Draughts::ENDINGS).step_by(7) {
            if let Some(pos) = Draughts::of_ending_number(number) {
                endings += 1;
                assert_eq!(pos.ending_number(), Some(number), "{pos}");
            }
        }
        assert!(endings > 900_000, "{endings}");
        assert_eq!(Draughts::of_ending_number(Draughts::ENDINGS), None);
    }

    /// The other seat sees the board turned round.
    #[test]
    fn both_seats_number_alike() {
        let number = |text: &str| text.parse::<Draughts>().expect(text).ending_number();
        let first = number("B:WK30,21:B1,K7");
        assert!(first.is_some());
        assert_eq!(number("W:W32,K26:BK3,12"), first);
        assert_eq!(number("B:W30,21,20:B1,7"), None);
        assert_eq!(number("B:W30:B"), None);
    }
}
