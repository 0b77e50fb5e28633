//! Matches and events as they are in the database.

use std::borrow::Cow;
use std::time::Duration;

use rusqlite::Row;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use plyhouse_engine::catalog;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::{Creation, EventKind, Occupant, Termination};
use plyhouse_protocol::{MatchId, PlayerId};

/// An event as JSON. Names are never changed: they are on disks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum EventRow<'a> {
    Seated {
        seat: u8,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        player: Option<Uuid>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bot: Option<Cow<'a, str>>,
    },
    Started {},
    Moved {
        seat: u8,
        #[serde(rename = "move")]
        m: Cow<'a, str>,
    },
    Ended {
        winner: Option<u8>,
        reason: Reason,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reason {
    Rules,
    Resignation,
    Abandonment,
    Aborted,
}

/// The text that an event is kept as.
pub(crate) fn event_to_text(event: &EventKind) -> String {
    serde_json::to_string(&EventRow::from(event)).expect("it has only texts and numbers")
}

impl<'a> From<&'a EventKind> for EventRow<'a> {
    fn from(event: &'a EventKind) -> Self {
        match event {
            EventKind::Seated { seat, occupant } => {
                let (player, name, bot) = match occupant {
                    Occupant::Open => (None, None, None),
                    Occupant::Player { id, name } => (Some(id.0), Some(Cow::from(name)), None),
                    Occupant::Bot(level) => (None, None, Some(Cow::from(level.id()))),
                };
                Self::Seated {
                    seat: number(*seat),
                    player,
                    name,
                    bot,
                }
            }
            EventKind::Started => Self::Started {},
            EventKind::Moved { seat, m } => Self::Moved {
                seat: number(*seat),
                m: Cow::from(m),
            },
            EventKind::Ended {
                winner,
                termination,
            } => Self::Ended {
                winner: winner.map(number),
                reason: match termination {
                    Termination::Rules => Reason::Rules,
                    Termination::Resignation => Reason::Resignation,
                    Termination::Abandonment => Reason::Abandonment,
                    Termination::Aborted => Reason::Aborted,
                },
            },
        }
    }
}

/// The event that is kept as this text, or what is wrong with it.
pub(crate) fn event_from_text(text: &str) -> Result<EventKind, String> {
    let row: EventRow = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(match row {
        EventRow::Seated {
            seat: number,
            player,
            name,
            bot,
        } => EventKind::Seated {
            seat: seat(number)?,
            occupant: match (player, name, bot) {
                (None, None, None) => Occupant::Open,
                (Some(id), Some(name), None) => Occupant::Player {
                    id: PlayerId(id),
                    name: name.into_owned(),
                },
                (None, None, Some(level)) => Occupant::Bot(
                    level
                        .parse::<Level>()
                        .map_err(|_| format!("there is no level {level:?}"))?,
                ),
                _ => return Err("a seat has one occupant".to_owned()),
            },
        },
        EventRow::Started {} => EventKind::Started,
        EventRow::Moved { seat: number, m } => EventKind::Moved {
            seat: seat(number)?,
            m: m.into_owned(),
        },
        EventRow::Ended { winner, reason } => EventKind::Ended {
            winner: winner.map(seat).transpose()?,
            termination: match reason {
                Reason::Rules => Termination::Rules,
                Reason::Resignation => Termination::Resignation,
                Reason::Abandonment => Termination::Abandonment,
                Reason::Aborted => Termination::Aborted,
            },
        },
    })
}

const fn number(seat: Seat) -> u8 {
    match seat {
        Seat::First => 0,
        Seat::Second => 1,
    }
}

fn seat(number: u8) -> Result<Seat, String> {
    match number {
        0 => Ok(Seat::First),
        1 => Ok(Seat::Second),
        _ => Err(format!("there is no seat {number}")),
    }
}

/// The columns of a match, in the order in which [`creation`] reads them.
pub(crate) const CREATION: &str = "id, code, game, host, terms";

/// How many columns those are.
pub(crate) const CREATION_COLUMNS: usize = 5;

/// What was settled when a match was created, but for what matches are looked up by, as JSON. Names
/// are never changed, and a new field needs a default: they are on disks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Terms {
    listed: bool,
    pace_ms: u64,
    /// 64 bits, whose sign means nothing.
    seed: i64,
}

/// The text that the terms of a match are kept as.
pub(crate) fn terms_to_text(creation: &Creation) -> String {
    let terms = Terms {
        listed: creation.listed,
        pace_ms: u64::try_from(creation.pace.as_millis()).unwrap_or(u64::MAX),
        seed: creation.seed.cast_signed(),
    };
    serde_json::to_string(&terms).expect("it has only numbers")
}

/// What was settled when the match of this row was created, or what is wrong with the row.
pub(crate) fn creation(row: &Row<'_>) -> rusqlite::Result<Result<Creation, String>> {
    let id = MatchId(Uuid::from_bytes(row.get(0)?));
    let code: String = row.get(1)?;
    let game: String = row.get(2)?;
    let host = PlayerId(Uuid::from_bytes(row.get(3)?));
    let terms: String = row.get(4)?;
    let read = || {
        let terms: Terms =
            serde_json::from_str(&terms).map_err(|error| format!("its terms: {error}"))?;
        Ok(Creation {
            id,
            code: code.parse().map_err(|_| format!("{code:?} is no code"))?,
            game: catalog::find(&game).ok_or_else(|| format!("there is no game {game:?}"))?,
            host,
            listed: terms.listed,
            pace: Duration::from_millis(terms.pace_ms),
            seed: terms.seed.cast_unsigned(),
        })
    };
    Ok(read())
}

/// The columns that tell how long a match is, in the order in which [`Length::of`] reads them.
pub(crate) const LENGTH: &str = "last_seq, ended_ms";

/// How many events a match has, as its row tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Length {
    last_seq: i64,
    /// When it ended, in milliseconds since 1970. Until then there may be more events: the row is
    /// brought up to date only now and then.
    pub(crate) ended_ms: Option<i64>,
}

impl Length {
    /// That of a row that has [`LENGTH`] in the columns from this one on.
    pub(crate) fn of(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            last_seq: row.get(first)?,
            ended_ms: row.get(first + 1)?,
        })
    }

    /// Whether so many events are not too few, nor too many for a match that has ended; or what is
    /// wrong.
    pub(crate) fn check(self, events: u64) -> Result<(), String> {
        let Self { last_seq, ended_ms } = self;
        let found = i64::try_from(events).unwrap_or(i64::MAX);
        if found == last_seq || (found > last_seq && ended_ms.is_none()) {
            Ok(())
        } else {
            Err(format!("{found} events are there, not {last_seq}"))
        }
    }
}

#[cfg(test)]
mod tests {
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
        let terminations = [
            Termination::Rules,
            Termination::Resignation,
            Termination::Abandonment,
            Termination::Aborted,
        ];
        let ended = terminations.map(|termination| EventKind::Ended {
            winner: (termination == Termination::Rules).then_some(Seat::Second),
            termination,
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
}
