//! Search for the best move, generic over games: minimax, Monte-Carlo tree search and the bot
//! levels.
//!
//! By default, a search runs on the thread of its caller until it is complete, a limit is reached
//! or [`Stop`] is set. Helper threads start only if the limits allow more than one thread. All
//! randomness comes from a seed.
//!
//! A search is therefore reproducible: equal arguments and equal table contents give the same
//! result. The exceptions are searches that a time limit or [`Stop`] interrupts, and searches with
//! several threads.

pub mod alpha_beta;
pub mod analysis;
mod budget;
mod draw_offer_policy;
mod eval;
mod evaluate_trait;
mod iterative_deepening;
mod level;
pub(crate) mod mcts;
pub mod minimax;
#[cfg(test)]
mod minimax_comparison_tests;
mod move_ordering;
mod move_selection;
mod move_stack;
mod multipv;
mod parallel;
mod pv_table;
mod pvs;
mod quick_win_search;
mod report;
mod score;
mod search_options;
mod search_path;
mod search_result;
mod search_window;
pub mod seeded_rng;
mod solver;
mod time_management;
mod transposition_table;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use draw_offer_policy::DrawAssessment;
pub use eval::{ChessFeatures, DraughtsFeatures, GomokuFeatures, OthelloFeatures};
pub use evaluate_trait::{Evaluate, StoneFate, VisibleFeatures};
pub use level::{LEVELS_VERSION, Level, ParseLevelError};
pub use mcts::{MctsPlayer, MctsSearch};
pub use move_selection::{choose_move, choose_move_with_progress};
pub use move_stack::{EARLY_RANK_MIN, LATE_RANK_MAX, MoveStack};
pub use multipv::best_lines;
pub use quick_win_search::find_win_within;
pub use report::{Certainty, MoveValue, Playouts, Report};
pub use score::Score;
pub use search_window::Bounds;
pub use time_management::{BotClock, Clock};
pub use transposition_table::TranspositionTable;

use self::iterative_deepening::deepen_until;
use self::pvs::Searcher;
use self::search_options::SearchOptions;
use self::search_result::SearchResult;
use self::search_window::NullWindow;
use self::solver::Proof;
use crate::game::{GameHistory, KeyHistory};

/// Limits of a search. Without limits, a search ends only when its value is final, or when it
/// reaches the engine's maximum depth or number of playouts.
///
/// The function [`search`] always completes the first ply, even if that exceeds the limits, so that
/// it has a move to return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Maximum search depth in plies. Lines with noisy moves, such as captures, may be searched
    /// further.
    pub depth: Option<u32>,
    /// Maximum number of positions to visit, or of playouts in a search by playouts. A search on
    /// one thread with this limit is reproducible.
    pub nodes: Option<u64>,
    /// Maximum duration. Has no effect on `wasm32-unknown-unknown`, which has no clock.
    pub time: Option<Duration>,
    /// Number of threads, one by default. A search with several threads is not reproducible.
    pub threads: Option<NonZeroUsize>,
}

impl Limits {
    /// Creates limits with a maximum depth in plies.
    #[must_use]
    pub const fn depth(plies: u32) -> Self {
        Self {
            depth: Some(plies),
            ..Self::NONE
        }
    }

    /// Creates limits with a maximum number of positions to visit.
    #[must_use]
    pub const fn nodes(nodes: u64) -> Self {
        Self {
            nodes: Some(nodes),
            ..Self::NONE
        }
    }

    /// Creates limits with a maximum duration.
    #[must_use]
    pub const fn time(time: Duration) -> Self {
        Self {
            time: Some(time),
            ..Self::NONE
        }
    }

    const NONE: Self = Self {
        depth: None,
        nodes: None,
        time: None,
        threads: None,
    };
}

