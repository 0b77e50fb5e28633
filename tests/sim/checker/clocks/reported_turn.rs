//! Checks the data that snapshots and clock messages report about an unfinished turn.

use plyhouse_protocol::{ClockControl, ClockState, Snapshot};

use super::{ExpectedClock, FIRST_MOVE_LIMIT_MS, Turn};

/// Two times in microseconds. The first is when a connection was opened, the second is when the
/// connection received a message.
pub(in crate::checker) type ObservationTimes = (u128, u128);

/// Data about the current turn in a snapshot or a `clock` message.
#[derive(Debug)]
pub(in crate::checker) struct ReportedTurn {
    /// When the connection was opened, in microseconds. The data comes from the server process that
    /// ran at that time, even if this process has crashed since.
    opened_us: u128,
    at_us: u128,
    pub(in crate::checker) turn_ms: Option<u64>,
    pub(in crate::checker) is_paused: Option<bool>,
    pub(in crate::checker) first_move_ms: Option<u64>,
}

impl ReportedTurn {
    pub(in crate::checker) const fn from_snapshot(
        (opened_us, at_us): ObservationTimes,
        snapshot: &Snapshot,
    ) -> Self {
        Self {
            opened_us,
            at_us,
            turn_ms: snapshot.turn_ms,
            is_paused: snapshot.paused,
            first_move_ms: snapshot.first_move_ms,
        }
    }

    pub(in crate::checker) const fn from_clock(
        (opened_us, at_us): ObservationTimes,
        clock: &ClockState,
    ) -> Self {
        Self {
            opened_us,
            at_us,
            turn_ms: Some(clock.turn_ms),
            is_paused: Some(clock.paused),
            first_move_ms: clock.first_move_ms,
        }
    }
}

impl ExpectedClock<'_> {
    /// Checks the reported data of a turn against the expected clock.
    pub(in crate::checker) fn check_reported(
        &self,
        turn: Turn,
        shown: &ReportedTurn,
    ) -> Option<String> {
        let (Some(control), Some(time), Some(seat)) = (self.control, self.remaining, turn.seat)
        else {
            let ReportedTurn {
                turn_ms,
                is_paused: stands,
                ..
            } = shown;
            let is_nothing = turn_ms.is_none() && stands.is_none();
            return (!is_nothing || shown.first_move_ms.is_some())
                .then(|| format!("{}: {shown:?} for a clock that is not running", self.id));
        };
        let wrong = |reason: &str| Some(format!("{}: {shown:?}, {reason}, {time:?}", self.id));
        let (Some(turn_ms), Some(is_paused)) = (shown.turn_ms, shown.is_paused) else {
            return wrong("the running turn is missing");
        };
        let is_free = self.is_free_ply(seat);
        if shown.first_move_ms.is_some() != (is_free && turn.player.is_some())
            || is_free && turn_ms > 0
        {
            return wrong("the first-move limit is wrong");
        }
        let can_pause = !self.is_correspondence();
        let is_uninterrupted = !turn.waits_for_players && self.is_uninterrupted(shown.at_us);
        if is_paused && (is_uninterrupted || !can_pause) {
            return wrong("it is paused without a reason");
        }
        if !is_paused && turn.waits_for_players && can_pause {
            return wrong("it should be paused");
        }
        let elapsed_us = self.elapsed_max_us(turn, shown.opened_us, shown.at_us);
        // If the player has not logged in since a server restart, `elapsed_us` is `None`. The clock
        // has been paused since the restart, so no thinking time has elapsed.
        let elapsed_ms = elapsed_us.map_or(0, |passed| {
            u64::try_from(passed / 1000).expect("milliseconds fit into u64")
        });
        if turn_ms > elapsed_ms {
            return wrong("less time has elapsed");
        }
        let limit = match control {
            ClockControl::Move { move_ms } => move_ms,
            _ => FIRST_MOVE_LIMIT_MS,
        };
        let min_ms = limit.saturating_sub(elapsed_ms + 1);
        match shown.first_move_ms {
            Some(first) if !(min_ms..=limit).contains(&first) => {
                wrong("the first-move limit is out of range")
            }
            Some(_) | None => None,
        }
    }
}
