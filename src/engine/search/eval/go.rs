//! Go at a glance: who is nearer to more points, which groups have room to live, and which chains
//! can be captured.
//!
//! A minimax search plays Go badly, however it values a position: there are too many moves to look
//! far ahead, and what a group is worth is decided far ahead (Müller, "Computer Go", 2002). This is
//! made to be right about what is near: it captures, saves what can be saved, makes two eyes and
//! keeps them, and knows when nothing is left to play for. Points are given to who is nearer to
//! them, as Zobrist's program did first ("A model of visual organization for the game of Go", 1969).

mod life;
mod patterns;
mod played_out;
mod playout;
mod tactics;
mod territory;
mod thoughts;

use crate::game::go::bitboard::Bitboard;
use crate::game::go::board::Board;
use crate::game::go::{Go, KOMI, Move};
use crate::game::{GameHistory, Position, Seat};
use crate::search::{Bounds, Evaluate, Fate, Moves, Score, Sight, TreePlayer, tree};

/// What a point of the board is worth, in hundredths of what a careful player feels.
const POINT: i32 = 16;

/// What it is worth to be on the move, for each point that is empty, and at most.
const TEMPO: i32 = 2;
const TEMPO_MAX: i32 = 100;

/// What a liberty is worth.
const LIBERTY: i32 = 3;

/// The seat to move keeps this part of its stones in atari: it can save one chain of them.
const SAVED: [i32; 2] = [1, 2];

/// How promising it is to capture, to save from capture, and to threaten it, and for each stone.
const CAPTURE: [i32; 2] = [300, 40];
const RESCUE: [i32; 2] = [200, 30];
const THREAT: [i32; 2] = [60, 10];

/// How promising a point is beside or diagonally from a stone, and on the edge away from all.
const CONTACT: i32 = 30;
const EMPTY_EDGE: i32 = -60;

/// A pass comes last, but first where nothing is open.
const PASS: [i32; 2] = [-1000, 1000];

impl<const N: u8> Evaluate for Go<N> {
    const TAKES_TURNS: bool = true;

    const REDUCES: bool = true;

    const MOVE_INDICES: usize = 128;

    const NOISY: bool = true;

    const PLAYOUTS: Option<TreePlayer<Self>> = Some(TreePlayer {
        search: tree::search::<Self, Board<N>>,
        strength: played_out::strength,
    });

    fn evaluate(&self) -> Score {
        let seat = self.turn();
        let [own, other] = [seat, seat.other()].map(|seat| self.stones(seat));
        let empty = self.empty();
        // What the seat to move can capture is as good as gone.
        let doomed = in_atari(other, empty);
        let endangered = in_atari(own, empty);
        let (other, empty) = (other & !doomed, empty | doomed);

        let [own_liberties, other_liberties] =
            [own, other].map(|stones| (stones.neighbours() & empty).len().cast_signed());
        let komi = match seat {
            Seat::First => -KOMI.cast_signed(),
            Seat::Second => KOMI.cast_signed(),
        };
        let value = territory::balance(own, other)
            + POINT * komi
            + LIBERTY * (own_liberties - other_liberties)
            + (TEMPO * empty.len().cast_signed()).min(TEMPO_MAX)
            - 2 * POINT * endangered.len().cast_signed() * SAVED[0] / SAVED[1];
        Score::estimate(value)
    }

    /// Everything but plays that are worse than to pass: into an own eye, into own territory that is
    /// safe and has no stones of the other side to capture, and to where the other side is safe.
    fn consider(&self, moves: &mut Moves<Move<N>>) -> Bounds {
        let shape = Shape::of(self);
        let seat = self.turn();
        let useless = shape.useless();
        let points = self.empty() & !useless;
        for bit in points.filter(|bit| self.has_liberty_after(seat, *bit)) {
            moves.push(Move::from_bit_index(bit), shape.promise(bit), 0);
        }
        let [early, settled] = PASS;
        moves.push(
            Move::Pass,
            if shape.is_settled() { settled } else { early },
            0,
        );
        Bounds::ANY
    }

    fn rank(&self, m: Move<N>) -> i32 {
        match m {
            Move::Pass => PASS[0],
            Move::Play(_) => 0,
        }
    }

    fn sight(&self) -> Sight {
        Sight {
            captured: Some(self.captures()),
            on_edge: Some(Seat::ALL.map(|seat| self.alone_on_edge(seat))),
            ..Sight::default()
        }
    }

    fn fates(course: &GameHistory<Self>, playouts: u32) -> Vec<Fate> {
        played_out::fates(course, playouts)
    }

    /// Captures of several stones. Those of one may be taken back for ever.
    fn noisy(&self, moves: &mut Moves<Move<N>>) {
        let seat = self.turn();
        let captured = in_atari(self.stones(seat.other()), self.empty());
        for bit in captured.neighbours() & self.empty() {
            let captured = self.captured_by(seat, bit).len();
            if captured > 1 {
                moves.push(Move::from_bit_index(bit), captured.cast_signed(), 0);
            }
        }
    }

    /// All points of the board, and what the second seat is given.
    const POINTS_MAX: i32 = N as i32 * N as i32 + KOMI.cast_signed();

    const POINT: i32 = POINT;

