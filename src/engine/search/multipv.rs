//! Multi-PV search: finds several lines of play with different first moves, best first. User
//! interfaces show such lines side by side. The caller can also restrict the search to given first
//! moves.

use super::budget::BudgetExhausted;
use super::iterative_deepening::{DEPTH_MAX, move_to_front};
use super::pvs::Searcher;
use super::search_result::SearchResult;
use super::{Evaluate, Limits, Report, Stop, TranspositionTable, with_helper_threads};
use crate::game::GameHistory;

/// Returns the best lines of play with different first moves, best first. The result has `count`
/// lines, or fewer if there are not enough moves. If `allowed_moves` is not empty, only these moves
/// are searched.
///
/// Returns an empty list if the game is over or if no allowed move is legal.
///
/// The search continues until all results are final, a limit is reached or `stop` is set. It does
/// not use the opening book. It calls `on_progress` after every depth of each line, with the index
/// of the line.
#[must_use]
pub fn best_lines<P: Evaluate>(
    history: &GameHistory<P>,
    allowed_moves: &[P::Move],
    count: usize,
    limits: &Limits,
    stop: &Stop,
    table: &TranspositionTable,
    on_progress: &mut dyn FnMut(usize, &Report<P::Move>),
) -> Vec<Report<P::Move>> {
    let mut root_moves = Vec::new();
    if history.outcome().is_none() {
        history.legal_moves(&mut root_moves);
    }
    root_moves.retain(|m| allowed_moves.is_empty() || allowed_moves.contains(m));
    with_helper_threads(history, limits, stop, table, |mut search| {
        let mut multipv = MultiPv {
            results: Vec::new(),
            root_moves,
            line_count: count,
        };
        let pos = history.position();
        for depth in 1..=limits.depth.unwrap_or(DEPTH_MAX).clamp(1, DEPTH_MAX) {
            let is_exhausted = depth > 1 && search.budget.enforce().is_err();
            if is_exhausted
                || multipv
                    .deepen_all_lines(&mut search, pos, depth, on_progress)
                    .is_err()
            {
                break;
            }
            if multipv.results.iter().all(SearchResult::is_final::<P>) {
                break;
            }
        }
        let report = |result| Report::from_search_result(result, &search);
        multipv.results.into_iter().map(report).collect()
    })
}

/// State of a multi-PV search.
struct MultiPv<M> {
    /// Result of each line, best first.
    results: Vec<SearchResult<M>>,
    /// Moves that a line may start with, most promising first.
    root_moves: Vec<M>,
    line_count: usize,
}

