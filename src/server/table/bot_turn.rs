//! A bot's turn: it thinks elsewhere, waits for its pace here, and always moves.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use crate::bots::{Bots, Question};
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Stop;
use plyhouse_matches::{Action, Match};
use plyhouse_protocol::Ply;

/// What a bot does about one ply. Dropped when the match has moved on without it; its search is
/// then told to stop.
pub(super) struct BotTurn {
    seat: Seat,
    ply: Ply,
    stage: Stage,
    stop: Stop,
}

enum Stage {
    Thinking(Pin<Box<dyn Future<Output = Option<String>> + Send>>),
    Ready { m: String, at: Instant },
}

impl BotTurn {
    /// The turn of the bot that is to move, if a bot is.
    pub(super) fn begin(state: &Match, bots: &Arc<Bots>) -> Option<Self> {
        let (seat, level) = state.bot_to_move()?;
        let stop = Stop::new();
        let question = Question {
            position: state.position().clone_box(),
            level,
            seed: seed(state),
            host: state.creation().host,
            has_people: state.players().next().is_some(),
            stop: stop.clone(),
        };
        let bots = Arc::clone(bots);
        let thinking = Stage::Thinking(Box::pin(async move { bots.think(question).await }));
        Some(Self {
            seat,
            ply: state.ply(),
            stage: thinking,
            stop,
        })
    }

    /// Whether this is still the turn that the match waits for.
    pub(super) fn is_of(&self, state: &Match) -> bool {
        state
            .bot_to_move()
            .is_some_and(|(seat, _)| seat == self.seat)
            && state.ply() == self.ply
    }

    /// Waits until the bot knows its move; for ever once it does. May be cancelled.
    pub(super) async fn thought(&mut self) -> Option<String> {
        match &mut self.stage {
            Stage::Thinking(thinking) => thinking.await,
            Stage::Ready { .. } => std::future::pending().await,
        }
    }

    /// Notes what the bot has thought of. A bot that has failed plays any legal move.
    pub(super) fn decide(&mut self, found: Option<String>, state: &Match, at: Instant) {
        let Some(m) = found.or_else(|| any_move(state)) else {
            return; // No legal move in a running match: the rules have ended it.
        };
        self.stage = Stage::Ready { m, at };
    }

    /// When the move is to be played, once it is known.
    pub(super) const fn due(&self) -> Option<Instant> {
        match self.stage {
            Stage::Thinking(_) => None,
            Stage::Ready { at, .. } => Some(at),
        }
    }

    /// The move, if it is known and due.
    pub(super) fn action(&self, now: Instant) -> Option<Action> {
        match &self.stage {
            Stage::Ready { m, at } if *at <= now => Some(Action::PlayAsBot {
                seat: self.seat,
                ply: self.ply,
                m: m.clone(),
            }),
            Stage::Ready { .. } | Stage::Thinking(_) => None,
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

fn any_move(state: &Match) -> Option<String> {
    let legal = state.position().legal_moves();
    let choices = u64::try_from(legal.len()).ok().filter(|&n| n > 0)?;
    let index = usize::try_from(seed(state) % choices).ok()?;
    legal.into_iter().nth(index)
}
