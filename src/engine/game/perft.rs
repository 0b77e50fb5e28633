//! Perft ("performance test, move path enumeration") counts all lines of play for each number of
//! plies. The counts of well-known games are published, so rules that reproduce them are very
//! likely correct.

use super::{GameHistory, KeyHistory, Outcome, Position};

/// Counts of the lines of play that have a given number of plies. A position that is reached by two
/// lines counts twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlyCount {
    /// Number of lines of play with this number of plies.
    pub nodes: u64,
    /// Number of lines of play that end with a win, for each winning seat.
    pub wins: [u64; 2],
    /// Number of lines that end the game in a draw.
    pub draws: u64,
}

impl PlyCount {
    /// Counts one line of play. `outcome` is `None` if the line does not end the game.
    fn add(&mut self, outcome: Option<Outcome>) {
        self.nodes += 1;
        match outcome {
            Some(Outcome::Decisive { winner }) => self.wins[winner.index()] += 1,
            Some(Outcome::Draw) => self.draws += 1,
            None => {}
        }
    }
}

/// Counts the lines of play from the current position of the game, for every length from 0 to
/// `plies`.
#[must_use]
pub fn perft<P: Position>(history: &GameHistory<P>, plies: usize) -> Vec<PlyCount> {
    let mut counts = vec![PlyCount::default(); plies + 1];
    let outcome = history.outcome();
    counts[0].add(outcome);
    if outcome.is_none() {
        let mut key_history = history.key_history().clone();
        count_lines(
            history.position(),
            &mut key_history,
            &mut counts[1..],
            &mut Vec::new(),
        );
    }
    counts
}

/// Counts the lines of play that continue from `pos`. The game must not have ended in `pos`. The
/// recursive calls share the stacks `key_history` and `moves`. Each call restores both stacks
/// before it returns.
fn count_lines<P: Position>(
    pos: &P,
    key_history: &mut KeyHistory,
    counts: &mut [PlyCount],
    moves: &mut Vec<P::Move>,
) {
    let Some((next_count, later_counts)) = counts.split_first_mut() else {
        return;
    };
    let first = moves.len();
    pos.legal_moves(moves);
    key_history.push(pos);
    for index in first..moves.len() {
        let position_after = pos.after(moves[index]);
        if key_history.forbids(&position_after) {
            continue;
        }
        let repetition_draw = || {
            key_history
                .is_repetition_draw(&position_after)
                .then_some(Outcome::Draw)
        };
        let outcome = position_after.outcome().or_else(repetition_draw);
        next_count.add(outcome);
        // Lines of the maximum length are counted without a recursive call. These lines are the
        // most numerous, and a call for each of them would be measurably slower.
        if outcome.is_none() && !later_counts.is_empty() {
            count_lines(&position_after, key_history, later_counts, moves);
        }
    }
    key_history.pop::<P>();
    moves.truncate(first);
}
