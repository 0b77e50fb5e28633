//! Go tactics: finds moves that capture or rescue chains. It considers chains in atari and chains
//! that can be captured in a ladder.

use crate::game::go::bitboard::Bitboard;
use crate::game::go::incremental_board::{Board, Chain};

/// Maximum number of stones that the search plays to decide the fate of one chain. Ladders need
/// fewer stones, so only lines with many branches reach the limit.
const READING_STEPS_MAX: u32 = 60;

/// Determines which chains with two liberties the search checks for capture in a ladder. The search
/// never checks single stones for ladders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LadderScope {
    /// The search checks only chains that have both liberties on the edge, where most ladders
    /// succeed.
    OnEdge,
    /// The search checks all chains of two or more stones.
    Everywhere,
}

impl LadderScope {
    fn includes<const N: u8>(self, chain: &Chain<N>) -> bool {
        let is_on_edge = (chain.liberties & !Bitboard::EDGE).is_empty();
        has_exactly_two(chain.liberties)
            && !chain.stones.is_single()
            && (self == Self::Everywhere || is_on_edge)
    }
}

fn has_exactly_two<const N: u8>(points: Bitboard<N>) -> bool {
    (points & !points.lowest()).is_single()
}

/// Returns the points where the side to move should respond to a chain of either side. A move there
/// captures the chain, rescues it, or starts a ladder that captures it.
pub(super) fn urgent_points<const N: u8>(
    board: &Board<N>,
    chain: &Chain<N>,
    ladders: LadderScope,
) -> Bitboard<N> {
    let is_own = chain.stones.intersects(board.stones(board.turn()));
    let mut steps = READING_STEPS_MAX;
    if chain.liberties.is_single() {
        if is_own {
            rescue_points(board, chain, &mut steps)
        } else {
            chain.liberties
        }
    } else if !is_own && ladders.includes(chain) {
        find_ladder_move(board, chain, &mut steps).map_or(Bitboard::EMPTY, Bitboard::from_bit_index)
    } else {
        Bitboard::EMPTY
    }
}

/// Returns whether a play on this point is self-atari: the opponent could then capture the new
/// stone together with other stones. The play must be legal. Sacrificing a single stone does not
/// count as self-atari, because it may be a good move.
pub(super) fn is_self_atari<const N: u8>(board: &Board<N>, bit: u8, ladders: LadderScope) -> bool {
    let chain_after = board.chain_after(bit);
    if chain_after.stones.is_single() {
        return false;
    }
    if chain_after.liberties.is_single() {
        return true;
    }
    if !ladders.includes(&chain_after) {
        return false;
    }
    let mut board = *board;
    board.play(bit);
    find_ladder_move(&board, board.chain(bit), &mut { READING_STEPS_MAX }).is_some()
}

/// Returns the points that rescue a chain of the side to move from atari. A move there captures an
/// adjacent chain in atari, or extends the chain.
fn rescue_points<const N: u8>(board: &Board<N>, chain: &Chain<N>, steps: &mut u32) -> Bitboard<N> {
    let mut points = Bitboard::EMPTY;
    let mut others = chain.stones.neighbours() & board.stones(board.turn().other());
    while let Some(next) = others.first() {
        let other = board.chain(next);
        others = others & !other.stones;
        if other.liberties.is_single() {
            points |= other.liberties;
        }
    }
    points = points & !board.ko();
    let escape = chain.liberties;
    let Some(bit) = escape.first().filter(|bit| board.is_legal(*bit)) else {
        return points;
    };
    let liberties_after = board.chain_after(bit).liberties;
    let escapes = if has_exactly_two(liberties_after) {
        !points.is_empty() || !is_caught_after_running(board, bit, steps)
    } else {
        !liberties_after.is_single()
    };
    if escapes {
        points |= escape;
    }
    points
}

/// Returns whether a chain is still captured after it extends to this point. The extended chain
/// must have two liberties.
fn is_caught_after_running<const N: u8>(board: &Board<N>, bit: u8, steps: &mut u32) -> bool {
    let Some(steps_left) = steps.checked_sub(1) else {
        return false;
    };
    *steps = steps_left;
    let mut board = *board;
    board.play(bit);
    find_ladder_move(&board, board.chain(bit), steps).is_some()
}

/// Returns the move that captures an opposing chain with two liberties in a ladder. Returns `None`
/// if no such move is found.
fn find_ladder_move<const N: u8>(
    board: &Board<N>,
    chain: &Chain<N>,
    steps: &mut u32,
) -> Option<u8> {
    let stone = chain.stones.first()?;
    for bit in chain.liberties {
        if !board.is_legal(bit) {
            continue;
        }
        *steps = steps.checked_sub(1)?;
        let mut next_board = *board;
        next_board.play(bit);
        let hunted = *next_board.chain(stone);
        if hunted.liberties.is_single() && rescue_points(&next_board, &hunted, steps).is_empty() {
            return Some(bit);
        }
    }
    None
}
