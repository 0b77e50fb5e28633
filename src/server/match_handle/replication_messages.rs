//! Messages exchanged between the leader of a match, its views and its replicas. The
//! messages are plain data, because they may come from another server.

use std::time::Instant;

use plyhouse_matches::{Event, TurnTime};
use plyhouse_protocol::{ChatEntry, PlayerId, RematchState, Seq, Thinking};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::summary::SeatPresence;
use crate::context::clock_and_rng::now;

/// Stored events that the leader passes to a view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PublishedEvents {
    /// Sequence number of the event that precedes `events`.
    pub(crate) after: Seq,
    pub(crate) events: Vec<Event>,
}

/// Players and spectators who follow a match, as a view reports them to the leader.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Presence {
    /// Players and host of the match who are currently following it.
    #[serde(rename = "present")]
    pub(crate) following_players: Vec<PlayerId>,
    #[serde(rename = "presence")]
    pub(crate) seat_presence: SeatPresence,
}

impl Presence {
    /// Returns whether `self` and `other` are equal except for the number of spectators.
    pub(crate) fn equals_except_spectators(&self, other: &Self) -> bool {
        self.following_players == other.following_players
            && self.seat_presence.seats == other.seat_presence.seats
    }
}

/// Default sender of a chat message. Servers of earlier versions send chat messages without a
/// sender.
const fn unknown_player() -> PlayerId {
    PlayerId(Uuid::nil())
}

/// Chat message of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChatMessage {
    /// Number that orders the chat messages of a match: later messages have higher numbers. The
    /// first component counts how often a server has taken over the match. The second component
    /// counts the chat messages since the last takeover.
    pub(crate) number: (u64, u64),
    /// Sender of the message. If a block exists between the sender and another player, that player
    /// does not receive the message.
    #[serde(default = "unknown_player")]
    #[serde(rename = "by")]
    pub(crate) player: PlayerId,
    /// Whether only the players of the match receive the message.
    #[serde(rename = "among_players")]
    pub(crate) is_players_only: bool,
    #[serde(rename = "said")]
    pub(crate) chat: ChatEntry,
}

/// Changes of a match that wait for its next update, or that are part of one.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) events: Vec<Event>,
    pub(crate) chat_messages: Vec<ChatMessage>,
    /// Whether the clock was paused, resumed or adjusted without an event that contains the new
    /// clock state.
    pub(crate) is_clock_changed: bool,
}

/// Changes of a match that the owning server sends to a replica.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReplicaUpdate {
    /// Counts how often a server has taken over the match.
    pub(crate) epoch: u64,
    pub(crate) published: PublishedEvents,
    /// Whether a replica must send the match clock to its followers, because the events in this
    /// update do not contain its new state.
    #[serde(rename = "is_clock_news")]
    pub(crate) is_clock_changed: bool,
    #[serde(rename = "standing")]
    pub(crate) transient_state: TransientState,
    /// Chat messages, oldest first.
    #[serde(default)]
    #[serde(rename = "said")]
    pub(crate) chat_messages: Vec<ChatMessage>,
    /// Progress of a bot's search, if the match shows the bot's thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) thinking: Option<Box<Thinking>>,
}

impl TransientState {
    /// Returns whether the two states are equal, apart from elapsed time.
    pub(crate) fn equals_except_time(&self, other: &Self) -> bool {
        let is_absent = |state: &Self| state.absence_left_ms.map(|left_ms| left_ms.is_some());
        self.seat_presence == other.seat_presence
            && self.rematch == other.rematch
            && is_absent(self) == is_absent(other)
            && self.turn_time.is_some() == other.turn_time.is_some()
    }
}

/// State of a match that a replica cannot derive from the events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TransientState {
    #[serde(rename = "time")]
    pub(crate) turn_time: Option<TurnTime>,
    #[serde(rename = "presence")]
    pub(crate) seat_presence: SeatPresence,
    /// Milliseconds that the absent player in each seat has left to return. The value is `None` if
    /// the player is present or may stay absent.
    #[serde(rename = "gone_ms")]
    pub(crate) absence_left_ms: [Option<u64>; 2],
    pub(crate) rematch: Option<RematchState>,
}

/// Transient state and the time at which it was received, or `None` if none was received yet.
#[derive(Debug, Default)]
pub(crate) struct ReceivedState(Option<(TransientState, Instant)>);

impl ReceivedState {
    /// Creates the record of a state that is received now.
    pub(crate) fn new(state: TransientState) -> Self {
        Self(Some((state, now())))
    }

    /// Returns the current turn time.
    pub(crate) fn turn_time(&self) -> Option<TurnTime> {
        let (state, received_at) = self.0.as_ref()?;
        let mut time = state.turn_time?;
        if !time.paused {
            time.turn_ms = time.turn_ms.saturating_add(elapsed_ms(*received_at));
        }
        Some(time)
    }

    /// Returns how many milliseconds each absent player has left to return.
    pub(crate) fn absence_left_ms(&self) -> [Option<u64>; 2] {
        self.0.as_ref().map_or([None; 2], |(state, received_at)| {
            let elapsed_ms = elapsed_ms(*received_at);
            state
                .absence_left_ms
                .map(|left_ms| Some(left_ms?.saturating_sub(elapsed_ms)))
        })
    }
}

fn elapsed_ms(since: Instant) -> u64 {
    let elapsed = now().saturating_duration_since(since);
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn absence_time_counts_down_to_zero() {
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
            let received = ReceivedState::new(state);
            tokio::time::advance(Duration::from_millis(elapsed_ms)).await;
            let left = received.absence_left_ms();
            assert_eq!(left, expected_ms, "{absence_left_ms:?} after {elapsed_ms}");
        }
    }
}
