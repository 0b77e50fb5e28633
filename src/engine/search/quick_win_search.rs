//! Separate search for short wins.
//!
//! Pruning and reductions may hide a quiet move that wins soon, as in composed chess problems. A
//! search that only asks whether a win exists within a given number of plies visits few nodes. Such
//! a search evaluates no position. To reject an attacking move, it needs to find only one
//! sufficient defence.
//!
//! This search therefore runs in addition to the normal search and costs only a small fraction of
//! it. Every win that it finds is proven. Mate solvers use the same method. Compare Allis,
//! "Searching for solutions in games and artificial intelligence", 1994, on the difference between
//! proving and estimating.

use super::budget::BudgetExhausted;
use super::pvs::{FULL_DEPTH, Searcher};
use super::search_options::SearchOptions;
use super::search_result::SearchResult;
use super::search_window::Window;
use super::{Evaluate, Limits, Report, Score, Stop, TranspositionTable};
use crate::game::GameHistory;

/// Factor by which the node count is expected to grow when the search looks two plies further.
const NODES_GROWTH: u64 = 24;

/// The next search for a short win starts only if its expected node count is small enough. The
/// limit is the total node count so far divided by `NODES_DIVISOR`. If a win is already known,
/// `FASTER_WIN_NODES_MAX` may allow a larger node count.
const NODES_DIVISOR: u64 = 5;

/// If a win is already known, the search for a faster win may start whenever its expected node
/// count is at most this number.
const FASTER_WIN_NODES_MAX: u64 = 1 << 20;

/// Progress of the search for short wins.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuickWinSearch {
    /// Number of plies that the next search covers.
    next_plies: u32,
    /// Maximum number of plies for any search.
    plies_max: u32,
    /// Expected node count of the next search.
    expected_nodes: u64,
}

impl QuickWinSearch {
    /// Starts with a search for a win in one ply.
    pub(super) const fn new(plies_max: u32) -> Self {
        Self {
            next_plies: 1,
            plies_max,
            expected_nodes: 1,
        }
    }

    /// Returns the fastest win and its line of play, if a win exists within the plies that the node
    /// budget allows. If a win is already known, `known_win_plies` is the number of plies to this
    /// win, and the function searches only for faster wins.
    pub(super) fn run<P: Evaluate>(
        &mut self,
        search: &mut Searcher<'_, P>,
        pos: &P,
        known_win_plies: Option<u32>,
    ) -> Result<Option<SearchResult<P::Move>>, BudgetExhausted> {
        if !P::WINS_BY_MATE || !search.options.late_move_reductions {
            return Ok(None);
        }
        let nodes_allowed = if known_win_plies.is_some() {
            FASTER_WIN_NODES_MAX
        } else {
            0
        };
        while self.next_plies <= self.plies_max
            && known_win_plies.is_none_or(|plies| self.next_plies < plies)
            && self.expected_nodes <= nodes_allowed.max(search.budget.nodes() / NODES_DIVISOR)
        {
            let nodes_before = search.budget.nodes();
            let options = std::mem::replace(&mut search.options, SearchOptions::PROOF);
            let win = find_win_in(self.next_plies, search, pos);
            search.options = options;
            if let Some(win) = win? {
                return Ok(Some(win));
            }
            self.next_plies += 2;
            self.expected_nodes = (search.budget.nodes() - nodes_before) * NODES_GROWTH;
        }
        Ok(None)
    }
}

/// Returns a win within `plies` plies and its line of play, if there is one. The search must use
/// [`SearchOptions::PROOF`].
fn find_win_in<P: Evaluate>(
    plies: u32,
    search: &mut Searcher<'_, P>,
    pos: &P,
) -> Result<Option<SearchResult<P::Move>>, BudgetExhausted> {
    let window = Window {
        alpha: Score::win_in(plies + 1),
        beta: Score::BEST,
    };
    let score = search.search_position(pos, plies, 0, window)?;
    Ok((score > window.alpha).then(|| SearchResult::from_win(score, search.pv_table.line_at(0))))
}

/// Returns the fastest win that the seat to move can force within `plies` plies, if there is one.
///
/// Also returns `None` if the game is over, if a limit is reached or if `stop` is set. In games
/// that do not end by mate, the result is always `None`.
#[must_use]
pub fn find_win_within<P: Evaluate>(
    history: &GameHistory<P>,
    plies: u32,
    limits: &Limits,
    stop: &Stop,
    table: &TranspositionTable,
) -> Option<Report<P::Move>> {
    if !P::WINS_BY_MATE || history.outcome().is_some() {
        return None;
    }
    let pos = history.position();
    let (options, keys) = (SearchOptions::PROOF, history.key_history());
    let mut search = Searcher::new(*limits, stop, table, options, keys);
    search.budget.enforce().ok()?;
    search.set_root(pos);
    for plies in (1..=plies.min(FULL_DEPTH - 1)).step_by(2) {
        if let Some(win) = find_win_in(plies, &mut search, pos).ok()? {
            return Some(Report::from_search_result(win, &search));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::chess::Chess;
    use crate::search::search;

    /// Node limit that is high enough for every tested position.
    const NODES_MAX: u64 = 400_000;

    #[test]
    fn search_finds_the_fastest_mate() {
        let file = include_str!("../../../tests/data/chess.mates");
        let mut table = TranspositionTable::new(1 << 22);
        let limits = Limits::nodes(NODES_MAX);
        for line in file.lines().filter(|line| !line.starts_with('#')) {
            let (moves, fen) = line.split_once(' ').expect(line);
            let moves: u32 = moves.parse().expect(line);
            let pos: Chess = fen.parse().expect(line);
            table.clear();
            let report =
                search(&GameHistory::from(pos), &limits, &Stop::new(), &table).expect(line);
            assert_eq!(report.score.plies_to_end(), Some(2 * moves - 1), "{line}");
            assert!(report.score.value() > 0, "{line}");
        }
    }

    #[test]
    fn win_is_found_only_within_the_ply_and_node_limits() {
        let two_rooks: Chess = "7k/8/8/8/8/8/R7/1R5K w - - 0 1"
            .parse()
            .expect("the FEN is valid");
        let history = GameHistory::from(two_rooks);
        let find_plies = |plies, limits: &Limits, stop: &Stop| {
            let report = find_win_within(
                &history,
                plies,
                limits,
                stop,
                &TranspositionTable::new(1 << 20),
            )?;
            assert_eq!(report.pv.len(), 3);
            Some(report.score.plies_to_end())
        };
        let (limits, stop) = (Limits::default(), Stop::new());
        assert_eq!(find_plies(2, &limits, &stop), None);
        assert_eq!(find_plies(3, &limits, &stop), Some(Some(3)));
        assert_eq!(find_plies(u32::MAX, &limits, &stop), Some(Some(3)));
        assert_eq!(find_plies(3, &Limits::nodes(2), &stop), None);
        stop.stop();
        assert_eq!(find_plies(3, &limits, &stop), None);
    }
}
