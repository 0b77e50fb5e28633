//! The `welcome` message: the client's identity, the server's features and limits, and the player's
//! live matches.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::analysis::AnalysisAccess;
use super::chat::{ChatMode, ChatPresetText};
use super::id::{MatchId, PlayerId, RequestId, SeatNumber, SessionId};
use super::named_player::NamedPlayer;
use super::time_control::ClockControl;
use super::validated_text::Token;

/// Identity of the client, and the features and limits of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Welcome {
    /// The `id` of the `hello` request. Absent if the request had no `id`, or if the server
    /// welcomed a new guest without a `hello`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re: Option<RequestId>,
    /// Protocol version of the connection.
    pub protocol: u64,
    /// Name and version of the server, such as `plyhouse/0.1.0`.
    pub server: String,
    /// Public data of the client's player.
    pub player: PlayerSummary,
    /// Secret token of the session, for later `hello` requests. Empty if a proxy authenticates the
    /// player.
    pub token: Token,
    /// Id of the client's session. Absent on older servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Whether the client was authenticated as an existing player. If false, the player is a new
    /// guest.
    pub resumed: bool,
    /// Who may register an account: `open` for everyone, or `invite` for players with an
    /// invitation.
    ///
    /// Absent if the server has no accounts. Clients must accept unknown values.
    #[serde(rename = "accounts", default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<String>,
    /// All games of the server.
    pub games: Vec<GameSummary>,
    /// All bot levels, weakest first.
    pub levels: Vec<LevelSummary>,
    /// Limits that apply to the client.
    pub limits: Limits,
    /// Clocks that the operator suggests. Other clocks are allowed, too.
    #[serde(default)]
    pub clocks: Vec<ClockPreset>,
    /// Live matches where the player has a seat, is the host, or is replaced by a stand-in bot.
    ///
    /// After `welcome`, the server sends a snapshot of each of these matches, except correspondence
    /// matches. Clients request snapshots of correspondence matches with `watch`.
    pub following: Vec<FollowedMatch>,
    /// Open challenges to the player.
    #[serde(default)]
    pub challenges: Vec<Challenge>,
    /// Kinds of chat messages that are allowed. Absent on older servers, which have no chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<ChatMode>,
    /// Presets that the client may send. Empty if chat is disabled.
    #[serde(default)]
    pub presets: Vec<ChatPresetText>,
    /// Who may request the analysis of an ended match. Absent on older servers, which have no
    /// analysis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<AnalysisAccess>,
    /// Names of request fields that the server ignored, at most eight. Absent if the server ignored
    /// no field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// Clock that the operator suggests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClockPreset {
    /// Name of the clock for users, such as `5+3`.
    pub title: String,
    /// The suggested clock.
    pub clock: ClockControl,
}

/// Public data of a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlayerSummary {
    /// Public id of the player.
    pub id: PlayerId,
    /// Current name of the player.
    pub name: String,
    /// Whether the player has an account and therefore a reserved name. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub account: bool,
    /// Whether the player is a program with its own account. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bot: bool,
}

/// Game that the server offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GameSummary {
    /// Name of the game in requests, such as `tic-tac-toe`.
    pub game: String,
    /// Name of the game for users, in English.
    pub title: String,
    /// Names of the sides, in order of seat number.
    pub sides: [String; 2],
    /// Width of the board in squares or intersections.
    pub files: u64,
    /// Height of the board in squares or intersections.
    pub ranks: u64,
    /// File extension of downloadable game records, such as `pgn`. Absent if the game has no record
    /// format.
    #[serde(rename = "record", default, skip_serializing_if = "Option::is_none")]
    pub record_extension: Option<String>,
    /// Whether players may agree on a draw.
    #[serde(rename = "draws", default)]
    pub draw_offers: bool,
}

/// Bot level that the server offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LevelSummary {
    /// Name of the level in requests, such as `hard`.
    pub level: String,
    /// Name of the level for users, in English.
    pub title: String,
    /// Rating of the level in each game, keyed by the name of the game. Levels and players are
    /// rated on the same scale.
    #[serde(default)]
    pub rating: BTreeMap<String, i32>,
}

/// Limits of the server for one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Limits {
    /// Maximum size of a request, in bytes.
    pub message_bytes: u64,
    /// Maximum sustained request rate of a connection, in requests per second.
    pub requests_per_s: u64,
    /// Maximum number of requests that a connection may send in one burst. The burst may exceed the
    /// sustained rate.
    pub burst: u64,
    /// Maximum number of live matches that a player may host, not counting correspondence matches.
    pub live_matches: u64,
    /// Maximum number of matches that a connection may follow.
    pub following: u64,
    /// Maximum idle time of a connection, in milliseconds, before the server closes it. WebSocket
    /// pongs count as activity.
    pub idle_ms: u64,
    /// Time in milliseconds that an open match waits for an absent player.
    pub abandon_after_ms: u64,
    /// Maximum number of correspondence matches that this player may host or play. If an older
    /// server does not send this field, clients read 0.
    #[serde(rename = "days_matches", default)]
    pub correspondence_matches: u64,
    /// Number of requests that the rate limit counts for each request from a spectator. If an older
    /// server does not send this field, clients read 1.
    #[serde(default = "one")]
    pub watching_cost: u64,
    /// Maximum time in milliseconds that a bot's search takes for a move. If an older server does
    /// not send this field, clients read 0.
    #[serde(default)]
    pub bot_think_ms: u64,
}

const fn one() -> u64 {
    1
}

/// Live match of a player who has reconnected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FollowedMatch {
    /// Id of the match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Seat of the player; `null` if the player has no seat.
    pub you: Option<SeatNumber>,
    /// State of the match, if it is a correspondence match. For these matches, `welcome` is not
    /// followed by a snapshot. Absent for other matches.
    #[serde(flatten)]
    pub correspondence: Option<CorrespondenceState>,
    /// Seat in which a stand-in bot replaces the player. Absent if no bot replaces the player.
    #[serde(rename = "stood_in", default, skip_serializing_if = "Option::is_none")]
    pub stand_in_seat: Option<SeatNumber>,
}

/// State of a correspondence match, as listed in the field `following` of `welcome`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CorrespondenceState {
    /// Always true. If this field is present, the match is a correspondence match.
    #[serde(rename = "days")]
    pub is_correspondence: bool,
    /// Seat that moves next; `null` while the match is open.
    pub turn: Option<SeatNumber>,
    /// Deadline for the next move, in milliseconds since the Unix epoch. Absent if there is no
    /// deadline, as in an open match.
    #[serde(rename = "due_ms", default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
}

/// Invitation to a match that only one player may join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Challenge {
    /// Id of the match that the player can join.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Short code of the match, of six characters.
    pub code: String,
    /// Name of the game, such as `chess`.
    pub game: String,
    /// Clock of the match; `null` if the match is untimed.
    pub clock: Option<ClockControl>,
    /// Whether the match is rated.
    pub rated: bool,
    /// Whether the match starts from a position other than the game's standard one. Absent if
    /// false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_position: bool,
    /// Seat that the challenged player takes.
    pub seat: SeatNumber,
    /// Player who made the challenge.
    #[serde(rename = "from")]
    pub challenger: NamedPlayer,
}
