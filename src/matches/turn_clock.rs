//! Elapsed time of the current turn, and the deadline of the turn.
//!
//! The remaining time on the clocks is part of the match's history. The elapsed time of the current
//! turn is not stored, so the turn starts again after a restart of the server. A turn begins when
//! the server sends the first event of the turn. It ends when the server reads the move. The clock
//! can be paused during a turn.
//!
//! Correspondence matches use the wall clock instead. Each turn starts at the time of the event
//! that started it ([`Match::turn_start_ms`]), and the clock never pauses.
//! [`TurnClock::correspondence_deadline_ms`] returns the deadline of a correspondence turn without
//! a turn clock.

use std::time::{Duration, Instant};

use super::lag_compensation::LagCompensation;
use super::{Action, Match};
use plyhouse_engine::game::Seat;
use plyhouse_protocol::{ClockControl, PlayerId};
use serde::{Deserialize, Serialize};

/// Time limit for a player's first move, which the clock does not charge. If the clock has a fixed
/// time per move, the fixed time is the limit instead.
const FIRST_MOVE_LIMIT: Duration = Duration::from_secs(30);

/// If a timer fires late by more than this duration, the server assumes that the process or the
/// machine was suspended.
const LATE_THRESHOLD: Duration = Duration::from_secs(2);

/// Extra time that a turn gets after a suspension, so that the server can read the commands that
/// have arrived.
const LATE_GRACE: Duration = Duration::from_secs(1);

/// Clock that measures the turns of one match. It runs from the start of the match, or from the
/// time when the match was loaded.
#[derive(Debug)]
pub struct TurnClock {
    control: ClockControl,
    lag_compensation: LagCompensation,
    /// Time of the turn that had elapsed at `running_since`, when the clock last started to run.
    /// While the clock is paused, this is the total elapsed time of the turn.
    elapsed: Duration,
    running_since: Option<Instant>,
    pause_causes: PauseCauses,
    /// Time that a player used in this turn before a stand-in took the seat.
    used_before_substitution: Duration,
}

/// Causes of a pause. The clock runs only if none of these flags is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PauseCauses {
    /// The store accepts no writes.
    store_down: bool,
    /// The player to move is connected to a server that does not respond.
    player_unreachable: bool,
    /// The match was reloaded, and the player to move has not returned since then.
    player_absent: bool,
    /// No player sits in the match, and a stand-in plays until the replaced player returns.
    only_stand_ins: bool,
}

/// Time charged for a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockUsage {
    /// Charged time in whole milliseconds.
    pub ms: u64,
    compensation: Duration,
}

/// State of the clock in the current turn, as sent to clients and other servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnTime {
    /// Time charged for this turn so far, in milliseconds.
    pub turn_ms: u64,
    /// Whether the clock is paused.
    #[serde(rename = "stands")]
    pub paused: bool,
    /// Remaining time for the player's first move, in milliseconds; `None` if no limit on first
    /// moves applies.
    pub first_move_ms: Option<u64>,
}

impl TurnClock {
    /// Creates the turn clock of a match, or returns `None` for an untimed match. `lag_max` is the
    /// maximum average lag compensation per move.
    #[must_use]
    pub fn new(state: &Match, lag_max: Duration) -> Option<Self> {
        let control = state.clock()?;
        Some(Self {
            lag_compensation: LagCompensation::new(&control, lag_max),
            control,
            elapsed: Duration::ZERO,
            running_since: None,
            pause_causes: PauseCauses::default(),
            used_before_substitution: Duration::ZERO,
        })
    }

    /// Returns whether moves of this match receive lag compensation.
    #[must_use]
    pub fn compensates_lag(state: &Match, lag_max: Duration) -> bool {
        let control = state.clock();
        control.is_some_and(|control| LagCompensation::new(&control, lag_max).is_enabled())
    }

    /// Starts a new turn. `sent_at` is the time when the first event of the turn was sent.
    pub fn start_turn(&mut self, sent_at: Instant) {
        self.pause_causes.player_absent = false;
        self.restart_from(Duration::ZERO, sent_at);
    }

    fn restart_from(&mut self, elapsed: Duration, now: Instant) {
        self.elapsed = elapsed;
        self.used_before_substitution = Duration::ZERO;
        self.running_since = self.is_running().then_some(now);
    }

    fn is_running(&self) -> bool {
        self.pause_causes == PauseCauses::default()
    }

