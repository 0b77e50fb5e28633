//! Snapshots of matches, and the rows of match lists.

use serde::{Deserialize, Serialize};

use super::chat::ChatEntry;
use super::event::{Ending, OfferState, SeatState, TimeLeft};
use super::id::{MatchId, PlayerId, Ply, RequestId, SeatNumber, Seq};
use super::ratings::RatingChange;
use super::request::{MatchStatus, SpectatorAccess};
use super::time_control::ClockControl;

/// Complete state of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// The `id` of the request that this message answers. Absent if the request had no `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re: Option<RequestId>,
    /// Id of the match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Short code of the match, of six characters.
    pub code: String,
    /// Number of the last event that the snapshot includes.
    pub seq: Seq,
    /// Number of times that another server has taken over the match. Absent if 0.
    ///
    /// Clients must replace their state with a snapshot that has a higher `epoch`, even if its
    /// `seq` is lower.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub epoch: u64,
    /// Name of the game, such as `chess`.
    pub game: String,
    /// Stage of the match.
    pub status: MatchStatus,
    /// Public id of the player who created the match.
    pub host: PlayerId,
    /// Whether `list` shows the match.
    pub listed: bool,
    /// Who may watch the match, in addition to its players and host.
    #[serde(rename = "watch", default)]
    pub spectator_access: SpectatorAccess,
    /// Delay in milliseconds before spectators receive messages about the match. Absent if 0.
    #[serde(rename = "delay_ms", default, skip_serializing_if = "is_zero")]
    pub spectator_delay_ms: u64,
    /// Seat of the recipient; `null` if the recipient has no seat.
    pub you: Option<SeatNumber>,
    /// Seats and their occupants, in order of seat number.
    pub seats: [SeatState; 2],
    /// Current position, in the notation of the game.
    pub position: String,
    /// Whether the king of the side to move is in check. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub check: bool,
    /// Number of moves played, which is also the number of the next ply.
    pub ply: Ply,
    /// Seat that moves next; `null` unless the match is running.
    pub turn: Option<SeatNumber>,
    /// All moves played, except moves that were taken back.
    pub moves: Vec<String>,
    /// The moves in `moves`, in standard algebraic notation. Present only in chess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub san: Option<Vec<String>>,
    /// All legal moves. Empty unless the match is running.
    pub legal: Vec<String>,
    /// Number of spectators: connections that follow the match but have no seat in it.
    pub spectators: u64,
    /// Clock of the match. Absent in an untimed match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockControl>,
    /// Remaining time of both players at the start of the current turn. Absent in an untimed match.
    #[serde(flatten)]
    pub time_left: Option<TimeLeft>,
    /// Time charged to the current turn so far, in milliseconds. Present only while a timed match
    /// is running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_ms: Option<u64>,
    /// Whether the clock is paused. Present only while a timed match is running.
    #[serde(rename = "stands", default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<bool>,
    /// Time left for the next move, in milliseconds. Present only if the next move is a player's
    /// first move, which is not charged to the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_move_ms: Option<u64>,
    /// Time that a player may be absent before losing the match, in milliseconds. Absent before the
    /// start of the match, and in correspondence matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "patience_ms")]
    pub absence_limit_ms: Option<u64>,
    /// Pending draw and takeback offers.
    #[serde(default)]
    pub offers: Vec<OfferState>,
    /// Whether takebacks are allowed.
    #[serde(rename = "takeback", default)]
    pub takebacks_allowed: bool,
    /// Number of accepted takebacks in the match.
    #[serde(default)]
    pub takebacks: u64,
    /// Level of the bot that replaces an absent player. Absent if the match has no stand-ins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// Score of the series of matches between the players. Absent in the first match of a series,
    /// and for spectators who watch with a delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// Id of the previous match in the series. Absent in the first match of a series, and for
    /// spectators who watch with a delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<MatchId>,
    /// State of the rematch offers. Present only after the end of the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rematch: Option<RematchState>,
    /// The last 20 chat messages that the recipient may see, oldest first. The server does not
    /// store chat messages permanently.
    #[serde(rename = "said", default)]
    pub chat_history: Vec<ChatEntry>,
    /// How the match ended. Absent until the match ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Ending>,
    /// Whether the match is rated. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rated: bool,
    /// Whether followers receive the progress of the bots' searches. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "thinking")]
    pub shows_bot_thinking: bool,
    /// Initial position of the match. Absent if the match started from the game's standard
    /// position.
    #[serde(rename = "start", default, skip_serializing_if = "Option::is_none")]
    pub initial_position: Option<String>,
    /// Rating changes of the players. Present only after a rated match, once the changes are known.
    #[serde(rename = "changes", default, skip_serializing_if = "Option::is_none")]
    pub rating_changes: Option<Vec<RatingChange>>,
    /// Names of request fields that the server ignored, at most eight. Absent if the server ignored
    /// no field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// Row of a match list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedMatch {
    /// Id of the match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Short code of the match, of six characters.
    pub code: String,
    /// Name of the game, such as `chess`.
    pub game: String,
    /// Stage of the match.
    pub status: MatchStatus,
    /// Seats and their occupants, in order of seat number.
    pub seats: [SeatState; 2],
    /// Number of moves played.
    pub ply: Ply,
    /// Number of spectators: connections that follow the match but have no seat in it.
    pub spectators: u64,
    /// Clock of the match. Absent in an untimed match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockControl>,
    /// Whether the match is rated. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rated: bool,
    /// Whether the match starts from a position other than the game's standard one. Absent if
    /// false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_position: bool,
}

/// State of the clock of a running match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClockState {
    /// Next ply of the match.
    pub ply: Ply,
    /// Remaining time of both players at the start of the current turn.
    #[serde(flatten)]
    pub time_left: TimeLeft,
    /// Time charged to the current turn so far, in milliseconds.
    pub turn_ms: u64,
    /// Whether the clock is paused.
    #[serde(rename = "stands")]
    pub paused: bool,
    /// Time left for the next move, in milliseconds. Present only if the next move is a player's
    /// first move, which is not charged to the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_move_ms: Option<u64>,
}

/// State of the rematch offers after a match. All arrays are in the seat order of the ended match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RematchState {
    /// Whether each seat has a pending rematch offer to the other seat.
    pub offers: [bool; 2],
    /// Whether the last rematch offer from each seat was declined.
    pub declined: [bool; 2],
    /// Whether the player of each seat still follows the ended match.
    #[serde(rename = "here")]
    pub present: [bool; 2],
    /// The rematch; `null` until it is created.
    pub next: Option<NextMatch>,
}

/// Rematch that followed an ended match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NextMatch {
    /// Id of the rematch.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Short code of the rematch, of six characters.
    pub code: String,
}

/// Score of a series of matches between two players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Series {
    /// Number of this match in the series, counted from 1.
    pub game: u64,
    /// Score of each seat in half-points, over all ended matches of the series. A win counts as 2
    /// half-points, and a draw as 1 for each seat.
    pub points: [u64; 2],
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}
