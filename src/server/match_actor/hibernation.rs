//! Unloads idle matches, and checks their timers after they are loaded again.

use std::mem;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use plyhouse_matches::{Action, Match, Reminder, Stage, TurnClock};
use plyhouse_store::WriteError;

use super::leader::{Leader, RETRY_DELAY};
use super::{CONTINUE, MatchActor, StopReason};
use crate::context::clock_and_rng::{now, to_millis};

/// Idle time before a match is unloaded.
const IDLE_TIMEOUT: Duration = Duration::from_mins(10);

/// Time from the creation of an open correspondence match until it expires.
const OPEN_MATCH_LIFETIME: Duration = Duration::from_hours(14 * 24);

/// Minimum time that a bot must have waited for its opponent's move, in milliseconds. After this
/// time, the server may end the match so that the player can host another one.
pub(crate) const BOT_WAIT_MIN_MS: u64 = 10 * 60 * 1000;

/// Returns the time at which an open correspondence match expires. Returns `None` for all other
/// matches. `now_ms` is the current time in milliseconds since 1970.
pub(super) fn open_match_expiry(state: &Match, now_ms: u64) -> Option<Instant> {
    let creation = state.creation();
    let can_expire = state.stage() == Stage::Open && creation.terms.is_correspondence();
    let age = Duration::from_millis(now_ms.saturating_sub(creation.created_ms()));
    can_expire.then(|| now() + OPEN_MATCH_LIFETIME.saturating_sub(age))
}

/// State that decides when a match is unloaded.
#[derive(Debug, Default)]
pub(super) struct Hibernation {
    /// Time at which the match is unloaded, if it is idle.
    pub(super) hibernates_at: Option<Instant>,
    /// Whether the match had ended at the last check of its timers. An ended match without
    /// followers is unloaded soon.
    has_ended_unobserved: bool,
    /// Whether the store may hold a reminder that was written when the match was last unloaded.
    has_reminder: bool,
    /// Time at which the unloaded match must be loaded again, in milliseconds since 1970.
    wakes_at_ms: Option<u64>,
}

impl Hibernation {
    /// `has_reminder` is whether the store holds a reminder for the match.
    pub(super) fn new(has_reminder: bool) -> Self {
        Self {
            has_reminder,
            ..Self::default()
        }
    }
}

impl Leader {
    /// Returns the reminder to store before a running match is unloaded. The match must not be a
    /// correspondence match. Returns `None` if the match cannot be unloaded now.
    fn hibernation_reminder(&self, state: &Match, now: Instant) -> Option<Reminder> {
        let is_connected = |player| self.server.identity.players.is_connected(player);
        if state.seat_holders().any(is_connected) {
            return None;
        }
        let deadline = self.absence_timers.next_deadline(state)?;
        let now_ms = self.server.infra.clock.now_ms();
        let wake_ms = now_ms + to_millis(deadline.checked_duration_since(now)?);
        // The wake scheduler does not run before the end of the restart grace period.
        if wake_ms < self.server.matches.grace_ends_ms {
            return None;
        }
        Some(state.hibernation_reminder(wake_ms, |player| {
            let since = self.absence_timers.absent_since(player)?;
            Some(now_ms - to_millis(now.saturating_duration_since(since)))
        }))
    }

    /// Restores the absence times from the reminder. The time before the start of this server
    /// process does not count as absence.
    pub(super) fn resume(&mut self, reminder: &Reminder) {
        let (now, now_ms) = (now(), self.server.infra.clock.now_ms());
        let started_ms = self.server.infra.started_ms;
        self.absence_timers.restore(|player| {
            let mut participations = reminder.participations.iter();
            let participation = participations.find(|part| part.player == player)?;
            let since_ms = participation.absent_since_ms?.max(started_ms);
            now.checked_sub(Duration::from_millis(now_ms.saturating_sub(since_ms)))
        });
    }
}

impl MatchActor {
    /// Starts or stops the unload timer, depending on whether the match must stay in memory.
    pub(super) fn update_hibernation_deadline(&mut self) {
        let wait = match self.view.state.stage() {
            _ if self.view.has_followers() || self.replicas.is_some() => None,
            // An open match appears in lists and waits for a player to join, so it must stay in
            // memory.
            Stage::Open => None,
            Stage::Running => {
                let is_correspondence = self.view.state.creation().terms.is_correspondence();
                // The elapsed time of a running turn is not stored, so the match must stay in
                // memory.
                let can_hibernate = is_correspondence || self.leader.match_clock.flag_at.is_none();
                (can_hibernate && !self.leader.has_bot_work(&self.view.state))
                    .then_some(IDLE_TIMEOUT)
            }
            Stage::Ended { .. } => {
                let unloads = self.hibernation.has_ended_unobserved || self.is_restorable();
                unloads.then_some(RETRY_DELAY)
            }
        };
        let hibernates_at = &mut self.hibernation.hibernates_at;
        *hibernates_at = wait.map(|wait| hibernates_at.unwrap_or_else(|| now() + wait));
    }

