//! A board that is played on in place, for playing games out by the thousand: it knows every chain and
//! its liberties, and changes them with each move. A [`Go`] is smaller, and finds chains anew.
//!
//! Of repetition it knows only the simple ko. Keys are those of [`Go`], so whoever keeps those of the
//! positions before can tell the rest.

use super::points::Points;
use super::{Go, Move, PASSES_MAX, PLIES_MAX, STONE_KEYS, areas_of, key_of, repetition_key_of};
use crate::game::{Position, Seat};

/// Numbers of points are below this.
pub(crate) const BITS: usize = 90;

/// Around the board is room for the points that are not there: the largest step between neighbours.
const MARGIN: usize = 11;

/// The number of a pass, where moves are numbers.
pub(crate) const PASS: u8 = 127;

/// What lies on a point, as the surroundings of its neighbours have it: two bits.
pub(crate) const BEYOND: u16 = 0b11;

/// A board of `N` by `N`, and whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Board<const N: u8> {
    stones: [Points<N>; 2],
    /// By the number of a stone, that by which its chain is found.
    heads: [u8; BITS],
    chains: [Chain<N>; BITS],
    /// By the number of a point and the margin, what lies on the eight points around it: two bits each,
    /// in rising order of the points' numbers. An empty point is 0, black is 1 and white 2.
    around: [u16; BITS + 2 * MARGIN],
    /// The point that may not be retaken at once, if there is one.
    ko: Points<N>,
    key: u64,
    turn: Seat,
    plies: u16,
    passes: u8,
    /// The last move and the one before, if they are known and no passes.
    last: [Option<u8>; 2],
}

/// Stones that are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain<const N: u8> {
    pub(crate) stones: Points<N>,
    pub(crate) liberties: Points<N>,
}

impl<const N: u8> Board<N> {
    const NEIGHBOURS: [Points<N>; BITS] = {
        let mut table = [Points::NONE; BITS];
        let mut bit = 0;
        while bit < BITS {
            #[expect(clippy::cast_possible_truncation, reason = "it is less than 90")]
            let point = Points::<N>::of(bit as u8);
            table[bit] = point.neighbours();
            bit += 1;
        }
        table
    };

    /// How far the points around a point are from it, in rising order. The n-th of them sees it as its
    /// own n-th from the end.
    const STEPS: [isize; 8] = {
        let row = N as isize + 1;
        [-row - 1, -row, -row + 1, -1, 1, row - 1, row, row + 1]
    };

    /// The board of a position, and the last move if it is known.
    pub(crate) fn of(pos: &Go<N>, last: Option<Move<N>>) -> Self {
        let mut board = Self {
            stones: [Points::NONE; 2],
            heads: [0; BITS],
            chains: [Chain {
                stones: Points::NONE,
                liberties: Points::NONE,
            }; BITS],
            around: [0; BITS + 2 * MARGIN],
            ko: Points::NONE,
            key: 0,
            turn: pos.turn(),
            plies: pos.plies,
            passes: pos.passes,
            last: [None; 2],
        };
        if let Some(Move::Play(point)) = last {
            board.last[0] = Some(point.bit());
        }
        board.mark_beyond();
        let empty = pos.empty();
        for seat in Seat::ALL {
            board.stones[seat.index()] = pos.stones(seat);
            let mut rest = pos.stones(seat);
            while let Some(head) = rest.first() {
                let stones = rest.lowest().grown(rest);
                rest = rest & !stones;
                for bit in stones {
                    board.heads[usize::from(bit)] = head;
                    board.turn_around(bit, Self::stone(seat));
                }
                board.chains[usize::from(head)] = Chain {
                    stones,
                    liberties: stones.neighbours() & empty,
                };
            }
            board.key ^= key_of(seat, pos.stones(seat));
        }
        board
    }

