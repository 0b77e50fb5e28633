//! The engine: minimax in its forms, generic over a game, and the levels a bot can be given.
//!
//! A search runs on its caller's thread until a limit is reached or it is told to stop. Unless it is
//! asked to, it starts no thread of its own, and what chance it needs comes from a seed, so the same
//! question gets the same answer, except where a clock cuts the thinking short.

pub mod alpha_beta;
pub mod analysis;
mod budget;
pub mod chance;
mod choice;
mod clock;
mod deepening;
mod eval;
mod evaluate;
mod findings;
mod judgement;
mod level;
mod lines;
pub mod minimax;
mod moves;
#[cfg(test)]
mod oracle;
mod ordering;
mod parallel;
mod parts;
mod path;
mod pvs;
mod report;
mod score;
mod several;
mod short_win;
mod solving;
mod table;
pub(crate) mod tree;
mod window;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use choice::{choose, choose_watched};
pub use clock::{BotClock, Clock};
pub use eval::{ChessFeatures, DraughtsFeatures, GomokuFeatures, OthelloFeatures};
pub use evaluate::{Evaluate, Fate, Sight};
pub use judgement::Judgement;
pub use level::{LEVELS_VERSION, Level, ParseLevelError, Strength, TreeStrength};
pub use moves::{EARLY, LATE, Moves};
pub use report::{Certainty, MoveValue, Playouts, Report};
pub use score::Score;
pub use several::best_lines;
pub use short_win::win_within;
pub use table::Table;
pub use tree::{TreePlayer, TreeSearch};
pub use window::Bounds;

use self::budget::Budget;
use self::deepening::deepen_until;
use self::findings::Findings;
use self::parts::Parts;
use self::pvs::Searcher;
use self::solving::Proof;
use self::window::NullWindow;
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
const FIRST_LOOK: u32 = 10;

/// The part of the budget that the first look may spend.
const FIRST_LOOK_SHARE: u32 = 10;

/// Values the position on the board and finds the best line of play; `None` once there is an outcome.
///
/// Runs on the caller's thread until a limit or `stop`, and reports its best so far then. Uses what
/// is in the table, and leaves there what it finds; where the answer must repeat, let the table
/// forget before.
#[must_use]
pub fn search<P: Evaluate>(
    course: &GameHistory<P>,
    limits: &Limits,
    stop: &Stop,
    table: &Table,
) -> Option<Report<P::Move>> {
    search_watched(course, limits, stop, table, &mut |_| {})
}

/// Searches as [`search`] does, and calls `watch` with what is known after every depth.
#[must_use]
pub fn search_watched<P: Evaluate>(
    course: &GameHistory<P>,
    limits: &Limits,
    stop: &Stop,
    table: &Table,
    watch: &mut dyn FnMut(&Report<P::Move>),
) -> Option<Report<P::Move>> {
    if course.outcome().is_some() {
        return None;
    }
    Some(with_help(course, limits, stop, table, |mut search| {
        look(&mut search, course.position(), limits, watch)
    }))
}

/// Values the position on the board as bots of full strength do, by playouts where they play games out.
#[must_use]
pub fn look_watched<P: Evaluate>(
    course: &GameHistory<P>,
    limits: &Limits,
    stop: &Stop,
    table: &mut Table,
    watch: &mut dyn FnMut(&Report<P::Move>),
) -> Option<Report<P::Move>> {
    if course.outcome().is_some() {
        return None;
    }
    match P::PLAYOUTS {
        Some(player) => Some((player.search)(course, limits, 0, stop, table, watch)),
        None => search_watched(course, limits, stop, table, watch),
    }
}

/// Runs `lead` on this thread, while the other threads that the limits allow search the same
/// position for what that leaves in the table.
fn with_help<'a, P: Evaluate, T>(
    course: &GameHistory<P>,
    limits: &Limits,
    stop: &'a Stop,
    table: &'a Table,
    lead: impl FnOnce(Searcher<'a, P>) -> T,
) -> T {
    parallel::with_helpers(
        limits.threads,
        |number, done| {
            let budget = Budget::new(Limits::default(), done);
            let search = Searcher::new(budget, table, Parts::ALL, course.key_history());
            let search = &mut search.varied(number);
            look(search, course.position(), limits, &mut |_| {});
        },
        || {
            let budget = Budget::new(*limits, stop);
            lead(Searcher::new(
                budget,
                table,
                Parts::ALL,
                course.key_history(),
            ))
        },
    )
}

