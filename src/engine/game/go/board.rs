//! A board that is played on in place, for playing games out by the thousand: it knows every chain and
//! its liberties, and changes them with each move. A [`Go`] is smaller, and finds chains anew.
//!
//! Of repetition it knows only the simple ko. Keys are those of [`Go`], so whoever keeps those of the
//! positions before can tell the rest.

use super::bitboard::Bitboard;
use super::{
    Go, Move, PASSES_MAX, PLIES_MAX, STONE_KEYS, combine_repetition_key, compute_areas, hash_stones,
};
use crate::game::{Position, Seat};

/// Numbers of points are below this.
pub(crate) const BIT_COUNT: usize = 90;

/// Around the board is room for the points that are not there: the largest step between neighbours.
const BORDER_MARGIN: usize = 11;

/// The number of a pass, where moves are numbers.
pub(crate) const PASS: u8 = 127;

/// What lies on a point, as the surroundings of its neighbours have it: two bits.
pub(crate) const OFF_BOARD: u16 = 0b11;

/// A board of `N` by `N`, and whose turn it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Board<const N: u8> {
    stones: [Bitboard<N>; 2],
    /// By the number of a stone, that by which its chain is found.
    chain_heads: [u8; BIT_COUNT],
    chains: [Chain<N>; BIT_COUNT],
    /// By the number of a point and the margin, what lies on the eight points around it: two bits each,
    /// in rising order of the points' numbers. An empty point is 0, black is 1 and white 2.
    neighbourhoods: [u16; BIT_COUNT + 2 * BORDER_MARGIN],
    /// The point that may not be retaken at once, if there is one.
    ko: Bitboard<N>,
    key: u64,
    turn: Seat,
    plies: u16,
    passes: u8,
    /// The last move and the one before, if they are known and no passes.
    last_moves: [Option<u8>; 2],
}

/// Stones that are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chain<const N: u8> {
    pub(crate) stones: Bitboard<N>,
    pub(crate) liberties: Bitboard<N>,
}

impl<const N: u8> Board<N> {
    const NEIGHBOUR_SETS: [Bitboard<N>; BIT_COUNT] = {
        let mut table = [Bitboard::EMPTY; BIT_COUNT];
        let mut bit = 0;
        while bit < BIT_COUNT {
            #[expect(clippy::cast_possible_truncation, reason = "it is less than 90")]
            let point = Bitboard::<N>::from_bit_index(bit as u8);
            table[bit] = point.neighbours();
            bit += 1;
        }
        table
    };

    /// How far the points around a point are from it, in rising order. The n-th of them sees it as its
    /// own n-th from the end.
    const NEIGHBOURHOOD_STEPS: [isize; 8] = {
        let row = N as isize + 1;
        [-row - 1, -row, -row + 1, -1, 1, row - 1, row, row + 1]
    };

    /// The board of a position, and the last move if it is known.
    pub(crate) fn from_position(pos: &Go<N>, last_move: Option<Move<N>>) -> Self {
        let mut board = Self {
            stones: [Bitboard::EMPTY; 2],
            chain_heads: [0; BIT_COUNT],
            chains: [Chain {
                stones: Bitboard::EMPTY,
                liberties: Bitboard::EMPTY,
            }; BIT_COUNT],
            neighbourhoods: [0; BIT_COUNT + 2 * BORDER_MARGIN],
            ko: Bitboard::EMPTY,
            key: 0,
            turn: pos.turn(),
            plies: pos.plies,
            passes: pos.passes,
            last_moves: [None; 2],
        };
        if let Some(Move::Play(point)) = last_move {
            board.last_moves[0] = Some(point.bit_index());
        }
        board.mark_off_board();
        let empty = pos.empty();
        for seat in Seat::ALL {
            board.stones[seat.index()] = pos.stones(seat);
            let mut rest = pos.stones(seat);
            while let Some(head) = rest.first() {
                let stones = rest.lowest().flood_fill(rest);
                rest = rest & !stones;
                for bit in stones {
                    board.chain_heads[usize::from(bit)] = head;
                    board.toggle_in_neighbourhoods(bit, Self::stone_code(seat));
                }
                board.chains[usize::from(head)] = Chain {
                    stones,
                    liberties: stones.neighbours() & empty,
                };
            }
            board.key ^= hash_stones(seat, pos.stones(seat));
        }
        board
    }

