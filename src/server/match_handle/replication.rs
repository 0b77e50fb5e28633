//! What the owner of a match, its teller and its copies tell each other: plain data, which may come from
//! another machine.

use std::time::Duration;

use plyhouse_matches::{Event, TurnTime};
use plyhouse_protocol::{PlayerId, Rematch, Said, Seq, Thinking};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::summary::SeatPresence;

/// Stored events, as the owner hands them to a teller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Published {
    /// The event before them.
    pub(crate) after: Seq,
    pub(crate) events: Vec<Event>,
}

/// Who is there, as a teller reports it to the owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Presence {
    /// Those of the match's players, its host among them, who follow it.
    pub(crate) present: Vec<PlayerId>,
    pub(crate) presence: SeatPresence,
}

impl Presence {
    /// Whether the two differ by nothing but spectators.
    pub(crate) fn is_but_for_spectators(&self, other: &Self) -> bool {
        self.present == other.present && self.presence.seats == other.presence.seats
    }
}

/// Of a server from before nobody knows who has said it.
const fn nobody() -> PlayerId {
    PlayerId(Uuid::nil())
}

/// Something that was said at a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChatMessage {
    /// How often the match had been taken over, and the line's number since: what comes later has more.
    pub(crate) number: (u64, u64),
    /// Who has said it: those who do not meet that player do not hear it.
    #[serde(default = "nobody")]
    pub(crate) by: PlayerId,
    /// Only those hear it who sit in the match.
    pub(crate) among_players: bool,
    pub(crate) said: Said,
}

/// What is new of a match, as its owner feeds a copy of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReplicaUpdate {
    /// How often the match was taken over.
    pub(crate) epoch: u64,
    pub(crate) published: Published,
    /// The clock counts otherwise than the events tell.
    pub(crate) is_clock_news: bool,
    pub(crate) standing: Standing,
    /// What was said, oldest first.
    #[serde(default)]
    pub(crate) said: Vec<ChatMessage>,
    /// What a bot thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) thinking: Option<Box<Thinking>>,
}

impl Standing {
    /// Whether both say the same, except how much time has passed.
    pub(crate) fn is_but_for_time(&self, other: &Self) -> bool {
        let is_gone = |standing: &Self| standing.gone_ms.map(|gone| gone.is_some());
        self.presence == other.presence
            && self.rematch == other.rematch
            && is_gone(self) == is_gone(other)
            && self.time.is_some() == other.time.is_some()
    }

    /// For how long each seat's player may still be gone, this long after the standing was sent.
    pub(crate) fn gone_ms_after(&self, passed: Duration) -> [Option<u64>; 2] {
        let passed_ms = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
        self.gone_ms
            .map(|gone_ms| Some(gone_ms?.saturating_sub(passed_ms)))
    }

    /// How the clock stands when so much time has passed since this was told.
    pub(crate) fn time_after(&self, passed: Duration) -> Option<TurnTime> {
        let mut time = self.time?;
        if !time.stands {
            let passed = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
            time.turn_ms = time.turn_ms.saturating_add(passed);
        }
        Some(time)
    }
}

/// What a copy of a match cannot know from its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing {
    pub(crate) time: Option<TurnTime>,
    pub(crate) presence: SeatPresence,
    /// For how long each seat's player may still be gone, in milliseconds.
    pub(crate) gone_ms: [Option<u64>; 2],
    pub(crate) rematch: Option<Rematch>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_to_be_gone_counts_down_to_zero() {
        for (gone_ms, passed_ms, left_ms) in [
            ([None, Some(60_000)], 0, [None, Some(60_000)]),
            ([Some(60_000), None], 1234, [Some(58_766), None]),
            ([Some(500), Some(2000)], 501, [Some(0), Some(1499)]),
            ([None, None], 9000, [None, None]),
        ] {
            let standing = Standing {
                time: None,
                presence: SeatPresence {
                    seats: [Some(true); 2],
                    spectators: 0,
                },
                gone_ms,
                rematch: None,
            };
            let left = standing.gone_ms_after(Duration::from_millis(passed_ms));
            assert_eq!(left, left_ms, "{gone_ms:?} after {passed_ms}");
        }
    }
}
