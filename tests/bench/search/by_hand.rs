//! The search of `plyhouse_engine::search::solve`, written by hand for Connect Four alone: the measure of
//! what being generic costs.
//!
//! It asks the same questions, visits the same positions in the same order, and keeps a table of the
//! same layout under the same key. It can be used for the same: it ends when it is told to or has
//! spent its budget, tells the same of its effort, and its table ages and may be written to by other
//! threads. What is known of this game is used wherever it makes the code
//! simpler: a game ends on a certain ply however it went, so values need no shift on their way from
//! a position to the next; no move of a position but the first can win, as a position in which one
//! could was never looked into.

#![expect(
    clippy::cast_possible_truncation,
    reason = "places are less than 7, and a hash is shifted to fit the table"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "a limit of time needs a clock, here as in the search itself"
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use plyhouse_engine::search::{Limits, Stop};

/// A set of squares, seven bits a file, the lowest rank in the lowest bit.
type Squares = u64;

const FILE: Squares = 0x7f;
const BOTTOM: Squares = 0x0000_0408_1020_4081;
const FULL: Squares = BOTTOM * 0x3f;

/// The value of a position: for a win `END` less the ply on which it comes, counted from the empty
/// board, for a loss the same below zero, for a draw 0.
type Value = i32;

/// One more than the greatest ply, so that what cannot come before the board is full is no more than a
/// draw.
const END: Value = 43;

/// How many squares there are.
const SQUARES: Value = 42;

const NO_MOVE: u8 = u8::MAX;

/// The files from the middle outwards, most preferred first.
const PREFERENCE: [u32; 7] = [1, 3, 5, 6, 4, 2, 0];

/// A position that goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Board {
    own: Squares,
    other: Squares,
    /// The squares that complete a line of the side to move, taken ones among them.
    own_wins: Squares,
    /// Those of the other side.
    other_wins: Squares,
    /// The squares to play on that leave the other side no win with its next disc.
    safe: Squares,
    plies: Value,
}

/// A move to try: the position that it leads to differs by these.
#[derive(Clone, Copy, Default)]
struct Candidate {
    square: Squares,
    wins: Squares,
    safe: Squares,
}

/// The moves to try in a position.
struct Candidates {
    /// From the left.
    moves: [Candidate; 7],
    /// Their ranks and, below these, seven less their places from the left; the best first.
    order: [u32; 7],
    count: usize,
    /// Whether one leaves the other side no safe move.
    have_won: bool,
}

/// Before all ranks.
const FIRST: u32 = 1 << 16;

impl Board {
    /// The position after these moves, one digit each.
    #[must_use]
    pub(crate) fn after(moves: &str) -> Self {
        let start = Self {
            safe: BOTTOM,
            ..Self::default()
        };
        moves.bytes().fold(start, |board, file| {
            let square = board.playable() & FILE << (7 * (file - b'1'));
            board.with(board.candidate(square))
        })
    }

    /// The position after a move.
    #[inline]
    fn with(&self, Candidate { square, wins, safe }: Candidate) -> Self {
        Self {
            own: self.other,
            other: self.own | square,
            own_wins: self.other_wins,
            other_wins: wins,
            safe,
            plies: self.plies + 1,
        }
    }

    /// What a disc on this square leads to.
    #[inline]
    fn candidate(&self, square: Squares) -> Candidate {
        let occupied = self.occupied() | square;
        let wins = winning_squares(self.own | square);
        let playable = (occupied + BOTTOM) & FULL;
        let threatened = playable & wins;
        let squares = match threatened {
            0 => playable,
            _ if threatened & (threatened - 1) == 0 => threatened,
            _ => 0,
        };
        let safe = squares & !((wins & (FULL ^ occupied)) >> 1);
        Candidate { square, wins, safe }
    }

    #[inline]
    fn occupied(&self) -> Squares {
        self.own | self.other
    }

    #[inline]
    fn playable(&self) -> Squares {
        (self.occupied() + BOTTOM) & FULL
    }

