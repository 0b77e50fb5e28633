//! What can be asked of a match, and what can happen in one. Plain data, which is kept and sent as it
//! is serialised here: a name or a number that was written once is never changed, it is on disks.

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{PlayerId, Ply, Reason};
use serde::{Deserialize, Deserializer, Serialize};

use crate::occupant::{Occupant, seated};

/// What is asked of a match, by a player, a bot, or the passing of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Action {
    /// A player takes an open seat: this one, or the first.
    Join {
        /// Who.
        player: PlayerId,
        /// The name by which the match knows the player from now on.
        name: String,
        /// Where; the first open seat if `None`.
        seat: Option<Seat>,
    },
    /// A player goes, or has been away from an open match for too long.
    Leave {
        /// Who.
        player: PlayerId,
    },
    /// The host puts a bot into an open seat.
    SeatBot {
        /// Who asks.
        by: PlayerId,
        /// Where.
        seat: Seat,
        /// How strong.
        level: Level,
    },
    /// The host takes a bot out again.
    RemoveBot {
        /// Who asks.
        by: PlayerId,
        /// Where.
        seat: Seat,
    },
    /// A player moves.
    Play {
        /// Who.
        player: PlayerId,
        /// The ply for which the move is meant.
        ply: Ply,
        /// The move, in the game's notation.
        #[serde(rename = "move")]
        m: String,
    },
    /// A bot moves.
    PlayAsBot {
        /// Which.
        seat: Seat,
        /// The ply that it thought about.
        ply: Ply,
        /// The move, in the game's notation.
        #[serde(rename = "move")]
        m: String,
    },
    /// A player gives up.
    Resign {
        /// Who.
        player: PlayerId,
    },
    /// A player has been away from a running match for too long.
    Abandon {
        /// Whose seat it is.
        seat: Seat,
    },
    /// Ends the match without a result.
    Abort,
}

/// One thing that happened in a match. Its number is its place in the match's history, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When the match decided on it, in milliseconds since 1970. It is kept, and not told.
    pub at_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

impl Event {
    /// Whether the match is over with this event.
    #[must_use]
    pub const fn is_end(&self) -> bool {
        matches!(self.kind, EventKind::Ended { .. })
    }
}

/// What happened in a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum EventKind {
    /// A seat has a new occupant.
    #[serde(with = "seated")]
    Seated {
        /// Which.
        seat: Seat,
        /// Who; `Open` when the seat was vacated.
        occupant: Occupant,
    },
    /// Both seats are filled: the game begins.
    #[serde(deserialize_with = "nothing_more")]
    Started,
    /// A move was played.
    Moved {
        /// By whom.
        seat: Seat,
        /// The move, in canonical form.
        #[serde(rename = "move")]
        m: String,
    },
    /// The match is over.
    Ended {
        /// The seat that won, if one did.
        winner: Option<Seat>,
        /// Why it ended.
        reason: Reason,
    },
}

impl EventKind {
    /// The event, at this time in milliseconds since 1970.
    #[must_use]
    pub const fn at(self, at_ms: u64) -> Event {
        Event { at_ms, kind: self }
    }
}

/// Reads that an event has no fields, which a unit does not look at.
fn nothing_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    Nothing::deserialize(deserializer).map(|Nothing {}| ())
}