    /// Tells every point which of those around it are not on the board.
    fn mark_off_board(&mut self) {
        let (row, size) = (isize::from(N) + 1, isize::from(N));
        for bit in Bitboard::<N>::ALL {
            for (index, step) in Self::NEIGHBOURHOOD_STEPS.into_iter().enumerate() {
                let to = isize::from(bit) + step;
                let is_on_board = to >= 0 && to % row < size && to / row < size;
                if !is_on_board {
                    self.neighbourhoods[usize::from(bit) + BORDER_MARGIN] |=
                        OFF_BOARD << (2 * index);
                }
            }
        }
    }

    const fn stone_code(seat: Seat) -> u16 {
        match seat {
            Seat::First => 1,
            Seat::Second => 2,
        }
    }

    /// Changes what the points around this one see on it.
    #[inline]
    fn toggle_in_neighbourhoods(&mut self, bit: u8, code: u16) {
        for (index, step) in Self::NEIGHBOURHOOD_STEPS.into_iter().enumerate() {
            let neighbour = (usize::from(bit) + BORDER_MARGIN).wrapping_add_signed(step);
            self.neighbourhoods[neighbour] ^= code << (2 * (7 - index));
        }
    }

    pub(crate) const fn turn(&self) -> Seat {
        self.turn
    }

    pub(crate) const fn stones(&self, seat: Seat) -> Bitboard<N> {
        self.stones[seat.index()]
    }

    #[inline]
    pub(crate) fn empty(&self) -> Bitboard<N> {
        !(self.stones[0] | self.stones[1])
    }

    /// The points beside this one.
    #[inline]
    pub(crate) const fn neighbours(bit: u8) -> Bitboard<N> {
        Self::NEIGHBOUR_SETS[bit as usize]
    }

    /// The chain of the stone on this point.
    #[inline]
    pub(crate) const fn chain(&self, bit: u8) -> &Chain<N> {
        &self.chains[self.chain_heads[bit as usize] as usize]
    }

    /// What lies on the eight points around this one: two bits each, `BEYOND` for what is not on the
    /// board.
    #[inline]
    pub(crate) const fn neighbourhood(&self, bit: u8) -> u16 {
        self.neighbourhoods[bit as usize + BORDER_MARGIN]
    }

    /// The point that may not be retaken at once.
    pub(crate) const fn ko(&self) -> Bitboard<N> {
        self.ko
    }

    /// The last move and the one before, if they are known and no passes.
    pub(crate) const fn last_moves(&self) -> [Option<u8>; 2] {
        self.last_moves
    }

    /// The key by which the rules know the position again.
    pub(crate) fn repetition_key(&self) -> u64 {
        combine_repetition_key(self.key, self.passes)
    }

    /// The repetition key after a stone of the side to move on this point.
    pub(crate) fn repetition_key_after(&self, bit: u8) -> u64 {
        combine_repetition_key(self.stones_key_after(bit), 0)
    }

    /// Whether the game is over.
    pub(crate) const fn is_over(&self) -> bool {
        self.passes >= PASSES_MAX || self.plies >= PLIES_MAX
    }

    /// The stones of each seat, and the empty points from which only its stones are reached.
    pub(crate) fn areas(&self) -> [Bitboard<N>; 2] {
        compute_areas(self.stones)
    }

    /// Whether the side to move may play on this empty point, as far as a ko is the only repetition.
    #[inline]
    pub(crate) fn is_legal(&self, bit: u8) -> bool {
        let neighbours = Self::neighbours(bit);
        if self.ko.has(bit) {
            return false;
        }
        if neighbours.intersects(self.empty()) {
            return true;
        }
        let is_in_atari = |bit: u8| self.chain(bit).liberties.is_single();
        let (own, other) = (self.stones(self.turn), self.stones(self.turn.other()));
        (neighbours & own).any(|bit| !is_in_atari(bit)) || (neighbours & other).any(is_in_atari)
    }

    /// The chain that a stone of the side to move makes on this point, where it may play.
    #[inline]
    pub(crate) fn chain_after(&self, bit: u8) -> Chain<N> {
        let (point, neighbours) = (Bitboard::from_bit_index(bit), Self::neighbours(bit));
        let mut chain = Chain {
            stones: point,
            liberties: neighbours & self.empty(),
        };
        let mut own_neighbours = neighbours & self.stones(self.turn);
        while let Some(next) = own_neighbours.first() {
            let own_chain = self.chain(next);
            chain.stones |= own_chain.stones;
            chain.liberties |= own_chain.liberties;
            own_neighbours = own_neighbours & !own_chain.stones;
        }
        for next in neighbours & self.stones(self.turn.other()) {
            let other_chain = self.chain(next);
            if other_chain.liberties.is_single() {
                chain.liberties |= chain.stones.neighbours() & other_chain.stones;
            }
        }
        chain.liberties = chain.liberties & !point;
        chain
    }

