//! A mutable board for fast playouts. The board stores every chain with its liberties and updates
//! them with each move. A [`Go`] position is smaller but must find the chains each time they are
//! needed.
//!
//! The board detects only simple kos. Its repetition keys equal the keys of [`Go`], so callers that
//! store the keys of earlier positions can detect superko.

use super::bitboard::Bitboard;
use super::{
    Go, Move, PASSES_MAX, PLIES_MAX, STONE_KEYS, combine_repetition_key, compute_areas, hash_stones,
};
use crate::game::{Position, Seat};

/// Exclusive upper bound of the bit indices of points.
pub(crate) const BIT_COUNT: usize = 90;

/// Number of padding entries at each end of the array of neighbourhoods. The padding provides array
/// indices for neighbours that are off the board. The number equals the largest bit distance
/// between adjacent points, including diagonally adjacent points.
const BORDER_MARGIN: usize = 11;

/// Number that represents a pass. Every other move is represented by the bit index of its point.
pub(crate) const PASS: u8 = 127;

/// Two-bit code for a neighbour that is off the board.
pub(crate) const OFF_BOARD: u16 = 0b11;

/// A board of `N` by `N` points, with the side to move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Board<const N: u8> {
    stones: [Bitboard<N>; 2],
    /// For each stone, the index of its chain in `chains`. Each chain is stored at the bit index of
    /// one of its stones, the head. The array of heads is indexed by the bit index of the stone.
    chain_heads: [u8; BIT_COUNT],
    chains: [Chain<N>; BIT_COUNT],
    /// Contents of the eight points around each point. The array is indexed by the point's bit
    /// index plus `BORDER_MARGIN`.
    ///
    /// Each entry contains a two-bit code for each of the eight points, in ascending order of their
    /// bit indices. The codes are 0 for an empty point, 1 for Black, 2 for White, and `OFF_BOARD`.
    neighbourhoods: [u16; BIT_COUNT + 2 * BORDER_MARGIN],
    /// Point that a simple ko currently forbids, or the empty set.
    ko: Bitboard<N>,
    key: u64,
    turn: Seat,
    plies: u16,
    passes: u8,
    /// Bit indices of the last move and of the move before it. An entry is `None` if the move is
    /// unknown or a pass.
    last_moves: [Option<u8>; 2],
}

/// A chain of connected stones.
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

    /// Bit distances to the eight neighbours of a point, in ascending order. The order is
    /// symmetric: if B is the n-th neighbour of A, then A is the n-th neighbour of B counted from
    /// the end.
    const NEIGHBOURHOOD_STEPS: [isize; 8] = {
        let row = N as isize + 1;
        [-row - 1, -row, -row + 1, -1, 1, row - 1, row, row + 1]
    };

    /// Returns the board of a position. `last_move` is the move that led to the position, if known.
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

    /// For every point, marks the neighbours that are off the board.
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

    /// Updates the neighbourhoods of the eight points around the given point. In each of these
    /// neighbourhoods, toggles the bits of `code` in the two bits for the given point.
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

    /// Returns the neighbours of a point.
    #[inline]
    pub(crate) const fn neighbours(bit: u8) -> Bitboard<N> {
        Self::NEIGHBOUR_SETS[bit as usize]
    }

    /// Returns the chain of the stone on this point.
    #[inline]
    pub(crate) const fn chain(&self, bit: u8) -> &Chain<N> {
        &self.chains[self.chain_heads[bit as usize] as usize]
    }

    /// Returns the contents of the eight points around a point, with two bits for each of the
    /// eight. Points that are not on the board have the code `OFF_BOARD`.
    #[inline]
    pub(crate) const fn neighbourhood(&self, bit: u8) -> u16 {
        self.neighbourhoods[bit as usize + BORDER_MARGIN]
    }

    /// Returns the point that a simple ko currently forbids, or the empty set.
    pub(crate) const fn ko(&self) -> Bitboard<N> {
        self.ko
    }

    /// Returns the bit indices of the last move and of the move before it. An entry is `None` if
    /// the move is unknown or a pass.
    pub(crate) const fn last_moves(&self) -> [Option<u8>; 2] {
        self.last_moves
    }

    /// Returns the key that identifies repeated positions.
    pub(crate) fn repetition_key(&self) -> u64 {
        combine_repetition_key(self.key, self.passes)
    }

    /// Returns the repetition key after the side to move plays on this point.
    pub(crate) fn repetition_key_after(&self, bit: u8) -> u64 {
        combine_repetition_key(self.stones_key_after(bit), 0)
    }

    /// Returns whether the game is over.
    pub(crate) const fn is_over(&self) -> bool {
        self.passes >= PASSES_MAX || self.plies >= PLIES_MAX
    }

    /// Returns the area of each seat: its stones, and the empty regions that border only its
    /// stones.
    pub(crate) fn areas(&self) -> [Bitboard<N>; 2] {
        compute_areas(self.stones)
    }

    /// Returns whether the side to move may play on this empty point. The check covers simple kos
    /// but not superko.
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

    /// Returns the chain that a stone of the side to move would form on this point. The move must
    /// be legal.
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

    /// Returns the key of the stones after the side to move plays on this point.
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

    /// Plays a pass for the side to move.
    pub(crate) const fn pass(&mut self) {
        self.ko = Bitboard::EMPTY;
        self.passes += 1;
        self.end_turn(None);
    }

    /// Plays a stone of the side to move on this point. The move must be legal.
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

    /// Merges a new stone of the side to move with the adjacent chains of that side. Returns `true`
    /// if no chain of that side is adjacent to the stone.
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

    /// Removes captured stones of `seat` from the board.
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
