//! All windows of five squares of the board at once.
//!
//! A row of five comes to be in one of the windows of five squares, so what a side can hope for is
//! how many stones it has in those that the other side has none in. A set of squares stands for the
//! windows that begin on them, and the stones of all windows along a direction are counted side by
//! side, a bit of the count in each set, as adders do.

use crate::game::gomoku::bitboard::Bitboard;

/// What a side could make along each line, by its stones in windows without any of the other side.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThreatMap {
    /// The free squares that complete a five.
    pub(super) fives: Bitboard,
    pub(super) by_direction: [DirectionThreats; DIRECTIONS],
}

/// What a side could make in one direction. Each square is in the first of these sets that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectionThreats {
    /// The free squares that make a four: three stones and two free squares make a window.
    pub(super) fours: Bitboard,
    /// Those that make an open three, which becomes an open four by one stone more.
    pub(super) open_threes: Bitboard,
    /// Those that make another three.
    pub(super) threes: Bitboard,
    /// Those that make a two which becomes an open three by one stone more.
    pub(super) twos: Bitboard,
}

/// The number of directions: along ranks, files, and both diagonals.
pub(super) const DIRECTIONS: usize = 4;

/// How far the squares of each lie apart.
const DIRECTION_STEPS: [u8; DIRECTIONS] = [1, 15, 16, 17];

/// What becomes a four that is open at both ends, and so cannot be stopped.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenFour {
    /// The square that makes it.
    pub(super) square: Bitboard,
    /// The squares on which the other side prevents it: this and both ends.
    pub(super) defences: Bitboard,
    /// How far the squares of the four lie apart.
    step: u8,
}

/// Windows along a direction, by the number of a side's stones in them.
struct WindowCounts {
    one: Bitboard,
    two: Bitboard,
    three: Bitboard,
    four: Bitboard,
    /// Four squares in a row between two free ones, by the number of stones in them; by where the first of
    /// the free ones is.
    open: [Bitboard; 3],
}

impl WindowCounts {
    /// Those that lie on the board and have no stone that is not of `own`.
    #[inline]
    fn count_windows<const STEP: u8>(own: Bitboard, free: Bitboard) -> Self {
        let available = own | free;
        let (mut stones, mut windows_available) = (own, available);
        let mut next = || {
            stones = stones.shift_down::<STEP>();
            windows_available = windows_available.shift_down::<STEP>();
            (stones, windows_available)
        };
        let ((b, fb), (c, fc), (d, fd), (e, fe)) = (next(), next(), next(), next());
        let inner = fb & fc & fd & fe;
        let clear = available & inner;
        let beyond = free
            .shift_down::<STEP>()
            .shift_down::<STEP>()
            .shift_down::<STEP>();
        let open = free & inner & beyond.shift_down::<STEP>().shift_down::<STEP>();

        // The stones on the last four squares of the window are added in pairs, and then that on the first.
        let (left, lefts) = (b ^ c, b & c);
        let (right, rights) = (d ^ e, d & e);
        let carry = left & right;
        let (ones, twos, fours) = (left ^ right, lefts ^ rights ^ carry, lefts & rights);
        let carry = ones & own;
        let (odd, pair, many) = (ones ^ own, twos ^ carry, fours | twos & carry);
        Self {
            one: clear & odd & !pair & !many,
            two: clear & pair & !odd & !many,
            three: clear & pair & odd,
            four: clear & many & !odd,
            open: [open & ones & !twos, open & twos & !ones, open & ones & twos],
        }
    }
}

/// The squares of the windows of five squares.
#[inline]
fn covered_squares<const STEP: u8>(starts: Bitboard) -> Bitboard {
    starts | inner_squares::<STEP>(starts)
}

/// The squares of the windows but the first, of five squares or, but the last, of six.
#[inline]
fn inner_squares<const STEP: u8>(starts: Bitboard) -> Bitboard {
    let two = starts.shift_up::<STEP>();
    let two = two | two.shift_up::<STEP>();
    two | two.shift_up::<STEP>().shift_up::<STEP>()
}

impl DirectionThreats {
    #[inline]
    fn from_windows<const STEP: u8>(windows: &WindowCounts, free: Bitboard) -> Self {
        let WindowCounts {
            two, three, open, ..
        } = windows;
        let fours = covered_squares::<STEP>(*three) & free;
        let remaining = free & !fours;
        let open_threes = inner_squares::<STEP>(open[1]) & remaining;
        let remaining = remaining & !open_threes;
        let threes = covered_squares::<STEP>(*two) & remaining;
        let twos = inner_squares::<STEP>(open[0]) & remaining & !threes;
        Self {
            fours,
            open_threes,
            threes,
            twos,
        }
    }
}