    #[inline]
    fn key(&self) -> u64 {
        let key = self.own + self.occupied() + BOTTOM;
        if self.plies > 14 {
            return key;
        }
        key.min(mirrored(key))
    }

    /// The safe moves, up to the first that wins because it leaves the other side none.
    #[inline]
    fn candidates(&self, table_move: u8) -> Candidates {
        let mut candidates = Candidates {
            moves: [Candidate::default(); 7],
            order: [0; 7],
            count: 0,
            have_won: false,
        };
        let free = FULL ^ self.occupied();
        let mut rest = self.safe;
        while rest != 0 && !candidates.have_won {
            let square = rest & rest.wrapping_neg();
            rest ^= square;
            let ordinal = candidates.count;
            let candidate = self.candidate(square);
            candidates.moves[ordinal] = candidate;
            candidates.have_won = candidate.safe == 0;
            let rank = if candidates.have_won || ordinal == usize::from(table_move) {
                FIRST
            } else {
                8 * count(candidate.wins & free) + PREFERENCE[square.trailing_zeros() as usize / 7]
            };
            let ranked = 8 * rank + 7 - ordinal as u32;
            let mut place = ordinal;
            while place > 0 && candidates.order[place - 1] < ranked {
                candidates.order[place] = candidates.order[place - 1];
                place -= 1;
            }
            candidates.order[place] = ranked;
            candidates.count += 1;
        }
        candidates
    }
}

impl Candidates {
    /// The places from the left of the moves, the best first.
    #[inline]
    fn best_first(&self) -> impl Iterator<Item = usize> {
        (self.order[..self.count].iter()).map(|ranked| 7 - (ranked % 8) as usize)
    }
}

/// The squares that would make a line of four with three of a set.
fn winning_squares(discs: Squares) -> Squares {
    let gaps = |by: u32| {
        let below = discs << by & discs << (2 * by);
        let above = discs >> by & discs >> (2 * by);
        below & (discs << (3 * by) | discs >> by) | above & (discs << by | discs >> (3 * by))
    };
    discs << 1 & discs << 2 & discs << 3 | gaps(6) | gaps(7) | gaps(8)
}

/// How many squares a set of few has.
fn count(mut squares: Squares) -> u32 {
    let mut count = 0;
    while squares != 0 {
        squares &= squares - 1;
        count += 1;
    }
    count
}

fn mirrored(squares: Squares) -> Squares {
    (squares & FILE) << 42
        | (squares & FILE << 7) << 28
        | (squares & FILE << 14) << 14
        | squares & FILE << 21
        | (squares >> 14) & FILE << 14
        | (squares >> 28) & FILE << 7
        | (squares >> 42) & FILE
}

/// What is known of a position, as the table has it.
#[derive(Clone, Copy)]
struct Known {
    lower: Value,
    upper: Value,
    best: u8,
}

/// Two entries, each a key exclusive-or what is known, and what is known: the first looked farther
/// ahead.
type Bucket = [AtomicU64; 4];

/// The search has to end.
#[derive(Debug)]
pub(crate) struct Spent;

/// A solver and its table.
pub(crate) struct Solver {
    buckets: Vec<Bucket>,
    shift: u32,
    age: u8,
    salt: u64,
    limits: Limits,
    stop: Stop,
    begin: Instant,
    nodes: u64,
    /// At how many nodes to look at the limits again.
    next_look: u64,
    deepest: u8,
    table_hits: u64,
    places_taken: u64,
    /// The root's move that was seen to be good enough last.
    root_best: Option<Squares>,
}

impl Solver {
    /// A solver with a table of so many bytes, a power of two.
    #[must_use]
    pub(crate) fn new(bytes: usize) -> Self {
        let bits = (bytes / size_of::<Bucket>()).ilog2();
        Self {
            buckets: (0..1 << bits).map(|_| Bucket::default()).collect(),
            shift: u64::BITS - bits,
            age: 1,
            salt: 0,
            limits: Limits::default(),
            stop: Stop::new(),
            begin: Instant::now(),
            nodes: 0,
            next_look: 0,
            deepest: 0,
            table_hits: 0,
            places_taken: 0,
            root_best: None,
        }
    }

