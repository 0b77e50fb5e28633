//! Data about a match that a server needs without reading the events: the participants, and the
//! time when a server must load the match.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::PlayerId;

use super::{Event, EventKind, Match, Stage, TurnClock};

/// Data about a match that the store holds in addition to the match's events. The store can query
/// this data by player and by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reminder {
    /// Time at which a server must load the match, in milliseconds since 1970. No server needs to
    /// hold the match in memory before that time. `None` for a match that must stay in memory.
    pub wake_ms: Option<u64>,
    /// Participation of each player of the match.
    pub participations: Vec<Participation>,
}

/// Participation of a player in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Participation {
    /// Player who participates.
    pub player: PlayerId,
    /// Seat where the player sits. `None` for a host without a seat, and for a player who is
    /// replaced by a stand-in.
    pub seat: Option<Seat>,
    /// Seat where a stand-in replaces the player.
    pub substituted_seat: Option<Seat>,
    /// State of the current turn, in a correspondence match.
    pub correspondence_turn: Option<CorrespondenceTurn>,
    /// Start of the player's absence in milliseconds since 1970, if the absence is limited.
    pub absent_since_ms: Option<u64>,
}

/// Current turn of a correspondence match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorrespondenceTurn {
    /// Seat to move; `None` while the match is open.
    pub turn: Option<Seat>,
    /// Deadline of the turn in milliseconds since 1970; `None` while the match is open or a bot is
    /// to move.
    pub deadline_ms: Option<u64>,
}

impl Match {
    /// Returns the reminder that the store must hold for a correspondence match. The store must
    /// write a changed reminder together with the event that changed it. Returns `None` if the
    /// match has ended or is not a correspondence match.
    ///
    /// A server loads the match at the deadline of its turn. While the match is open or a bot is to
    /// move, it has no wake-up time and stays in memory.
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

    /// Returns the reminder that the store must hold when a server unloads a match that is not a
    /// correspondence match. The reminder contains the wake-up time and the start of each absence.
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

    /// Returns the reminder that a correspondence match has after the given events. Returns `None`
    /// if the events end the match or leave the reminder unchanged. Returns `None` also for a match
    /// that is not a correspondence match.
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
        let mut after_events = self.clone();
        let mut relevant_events = events.iter().filter(|event| affects_reminder(event));
        relevant_events
            .try_for_each(|event| after_events.fold(event))
            .ok()?;
        after_events.reminder()
    }

    /// Returns the participations of the players who hold a seat, and of the host.
    fn participations(
        &self,
        correspondence_turn: Option<CorrespondenceTurn>,
        absent_since_ms: impl Fn(PlayerId) -> Option<u64>,
    ) -> Vec<Participation> {
        let host = self.creation().host;
        let is_other = self.seat_held_by(host).is_none();
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
