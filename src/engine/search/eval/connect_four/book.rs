//! What is known of the opening by heart: moves that keep the value of positions that take too long
//! to solve in the time of a move.
//!
//! The file beside this one is made by `tests/book/make.rs`, by solving. It holds the positions of
//! the first plies that can arise when the side to move has played by the book. Entries
//! are eight bytes each, lowest first, in ascending order: from the lowest bit on two bits of the
//! outcome for the side to move (0 a loss, 1 a draw, 2 a win), three of the move's file, and the
//! key of the position or of its mirror image, whichever is smaller.

use std::cmp::Ordering;

use crate::game::connect_four::{ConnectFour, Move};
use crate::game::{Outcome, Position};

static BOOK: &[u8] = include_bytes!("opening.book");

const OUTCOME_BITS: u32 = 2;
const MOVE_BITS: u32 = 3;

/// Up to this ply the book knows an answer to everything.
const LAST_PLY: u8 = 13;

/// How the game ends for the side to move with best play, and a move that keeps this: where the book has the
/// position, or enough of those that come next.
pub(super) fn find(pos: &ConnectFour) -> Option<(Ordering, Move)> {
    if pos.plies() > LAST_PLY {
        return None;
    }
    look_up(pos).or_else(|| by_what_follows(pos))
}

/// What the book has of the position itself.
fn look_up(pos: &ConnectFour) -> Option<(Ordering, Move)> {
    let (key, image) = (pos.unique_key(), pos.mirror_key());
    let (entries, _) = BOOK.as_chunks();
    let place = entries.binary_search_by_key(&key.min(image), key_of).ok()?;
    let [low, ..] = entries[place];
    let outcome = (low & ((1 << OUTCOME_BITS) - 1)).cmp(&1);
    let m = Move::from_file(low >> OUTCOME_BITS & ((1 << MOVE_BITS) - 1))?;
    Some((outcome, if image < key { m.mirrored() } else { m }))
}

/// The outcome of the best move, where the book has the positions after all moves, or one that loses for the
/// other side.
fn by_what_follows(pos: &ConnectFour) -> Option<(Ordering, Move)> {
    let mut moves = Vec::new();
    pos.legal_moves(&mut moves);
    let mut is_all = true;
    let mut best: Option<(Ordering, Move)> = None;
    for m in moves {
        let after = pos.after(m);
        let outcome = match after.outcome() {
            Some(Outcome::Decisive { .. }) => Some(Ordering::Greater),
            Some(Outcome::Draw) => Some(Ordering::Equal),
            None => look_up(&after).map(|(outcome, _)| outcome.reverse()),
        };
        is_all &= outcome.is_some();
        if let Some(outcome) = outcome
            && best.is_none_or(|(best, _)| best < outcome)
        {
            best = Some((outcome, m));
        }
    }
    best.filter(|(outcome, _)| is_all || outcome.is_gt())
}

fn key_of(entry: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*entry) >> (OUTCOME_BITS + MOVE_BITS)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::game::{GameHistory, Seat};
    use crate::search::oracle::children;
    use crate::search::{Evaluate, Limits, Score, Stop, Table, reaches, search};

    /// How the game ends with best play, for the side to move.
    fn outcome(pos: &ConnectFour) -> Ordering {
        look_up(pos).expect("in the book").0
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
        let mut layer = vec![ConnectFour::initial()];
        let mut seen = HashSet::new();
        while let Some(pos) = layer.pop() {
            if pos.outcome().is_some() || pos.plies() > LAST_PLY || !seen.insert(pos.key()) {
                continue;
            }
            if pos.turn() == seat {
                let (_, m) = look_up(&pos).expect("in the book");
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

    /// A position is worth what the best of those that come next is.
    #[test]
    fn what_follows_tells_the_same() {
        let mut checked = 0;
        for seat in Seat::ALL {
            walk(seat, &mut |pos, _| {
                if let Some((told, m)) = by_what_follows(pos) {
                    assert_eq!(told, outcome(pos), "{pos}");
                    checked += 1;
                    let (after, _) = find(&pos.after(m)).unwrap_or((told.reverse(), m));
                    assert_eq!(after.reverse(), told, "{pos}");
                }
            });
        }
        assert!(checked > 10, "{checked}");
    }

    /// Who answers a first move by heart need not have played by heart (Allis, 1988: the first player loses on
    /// the two outer files of either side, and draws on those next to the middle).
    #[test]
    fn a_search_knows_what_every_first_move_is_worth() {
        let (limits, stop) = (Limits::nodes(1000), Stop::new());
        let values = ["1", "2", "3", "4", "5", "6", "7"].map(|m| {
            let mut course = GameHistory::<ConnectFour>::initial();
            course.play(m.parse().expect(m)).expect("it is legal");
            let (table, mut values) = (Table::new(1 << 16), Vec::new());
            // And one ply later, where the first player has not played by the book.
            for _ in 0..2 {
                let report = search(&course, &limits, &stop, &table).expect("it goes on");
                values.push((report.score.cmp(&Score::DRAW), report.score.is_decided()));
                course.play(report.pv[0]).expect("it is legal");
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

    /// The first player wins, and begins in the middle (Allen and Allis, 1988).
    #[test]
    fn the_game_is_won_by_the_first_player() {
        let start = ConnectFour::initial();
        assert_eq!(outcome(&start), Ordering::Greater);
        let m = find(&start).map(|(_, m)| m.to_string());
        assert_eq!(m, Some("4".to_owned()));
    }
}
