//! Perft, "performance test, move path enumeration": counts every line of play, ply by ply. The
//! counts of well-known games are published, so rules that reproduce them can hardly be wrong.

use super::{Course, Outcome, Past, Position};

/// What the lines of play of one length lead to. A position reached in two ways counts twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlyCount {
    /// All lines of this length.
    pub nodes: u64,
    /// Those that end the game with a win, by the winner's seat.
    pub won: [u64; 2],
    /// Those that end the game without a winner.
    pub drawn: u64,
}

impl PlyCount {
    /// Adds a line of play, by how the game ended with it if it did.
    fn add(&mut self, outcome: Option<Outcome>) {
        self.nodes += 1;
        match outcome {
            Some(Outcome::Decisive { winner }) => self.won[winner.index()] += 1,
            Some(Outcome::Draw) => self.drawn += 1,
            None => {}
        }
    }
}

/// Counts the lines of play from where the game stands, of every length from 0 to `plies`.
#[must_use]
pub fn perft<P: Position>(course: &Course<P>, plies: usize) -> Vec<PlyCount> {
    let mut counts = vec![PlyCount::default(); plies + 1];
    let outcome = course.outcome();
    counts[0].add(outcome);
    if outcome.is_none() {
        let mut past = course.past().clone();
        walk(
            course.position(),
            &mut past,
            &mut counts[1..],
            &mut Vec::new(),
        );
    }
    counts
}

/// Walks the lines that lead on from `pos`, where the game has not ended. `past` and `moves` are
/// stacks shared by the whole walk; each position leaves them as they were.
fn walk<P: Position>(pos: &P, past: &mut Past, counts: &mut [PlyCount], moves: &mut Vec<P::Move>) {
    let Some((next, further)) = counts.split_first_mut() else {
        return;
    };
    let first = moves.len();
    pos.legal_moves(moves);
    past.push(pos);
    for index in first..moves.len() {
        let after = pos.after(moves[index]);
        if past.forbids(&after) {
            continue;
        }
        let repeated = || past.ends(&after).then_some(Outcome::Draw);
        let outcome = after.outcome().or_else(repeated);
        next.add(outcome);
        // Most lines are of the last ply, and a call for each of them would show.
        if outcome.is_none() && !further.is_empty() {
            walk(&after, past, further, moves);
        }
    }
    past.pop::<P>();
    moves.truncate(first);
}