    /// Tells every point which of those around it are not on the board.
    fn mark_beyond(&mut self) {
        let (row, size) = (isize::from(N) + 1, isize::from(N));
        for bit in Points::<N>::ALL {
            for (place, step) in Self::STEPS.into_iter().enumerate() {
                let to = isize::from(bit) + step;
                let is_on_board = to >= 0 && to % row < size && to / row < size;
                if !is_on_board {
                    self.around[usize::from(bit) + MARGIN] |= BEYOND << (2 * place);
                }
            }
        }
    }

    const fn stone(seat: Seat) -> u16 {
        match seat {
            Seat::First => 1,
            Seat::Second => 2,
        }
    }

    /// Changes what the points around this one see on it.
    #[inline]
    fn turn_around(&mut self, bit: u8, by: u16) {
        for (place, step) in Self::STEPS.into_iter().enumerate() {
            let seen_from = (usize::from(bit) + MARGIN).wrapping_add_signed(step);
            self.around[seen_from] ^= by << (2 * (7 - place));
        }
    }

    pub(crate) const fn turn(&self) -> Seat {
        self.turn
    }

    pub(crate) const fn stones(&self, seat: Seat) -> Points<N> {
        self.stones[seat.index()]
    }

    #[inline]
    pub(crate) fn empty(&self) -> Points<N> {
        !(self.stones[0] | self.stones[1])
    }

    /// The points beside this one.
    #[inline]
    pub(crate) const fn beside(bit: u8) -> Points<N> {
        Self::NEIGHBOURS[bit as usize]
    }

    /// The chain of the stone on this point.
    #[inline]
    pub(crate) const fn chain(&self, bit: u8) -> &Chain<N> {
        &self.chains[self.heads[bit as usize] as usize]
    }

    /// What lies on the eight points around this one: two bits each, `BEYOND` for what is not on the
    /// board.
    #[inline]
    pub(crate) const fn around(&self, bit: u8) -> u16 {
        self.around[bit as usize + MARGIN]
    }

    /// The point that may not be retaken at once.
    pub(crate) const fn ko(&self) -> Points<N> {
        self.ko
    }

    /// The last move and the one before, if they are known and no passes.
    pub(crate) const fn last(&self) -> [Option<u8>; 2] {
        self.last
    }

    /// The key by which the rules know the position again.
    pub(crate) fn repetition_key(&self) -> u64 {
        repetition_key_of(self.key, self.passes)
    }

    /// The repetition key after a stone of the side to move on this point.
    pub(crate) fn repetition_key_after(&self, bit: u8) -> u64 {
        repetition_key_of(self.key_after(bit), 0)
    }

    /// Whether the game is over.
    pub(crate) const fn is_over(&self) -> bool {
        self.passes >= PASSES_MAX || self.plies >= PLIES_MAX
    }

    /// The stones of each seat, and the empty points from which only its stones are reached.
    pub(crate) fn areas(&self) -> [Points<N>; 2] {
        areas_of(self.stones)
    }

    /// Whether the side to move may play on this empty point, as far as a ko is the only repetition.
    #[inline]
    pub(crate) fn is_legal(&self, bit: u8) -> bool {
        let beside = Self::beside(bit);
        if self.ko.has(bit) {
            return false;
        }
        if beside.meets(self.empty()) {
            return true;
        }
        let is_one = |bit: u8| self.chain(bit).liberties.is_one();
        let (own, other) = (self.stones(self.turn), self.stones(self.turn.other()));
        (beside & own).any(|bit| !is_one(bit)) || (beside & other).any(is_one)
    }

    /// The chain that a stone of the side to move makes on this point, where it may play.
    #[inline]
    pub(crate) fn chain_after(&self, bit: u8) -> Chain<N> {
        let (point, beside) = (Points::of(bit), Self::beside(bit));
        let mut chain = Chain {
            stones: point,
            liberties: beside & self.empty(),
        };
        let mut friends = beside & self.stones(self.turn);
        while let Some(next) = friends.first() {
            let friend = self.chain(next);
            chain.stones |= friend.stones;
            chain.liberties |= friend.liberties;
            friends = friends & !friend.stones;
        }
        for next in beside & self.stones(self.turn.other()) {
            let other = self.chain(next);
            if other.liberties.is_one() {
                chain.liberties |= chain.stones.neighbours() & other.stones;
            }
        }
        chain.liberties = chain.liberties & !point;
        chain
    }

