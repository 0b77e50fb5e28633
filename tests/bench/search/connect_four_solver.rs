//! A version of `plyhouse_engine::search::solve` for Connect Four alone. This solver is the
//! baseline for the overhead of the generic code.
//!
//! The solver uses the same search windows as the generic search and visits the same positions in
//! the same order. Its table has the same layout and keys. Like the generic search, the solver can
//! be stopped, respects limits, and counts its work. Each table entry stores an age, and the table
//! tolerates concurrent writes. Knowledge of the game simplifies the code in two places. First, a
//! position's ply is fixed by its number of discs. Values count plies from the empty board, so only
//! their sign changes from one ply to the next. Second, the solver tries only safe moves, which
//! leave the other side no immediate win. Only the root position can have an immediately winning
//! move, because all later positions follow from safe moves.

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

/// Set of squares with seven bits per file. The lowest rank is the lowest bit of its file.
type Bitboard = u64;

const FILE_MASK: Bitboard = 0x7f;
const BOTTOM_RANK: Bitboard = 0x0000_0408_1020_4081;
const FULL_BOARD: Bitboard = BOTTOM_RANK * 0x3f;

/// Value of a position. A win is [`WIN_BASE`] minus the ply of the win, counted from the empty
/// board. A loss is the negated value, and a draw is 0.
type Value = i32;

/// Base for the values of wins: the value of a win is this number minus the ply of the win. The
/// base exceeds the maximum number of plies by one, so the value of every win is positive.
const WIN_BASE: Value = 43;

/// Number of squares.
const SQUARE_COUNT: Value = 42;

const NO_MOVE: u8 = u8::MAX;

/// Preference of each file. Files near the middle have higher values.
const FILE_PREFERENCE: [u32; 7] = [1, 3, 5, 6, 4, 2, 0];

/// Position of a game that is not over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Board {
    own: Bitboard,
    other: Bitboard,
    /// Squares where a disc would complete a line of the side to move, including occupied squares.
    own_winning_squares: Bitboard,
    /// Squares where a disc would complete a line of the other side, including occupied squares.
    other_winning_squares: Bitboard,
    /// Playable squares where a disc leaves the other side no immediate win.
    safe_squares: Bitboard,
    ply_count: Value,
}

/// Move to try. It stores the square of the disc and the changed fields of the resulting [`Board`].
#[derive(Clone, Copy, Default)]
struct Candidate {
    square: Bitboard,
    winning_squares: Bitboard,
    safe_squares: Bitboard,
}

/// Moves to try in a position.
struct Candidates {
    /// Moves in the order of their files, from left to right.
    moves: [Candidate; 7],
    /// Ranked moves, best first. Each number encodes a move as 8 × rank + 7 − index.
    ranked_order: [u32; 7],
    count: usize,
    /// Whether one of the generated moves leaves the other side no safe move and therefore wins.
    has_winning_move: bool,
}

/// Rank of a winning move. The best move from the table has the same rank, and all other moves have
/// lower ranks.
const FIRST_RANK: u32 = 1 << 16;

impl Board {
    /// Returns the position after `moves`, which has one digit per move: its file, counted from 1.
    #[must_use]
    pub(crate) fn from_moves(moves: &str) -> Self {
        let start = Self {
            safe_squares: BOTTOM_RANK,
            ..Self::default()
        };
        moves.bytes().fold(start, |board, file| {
            let square = board.playable_squares() & FILE_MASK << (7 * (file - b'1'));
            board.with_candidate(board.candidate(square))
        })
    }

    /// Returns the position after a move.
    #[inline]
    fn with_candidate(
        &self,
        Candidate {
            square,
            winning_squares: wins,
            safe_squares: safe,
        }: Candidate,
    ) -> Self {
        Self {
            own: self.other,
            other: self.own | square,
            own_winning_squares: self.other_winning_squares,
            other_winning_squares: wins,
            safe_squares: safe,
            ply_count: self.ply_count + 1,
        }
    }

    /// Computes the fields that change when a disc is placed on `square`.
    #[inline]
    fn candidate(&self, square: Bitboard) -> Candidate {
        let occupied = self.occupied_squares() | square;
        let wins = winning_squares(self.own | square);
        let playable = (occupied + BOTTOM_RANK) & FULL_BOARD;
        let threatened = playable & wins;
        let squares = match threatened {
            0 => playable,
            _ if threatened & (threatened - 1) == 0 => threatened,
            _ => 0,
        };
        let safe = squares & !((wins & (FULL_BOARD ^ occupied)) >> 1);
        Candidate {
            square,
            winning_squares: wins,
            safe_squares: safe,
        }
    }

