//! Gomoku at a glance: how many lines are still open to each side, and who is forced to what.
//!
//! What a side has is counted in windows of five squares that the other side has no stone in
//! (after Allis, "Searching for Solutions in Games and Artificial Intelligence", 1994, chapter 5,
//! whose terms are used here: a four threatens to complete a five, an open four does on two
//! squares, and an open three to make an open four).
//!
//! Threats leave few moves worth considering, and wins by fours are found by themselves. Where
//! nothing is forced only squares near stones are considered, and of these the most promising: that
//! may err.

mod fours;
mod windows;

use crate::game::gomoku::squares::Squares;
use crate::game::gomoku::{Gomoku, Move};
use crate::game::{Position, Seat};
use crate::search::{Bounds, Evaluate, Level, Moves, Score, Sight, Strength};

use self::windows::{OpenFour, Prospects};

/// What a window is worth that only one side has stones in: one, two, and three or more.
const WINDOW: [i32; 3] = [1, 6, 24];

/// What it is worth to be on the move.
const TEMPO: i32 = 20;

/// How many fours are made in search of a win by fours: where a look ends, where it goes on, and
/// where it begins. The last takes up to a tenth of a second or two.
const FOURS_AT_LEAVES: u32 = 16;
const FOURS_WITHIN: u32 = 64;
const FOURS_AT_ROOT: u32 = 200_000;

/// Where nothing is forced, so many of the most promising moves are considered.
const CONSIDERED_MAX: usize = 24;

/// What a move promises by what it makes of the own lines in a direction, and takes of the other
/// side's: of threes that may be open, other threes, and twos.
const PROMISE: [[i32; 3]; 2] = [[30, 12, 3], [24, 10, 2]];

/// What a four promises, and what it promises to take one.
const PROMISE_OF_FOUR: [i32; 2] = [60, 40];

impl Evaluate for Gomoku {
    const TAKES_TURNS: bool = true;

    const REDUCES: bool = true;

    const SWING: u32 = 40;

    const MOVE_INDICES: usize = 256;

    /// Where a five has to be prevented, the estimate is of the position after that.
    fn evaluate(&self) -> Score {
        let ([own, other], free) = (self.stones(), self.free());
        let forced = windows::fives(other, free);
        let value = match forced.first() {
            None => value(own, free) - value(other, free) + TEMPO,
            Some(square) => {
                let square = Squares::of(square);
                let (own, free) = (own | square, free & !square);
                value(own, free) - value(other, free) - TEMPO
            }
        };
        Score::estimate(value)
    }

    fn sight(&self) -> Sight {
        let (mut stones, free) = (self.stones(), self.free());
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
            ..Sight::default()
        }
    }

    fn bounds(&self) -> Bounds {
        let ([own, other], free) = (self.stones(), self.free());
        if !windows::fives(own, free).is_empty() {
            return Bounds::exactly(Score::win_in(1));
        }
        let threats = windows::fives(other, free);
        if threats.are_many() {
            return Bounds::exactly(Score::loss_in(2));
        }
        if threats.is_empty() && windows::open_fours(own, free).next().is_some() {
            return Bounds::exactly(Score::win_in(3));
        }
        after_fours(fours::find(own, other, FOURS_AT_LEAVES))
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
        self.outcome().is_some() || !windows::fives(other, self.free()).is_empty()
    }

    /// One stone more is never worse than none.
    fn passed(&self) -> Option<Self> {
        Self::passed(self)
    }

    fn index(&self, m: Move) -> usize {
        usize::from(m.bit())
    }

    fn key(&self) -> u64 {
        Self::key(self)
    }

    /// Beginners look at all squares, and for lines alone: no threat is known to them but by looking.
    fn selects(level: Level) -> bool {
        level >= Level::Hard
    }

    #[rustfmt::skip] // A table is read by columns.
    fn strength(level: Level) -> Strength {
        match level {
            Level::Beginner => Strength { depth: 1,        margin: Some(60), blocks: false },
            Level::Easy     => Strength { depth: 1,        margin: Some(10), blocks: true },
            Level::Medium   => Strength { depth: 2,        margin: Some(10), blocks: true },
            Level::Hard     => Strength { depth: 1,        margin: Some(10), blocks: true },
            Level::Max      => Strength { depth: u32::MAX, margin: None,     blocks: true },
        }
    }

    fn plies_left(&self) -> u32 {
        Self::INFO.plies_max - u32::from(self.plies())
    }
}

