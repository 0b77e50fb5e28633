//! Go evaluation for minimax search: territory, eye space of groups, and chains that can be
//! captured. Bots play Go by Monte Carlo tree search instead (`mcts_adapter`).
//!
//! Minimax search plays Go badly with any evaluation. A position has too many moves to look far
//! ahead, and distant moves can decide whether a group lives (Müller, "Computer Go", 2002). This
//! evaluation handles local situations: capturing and rescuing chains, making and preserving two
//! eyes, and recognizing settled positions. Each point counts for the side whose stones are nearer,
//! as in the first Go program by Zobrist ("A model of visual organization for the game of Go",
//! 1969).

mod mcts_adapter;
mod move_priors;
mod patterns;
mod playout_policy;
mod tactics;
mod territory;
mod unconditional_life;

use crate::game::go::bitboard::Bitboard;
use crate::game::go::incremental_board::Board;
use crate::game::go::{Go, KOMI, Move};
use crate::game::{GameHistory, Position, Seat};
use crate::search::{
    Bounds, Evaluate, MctsPlayer, MoveStack, Score, StoneFate, VisibleFeatures, mcts,
};

/// Value of one point of the board. On this scale, an advantage of 100 is large enough for a
/// careful player to notice.
const POINT_VALUE: i32 = 16;

/// Tempo bonus for the side to move, for each empty point on the board. The total bonus is at most
/// `TEMPO_MAX`.
const TEMPO_PER_EMPTY_POINT: i32 = 2;
const TEMPO_MAX: i32 = 100;

/// Value of a liberty.
const LIBERTY_VALUE: i32 = 3;

/// Expected loss when stones of the side to move are in atari, as a fraction of these stones. The
/// array holds the numerator and the denominator. The side to move can save one chain with its next
/// move.
const ATARI_SAVED_FRACTION: [i32; 2] = [1, 2];

/// Move-ordering ranks for capturing a chain, for rescuing a chain from atari, and for putting a
/// chain in atari. Each rank is given by two numbers: a base rank, and an amount that is added for
/// each affected stone.
const CAPTURE_RANK: [i32; 2] = [300, 40];
const RESCUE_RANK: [i32; 2] = [200, 30];
const ATARI_RANK: [i32; 2] = [60, 10];

/// Move-ordering rank of a point next to or diagonal to a stone. `EMPTY_EDGE_RANK` is the rank of
/// an edge point without such stones.
const CONTACT_RANK: i32 = 30;
const EMPTY_EDGE_RANK: i32 = -60;

/// Move-ordering ranks of a pass. In an open position, a pass gets the first rank, so that it is
/// tried last. In a settled position, a pass gets the second rank, so that it is tried first.
const PASS_RANKS: [i32; 2] = [-1000, 1000];

impl<const N: u8> Evaluate for Go<N> {
    const SEATS_ALTERNATE: bool = true;

    const USES_LATE_MOVE_REDUCTIONS: bool = true;

    const MOVE_INDEX_COUNT: usize = 128;

    const HAS_NOISY_MOVES: bool = true;

    const MCTS: Option<MctsPlayer<Self>> = Some(MctsPlayer {
        search: mcts::search::<Self, Board<N>>,
        playouts: [50, 200, 800, 3000],
    });

    fn evaluate(&self) -> Score {
        let seat = self.turn();
        let [own, other] = [seat, seat.other()].map(|seat| self.stones(seat));
        let empty = self.empty();
        // The evaluation treats stones that the side to move can capture at once as already
        // captured.
        let capturable = stones_in_atari(other, empty);
        let in_danger = stones_in_atari(own, empty);
        let (other, empty) = (other & !capturable, empty | capturable);

        let [own_liberties, other_liberties] =
            [own, other].map(|stones| (stones.neighbours() & empty).len().cast_signed());
        let komi = -seat.sign() * KOMI.cast_signed();
        let value = territory::territory_balance(own, other)
            + POINT_VALUE * komi
            + LIBERTY_VALUE * (own_liberties - other_liberties)
            + (TEMPO_PER_EMPTY_POINT * empty.len().cast_signed()).min(TEMPO_MAX)
            - 2 * POINT_VALUE * in_danger.len().cast_signed() * ATARI_SAVED_FRACTION[0]
                / ATARI_SAVED_FRACTION[1];
        Score::estimate(value)
    }

