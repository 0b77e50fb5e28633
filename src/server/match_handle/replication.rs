//! What the owner of a match, its teller and its copies tell each other: plain data, which may come from
//! another machine.

use std::time::Duration;

use plyhouse_matches::{Event, TurnTime};
use plyhouse_protocol::{ChatEntry, PlayerId, RematchState, Seq, Thinking};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::summary::SeatPresence;

/// Stored events, as the owner hands them to a teller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PublishedEvents {
    /// The event before them.
    pub(crate) after: Seq,
    pub(crate) events: Vec<Event>,
}

/// Who is there, as a teller reports it to the owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Presence {
    /// Those of the match's players, its host among them, who follow it.
    #[serde(rename = "present")]
    pub(crate) following_players: Vec<PlayerId>,
    #[serde(rename = "presence")]
    pub(crate) seat_presence: SeatPresence,
}

impl Presence {
    /// Whether the two differ by nothing but spectators.
    pub(crate) fn equals_except_spectators(&self, other: &Self) -> bool {
        self.following_players == other.following_players
            && self.seat_presence.seats == other.seat_presence.seats
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
    #[serde(rename = "by")]
    pub(crate) player: PlayerId,
    /// Only those hear it who sit in the match.
    #[serde(rename = "among_players")]
    pub(crate) is_players_only: bool,
    #[serde(rename = "said")]
    pub(crate) chat: ChatEntry,
}

/// What is new of a match, as its owner feeds a copy of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReplicaUpdate {
    /// How often the match was taken over.
    pub(crate) epoch: u64,
    pub(crate) published: PublishedEvents,
    /// The clock counts otherwise than the events tell.
    #[serde(rename = "is_clock_news")]
    pub(crate) is_clock_changed: bool,
    #[serde(rename = "standing")]
    pub(crate) transient_state: TransientState,
    /// What was said, oldest first.
    #[serde(default)]
    #[serde(rename = "said")]
    pub(crate) chat_messages: Vec<ChatMessage>,
    /// What a bot thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) thinking: Option<Box<Thinking>>,
}

impl TransientState {
    /// Whether both say the same, except how much time has passed.
    pub(crate) fn equals_except_time(&self, other: &Self) -> bool {
        let is_absent = |state: &Self| state.absence_left_ms.map(|left_ms| left_ms.is_some());
        self.seat_presence == other.seat_presence
            && self.rematch == other.rematch
            && is_absent(self) == is_absent(other)
            && self.turn_time.is_some() == other.turn_time.is_some()
    }

    /// For how long each seat's player may still be gone, this long after the standing was sent.
    pub(crate) fn absence_left_ms_after(&self, elapsed: Duration) -> [Option<u64>; 2] {
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.absence_left_ms
            .map(|left_ms| Some(left_ms?.saturating_sub(elapsed_ms)))
    }

    /// How the clock stands when so much time has passed since this was told.
    pub(crate) fn turn_time_after(&self, elapsed: Duration) -> Option<TurnTime> {
        let mut time = self.turn_time?;
        if !time.paused {
            let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            time.turn_ms = time.turn_ms.saturating_add(elapsed_ms);
        }
        Some(time)
    }
}

/// What a copy of a match cannot know from its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TransientState {
    #[serde(rename = "time")]
    pub(crate) turn_time: Option<TurnTime>,
    #[serde(rename = "presence")]
    pub(crate) seat_presence: SeatPresence,
    /// For how long each seat's player may still be gone, in milliseconds.
    #[serde(rename = "gone_ms")]
    pub(crate) absence_left_ms: [Option<u64>; 2],
    pub(crate) rematch: Option<RematchState>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absence_time_counts_down_to_zero() {
        for (absence_left_ms, elapsed_ms, expected_ms) in [
            ([None, Some(60_000)], 0, [None, Some(60_000)]),
            ([Some(60_000), None], 1234, [Some(58_766), None]),
            ([Some(500), Some(2000)], 501, [Some(0), Some(1499)]),
            ([None, None], 9000, [None, None]),
        ] {
            let state = TransientState {
                turn_time: None,
                seat_presence: SeatPresence {
                    seats: [Some(true); 2],
                    spectators: 0,
                },
                absence_left_ms,
                rematch: None,
            };
            let left = state.absence_left_ms_after(Duration::from_millis(elapsed_ms));
            assert_eq!(left, expected_ms, "{absence_left_ms:?} after {elapsed_ms}");
        }
    }
}
