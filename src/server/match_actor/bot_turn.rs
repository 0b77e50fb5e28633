//! A bot's turn: it thinks elsewhere, waits for its pace here, and always moves.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::analysis::jobs::valuation;
use crate::bots::{ProgressCallback, SearchPool, SearchRequest};
use plyhouse_engine::catalog::{AnyPosition, GameEntry, MoveChoice};
use plyhouse_engine::game::Seat;
use plyhouse_engine::review::{Evaluation, LINE_PLIES_MAX};
use plyhouse_engine::search::{BotClock, Report, Stop};
use plyhouse_matches::{Action, Match, Occupant};
use plyhouse_protocol::{ClockControl, MatchId, Ply, Thinking};

/// What a bot does about one ply. Dropped when the match has moved on without it; its search is
/// then told to stop.
pub(super) struct BotTurn {
    seat: Seat,
    ply: Ply,
    /// How often moves had been taken back when it began: the same ply may be another position.
    takebacks: u64,
    phase: Phase,
    /// For how long it has searched.
    search_time: Duration,
    stop: Stop,
    /// What it thinks meanwhile, where that is told.
    thinking_updates: Option<watch::Receiver<Option<Thinking>>>,
}

/// What is new of a bot's turn.
pub(super) enum BotProgress {
    /// It thinks this so far.
    Thinking(Box<Thinking>),
    /// It knows its move; or has failed to find one.
    Finished(Option<MoveChoice>),
}

enum Phase {
    Thinking(Pin<Box<dyn Future<Output = Option<MoveChoice>> + Send>>),
    Ready { m: String, at: Instant },
}

impl BotTurn {
    /// The turn of the bot that is to move, if a bot is. By the clock, somebody for whom it stands in may
    /// have used up some of the turn.
    pub(super) fn start(state: &Match, bots: &Arc<SearchPool>, used_up: Duration) -> Option<Self> {
        let (seat, level) = state.bot_to_move()?;
        let stop = Stop::new();
        let (on_progress, thoughts) = thinking_channel(state, seat).unzip();
        let request = SearchRequest {
            position: state.position().clone_box(),
            level,
            seed: seed(state),
            clock: bot_clock(state, seat, used_up),
            host: state.creation().host,
            has_human: state.players().next().is_some(),
            stop: stop.clone(),
            on_progress,
        };
        let bots = Arc::clone(bots);
        let initial_phase =
            Phase::Thinking(Box::pin(async move { bots.choose_move(request).await }));
        Some(Self {
            seat,
            ply: state.ply(),
            takebacks: state.takebacks(),
            phase: initial_phase,
            search_time: Duration::ZERO,
            stop,
            thinking_updates: thoughts,
        })
    }

    /// Whether this is still the turn that the match waits for.
    pub(super) fn is_current(&self, state: &Match) -> bool {
        state
            .bot_to_move()
            .is_some_and(|(seat, _)| seat == self.seat)
            && state.ply() == self.ply
            && state.takebacks() == self.takebacks
    }

    /// Waits until the bot knows its move, or has more to tell; for ever once it knows. May be cancelled.
    pub(super) async fn next_progress(&mut self) -> BotProgress {
        let Phase::Thinking(search) = &mut self.phase else {
            return std::future::pending().await;
        };
        let Some(updates) = &mut self.thinking_updates else {
            return BotProgress::Finished(search.await);
        };
        loop {
            tokio::select! {
                biased; // Nothing is left to a chance that no seed governs.
                choice = &mut *search => return BotProgress::Finished(choice),
                Ok(()) = updates.changed() => {
                    let thinking = updates.borrow_and_update().clone();
                    if let Some(thinking) = thinking {
                        return BotProgress::Thinking(Box::new(thinking));
                    }
                }
            }
        }
    }

    /// Notes what the bot has thought of. A bot that has failed plays any legal move.
    pub(super) fn set_move(&mut self, choice: Option<MoveChoice>, state: &Match, play_at: Instant) {
        let report = choice.as_ref().map(|choice| &choice.report);
        self.search_time = report.map_or(Duration::ZERO, |report| report.time);
        let Some(m) = choice
            .map(|choice| choice.m)
            .or_else(|| arbitrary_move(state))
        else {
            return; // No legal move in a running match: the rules have ended it.
        };
        self.phase = Phase::Ready { m, at: play_at };
    }

    /// The seat of the bot.
    pub(super) const fn seat(&self) -> Seat {
        self.seat
    }

