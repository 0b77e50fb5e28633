//! A match as JSON, for those who want to read it elsewhere. Names are never changed: programs rely
//! on them.

use serde::{Serialize, Serializer};

use super::KeptMatch;
use crate::sqlite::rows::EventRow;
use plyhouse_protocol::{MatchId, PlayerId};

#[derive(Serialize)]
struct MatchJson<'a> {
    id: MatchId,
    code: String,
    game: &'a str,
    host: PlayerId,
    listed: bool,
    pace_ms: u128,
    /// A text: many readers of JSON would round a number of 64 bits.
    seed: String,
    created_ms: Option<u64>,
    ended_ms: Option<i64>,
    players: Vec<PlayerJson<'a>>,
    events: Vec<EventJson<'a>>,
}

#[derive(Serialize)]
struct PlayerJson<'a> {
    id: PlayerId,
    name: &'a str,
}

#[derive(Serialize)]
struct EventJson<'a> {
    seq: usize,
    at_ms: u64,
    #[serde(flatten)]
    event: EventRow<'a>,
}

impl Serialize for KeptMatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let creation = &self.record.creation;
        let events = self.record.events.iter().enumerate();
        MatchJson {
            id: creation.id,
            code: creation.code.to_string(),
            game: creation.game.info.id,
            host: creation.host,
            listed: creation.listed,
            pace_ms: creation.pace.as_millis(),
            seed: creation.seed.to_string(),
            created_ms: created_ms(creation.id),
            ended_ms: self.ended_ms,
            players: (self.players.iter())
                .map(|(id, name)| PlayerJson { id: *id, name })
                .collect(),
            events: events
                .map(|(index, event)| EventJson {
                    seq: index + 1,
                    at_ms: event.at_ms,
                    event: (&event.kind).into(),
                })
                .collect(),
        }
        .serialize(serializer)
    }
}

/// When a match was created, which its id tells.
fn created_ms(id: MatchId) -> Option<u64> {
    let (seconds, nanos) = id.0.get_timestamp()?.to_unix();
    Some(seconds * 1000 + u64::from(nanos) / 1_000_000)
}
