//! How a match is let go of while nobody needs it, and what it does when it is looked at again.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use plyhouse_matches::{Action, Match, Stage, Timekeeper};

use super::owner::RETRY;
use super::{End, GOES_ON, Table};
use crate::clock::now;
use crate::reply::Reply;

/// For how long nobody needs a match before it is let go of.
const IDLE_MAX: Duration = Duration::from_mins(10);

/// How long an open match of days waits for somebody, from its creation on.
const OPEN_MAX: Duration = Duration::from_hours(14 * 24);

/// For how long a bot has waited for a move at least whose match makes room for another, in
/// milliseconds.
pub(crate) const WAITED_MIN_MS: u64 = 10 * 60 * 1000;

/// When an open match of days ends by itself, if the time is `now_ms` since 1970. `None` for others.
pub(super) fn expires_at(state: &Match, now_ms: u64) -> Option<Instant> {
    let creation = state.creation();
    let waits = state.stage() == Stage::Open && creation.terms.is_of_days();
    let waited = Duration::from_millis(now_ms.saturating_sub(creation.created_ms()));
    waits.then(|| now() + OPEN_MAX.saturating_sub(waited))
}

/// When a match is let go of.
#[derive(Debug, Default)]
pub(super) struct Idleness {
    lets_go_at: Option<Instant>,
    /// It has ended when it was looked at, and nobody has seen that.
    is_over: bool,
}

impl Idleness {
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.lets_go_at
    }
}

impl Table {
    /// Takes note of whether anybody needs the match.
    pub(super) fn attend_idleness(&mut self) {
        let wait = match self.state.stage() {
            _ if self.teller.has_followers() => None,
            // It is in lists, and waits for somebody who looks there.
            Stage::Open => None,
            Stage::Running => {
                let is_idle = !self.owner.has_work(&self.state);
                (is_idle && self.state.creation().terms.is_of_days()).then_some(IDLE_MAX)
            }
            Stage::Ended { .. } => self.idleness.is_over.then_some(RETRY),
        };
        let lets_go_at = &mut self.idleness.lets_go_at;
        *lets_go_at = wait.map(|wait| lets_go_at.unwrap_or_else(|| now() + wait));
    }

    /// Lets go of the match if that is due and nobody asks for it at this moment.
    pub(super) fn let_go(&mut self, now: Instant) -> ControlFlow<End> {
        if self.idleness.lets_go_at.is_none_or(|at| now < at) {
            return GOES_ON;
        }
        let is_idle = || self.held.is_empty() && self.mailbox.is_empty();
        if self.server.lobby.let_go(self.state.id(), is_idle) {
            return ControlFlow::Break(End::Asleep);
        }
        self.idleness.lets_go_at = Some(now + RETRY);
        GOES_ON
    }

    /// Has the match woken when something is due, now that it is let go of.
    pub(super) fn leave_to_the_sweeper(&self) {
        if let Some(wake_ms) = Timekeeper::days_due_ms(&self.state) {
            self.server.store.release(self.state.id());
            self.server.metrics.dormant.inc();
            self.server.sweeper.expect(wake_ms);
        }
    }

    /// Does what is due, whatever has held it up.
    pub(super) async fn look(&mut self, reply: Reply) -> ControlFlow<End> {
        self.owner.time.release(&self.state);
        let going = self.do_due(now()).await;
        self.idleness.is_over = matches!(self.state.stage(), Stage::Ended { .. });
        reply.ok(None);
        going
    }

    /// Ends the match if a bot has waited for long enough for a move.
    pub(super) async fn give_up(&mut self, reply: Reply) -> ControlFlow<End> {
        let now_ms = self.server.clock.now_ms();
        let waited = |since| now_ms.saturating_sub(since) >= WAITED_MIN_MS;
        let going = match self.state.turn() {
            Some(seat) if self.state.bot_waits_ms().is_some_and(waited) => {
                self.act_by_itself(&Action::Abandon { seat }).await
            }
            Some(_) | None => GOES_ON,
        };
        reply.ok(None);
        going
    }
}
