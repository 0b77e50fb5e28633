//! Counts the stones in every window of five squares on the board.
//!
//! Five stones in a row fill a window of five squares. The chances of a side therefore depend on
//! the numbers of its stones in windows without opposing stones. A bitboard represents windows by
//! their first squares. All windows along a direction are counted in parallel. Each bit of the
//! counts is stored in a separate bitboard, as in a binary adder.

use crate::game::gomoku::bitboard::Bitboard;

/// Squares where a side could make threats. The threats are derived from the side's stones in
/// windows without opposing stones.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThreatMap {
    /// Free squares where a stone completes five in a row.
    pub(super) fives: Bitboard,
    pub(super) by_direction: [DirectionThreats; DIRECTIONS],
}

/// Threats that a side could make in one direction. Each square is in at most one set: if several
/// threats are possible there, only the first set contains it.
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectionThreats {
    /// Free squares where a stone makes a four, in a window with three stones and two free squares.
    pub(super) fours: Bitboard,
    /// Free squares where a stone makes an open three, which a further stone turns into an open
    /// four.
    pub(super) open_threes: Bitboard,
    /// Free squares where a stone makes a three that is not open.
    pub(super) threes: Bitboard,
    /// Free squares where a stone makes a two, which a further stone turns into an open three.
    pub(super) twos: Bitboard,
}

/// Number of directions: ranks, files, and both diagonals.
pub(super) const DIRECTIONS: usize = 4;

/// Difference between the bit indices of adjacent squares, for each direction.
const DIRECTION_STEPS: [u8; DIRECTIONS] = [1, 15, 16, 17];

/// Open four that a single additional stone would make. Both ends of the four would be free, so the
/// opponent could not block it.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenFour {
    /// Square of the stone that makes the open four.
    pub(super) square: Bitboard,
    /// Squares where a stone of the opponent prevents the open four. The set contains `square` and
    /// both ends of the four.
    pub(super) defences: Bitboard,
    /// Difference between the bit indices of adjacent squares of the four.
    step: u8,
}

/// Windows of five squares along one direction, grouped by how many stones of a side they contain.
struct WindowCounts {
    one: Bitboard,
    two: Bitboard,
    three: Bitboard,
    four: Bitboard,
    /// Windows of six squares whose two end squares are free, grouped by the number of stones on
    /// the four inner squares, from one to three. A window is represented by its first square.
    open: [Bitboard; 3],
}

impl WindowCounts {
    /// Groups the windows that are on the board and contain only stones of `own` and free squares
    /// by their number of stones.
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

        // Binary adder: counts the stones on the last four squares in pairs, then adds the stone on
        // the first square.
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

/// Returns all squares that are covered by windows of five squares. `starts` holds the first
/// squares of the windows.
#[inline]
fn covered_squares<const STEP: u8>(starts: Bitboard) -> Bitboard {
    starts | inner_squares::<STEP>(starts)
}

/// Returns the second to fifth squares of windows. `starts` holds the first squares of the windows.
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
    /// Computes the threats of a side from its stones and the free squares.
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

    /// Returns the free squares where a stone makes a four in any direction.
    pub(super) fn fours_in_all_directions(&self) -> Bitboard {
        let [a, b, c, d] = self.by_direction.map(|along| along.fours);
        a | b | c | d
    }
}

/// Number of features of a side.
pub(super) const FEATURE_COUNT: usize = 16;

/// Two sets of squares. The first set contains the squares where a stone makes a threat in at least
/// one direction. The second set contains the squares where a stone makes threats in at least two
/// directions.
#[derive(Default)]
struct DirectionCounts([Bitboard; 2]);

impl DirectionCounts {
    #[inline]
    fn add(&mut self, squares: Bitboard) {
        self.0[1] = self.0[1] | self.0[0] & squares;
        self.0[0] = self.0[0] | squares;
    }
}

/// Returns the features of a side. The first three are the numbers of windows of five squares with
/// one, two, and three or more stones, and no opposing stones. The next three are the numbers of
/// open windows of six squares with one, two and three stones. The remaining features count squares
/// where a stone makes a four, an open three, or two threats in different directions.
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

/// Returns two sets of free squares: those where a stone completes five in a row, and those where a
/// stone makes a four.
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

/// Counts a side's threats to win. A square that completes five in a row is a threat. A direction
/// without such squares counts as one threat if the side can make an open four in it.
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

/// Returns the free squares where a stone completes five in a row for `own`.
pub(super) fn fives(own: Bitboard, free: Bitboard) -> Bitboard {
    let [a, b, c, d] = fives_along(own);
    (a | b | c | d) & free
}

/// Returns, for each direction, the squares that complete five in a row, including occupied
/// squares.
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

/// Finds windows of six squares that a single stone turns into an open four, and returns their
/// first squares. Such a window has two free end squares and four inner squares. The function
/// returns four sets of windows, one for each inner square on which the single stone may be placed.
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

/// Returns whether a single stone makes an open four.
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

/// Returns all open fours that a single stone makes.
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
