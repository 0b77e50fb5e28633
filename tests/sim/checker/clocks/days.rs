//! Matches of days: there the wall clock counts, which nothing stops.

use plyhouse_protocol::{ClockControl, PlayerId};

use super::{Clock, HEARD_US, Turn};
use crate::world::RESTART_GRACE;

/// How much later than due a flag may fall, in microseconds: whoever wakes matches asks the store first,
/// which is slow.
const LATE_MAX_US: u128 = 1_000_000;

impl Clock<'_> {
    pub(super) fn is_of_days(&self) -> bool {
        self.control
            .is_some_and(|control| control.is_correspondence())
    }

    /// Whether this clock stops for nothing that happens to the server.
    pub(super) fn goes_on_anyhow(&self) -> bool {
        self.is_of_days() && !self.has_changed_hands
    }

    /// How much of the turn has passed by the wall clock, in microseconds.
    pub(super) fn days_us(&self, at_us: u128) -> u128 {
        let began_us = u128::from(self.turn_at_ms) * 1000;
        self.reading.wall.shows_us(at_us).saturating_sub(began_us)
    }

    /// Whether the server holds flags of days, having just started.
    pub(super) fn is_within_grace(&self, at_us: u128) -> bool {
        self.is_of_days() && at_us < self.grace_ends_us(at_us)
    }

    /// When the grace after the last restart before an instant ends.
    fn grace_ends_us(&self, at_us: u128) -> u128 {
        let restart = self.reading.restarts.iter().rfind(|at| **at <= at_us);
        restart.map_or(0, |restart| restart + RESTART_GRACE.as_micros())
    }

    /// Whose turn it is and by when they must have moved, in milliseconds since 1970.
    pub(in crate::checker) fn days_turn(&self, turn: Turn) -> Option<(PlayerId, u64)> {
        let Some(ClockControl::Move { move_ms }) = self.control.filter(|_| self.is_of_days())
        else {
            return None;
        };
        Some((turn.player?, self.turn_at_ms + move_ms))
    }

    /// What is wrong with a turn of days that lasts at an instant, or that ends then by its flag.
    pub(super) fn is_late(&self, turn: Turn, at_us: u128) -> Option<String> {
        let (_, due_ms) = self.days_turn(turn)?;
        let shows_us = self.reading.wall.shows_us(at_us);
        let over_us = shows_us.saturating_sub(u128::from(due_ms) * 1000);
        let over_us = over_us.min(at_us.saturating_sub(self.grace_ends_us(at_us)));
        let is_late = over_us > LATE_MAX_US && self.is_kept_since(at_us - over_us);
        is_late.then(|| format!("{}: {turn:?} was over {over_us} us ago", self.id))
    }

    /// Whether the store has done since then all that it was asked for.
    fn is_kept_since(&self, since_us: u128) -> bool {
        let mut troubles = self.kept.troubles.values().flatten();
        let has_trouble = troubles.any(|trouble| {
            let until = trouble.until.map_or(u128::MAX, |until| until.as_micros());
            since_us <= until.saturating_add(HEARD_US)
        });
        let last = self.kept.unread_at.map(|at| at.as_micros());
        !has_trouble && last.is_none_or(|last| last < since_us)
    }
}
