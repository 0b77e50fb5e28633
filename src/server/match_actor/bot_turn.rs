//! Turn of a bot in a match. The bot searches on a search thread and waits until its configured
//! move delay has passed. Then it plays a move, even if the search failed.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::analysis::start_and_stream::valuation;
use crate::bots::{ProgressCallback, SearchPool, SearchRequest};
use plyhouse_engine::catalog::{AnyPosition, GameEntry, MoveChoice};
use plyhouse_engine::game::Seat;
use plyhouse_engine::review::{Evaluation, LINE_PLIES_MAX};
use plyhouse_engine::search::{BotClock, Report, Stop};
use plyhouse_matches::{Action, Match, Occupant};
use plyhouse_protocol::{ClockControl, MatchId, Ply, Thinking};

/// A bot's turn: the search and the chosen move for one ply. The match drops this value if the turn
/// ends without the bot's move. Dropping the value stops the search.
pub(super) struct BotTurn {
    pub(super) seat: Seat,
    ply: Ply,
    /// Number of takebacks in the match when the turn began. After a takeback, a different position
    /// may occur at the same ply.
    takebacks: u64,
    phase: Phase,
    /// Duration of the search; zero until the search has finished.
    pub(super) search_time: Duration,
    stop: Stop,
    /// Receives intermediate search results; `None` if the search results are private.
    thinking_updates: Option<watch::Receiver<Option<Thinking>>>,
}

/// Progress of a bot's turn.
pub(super) enum BotProgress {
    /// An intermediate result of the search.
    Thinking(Box<Thinking>),
    /// The chosen move, or `None` if the search did not find a move.
    Finished(Option<MoveChoice>),
}

enum Phase {
    Thinking(Pin<Box<dyn Future<Output = Option<MoveChoice>> + Send>>),
    Ready { m: String, at: Instant },
}

impl BotTurn {
    /// Starts the turn of the bot that has to move; returns `None` if no bot has to move. If the
    /// bot took over the seat during this turn, `used_up` is the clock time that the replaced
    /// player had already used.
    pub(super) fn start(state: &Match, bots: &Arc<SearchPool>, used_up: Duration) -> Option<Self> {
        let (seat, level) = state.bot_to_move()?;
        let stop = Stop::new();
        let (on_progress, thinking_updates) = thinking_channel(state, seat).unzip();
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
        let search = Box::pin(async move { bots.choose_move(request).await });
        Some(Self {
            seat,
            ply: state.ply(),
            takebacks: state.takebacks(),
            phase: Phase::Thinking(search),
            search_time: Duration::ZERO,
            stop,
            thinking_updates,
        })
    }

    /// Returns whether this turn is still the current turn of the match. The seat, the ply and the
    /// number of takebacks must be the same as when the turn began.
    pub(super) fn is_current(&self, state: &Match) -> bool {
        let bot = state.bot_to_move();
        bot.is_some_and(|(seat, _)| seat == self.seat)
            && state.ply() == self.ply
            && state.takebacks() == self.takebacks
    }

    /// Waits until the search has finished or has a new intermediate result. After
    /// [`set_move`](Self::set_move), this method waits forever. This method is cancel safe.
    pub(super) async fn next_progress(&mut self) -> BotProgress {
        let Phase::Thinking(search) = &mut self.phase else {
            return std::future::pending().await;
        };
        let Some(updates) = &mut self.thinking_updates else {
            return BotProgress::Finished(search.await);
        };
        loop {
            tokio::select! {
                biased; // The fixed poll order keeps simulated runs reproducible.
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

    /// Stores the bot's move, which the bot plays at `play_at`. If the search failed, a legal move
    /// is chosen pseudo-randomly.
    pub(super) fn set_move(&mut self, choice: Option<MoveChoice>, state: &Match, play_at: Instant) {
        let report = choice.as_ref().map(|choice| &choice.report);
        self.search_time = report.map_or(Duration::ZERO, |report| report.time);
        let Some(m) = choice
            .map(|choice| choice.m)
            .or_else(|| arbitrary_move(state))
        else {
            return; // There is no legal move, so the match has already ended.
        };
        self.phase = Phase::Ready { m, at: play_at };
    }

    /// Returns the time at which the bot plays its move, or `None` while the search runs.
    pub(super) const fn play_at(&self) -> Option<Instant> {
        match self.phase {
            Phase::Thinking(_) => None,
            Phase::Ready { at, .. } => Some(at),
        }
    }

    /// Returns the action that plays the move, if the move is known and due.
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

/// Returns whether the followers of the match may see the search results of the bot in this seat.
/// The results of a stand-in are private, because a stand-in plays for a player.
pub(super) fn is_thinking_public(state: &Match, seat: Seat) -> bool {
    state.creation().terms.shows_bot_thinking && matches!(state.occupant(seat), Occupant::Bot(_))
}

/// Creates the channel for the intermediate results of a search. Returns `None` if the followers of
/// the match may not see the results.
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
        // Sending fails if the bot's turn was dropped; the result is then not needed.
        let _ = sender.send(Some(thinking));
    });
    Some((on_progress, receiver))
}

/// Builds the `thinking` message that reports a bot's search results. The bot searched `position`,
/// which is the position before `ply`.
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

/// Returns a bot's clock after deducting the time already used in this turn. Returns `None` in a
/// match without a clock.
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

/// Returns the random seed of the current ply. The seed depends only on the match's seed and the
/// ply, so a repeated search uses the same seed.
fn seed(state: &Match) -> u64 {
    // The multiplier is 2^64 divided by the golden ratio. Multiplying by it makes the seeds of
    // neighbouring plies differ widely (Steele, Lea and Flood, "Fast splittable pseudorandom number
    // generators", 2014).
    let ply_term = state.ply().0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state.creation().terms.seed.wrapping_add(ply_term)
}

fn arbitrary_move(state: &Match) -> Option<String> {
    let legal = state.position().legal_moves();
    let choices = u64::try_from(legal.len()).ok().filter(|&n| n > 0)?;
    let index = usize::try_from(seed(state) % choices).ok()?;
    legal.into_iter().nth(index)
}
