//! JSON form of a match, as printed by `plyhouse export`. Field names never change, because other
//! programs depend on them.

use serde::{Serialize, Serializer};

use super::InspectedMatch;
use plyhouse_engine::catalog::GameEntry;
use plyhouse_matches::Event;
use plyhouse_protocol::{MatchCode, MatchId, PlayerId};

#[derive(Serialize)]
struct MatchJson<'a> {
    id: MatchId,
    code: MatchCode,
    game: &'static GameEntry,
    host: PlayerId,
    listed: bool,
    rated: bool,
    pace_ms: u64,
    /// Seed of the match, encoded as a string because many JSON parsers round 64-bit numbers.
    seed: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<&'a str>,
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
    #[serde(flatten)]
    event: &'a Event,
}

impl Serialize for InspectedMatch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let creation = &self.record.creation;
        let events = self.record.events.iter().enumerate();
        MatchJson {
            id: creation.id,
            code: creation.code,
            game: creation.game,
            host: creation.host,
            listed: creation.terms.listed,
            rated: creation.terms.rated,
            pace_ms: creation.terms.bot_delay_ms,
            seed: creation.terms.seed.to_string(),
            start: creation.terms.initial_position.as_deref(),
            created_ms: created_ms(creation.id),
            ended_ms: self.ended_ms,
            players: (self.players.iter())
                .map(|(id, name)| PlayerJson { id: *id, name })
                .collect(),
            events: events
                .map(|(index, event)| EventJson {
                    seq: index + 1,
                    event,
                })
                .collect(),
        }
        .serialize(serializer)
    }
}

/// Returns the creation time that the match id contains, as Unix time in milliseconds.
fn created_ms(id: MatchId) -> Option<u64> {
    let (seconds, nanos) = id.0.get_timestamp()?.to_unix();
    Some(seconds * 1000 + u64::from(nanos) / 1_000_000)
}
