//! The engine: minimax in its forms, generic over a game, and the levels a bot can be given.
//!
//! A search runs on its caller's thread until a limit is reached or it is told to stop. Unless it is
//! asked to, it starts no thread of its own, and what chance it needs comes from a seed, so the same
//! question gets the same answer, except where a clock cuts the thinking short.

pub mod alpha_beta;
pub mod analysis;
mod budget;
mod draw_assessment;
mod eval;
mod evaluate;
mod iterative_deepening;
mod level;
pub(crate) mod mcts;
pub mod minimax;
#[cfg(test)]
mod minimax_oracle;
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

pub use draw_assessment::DrawAssessment;
pub use eval::{ChessFeatures, DraughtsFeatures, GomokuFeatures, OthelloFeatures};
pub use evaluate::{Evaluate, StoneFate, VisibleFeatures};
pub use level::{LEVELS_VERSION, Level, MctsStrength, ParseLevelError, Strength};
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

use self::budget::Budget;
use self::iterative_deepening::deepen_until;
use self::pvs::Searcher;
use self::search_options::SearchOptions;
use self::search_result::SearchResult;
use self::search_window::NullWindow;
use self::solver::Proof;
use crate::game::{GameHistory, KeyHistory};

/// What a search may spend. Without any limit it ends when it knows the game's value.
///
/// The first ply is always looked at in full, so that there is an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Looks no further ahead than this many plies.
    pub depth: Option<u32>,
    /// Visits no more than this many positions. The unit to use where answers must repeat.
    pub nodes: Option<u64>,
    /// Thinks no longer than this. Does not hold on `wasm32-unknown-unknown`, which has no clock.
    pub time: Option<Duration>,
    /// Thinks with so many threads, one if nothing is said. With more the answer need not repeat.
    pub threads: Option<NonZeroUsize>,
}

impl Limits {
    /// Looks no further ahead than this many plies.
    #[must_use]
    pub const fn depth(plies: u32) -> Self {
        Self {
            depth: Some(plies),
            ..Self::NONE
        }
    }

    /// Visits no more than this many positions.
    #[must_use]
    pub const fn nodes(nodes: u64) -> Self {
        Self {
            nodes: Some(nodes),
            ..Self::NONE
        }
    }

    /// Thinks no longer than this.
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

/// A flag that asks a search to answer now. Clones share the flag; it cannot be lowered again.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A flag that is not raised.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag.
    pub fn stop(&self) {
        // Nothing else is published through the flag, so no order with other memory is needed.
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag has been raised.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far ahead full strength looks before it tries to see the end, to have an answer if that takes
/// too long.
const PREVIEW_DEPTH: u32 = 10;

/// The part of the budget that the first look may spend.
const PREVIEW_BUDGET_DIVISOR: u32 = 10;

/// Values the position on the board and finds the best line of play; `None` once there is an outcome.
///
/// Runs on the caller's thread until a limit or `stop`, and reports its best so far then. Uses what
/// is in the table, and leaves there what it finds; where the answer must repeat, let the table
/// forget before.
#[must_use]
pub fn search<P: Evaluate>(
    history: &GameHistory<P>,
    limits: &Limits,
    stop: &Stop,
    table: &TranspositionTable,
) -> Option<Report<P::Move>> {
    search_with_progress(history, limits, stop, table, &mut |_| {})
}

/// Searches as [`search`] does, and calls `on_progress` with what is known after every depth.
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
    Some(with_helper_threads(
        history,
        limits,
        stop,
        table,
        |mut search| search_root(&mut search, history.position(), limits, on_progress),
    ))
}

/// Values the position on the board as bots of full strength do, by playouts where they play games out.
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
    match P::MCTS {
        Some(player) => Some((player.search)(
            history,
            limits,
            0,
            stop,
            table,
            on_progress,
        )),
        None => search_with_progress(history, limits, stop, table, on_progress),
    }
}

