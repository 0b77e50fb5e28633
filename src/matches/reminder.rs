//! What is known of a match without reading it: whose it is, and when somebody has to look at it.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::PlayerId;

use super::offers::Offers;
use super::{Event, EventKind, Match, Stage, Timekeeper};

/// What a store keeps of a match beside its events, and gives by player and by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reminder {
    /// When somebody has to look at the match, in milliseconds since 1970. Until then it need not be in
    /// anybody's memory. `None` for a match that is served all the time.
    pub wake_ms: Option<u64>,
    /// Whose match it is.
    pub parts: Vec<Part>,
}

/// A player's part in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whose part it is.
    pub player: PlayerId,
    /// Where the player sits; nowhere if the match is only hosted.
    pub seat: Option<Seat>,
    /// Where a bot stands in for the player.
    pub stood_in: Option<Seat>,
    /// How far the match has come, if it is played over days.
    pub days: Option<DaysTurn>,
    /// Since when the player has been away, in milliseconds since 1970, where that is counted.
    pub absent_ms: Option<u64>,
}

/// Whose turn it is in a match of days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaysTurn {
    /// The seat that is to move; none while the match is open.
    pub turn: Option<Seat>,
    /// By when, in milliseconds since 1970; absent for bots, too.
    pub due_ms: Option<u64>,
}

impl Match {
    /// The reminder of a match of days, which is to be kept with every event that changes it. `None` for
    /// other matches, and once it has ended.
    ///
    /// It is woken when its turn must have ended. While it is open, or a bot is to move, it is served all
    /// the time.
    #[must_use]
    pub fn reminder(&self) -> Option<Reminder> {
        let is_live = !matches!(self.stage(), Stage::Ended { .. });
        if !is_live || !self.creation().terms.is_of_days() {
            return None;
        }
        let due_ms = Timekeeper::days_due_ms(self);
        let turn = self.turn();
        Some(Reminder {
            wake_ms: due_ms,
            parts: self.parts(Some(DaysTurn { turn, due_ms }), |_| None),
        })
    }

    /// The reminder of a match that is not played over days and is let go of: when it is to be woken, and
    /// since when its players have been away by then.
    #[must_use]
    pub fn resting(&self, wake_ms: u64, absent_ms: impl Fn(PlayerId) -> Option<u64>) -> Reminder {
        Reminder {
            wake_ms: Some(wake_ms),
            parts: self.parts(None, absent_ms),
        }
    }

    /// The reminder of a match of days by the time these events will have become part of it. `None` where
    /// that is the one that is kept already, and with the end.
    #[must_use]
    pub fn reminder_after(&self, events: &[Event]) -> Option<Reminder> {
        let is_seated = |event: &Event| matches!(event.kind, EventKind::Seated { .. });
        let changes = |event: &Event| event.kind.begins_turn() || is_seated(event);
        let is_over = events.last().is_some_and(Event::is_end);
        if is_over || !self.creation.terms.is_of_days() || !events.iter().any(changes) {
            return None;
        }
        let mut later = self.without_offers();
        let mut changing = events.iter().filter(|event| changes(event));
        changing.try_for_each(|event| later.fold(event)).ok()?;
        later.reminder()
    }

    /// The match but for what is offered in it. That costs as much as to play it through.
    fn without_offers(&self) -> Self {
        let position = self.position_at(self.played.len());
        Self {
            creation: self.creation.clone(),
            seats: self.seats.clone(),
            stage: self.stage,
            start: self.start.clone(),
            position: position.expect("so many moves stand"),
            played: self.played.clone(),
            sans: self.sans.clone(),
            seq: self.seq,
            turn_at_ms: self.turn_at_ms,
            left: self.left,
            patience_ms: self.patience_ms,
            takebacks: self.takebacks,
            offers: Offers::default(),
            hinted: self.hinted,
            stood_in: self.stood_in,
            ended_ms: self.ended_ms,
        }
    }

    /// Everybody's part: whoever sits here or has a bot stand in, and the host.
    fn parts(
        &self,
        days: Option<DaysTurn>,
        absent_ms: impl Fn(PlayerId) -> Option<u64>,
    ) -> Vec<Part> {
        let host = self.creation().host;
        let is_other = !self.holders().any(|holder| holder == host);
        let players = self.holders().chain(is_other.then_some(host));
        let part = |player| Part {
            player,
            seat: self.seat_of(player),
            stood_in: self.stood_in(player),
            days,
            absent_ms: absent_ms(player),
        };
        players.map(part).collect()
    }
}

#[cfg(test)]
mod tests;
