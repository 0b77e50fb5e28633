//! What becomes of a chain that is nearly captured: whether it is in atari, or can be chased in a ladder
//! until it is, and what may be done about it.

use crate::game::go::bitboard::Bitboard;
use crate::game::go::board::{Board, Chain};

/// So many stones are played to read one chain. Ladders are shorter; what branches more is given up.
const STEPS_MAX: u32 = 60;

/// Which chains are looked at that have two liberties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ladders {
    /// Only such as have both of them on the edge, where chains are caught most often.
    OnEdge,
    /// All.
    Everywhere,
}

impl Ladders {
    fn look_at<const N: u8>(self, chain: &Chain<N>) -> bool {
        let is_on_edge = (chain.liberties & !Bitboard::EDGE).is_empty();
        has_two(chain.liberties)
            && !chain.stones.is_single()
            && (self == Self::Everywhere || is_on_edge)
    }
}

fn has_two<const N: u8>(points: Bitboard<N>) -> bool {
    (points & !points.lowest()).is_single()
}

/// Where the side to move should play for the sake of this chain, of either side: to capture it, to save
/// it, or to begin a ladder that captures it.
pub(super) fn urgent<const N: u8>(
    board: &Board<N>,
    chain: &Chain<N>,
    ladders: Ladders,
) -> Bitboard<N> {
    let is_own = chain.stones.intersects(board.stones(board.turn()));
    let mut steps = STEPS_MAX;
    if chain.liberties.is_single() {
        if is_own {
            rescues(board, chain, &mut steps)
        } else {
            chain.liberties
        }
    } else if !is_own && ladders.look_at(chain) {
        catch(board, chain, &mut steps).map_or(Bitboard::EMPTY, Bitboard::from_bit_index)
    } else {
        Bitboard::EMPTY
    }
}

/// Whether a stone of the side to move on this point, where it may play, would be lost together with
/// others: then it helps to capture them. To offer one stone may be good.
pub(super) fn is_self_atari<const N: u8>(board: &Board<N>, bit: u8, ladders: Ladders) -> bool {
    let after = board.chain_after(bit);
    if after.stones.is_single() {
        return false;
    }
    if after.liberties.is_single() {
        return true;
    }
    if !ladders.look_at(&after) {
        return false;
    }
    let mut board = *board;
    board.play(bit);
    catch(&board, board.chain(bit), &mut { STEPS_MAX }).is_some()
}

/// How the side to move saves its chain that is in atari: by capturing a chain beside it that is so
/// itself, or by running.
fn rescues<const N: u8>(board: &Board<N>, chain: &Chain<N>, steps: &mut u32) -> Bitboard<N> {
    let mut rescues = Bitboard::EMPTY;
    let mut others = chain.stones.neighbours() & board.stones(board.turn().other());
    while let Some(next) = others.first() {
        let other = board.chain(next);
        others = others & !other.stones;
        if other.liberties.is_single() {
            rescues |= other.liberties;
        }
    }
    rescues = rescues & !board.ko();
    let run = chain.liberties;
    let Some(bit) = run.first().filter(|bit| board.is_legal(*bit)) else {
        return rescues;
    };
    let after = board.chain_after(bit).liberties;
    let is_free = if has_two(after) {
        !rescues.is_empty() || !is_caught_after(board, bit, steps)
    } else {
        !after.is_single()
    };
    if is_free {
        rescues |= run;
    }
    rescues
}

/// Whether a chain that runs to this point, and has two liberties there, is caught all the same.
fn is_caught_after<const N: u8>(board: &Board<N>, bit: u8, steps: &mut u32) -> bool {
    let Some(left) = steps.checked_sub(1) else {
        return false;
    };
    *steps = left;
    let mut board = *board;
    board.play(bit);
    catch(&board, board.chain(bit), steps).is_some()
}

/// Where the side to move plays to catch a chain of the other side that has two liberties; `None` where
/// that fails.
fn catch<const N: u8>(board: &Board<N>, chain: &Chain<N>, steps: &mut u32) -> Option<u8> {
    let stone = chain.stones.first()?;
    for bit in chain.liberties {
        if !board.is_legal(bit) {
            continue;
        }
        *steps = steps.checked_sub(1)?;
        let mut after = *board;
        after.play(bit);
        let hunted = *after.chain(stone);
        if hunted.liberties.is_single() && rescues(&after, &hunted, steps).is_empty() {
            return Some(bit);
        }
    }
    None
}
