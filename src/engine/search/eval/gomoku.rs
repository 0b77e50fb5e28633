//! Gomoku at a glance: how many lines are still open to each side, and who is forced to what.
//!
//! What a side has is counted in windows of five squares that the other side has no stone in
//! (after Allis, "Searching for Solutions in Games and Artificial Intelligence", 1994, chapter 5,
//! whose terms are used here: a four threatens to complete a five, an open four does on two
//! squares, and an open three to make an open four). What that is worth was learnt from games.
//!
//! Threats leave few moves worth considering, and wins by fours are found by themselves. Where
//! nothing is forced only squares near stones are considered, and of these the most promising: that
//! may err.

mod fours;
mod learnt;
mod windows;

pub use learnt::Features;

use crate::game::gomoku::bitboard::Bitboard;
use crate::game::gomoku::{Gomoku, Move};
use crate::game::{Position, Seat};
use crate::search::{Bounds, Evaluate, Level, Moves, Score, Sight, Strength};

use self::windows::{OpenFour, Prospects};

/// How many fours are made in search of a win by fours: where a look ends, where it goes on, and
/// where it begins. The last takes up to a tenth of a second or two.
const FOURS_AT_LEAVES: u32 = 16;
const FOURS_WITHIN: u32 = 64;
const FOURS_AT_ROOT: u32 = 200_000;

/// Where nothing is forced, so many of the most promising moves are considered.
const CONSIDERED_MAX: usize = 24;

/// What a move promises in each direction by what it makes there, own and of the other side, which it takes:
/// fours, open threes, other threes, and twos.
const PROMISES: [[i16; 4]; 2] = [[1500, 1350, 780, 510], [1080, 720, 300, 120]];

/// What a four and an open three at once promise beyond that.
const PROMISE_OF_BOTH: [i16; 2] = [1080, 360];

impl Evaluate for Gomoku {
    const TAKES_TURNS: bool = true;

    const REDUCES: bool = true;

    const SWING: u32 = 40;

    const MOVE_INDICES: usize = 256;

    /// Where a five has to be prevented, the estimate is of the position after that.
    fn evaluate(&self) -> Score {
        let ([own, other], free) = (self.stones(), self.empty_squares());
        let forced = windows::fives(other, free);
        Score::estimate(match forced.first() {
            None => learnt::value(own, other),
            Some(_) if !windows::fives(own, free).is_empty() => learnt::WON,
            Some(_) if forced.has_multiple() => -learnt::WON,
            Some(square) => -learnt::value(other, own | Bitboard::from_bit_index(square)),
        })
    }