impl ThreatMap {
    /// Of the side with these stones, where so many squares are free.
    pub(super) fn from_stones(own: Bitboard, free: Bitboard) -> Self {
        #[inline]
        fn threats_along<const STEP: u8>(
            own: Bitboard,
            free: Bitboard,
        ) -> (Bitboard, DirectionThreats) {
            let windows = WindowCounts::count_windows::<STEP>(own, free);
            (
                covered_squares::<STEP>(windows.four),
                DirectionThreats::from_windows::<STEP>(&windows, free),
            )
        }

        let directions = [
            threats_along::<1>(own, free),
            threats_along::<15>(own, free),
            threats_along::<16>(own, free),
            threats_along::<17>(own, free),
        ];
        let fives = directions
            .iter()
            .fold(Bitboard::EMPTY, |all, (fives, _)| all | *fives);
        Self {
            fives: fives & free,
            by_direction: directions.map(|(_, along)| along),
        }
    }

    /// The free squares that make a four.
    pub(super) fn fours_in_all_directions(&self) -> Bitboard {
        let [a, b, c, d] = self.by_direction.map(|along| along.fours);
        a | b | c | d
    }
}

/// How many numbers tell what a side has.
pub(super) const FEATURE_COUNT: usize = 16;

/// Squares that make something in one direction at least, and in two.
#[derive(Default)]
struct DirectionCounts([Bitboard; 2]);

impl DirectionCounts {
    #[inline]
    fn add(&mut self, squares: Bitboard) {
        self.0[1] = self.0[1] | self.0[0] & squares;
        self.0[0] = self.0[0] | squares;
    }
}

/// How many windows of five have one, two, and three stones of a side or more, and none of the other; how many
/// open ones of six have one, two and three; and how many squares make fours, open threes, other
/// threes and twos, alone or two at once.
pub(super) fn count_features(own: Bitboard, free: Bitboard) -> [u32; FEATURE_COUNT] {
    #[derive(Default)]
    struct Sums {
        windows: [u32; 6],
        fours: DirectionCounts,
        open_threes: DirectionCounts,
        threes: DirectionCounts,
        twos: DirectionCounts,
    }

    #[inline]
    fn add<const STEP: u8>(sums: &mut Sums, own: Bitboard, free: Bitboard) {
        let windows = WindowCounts::count_windows::<STEP>(own, free);
        let direction = DirectionThreats::from_windows::<STEP>(&windows, free);
        let WindowCounts {
            one,
            two,
            three,
            four,
            open: [open_one, open_two, open_three],
        } = windows;
        let sets = [one, two, three | four, open_one, open_two, open_three];
        for (count, set) in sums.windows.iter_mut().zip(sets) {
            *count += set.len();
        }
        sums.fours.add(direction.fours);
        sums.open_threes.add(direction.open_threes);
        sums.threes.add(direction.threes);
        sums.twos.add(direction.twos);
    }

    let mut sums = Sums::default();
    add::<1>(&mut sums, own, free);
    add::<15>(&mut sums, own, free);
    add::<16>(&mut sums, own, free);
    add::<17>(&mut sums, own, free);
    let Sums {
        windows,
        fours,
        open_threes,
        threes,
        twos,
    } = sums;
    let (DirectionCounts([four, two_fours]), DirectionCounts([open, two_open])) =
        (fours, open_threes);
    let (DirectionCounts([three, two_threes]), DirectionCounts([two, two_twos])) = (threes, twos);
    let sets = [
        four,
        two_fours,
        four & open & !two_fours,
        four & three & !two_fours & !open,
        open,
        two_open,
        open & three & !two_open & !four,
        two_threes,
        two_twos,
        open & two & !two_open & !four & !three,
    ];
    let mut counts = [0; FEATURE_COUNT];
    for (feature, count) in counts
        .iter_mut()
        .zip(windows.into_iter().chain(sets.map(Bitboard::len)))
    {
        *feature = count;
    }
    counts
}

