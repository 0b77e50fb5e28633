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

/// Counts the lines of play from where the game stands, of every length from 0 to `plies`.
#[must_use]
pub fn perft<P: Position>(course: &Course<P>, plies: usize) -> Vec<PlyCount> {
    let mut counts = vec![PlyCount::default(); plies + 1];
    let mut past = course.past().clone();
    visit(course.position(), &mut past, &mut counts, &mut Vec::new());
    counts
}

/// `past` and `moves` are stacks shared by the whole walk; each position leaves them as they were.
fn visit<P: Position>(pos: &P, past: &mut Past, counts: &mut [PlyCount], moves: &mut Vec<P::Move>) {
    let Some((here, deeper)) = counts.split_first_mut() else {
        return;
    };
    here.nodes += 1;
    match pos.outcome() {
        Some(Outcome::Decisive { winner }) => here.won[winner.index()] += 1,
        Some(Outcome::Draw) => here.drawn += 1,
        None if past.ends(pos) => here.drawn += 1,
        None if deeper.is_empty() => {}
        None => {
            let first = moves.len();
            pos.legal_moves(moves);
            past.push(pos);
            for index in first..moves.len() {
                let after = pos.after(moves[index]);
                if !past.forbids(&after) {
                    visit(&after, past, deeper, moves);
                }
            }
            past.pop::<P>();
            moves.truncate(first);
        }
    }
}
