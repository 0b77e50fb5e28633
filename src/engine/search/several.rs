//! Several lines of play, the best first: what interfaces show as variations beside each other, and
//! what is best among some moves only.

use super::budget::Spent;
use super::deepening::{DEPTH_MAX, order};
use super::findings::Findings;
use super::pvs::Searcher;
use super::{Evaluate, Limits, Report, Stop, Table, with_help};
use crate::game::GameHistory;

/// The best lines of play that begin with different moves, the best first: `count` of them, or as many
/// as there are. Where `only` names moves, no others are looked at. Empty once there is an outcome, and
/// if none of those moves is legal.
///
/// Looks always as far ahead as limits and `stop` allow, and plays nothing by heart. `watch` is told
/// after every depth of each line, with its number from 0 on.
#[must_use]
pub fn best_lines<P: Evaluate>(
    course: &GameHistory<P>,
    only: &[P::Move],
    count: usize,
    limits: &Limits,
    stop: &Stop,
    table: &Table,
    watch: &mut dyn FnMut(usize, &Report<P::Move>),
) -> Vec<Report<P::Move>> {
    let mut roots = Vec::new();
    if course.outcome().is_none() {
        course.legal_moves(&mut roots);
    }
    roots.retain(|m| only.is_empty() || only.contains(m));
    with_help(course, limits, stop, table, |mut search| {
        let mut lines = Lines {
            found: Vec::new(),
            roots,
            count,
        };
        let pos = course.position();
        for depth in 1..=limits.depth.unwrap_or(DEPTH_MAX).clamp(1, DEPTH_MAX) {
            let is_over = depth > 1 && search.budget.enforce().is_err();
            if is_over || lines.deepen(&mut search, pos, depth, watch).is_err() {
                break;
            }
            if lines.found.iter().all(Findings::is_final::<P>) {
                break;
            }
        }
        let report = |found| Report::of_findings(found, &search);
        lines.found.into_iter().map(report).collect()
    })
}

/// What is known so far.
struct Lines<M> {
    /// The best first.
    found: Vec<Findings<M>>,
    /// The moves that lines may begin with, the most promising first.
    roots: Vec<M>,
    count: usize,
}

impl<M: Copy + Eq> Lines<M> {
    /// Looks for every line a ply farther. If the budget ends before, the lines that were not come to stay
    /// as they were.
    fn deepen<P: Evaluate<Move = M>>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
        depth: u32,
        watch: &mut dyn FnMut(usize, &Report<M>),
    ) -> Result<(), Spent> {
        let mut rest = self.roots.clone();
        for number in 0..self.count.min(self.roots.len()) {
            let estimates = search.estimates;
            let last = self.found.get(number).cloned().unwrap_or(Findings::NONE);
            let mut look = Findings {
                depth,
                ..Findings::NONE
            };
            look.aspire(search, pos, &rest, None, &last)?;
            look.complete = search.estimates == estimates;
            let Some(best) = look.pv.first().copied() else {
                break;
            };
            rest.retain(|m| *m != best);
            self.put(number, best, look);
            order(&mut self.roots, number, best);
            let report = Report::of_findings(self.found[number].clone(), search);
            watch(number, &report);
        }
        // Each line was searched by itself, with what the table knew by then, so one may have come out
        // better than one before it.
        self.found
            .sort_by_key(|found| std::cmp::Reverse(found.score));
        Ok(())
    }

    /// The line with this number is now this one, which begins with `best`. Of a later line that began so
    /// the place is filled by what stood here.
    fn put(&mut self, number: usize, best: M, look: Findings<M>) {
        let other = (self.found.iter()).position(|found| found.pv.first() == Some(&best));
        match other {
            Some(other) if other > number => {
                self.found[other] = std::mem::replace(&mut self.found[number], look);
            }
            _ if number < self.found.len() => self.found[number] = look,
            _ => self.found.push(look),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Position;
    use crate::game::chess::Chess;
    use crate::search::search;

    fn lines(fen: &str, only: &[&str], count: usize, depth: u32) -> Vec<(String, i32)> {
        let pos: Chess = fen.parse().expect(fen);
        let only: Vec<_> = only.iter().map(|m| m.parse().expect(m)).collect();
        let (limits, stop, table) = (Limits::depth(depth), Stop::new(), Table::new(1 << 20));
        let course = GameHistory::from(pos);
        let mut told = Vec::new();
        let mut watch = |number: usize, _: &Report<_>| told.push(number);
        let found = best_lines(&course, &only, count, &limits, &stop, &table, &mut watch);
        for (number, report) in found.iter().enumerate() {
            assert!(told.contains(&number));
            let mut line = course.clone();
            for m in &report.pv {
                line.play(*m).expect("a line can be played");
            }
        }
        let told = |report: &Report<<Chess as Position>::Move>| {
            (report.pv[0].to_string(), report.score.value())
        };
        found.iter().map(told).collect()
    }

    const TWO_MATES: &str = "7k/8/8/8/8/8/R7/1R5K w - - 0 1";

    #[test]
    fn lines_begin_with_different_moves_and_the_best_comes_first() {
        let found = lines(TWO_MATES, &[], 5, 5);
        assert_eq!(found.len(), 5);
        assert!(found.is_sorted_by_key(|(_, score)| -score), "{found:?}");
        let moves: std::collections::BTreeSet<_> = found.iter().map(|(m, _)| m).collect();
        assert_eq!(moves.len(), 5, "{found:?}");
        // Either rook begins the mate in two.
        assert_eq!((found[0].1, found[1].1), (31_997, 31_997), "{found:?}");
        let start = Chess::initial().to_string();
        assert_eq!(lines(&start, &[], 100, 1).len(), 20);
        assert_eq!(lines("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", &[], 3, 2), []);
    }

    #[test]
    fn no_move_is_looked_at_that_was_not_asked_for() {
        let start = Chess::initial().to_string();
        let found = lines(&start, &["a2a3", "h2h4"], 4, 4);
        let mut moves: Vec<_> = found.iter().map(|(m, _)| m.as_str()).collect();
        moves.sort_unstable();
        assert_eq!(moves, ["a2a3", "h2h4"]);
        assert_eq!(lines(&start, &["a2a5"], 1, 4), []);
    }

    /// A line by itself is what a search finds.
    #[test]
    fn the_best_line_is_that_of_a_search() {
        let (limits, stop) = (Limits::depth(4), Stop::new());
        let course = GameHistory::<Chess>::initial();
        let alone = search(&course, &limits, &stop, &Table::new(1 << 20)).expect("it goes on");
        let start = Chess::initial().to_string();
        let best = &lines(&start, &[], 1, 4)[0];
        assert_eq!(best, &(alone.pv[0].to_string(), alone.score.value()));
    }
}