    /// Restarts the current turn after the match was reloaded or the player to move returned. If
    /// that player is absent, the clock is paused until they return. Absence does not pause a clock
    /// that has a fixed time per move. In a correspondence match, the elapsed time is computed from
    /// the wall clock time `now_ms`.
    pub fn restart_turn(
        &mut self,
        state: &Match,
        is_present: impl Fn(PlayerId) -> bool,
        now: Instant,
        now_ms: u64,
    ) {
        let can_pause = !matches!(self.control, ClockControl::Move { .. });
        let player = state.turn().and_then(|seat| state.occupant(seat).player());
        self.pause_causes = PauseCauses {
            store_down: false,
            player_unreachable: false,
            player_absent: can_pause && player.is_some_and(|player| !is_present(player)),
            only_stand_ins: state.waits_for_players(),
        };
        let passed = now_ms.saturating_sub(state.turn_start_ms());
        let elapsed = if self.control.is_correspondence() {
            passed
        } else {
            0
        };
        self.restart_from(Duration::from_millis(elapsed), now);
    }

    /// Updates the clock after the seats or the present players have changed. Must be called after
    /// every event, and each time a player becomes present or absent. Returns whether the clock was
    /// paused or resumed.
    pub fn update_presence(
        &mut self,
        state: &Match,
        is_present: impl Fn(PlayerId) -> bool,
        now: Instant,
    ) -> bool {
        let player = state.turn().and_then(|seat| state.occupant(seat).player());
        self.change_pause_causes(now, |causes| {
            causes.player_absent &= player.is_some_and(|player| !is_present(player));
            causes.only_stand_ins = state.waits_for_players();
        })
    }

    /// Records that a stand-in has taken the seat to move. The time that the replaced player used
    /// in this turn stays charged.
    pub fn record_substitution(&mut self, now: Instant) {
        self.used_before_substitution = self.elapsed(now);
    }

    /// Pauses the clock because the store has accepted no writes since `since`. Returns whether
    /// this call paused the clock.
    pub fn pause_for_store(&mut self, since: Instant) -> bool {
        self.change_pause_causes(since, |causes| causes.store_down = true)
    }

    /// Records that the store accepts writes again. Returns whether the clock resumed.
    pub fn resume_after_store(&mut self, now: Instant) -> bool {
        self.change_pause_causes(now, |causes| causes.store_down = false)
    }

    /// Pauses the clock because the server of the player to move has not responded since `since`.
    /// Returns whether this call paused the clock.
    pub fn pause_for_unreachable_player(&mut self, since: Instant) -> bool {
        self.change_pause_causes(since, |causes| causes.player_unreachable = true)
    }

    /// Records that the server of the player to move responds again. Returns whether the clock
    /// resumed.
    pub fn resume_for_reachable_player(&mut self, now: Instant) -> bool {
        self.change_pause_causes(now, |causes| causes.player_unreachable = false)
    }

    /// Returns whether the clock is paused because the store accepts no writes.
    #[must_use]
    pub const fn is_paused_for_store(&self) -> bool {
        self.pause_causes.store_down
    }

    /// Changes the causes of a pause. Returns whether the clock was paused or resumed.
    fn change_pause_causes(&mut self, now: Instant, change: impl FnOnce(&mut PauseCauses)) -> bool {
        let was_running = self.is_running();
        if self.control.is_correspondence() {
            // The clock of a correspondence match never pauses.
            self.pause_causes = PauseCauses::default();
            return false;
        }
        change(&mut self.pause_causes);
        let is_running = self.is_running();
        if was_running && !is_running {
            self.elapsed = self.elapsed(now);
            self.running_since = None;
        } else if is_running && !was_running {
            self.running_since = Some(now);
        }
        was_running != is_running
    }

    fn elapsed(&self, now: Instant) -> Duration {
        let elapsed_since = |since| now.saturating_duration_since(since);
        self.elapsed + self.running_since.map(elapsed_since).unwrap_or_default()
    }

    /// Returns the charge for a move that was read at `read_at`. `rtt` is the round-trip time of
    /// the connection that sent the move.
    ///
    /// The charge always leaves at least 1 ms, because the server read the move before the flag
    /// fell. If a player has two connections, the lag compensation for the slower one can postpone
    /// the deadline of the turn. A move over the faster connection must not cost the player the
    /// match.
    #[must_use]
    pub fn charge(
        &self,
        state: &Match,
        seat: Seat,
        read_at: Instant,
        rtt: Option<Duration>,
    ) -> ClockUsage {
        let elapsed = self.elapsed(read_at);
        let compensation = self.lag_compensation.compensation(seat, rtt, elapsed);
        let max_ms = self.allowance_ms(state, seat).saturating_sub(1);
        ClockUsage {
            ms: saturating_ms(elapsed - compensation).min(max_ms),
            compensation,
        }
    }

    /// Returns the charge in milliseconds for a bot's move after a search that took `search_time`.
    /// The charge never uses up the bot's remaining time.
    #[must_use]
    pub fn charge_bot(&self, state: &Match, seat: Seat, search_time: Duration) -> u64 {
        let charge_ms = saturating_ms(self.used_before_substitution + search_time);
        charge_ms.min(self.allowance_ms(state, seat).saturating_sub(1))
    }