    /// The value of the position, on the scale of the public sets, and how many positions were
    /// visited to know it and a best move.
    ///
    /// # Errors
    ///
    /// If it was stopped, or a limit came first.
    pub(crate) fn solve(&mut self, board: &Board) -> Result<(i32, u64), Spent> {
        (self.nodes, self.next_look) = (0, 0);
        self.begin = Instant::now();
        let mut best = None;
        let (mut lower, mut upper) = glance(board);
        while lower < upper {
            let alpha = question(lower, upper);
            self.root_best = None;
            let value = self.value(board, 255, 0, alpha)?;
            if value <= alpha {
                upper = value;
            } else {
                lower = value;
                best = self.root_best;
            }
        }
        if best.is_none() {
            self.reach(board, lower)?;
        }
        Ok((pairs(lower), self.nodes))
    }

    /// A move that keeps the value.
    fn reach(&mut self, board: &Board, value: Value) -> Result<Squares, Spent> {
        let plain = match board.own_wins & board.playable() {
            0 if board.safe == 0 => board.playable(),
            wins => wins,
        };
        if plain != 0 {
            // All of them are as good; unless there is but one, the first is looked at.
            self.nodes += u64::from(plain & (plain - 1) != 0);
            return Ok(plain & plain.wrapping_neg());
        }
        let candidates = board.candidates(NO_MOVE);
        let last = candidates.count - 1;
        for (index, place) in candidates.best_first().enumerate() {
            let candidate = candidates.moves[place];
            let child = board.with(candidate);
            if index == last || -self.child_value(&child, 254, 1, -value)? >= value {
                return Ok(candidate.square);
            }
        }
        Ok(0)
    }

    /// The value after a move, if it is more than `alpha`, or at least a bound of it.
    fn child_value(
        &mut self,
        board: &Board,
        depth: u8,
        ply: u8,
        alpha: Value,
    ) -> Result<Value, Spent> {
        if board.safe != 0 {
            return self.value(board, depth, ply, alpha);
        }
        self.visit(ply)?;
        Ok(board.plies + 2 - END)
    }

    /// Accounts for one more node.
    #[inline]
    fn visit(&mut self, ply: u8) -> Result<(), Spent> {
        if self.nodes >= self.next_look {
            self.look()?;
        }
        self.nodes += 1;
        self.deepest = self.deepest.max(ply);
        Ok(())
    }

    #[cold]
    fn look(&mut self) -> Result<(), Spent> {
        let most = self.limits.nodes.unwrap_or(u64::MAX);
        let is_late = |most: Duration| self.begin.elapsed() >= most;
        if self.nodes >= most || self.stop.is_stopped() || self.limits.time.is_some_and(is_late) {
            return Err(Spent);
        }
        self.next_look = most.min(self.nodes + 512);
        Ok(())
    }

    /// The value, if it is more than `alpha`, or at least a bound of it, where the side to move has
    /// a safe move and no winning one.
    fn value(&mut self, board: &Board, depth: u8, ply: u8, alpha: Value) -> Result<Value, Spent> {
        self.visit(ply)?;
        let (mut lower, mut upper) = within(board);
        if lower > alpha {
            return Ok(lower);
        }
        if upper <= alpha {
            return Ok(upper);
        }
        let key = board.key();
        let bucket = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize;
        let mut table_move = NO_MOVE;
        if let Some(known) = self.get(bucket, key) {
            self.table_hits += 1;
            table_move = known.best;
            // At the root a move is wanted, whatever is known.
            if ply > 0 {
                lower = lower.max(known.lower);
                upper = upper.min(known.upper);
                if lower > alpha {
                    return Ok(lower);
                }
                if upper <= alpha {
                    return Ok(upper);
                }
            }
        }
        let candidates = board.candidates(table_move);
        if ply > 0 {
            if candidates.have_won {
                return Ok(END - 3 - board.plies);
            }
            upper = upper.min((END - 5 - board.plies).max(0));
            if upper <= alpha {
                return Ok(upper);
            }
        }

        let (mut best, mut best_move) = (-END, NO_MOVE);
        for place in candidates.best_first() {
            let child = board.with(candidates.moves[place]);
            let value = -self.child_value(&child, depth - 1, ply + 1, -alpha - 1)?;
            if value > best {
                best = value;
                if value > alpha {
                    best_move = place as u8;
                    if ply == 0 {
                        self.root_best = Some(candidates.moves[place].square);
                    }
                    break;
                }
            }
        }

        if best > alpha {
            lower = best;
        } else {
            upper = best;
        }
        let known = Known {
            lower,
            upper,
            best: best_move,
        };
        self.places_taken += u64::from(self.put(bucket, key, known, depth));
        Ok(best)
    }