/// The free squares that complete a five, and those that make a four.
pub(super) fn fives_and_fours(own: Bitboard, free: Bitboard) -> [Bitboard; 2] {
    #[inline]
    fn along_direction<const STEP: u8>(own: Bitboard, free: Bitboard) -> [Bitboard; 2] {
        let WindowCounts { three, four, .. } = WindowCounts::count_windows::<STEP>(own, free);
        if (three | four).is_empty() {
            return [Bitboard::EMPTY; 2];
        }
        [four, three].map(|windows| covered_squares::<STEP>(windows) & free)
    }

    let directions = [
        along_direction::<1>(own, free),
        along_direction::<15>(own, free),
        along_direction::<16>(own, free),
        along_direction::<17>(own, free),
    ];
    directions
        .into_iter()
        .fold([Bitboard::EMPTY; 2], |[fives, fours], [five, four]| {
            [fives | five, fours | four]
        })
}

/// In how many ways a side threatens to win: by the squares that complete a five, and by the directions in which
/// there is none and it can make an open four.
pub(super) fn count_threats(own: Bitboard, free: Bitboard) -> u32 {
    let fives = fives_along(own).map(|fives| fives & free);
    let per_direction = DIRECTION_STEPS.into_iter().zip(fives).map(|(step, fives)| {
        let has_open_four_along = || open_fours(own, free).any(|four| four.step == step);
        let fives = fives.len();
        if fives == 0 {
            u32::from(has_open_four_along())
        } else {
            fives
        }
    });
    per_direction.sum()
}

/// The free squares that complete a five of these stones.
pub(super) fn fives(own: Bitboard, free: Bitboard) -> Bitboard {
    let [a, b, c, d] = fives_along(own);
    (a | b | c | d) & free
}

/// The squares that complete a five in each direction, free or not.
#[inline]
fn fives_along(own: Bitboard) -> [Bitboard; DIRECTIONS] {
    fn along_direction<const STEP: u8>(own: Bitboard) -> Bitboard {
        let (a, b) = (own.shift_down::<STEP>(), own.shift_up::<STEP>());
        let (aa, bb) = (a & a.shift_down::<STEP>(), b & b.shift_up::<STEP>());
        let (aaa, bbb) = (a & aa.shift_down::<STEP>(), b & bb.shift_up::<STEP>());
        let (aaaa, bbbb) = (a & aaa.shift_down::<STEP>(), b & bbb.shift_up::<STEP>());
        aaaa | aaa & b | aa & bb | a & bbb | bbbb
    }

    [
        along_direction::<1>(own),
        along_direction::<15>(own),
        along_direction::<16>(own),
        along_direction::<17>(own),
    ]
}

/// Where something of six squares in a row becomes an open four: where it begins, by which of the inner
/// squares is free. The outer ones are.
#[inline]
fn open_fours_along<const STEP: u8>(own: Bitboard, free: Bitboard) -> [Bitboard; 4] {
    let (mut o, mut f) = (own, free);
    let mut next = || {
        o = o.shift_down::<STEP>();
        f = f.shift_down::<STEP>();
        (o, f)
    };
    let ((b, fb), (c, fc), (d, fd), (e, fe), (_, end)) = (next(), next(), next(), next(), next());
    let open = free & end;
    let (left, right) = (open & b & c, open & d & e);
    [right & fb & c, right & b & fc, left & fd & e, left & d & fe]
}

/// Whether anything becomes an open four by one stone.
pub(super) fn has_open_four(own: Bitboard, free: Bitboard) -> bool {
    fn along_direction<const STEP: u8>(own: Bitboard, free: Bitboard) -> Bitboard {
        let [a, b, c, d] = open_fours_along::<STEP>(own, free);
        a | b | c | d
    }

    let squares = along_direction::<1>(own, free)
        | along_direction::<15>(own, free)
        | along_direction::<16>(own, free)
        | along_direction::<17>(own, free);
    !squares.is_empty()
}

/// Everything that becomes an open four by one stone.
pub(super) fn open_fours(own: Bitboard, free: Bitboard) -> impl Iterator<Item = OpenFour> {
    let directions = [
        (1, open_fours_along::<1>(own, free)),
        (15, open_fours_along::<15>(own, free)),
        (16, open_fours_along::<16>(own, free)),
        (17, open_fours_along::<17>(own, free)),
    ];
    directions.into_iter().flat_map(|(step, places)| {
        (1..).zip(places).flat_map(move |(gap, begins)| {
            begins.into_iter().map(move |begin| {
                let square = Bitboard::from_bit_index(begin + gap * step);
                let ends =
                    Bitboard::from_bit_index(begin) | Bitboard::from_bit_index(begin + 5 * step);
                OpenFour {
                    square,
                    defences: square | ends,
                    step,
                }
            })
        })
    })
}