impl<M: Copy + Eq> MultiPv<M> {
    /// Searches every line to `depth`. If the budget is exhausted, the remaining lines keep their
    /// earlier results.
    fn deepen_all_lines<P: Evaluate<Move = M>>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
        depth: u32,
        on_progress: &mut dyn FnMut(usize, &Report<M>),
    ) -> Result<(), BudgetExhausted> {
        let mut remaining = self.root_moves.clone();
        for number in 0..self.line_count.min(self.root_moves.len()) {
            let estimates = search.estimate_count;
            let previous = self
                .results
                .get(number)
                .cloned()
                .unwrap_or(SearchResult::NONE);
            let mut iteration = SearchResult {
                depth,
                ..SearchResult::NONE
            };
            iteration.search_with_aspiration_windows(search, pos, &remaining, None, &previous)?;
            iteration.is_exact = search.estimate_count == estimates;
            let Some(best) = iteration.pv.first().copied() else {
                break;
            };
            remaining.retain(|m| *m != best);
            self.set_line(number, best, iteration);
            move_to_front(&mut self.root_moves, number, best);
            let report = Report::from_search_result(self.results[number].clone(), search);
            on_progress(number, &report);
        }
        // Each line is searched separately, and the table contents change between these searches. A
        // later line can therefore have a better score than an earlier line.
        self.results
            .sort_by_key(|result| std::cmp::Reverse(result.score));
        Ok(())
    }

    /// Stores `result` as the line with index `number`. `best` is the first move of the result. If
    /// a line with a higher index already starts with `best`, that line is discarded. The line
    /// previously stored at `number` then moves to the higher index.
    fn set_line(&mut self, number: usize, best: M, result: SearchResult<M>) {
        let existing = (self.results.iter()).position(|found| found.pv.first() == Some(&best));
        match existing {
            Some(other) if other > number => {
                self.results[other] = std::mem::replace(&mut self.results[number], result);
            }
            _ if number < self.results.len() => self.results[number] = result,
            _ => self.results.push(result),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Position;
    use crate::game::chess::Chess;
    use crate::search::search;

    fn best_lines_of(
        fen: &str,
        allowed_moves: &[&str],
        count: usize,
        depth: u32,
    ) -> Vec<(String, i32)> {
        let pos: Chess = fen.parse().expect(fen);
        let allowed_moves: Vec<_> = allowed_moves.iter().map(|m| m.parse().expect(m)).collect();
        let (limits, stop, table) = (
            Limits::depth(depth),
            Stop::new(),
            TranspositionTable::new(1 << 20),
        );
        let history = GameHistory::from(pos);
        let mut reported = Vec::new();
        let mut on_progress = |number: usize, _: &Report<_>| reported.push(number);
        let found = best_lines(
            &history,
            &allowed_moves,
            count,
            &limits,
            &stop,
            &table,
            &mut on_progress,
        );
        for (number, report) in found.iter().enumerate() {
            assert!(reported.contains(&number));
            let mut line = history.clone();
            for m in &report.pv {
                line.play(*m).expect("the line is legal");
            }
        }
        let to_move_and_score = |report: &Report<<Chess as Position>::Move>| {
            (report.pv[0].to_string(), report.score.value())
        };
        found.iter().map(to_move_and_score).collect()
    }

    const TWO_MATES: &str = "7k/8/8/8/8/8/R7/1R5K w - - 0 1";

    #[test]
    fn lines_have_distinct_first_moves_in_descending_order() {
        let found = best_lines_of(TWO_MATES, &[], 5, 5);
        assert_eq!(found.len(), 5);
        assert!(found.is_sorted_by_key(|(_, score)| -score), "{found:?}");
        let moves: std::collections::BTreeSet<_> = found.iter().map(|(m, _)| m).collect();
        assert_eq!(moves.len(), 5, "{found:?}");
        // Each rook can start a mate in two, so the two best lines must have the same score.
        assert_eq!((found[0].1, found[1].1), (31_997, 31_997), "{found:?}");
        let start = Chess::initial().to_string();
        assert_eq!(best_lines_of(&start, &[], 100, 1).len(), 20);
        assert_eq!(
            best_lines_of("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", &[], 3, 2),
            []
        );
    }

    #[test]
    fn only_the_allowed_moves_are_searched() {
        let start = Chess::initial().to_string();
        let found = best_lines_of(&start, &["a2a3", "h2h4"], 4, 4);
        let mut moves: Vec<_> = found.iter().map(|(m, _)| m.as_str()).collect();
        moves.sort_unstable();
        assert_eq!(moves, ["a2a3", "h2h4"]);
        assert_eq!(best_lines_of(&start, &["a2a5"], 1, 4), []);
    }

    #[test]
    fn single_line_equals_the_result_of_a_search() {
        let (limits, stop) = (Limits::depth(4), Stop::new());
        let history = GameHistory::<Chess>::initial();
        let report = search(&history, &limits, &stop, &TranspositionTable::new(1 << 20))
            .expect("the game is not over");
        let start = Chess::initial().to_string();
        let best = &best_lines_of(&start, &[], 1, 4)[0];
        assert_eq!(best, &(report.pv[0].to_string(), report.score.value()));
    }
}
