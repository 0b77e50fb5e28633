//! What happens in a match: numbered, and the same bytes for everybody who follows it.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

use super::id::{MatchId, PlayerId, Ply, SeatNumber, Seq};
use super::words::words;

/// One thing that happened in a match. A match's events are numbered 1, 2, 3 … without gaps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A seat has a new occupant.
    Seated {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The event's number.
        seq: Seq,
        /// The seat.
        seat: SeatNumber,
        /// Who sits there now.
        #[serde(flatten)]
        occupant: Occupant,
    },
    /// Both seats are filled: the game begins.
    Started {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The event's number.
        seq: Seq,
        /// The first position.
        position: String,
        /// 0.
        ply: Ply,
        /// The seat that moves first: 0.
        turn: SeatNumber,
        /// Every legal move.
        legal: Vec<String>,
    },
    /// A move was played.
    Moved {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The event's number.
        seq: Seq,
        /// The number of this move, counted from 0.
        ply: Ply,
        /// Who played it.
        seat: SeatNumber,
        /// The move in canonical form.
        #[serde(rename = "move")]
        m: String,
        /// The position after it.
        position: String,
        /// Who moves next; nobody when the game is over.
        turn: Option<SeatNumber>,
        /// Every legal move of the next ply.
        legal: Vec<String>,
    },
    /// The match is over.
    Ended {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The event's number.
        seq: Seq,
        /// How it ended.
        outcome: Ending,
    },
}

impl Event {
    /// The `type` of every event.
    pub const TYPES: [&'static str; 4] = ["seated", "started", "moved", "ended"];

    /// The match that it happened in.
    #[must_use]
    pub const fn match_id(&self) -> MatchId {
        match self {
            Self::Seated { match_id, .. }
            | Self::Started { match_id, .. }
            | Self::Moved { match_id, .. }
            | Self::Ended { match_id, .. } => *match_id,
        }
    }

    /// The event's number within its match.
    #[must_use]
    pub const fn seq(&self) -> Seq {
        match self {
            Self::Seated { seq, .. }
            | Self::Started { seq, .. }
            | Self::Moved { seq, .. }
            | Self::Ended { seq, .. } => *seq,
        }
    }
}

/// Who sits in a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "occupant", rename_all = "snake_case")]
pub enum Occupant {
    /// Nobody yet.
    Open,
    /// A person, or whoever speaks for one.
    Player {
        /// The player's public id.
        player: PlayerId,
        /// The player's name.
        name: String,
        /// Whether the player has a connection.
        connected: bool,
    },
    /// A bot of the server.
    Bot {
        /// How strongly it plays.
        level: String,
    },
}

/// A seat as a snapshot tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeatState {
    /// What the seat is called in this game: `x`.
    pub side: String,
    /// Who sits there.
    #[serde(flatten)]
    pub occupant: Occupant,
}

/// How a match ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ending {
    /// The seat that won; nobody in a draw, or without a result.
    pub winner: Option<SeatNumber>,
    /// Why it ended.
    // `None` if for a reason of a later server. No server sends that.
    #[serde(deserialize_with = "known_reason")]
    #[cfg_attr(test, schemars(with = "Reason"))]
    pub reason: Option<Reason>,
    /// In which way it ended by the rules, in games that know several: `checkmate`. A game may know
    /// more ways than a client does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The points of the seats, in games that are decided by counting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<[u32; 2]>,
    /// The squares of the winning line, in games that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Vec<String>>,
}

words! {
    /// Why a match ended.
    Reason {
        /// By the rules of the game.
        Rules = "rules",
        /// A player gave up.
        Resignation = "resignation",
        /// A player went away and did not come back in time.
        Abandonment = "abandonment",
        /// Without a result.
        Aborted = "aborted",
    }
}

/// Reads a reason; one that this build does not know is none.
fn known_reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Reason>, D::Error> {
    let word = Cow::<str>::deserialize(deserializer)?;
    let known = |reason: &Reason| reason.as_str() == word;
    Ok(Reason::ALL.iter().copied().find(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_servers_reason_is_no_error() {
        let read = |text| serde_json::from_str::<Ending>(text).map(|ending| ending.reason);
        let aborted = read(r#"{"winner":null,"reason":"aborted"}"#);
        assert_eq!(aborted.unwrap(), Some(Reason::Aborted));
        let later = read(r#"{"winner":0,"reason":"timeout"}"#);
        assert_eq!(later.unwrap(), None);
        assert!(read(r#"{"winner":0}"#).is_err());
    }
}
