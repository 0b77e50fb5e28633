//! Matches that have ended: what is asked about them, and what is told.

use serde::{Deserialize, Serialize};

use super::clock::ClockControl;
use super::event::{Ending, SeatState};
use super::id::{MatchId, SeatNumber};
use super::ratings::RatingPool;
use super::validated_text::MatchRef;
use super::welcome::PlayerSummary;
use super::wire_enum::wire_enum;

wire_enum! {
    /// What a player came away with from a match.
    MatchResult {
        /// The player has won.
        Won = "won",
        /// The other has won.
        Lost = "lost",
        /// Nobody has won.
        Drawn = "drawn",
        /// The match was broken off.
        None = "none",
    }
}

/// Which of a player's ended matches are asked for. All of them, where nothing else is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryRequest {
    /// The player's id, or `me`; oneself if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player: Option<String>,
    /// Only matches of this game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
    /// Only matches with this player, by id, or with a `bot`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
    /// Only matches that came to this for the player.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<MatchResult>,
    /// The last match of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<MatchRef>,
    /// At most this many; 50 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 1, max = 100)))]
    pub limit: Option<u64>,
}

/// An ended match of a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryRow {
    /// The match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// The code that it had.
    pub code: String,
    /// What was played.
    pub game: String,
    /// Who sat where at the start.
    pub seats: [SeatState; 2],
    /// How it ended.
    pub outcome: Ending,
    /// How many moves were played.
    pub plies: u64,
    /// The clock; absent in an untimed match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockControl>,
    /// Whether it counted for ratings.
    pub rated: bool,
    /// Whether it began with another position than the first of its game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_position: bool,
    /// The player's seat.
    pub you: SeatNumber,
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: u64,
}

/// How matches went on with a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExploredMove {
    /// The move.
    #[serde(rename = "move")]
    pub m: String,
    /// How many matches there are.
    #[serde(rename = "n")]
    pub count: u64,
    /// How many each seat has won.
    pub won: [u64; 2],
    /// How many nobody has won.
    pub drawn: u64,
}

/// What others may know of a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Profile {
    /// Who it is.
    pub player: PlayerSummary,
    /// Since when the server knows the player, in milliseconds since 1970; absent where nothing tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<u64>,
    /// How strong the player is, by game and pool.
    pub ratings: Vec<PoolRating>,
    /// How many matches the player has won.
    pub won: u64,
    /// How many the other has won.
    pub lost: u64,
    /// How many nobody has won.
    pub drawn: u64,
    /// The ended matches that are the newest, as in `history`.
    #[serde(rename = "last")]
    pub recent_matches: Vec<HistoryRow>,
}

/// How strong a player is in a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PoolRating {
    /// What is played.
    pub game: String,
    /// Among whom.
    pub pool: RatingPool,
    /// The rating.
    pub rating: i32,
    /// How sure that is: the less, the more.
    pub deviation: u32,
    /// Whether it is not sure enough to be taken at its word.
    pub provisional: bool,
    /// How many rated matches there were.
    pub games: u64,
    /// The rating at the end of each day (UTC) on which there were any, oldest first.
    #[serde(rename = "series")]
    pub daily_ratings: Vec<(String, i32)>,
}