/// A flag that ends a search early. When the flag is set, the search returns the result it has so
/// far. Clones share the flag, and a flag that is set cannot be cleared.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Creates a flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag.
    pub fn stop(&self) {
        // No other data is published through the flag, so relaxed ordering is sufficient.
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the flag is set.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Depth, in plies, of the preview search. A preview is a shallow search that runs before the
/// search to the end of the game. It provides a result in case the search to the end takes too
/// long.
const PREVIEW_DEPTH: u32 = 10;

/// Divisor that reduces the node and time limits of the whole search to the limits of one preview.
const PREVIEW_BUDGET_DIVISOR: u32 = 10;

/// Searches the current position and returns its value and the best line of play. Returns `None` if
/// the game is over.
///
/// If a limit is reached or `stop` is set, the function returns its best result so far. The search
/// reads and writes the table. For a reproducible result, [clear](TranspositionTable::clear) the
/// table first.
#[must_use]
pub fn search<P: Evaluate>(
    history: &GameHistory<P>,
    limits: &Limits,
    stop: &Stop,
    table: &TranspositionTable,
) -> Option<Report<P::Move>> {
    search_with_progress(history, limits, stop, table, &mut |_| {})
}

/// Searches like [`search`], and calls `on_progress` with the result so far after every depth.
#[must_use]
pub fn search_with_progress<P: Evaluate>(
    history: &GameHistory<P>,
    limits: &Limits,
    stop: &Stop,
    table: &TranspositionTable,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Option<Report<P::Move>> {
    if history.outcome().is_some() {
        return None;
    }
    let report = with_helper_threads(history, limits, stop, table, |mut search| {
        search_root(&mut search, history.position(), limits, on_progress)
    });
    Some(report)
}

/// Searches the current position with the method that bots use at full strength. In games whose
/// bots use playouts, this is Monte-Carlo tree search. In other games, it is
/// [`search_with_progress`].
///
/// Returns `None` if the game is over.
#[must_use]
pub fn search_at_full_strength<P: Evaluate>(
    history: &GameHistory<P>,
    limits: &Limits,
    stop: &Stop,
    table: &mut TranspositionTable,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Option<Report<P::Move>> {
    if history.outcome().is_some() {
        return None;
    }
    let Some(player) = P::MCTS else {
        return search_with_progress(history, limits, stop, table, on_progress);
    };
    let report = (player.search)(history, limits, 0, stop, table, on_progress);
    Some(report)
}

/// Runs `main_search` on the current thread. If the limits allow several threads, helper threads
/// search the same position at the same time. All threads share their results through the table.
fn with_helper_threads<'a, P: Evaluate, T>(
    history: &GameHistory<P>,
    limits: &Limits,
    stop: &'a Stop,
    table: &'a TranspositionTable,
    main_search: impl FnOnce(Searcher<'a, P>) -> T,
) -> T {
    let help = |search: &mut Searcher<'_, P>| {
        search_root(search, history.position(), limits, &mut |_| {});
    };
    with_helpers(history, limits, stop, table, help, main_search)
}

/// Runs `main_search` on the current thread. If the limits allow several threads, helper threads
/// run `help` at the same time. All threads share their results through the table.
fn with_helpers<'a, P: Evaluate, T>(
    history: &GameHistory<P>,
    limits: &Limits,
    stop: &'a Stop,
    table: &'a TranspositionTable,
    help: impl Fn(&mut Searcher<'_, P>) + Sync,
    main_search: impl FnOnce(Searcher<'a, P>) -> T,
) -> T {
    let (options, keys) = (SearchOptions::ALL, history.key_history());
    parallel::with_helpers(
        limits.threads,
        |number, stop_helpers| {
            let search = Searcher::new(Limits::default(), stop_helpers, table, options, keys);
            help(&mut search.with_ordering_seed(number));
        },
        || main_search(Searcher::new(*limits, stop, table, options, keys)),
    )
}

fn search_root<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    limits: &Limits,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Report<P::Move> {
    if limits.depth.is_none() && pos.remaining_plies_max() <= P::SOLVABLE_PLIES_MAX {
        search_to_game_end(search, pos, limits, on_progress)
    } else {
        let result =
            deepen_with_progress(search, pos, limits.depth.unwrap_or(u32::MAX), on_progress);
        Report::from_search_result(result, search)
    }
}

/// Runs iterative deepening and calls `on_progress` after every depth.
fn deepen_with_progress<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    depth_max: u32,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> SearchResult<P::Move> {
    deepen_until(search, pos, None, depth_max, |result, search| {
        on_progress(&Report::from_search_result(result.clone(), search));
        result.is_final::<P>()
    })
}

/// Returns the total node and time limits for the given number of preview searches.
fn preview_limits(limits: &Limits, previews: u32) -> Limits {
    let share = |nodes| nodes / u64::from(PREVIEW_BUDGET_DIVISOR) * u64::from(previews);
    Limits {
        nodes: limits.nodes.map(share),
        time: (limits.time).map(|time| time / PREVIEW_BUDGET_DIVISOR * previews),
        ..*limits
    }
}

/// Runs a preview search of a few plies to obtain a result, then searches to the end of the game.
fn search_to_game_end<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    limits: &Limits,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Report<P::Move> {
    search.budget.set_limits(preview_limits(limits, 1));
    let preview = deepen_with_progress(search, pos, PREVIEW_DEPTH, on_progress);
    let mut report = Report::from_search_result(preview.clone(), search);
    // If the preview has found the winner, only the number of plies to the end is missing. The
    // search for the number of plies may cost at most as much as a second preview.
    let is_final = preview.is_final::<P>();
    search.budget.set_limits(if is_final {
        preview_limits(limits, 2)
    } else {
        *limits
    });
    if !report.exact && search.budget.enforce().is_ok() {
        let mut proof = Proof::from_book(pos);
        // The search to the end of the game may reach a limit, but the bounds that it has proven
        // remain valid.
        let _ = proof.solve_outcome_first(search, pos);
        if !is_final || proof.value().is_some() {
            report = Report::from_proof(preview, &proof, search);
        }
    }
    report.apply_book_result(pos);
    report
}

/// Solves the current position: returns its exact value and a best move. Returns `None` if the game
/// is over, if a limit is reached or if `stop` is set.
///
/// Use this function only for positions that can be searched to the end of the game. The principal
/// variation of the report contains only the best move. [`analysis::solve_all_moves`] returns the
/// complete line.
#[must_use]
pub fn solve<P: Evaluate>(
    history: &GameHistory<P>,
    limits: &Limits,
    stop: &Stop,
    table: &TranspositionTable,
) -> Option<Report<P::Move>> {
    if history.outcome().is_some() {
        return None;
    }
    let pos = history.position();
    let prove = |search: &mut Searcher<'_, P>| {
        search.budget.enforce().ok()?;
        let mut proof = Proof::from_static_bounds(pos);
        proof.solve(search, pos).ok()?;
        let value = proof.value()?;
        let pv = solver::principal_variation(search, pos, value, proof.best_move, 1).ok()?;
        let depth = pos.remaining_plies_max();
        Some(Report::from_value(value, pv, depth, search))
    };
    let help = |search: &mut Searcher<'_, P>| drop(prove(search));
    with_helpers(history, limits, stop, table, help, |mut search| {
        prove(&mut search)
    })
}

/// Returns whether the exact value of `pos` is at least `score`. Returns `None` if the game is
/// over, if a limit is reached or if `stop` is set.
///
/// The comparison costs less than computing the exact value, and is sufficient to find out who
/// wins.
#[must_use]
pub fn is_value_at_least<P: Evaluate>(
    pos: &P,
    score: Score,
    limits: &Limits,
    stop: &Stop,
    table: &TranspositionTable,
) -> Option<bool> {
    if pos.outcome().is_some() {
        return None;
    }
    let keys = &KeyHistory::new();
    let mut search = Searcher::new(*limits, stop, table, SearchOptions::ALL, keys);
    search.budget.enforce().ok()?;
    let window = NullWindow {
        alpha: score.saturating_sub(1),
    };
    let value = search
        .search_position(pos, pvs::FULL_DEPTH, 0, window)
        .ok()?;
    Some(value >= score)
}
