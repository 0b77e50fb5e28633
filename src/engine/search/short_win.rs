//! Short wins, looked for on their own.
//!
//! What a search leaves out or looks at less deeply may be the quiet move that wins soon: problems
//! are made of such moves. Whether there is a win within so many plies is a question of yes and no
//! that takes few nodes, since nothing needs to be estimated, and every position but the last needs
//! one refutation only. So it is asked beside the search, for a small part of what that costs, and
//! the answer is a proof (in the manner of mate solvers: compare Allis, "Searching for solutions in
//! games and artificial intelligence", 1994, on why proving is not estimating).

use super::budget::{Budget, Spent};
use super::findings::Findings;
use super::parts::Parts;
use super::pvs::{Searcher, TO_THE_END};
use super::window::Window;
use super::{Evaluate, Limits, Report, Score, Stop, Table};
use crate::game::GameHistory;

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
            let win = win_in(self.plies, search, pos);
            search.parts = parts;
            if let Some(win) = win? {
                return Ok(Some(win));
            }
            self.plies += 2;
            self.nodes = (search.budget.nodes() - before) * GROWTH;
        }
        Ok(None)
    }
}

/// A win within so many plies and its line, if there is one; with the parts of a proof.
fn win_in<P: Evaluate>(
    plies: u32,
    search: &mut Searcher<'_, P>,
    pos: &P,
) -> Result<Option<Findings<P::Move>>, Spent> {
    let window = Window {
        alpha: Score::win_in(plies + 1),
        beta: Score::BEST,
    };
    let score = search.value(pos, plies, 0, window)?;
    Ok((score > window.alpha).then(|| Findings::of_win(score, search.lines.at(0))))
}

/// The fastest win, if the seat to move can force one within so many plies; `None`, too, if a limit or
/// `stop` came first, and in games in which nobody is mated.
#[must_use]
pub fn win_within<P: Evaluate>(
    course: &GameHistory<P>,
    plies: u32,
    limits: &Limits,
    stop: &Stop,
    table: &Table,
) -> Option<Report<P::Move>> {
    if !P::MATES || course.outcome().is_some() {
        return None;
    }
    let pos = course.position();
    let budget = Budget::new(*limits, stop);
    let mut search = Searcher::new(budget, table, Parts::PROOF, course.key_history());
    search.budget.enforce().ok()?;
    search.begin(pos);
    for plies in (1..=plies.min(TO_THE_END - 1)).step_by(2) {
        if let Some(win) = win_in(plies, &mut search, pos).ok()? {
            return Some(Report::of_findings(win, &search));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::chess::Chess;
    use crate::search::search;

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
            let report =
                search(&GameHistory::from(pos), &limits, &Stop::new(), &table).expect(line);
            assert_eq!(report.score.plies_to_end(), Some(2 * moves - 1), "{line}");
            assert!(report.score.value() > 0, "{line}");
        }
    }

    #[test]
    fn a_win_is_found_within_so_many_plies_or_not_at_all() {
        let two_rooks: Chess = "7k/8/8/8/8/8/R7/1R5K w - - 0 1".parse().expect("FEN");
        let course = GameHistory::from(two_rooks);
        let ask = |plies, limits: &Limits, stop: &Stop| {
            let report = win_within(&course, plies, limits, stop, &Table::new(1 << 20))?;
            assert_eq!(report.pv.len(), 3);
            Some(report.score.plies_to_end())
        };
        let (limits, stop) = (Limits::default(), Stop::new());
        assert_eq!(ask(2, &limits, &stop), None);
        assert_eq!(ask(3, &limits, &stop), Some(Some(3)));
        assert_eq!(ask(u32::MAX, &limits, &stop), Some(Some(3)));
        assert_eq!(ask(3, &Limits::nodes(2), &stop), None);
        stop.stop();
        assert_eq!(ask(3, &limits, &stop), None);
    }
}