/// Runs `main_search` on this thread, while the other threads that the limits allow search the same
/// position for what that leaves in the table.
fn with_helper_threads<'a, P: Evaluate, T>(
    history: &GameHistory<P>,
    limits: &Limits,
    stop: &'a Stop,
    table: &'a TranspositionTable,
    main_search: impl FnOnce(Searcher<'a, P>) -> T,
) -> T {
    parallel::with_helpers(
        limits.threads,
        |number, stop_helpers| {
            let budget = Budget::new(Limits::default(), stop_helpers);
            let search = Searcher::new(budget, table, SearchOptions::ALL, history.key_history());
            let search = &mut search.with_ordering_seed(number);
            search_root(search, history.position(), limits, &mut |_| {});
        },
        || {
            let budget = Budget::new(*limits, stop);
            main_search(Searcher::new(
                budget,
                table,
                SearchOptions::ALL,
                history.key_history(),
            ))
        },
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

/// Looks ahead, and tells after every depth what is known.
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

/// What so many first looks may spend.
fn preview_limits(limits: &Limits, previews: u32) -> Limits {
    let share = |nodes| nodes / u64::from(PREVIEW_BUDGET_DIVISOR) * u64::from(previews);
    Limits {
        nodes: limits.nodes.map(share),
        time: (limits.time).map(|time| time / PREVIEW_BUDGET_DIVISOR * previews),
        ..*limits
    }
}

/// First looks some plies ahead, to have an answer, then to the end of the game.
fn search_to_game_end<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    limits: &Limits,
    on_progress: &mut dyn FnMut(&Report<P::Move>),
) -> Report<P::Move> {
    search.budget.set_limits(preview_limits(limits, 1));
    let preview = deepen_with_progress(search, pos, PREVIEW_DEPTH, on_progress);
    let mut report = Report::from_search_result(preview.clone(), search);
    // Where it is known who wins, how soon is worth no more than to look once more like that.
    let is_final = preview.is_final::<P>();
    search.budget.set_limits(if is_final {
        preview_limits(limits, 2)
    } else {
        *limits
    });
    if !report.exact && search.budget.enforce().is_ok() {
        let mut proof = Proof::from_book(pos);
        // However far it has come: what is proven is proven.
        let _ = proof.solve_outcome_first(search, pos);
        if !is_final || proof.value().is_some() {
            report = Report::from_proof(preview, &proof, search);
        }
    }
    report.apply_book_result(pos);
    report
}

/// The exact value of the position on the board at the end of the game, and a best move; `None` once there is an
/// outcome, or if a limit or `stop` came first.
///
/// Only for games that end soon enough. The variation has the best move alone; `line` knows the
/// others.
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
        Some(Report::from_value(
            value,
            pv,
            pos.remaining_plies_max(),
            search,
        ))
    };
    parallel::with_helpers(
        limits.threads,
        |number, stop_helpers| {
            let budget = Budget::new(Limits::default(), stop_helpers);
            let search = Searcher::new(budget, table, SearchOptions::ALL, history.key_history());
            let _ = prove(&mut search.with_ordering_seed(number));
        },
        || {
            let budget = Budget::new(*limits, stop);
            prove(&mut Searcher::new(
                budget,
                table,
                SearchOptions::ALL,
                history.key_history(),
            ))
        },
    )
}

/// Whether the value of `pos` at the end of the game is at least `score`; `None` once there is an
/// outcome, or if a limit or `stop` came first.
///
/// Cheaper than the value itself, and all that is needed to know who wins.
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
    let budget = Budget::new(*limits, stop);
    let mut search = Searcher::new(budget, table, SearchOptions::ALL, &KeyHistory::new());
    search.budget.enforce().ok()?;
    let window = NullWindow {
        alpha: score.saturating_sub(1),
    };
    let value = search
        .search_position(pos, pvs::FULL_DEPTH, 0, window)
        .ok()?;
    Some(value >= score)
}