    fn sight(&self) -> Sight {
        let (mut stones, free) = (self.stones(), self.empty_squares());
        if self.turn() == Seat::Second {
            stones.reverse();
        }
        let squares = |own| {
            let count = windows::open_fours(own, free).count();
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        Sight {
            open_fours: Some(stones.map(squares)),
            threats: Some(stones.map(|own| windows::threats(own, free))),
            apart: Some(stones.map(|own| apart(own, stones[0] | stones[1]))),
            ..Sight::default()
        }
    }

    fn bounds(&self) -> Bounds {
        let ([own, other], free) = (self.stones(), self.empty_squares());
        let [mine, fours] = windows::fives_and_fours(own, free);
        if !mine.is_empty() {
            return Bounds::exactly(Score::win_in(1));
        }
        let threats = windows::fives(other, free);
        if threats.has_multiple() {
            return Bounds::exactly(Score::loss_in(2));
        }
        if fours.is_empty() {
            return NOT_AT_ONCE;
        }
        if threats.is_empty() && windows::has_open_four(own, free) {
            return Bounds::exactly(Score::win_in(3));
        }
        after_fours(fours::find([own, other], fours, threats, FOURS_AT_LEAVES))
    }

    fn consider(&self, moves: &mut Moves<Move>) -> Bounds {
        self.consider_with(FOURS_WITHIN, moves)
    }

    fn consider_first(&self, moves: &mut Moves<Move>) -> Bounds {
        self.consider_with(FOURS_AT_ROOT, moves)
    }

    /// Where a five has to be prevented there is no choice.
    fn is_tense(&self) -> bool {
        let [_, other] = self.stones();
        self.outcome().is_some() || !windows::fives(other, self.empty_squares()).is_empty()
    }

    /// One stone more is never worse than none.
    fn passed(&self) -> Option<Self> {
        Self::after_null_move(self)
    }

    fn index(&self, m: Move) -> usize {
        usize::from(m.bit_index())
    }

    fn key(&self) -> u64 {
        Self::key(self)
    }

    /// Below medium strength a player looks at all squares, and for lines alone: no threat is known but by looking.
    fn selects(level: Level) -> bool {
        level >= Level::Medium
    }

    /// `easy` plays near the stones: its margin alone allows nearly every square. From `medium` up the search considers
    /// no other squares.
    fn is_plausible(&self, m: Move, level: Level) -> bool {
        let [own, other] = self.stones();
        let near = near(own | other);
        level != Level::Easy || near.is_empty() || near.has(m.bit_index())
    }

    #[rustfmt::skip] // A table is read by columns.
    fn strength(level: Level) -> Strength {
        match level {
            Level::Beginner => Strength { depth: 1,        margin: Some(350), blocks: false },
            Level::Easy     => Strength { depth: 1,        margin: Some(200), blocks: false },
            Level::Medium   => Strength { depth: 1,        margin: Some(40),  blocks: true },
            Level::Hard     => Strength { depth: 2,        margin: Some(10),  blocks: true },
            Level::Max      => Strength { depth: u32::MAX, margin: None,      blocks: true },
        }
    }

    fn plies_left(&self) -> u32 {
        Self::INFO.plies_max - u32::from(self.plies())
    }
}

impl Gomoku {
    /// What `consider` does, making at most so many fours.
    fn consider_with(&self, fours_made_max: u32, moves: &mut Moves<Move>) -> Bounds {
        let ([own, other], free) = (self.stones(), self.empty_squares());
        let [mine, theirs] = [own, other].map(|stones| Prospects::of(stones, free));
        let mut push_all = |squares: Bitboard| {
            let promises = squares.has_multiple().then(|| promises(&mine, &theirs));
            for square in squares {
                let rank = promises.map_or(0, |promises| promises[usize::from(square)]);
                moves.push(Move::from_bit_index(square), rank.into(), 0);
            }
        };
        if !mine.fives.is_empty() {
            push_all(mine.fives);
            return Bounds::exactly(Score::win_in(1));
        }
        if !theirs.fives.is_empty() {
            push_all(theirs.fives);
            return if theirs.fives.has_multiple() {
                Bounds::exactly(Score::loss_in(2))
            } else {
                NOT_AT_ONCE
            };
        }
        let fours = mine.fours();
        if !fours.is_empty() {
            if let Some(OpenFour { square, .. }) = windows::open_fours(own, free).next() {
                push_all(square);
                return Bounds::exactly(Score::win_in(3));
            }
            let win = fours::find([own, other], fours, Bitboard::EMPTY, fours_made_max);
            if let Some(win) = win {
                push_all(Bitboard::from_bit_index(win.first));
                return after_fours(Some(win));
            }
        }
        let defences = if theirs.fours().is_empty() {
            free
        } else {
            let threats = windows::open_fours(other, free);
            threats.fold(free, |all, threat| all & threat.defences)
        };
        if defences != free {
            // A side that does not prevent an open four has to make fours.
            let answers = defences | fours;
            if answers.is_empty() {
                push_all(free);
                return Bounds::exactly(Score::loss_in(4));
            }
            push_all(answers);
            return NOT_AT_ONCE;
        }
        self.consider_quiet(&mine, &theirs, moves);
        NOT_AT_ONCE
    }
}

/// The bounds where neither side completes a five with its next stone, unless the other side could
/// and is let.
const NOT_AT_ONCE: Bounds = Bounds {
    lower: Score::loss_in(2),
    upper: Score::win_in(3),
};

/// The bounds where there is a win by fours, or none was found.
fn after_fours(win: Option<fours::Win>) -> Bounds {
    Bounds {
        lower: win.map_or(NOT_AT_ONCE.lower, |win| Score::win_in(win.plies())),
        ..NOT_AT_ONCE
    }
}

/// How promising a stone on each square is.
fn promises(mine: &Prospects, theirs: &Prospects) -> [i16; 256] {
    let mut promises = [0; 256];
    let mut add = |squares: Bitboard, promise: i16| {
        for square in squares {
            promises[usize::from(square)] += promise;
        }
    };
    for ((side, weights), both) in [mine, theirs]
        .into_iter()
        .zip(PROMISES)
        .zip(PROMISE_OF_BOTH)
    {
        let (mut fours, mut open) = (Bitboard::EMPTY, Bitboard::EMPTY);
        for along in &side.along {
            let sets = [along.fours, along.open_threes, along.threes, along.twos];
            for (set, weight) in sets.into_iter().zip(weights) {
                add(set, weight);
            }
            (fours, open) = (fours | along.fours, open | along.open_threes);
        }
        add(fours & open, both);
    }
    promises
}

impl Gomoku {
    fn consider_quiet(&self, mine: &Prospects, theirs: &Prospects, moves: &mut Moves<Move>) {
        let [own, other] = self.stones();
        let near = near(own | other) & self.empty_squares();
        if near.is_empty() {
            // The first stone of all, or a board that is almost full.
            let centre = Bitboard::from_bit_index(Bitboard::bit_index(
                Bitboard::SIZE / 2,
                Bitboard::SIZE / 2,
            ));
            let anywhere = if self.plies() == 0 {
                centre
            } else {
                self.empty_squares()
            };
            for square in anywhere {
                moves.push(Move::from_bit_index(square), 0, 0);
            }
            return;
        }
        let promises = promises(mine, theirs);
        let mut ranked = [(0, 0); 225];
        let mut count = 0;
        for square in near {
            ranked[count] = (promises[usize::from(square)], square);
            count += 1;
        }
        let ranked = &mut ranked[..count];
        if count > CONSIDERED_MAX {
            ranked.select_nth_unstable_by(CONSIDERED_MAX, |a, b| b.cmp(a));
        }
        for (rank, square) in ranked.iter().take(CONSIDERED_MAX) {
            moves.push(Move::from_bit_index(*square), (*rank).into(), 0);
        }
    }
}

/// The squares at most two steps along a line from those of a set.
fn near(stones: Bitboard) -> Bitboard {
    fn along<const STEP: u8>(stones: Bitboard) -> Bitboard {
        let (up, down) = (stones.shift_up::<STEP>(), stones.shift_down::<STEP>());
        let (up, down) = (up & Bitboard::ALL, down & Bitboard::ALL);
        up | down | up.shift_up::<STEP>() | down.shift_down::<STEP>()
    }

    (along::<1>(stones) | along::<15>(stones) | along::<16>(stones) | along::<17>(stones))
        & Bitboard::ALL
}

/// How many of a side's stones have no other near, or near to what is near.
fn apart(own: Bitboard, stones: Bitboard) -> u32 {
    let is_apart = |bit: &u8| {
        let square = Bitboard::from_bit_index(*bit);
        (near(near(square)) & stones & !square).is_empty()
    };
    u32::try_from(own.into_iter().filter(is_apart).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
