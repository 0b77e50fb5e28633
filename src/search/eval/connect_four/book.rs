//! What is known of the opening by heart: moves that keep the value of positions that take too long
//! to solve in the time of a move.
//!
//! The file beside this one is made by `tests/book/make.rs`, by solving. It holds every position of
//! the first plies, and beyond them those that can arise when one side plays by the book. Entries
//! are eight bytes each, lowest first, in ascending order: from the lowest bit on two bits of the
//! outcome for the side to move (0 a loss, 1 a draw, 2 a win), three of the move's file, and the
//! key of the position or of its mirror image, whichever is smaller.

use crate::game::connect_four::{ConnectFour, Move};

static BOOK: &[u8] = include_bytes!("opening.book");

const OUTCOME_BITS: u32 = 2;
const MOVE_BITS: u32 = 3;

/// A move that keeps the value of the position, if it is in the book.
pub(super) fn find(pos: &ConnectFour) -> Option<Move> {
    let (key, image) = (pos.unique_key(), pos.image_key());
    let (entries, _) = BOOK.as_chunks();
    let key_of = |entry: &[u8; 8]| u64::from_le_bytes(*entry) >> (OUTCOME_BITS + MOVE_BITS);
    let place = entries.binary_search_by_key(&key.min(image), key_of).ok()?;
    let [low, ..] = entries[place];
    let m = Move::from_file(low >> OUTCOME_BITS & ((1 << MOVE_BITS) - 1))?;
    Some(if image < key { m.mirrored() } else { m })
}