fn look<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    limits: &Limits,
    watch: &mut dyn FnMut(&Report<P::Move>),
) -> Report<P::Move> {
    if limits.depth.is_none() && pos.plies_left() <= P::SOLVED_FROM {
        look_to_the_end(search, pos, limits, watch)
    } else {
        let found = watched(search, pos, limits.depth.unwrap_or(u32::MAX), watch);
        Report::of_findings(found, search)
    }
}

/// Looks ahead, and tells after every depth what is known.
fn watched<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    depth_max: u32,
    watch: &mut dyn FnMut(&Report<P::Move>),
) -> Findings<P::Move> {
    deepen_until(search, pos, None, depth_max, |found, search| {
        watch(&Report::of_findings(found.clone(), search));
        found.is_final::<P>()
    })
}

/// What so many first looks may spend.
fn first_look(limits: &Limits, times: u32) -> Limits {
    let share = |nodes| nodes / u64::from(FIRST_LOOK_SHARE) * u64::from(times);
    Limits {
        nodes: limits.nodes.map(share),
        time: (limits.time).map(|time| time / FIRST_LOOK_SHARE * times),
        ..*limits
    }
}

/// First looks some plies ahead, to have an answer, then to the end of the game.
fn look_to_the_end<P: Evaluate>(
    search: &mut Searcher<'_, P>,
    pos: &P,
    limits: &Limits,
    watch: &mut dyn FnMut(&Report<P::Move>),
) -> Report<P::Move> {
    search.budget.change(first_look(limits, 1));
    let found = watched(search, pos, FIRST_LOOK, watch);
    let mut report = Report::of_findings(found.clone(), search);
    // Where it is known who wins, how soon is worth no more than to look once more like that.
    let is_final = found.is_final::<P>();
    search.budget.change(if is_final {
        first_look(limits, 2)
    } else {
        *limits
    });
    if !report.exact && search.budget.enforce().is_ok() {
        let mut proof = Proof::by_heart(pos);
        // However far it has come: what is proven is proven.
        let _ = proof.complete_outcome_first(search, pos);
        if !is_final || proof.value().is_some() {
            report = Report::of_proof(found, &proof, search);
        }
    }
    report.recite(pos);
    report
}

/// The exact value of the position on the board at the end of the game, and a best move; `None` once there is an
/// outcome, or if a limit or `stop` came first.
///
/// Only for games that end soon enough. The variation has the best move alone; `line` knows the
/// others.
#[must_use]
pub fn solve<P: Evaluate>(
    course: &GameHistory<P>,
    limits: &Limits,
    stop: &Stop,
    table: &Table,
) -> Option<Report<P::Move>> {
    if course.outcome().is_some() {
        return None;
    }
    let pos = course.position();
    let prove = |search: &mut Searcher<'_, P>| {
        search.budget.enforce().ok()?;
        let mut proof = Proof::glance(pos);
        proof.complete(search, pos).ok()?;
        let value = proof.value()?;
        let pv = solving::line(search, pos, value, proof.best, 1).ok()?;
        Some(Report::of_value(value, pv, pos.plies_left(), search))
    };
    parallel::with_helpers(
        limits.threads,
        |number, done| {
            let budget = Budget::new(Limits::default(), done);
            let search = Searcher::new(budget, table, Parts::ALL, course.key_history());
            let _ = prove(&mut search.varied(number));
        },
        || {
            let budget = Budget::new(*limits, stop);
            prove(&mut Searcher::new(
                budget,
                table,
                Parts::ALL,
                course.key_history(),
            ))
        },
    )
}

/// Whether the value of `pos` at the end of the game is at least `score`; `None` once there is an
/// outcome, or if a limit or `stop` came first.
///
/// Cheaper than the value itself, and all that is needed to know who wins.
#[must_use]
pub fn reaches<P: Evaluate>(
    pos: &P,
    score: Score,
    limits: &Limits,
    stop: &Stop,
    table: &Table,
) -> Option<bool> {
    if pos.outcome().is_some() {
        return None;
    }
    let budget = Budget::new(*limits, stop);
    let mut search = Searcher::new(budget, table, Parts::ALL, &KeyHistory::new());
    search.budget.enforce().ok()?;
    let window = NullWindow {
        alpha: score.lowered(1),
    };
    let value = search.value(pos, pvs::TO_THE_END, 0, window).ok()?;
    Some(value >= score)
}
