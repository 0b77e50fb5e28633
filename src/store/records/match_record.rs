//! Record of a match: its creation data, its events, and their stored JSON.

use plyhouse_matches::ratings::RatedGame;
use plyhouse_matches::{Creation, Event, EventKind, Match, Reminder, Terms};
use plyhouse_protocol::PlayerId;

use super::ended_match::EndedMatch;

/// Creation data and events of a match.
#[derive(Clone, Debug)]
pub struct MatchRecord {
    /// Creation data of the match.
    pub creation: Creation,
    /// Events of the match, in order. The first event has the number 1.
    pub events: Vec<Event>,
}

impl MatchRecord {
    /// Returns whether the match has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.events.last().is_some_and(Event::is_end)
    }

    /// Returns the reminder of a correspondence match. Returns `None` if the match has another time
    /// control or has ended, or if the events are not valid.
    #[must_use]
    pub fn reminder(&self) -> Option<Reminder> {
        if !self.creation.terms.is_correspondence() {
            return None;
        }
        let state = Match::replay(self.creation.clone(), &self.events);
        state.ok()?.reminder()
    }

    /// Returns the ledger entry of an ended match. Returns `None` if the match cannot be rated or
    /// did not start, or if the events are not valid.
    #[must_use]
    pub fn rated_game(&self) -> Option<RatedGame> {
        if !self.creation.terms.rated {
            return None;
        }
        let state = Match::replay(self.creation.clone(), &self.events);
        state.ok()?.rated_game()
    }

    /// Returns the time at which a rated match that ended at `ended_ms` gets its ledger number.
    /// Returns `None` if the match gets its number immediately. A match with a spectator delay gets
    /// its ledger number when spectators may see the end of the match. The returned time and
    /// `ended_ms` are Unix times in milliseconds.
    #[must_use]
    pub const fn numbering_due_ms(&self, ended_ms: u64) -> Option<u64> {
        numbering_due_ms(&self.creation.terms, ended_ms)
    }

    /// Returns the ended match. Returns `None` if the match did not end or start or is excluded
    /// from histories, or if the events are not valid.
    pub(crate) fn to_ended_match(&self) -> Option<EndedMatch> {
        let end_event = self.events.last()?;
        let state = Match::replay(self.creation.clone(), &self.events).ok()?;
        EndedMatch::from_match(&state, end_event.at_ms)
    }

    /// Returns the events that spectators may see at `now_ms`, the current Unix time in
    /// milliseconds.
    #[must_use]
    pub fn visible_to_spectators(&self, now_ms: u64) -> &[Event] {
        let delay_ms = self.creation.terms.spectator_delay_ms;
        let is_visible = |event: &&Event| event.at_ms.saturating_add(delay_ms) <= now_ms;
        let visible = match delay_ms {
            0 => self.events.len(),
            _ => self.events.iter().take_while(is_visible).count(),
        };
        &self.events[..visible]
    }

    /// Returns the players who hold the seats, the host and the invited player.
    pub(crate) fn participants(&self) -> [Option<PlayerId>; 4] {
        let Creation { host, terms, .. } = &self.creation;
        let mut participants = [None, None, Some(*host), terms.invited];
        for event in &self.events {
            if let EventKind::Seated { seat, occupant } = &event.kind {
                participants[seat.index()] = occupant.holder();
            }
        }
        participants
    }

    /// Returns the host and all players who ever had a seat in the match, possibly with duplicates.
    pub(crate) fn involved_players(&self) -> impl Iterator<Item = PlayerId> {
        let seated = self.events.iter().filter_map(|event| {
            if let EventKind::Seated { occupant, .. } = &event.kind {
                occupant.player()
            } else {
                None
            }
        });
        seated.chain([self.creation.host])
    }
}

/// Implements [`MatchRecord::numbering_due_ms`] for a match with these terms.
pub(crate) const fn numbering_due_ms(terms: &Terms, ended_ms: u64) -> Option<u64> {
    match terms.spectator_delay_ms {
        0 => None,
        delay_ms => Some(ended_ms.saturating_add(delay_ms)),
    }
}

/// Parses the stored terms of a match. Returns an error message if the terms are not valid.
pub(crate) fn terms_from_text(text: &str) -> Result<Terms, String> {
    serde_json::from_str(text).map_err(|error| format!("invalid match terms: {error}"))
}

/// Parses a stored event, without its number and time. Returns an error message if the event is not
/// valid.
pub(crate) fn event_from_text(text: &str) -> Result<EventKind, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
