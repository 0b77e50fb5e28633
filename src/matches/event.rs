//! What can be asked of a match, and what can happen in one. Plain data: it is what is stored.

use super::occupant::Occupant;
use super::plain;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{PlayerId, Ply};
use serde::{Deserialize, Serialize};

/// What is asked of a match, by a player, a bot, or the passing of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// A player takes an open seat: this one, or the first.
    Join {
        /// Who.
        player: PlayerId,
        /// The name by which the match knows the player from now on.
        name: String,
        /// Where; the first open seat if `None`.
        #[serde(with = "plain::any_seat")]
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
        #[serde(with = "plain::seat")]
        seat: Seat,
        /// How strong.
        #[serde(with = "plain::level")]
        level: Level,
    },
    /// The host takes a bot out again.
    RemoveBot {
        /// Who asks.
        by: PlayerId,
        /// Where.
        #[serde(with = "plain::seat")]
        seat: Seat,
    },
    /// A player moves.
    Play {
        /// Who.
        player: PlayerId,
        /// The ply for which the move is meant.
        ply: Ply,
        /// The move, in the game's notation.
        m: String,
    },
    /// A bot moves.
    PlayAsBot {
        /// Which.
        #[serde(with = "plain::seat")]
        seat: Seat,
        /// The ply that it thought about.
        ply: Ply,
        /// The move, in the game's notation.
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
        #[serde(with = "plain::seat")]
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
pub enum EventKind {
    /// A seat has a new occupant.
    Seated {
        /// Which.
        #[serde(with = "plain::seat")]
        seat: Seat,
        /// Who; `Open` when the seat was vacated.
        occupant: Occupant,
    },
    /// Both seats are filled: the game begins.
    Started,
    /// A move was played.
    Moved {
        /// By whom.
        #[serde(with = "plain::seat")]
        seat: Seat,
        /// The move, in canonical form.
        m: String,
    },
    /// The match is over.
    Ended {
        /// The seat that won, if one did.
        #[serde(with = "plain::any_seat")]
        winner: Option<Seat>,
        /// Why it ended.
        termination: Termination,
    },
}

impl EventKind {
    /// The event, at this time in milliseconds since 1970.
    #[must_use]
    pub const fn at(self, at_ms: u64) -> Event {
        Event { at_ms, kind: self }
    }
}

/// Why a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Termination {
    /// By the rules of the game.
    Rules,
    /// A player gave up.
    Resignation,
    /// A player went away and did not come back in time.
    Abandonment,
    /// Without a result.
    Aborted,
}