impl Gomoku {
    /// What `consider` does, making at most so many fours.
    fn consider_with(&self, fours_made_max: u32, moves: &mut Moves<Move>) -> Bounds {
        let ([own, other], free) = (self.stones(), self.free());
        let [mine, theirs] = [own, other].map(|stones| Prospects::of(stones, free));
        let mut push_all = |squares: Squares| {
            for square in squares {
                let rank = promise(square, &mine, &theirs);
                moves.push(Move::onto(square), rank, 0);
            }
        };
        if !mine.fives.is_empty() {
            push_all(mine.fives);
            return Bounds::exactly(Score::win_in(1));
        }
        if !theirs.fives.is_empty() {
            push_all(theirs.fives);
            return if theirs.fives.are_many() {
                Bounds::exactly(Score::loss_in(2))
            } else {
                NOT_AT_ONCE
            };
        }
        if let Some(OpenFour { square, .. }) = windows::open_fours(own, free).next() {
            push_all(square);
            return Bounds::exactly(Score::win_in(3));
        }
        if let Some(win) = fours::find(own, other, fours_made_max) {
            push_all(Squares::of(win.first));
            return after_fours(Some(win));
        }
        let threats = windows::open_fours(other, free);
        let defences = threats.fold(free, |all, threat| all & threat.defences);
        if defences != free {
            // A side that does not prevent an open four has to make fours.
            let answers = defences | mine.fours;
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

fn value(own: Squares, free: Squares) -> i32 {
    let counts = windows::windows(own, free);
    let values = WINDOW.iter().zip(counts);
    values
        .map(|(value, count)| value * count.cast_signed())
        .sum()
}

/// How promising a stone on this square is.
fn promise(square: u8, mine: &Prospects, theirs: &Prospects) -> i32 {
    let mut promise = 0;
    for (side, (weights, four)) in [mine, theirs]
        .into_iter()
        .zip(PROMISE.iter().zip(PROMISE_OF_FOUR))
    {
        if side.fours.has(square) {
            promise += four;
        }
        for direction in 0..windows::DIRECTIONS {
            let [open, three, two] = weights;
            promise += if side.open_threes[direction].has(square) {
                *open
            } else if side.threes[direction].has(square) {
                *three
            } else if side.twos[direction].has(square) {
                *two
            } else {
                0
            };
        }
    }
    promise
}

impl Gomoku {
    fn consider_quiet(&self, mine: &Prospects, theirs: &Prospects, moves: &mut Moves<Move>) {
        let [own, other] = self.stones();
        let near = near(own | other) & self.free();
        if near.is_empty() {
            // The first stone of all, or a board that is almost full.
            let centre = Squares::of(Squares::bit(Squares::SIZE / 2, Squares::SIZE / 2));
            let anywhere = if self.plies() == 0 {
                centre
            } else {
                self.free()
            };
            for square in anywhere {
                moves.push(Move::onto(square), 0, 0);
            }
            return;
        }
        let mut ranked = [(0, 0); 225];
        let mut count = 0;
        for square in near {
            ranked[count] = (promise(square, mine, theirs), square);
            count += 1;
        }
        let ranked = &mut ranked[..count];
        if count > CONSIDERED_MAX {
            ranked.select_nth_unstable_by(CONSIDERED_MAX, |a, b| b.cmp(a));
        }
        for (rank, square) in ranked.iter().take(CONSIDERED_MAX) {
            moves.push(Move::onto(*square), *rank, 0);
        }
    }
}

/// The squares at most two steps along a line from those of a set.
fn near(stones: Squares) -> Squares {
    fn along<const STEP: u8>(stones: Squares) -> Squares {
        let (up, down) = (stones.up::<STEP>(), stones.down::<STEP>());
        up | down | up.up::<STEP>() | down.down::<STEP>()
    }

    // A step over the edge comes back on the other side, which does no harm: it is one square more.
    (along::<1>(stones) | along::<15>(stones) | along::<16>(stones) | along::<17>(stones))
        & Squares::ALL
}

#[cfg(test)]
mod tests;
