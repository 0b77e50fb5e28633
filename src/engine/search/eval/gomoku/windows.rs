//! All windows of five squares of the board at once.
//!
//! A row of five comes to be in one of the windows of five squares, so what a side can hope for is
//! how many stones it has in those that the other side has none in. A set of squares stands for the
//! windows that begin on them, and the stones of all windows along a direction are counted side by
//! side, a bit of the count in each set, as adders do.

use crate::game::gomoku::squares::Squares;

/// What a side has and could make, by its stones in windows without any of the other side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prospects {
    /// The free squares that complete a five.
    pub(super) fives: Squares,
    /// The free squares that make a four: three stones and two free squares make a window.
    pub(super) fours: Squares,
    /// The free squares that make a three in a direction, and those that do in two windows or more
    /// of it: there, it may be open at both ends.
    pub(super) threes: [Squares; DIRECTIONS],
    pub(super) open_threes: [Squares; DIRECTIONS],
    /// The free squares beside a single stone in a direction.
    pub(super) twos: [Squares; DIRECTIONS],
    /// How many windows have one, two, and three stones or more.
    pub(super) windows: [u32; 3],
}

/// The number of directions: along ranks, files, and both diagonals.
pub(super) const DIRECTIONS: usize = 4;

/// How far the squares of each lie apart.
const STEPS: [u8; DIRECTIONS] = [1, 15, 16, 17];

/// What becomes a four that is open at both ends, and so cannot be stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenFour {
    /// The square that makes it.
    pub(super) square: Squares,
    /// The squares on which the other side prevents it: this and both ends.
    pub(super) defences: Squares,
    /// How far the squares of the four lie apart.
    step: u8,
}

/// Windows along a direction, by the number of a side's stones in them.
struct Windows {
    one: Squares,
    two: Squares,
    three: Squares,
    four: Squares,
}

impl Windows {
    /// Those that lie on the board and have no stone that is not of `own`.
    #[inline]
    fn of<const STEP: u8>(own: Squares, free: Squares) -> Self {
        let blocked = !(own | free);
        let (mut stones, mut walls) = (own, blocked);
        let mut next = || {
            stones = stones.down::<STEP>();
            walls = walls.down::<STEP>();
            (stones, walls)
        };
        let ((b, w1), (c, w2), (d, w3), (e, w4)) = (next(), next(), next(), next());
        let clear = !(blocked | w1 | w2 | w3 | w4);

        // Two full adders: the first three, then the rest with their sum.
        let half = own ^ b;
        let (sum, carry) = (half ^ c, own & b | half & c);
        let half = sum ^ d;
        let (ones, second) = (half ^ e, sum & d | half & e);
        let (twos, fours) = (carry ^ second, carry & second);
        Self {
            one: clear & ones & !twos & !fours,
            two: clear & twos & !ones,
            three: clear & twos & ones,
            four: clear & fours & !ones,
        }
    }
}

/// The squares of the windows, and those that lie in two of them or more.
#[inline]
fn covered<const STEP: u8>(windows: Squares) -> [Squares; 2] {
    let (mut once, mut twice, mut next) = (windows, Squares::NONE, windows);
    for _ in 0..4 {
        next = next.up::<STEP>();
        twice = twice | once & next;
        once = once | next;
    }
    [once, twice]
}

impl Prospects {
    /// Of the side with these stones, where so many squares are free.
    pub(super) fn of(own: Squares, free: Squares) -> Self {
        let mut all = Self::default();
        all.add::<1>(0, own, free);
        all.add::<15>(1, own, free);
        all.add::<16>(2, own, free);
        all.add::<17>(3, own, free);
        all
    }

    #[inline]
    fn add<const STEP: u8>(&mut self, direction: usize, own: Squares, free: Squares) {
        let Windows {
            one,
            two,
            three,
            four,
        } = Windows::of::<STEP>(own, free);
        let [fives, _] = covered::<STEP>(four);
        let [fours, _] = covered::<STEP>(three);
        let [threes, open_threes] = covered::<STEP>(two);
        let [twos, _] = covered::<STEP>(one);
        self.fives = self.fives | fives & free;
        self.fours = self.fours | fours & free;
        self.threes[direction] = threes & free;
        self.open_threes[direction] = open_threes & free;
        self.twos[direction] = twos & free;
        for (count, windows) in self.windows.iter_mut().zip([one, two, three | four]) {
            *count += windows.len();
        }
    }
}