    #[inline]
    fn occupied_squares(&self) -> Bitboard {
        self.own | self.other
    }

    #[inline]
    fn playable_squares(&self) -> Bitboard {
        (self.occupied_squares() + BOTTOM_RANK) & FULL_BOARD
    }

    #[inline]
    fn hash_key(&self) -> u64 {
        let key = self.own + self.occupied_squares() + BOTTOM_RANK;
        if self.ply_count > 14 {
            return key;
        }
        key.min(mirror(key))
    }

    /// Generates the safe moves. Stops after the first move that leaves the other side no safe
    /// move, because that move wins.
    #[inline]
    fn generate_candidates(&self, table_move: u8) -> Candidates {
        let mut candidates = Candidates {
            moves: [Candidate::default(); 7],
            ranked_order: [0; 7],
            count: 0,
            has_winning_move: false,
        };
        let free = FULL_BOARD ^ self.occupied_squares();
        let mut rest = self.safe_squares;
        while rest != 0 && !candidates.has_winning_move {
            let square = rest & rest.wrapping_neg();
            rest ^= square;
            let ordinal = candidates.count;
            let candidate = self.candidate(square);
            candidates.moves[ordinal] = candidate;
            candidates.has_winning_move = candidate.safe_squares == 0;
            let rank = if candidates.has_winning_move || ordinal == usize::from(table_move) {
                FIRST_RANK
            } else {
                8 * count_squares(candidate.winning_squares & free)
                    + FILE_PREFERENCE[square.trailing_zeros() as usize / 7]
            };
            let ranked = 8 * rank + 7 - ordinal as u32;
            let mut place = ordinal;
            while place > 0 && candidates.ranked_order[place - 1] < ranked {
                candidates.ranked_order[place] = candidates.ranked_order[place - 1];
                place -= 1;
            }
            candidates.ranked_order[place] = ranked;
            candidates.count += 1;
        }
        candidates
    }
}

impl Candidates {
    /// Returns the indices of the moves, best first.
    #[inline]
    fn best_first(&self) -> impl Iterator<Item = usize> {
        (self.ranked_order[..self.count].iter()).map(|ranked| 7 - (ranked % 8) as usize)
    }
}

/// Returns the squares that complete a line of four together with three of the given discs.
fn winning_squares(discs: Bitboard) -> Bitboard {
    let gaps = |by: u32| {
        let below = discs << by & discs << (2 * by);
        let above = discs >> by & discs >> (2 * by);
        below & (discs << (3 * by) | discs >> by) | above & (discs << by | discs >> (3 * by))
    };
    discs << 1 & discs << 2 & discs << 3 | gaps(6) | gaps(7) | gaps(8)
}

/// Counts the squares in a set. The loop is fast for sets with few squares.
fn count_squares(mut squares: Bitboard) -> u32 {
    let mut count = 0;
    while squares != 0 {
        squares &= squares - 1;
        count += 1;
    }
    count
}

fn mirror(squares: Bitboard) -> Bitboard {
    (squares & FILE_MASK) << 42
        | (squares & FILE_MASK << 7) << 28
        | (squares & FILE_MASK << 14) << 14
        | squares & FILE_MASK << 21
        | (squares >> 14) & FILE_MASK << 14
        | (squares >> 28) & FILE_MASK << 7
        | (squares >> 42) & FILE_MASK
}

/// Table entry: the bounds of a position's value and its best move.
#[derive(Clone, Copy)]
struct TableEntry {
    lower: Value,
    upper: Value,
    best_move: u8,
}

/// Two table entries. An entry consists of two words: the key XOR the data, and the data. The first
/// entry usually comes from a deeper search than the second.
type Bucket = [AtomicU64; 4];

/// Error returned when a search is stopped or reaches a limit.
#[derive(Debug)]
pub(crate) struct SearchStopped;

/// Connect Four solver with its transposition table.
pub(crate) struct Solver {
    buckets: Vec<Bucket>,
    hash_shift: u32,
    age: u8,
    salt: u64,
    limits: Limits,
    stop: Stop,
    started_at: Instant,
    nodes: u64,
    /// Node count at which the solver next checks its limits.
    next_limit_check: u64,
    max_ply: u8,
    table_hits: u64,
    slots_filled: u64,
    /// Root move whose value exceeded `alpha` most recently.
    root_best: Option<Bitboard>,
}