    /// The key of the stones after a stone of the side to move on this point.
    fn stones_key_after(&self, bit: u8) -> u64 {
        let (own, other) = (self.turn, self.turn.other());
        let mut captured = Bitboard::EMPTY;
        for next in Self::neighbours(bit) & self.stones(other) {
            let chain = self.chain(next);
            if chain.liberties.is_single() {
                captured |= chain.stones;
            }
        }
        self.key ^ STONE_KEYS[own.index()][usize::from(bit)] ^ hash_stones(other, captured)
    }

    /// The side to move passes.
    pub(crate) const fn pass(&mut self) {
        self.ko = Bitboard::EMPTY;
        self.passes += 1;
        self.end_turn(None);
    }

    /// The side to move plays on this point, where it may.
    #[inline]
    pub(crate) fn play(&mut self, bit: u8) {
        let (own, other) = (self.turn, self.turn.other());
        let (point, neighbours) = (Bitboard::from_bit_index(bit), Self::neighbours(bit));
        let mut captured = Bitboard::EMPTY;
        let mut others = neighbours & self.stones(other);
        while let Some(next) = others.first() {
            let chain = &mut self.chains[usize::from(self.chain_heads[usize::from(next)])];
            chain.liberties = chain.liberties & !point;
            others = others & !chain.stones;
            if chain.liberties.is_empty() {
                captured |= chain.stones;
            }
        }
        let is_single_stone = self.join_chains(bit);
        self.stones[own.index()] |= point;
        self.key ^= STONE_KEYS[own.index()][usize::from(bit)];
        self.toggle_in_neighbourhoods(bit, Self::stone_code(own));
        self.ko = Bitboard::EMPTY;
        if !captured.is_empty() {
            self.remove_captured(other, captured);
            if is_single_stone && captured.is_single() && self.chain(bit).liberties == captured {
                self.ko = captured;
            }
        }
        self.passes = 0;
        self.end_turn(Some(bit));
    }

    /// Makes one chain of a new stone of the side to move and those beside it. Tells whether there were
    /// none.
    #[inline]
    fn join_chains(&mut self, bit: u8) -> bool {
        let (point, neighbours) = (Bitboard::from_bit_index(bit), Self::neighbours(bit));
        let mut chain = Chain {
            stones: point,
            liberties: neighbours & self.empty(),
        };
        let mut head = bit;
        let mut own_neighbours = neighbours & self.stones(self.turn);
        while let Some(next) = own_neighbours.first() {
            let friend_head = self.chain_heads[usize::from(next)];
            let own_chain = self.chains[usize::from(friend_head)];
            chain.stones |= own_chain.stones;
            chain.liberties |= own_chain.liberties;
            own_neighbours = own_neighbours & !own_chain.stones;
            if head == bit {
                head = friend_head;
            } else {
                for stone in own_chain.stones {
                    self.chain_heads[usize::from(stone)] = head;
                }
            }
        }
        self.chain_heads[usize::from(bit)] = head;
        chain.liberties = chain.liberties & !point;
        self.chains[usize::from(head)] = chain;
        head == bit
    }

    /// Takes captured stones of `seat` off the board.
    fn remove_captured(&mut self, seat: Seat, captured: Bitboard<N>) {
        let stones = &mut self.stones[seat.index()];
        *stones = *stones & !captured;
        for bit in captured {
            self.key ^= STONE_KEYS[seat.index()][usize::from(bit)];
            self.toggle_in_neighbourhoods(bit, Self::stone_code(seat));
        }
        let mut neighbours = captured.neighbours() & self.stones(seat.other());
        while let Some(next) = neighbours.first() {
            let chain = &mut self.chains[usize::from(self.chain_heads[usize::from(next)])];
            chain.liberties |= chain.stones.neighbours() & captured;
            neighbours = neighbours & !chain.stones;
        }
    }

    const fn end_turn(&mut self, bit: Option<u8>) {
        self.last_moves = [bit, self.last_moves[0]];
        self.plies += 1;
        self.turn = self.turn.other();
    }
}

#[cfg(test)]
mod tests;
