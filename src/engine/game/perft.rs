//! Perft, "performance test, move path enumeration": counts every line of play, ply by ply. The
//! counts of well-known games are published, so rules that reproduce them can hardly be wrong.

use super::{GameHistory, KeyHistory, Outcome, Position};

/// What the lines of play of one length lead to. A position reached in two ways counts twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlyCount {
    /// All lines of this length.
    pub nodes: u64,
    /// Those that end the game with a win, by the winner's seat.
    pub wins: [u64; 2],
    /// Those that end the game without a winner.
    pub draws: u64,
}

impl PlyCount {
    /// Adds a line of play, by how the game ended with it if it did.
    fn add(&mut self, outcome: Option<Outcome>) {
        self.nodes += 1;
        match outcome {
            Some(Outcome::Decisive { winner }) => self.wins[winner.index()] += 1,
            Some(Outcome::Draw) => self.draws += 1,
            None => {}
        }
    }
}

/// Counts the lines of play from where the game stands, of every length from 0 to `plies`.
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

/// Walks the lines that lead on from `pos`, where the game has not ended. `key_history` and `moves` are
/// stacks shared by the whole walk; each position leaves them as they were.
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
        // Most lines are of the last ply, and a call for each of them would show.
        if outcome.is_none() && !later_counts.is_empty() {
            count_lines(&position_after, key_history, later_counts, moves);
        }
    }
    key_history.pop::<P>();
    moves.truncate(first);
}