impl Solver {
    /// Creates a solver with a table of `bytes` bytes, rounded down to a power of two.
    #[must_use]
    pub(crate) fn new(bytes: usize) -> Self {
        let bits = (bytes / size_of::<Bucket>()).ilog2();
        Self {
            buckets: (0..1 << bits).map(|_| Bucket::default()).collect(),
            hash_shift: u64::BITS - bits,
            age: 1,
            salt: 0,
            limits: Limits::default(),
            stop: Stop::new(),
            started_at: Instant::now(),
            nodes: 0,
            next_limit_check: 0,
            max_ply: 0,
            table_hits: 0,
            slots_filled: 0,
            root_best: None,
        }
    }

    /// Returns the value of the position and the number of visited positions. The value is on the
    /// scale of the public test sets. The number includes the positions visited to find a best
    /// move.
    ///
    /// # Errors
    ///
    /// Returns an error if the search was stopped or reached a limit.
    pub(crate) fn solve(&mut self, board: &Board) -> Result<(i32, u64), SearchStopped> {
        (self.nodes, self.next_limit_check) = (0, 0);
        self.started_at = Instant::now();
        let mut best = None;
        let (mut lower, mut upper) = static_bounds(board);
        while lower < upper {
            let alpha = next_alpha(lower, upper);
            self.root_best = None;
            let value = self.search_value(board, 255, 0, alpha)?;
            if value <= alpha {
                upper = value;
            } else {
                lower = value;
                best = self.root_best;
            }
        }
        if best.is_none() {
            self.find_move_reaching(board, lower)?;
        }
        Ok((conventional_score(lower), self.nodes))
    }

    /// Finds a move that achieves `value`, the known value of the position.
    fn find_move_reaching(
        &mut self,
        board: &Board,
        value: Value,
    ) -> Result<Bitboard, SearchStopped> {
        let plain = match board.own_winning_squares & board.playable_squares() {
            0 if board.safe_squares == 0 => board.playable_squares(),
            wins => wins,
        };
        if plain != 0 {
            // All winning moves are equally good, so the first one is returned without a search. If
            // no move is safe, all moves are equally bad, so the first legal move is returned. If
            // there are several such moves, the choice counts as one node.
            self.nodes += u64::from(plain & (plain - 1) != 0);
            return Ok(plain & plain.wrapping_neg());
        }
        let candidates = board.generate_candidates(NO_MOVE);
        let last = candidates.count - 1;
        for (index, place) in candidates.best_first().enumerate() {
            let candidate = candidates.moves[place];
            let child = board.with_candidate(candidate);
            if index == last || -self.child_value(&child, 254, 1, -value)? >= value {
                return Ok(candidate.square);
            }
        }
        Ok(0)
    }

    /// Searches the position after a move. Returns a lower bound of the position's value if the
    /// value exceeds `alpha`, and otherwise an upper bound.
    fn child_value(
        &mut self,
        board: &Board,
        depth: u8,
        ply: u8,
        alpha: Value,
    ) -> Result<Value, SearchStopped> {
        if board.safe_squares != 0 {
            return self.search_value(board, depth, ply, alpha);
        }
        self.count_node(ply)?;
        Ok(board.ply_count + 2 - WIN_BASE)
    }

    /// Counts a node and checks the limits from time to time.
    #[inline]
    fn count_node(&mut self, ply: u8) -> Result<(), SearchStopped> {
        if self.nodes >= self.next_limit_check {
            self.check_limits()?;
        }
        self.nodes += 1;
        self.max_ply = self.max_ply.max(ply);
        Ok(())
    }

    #[cold]
    fn check_limits(&mut self) -> Result<(), SearchStopped> {
        let node_limit = self.limits.nodes.unwrap_or(u64::MAX);
        let is_out_of_time = |most: Duration| self.started_at.elapsed() >= most;
        if self.nodes >= node_limit
            || self.stop.is_stopped()
            || self.limits.time.is_some_and(is_out_of_time)
        {
            return Err(SearchStopped);
        }
        self.next_limit_check = node_limit.min(self.nodes + 512);
        Ok(())
    }

    /// Searches a position. The side to move must have a safe move and must not have a winning
    /// move. Returns a lower bound of the position's value if the value exceeds `alpha`, and
    /// otherwise an upper bound.
    fn search_value(
        &mut self,
        board: &Board,
        depth: u8,
        ply: u8,
        alpha: Value,
    ) -> Result<Value, SearchStopped> {
        self.count_node(ply)?;
        let (mut lower, mut upper) = value_bounds(board);
        if lower > alpha {
            return Ok(lower);
        }
        if upper <= alpha {
            return Ok(upper);
        }
        let key = board.hash_key();
        let bucket = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.hash_shift) as usize;
        let mut table_move = NO_MOVE;
        if let Some(entry) = self.load_entry(bucket, key) {
            self.table_hits += 1;
            table_move = entry.best_move;
            // The root must yield a move, so bounds from the table do not end its search.
            if ply > 0 {
                lower = lower.max(entry.lower);
                upper = upper.min(entry.upper);
                if lower > alpha {
                    return Ok(lower);
                }
                if upper <= alpha {
                    return Ok(upper);
                }
            }
        }
        let candidates = board.generate_candidates(table_move);
        if ply > 0 {
            if candidates.has_winning_move {
                return Ok(WIN_BASE - 3 - board.ply_count);
            }
            upper = upper.min((WIN_BASE - 5 - board.ply_count).max(0));
            if upper <= alpha {
                return Ok(upper);
            }
        }

