//! What a server answers and tells.

use serde::{Deserialize, Serialize};

use super::error::WireError;
use super::event::{Ending, Event, SeatState};
use super::id::{MatchId, PlayerId, Ply, RequestId, SeatNumber, Seq};
use super::request::Status;
use super::text::Token;

/// One message of a server. `re` is the number of the request that it answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServerMessage {
    /// Who the client is, and what the server offers.
    Welcome(Box<Welcome>),
    /// A sign of life.
    Pong {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The server's time in milliseconds since 1970.
        now_ms: u64,
    },
    /// A match as it stands.
    Match(Box<Snapshot>),
    /// Done.
    Ok {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The number of the event that a move became.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<Seq>,
    },
    /// A page of the listed matches.
    Matches {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// How many matches fit, on all pages.
        total: u64,
        /// The page, newest created first.
        matches: Vec<Listing>,
    },
    /// What a client missed.
    Events {
        /// The request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// The events in order.
        events: Vec<Event>,
    },
    /// A request was turned down, and nothing has changed.
    Error(Box<WireError>),
    /// Who is there, whenever that changes. Not numbered.
    Presence {
        /// The match.
        #[serde(rename = "match")]
        match_id: MatchId,
        /// Per seat, whether its player has a connection; `null` for a bot or an open seat.
        seats: [Option<bool>; 2],
        /// How many connections follow without a seat.
        spectators: u64,
    },
    /// Something happened in a match.
    #[serde(untagged)]
    Event(Event),
}

impl ServerMessage {
    /// The `type` of every answer and of everything told that is not an [`Event`].
    pub const TYPES: [&'static str; 8] = [
        "welcome", "pong", "match", "ok", "matches", "events", "error", "presence",
    ];

    /// Reads one message of a server; `None` is a type of message that this build does not know
    /// and is to be ignored.
    ///
    /// # Errors
    ///
    /// The text is not a message of its type.
    pub fn decode(text: &str) -> Result<Option<Self>, serde_json::Error> {
        #[derive(Deserialize)]
        struct Tag<'a> {
            #[serde(borrow, rename = "type")]
            kind: std::borrow::Cow<'a, str>,
        }
        let Tag { kind } = serde_json::from_str(text)?;
        if Self::TYPES.contains(&&*kind) || Event::TYPES.contains(&&*kind) {
            return serde_json::from_str(text).map(Some);
        }
        Ok(None)
    }

    /// The number of the request that this message answers.
    #[must_use]
    pub fn re(&self) -> Option<RequestId> {
        match self {
            Self::Welcome(welcome) => welcome.re,
            Self::Match(snapshot) => snapshot.re,
            Self::Error(error) => error.re,
            Self::Pong { re, .. }
            | Self::Ok { re, .. }
            | Self::Matches { re, .. }
            | Self::Events { re, .. } => *re,
            Self::Presence { .. } | Self::Event(_) => None,
        }
    }
}

/// Who the client is, and what the server offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Welcome {
    /// The request; absent when a guest is welcomed unasked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re: Option<RequestId>,
    /// The version of the protocol that is spoken.
    pub protocol: u64,
    /// The server's name and version: `plyhouse/0.1.0`.
    pub server: String,
    /// Who the client is to others.
    pub player: PlayerSummary,
    /// The secret that makes its bearer this player.
    pub token: Token,
    /// Whether the client's token was known.
    pub resumed: bool,
    /// Every game that can be played.
    pub games: Vec<GameSummary>,
    /// Every level of bots, weakest first.
    pub levels: Vec<LevelSummary>,
    /// What the server allows.
    pub limits: Limits,
    /// The live matches that the player sits in or hosts; a snapshot of each comes next.
    pub following: Vec<FollowedMatch>,
}

/// A player as others see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlayerSummary {
    /// The public id.
    pub id: PlayerId,
    /// The name that is shown.
    pub name: String,
}

/// A game that can be played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameSummary {
    /// Its name in requests: `tic-tac-toe`.
    pub game: String,
    /// Its name for people.
    pub title: String,
    /// What the seats are called, by seat number.
    pub sides: [String; 2],
    /// The width of the board in squares.
    pub files: u64,
    /// The height of the board in squares.
    pub ranks: u64,
    /// What the name of a file ends with in which such a game is kept, if there is such a format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
}

/// A level of bots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LevelSummary {
    /// Its name in requests: `hard`.
    pub level: String,
    /// Its name for people.
    pub title: String,
}

/// What a server allows one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Limits {
    /// The largest message, in bytes.
    pub message_bytes: u64,
    /// How many requests a second a connection may send for long.
    pub requests_per_s: u64,
    /// How many it may send at once.
    pub burst: u64,
    /// How many live matches a player may host.
    pub live_matches: u64,
    /// How many matches a connection may follow.
    pub following: u64,
    /// How long a connection may stay silent, pongs included.
    pub idle_ms: u64,
    /// How long a player may be absent before a match is lost.
    pub abandon_after_ms: u64,
}

/// A live match of a player who has come back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FollowedMatch {
    /// The match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// The player's seat; nobody's for a host without one.
    pub you: Option<SeatNumber>,
}

/// A match as it stands.
// Whoever serialises one may hold the moves in another form, as long as they become a list of texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Snapshot<Moves = Vec<String>> {
    /// The request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re: Option<RequestId>,
    /// The match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Its short name.
    pub code: String,
    /// The number of the last event that this includes.
    pub seq: Seq,
    /// What is played.
    pub game: String,
    /// The stage.
    pub status: Status,
    /// Who created it.
    pub host: PlayerId,
    /// Whether `list` shows it.
    pub listed: bool,
    /// The recipient's seat.
    pub you: Option<SeatNumber>,
    /// Who sits where.
    pub seats: [SeatState; 2],
    /// The position.
    pub position: String,
    /// How many moves have been played.
    pub ply: Ply,
    /// Who moves next; nobody unless the match is running.
    pub turn: Option<SeatNumber>,
    /// Every move so far.
    pub moves: Moves,
    /// Every legal move; none unless the match is running.
    pub legal: Moves,
    /// How many connections follow without a seat.
    pub spectators: u64,
    /// How it ended, once it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Ending>,
}

/// A match in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Listing {
    /// The match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Its short name.
    pub code: String,
    /// What is played.
    pub game: String,
    /// The stage.
    pub status: Status,
    /// Who sits where.
    pub seats: [SeatState; 2],
    /// How many moves have been played.
    pub ply: Ply,
    /// How many connections follow without a seat.
    pub spectators: u64,
}
