//! What is known of the opening by heart: moves that keep the value of positions that take too long
//! to solve in the time of a move.
//!
//! The file beside this one is made by `tests/book/make.rs`, by solving. It holds the positions of
//! the first plies that can arise when the side to move has played by the book. Entries
//! are eight bytes each, lowest first, in ascending order: from the lowest bit on two bits of the
//! outcome for the side to move (0 a loss, 1 a draw, 2 a win), three of the move's file, and the
//! key of the position or of its mirror image, whichever is smaller.

use crate::game::connect_four::{ConnectFour, Move};

static BOOK: &[u8] = include_bytes!("opening.book");

const OUTCOME_BITS: u32 = 2;
const MOVE_BITS: u32 = 3;

/// A move that keeps the value of the position, if it is in the book.
pub(super) fn find(pos: &ConnectFour) -> Option<Move> {
    let [low, ..] = entry(pos)?;
    let m = Move::from_file(low >> OUTCOME_BITS & ((1 << MOVE_BITS) - 1))?;
    Some(if pos.image_key() < pos.unique_key() {
        m.mirrored()
    } else {
        m
    })
}

fn entry(pos: &ConnectFour) -> Option<[u8; 8]> {
    let key = pos.unique_key().min(pos.image_key());
    let (entries, _) = BOOK.as_chunks();
    let place = entries.binary_search_by_key(&key, key_of).ok()?;
    Some(entries[place])
}

fn key_of(entry: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*entry) >> (OUTCOME_BITS + MOVE_BITS)
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;
    use std::collections::HashSet;

    use super::*;
    use crate::game::{Outcome, Position, Seat};
    use crate::search::oracle::children;
    use crate::search::{Evaluate, Limits, Score, Stop, Table, reaches};

    /// Up to this ply the book knows an answer to everything.
    const LAST_PLY: u8 = 13;

    /// How the game ends with best play, for the side to move.
    fn outcome(pos: &ConnectFour) -> Ordering {
        let [low, ..] = entry(pos).expect("in the book");
        (low & ((1 << OUTCOME_BITS) - 1)).cmp(&1)
    }

    #[test]
    fn entries_stand_in_order_and_take_little_room() {
        let (entries, rest) = BOOK.as_chunks::<8>();
        assert!(rest.is_empty() && BOOK.len() < 1 << 20);
        assert!(entries.is_sorted_by_key(key_of));
        let keys: HashSet<_> = entries.iter().map(key_of).collect();
        assert_eq!(keys.len(), entries.len());
    }

    /// Calls `check` for every position of the book with those that can come next in it.
    fn walk(seat: Seat, check: &mut impl FnMut(&ConnectFour, &[ConnectFour])) {
        let mut layer = vec![ConnectFour::start()];
        let mut seen = HashSet::new();
        while let Some(pos) = layer.pop() {
            if pos.outcome().is_some() || pos.plies() > LAST_PLY || !seen.insert(pos.key()) {
                continue;
            }
            if pos.turn() == seat {
                let m = find(&pos).expect("in the book");
                let next: Vec<_> = match pos.after(m) {
                    after if after.outcome().is_some() => vec![after],
                    after => children(&after).into_iter().map(|(_, next)| next).collect(),
                };
                check(&pos, &next);
                layer.extend(next);
            } else {
                layer.extend(children(&pos).into_iter().map(|(_, next)| next));
            }
        }
    }

    /// What the book promises of a position is the least of what it promises of those that follow,
    /// whatever the opponent answers.
    #[test]
    fn promises_agree_with_each_other() {
        let mut checked = 0;
        for seat in Seat::ALL {
            walk(seat, &mut |pos, next| {
                let value = |next: &ConnectFour| match next.outcome() {
                    Some(Outcome::Draw) => Ordering::Equal,
                    Some(Outcome::Decisive { winner }) if winner == seat => Ordering::Greater,
                    Some(Outcome::Decisive { winner: _ }) => Ordering::Less,
                    None => outcome(next),
                };
                if pos.plies() + 2 <= LAST_PLY {
                    assert_eq!(next.iter().map(value).min(), Some(outcome(pos)), "{pos}");
                    checked += 1;
                }
            });
        }
        assert!(checked > 500, "{checked}");
    }

    /// Of the last positions, those that are solved soon have the promised outcome.
    #[test]
    fn the_last_promises_agree_with_the_solver() {
        let (stop, table) = (Stop::new(), Table::new(1 << 22));
        let limits = Limits::nodes(3_000);
        let [mut checked, mut asked] = [0, 0];
        for seat in Seat::ALL {
            walk(seat, &mut |pos, _| {
                if pos.plies() + 2 <= LAST_PLY {
                    return;
                }
                asked += 1;
                let least_win = Score::win_in(pos.plies_left());
                let is = |score| reaches(pos, score, &limits, &stop, &table);
                if let (Some(wins), Some(holds)) = (is(least_win), is(Score::DRAW)) {
                    let solved = (u8::from(wins) + u8::from(holds)).cmp(&1);
                    assert_eq!(outcome(pos), solved, "{pos}");
                    checked += 1;
                }
            });
        }
        assert!(checked > 100, "{checked} of {asked}");
    }

    /// The first player wins, and begins in the middle (Allen and Allis, 1988).
    #[test]
    fn the_game_is_won_by_the_first_player() {
        let start = ConnectFour::start();
        assert_eq!(outcome(&start), Ordering::Greater);
        assert_eq!(find(&start).map(|m| m.to_string()), Some("4".to_owned()));
    }
}
