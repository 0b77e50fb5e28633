//! Checks of correspondence clocks. These clocks follow the wall clock and are never paused.

use plyhouse_protocol::{ClockControl, PlayerId};

use super::{ExpectedClock, STORE_RECOVERY_MAX_US, Turn};
use crate::world::RESTART_GRACE;

/// Maximum time between the deadline of a turn and the event that ends the match, in microseconds.
/// The server first reads the matches with expired deadlines from the store, which can be slow.
const FLAG_DELAY_MAX_US: u128 = 1_000_000;

impl ExpectedClock<'_> {
    pub(super) fn is_correspondence(&self) -> bool {
        self.control
            .is_some_and(|control| control.is_correspondence())
    }

    /// Returns whether the clock of the current turn keeps running during crashes and store
    /// outages.
    pub(super) fn runs_during_outages(&self) -> bool {
        self.is_correspondence() && !self.occupant_changed
    }

    /// Returns how long the turn has lasted by the wall clock, in microseconds.
    pub(super) fn wall_elapsed_us(&self, at_us: u128) -> u128 {
        let began_us = u128::from(self.turn_started_ms) * 1000;
        self.observations
            .wall_clock
            .unix_us(at_us)
            .saturating_sub(began_us)
    }

    /// Returns whether this is a correspondence match and `at_us` is in the grace period after a
    /// server restart. The server must not end such a match by time during that period.
    pub(super) fn is_within_grace(&self, at_us: u128) -> bool {
        self.is_correspondence() && at_us < self.grace_end_us(at_us)
    }

    /// Returns the end of the grace period after the last restart before `at_us`.
    fn grace_end_us(&self, at_us: u128) -> u128 {
        let restart = self.observations.restarts.iter().rfind(|at| **at <= at_us);
        restart.map_or(0, |restart| restart + RESTART_GRACE.as_micros())
    }

    /// Returns the player on turn and the deadline of the turn, in milliseconds since 1970.
    pub(in crate::checker) fn correspondence_turn(&self, turn: Turn) -> Option<(PlayerId, u64)> {
        let Some(ClockControl::Move { move_ms }) =
            self.control.filter(|_| self.is_correspondence())
        else {
            return None;
        };
        Some((turn.player?, self.turn_started_ms + move_ms))
    }

    /// Returns an error if the deadline of a correspondence turn passed so long before `at_us` that
    /// the match should already have ended.
    pub(super) fn late_flag_error(&self, turn: Turn, at_us: u128) -> Option<String> {
        let (_, deadline_ms) = self.correspondence_turn(turn)?;
        let now_us = self.observations.wall_clock.unix_us(at_us);
        let overdue_us = now_us.saturating_sub(u128::from(deadline_ms) * 1000);
        let over_us = overdue_us.min(at_us.saturating_sub(self.grace_end_us(at_us)));
        let is_late = over_us > FLAG_DELAY_MAX_US && self.is_store_healthy_since(at_us - over_us);
        is_late.then(|| format!("{}: {turn:?} ended {over_us} us ago", self.id))
    }

    /// Returns whether the store has worked without failures since `since_us`. The effects of a
    /// failed write last until [`STORE_RECOVERY_MAX_US`] after the server learns that the store
    /// works again.
    fn is_store_healthy_since(&self, since_us: u128) -> bool {
        let mut failures = self.stored.write_failures.values().flatten();
        let has_failure = failures.any(|failure| {
            let until = failure
                .resolved_at
                .map_or(u128::MAX, |until| until.as_micros());
            since_us <= until.saturating_add(STORE_RECOVERY_MAX_US)
        });
        let last = self.stored.last_read_failure.map(|at| at.as_micros());
        !has_failure && last.is_none_or(|last| last < since_us)
    }
}