    #[inline]
    fn get(&self, bucket: usize, key: u64) -> Option<Known> {
        let bucket = &self.buckets[bucket];
        let key = key ^ self.salt;
        let load = |word: usize| bucket[word].load(Ordering::Relaxed);
        let mut data = load(1);
        if load(0) ^ data != key {
            data = load(3);
            if load(2) ^ data != key {
                return None;
            }
        }
        let [lower, upper, best, ..] = data.to_le_bytes();
        (data != 0).then(|| Known {
            lower: Value::from(lower.cast_signed()),
            upper: Value::from(upper.cast_signed()),
            best,
        })
    }

    /// Tells whether a place was taken in which nothing of this search was.
    #[inline]
    fn put(&self, bucket: usize, key: u64, known: Known, depth: u8) -> bool {
        let bucket = &self.buckets[bucket];
        let key = key ^ self.salt;
        let load = |word: usize| bucket[word].load(Ordering::Relaxed);
        let store = |place: usize, check: u64, data: u64| {
            bucket[place].store(check, Ordering::Relaxed);
            bucket[place + 1].store(data, Ordering::Relaxed);
        };
        let byte = |value: Value| (value & 0xff) as u64;
        let data = byte(known.lower)
            | byte(known.upper) << 8
            | u64::from(known.best) << 16
            | u64::from(depth) << 24
            | u64::from(self.age) << 32;
        let (deep_check, deep) = (load(0), load(1));
        let is_fresh = |data: u64| data.to_le_bytes()[4] == self.age;
        if deep_check ^ deep == key {
            store(0, key ^ data, data);
            return false;
        }
        if !is_fresh(deep) {
            store(0, key ^ data, data);
            return true;
        }
        let is_taken = !is_fresh(load(3));
        if deep.to_le_bytes()[3] <= depth {
            store(2, deep_check, deep);
            store(0, key ^ data, data);
        } else {
            store(2, key ^ data, data);
        }
        is_taken
    }
}

/// What is plain at a glance: the least and the greatest that the value can be.
/// No loss before the fourth ply and no win before the third, if there is room for them.
fn within(board: &Board) -> (Value, Value) {
    (
        (board.plies + 4 - END).min(0),
        (END - 3 - board.plies).max(0),
    )
}

fn glance(board: &Board) -> (Value, Value) {
    if board.own_wins & board.playable() != 0 {
        (END - 1 - board.plies, END - 1 - board.plies)
    } else if board.safe == 0 {
        (board.plies + 2 - END, board.plies + 2 - END)
    } else {
        within(board)
    }
}

/// What to ask next: whether the value is more than this.
fn question(lower: Value, upper: Value) -> Value {
    let [least, most] = [pairs(lower), pairs(upper)];
    let outer = if -least >= most { least } else { most };
    let inner = if outer.abs() <= 7 {
        outer / 2
    } else {
        outer * 13 / 16
    };
    let alpha = match inner {
        0 => 0,
        win @ 1.. => END - (SQUARES + 1 - 2 * win),
        loss => (SQUARES + 2 + 2 * loss) - END,
    };
    alpha.max(lower).min(upper - 1)
}

/// A value on the scale of the public sets: how much earlier than the last ply the end comes, in
/// pairs of plies.
fn pairs(value: Value) -> i32 {
    let plies = SQUARES + 1 - (END - value.abs());
    (plies + 1) / 2 * value.signum()
}
