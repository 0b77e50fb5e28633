//! What is kept of a match, above all adapters: its creation and its events, and the JSON of each.

use plyhouse_matches::ratings::RatedGame;
use plyhouse_matches::{Creation, EndedMatchSummary, Event, EventKind, Match, Reminder, Terms};
use plyhouse_protocol::PlayerId;

/// All that is known of a match.
#[derive(Clone, Debug)]
pub struct MatchRecord {
    /// What was settled when it was created.
    pub creation: Creation,
    /// What has happened in it, in order; the first event has the number 1.
    pub events: Vec<Event>,
}

impl MatchRecord {
    /// Whether the match is over.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.events.last().is_some_and(Event::is_end)
    }

    /// The match's reminder, if it is to have one. `None`, too, if its events make no sense.
    #[must_use]
    pub fn reminder(&self) -> Option<Reminder> {
        if !self.creation.terms.is_correspondence() {
            return None;
        }
        let state = Match::replay(self.creation.clone(), &self.events);
        state.ok()?.reminder()
    }

    /// What is told of the match without its events, once it has ended. `None`, too, if it never began, or if
    /// its events make no sense.
    #[must_use]
    pub fn summary(&self) -> Option<EndedMatchSummary> {
        let state = Match::replay(self.creation.clone(), &self.events);
        state.ok()?.ended_summary()
    }

    /// What is to be numbered of the match once it has ended. `None` if it was not rated, or never began, or
    /// its events make no sense.
    #[must_use]
    pub fn rated_game(&self) -> Option<RatedGame> {
        if !self.creation.terms.rated {
            return None;
        }
        let state = Match::replay(self.creation.clone(), &self.events);
        state.ok()?.rated_game()
    }

    /// When a rated match that ended at this time is to be numbered, if that is later: once those may know of it
    /// who have no seat in it. Both in milliseconds since 1970.
    #[must_use]
    pub const fn numbering_due_ms(&self, ended_ms: u64) -> Option<u64> {
        match self.creation.terms.spectator_delay_ms {
            0 => None,
            delay_ms => Some(ended_ms.saturating_add(delay_ms)),
        }
    }

    /// What had happened in it that those may know by now who have no seat in it; `now_ms` is the present, in
    /// milliseconds since 1970.
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

    /// Whose match it is now: who holds each seat, its host, and whom it is for.
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

    /// The host, and everybody who has ever sat down. Some may be told twice.
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

/// The text that is kept of a match's terms.
pub(crate) fn terms_to_text(terms: &Terms) -> String {
    serde_json::to_string(terms).expect("terms are serializable")
}

/// A match's terms, by the text that is kept of them, or what is wrong with the text.
pub(crate) fn terms_from_text(text: &str) -> Result<Terms, String> {
    serde_json::from_str(text).map_err(|error| format!("its terms: {error}"))
}

/// The text that is kept of what happened. The event's number and time stand beside it.
pub(crate) fn event_to_text(event: &EventKind) -> String {
    serde_json::to_string(event).expect("events are serializable")
}

/// What happened, by the text that is kept of it, or what is wrong with the text.
pub(crate) fn event_from_text(text: &str) -> Result<EventKind, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