    /// Lists the pass and all plays that may be better than a pass. The list excludes plays into
    /// eyes of the side to move, into its safe territory without opposing stones, and into safe
    /// territory of the opponent.
    fn list_candidates(&self, moves: &mut MoveStack<Move<N>>) -> Bounds {
        let analysis = BoardAnalysis::from_position(self);
        let seat = self.turn();
        let useless_points = analysis.useless_points();
        let points = self.empty() & !useless_points;
        for bit in points.filter(|bit| self.has_liberty_after(seat, *bit)) {
            moves.push(Move::from_bit_index(bit), analysis.rank_point(bit), 0);
        }
        let [early_rank, settled_rank] = PASS_RANKS;
        moves.push(
            Move::Pass,
            if analysis.is_settled() {
                settled_rank
            } else {
                early_rank
            },
            0,
        );
        Bounds::UNBOUNDED
    }

    fn rank_move(&self, m: Move<N>) -> i32 {
        match m {
            Move::Pass => PASS_RANKS[0],
            Move::Play(_) => 0,
        }
    }

    fn visible_features(&self) -> VisibleFeatures {
        VisibleFeatures {
            captured_stones: Some(self.captures()),
            lone_edge_stones: Some(Seat::ALL.map(|seat| self.lone_edge_stones(seat))),
            ..VisibleFeatures::default()
        }
    }

    fn estimate_stone_fates(history: &GameHistory<Self>, playouts: u32) -> Vec<StoneFate> {
        mcts_adapter::estimate_stone_fates(history, playouts)
    }

    /// Lists captures of two or more stones. Captures of a single stone are left out, because the
    /// sides may retake such stones endlessly.
    fn list_noisy_moves(&self, moves: &mut MoveStack<Move<N>>) {
        let seat = self.turn();
        let captured = stones_in_atari(self.stones(seat.other()), self.empty());
        for bit in captured.neighbours() & self.empty() {
            let captured = self.captured_by(seat, bit).len();
            if captured > 1 {
                moves.push(Move::from_bit_index(bit), captured.cast_signed(), 0);
            }
        }
    }

    /// Upper bound on the point margin: all points of the board plus the komi.
    const POINTS_MAX: i32 = N as i32 * N as i32 + KOMI.cast_signed();

    const SCORE_PER_POINT: i32 = POINT_VALUE;

    fn move_index(&self, m: Move<N>) -> usize {
        match m {
            Move::Pass => 127,
            Move::Play(point) => usize::from(point.bit_index()),
        }
    }

    /// The key combines the stones, the side to move, and whether a pass would end the game. The
    /// key omits the numbers of captured stones, because they do not affect the rest of the game.
    fn key(&self) -> u64 {
        let turn = (self.turn().index() as u64) << 1 | u64::from(self.passes() > 0);
        self.stones_key() ^ turn.wrapping_mul(0xd1b5_4a32_d192_ed03)
    }

    fn remaining_plies_max(&self) -> u32 {
        Self::INFO.plies_max - u32::from(self.plies())
    }
}

impl<const N: u8> Go<N> {
    /// Counts the edge stones of `seat` that have no adjacent or diagonal stone.
    fn lone_edge_stones(&self, seat: Seat) -> u32 {
        let stones = self.stones(Seat::First) | self.stones(Seat::Second);
        let edge = self.stones(seat) & Bitboard::EDGE;
        let has_no_neighbour = |bit: &u8| {
            let point = Bitboard::from_bit_index(*bit);
            !(point.neighbours() | point.diagonals()).intersects(stones)
        };
        u32::try_from(edge.filter(has_no_neighbour).count()).unwrap_or(u32::MAX)
    }
}

