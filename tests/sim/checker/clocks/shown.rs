//! What is shown of a turn while it lasts.

use plyhouse_protocol::{ClockControl, ClockState, Snapshot};

use super::{Clock, FIRST_MOVE_MS, Turn};

/// When a connection was opened, and when it was told something.
pub(in crate::checker) type Times = (u128, u128);

/// What a snapshot or a `clock` tells of a turn.
#[derive(Debug)]
pub(in crate::checker) struct TurnShown {
    /// When the connection was opened: a server that died since may have told it.
    opened_us: u128,
    at_us: u128,
    pub(in crate::checker) turn_ms: Option<u64>,
    pub(in crate::checker) stands: Option<bool>,
    pub(in crate::checker) first_move_ms: Option<u64>,
}

impl TurnShown {
    pub(in crate::checker) const fn snapshot(
        (opened_us, at_us): Times,
        snapshot: &Snapshot,
    ) -> Self {
        Self {
            opened_us,
            at_us,
            turn_ms: snapshot.turn_ms,
            stands: snapshot.paused,
            first_move_ms: snapshot.first_move_ms,
        }
    }

    pub(in crate::checker) const fn clock((opened_us, at_us): Times, clock: &ClockState) -> Self {
        Self {
            opened_us,
            at_us,
            turn_ms: Some(clock.turn_ms),
            stands: Some(clock.paused),
            first_move_ms: clock.first_move_ms,
        }
    }
}

impl Clock<'_> {
    /// What is wrong with what was shown of the turn after the last event.
    pub(in crate::checker) fn shown(&self, turn: Turn, shown: &TurnShown) -> Option<String> {
        let (Some(control), Some(time), Some(seat)) = (self.control, self.time, turn.seat) else {
            let TurnShown {
                turn_ms, stands, ..
            } = shown;
            let is_nothing = turn_ms.is_none() && stands.is_none();
            return (!is_nothing || shown.first_move_ms.is_some())
                .then(|| format!("{}: {shown:?} of a clock that does not run", self.id));
        };
        let wrong = |why: &str| Some(format!("{}: {shown:?}, {why}, {time:?}", self.id));
        let (Some(turn_ms), Some(stands)) = (shown.turn_ms, shown.stands) else {
            return wrong("it should be told");
        };
        let is_free = self.is_free(seat);
        if shown.first_move_ms.is_some() != (is_free && turn.player.is_some())
            || is_free && turn_ms > 0
        {
            return wrong("which ply is free");
        }
        let may_stand = !self.is_of_days();
        let is_undisturbed = !turn.waits && self.is_undisturbed(shown.at_us);
        if stands && (is_undisturbed || !may_stand) {
            return wrong("nothing has stopped it");
        }
        if !stands && turn.waits && may_stand {
            return wrong("it should stand");
        }
        let passed_us = self.passed_us(turn, shown.opened_us, shown.at_us);
        // Whoever is not known to have come back yet has not lost any time.
        let passed_ms = passed_us.map_or(0, |passed| u64::try_from(passed / 1000).expect("ms"));
        if turn_ms > passed_ms {
            return wrong("less has passed");
        }
        let limit = match control {
            ClockControl::Move { move_ms } => move_ms,
            _ => FIRST_MOVE_MS,
        };
        let least = limit.saturating_sub(passed_ms + 1);
        match shown.first_move_ms {
            Some(first) if !(least..=limit).contains(&first) => wrong("its limit"),
            Some(_) | None => None,
        }
    }
}