    fn index(&self, m: Move<N>) -> usize {
        match m {
            Move::Pass => 127,
            Move::Play(point) => usize::from(point.bit_index()),
        }
    }

    /// The stones, whose turn it is, and whether a pass would end the game. How many were captured
    /// changes nothing of what is to come.
    fn key(&self) -> u64 {
        let turn = (self.turn().index() as u64) << 1 | u64::from(self.passes() > 0);
        self.stones_key() ^ turn.wrapping_mul(0xd1b5_4a32_d192_ed03)
    }

    fn plies_left(&self) -> u32 {
        Self::INFO.plies_max - u32::from(self.plies())
    }
}

impl<const N: u8> Go<N> {
    /// How many stones of this seat are on the edge of the board with no other beside them, also diagonally.
    fn alone_on_edge(&self, seat: Seat) -> u32 {
        let stones = self.stones(Seat::First) | self.stones(Seat::Second);
        let edge = self.stones(seat) & Bitboard::EDGE;
        let is_alone = |bit: &u8| {
            let point = Bitboard::from_bit_index(*bit);
            !(point.neighbours() | point.diagonals()).intersects(stones)
        };
        u32::try_from(edge.filter(is_alone).count()).unwrap_or(u32::MAX)
    }
}

/// What is worth knowing of a position before its moves are looked at.
struct Shape<const N: u8> {
    own: Bitboard<N>,
    other: Bitboard<N>,
    empty: Bitboard<N>,
    own_alive: life::Alive<N>,
    other_alive: life::Alive<N>,
    /// The own stones that the other side could capture, and the other way round.
    endangered: Bitboard<N>,
    doomed: Bitboard<N>,
}

impl<const N: u8> Shape<N> {
    fn of(pos: &Go<N>) -> Self {
        let seat = pos.turn();
        let (own, other, empty) = (pos.stones(seat), pos.stones(seat.other()), pos.empty());
        Self {
            own,
            other,
            empty,
            own_alive: life::alive(own, empty),
            other_alive: life::alive(other, empty),
            endangered: in_atari(own, empty),
            doomed: in_atari(other, empty),
        }
    }

    /// The points on which a play is no better than a pass.
    fn useless(&self) -> Bitboard<N> {
        let mut useless = self.other_alive.regions;
        let mut rest = self.own_alive.regions;
        while !rest.is_empty() {
            let region = rest.lowest().flood_fill(rest);
            rest = rest & !region;
            if !region.intersects(self.other) {
                useless |= region;
            }
        }
        useless | self.eyes()
    }

    /// The empty points between own stones that the other side cannot make false.
    fn eyes(&self) -> Bitboard<N> {
        let mut eyes = Bitboard::EMPTY;
        for bit in self.empty & !(self.empty | self.other).neighbours() {
            let point = Bitboard::from_bit_index(bit);
            let taken = (point.diagonals() & self.other).len();
            let allowed = u32::from(!Bitboard::EDGE.intersects(point));
            if taken <= allowed && !point.neighbours().intersects(self.endangered) {
                eyes |= point;
            }
        }
        eyes
    }

    /// Whether every empty point is one side's, and no stone can be captured.
    fn is_settled(&self) -> bool {
        let mut rest = self.empty;
        while !rest.is_empty() {
            let region = rest.lowest().flood_fill(rest);
            rest = rest & !region;
            let border = region.neighbours();
            if border.intersects(self.own) == border.intersects(self.other) {
                return false;
            }
        }
        (self.endangered | self.doomed).is_empty()
    }

    /// How promising a stone on this point is.
    fn promise(&self, bit: u8) -> i32 {
        let point = Bitboard::from_bit_index(bit);
        let beside = point.neighbours();
        let weigh = |[first, each]: [i32; 2], stones: Bitboard<N>| {
            if stones.is_empty() {
                0
            } else {
                first + each * stones.len().cast_signed()
            }
        };
        let mut promise = 0;
        if beside.intersects(self.doomed) {
            promise += weigh(CAPTURE, (beside & self.doomed).flood_fill(self.other));
        }
        if beside.intersects(self.endangered) {
            let chain = point.flood_fill(self.own);
            let liberties = chain.neighbours() & self.empty & !point;
            if liberties.len() > 1 {
                promise += weigh(RESCUE, chain & self.endangered);
            }
        }
        let mut others = beside & self.other & !self.doomed;
        while !others.is_empty() {
            let chain = others.lowest().flood_fill(self.other);
            others = others & !chain;
            if (chain.neighbours() & self.empty & !point).is_single() {
                promise += weigh(THREAT, chain);
            }
        }
        let around = beside | point.diagonals();
        if around.intersects(self.own | self.other) {
            promise += CONTACT;
        } else if Bitboard::EDGE.intersects(point) {
            promise += EMPTY_EDGE;
        }
        promise
    }
}

/// The stones of chains that have one liberty.
fn in_atari<const N: u8>(stones: Bitboard<N>, empty: Bitboard<N>) -> Bitboard<N> {
    let mut found = Bitboard::EMPTY;
    let mut rest = stones;
    while !rest.is_empty() {
        let chain = rest.lowest().flood_fill(stones);
        rest = rest & !chain;
        if (chain.neighbours() & empty).is_single() {
            found |= chain;
        }
    }
    found
}

#[cfg(test)]
mod tests;
