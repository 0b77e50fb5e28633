//! What a client may ask.

use serde::Serialize;

use super::id::{Ply, RequestId, SeatNumber, Seq};
use super::text::{MatchRef, Token};
use super::words::words;

/// One message of a client: a request and, if it wants to recognise the answer, a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Request {
    /// The number that the one direct answer will carry as `re`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<RequestId>,
    /// What is asked.
    #[serde(flatten)]
    pub message: ClientMessage,
}

/// What a client may ask. A match is named by its id or its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ClientMessage {
    /// Says who is there. Answered by `welcome`.
    Hello {
        /// The version that the client speaks; 1 if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        protocol: Option<u64>,
        /// The name to be shown to others; a guest's name if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The token of an earlier welcome: makes the client that same player.
        #[serde(skip_serializing_if = "Option::is_none")]
        token: Option<Token>,
    },
    /// Asks for a sign of life. Answered by `pong`.
    Ping,
    /// Opens a match and follows it. Answered by `match`.
    Create {
        /// What is played.
        game: String,
        /// Who sits where from the start; `["me","open"]` if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        seats: Option<[SeatRequest; 2]>,
        /// Whether `list` shows the match; true if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        listed: Option<bool>,
        /// Whether to swap the two seats at random first; false if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        shuffle: Option<bool>,
        /// The least time that a bot lets pass before it moves; 0 if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, schemars(range(max = 10_000)))]
        pace_ms: Option<u64>,
    },
    /// Takes an open seat and follows the match. Answered by `match`.
    Join {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// The seat; the first open one if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        seat: Option<SeatNumber>,
    },
    /// Follows a match. Answered by `match`.
    Watch {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
    },
    /// Stops following a match, and vacates the seat of one that is open.
    Leave {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
    },
    /// The host puts a bot into an open seat, or takes one out.
    Seat {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// The seat.
        seat: SeatNumber,
        /// Who is to sit there.
        occupant: HostedOccupant,
    },
    /// Plays a move. A move sent twice is answered twice and played once.
    Move {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// The ply that the client believes is next.
        ply: Ply,
        /// The move in the game's notation.
        #[serde(rename = "move")]
        m: String,
    },
    /// Gives up: the other seat wins.
    Resign {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
    },
    /// Asks for the listed matches. Answered by `matches`.
    List {
        /// Only matches of this game.
        #[serde(skip_serializing_if = "Option::is_none")]
        game: Option<String>,
        /// Only matches at this stage.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<Status>,
        /// At most this many; 50 if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, schemars(range(min = 1, max = 100)))]
        limit: Option<u64>,
        /// The last match of the page before.
        #[serde(skip_serializing_if = "Option::is_none")]
        after: Option<MatchRef>,
    },
    /// Looks for somebody to play, and waits.
    Seek {
        /// What is to be played.
        game: String,
        /// The level of the bot that plays if nobody comes.
        #[serde(skip_serializing_if = "Option::is_none")]
        bot: Option<String>,
        /// How long to wait for somebody; 10000 if left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, schemars(range(max = 60_000)))]
        bot_after_ms: Option<u64>,
    },
    /// Ends the seek.
    Unseek,
    /// Asks for every event after `since`. Answered by `events`, or by `match`.
    Resync {
        /// The match.
        #[serde(rename = "match")]
        target: MatchRef,
        /// The last event that the client knows; 0 for none.
        since: Seq,
    },
}

impl ClientMessage {
    /// The `type` of every request.
    pub const TYPES: [&'static str; 13] = [
        "hello", "ping", "create", "join", "watch", "leave", "seat", "move", "resign", "list",
        "seek", "unseek", "resync",
    ];

    /// The place of this request's `type` in [`TYPES`](Self::TYPES).
    #[must_use]
    pub const fn type_index(&self) -> usize {
        match self {
            Self::Hello { .. } => 0,
            Self::Ping => 1,
            Self::Create { .. } => 2,
            Self::Join { .. } => 3,
            Self::Watch { .. } => 4,
            Self::Leave { .. } => 5,
            Self::Seat { .. } => 6,
            Self::Move { .. } => 7,
            Self::Resign { .. } => 8,
            Self::List { .. } => 9,
            Self::Seek { .. } => 10,
            Self::Unseek => 11,
            Self::Resync { .. } => 12,
        }
    }
}

/// Who is to sit in a seat of a new match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SeatRequest {
    /// Whoever creates the match.
    Me,
    /// Whoever joins.
    Open,
    /// A bot of this level.
    Bot(String),
}

/// Whom a host may put into a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HostedOccupant {
    /// Nobody: the bot that sits there goes.
    Open,
    /// A bot of this level.
    Bot(String),
}

words! {
    /// The stage of a match.
    Status {
        /// A seat is empty.
        Open = "open",
        /// Both seats are filled and the game goes on.
        Running = "running",
        /// Over.
        Ended = "ended",
    }
}
