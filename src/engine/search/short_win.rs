//! Short wins, looked for on their own.
//!
//! What a search leaves out or looks at less deeply may be the quiet move that wins soon: problems
//! are made of such moves. Whether there is a win within so many plies is a question of yes and no
//! that takes few nodes, since nothing needs to be estimated, and every position but the last needs
//! one refutation only. So it is asked beside the search, for a small part of what that costs, and
//! the answer is a proof (in the manner of mate solvers: compare Allis, "Searching for solutions in
//! games and artificial intelligence", 1994, on why proving is not estimating).

use super::budget::Spent;
use super::findings::Findings;
use super::parts::Parts;
use super::pvs::Searcher;
use super::window::Window;
use super::{Evaluate, Score};

/// Two plies more take about so many times the nodes.
const GROWTH: u64 = 24;

/// The part of all nodes that may be spent.
const SHARE: u64 = 5;

/// What may be spent on finding out whether a win that is known is the fastest.
const AFFORDED: u64 = 1 << 20;

/// How far short wins have been looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortWins {
    /// The next question: a win within so many plies.
    plies: u32,
    /// Nothing is asked about more plies than this.
    plies_max: u32,
    /// What that is expected to take.
    nodes: u64,
}

impl ShortWins {
    /// Nothing has been asked yet.
    pub(super) const fn up_to(plies_max: u32) -> Self {
        Self {
            plies: 1,
            plies_max,
            nodes: 1,
        }
    }

    /// The fastest win and its line, if there is one within so many plies as can be afforded. Of a
    /// win that is `known` only faster ones matter.
    pub(super) fn look<P: Evaluate>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
        known: Option<u32>,
    ) -> Result<Option<Findings<P::Move>>, Spent> {
        if !P::MATES || !search.parts.reductions {
            return Ok(None);
        }
        let afforded = if known.is_some() { AFFORDED } else { 0 };
        while self.plies <= self.plies_max
            && known.is_none_or(|plies| self.plies < plies)
            && self.nodes <= afforded.max(search.budget.nodes() / SHARE)
        {
            let before = search.budget.nodes();
            let parts = std::mem::replace(&mut search.parts, Parts::PROOF);
            let window = Window {
                alpha: Score::win_in(self.plies + 1),
                beta: Score::BEST,
            };
            let score = search.value(pos, self.plies, 0, window);
            search.parts = parts;
            let score = score?;
            if score > window.alpha {
                return Ok(Some(Findings::of_win(score, search.lines.at(0))));
            }
            self.plies += 2;
            self.nodes = (search.budget.nodes() - before) * GROWTH;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use crate::game::Course;
    use crate::game::chess::Chess;
    use crate::search::{Limits, Stop, Table, search};

    /// More nodes than any of the positions takes.
    const NODES: u64 = 400_000;

    #[test]
    fn the_fastest_mate_is_found() {
        let file = include_str!("../../../tests/data/chess.mates");
        let mut table = Table::new(1 << 22);
        let limits = Limits::nodes(NODES);
        for line in file.lines().filter(|line| !line.starts_with('#')) {
            let (moves, fen) = line.split_once(' ').expect(line);
            let moves: u32 = moves.parse().expect(line);
            let pos: Chess = fen.parse().expect(line);
            table.forget();
            let report = search(&Course::from(pos), &limits, &Stop::new(), &table).expect(line);
            assert_eq!(report.score.plies_to_end(), Some(2 * moves - 1), "{line}");
            assert!(report.score.value() > 0, "{line}");
        }
    }
}