        let (mut best, mut best_move) = (-WIN_BASE, NO_MOVE);
        for place in candidates.best_first() {
            let child = board.with_candidate(candidates.moves[place]);
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
        let entry = TableEntry {
            lower,
            upper,
            best_move,
        };
        self.slots_filled += u64::from(self.store_entry(bucket, key, entry, depth));
        Ok(best)
    }

    #[inline]
    fn load_entry(&self, bucket: usize, key: u64) -> Option<TableEntry> {
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
        (data != 0).then(|| TableEntry {
            lower: Value::from(lower.cast_signed()),
            upper: Value::from(upper.cast_signed()),
            best_move: best,
        })
    }

    /// Stores an entry. Returns `true` if it filled an empty slot or a slot of an earlier search.
    #[inline]
    fn store_entry(&self, bucket: usize, key: u64, entry: TableEntry, depth: u8) -> bool {
        let bucket = &self.buckets[bucket];
        let key = key ^ self.salt;
        let load = |word: usize| bucket[word].load(Ordering::Relaxed);
        let store = |place: usize, check: u64, data: u64| {
            bucket[place].store(check, Ordering::Relaxed);
            bucket[place + 1].store(data, Ordering::Relaxed);
        };
        let byte = |value: Value| (value & 0xff) as u64;
        let data = byte(entry.lower)
            | byte(entry.upper) << 8
            | u64::from(entry.best_move) << 16
            | u64::from(depth) << 24
            | u64::from(self.age) << 32;
        let (deep_check, deep) = (load(0), load(1));
        let is_current = |data: u64| data.to_le_bytes()[4] == self.age;
        if deep_check ^ deep == key {
            store(0, key ^ data, data);
            return false;
        }
        if !is_current(deep) {
            store(0, key ^ data, data);
            return true;
        }
        let fills_slot = !is_current(load(3));
        if deep.to_le_bytes()[3] <= depth {
            store(2, deep_check, deep);
            store(0, key ^ data, data);
        } else {
            store(2, key ^ data, data);
        }
        fills_slot
    }
}

/// Returns the bounds of the value that are known without a search. The side to move must have a
/// safe move and must not have a winning move. A side with a safe move but no winning move cannot
/// win before the third ply from here. It cannot lose before the fourth ply.
fn value_bounds(board: &Board) -> (Value, Value) {
    (
        (board.ply_count + 4 - WIN_BASE).min(0),
        (WIN_BASE - 3 - board.ply_count).max(0),
    )
}

fn static_bounds(board: &Board) -> (Value, Value) {
    if board.own_winning_squares & board.playable_squares() != 0 {
        (
            WIN_BASE - 1 - board.ply_count,
            WIN_BASE - 1 - board.ply_count,
        )
    } else if board.safe_squares == 0 {
        (
            board.ply_count + 2 - WIN_BASE,
            board.ply_count + 2 - WIN_BASE,
        )
    } else {
        value_bounds(board)
    }
}

/// Returns the next `alpha`, which lies between the bounds. The next search decides whether the
/// position's value is greater than `alpha`.
fn next_alpha(lower: Value, upper: Value) -> Value {
    let [least, most] = [conventional_score(lower), conventional_score(upper)];
    let outer = if -least >= most { least } else { most };
    let inner = if outer.abs() <= 7 {
        outer / 2
    } else {
        outer * 13 / 16
    };
    let alpha = match inner {
        0 => 0,
        win @ 1.. => WIN_BASE - (SQUARE_COUNT + 1 - 2 * win),
        loss => (SQUARE_COUNT + 2 + 2 * loss) - WIN_BASE,
    };
    alpha.max(lower).min(upper - 1)
}

/// Converts a value to the scale of the public test sets. The score is half the value, rounded away
/// from zero. A win with the winner's 21st and last disc has the score 1.
fn conventional_score(value: Value) -> i32 {
    let plies = SQUARE_COUNT + 1 - (WIN_BASE - value.abs());
    (plies + 1) / 2 * value.signum()
}
