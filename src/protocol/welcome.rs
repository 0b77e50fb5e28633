//! What a client is told when it comes: who it is, what it may do, and what goes on that is its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::analysis::AnalysisAccess;
use super::chat::{ChatMode, ChatPresetText};
use super::clock::ClockControl;
use super::id::{MatchId, PlayerId, RequestId, SeatNumber, SessionId};
use super::named_player::NamedPlayer;
use super::validated_text::Token;

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
    /// Which of the player's sessions that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Whether the client's token was known.
    pub resumed: bool,
    /// Who may register: `open` for everybody. Absent where nobody may. A client need not know all of these
    /// words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "accounts")]
    pub registration: Option<String>,
    /// Every game that can be played.
    pub games: Vec<GameSummary>,
    /// Every level of bots, weakest first.
    pub levels: Vec<LevelSummary>,
    /// What the server allows.
    pub limits: Limits,
    /// The clocks that the operator proposes.
    #[serde(default)]
    pub clocks: Vec<ClockPreset>,
    /// The live matches that the player sits in, hosts, or has a bot stand in for. A snapshot of each comes
    /// next, but for matches of days, which are to be watched.
    pub following: Vec<FollowedMatch>,
    /// Who wants to play the player.
    #[serde(default)]
    pub challenges: Vec<Challenge>,
    /// What may be said; absent where a server knows of no words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<ChatMode>,
    /// What can be said by `preset`; nothing where nothing may be said.
    #[serde(default)]
    pub presets: Vec<ChatPresetText>,
    /// Who may have an ended match looked at again; absent where a server knows nothing of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<AnalysisAccess>,
    /// The request's fields that mean nothing in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// A clock that the operator proposes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClockPreset {
    /// Its name for people: `5+3`.
    pub title: String,
    /// The clock.
    pub clock: ClockControl,
}

/// A player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlayerSummary {
    /// The public id.
    pub id: PlayerId,
    /// The name that is shown.
    pub name: String,
    /// Whether the name is the player's alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub account: bool,
    /// Whether it is the account of a program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bot: bool,
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
    #[serde(rename = "record")]
    pub record_extension: Option<String>,
    /// Whether players may agree on a draw.
    #[serde(default)]
    #[serde(rename = "draws")]
    pub draw_offers: bool,
}

/// A level of bots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LevelSummary {
    /// Its name in requests: `hard`.
    pub level: String,
    /// Its name for people.
    pub title: String,
    /// How it is rated in each game, on the scale of the players.
    #[serde(default)]
    pub rating: BTreeMap<String, i32>,
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
    /// How long an open match waits for a player who is absent.
    pub abandon_after_ms: u64,
    /// How many live matches of days a player may sit in or host.
    #[serde(default)]
    #[serde(rename = "days_matches")]
    pub correspondence_matches: u64,
    /// For how many requests one counts of who only watches.
    #[serde(default = "one")]
    pub watching_cost: u64,
    /// How long a bot thinks about a move at most, once it has begun to.
    #[serde(default)]
    pub bot_think_ms: u64,
}

const fn one() -> u64 {
    1
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
    /// What is told instead of a snapshot, if it is a match of days.
    #[serde(flatten)]
    pub correspondence: Option<CorrespondenceState>,
    /// The seat in which a bot stands in for the player.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "stood_in")]
    pub stand_in_seat: Option<SeatNumber>,
}

/// How far a match of days has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CorrespondenceState {
    /// True.
    #[serde(rename = "days")]
    pub is_correspondence: bool,
    /// Who moves next; nobody while the match is open.
    pub turn: Option<SeatNumber>,
    /// By when, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "due_ms")]
    pub deadline_ms: Option<u64>,
}

/// An invitation to one player alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Challenge {
    /// The match, which waits for the player.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Its short name.
    pub code: String,
    /// What is to be played.
    pub game: String,
    /// The clock; none if untimed.
    pub clock: Option<ClockControl>,
    /// Whether it counts for ratings.
    pub rated: bool,
    /// Whether it begins with another position than the first of its game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_position: bool,
    /// The seat that waits.
    pub seat: SeatNumber,
    /// Who asks.
    #[serde(rename = "from")]
    pub challenger: NamedPlayer,
}