/// Properties of a position that are computed before its moves are ranked.
struct BoardAnalysis<const N: u8> {
    own: Bitboard<N>,
    other: Bitboard<N>,
    empty: Bitboard<N>,
    own_alive: unconditional_life::UnconditionalLife<N>,
    other_alive: unconditional_life::UnconditionalLife<N>,
    /// Stones of the side to move that are in atari. `other_in_atari` holds the opponent's stones
    /// in atari.
    own_in_atari: Bitboard<N>,
    other_in_atari: Bitboard<N>,
}

impl<const N: u8> BoardAnalysis<N> {
    fn from_position(pos: &Go<N>) -> Self {
        let seat = pos.turn();
        let (own, other, empty) = (pos.stones(seat), pos.stones(seat.other()), pos.empty());
        Self {
            own,
            other,
            empty,
            own_alive: unconditional_life::unconditional_life(own, empty),
            other_alive: unconditional_life::unconditional_life(other, empty),
            own_in_atari: stones_in_atari(own, empty),
            other_in_atari: stones_in_atari(other, empty),
        }
    }

    /// Returns the points where placing a stone is no better than passing.
    fn useless_points(&self) -> Bitboard<N> {
        let mut points = self.other_alive.regions;
        let own_regions = self.own_alive.regions;
        for region in own_regions.components_in(own_regions) {
            if !region.intersects(self.other) {
                points |= region;
            }
        }
        points | self.true_eyes()
    }

    /// Returns the empty points between own stones that the opponent cannot turn into false eyes.
    fn true_eyes(&self) -> Bitboard<N> {
        let mut eyes = Bitboard::EMPTY;
        for bit in self.empty & !(self.empty | self.other).neighbours() {
            let point = Bitboard::from_bit_index(bit);
            let diagonals_taken = (point.diagonals() & self.other).len();
            let diagonals_allowed = u32::from(!Bitboard::EDGE.intersects(point));
            if diagonals_taken <= diagonals_allowed
                && !point.neighbours().intersects(self.own_in_atari)
            {
                eyes |= point;
            }
        }
        eyes
    }

    /// Returns whether every empty region borders exactly one side, and no stone is in atari.
    fn is_settled(&self) -> bool {
        for region in self.empty.components_in(self.empty) {
            let border = region.neighbours();
            if border.intersects(self.own) == border.intersects(self.other) {
                return false;
            }
        }
        (self.own_in_atari | self.other_in_atari).is_empty()
    }

    /// Returns the rank of a play on the point with this index.
    fn rank_point(&self, bit: u8) -> i32 {
        let point = Bitboard::from_bit_index(bit);
        let neighbours = point.neighbours();
        let weigh = |[first, each]: [i32; 2], stones: Bitboard<N>| {
            if stones.is_empty() {
                0
            } else {
                first + each * stones.len().cast_signed()
            }
        };
        let mut rank = 0;
        if neighbours.intersects(self.other_in_atari) {
            rank += weigh(
                CAPTURE_RANK,
                (neighbours & self.other_in_atari).flood_fill(self.other),
            );
        }
        if neighbours.intersects(self.own_in_atari) {
            let chain = point.flood_fill(self.own);
            let liberties = chain.neighbours() & self.empty & !point;
            if liberties.len() > 1 {
                rank += weigh(RESCUE_RANK, chain & self.own_in_atari);
            }
        }
        let not_in_atari = neighbours & self.other & !self.other_in_atari;
        for chain in not_in_atari.components_in(self.other) {
            if (chain.neighbours() & self.empty & !point).is_single() {
                rank += weigh(ATARI_RANK, chain);
            }
        }
        let surroundings = neighbours | point.diagonals();
        if surroundings.intersects(self.own | self.other) {
            rank += CONTACT_RANK;
        } else if Bitboard::EDGE.intersects(point) {
            rank += EMPTY_EDGE_RANK;
        }
        rank
    }
}

/// Returns the stones of all chains in atari. A chain is in atari if it has exactly one liberty.
fn stones_in_atari<const N: u8>(stones: Bitboard<N>, empty: Bitboard<N>) -> Bitboard<N> {
    let mut atari_stones = Bitboard::EMPTY;
    for chain in stones.components_in(stones) {
        if (chain.neighbours() & empty).is_single() {
            atari_stones |= chain;
        }
    }
    atari_stones
}

#[cfg(test)]
mod tests;