    /// Returns whether this ended match can be unloaded without a client noticing: the store holds
    /// all of its state, and no list shows it.
    fn is_restorable(&self) -> bool {
        self.server.infra.cluster.is_none()
            && self.delayed_view.is_none()
            // The rating task sends the rating changes only to matches in memory.
            && !self.view.state.creation().terms.rated
            && self.chat.is_empty()
            && self.rematch_offers.is_unused()
            && !self.leader.summary.is_listed()
    }

    /// Unloads the match if the unload timer has expired and the match is not in use.
    pub(super) async fn try_hibernate(&mut self, now: Instant) -> ControlFlow<StopReason> {
        if self.hibernation.hibernates_at.is_none_or(|at| now < at) {
            return CONTINUE;
        }
        let is_correspondence = self.view.state.creation().terms.is_correspondence();
        if self.view.state.stage() == Stage::Running && !is_correspondence {
            let Some(reminder) = self.leader.hibernation_reminder(&self.view.state, now) else {
                self.hibernation.hibernates_at = Some(now + IDLE_TIMEOUT);
                return CONTINUE;
            };
            self.hibernation.wakes_at_ms = reminder.wake_ms;
            if !self.store_reminder(reminder).await? {
                self.hibernation.hibernates_at = Some(now + RETRY_DELAY);
                return CONTINUE;
            }
        }
        let lobby = &self.server.matches.lobby;
        let is_idle = || self.deferred.is_empty() && self.mailbox.is_empty();
        if lobby.remove_if_idle(self.view.state.id(), is_idle) {
            return ControlFlow::Break(StopReason::Hibernated);
        }
        self.hibernation.hibernates_at = Some(now + RETRY_DELAY);
        CONTINUE
    }

    /// Stores a reminder for a match that is not a correspondence match. Returns `false` if the
    /// store rejects the reminder.
    async fn store_reminder(&mut self, reminder: Reminder) -> ControlFlow<StopReason, bool> {
        self.hibernation.has_reminder = true;
        let (store, position) = (&self.server.infra.store, self.leader.journal_position);
        let stored =
            store.append_with_reminder(self.view.state.id(), position, Vec::new(), Some(reminder));
        match stored.await {
            Ok(position) => {
                self.leader.journal_position = position;
                ControlFlow::Continue(true)
            }
            Err(WriteError::Conflict) => ControlFlow::Break(StopReason::Reload),
            // If the store wrote the reminder despite the error, the reminder does no harm.
            Err(_) => ControlFlow::Continue(false),
        }
    }

    /// Releases the ownership of the unloaded match and schedules its wake-up.
    pub(super) fn hibernate(&self) {
        if self.view.state.stage() != Stage::Running {
            return;
        }
        let flag_at_ms = TurnClock::correspondence_deadline_ms(&self.view.state);
        self.server.infra.store.release(self.view.state.id());
        self.server.infra.metrics.hibernating_matches.inc();
        let players = &self.server.identity.players;
        players.on_match_ended(&self.view.state);
        if let Some(wake_ms) = flag_at_ms.or(self.hibernation.wakes_at_ms) {
            self.server.matches.wake_times.add(wake_ms);
        }
    }

    /// Ends the match's restart grace period and then applies the action whose timer has expired.
    pub(super) async fn check_timers(&mut self) -> ControlFlow<StopReason> {
        self.leader.match_clock.end_grace(&self.view.state);
        let flow = self.run_timer_action(now()).await;
        let is_running = self.view.state.stage() == Stage::Running;
        self.hibernation.has_ended_unobserved =
            matches!(self.view.state.stage(), Stage::Ended { .. });
        let is_correspondence = self.view.state.creation().terms.is_correspondence();
        if is_running && !is_correspondence && mem::take(&mut self.hibernation.has_reminder) {
            // The match is in memory and runs its own timers, so the wake scheduler need not load
            // it.
            let cleared = Reminder {
                wake_ms: None,
                participations: Vec::new(),
            };
            self.store_reminder(cleared).await?;
        }
        flow
    }

    /// Ends the match if a bot has waited long enough for a move.
    pub(super) async fn resign_idle_bot_game(&mut self) -> ControlFlow<StopReason> {
        let now_ms = self.server.infra.clock.now_ms();
        let has_waited_long = |since| now_ms.saturating_sub(since) >= BOT_WAIT_MIN_MS;
        let waiting_since_ms = self.view.state.bot_waiting_since_ms();
        match self.view.state.turn() {
            Some(seat) if waiting_since_ms.is_some_and(has_waited_long) => {
                self.apply_own_action(&Action::Abandon { seat }).await
            }
            Some(_) | None => CONTINUE,
        }
    }
}
