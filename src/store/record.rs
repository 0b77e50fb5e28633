//! What is kept of a match, above all adapters: its creation and its events, and the JSON of each.

use plyhouse_matches::{Creation, Event, EventKind, Terms};
use plyhouse_protocol::PlayerId;

/// All that is known of a match.
#[derive(Clone, Debug)]
pub struct Record {
    /// What was settled when it was created.
    pub creation: Creation,
    /// What has happened in it, in order; the first event has the number 1.
    pub events: Vec<Event>,
}

impl Record {
    /// Whether the match is over.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.events.last().is_some_and(Event::is_end)
    }

    /// The host, and everybody who has ever sat down. Some may be told twice.
    pub(crate) fn involved(&self) -> impl Iterator<Item = PlayerId> {
        let seated = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Seated { occupant, .. } => occupant.player(),
            EventKind::Started | EventKind::Moved { .. } | EventKind::Ended { .. } => None,
        });
        seated.chain([self.creation.host])
    }
}

/// The text that is kept of a match's terms.
pub(crate) fn terms_to_text(terms: &Terms) -> String {
    serde_json::to_string(terms).expect("it has only numbers")
}

/// A match's terms, by the text that is kept of them, or what is wrong with the text.
pub(crate) fn terms_from_text(text: &str) -> Result<Terms, String> {
    serde_json::from_str(text).map_err(|error| format!("its terms: {error}"))
}

/// The text that is kept of what happened. The event's number and time stand beside it.
pub(crate) fn event_to_text(event: &EventKind) -> String {
    serde_json::to_string(event).expect("it has only texts and numbers")
}

/// What happened, by the text that is kept of it, or what is wrong with the text.
pub(crate) fn event_from_text(text: &str) -> Result<EventKind, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use plyhouse_engine::catalog;
    use plyhouse_engine::game::Seat;
    use plyhouse_engine::search::Level;
    use plyhouse_matches::Occupant;
    use plyhouse_protocol::{MatchCode, MatchId, Reason};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn every_event_is_read_as_it_was_written() {
        let ann = Occupant::Player {
            id: PlayerId(Uuid::from_u128(7)),
            name: "ann \"\u{e9}\"".to_owned(),
        };
        let seated =
            [ann, Occupant::Open, Occupant::Bot(Level::Hard)].map(|occupant| EventKind::Seated {
                seat: Seat::Second,
                occupant,
            });
        let moved = EventKind::Moved {
            seat: Seat::First,
            m: "b2".to_owned(),
        };
        let ended = Reason::ALL.iter().map(|&reason| EventKind::Ended {
            winner: (reason == Reason::Rules).then_some(Seat::Second),
            reason,
        });
        let all = seated
            .into_iter()
            .chain([EventKind::Started, moved])
            .chain(ended);
        for event in all {
            assert_eq!(event_from_text(&event_to_text(&event)), Ok(event));
        }
    }

    /// What is on disks stays readable.
    #[test]
    fn events_are_written_like_this() {
        let moved = EventKind::Moved {
            seat: Seat::First,
            m: "b2".to_owned(),
        };
        assert_eq!(
            event_to_text(&moved),
            r#"{"type":"moved","seat":0,"move":"b2"}"#
        );
        assert_eq!(event_to_text(&EventKind::Started), r#"{"type":"started"}"#);
    }

    #[test]
    fn what_makes_no_sense_is_not_read() {
        for text in [
            "",
            "{}",
            r#"{"type":"moved","seat":2,"move":"b2"}"#,
            r#"{"type":"moved","seat":0}"#,
            r#"{"type":"seated","seat":0,"bot":"godlike"}"#,
            r#"{"type":"seated","seat":0,"bot":"hard","name":"ann"}"#,
            r#"{"type":"started","more":1}"#,
        ] {
            assert!(event_from_text(text).is_err(), "{text}");
        }
    }

    /// A creation and an event on their own are one JSON value each.
    #[test]
    fn creations_and_events_are_plain_data() {
        let creation = Creation {
            id: MatchId(Uuid::from_u128(1)),
            code: MatchCode::from_number(0),
            game: &catalog::CATALOG[0],
            host: PlayerId(Uuid::from_u128(2)),
            terms: Terms {
                listed: true,
                pace_ms: 1500,
                seed: u64::MAX,
            },
        };
        let written = serde_json::to_string(&creation).unwrap();
        assert_eq!(
            written,
            concat!(
                r#"{"id":"00000000-0000-0000-0000-000000000001","code":"222222","#,
                r#""game":"tic-tac-toe","host":"00000000-0000-0000-0000-000000000002","#,
                r#""terms":{"listed":true,"pace_ms":1500,"seed":-1}}"#,
            )
        );
        let read: Creation = serde_json::from_str(&written).unwrap();
        assert_eq!(format!("{read:?}"), format!("{creation:?}"));

        let seat = Seat::Second;
        let occupant = Occupant::Bot(Level::Hard);
        let event = EventKind::Seated { seat, occupant }.at(7);
        let written = serde_json::to_string(&event).unwrap();
        assert_eq!(
            written,
            r#"{"at_ms":7,"type":"seated","seat":1,"bot":"hard"}"#
        );
        assert_eq!(serde_json::from_str::<Event>(&written).unwrap(), event);
    }
}
