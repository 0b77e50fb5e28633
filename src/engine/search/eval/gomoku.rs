//! Gomoku evaluation: counts the lines that each side can still complete, and detects forced moves.
//!
//! The evaluation counts stones in windows of five squares without opposing stones. The terms come
//! from Allis, "Searching for Solutions in Games and Artificial Intelligence", 1994, chapter 5. A
//! five is five stones in a row, which wins the game. A four threatens to complete five in a row,
//! and an open four threatens to do so on two squares. An open three threatens to make an open
//! four. The weights were learnt from games.
//!
//! Threats leave few candidate moves, and a solver finds wins by continuous fours. In quiet
//! positions, the candidates are the most promising squares near stones, which may miss the best
//! move.

mod line_windows;
mod trained_eval;
mod vcf_solver;

pub use trained_eval::Features;

use crate::game::Position;
use crate::game::gomoku::bitboard::Bitboard;
use crate::game::gomoku::{Gomoku, Move};
use crate::search::{Bounds, Evaluate, Level, MoveStack, Score, VisibleFeatures};

use self::line_windows::{OpenFour, ThreatMap};

/// Maximum number of fours that the solver tries at a leaf of the search, at an inner node
/// (`NODE_FOURS_MAX`) and at the root (`ROOT_FOURS_MAX`). At the root, the solver takes up to about
/// 0.2 seconds.
const LEAF_FOURS_MAX: u32 = 16;
const NODE_FOURS_MAX: u32 = 64;
const ROOT_FOURS_MAX: u32 = 200_000;

/// Maximum number of candidates in a quiet position.
const CANDIDATES_MAX: usize = 24;

/// Amounts added to a square's move-ordering rank for each direction in which a stone there makes a
/// threat. The four columns hold the amounts for making a four, an open three, another three, and a
/// two. The first row is for threats of the side to move. The second row is for threats of the
/// opponent, which a stone on the square prevents.
const THREAT_RANKS: [[i16; 4]; 2] = [[1500, 1350, 780, 510], [1080, 720, 300, 120]];

/// Additional move-ordering ranks of a square where a stone makes both a four and an open three.
/// The first rank applies if the side to move would make these threats. The second rank applies if
/// the opponent would make them.
const FOUR_AND_OPEN_THREE_RANKS: [i16; 2] = [1080, 360];

impl Evaluate for Gomoku {
    const SEATS_ALTERNATE: bool = true;

    const USES_LATE_MOVE_REDUCTIONS: bool = true;

    const FUTILITY_MARGIN: u32 = 40;

    const MOVE_INDEX_COUNT: usize = 256;

    /// Returns the trained evaluation. If the side to move must block five in a row on a single
    /// square, the position after the block is evaluated.
    fn evaluate(&self) -> Score {
        let ([own, other], free) = (self.stones(), self.empty_squares());
        let forced = line_windows::fives(other, free);
        Score::estimate(match forced.first() {
            None => trained_eval::evaluate(own, other),
            Some(_) if !line_windows::fives(own, free).is_empty() => trained_eval::WON_VALUE,
            Some(_) if forced.has_multiple() => -trained_eval::WON_VALUE,
            Some(square) => -trained_eval::evaluate(other, own | Bitboard::from_bit_index(square)),
        })
    }