/// How many windows have one, two, and three stones of a side or more, and none of the other.
pub(super) fn windows(own: Squares, free: Squares) -> [u32; 3] {
    fn add<const STEP: u8>(counts: &mut [u32; 3], own: Squares, free: Squares) {
        let Windows {
            one,
            two,
            three,
            four,
        } = Windows::of::<STEP>(own, free);
        for (count, windows) in counts.iter_mut().zip([one, two, three | four]) {
            *count += windows.len();
        }
    }

    let mut counts = [0; 3];
    add::<1>(&mut counts, own, free);
    add::<15>(&mut counts, own, free);
    add::<16>(&mut counts, own, free);
    add::<17>(&mut counts, own, free);
    counts
}

/// The free squares that complete a five, and those that make a four.
pub(super) fn fives_and_fours(own: Squares, free: Squares) -> [Squares; 2] {
    fn along<const STEP: u8>(own: Squares, free: Squares) -> [Squares; 2] {
        let Windows { three, four, .. } = Windows::of::<STEP>(own, free);
        [four, three].map(|windows| {
            let [squares, _] = covered::<STEP>(windows);
            squares & free
        })
    }

    let all = [
        along::<1>(own, free),
        along::<15>(own, free),
        along::<16>(own, free),
        along::<17>(own, free),
    ];
    all.into_iter()
        .fold([Squares::NONE; 2], |[fives, fours], [five, four]| {
            [fives | five, fours | four]
        })
}

/// In how many ways a side threatens to win: by the squares that complete a five, and by the directions in which
/// there is none and it can make an open four.
pub(super) fn threats(own: Squares, free: Squares) -> u32 {
    let fives = fives_along(own).map(|fives| fives & free);
    let each = STEPS.into_iter().zip(fives).map(|(step, fives)| {
        let four = || open_fours(own, free).any(|four| four.step == step);
        let fives = fives.len();
        if fives == 0 { u32::from(four()) } else { fives }
    });
    each.sum()
}

/// The free squares that complete a five of these stones.
pub(super) fn fives(own: Squares, free: Squares) -> Squares {
    let [a, b, c, d] = fives_along(own);
    (a | b | c | d) & free
}

/// The squares that complete a five in each direction, free or not.
#[inline]
fn fives_along(own: Squares) -> [Squares; DIRECTIONS] {
    fn along<const STEP: u8>(own: Squares) -> Squares {
        let (a, b) = (own.down::<STEP>(), own.up::<STEP>());
        let (aa, bb) = (a & a.down::<STEP>(), b & b.up::<STEP>());
        let (aaa, bbb) = (a & aa.down::<STEP>(), b & bb.up::<STEP>());
        let (aaaa, bbbb) = (a & aaa.down::<STEP>(), b & bbb.up::<STEP>());
        aaaa | aaa & b | aa & bb | a & bbb | bbbb
    }

    [
        along::<1>(own),
        along::<15>(own),
        along::<16>(own),
        along::<17>(own),
    ]
}

/// Everything that becomes an open four by one stone.
pub(super) fn open_fours(own: Squares, free: Squares) -> impl Iterator<Item = OpenFour> {
    fn along<const STEP: u8>(own: Squares, free: Squares) -> [Squares; 4] {
        // The stones and the free squares of six in a row, of which the outer ones are free.
        let (mut o, mut f) = (own, free);
        let mut next = || {
            o = o.down::<STEP>();
            f = f.down::<STEP>();
            (o, f)
        };
        let ((b, fb), (c, fc), (d, fd), (e, fe), (_, end)) =
            (next(), next(), next(), next(), next());
        let open = free & end;
        [
            open & fb & c & d & e,
            open & b & fc & d & e,
            open & b & c & fd & e,
            open & b & c & d & fe,
        ]
    }

    let all = [
        (1, along::<1>(own, free)),
        (15, along::<15>(own, free)),
        (16, along::<16>(own, free)),
        (17, along::<17>(own, free)),
    ];
    all.into_iter().flat_map(|(step, places)| {
        (1..).zip(places).flat_map(move |(gap, begins)| {
            begins.into_iter().map(move |begin| {
                let square = Squares::of(begin + gap * step);
                let ends = Squares::of(begin) | Squares::of(begin + 5 * step);
                OpenFour {
                    square,
                    defences: square | ends,
                    step,
                }
            })
        })
    })
}