    /// The key of the stones after a stone of the side to move on this point.
    fn key_after(&self, bit: u8) -> u64 {
        let (own, other) = (self.turn, self.turn.other());
        let mut captured = Points::NONE;
        for next in Self::beside(bit) & self.stones(other) {
            let chain = self.chain(next);
            if chain.liberties.is_one() {
                captured |= chain.stones;
            }
        }
        self.key ^ STONE_KEYS[own.index()][usize::from(bit)] ^ key_of(other, captured)
    }

    /// The side to move passes.
    pub(crate) const fn pass(&mut self) {
        self.ko = Points::NONE;
        self.passes += 1;
        self.next_turn(None);
    }

    /// The side to move plays on this point, where it may.
    #[inline]
    pub(crate) fn play(&mut self, bit: u8) {
        let (own, other) = (self.turn, self.turn.other());
        let (point, beside) = (Points::of(bit), Self::beside(bit));
        let mut captured = Points::NONE;
        let mut others = beside & self.stones(other);
        while let Some(next) = others.first() {
            let chain = &mut self.chains[usize::from(self.heads[usize::from(next)])];
            chain.liberties = chain.liberties & !point;
            others = others & !chain.stones;
            if chain.liberties.is_empty() {
                captured |= chain.stones;
            }
        }
        let is_alone = self.join(bit);
        self.stones[own.index()] |= point;
        self.key ^= STONE_KEYS[own.index()][usize::from(bit)];
        self.turn_around(bit, Self::stone(own));
        self.ko = Points::NONE;
        if !captured.is_empty() {
            self.take_away(other, captured);
            if is_alone && captured.is_one() && self.chain(bit).liberties == captured {
                self.ko = captured;
            }
        }
        self.passes = 0;
        self.next_turn(Some(bit));
    }

    /// Makes one chain of a new stone of the side to move and those beside it. Tells whether there were
    /// none.
    #[inline]
    fn join(&mut self, bit: u8) -> bool {
        let (point, beside) = (Points::of(bit), Self::beside(bit));
        let mut chain = Chain {
            stones: point,
            liberties: beside & self.empty(),
        };
        let mut head = bit;
        let mut friends = beside & self.stones(self.turn);
        while let Some(next) = friends.first() {
            let name = self.heads[usize::from(next)];
            let friend = self.chains[usize::from(name)];
            chain.stones |= friend.stones;
            chain.liberties |= friend.liberties;
            friends = friends & !friend.stones;
            if head == bit {
                head = name;
            } else {
                for stone in friend.stones {
                    self.heads[usize::from(stone)] = head;
                }
            }
        }
        self.heads[usize::from(bit)] = head;
        chain.liberties = chain.liberties & !point;
        self.chains[usize::from(head)] = chain;
        head == bit
    }

    /// Takes captured stones of `seat` off the board.
    fn take_away(&mut self, seat: Seat, captured: Points<N>) {
        let stones = &mut self.stones[seat.index()];
        *stones = *stones & !captured;
        for bit in captured {
            self.key ^= STONE_KEYS[seat.index()][usize::from(bit)];
            self.turn_around(bit, Self::stone(seat));
        }
        let mut beside = captured.neighbours() & self.stones(seat.other());
        while let Some(next) = beside.first() {
            let chain = &mut self.chains[usize::from(self.heads[usize::from(next)])];
            chain.liberties |= chain.stones.neighbours() & captured;
            beside = beside & !chain.stones;
        }
    }

    const fn next_turn(&mut self, bit: Option<u8>) {
        self.last = [bit, self.last[0]];
        self.plies += 1;
        self.turn = self.turn.other();
    }
}

#[cfg(test)]
mod tests;
