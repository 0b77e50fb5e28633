//! Opening book for positions that take too long to solve during a game. For each position, the
//! book holds the outcome with best play and a move that achieves this outcome.
//!
//! `tests/book/make_opening_book.rs` creates the book file by solving the positions. The book
//! covers positions up to ply `BOOK_PLY_MAX`. It holds every position that can arise if the side to
//! move has played only book moves so far. The opponent may have played any moves.
//!
//! Each entry is an eight-byte little-endian number, and the entries are in ascending order. The
//! lowest two bits of an entry hold the outcome for the side to move (0 a loss, 1 a draw, 2 a win).
//! The next three bits hold the file of the move. The remaining bits hold the smaller of two keys:
//! the key of the position and the key of its mirror image.

use std::cmp::Ordering;

use crate::game::connect_four::{ConnectFour, Move};
use crate::game::{Outcome, Position};

static OPENING_BOOK: &[u8] = include_bytes!("opening.book");

const OUTCOME_BITS: u32 = 2;
const MOVE_BITS: u32 = 3;

/// Last ply with positions in the book.
const BOOK_PLY_MAX: u8 = 13;

/// Returns the outcome with best play for the side to move, and a move that achieves this outcome.
/// If the book does not contain the position, the function derives the outcome from the positions
/// after each move. It returns `None` if those positions do not determine the outcome.
pub(super) fn probe(pos: &ConnectFour) -> Option<(Ordering, Move)> {
    if pos.plies() > BOOK_PLY_MAX {
        return None;
    }
    find_entry(pos).or_else(|| probe_children(pos))
}

/// Looks up the position itself, without its successors.
fn find_entry(pos: &ConnectFour) -> Option<(Ordering, Move)> {
    let (key, image) = (pos.unique_key(), pos.mirror_key());
    let (entries, _) = OPENING_BOOK.as_chunks();
    let index = entries
        .binary_search_by_key(&key.min(image), entry_key)
        .ok()?;
    let [low, ..] = entries[index];
    let outcome = (low & ((1 << OUTCOME_BITS) - 1)).cmp(&1);
    let m = Move::from_file(low >> OUTCOME_BITS & ((1 << MOVE_BITS) - 1))?;
    Some((outcome, if image < key { m.mirrored() } else { m }))
}

/// Derives the outcome and the best move from the successors of the position. The result is known
/// if the outcomes of all successors are known, or if one successor is a loss for the opponent.
fn probe_children(pos: &ConnectFour) -> Option<(Ordering, Move)> {
    let mut moves = Vec::new();
    pos.legal_moves(&mut moves);
    let mut all_known = true;
    let mut best: Option<(Ordering, Move)> = None;
    for m in moves {
        let after = pos.after(m);
        let outcome = match after.outcome() {
            Some(Outcome::Decisive { .. }) => Some(Ordering::Greater),
            Some(Outcome::Draw) => Some(Ordering::Equal),
            None => find_entry(&after).map(|(outcome, _)| outcome.reverse()),
        };
        all_known &= outcome.is_some();
        if let Some(outcome) = outcome
            && best.is_none_or(|(best, _)| best < outcome)
        {
            best = Some((outcome, m));
        }
    }
    best.filter(|(outcome, _)| all_known || outcome.is_gt())
}