    /// Returns the time that the player used in this turn before a stand-in took the seat.
    #[must_use]
    pub const fn used_before_substitution(&self) -> Duration {
        self.used_before_substitution
    }

    /// Records a move with its charge and the round-trip time of its connection. The free first ply
    /// of a seat uses no lag compensation, but increases the seat's lag quota like any other ply.
    pub fn record_move(
        &mut self,
        seat: Seat,
        charge: ClockUsage,
        was_free_ply: bool,
        rtt: Option<Duration>,
    ) {
        let compensation = if was_free_ply {
            Duration::ZERO
        } else {
            charge.compensation
        };
        self.lag_compensation.record_move(seat, rtt, compensation);
    }

    /// Returns the deadline of the turn for a player with this round-trip time. Returns `None`
    /// while the clock is paused or a bot is to move.
    #[must_use]
    pub fn deadline(&self, state: &Match, rtt: Option<Duration>) -> Option<Instant> {
        let since = self.running_since?;
        let seat = state.turn()?;
        state.occupant(seat).player()?;
        let limit = if state.is_free_ply() {
            self.first_move_limit()
        } else {
            let allowance = Duration::from_millis(self.allowance_ms(state, seat));
            allowance + self.lag_compensation.compensation(seat, rtt, Duration::MAX)
        };
        Some(since + limit.saturating_sub(self.elapsed))
    }

    /// Returns the action that the server must apply if the turn's deadline passes without a move.
    #[must_use]
    pub fn timeout_action(state: &Match) -> Action {
        if state.is_free_ply() {
            Action::NoFirstMove
        } else {
            Action::Flag
        }
    }

    /// Checks whether a timer fired so late that the process must have been suspended. If so, moves
    /// the start of the turn forward by the lateness of the timer and a grace period. The grace
    /// period allows the server to read the commands that have arrived. Returns whether the timer
    /// fired too late.
    pub fn shift_if_late(&mut self, deadline: Instant, now: Instant) -> bool {
        let lateness = now.saturating_duration_since(deadline);
        let is_late = lateness > LATE_THRESHOLD && !self.control.is_correspondence();
        if is_late && let Some(since) = &mut self.running_since {
            *since += lateness + LATE_GRACE;
        }
        is_late
    }

    /// Returns the state of the clock, or `None` if the match is not running.
    #[must_use]
    pub fn turn_time(&self, state: &Match, now: Instant) -> Option<TurnTime> {
        let seat = state.turn()?;
        let elapsed = self.elapsed(now);
        let is_bot = state.occupant(seat).bot_level().is_some();
        let limit = (!is_bot && state.is_free_ply()).then(|| self.first_move_limit());
        let turn_ms = match limit {
            Some(_) => 0,
            None if state.is_free_ply() => 0,
            None if is_bot => self.charge_bot(
                state,
                seat,
                elapsed.saturating_sub(self.used_before_substitution),
            ),
            None => saturating_ms(elapsed),
        };
        Some(TurnTime {
            turn_ms,
            paused: !self.is_running(),
            first_move_ms: limit.map(|limit| saturating_ms(limit.saturating_sub(elapsed))),
        })
    }

    fn allowance_ms(&self, state: &Match, seat: Seat) -> u64 {
        let remaining = state.remaining_time();
        remaining.map_or(0, |left| left.allowance_ms(&self.control, seat))
    }

    fn first_move_limit(&self) -> Duration {
        first_move_limit(&self.control)
    }

    /// Returns the deadline of the current turn in a correspondence match. The deadline is in
    /// milliseconds since 1970. Returns `None` if a bot is to move, and for matches that are not
    /// correspondence matches.
    #[must_use]
    pub fn correspondence_deadline_ms(state: &Match) -> Option<u64> {
        let Some(ClockControl::Move { move_ms }) =
            state.clock().filter(ClockControl::is_correspondence)
        else {
            return None;
        };
        state.occupant(state.turn()?).player()?;
        Some(state.turn_start_ms() + move_ms)
    }
}

/// Returns the time limit for a first ply that starts now, in milliseconds. Returns `None` for an
/// untimed match, and if the next ply is not the first move of a player.
#[must_use]
pub fn first_move_limit_ms(state: &Match) -> Option<u64> {
    let control = state.clock()?;
    state.occupant(state.turn()?).player()?;
    state
        .is_free_ply()
        .then(|| saturating_ms(first_move_limit(&control)))
}

const fn first_move_limit(control: &ClockControl) -> Duration {
    match control {
        ClockControl::Move { move_ms } => Duration::from_millis(*move_ms),
        ClockControl::Fischer { .. }
        | ClockControl::Delay { .. }
        | ClockControl::ByoYomi { .. } => FIRST_MOVE_LIMIT,
    }
}

fn saturating_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
