//! A match as it stands: whole, or as a row of a list.

use serde::{Deserialize, Serialize};

use super::chat::ChatEntry;
use super::clock::ClockControl;
use super::event::{Ending, OfferState, SeatState, TimeLeft};
use super::id::{MatchId, PlayerId, Ply, RequestId, SeatNumber, Seq};
use super::ratings::RatingChange;
use super::request::{MatchStatus, SpectatorAccess};

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
    /// How often the match was taken over by another server; absent is 0. One with a higher epoch holds,
    /// though its `seq` be lower.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub epoch: u64,
    /// What is played.
    pub game: String,
    /// The stage.
    pub status: MatchStatus,
    /// Who created it.
    pub host: PlayerId,
    /// Whether `list` shows it.
    pub listed: bool,
    /// Who may watch it beside those who play it.
    #[serde(default)]
    #[serde(rename = "watch")]
    pub spectator_access: SpectatorAccess,
    /// So much later, in milliseconds, those see it who have no seat in it; absent is 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[serde(rename = "delay_ms")]
    pub spectator_delay_ms: u64,
    /// The recipient's seat.
    pub you: Option<SeatNumber>,
    /// Who sits where.
    pub seats: [SeatState; 2],
    /// The position.
    pub position: String,
    /// Whether the king of the side to move is attacked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub check: bool,
    /// How many moves have been played.
    pub ply: Ply,
    /// Who moves next; nobody unless the match is running.
    pub turn: Option<SeatNumber>,
    /// Every move so far.
    pub moves: Moves,
    /// `moves` in standard algebraic notation, in chess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub san: Option<Moves>,
    /// Every legal move; none unless the match is running.
    pub legal: Moves,
    /// How many connections follow without a seat.
    pub spectators: u64,
    /// The clock; absent in an untimed match, as is what belongs to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockControl>,
    /// What both seats had at the begin of the turn.
    #[serde(flatten)]
    pub time_left: Option<TimeLeft>,
    /// For how long the turn has been charged, while the match is running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_ms: Option<u64>,
    /// Whether the clock stands, while the match is running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "stands")]
    pub paused: Option<bool>,
    /// How long the next ply may still take, if it is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_move_ms: Option<u64>,
    /// How long a player may be absent, from the start on; absent in a match of days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "patience_ms")]
    pub absence_limit_ms: Option<u64>,
    /// The offers that stand.
    #[serde(default)]
    pub offers: Vec<OfferState>,
    /// Whether moves may be taken back.
    #[serde(default)]
    #[serde(rename = "takeback")]
    pub takebacks_allowed: bool,
    /// How often they have been.
    #[serde(default)]
    pub takebacks: u64,
    /// The level of the bot that takes the seat of whoever has gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// How the series stands, from its second match on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
    /// The match before this one in the series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<MatchId>,
    /// Who wants a rematch, of a match that has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rematch: Option<RematchState>,
    /// What was said last, oldest first: the last 20 of all that the recipient may see. It is not stored.
    #[serde(default)]
    #[serde(rename = "said")]
    pub chat_history: Vec<ChatEntry>,
    /// How it ended, once it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Ending>,
    /// Whether it counts for ratings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rated: bool,
    /// Whether what its bots think is told while they think.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "thinking")]
    pub shows_bot_thinking: bool,
    /// The position with which it began, where that is not the first of the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "start")]
    pub initial_position: Option<String>,
    /// What a rated match has changed, by seat, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "changes")]
    pub rating_changes: Option<Vec<RatingChange>>,
    /// The request's fields that mean nothing in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

/// A match in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedMatch {
    /// The match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Its short name.
    pub code: String,
    /// What is played.
    pub game: String,
    /// The stage.
    pub status: MatchStatus,
    /// Who sits where.
    pub seats: [SeatState; 2],
    /// How many moves have been played.
    pub ply: Ply,
    /// How many connections follow without a seat.
    pub spectators: u64,
    /// The clock; absent in an untimed match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockControl>,
    /// Whether it counts for ratings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rated: bool,
    /// Whether it begins with another position than the first of its game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_position: bool,
}

/// How the clock of a match stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClockState {
    /// The ply that is next.
    pub ply: Ply,
    /// What both seats had at the begin of the turn.
    #[serde(flatten)]
    pub time_left: TimeLeft,
    /// For how long the turn has been charged, in milliseconds.
    pub turn_ms: u64,
    /// Whether the clock stands.
    #[serde(rename = "stands")]
    pub paused: bool,
    /// How long the ply may still take, if it is free, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_move_ms: Option<u64>,
}

/// Who wants a rematch, by the seats of the match that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RematchState {
    /// Whose offer stands.
    pub offers: [bool; 2],
    /// Whose last offer was declined.
    pub declined: [bool; 2],
    /// Whose player is there, at the match that has ended.
    #[serde(rename = "here")]
    pub present: [bool; 2],
    /// The rematch, once there is one.
    pub next: Option<NextMatch>,
}

/// The match after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NextMatch {
    /// The match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Its short name.
    pub code: String,
}

/// How a series of matches between two stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Series {
    /// The number of this match in it, from 1.
    pub game: u64,
    /// The half-points of the seats, from all of its matches that have ended.
    pub points: [u64; 2],
}

const fn is_zero(number: &u64) -> bool {
    *number == 0
}