fn entry_key(entry: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*entry) >> (OUTCOME_BITS + MOVE_BITS)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::game::{GameHistory, Seat};
    use crate::search::minimax_comparison_tests::children;
    use crate::search::{
        Evaluate, Limits, Score, Stop, TranspositionTable, is_value_at_least, search,
    };

    /// Returns the outcome with best play for the side to move.
    fn book_outcome(pos: &ConnectFour) -> Ordering {
        find_entry(pos).expect("the position is in the book").0
    }

    #[test]
    fn entries_are_sorted_unique_and_below_1_mib() {
        let (entries, rest) = OPENING_BOOK.as_chunks::<8>();
        assert!(rest.is_empty() && OPENING_BOOK.len() < 1 << 20);
        assert!(entries.is_sorted_by_key(entry_key));
        let keys: HashSet<_> = entries.iter().map(entry_key).collect();
        assert_eq!(keys.len(), entries.len());
    }

    /// Calls `check` with every book position where `seat` is to move. The second argument of
    /// `check` lists all positions that can follow the book move and one reply.
    fn for_each_book_position(seat: Seat, check: &mut impl FnMut(&ConnectFour, &[ConnectFour])) {
        let mut layer = vec![ConnectFour::initial()];
        let mut visited = HashSet::new();
        while let Some(pos) = layer.pop() {
            if pos.outcome().is_some() || pos.plies() > BOOK_PLY_MAX || !visited.insert(pos.key()) {
                continue;
            }
            if pos.turn() == seat {
                let (_, m) = find_entry(&pos).expect("the position is in the book");
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

    /// The outcome of a position is the worst outcome of the positions that can follow the book
    /// move.
    #[test]
    fn outcomes_are_consistent_between_plies() {
        let mut checked = 0;
        for seat in Seat::ALL {
            for_each_book_position(seat, &mut |pos, next| {
                let value = |next: &ConnectFour| match next.outcome() {
                    Some(Outcome::Draw) => Ordering::Equal,
                    Some(Outcome::Decisive { winner }) if winner == seat => Ordering::Greater,
                    Some(Outcome::Decisive { winner: _ }) => Ordering::Less,
                    None => book_outcome(next),
                };
                if pos.plies() + 2 <= BOOK_PLY_MAX {
                    assert_eq!(
                        next.iter().map(value).min(),
                        Some(book_outcome(pos)),
                        "{pos}"
                    );
                    checked += 1;
                }
            });
        }
        assert!(checked > 500, "{checked}");
    }

    /// Checks positions of the last book plies, if the solver can solve them within the node limit.
    #[test]
    fn outcomes_at_the_last_plies_match_the_solver() {
        let (stop, table) = (Stop::new(), TranspositionTable::new(1 << 22));
        let limits = Limits::nodes(3_000);
        let [mut checked, mut positions] = [0, 0];
        for seat in Seat::ALL {
            for_each_book_position(seat, &mut |pos, _| {
                if pos.plies() + 2 <= BOOK_PLY_MAX {
                    return;
                }
                positions += 1;
                let least_win = Score::win_in(pos.remaining_plies_max());
                let is_at_least = |score| is_value_at_least(pos, score, &limits, &stop, &table);
                if let (Some(is_won), Some(is_not_lost)) =
                    (is_at_least(least_win), is_at_least(Score::DRAW))
                {
                    let solved = (u8::from(is_won) + u8::from(is_not_lost)).cmp(&1);
                    assert_eq!(book_outcome(pos), solved, "{pos}");
                    checked += 1;
                }
            });
        }
        assert!(checked > 100, "{checked} of {positions}");
    }

    #[test]
    fn probing_children_gives_the_outcome_of_the_entry() {
        let mut checked = 0;
        for seat in Seat::ALL {
            for_each_book_position(seat, &mut |pos, _| {
                if let Some((child_outcome, m)) = probe_children(pos) {
                    assert_eq!(child_outcome, book_outcome(pos), "{pos}");
                    checked += 1;
                    let (after, _) = probe(&pos.after(m)).unwrap_or((child_outcome.reverse(), m));
                    assert_eq!(after.reverse(), child_outcome, "{pos}");
                }
            });
        }
        assert!(checked > 10, "{checked}");
    }

    /// The book also contains answers to first moves that the book itself would not play. The
    /// expected outcomes are from Allis (1988): the first player loses after starting in one of the
    /// two leftmost or two rightmost files. The game is a draw if the first player starts in a file
    /// next to the middle file.
    #[test]
    fn search_knows_the_outcome_of_every_first_move() {
        let (limits, stop) = (Limits::nodes(1000), Stop::new());
        let values = ["1", "2", "3", "4", "5", "6", "7"].map(|m| {
            let mut history = GameHistory::<ConnectFour>::initial();
            history
                .play(m.parse().expect(m))
                .expect("the move is legal");
            let (table, mut values) = (TranspositionTable::new(1 << 16), Vec::new());
            // The second search starts from the position after the best move that the first search
            // found. The first player's book moves usually do not reach this position.
            for _ in 0..2 {
                let report =
                    search(&history, &limits, &stop, &table).expect("the game is not over");
                values.push((report.score.cmp(&Score::DRAW), report.score.is_decided()));
                history.play(report.pv[0]).expect("the move is legal");
            }
            assert_eq!(values[0].0, values[1].0.reverse());
            assert_eq!(values[0].1, values[0].0.is_ne());
            assert_eq!(values[0].1, values[1].1);
            values[0].0
        });
        use Ordering::{Equal, Greater, Less};
        assert_eq!(
            values,
            [Greater, Greater, Equal, Less, Equal, Greater, Greater]
        );
    }

    /// The first player wins by starting in the middle file (Allen and Allis, 1988).
    #[test]
    fn first_player_wins_from_the_middle_file() {
        let start = ConnectFour::initial();
        assert_eq!(book_outcome(&start), Ordering::Greater);
        let m = probe(&start).map(|(_, m)| m.to_string());
        assert_eq!(m, Some("4".to_owned()));
    }
}