    fn visible_features(&self) -> VisibleFeatures {
        let stones = self.turn().order_by_seat(self.stones());
        let free = self.empty_squares();
        let squares = |own| {
            let count = line_windows::open_fours(own, free).count();
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        VisibleFeatures {
            open_fours: Some(stones.map(squares)),
            winning_threats: Some(stones.map(|own| line_windows::count_threats(own, free))),
            isolated_stones: Some(stones.map(|own| isolated_stones(own, stones[0] | stones[1]))),
            ..VisibleFeatures::default()
        }
    }

    fn static_bounds(&self) -> Bounds {
        let ([own, other], free) = (self.stones(), self.empty_squares());
        let [mine, fours] = line_windows::fives_and_fours(own, free);
        if !mine.is_empty() {
            return Bounds::exact(Score::win_in(1));
        }
        let threats = line_windows::fives(other, free);
        if threats.has_multiple() {
            return Bounds::exact(Score::loss_in(2));
        }
        if fours.is_empty() {
            return QUIET_BOUNDS;
        }
        if threats.is_empty() && line_windows::has_open_four(own, free) {
            return Bounds::exact(Score::win_in(3));
        }
        bounds_with_vcf(vcf_solver::find_vcf(
            [own, other],
            fours,
            threats,
            LEAF_FOURS_MAX,
        ))
    }

    fn list_candidates(&self, moves: &mut MoveStack<Move>) -> Bounds {
        self.list_candidates_with_fours(NODE_FOURS_MAX, moves)
    }

    fn list_root_candidates(&self, moves: &mut MoveStack<Move>) -> Bounds {
        self.list_candidates_with_fours(ROOT_FOURS_MAX, moves)
    }

    /// A position is forced if the side to move must block five in a row. A game that is over also
    /// counts as forced.
    fn is_forced(&self) -> bool {
        let [_, other] = self.stones();
        self.outcome().is_some() || !line_windows::fives(other, self.empty_squares()).is_empty()
    }

    /// Passing is never better than a move, because an additional stone cannot harm its owner.
    fn after_null_move(&self) -> Option<Self> {
        Self::after_null_move(self)
    }

    fn move_index(&self, m: Move) -> usize {
        usize::from(m.bit_index())
    }

    fn key(&self) -> u64 {
        Self::key(self)
    }

    /// Bots below level `Medium` search all squares by plain minimax and find threats only by
    /// lookahead.
    fn uses_selective_search(level: Level) -> bool {
        level >= Level::Medium
    }

    /// At level `Easy`, only moves near the stones are plausible, because the large margin of this
    /// level would allow nearly every square. At level `Medium` and above, the search itself
    /// considers only squares near stones.
    fn is_plausible(&self, m: Move, level: Level) -> bool {
        let [own, other] = self.stones();
        let nearby = squares_near(own | other);
        level != Level::Easy || nearby.is_empty() || nearby.has(m.bit_index())
    }

    const DEPTHS_AND_MARGINS: [(u32, u32); 4] = [(1, 350), (1, 200), (1, 40), (2, 10)];

    fn remaining_plies_max(&self) -> u32 {
        Self::INFO.plies_max - u32::from(self.plies())
    }
}

impl Gomoku {
    /// Implements `list_candidates`. The solver tries at most `fours_made_max` fours.
    fn list_candidates_with_fours(
        &self,
        fours_made_max: u32,
        moves: &mut MoveStack<Move>,
    ) -> Bounds {
        let ([own, other], free) = (self.stones(), self.empty_squares());
        let [mine, theirs] = [own, other].map(|stones| ThreatMap::from_stones(stones, free));
        let mut push_squares = |squares: Bitboard| {
            let ranks = squares.has_multiple().then(|| square_ranks(&mine, &theirs));
            for square in squares {
                let rank = ranks.map_or(0, |promises| promises[usize::from(square)]);
                moves.push(Move::from_bit_index(square), rank.into(), 0);
            }
        };
        if !mine.fives.is_empty() {
            push_squares(mine.fives);
            return Bounds::exact(Score::win_in(1));
        }
        if !theirs.fives.is_empty() {
            push_squares(theirs.fives);
            return if theirs.fives.has_multiple() {
                Bounds::exact(Score::loss_in(2))
            } else {
                QUIET_BOUNDS
            };
        }
        let own_fours = mine.fours_in_all_directions();
        if !own_fours.is_empty() {
            if let Some(OpenFour { square, .. }) = line_windows::open_fours(own, free).next() {
                push_squares(square);
                return Bounds::exact(Score::win_in(3));
            }
            let win =
                vcf_solver::find_vcf([own, other], own_fours, Bitboard::EMPTY, fours_made_max);
            if let Some(win) = win {
                push_squares(Bitboard::from_bit_index(win.first_square));
                return bounds_with_vcf(Some(win));
            }
        }
        let defences = if theirs.fours_in_all_directions().is_empty() {
            free
        } else {
            let threats = line_windows::open_fours(other, free);
            threats.fold(free, |all, threat| all & threat.defences)
        };
        if defences != free {
            // The opponent threatens to make an open four, so the side to move must prevent it or
            // make a four of its own.
            let replies = defences | own_fours;
            if replies.is_empty() {
                push_squares(free);
                return Bounds::exact(Score::loss_in(4));
            }
            push_squares(replies);
            return QUIET_BOUNDS;
        }
        self.list_quiet_candidates(&mine, &theirs, moves);
        QUIET_BOUNDS
    }
}

/// Bounds of a position where the side to move cannot complete five in a row. The lower bound is a
/// loss in two plies, because the opponent may complete five in a row with the next stone.
const QUIET_BOUNDS: Bounds = Bounds {
    lower: Score::loss_in(2),
    upper: Score::win_in(3),
};

/// Returns the bounds for a win by fours, or `QUIET_BOUNDS` if the solver found no win.
fn bounds_with_vcf(win: Option<vcf_solver::VcfWin>) -> Bounds {
    Bounds {
        lower: win.map_or(QUIET_BOUNDS.lower, |win| Score::win_in(win.plies())),
        ..QUIET_BOUNDS
    }
}

/// Returns the move rank of each square.
fn square_ranks(mine: &ThreatMap, theirs: &ThreatMap) -> [i16; 256] {
    let mut ranks = [0; 256];
    let mut add = |squares: Bitboard, rank: i16| {
        for square in squares {
            ranks[usize::from(square)] += rank;
        }
    };
    for ((side, weights), both) in [mine, theirs]
        .into_iter()
        .zip(THREAT_RANKS)
        .zip(FOUR_AND_OPEN_THREE_RANKS)
    {
        let (mut fours, mut open_threes) = (Bitboard::EMPTY, Bitboard::EMPTY);
        for direction in &side.by_direction {
            let sets = [
                direction.fours,
                direction.open_threes,
                direction.threes,
                direction.twos,
            ];
            for (set, weight) in sets.into_iter().zip(weights) {
                add(set, weight);
            }
            (fours, open_threes) = (fours | direction.fours, open_threes | direction.open_threes);
        }
        add(fours & open_threes, both);
    }
    ranks
}

impl Gomoku {
    fn list_quiet_candidates(
        &self,
        mine: &ThreatMap,
        theirs: &ThreatMap,
        moves: &mut MoveStack<Move>,
    ) {
        let [own, other] = self.stones();
        let nearby = squares_near(own | other) & self.empty_squares();
        if nearby.is_empty() {
            // No empty square is near a stone. The candidates are therefore the centre of an empty
            // board, or all empty squares of an almost full board.
            let centre = Bitboard::from_bit_index(Bitboard::bit_index(
                Bitboard::SIZE / 2,
                Bitboard::SIZE / 2,
            ));
            let squares = if self.plies() == 0 {
                centre
            } else {
                self.empty_squares()
            };
            for square in squares {
                moves.push(Move::from_bit_index(square), 0, 0);
            }
            return;
        }
        let ranks = square_ranks(mine, theirs);
        let mut ranked = [(0, 0); 225];
        let mut count = 0;
        for square in nearby {
            ranked[count] = (ranks[usize::from(square)], square);
            count += 1;
        }
        let ranked = &mut ranked[..count];
        if count > CANDIDATES_MAX {
            ranked.select_nth_unstable_by(CANDIDATES_MAX, |a, b| b.cmp(a));
        }
        for (rank, square) in ranked.iter().take(CANDIDATES_MAX) {
            moves.push(Move::from_bit_index(*square), (*rank).into(), 0);
        }
    }
}

/// Returns the squares at most two steps from a square of the set, along ranks, files and
/// diagonals.
fn squares_near(stones: Bitboard) -> Bitboard {
    fn near_in_direction<const STEP: u8>(stones: Bitboard) -> Bitboard {
        let (up, down) = (stones.shift_up::<STEP>(), stones.shift_down::<STEP>());
        let (up, down) = (up & Bitboard::ALL, down & Bitboard::ALL);
        up | down | up.shift_up::<STEP>() | down.shift_down::<STEP>()
    }

    (near_in_direction::<1>(stones)
        | near_in_direction::<15>(stones)
        | near_in_direction::<16>(stones)
        | near_in_direction::<17>(stones))
        & Bitboard::ALL
}

/// Counts the stones of a side without another stone nearby. "Nearby" means within two applications
/// of `squares_near`.
fn isolated_stones(own: Bitboard, stones: Bitboard) -> u32 {
    let is_isolated = |bit: &u8| {
        let square = Bitboard::from_bit_index(*bit);
        (squares_near(squares_near(square)) & stones & !square).is_empty()
    };
    u32::try_from(own.into_iter().filter(is_isolated).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
