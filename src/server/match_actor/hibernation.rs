//! How a match is let go of while nobody needs it, and what it does when it is looked at again.

use std::mem;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use plyhouse_matches::{Action, Match, Reminder, Stage, Timekeeper};
use plyhouse_store::WriteError;

use super::leader::{ActionError, Leader, RETRY};
use super::{End, GOES_ON, MatchActor};
use crate::connection::reply::Reply;
use crate::context::clock::now;

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
pub(super) struct Hibernation {
    lets_go_at: Option<Instant>,
    /// It has ended when it was looked at, and nobody has seen that.
    is_over: bool,
    /// The store has a reminder that was true when the match was let go of last.
    has_reminder: bool,
    /// When it is to be woken, once it is let go of.
    wakes_at_ms: Option<u64>,
}

impl Hibernation {
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.lets_go_at
    }

    /// Notes whether the store has a reminder of the match, which may be out of date from now on.
    pub(super) const fn is_reminded(&mut self, has_reminder: bool) {
        self.has_reminder = has_reminder;
    }
}

impl Leader {
    /// What is to be noted of a match that is not played over days, if it can be let go of now.
    fn resting(&self, state: &Match, now: Instant) -> Option<Reminder> {
        let is_there = |player| self.server.players.is_connected(player);
        if state.holders().any(is_there) {
            return None;
        }
        let deadline = self.attendance.next_deadline(state)?;
        let now_ms = self.server.clock.now_ms();
        let wake_ms = now_ms + whole_ms(deadline.checked_duration_since(now)?);
        // The sweeper does nothing before.
        if wake_ms < self.server.grace_ends_ms {
            return None;
        }
        Some(state.resting(wake_ms, |player| {
            let since = self.attendance.absent_since(player)?;
            Some(now_ms - whole_ms(now.saturating_duration_since(since)))
        }))
    }

    /// Goes on with what was noted when the match was let go of. After a restart all absence counts anew.
    pub(super) fn resume(&mut self, reminder: &Reminder) {
        let (now, now_ms) = (now(), self.server.clock.now_ms());
        let started_ms = self.server.started_ms;
        self.attendance.resume(|player| {
            let mut parts = reminder.parts.iter();
            let part = parts.find(|part| part.player == player)?;
            let since_ms = part.absent_ms?.max(started_ms);
            now.checked_sub(Duration::from_millis(now_ms.saturating_sub(since_ms)))
        });
    }

    /// Has the store keep a reminder alone.
    async fn remind(&mut self, state: &Match, reminder: Reminder) -> Result<(), ActionError> {
        let store = &self.server.store;
        let kept = store.append_with_reminder(state.id(), self.mark, Vec::new(), Some(reminder));
        match kept.await {
            Ok(mark) => {
                self.mark = mark;
                Ok(())
            }
            Err(WriteError::Conflict) => Err(ActionError::Lost),
            // If it is kept all the same, no harm is done.
            Err(
                WriteError::CodeTaken
                | WriteError::PlayerDeleted
                | WriteError::Unavailable
                | WriteError::OutcomeUnknown,
            ) => Err(ActionError::Unavailable),
        }
    }
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl MatchActor {
    /// Takes note of whether anybody needs the match.
    pub(super) fn attend_idleness(&mut self) {
        let wait = match self.state.stage() {
            _ if self.broadcaster.has_followers() || self.replicas.is_some() => None,
            // It is in lists, and waits for somebody who looks there.
            Stage::Open => None,
            Stage::Running => {
                let is_of_days = self.state.creation().terms.is_of_days();
                // How long a turn has lasted by a clock that runs is known here alone.
                let may_rest = is_of_days || self.leader.time.deadline().is_none();
                (may_rest && !self.leader.has_work(&self.state)).then_some(IDLE_MAX)
            }
            Stage::Ended { .. } => self.idleness.is_over.then_some(RETRY),
        };
        let lets_go_at = &mut self.idleness.lets_go_at;
        *lets_go_at = wait.map(|wait| lets_go_at.unwrap_or_else(|| now() + wait));
    }

    /// Lets go of the match if that is due and nobody needs it at this moment.
    pub(super) async fn rest(&mut self, now: Instant) -> ControlFlow<End> {
        if self.idleness.lets_go_at.is_none_or(|at| now < at) {
            return GOES_ON;
        }
        let is_of_days = self.state.creation().terms.is_of_days();
        if self.state.stage() == Stage::Running && !is_of_days {
            let Some(reminder) = self.leader.resting(&self.state, now) else {
                self.idleness.lets_go_at = Some(now + IDLE_MAX);
                return GOES_ON;
            };
            self.idleness.wakes_at_ms = reminder.wake_ms;
            if !self.remind(reminder).await? {
                self.idleness.lets_go_at = Some(now + RETRY);
                return GOES_ON;
            }
        }
        let is_idle = || self.held.is_empty() && self.mailbox.is_empty();
        if self.server.lobby.remove_if_idle(self.state.id(), is_idle) {
            return ControlFlow::Break(End::Asleep);
        }
        self.idleness.lets_go_at = Some(now + RETRY);
        GOES_ON
    }

    /// Has the store keep this reminder, which is not of a match of days. False if it does not.
    async fn remind(&mut self, reminder: Reminder) -> ControlFlow<End, bool> {
        self.idleness.has_reminder = true;
        match self.leader.remind(&self.state, reminder).await {
            Ok(()) => ControlFlow::Continue(true),
            Err(ActionError::Lost) => ControlFlow::Break(End::Lost),
            Err(ActionError::Refused(_) | ActionError::Forgotten | ActionError::Unavailable) => {
                ControlFlow::Continue(false)
            }
        }
    }

    /// Has the match woken when something is due, now that it is let go of.
    pub(super) fn hibernate(&self) {
        if self.state.stage() != Stage::Running {
            return;
        }
        let due_ms = Timekeeper::days_due_ms(&self.state);
        self.server.store.release(self.state.id());
        self.server.metrics.hibernating_matches.inc();
        self.server.players.match_ended(&self.state);
        if let Some(wake_ms) = due_ms.or(self.idleness.wakes_at_ms) {
            self.server.wake_times.add(wake_ms);
        }
    }

    /// Does what is due, whatever has held it up.
    pub(super) async fn look(&mut self, reply: Reply) -> ControlFlow<End> {
        self.leader.time.release(&self.state);
        let going = self.do_due(now()).await;
        let is_running = self.state.stage() == Stage::Running;
        self.idleness.is_over = matches!(self.state.stage(), Stage::Ended { .. });
        let is_of_days = self.state.creation().terms.is_of_days();
        if is_running && !is_of_days && mem::take(&mut self.idleness.has_reminder) {
            // It is awake: the sweeper need not look again.
            let none = Reminder {
                wake_ms: None,
                parts: Vec::new(),
            };
            self.remind(none).await?;
        }
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