    /// For how long the bot has searched, once it knows its move.
    pub(super) const fn search_time(&self) -> Duration {
        self.search_time
    }

    /// When the move is to be played, once it is known.
    pub(super) const fn play_at(&self) -> Option<Instant> {
        match self.phase {
            Phase::Thinking(_) => None,
            Phase::Ready { at, .. } => Some(at),
        }
    }

    /// The move, if it is known and due.
    pub(super) fn due_action(&self, now: Instant) -> Option<Action> {
        match &self.phase {
            Phase::Ready { m, at } if *at <= now => Some(Action::PlayAsBot {
                seat: self.seat,
                ply: self.ply,
                m: m.clone(),
            }),
            Phase::Ready { .. } | Phase::Thinking(_) => None,
        }
    }
}

impl Drop for BotTurn {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

impl std::fmt::Debug for BotTurn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BotTurn")
            .field("seat", &self.seat)
            .field("ply", &self.ply)
            .finish()
    }
}

/// Whether all may know what the bot in this seat thinks. One that stands in plays for somebody.
pub(super) fn is_thinking_public(state: &Match, seat: Seat) -> bool {
    state.creation().terms.shows_bot_thinking && matches!(state.occupant(seat), Occupant::Bot(_))
}

/// Where a search tells what it thinks, and where that is heard; nothing where nobody is to know.
fn thinking_channel(
    state: &Match,
    seat: Seat,
) -> Option<(ProgressCallback, watch::Receiver<Option<Thinking>>)> {
    if !is_thinking_public(state, seat) {
        return None;
    }
    let (sender, receiver) = watch::channel(None);
    let position = state.position().clone_box();
    let (game, match_id, ply) = (state.creation().game, state.id(), state.ply());
    let on_progress: ProgressCallback = Box::new(move |report| {
        let thinking = thinking_message(game, position.as_ref(), (match_id, ply), report);
        // Nobody may be listening any more.
        let _ = sender.send(Some(thinking));
    });
    Some((on_progress, receiver))
}

/// What a bot has found in its search of the position before this ply.
pub(super) fn thinking_message(
    game: &GameEntry,
    position: &dyn AnyPosition,
    (match_id, ply): (MatchId, Ply),
    report: &Report<String>,
) -> Thinking {
    let pv: Vec<String> = report.pv.iter().take(LINE_PLIES_MAX).cloned().collect();
    Thinking {
        match_id,
        ply,
        depth: report.depth,
        nodes: report.nodes,
        evaluation: valuation(Evaluation::from_report(game, position, report)),
        san: position.moves_to_san(&pv),
        pv,
        pruned: (!game.uses_playouts).then_some(report.cutoff_skips),
    }
}

/// What a bot has on its clock, less what was used up of the turn already; `None` without a clock.
fn bot_clock(state: &Match, seat: Seat, used_up: Duration) -> Option<BotClock> {
    let (clock, remaining) = state.clock().zip(state.remaining_time())?;
    let bank = Duration::from_millis(remaining.remaining_ms()[seat.index()]);
    let (bank, increment, free) = match clock {
        ClockControl::Fischer { increment_ms, .. } => (bank, increment_ms, 0),
        ClockControl::Delay { delay_ms, .. } => (bank, 0, delay_ms),
        ClockControl::ByoYomi { period_ms, .. } => (bank, 0, period_ms),
        ClockControl::Move { move_ms } => (Duration::ZERO, 0, move_ms),
    };
    let free = Duration::from_millis(free);
    Some(BotClock {
        remaining: bank.saturating_sub(used_up.saturating_sub(free)),
        increment: Duration::from_millis(increment),
        free_time: free.saturating_sub(used_up),
    })
}

/// The chance of one ply: the same whenever this ply of this match is thought about.
fn seed(state: &Match) -> u64 {
    // The golden ratio of 2^64 keeps the seeds of neighbouring plies far apart (Steele, Lea and
    // Flood, "Fast splittable pseudorandom number generators", 2014).
    state
        .creation()
        .terms
        .seed
        .wrapping_add(state.ply().0.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn arbitrary_move(state: &Match) -> Option<String> {
    let legal = state.position().legal_moves();
    let choices = u64::try_from(legal.len()).ok().filter(|&n| n > 0)?;
    let index = usize::try_from(seed(state) % choices).ok()?;
    legal.into_iter().nth(index)
}
