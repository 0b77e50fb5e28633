//! What is known of a match without reading it: whose it is, and when somebody has to look at it.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::PlayerId;

use super::offers::Offers;
use super::{Event, EventKind, Match, Stage, TurnClock};

/// What a store keeps of a match beside its events, and gives by player and by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reminder {
    /// When somebody has to look at the match, in milliseconds since 1970. Until then it need not be in
    /// anybody's memory. `None` for a match that is served all the time.
    pub wake_ms: Option<u64>,
    /// Whose match it is.
    pub participations: Vec<Participation>,
}

/// A player's part in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Participation {
    /// Whose part it is.
    pub player: PlayerId,
    /// Where the player sits; nowhere if the match is only hosted.
    pub seat: Option<Seat>,
    /// Where a bot stands in for the player.
    pub substituted_seat: Option<Seat>,
    /// How far the match has come, if it is played over days.
    pub correspondence_turn: Option<CorrespondenceTurn>,
    /// Since when the player has been away, in milliseconds since 1970, where that is counted.
    pub absent_since_ms: Option<u64>,
}

/// Whose turn it is in a match of days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorrespondenceTurn {
    /// The seat that is to move; none while the match is open.
    pub turn: Option<Seat>,
    /// By when, in milliseconds since 1970; absent for bots, too.
    pub deadline_ms: Option<u64>,
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
        if !is_live || !self.creation().terms.is_correspondence() {
            return None;
        }
        let deadline_ms = TurnClock::correspondence_deadline_ms(self);
        let turn = self.turn();
        Some(Reminder {
            wake_ms: deadline_ms,
            participations: self
                .participations(Some(CorrespondenceTurn { turn, deadline_ms }), |_| None),
        })
    }

    /// The reminder of a match that is not played over days and is let go of: when it is to be woken, and
    /// since when its players have been away by then.
    #[must_use]
    pub fn hibernation_reminder(
        &self,
        wake_ms: u64,
        absent_since_ms: impl Fn(PlayerId) -> Option<u64>,
    ) -> Reminder {
        Reminder {
            wake_ms: Some(wake_ms),
            participations: self.participations(None, absent_since_ms),
        }
    }

    /// The reminder of a match of days by the time these events will have become part of it. `None` where
    /// that is the one that is kept already, and with the end.
    #[must_use]
    pub fn reminder_after(&self, events: &[Event]) -> Option<Reminder> {
        let is_seated = |event: &Event| matches!(event.kind, EventKind::Seated { .. });
        let affects_reminder = |event: &Event| event.kind.begins_turn() || is_seated(event);
        let is_over = events.last().is_some_and(Event::is_end);
        if is_over
            || !self.creation.terms.is_correspondence()
            || !events.iter().any(affects_reminder)
        {
            return None;
        }
        let mut after_events = self.clone_without_offers();
        let mut relevant_events = events.iter().filter(|event| affects_reminder(event));
        relevant_events
            .try_for_each(|event| after_events.fold(event))
            .ok()?;
        after_events.reminder()
    }

    /// The match but for what is offered in it. That costs as much as to play it through.
    fn clone_without_offers(&self) -> Self {
        let position = self.position_at(self.played_moves.len());
        Self {
            creation: self.creation.clone(),
            seats: self.seats.clone(),
            stage: self.stage,
            initial_position: self.initial_position.clone(),
            position: position.expect("all moves can be replayed"),
            played_moves: self.played_moves.clone(),
            san_moves: self.san_moves.clone(),
            seq: self.seq,
            turn_start_ms: self.turn_start_ms,
            remaining: self.remaining,
            absence_limit_ms: self.absence_limit_ms,
            takebacks: self.takebacks,
            offers: Offers::default(),
            last_hinted_ply: self.last_hinted_ply,
            substitution_counts: self.substitution_counts,
            ended_ms: self.ended_ms,
        }
    }

    /// Everybody's part: whoever sits here or has a bot stand in, and the host.
    fn participations(
        &self,
        correspondence_turn: Option<CorrespondenceTurn>,
        absent_since_ms: impl Fn(PlayerId) -> Option<u64>,
    ) -> Vec<Participation> {
        let host = self.creation().host;
        let is_other = !self.seat_holders().any(|holder| holder == host);
        let players = self.seat_holders().chain(is_other.then_some(host));
        let participation = |player| Participation {
            player,
            seat: self.seat_of(player),
            substituted_seat: self.substituted_seat(player),
            correspondence_turn,
            absent_since_ms: absent_since_ms(player),
        };
        players.map(participation).collect()
    }
}

#[cfg(test)]
mod tests;
