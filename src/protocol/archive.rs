//! Requests about ended matches and players' profiles, and the data that answers them.

use serde::{Deserialize, Serialize};

use super::event::{Ending, SeatState};
use super::id::{MatchId, SeatNumber};
use super::ratings::RatingPool;
use super::time_control::ClockControl;
use super::validated_text::MatchRef;
use super::welcome::PlayerSummary;
use super::wire_enum::wire_enum;

wire_enum! {
    /// Result of an ended match for one player.
    MatchResult {
        /// The player won.
        Won = "won",
        /// The other player won.
        Lost = "lost",
        /// The match was a draw.
        Drawn = "drawn",
        /// The match was aborted, so it has no result.
        None = "none",
    }
}

/// Filters of a `history` request. If `game`, `with` or `result` is absent, matches are not
/// filtered by that field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryRequest {
    /// Id of the player whose matches are listed, or `me` for the requesting player. Defaults to
    /// `me`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player: Option<String>,
    /// Name of a game. Only matches of this game are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
    /// Id of the opponent, or `bot` to list matches against the server's bots. Only matches against
    /// this opponent are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
    /// Result of the match for the player whose matches are listed. Only matches with this result
    /// are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<MatchResult>,
    /// Id or code of the last match on the previous page. If absent, the first page is returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<MatchRef>,
    /// Maximum number of matches, from 1 to 100. Defaults to 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 1, max = 100)))]
    pub limit: Option<u64>,
}

/// Ended match in a player's history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HistoryRow {
    /// Id of the match.
    #[serde(rename = "match")]
    pub match_id: MatchId,
    /// Code that the match had while it was live. Another match may use the code now.
    pub code: String,
    /// Name of the game, such as `chess`.
    pub game: String,
    /// Occupants of the seats at the start of the match, in order of seat number.
    pub seats: [SeatState; 2],
    /// How the match ended.
    pub outcome: Ending,
    /// Number of plies played.
    pub plies: u64,
    /// Clock of the match. Absent in an untimed match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockControl>,
    /// Whether the match was rated.
    pub rated: bool,
    /// Whether the match started from a position other than the game's standard one. Absent if
    /// false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_position: bool,
    /// Seat of the player whose history was requested.
    pub you: SeatNumber,
    /// Time at which the match ended, in milliseconds since the Unix epoch.
    pub ended_ms: u64,
}

/// Statistics of one move in the opening explorer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ExploredMove {
    /// The move, in the notation of the game.
    #[serde(rename = "move")]
    pub m: String,
    /// Number of matches that continued with this move.
    #[serde(rename = "n")]
    pub count: u64,
    /// Number of matches that each seat won after this move, in order of seat number.
    pub won: [u64; 2],
    /// Number of matches with this move that ended in a draw.
    pub drawn: u64,
}

/// Public information about a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Profile {
    /// Id and current name of the player.
    pub player: PlayerSummary,
    /// Time at which the server first saw the player, in milliseconds since the Unix epoch.
    ///
    /// This time is the start of the player's earliest known session or the end of the player's
    /// first match, whichever is earlier. Absent if the server knows no session and no ended match
    /// of the player.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<u64>,
    /// Ratings of the player: one entry for each game and pool in which the player has rated
    /// matches.
    pub ratings: Vec<PoolRating>,
    /// Number of matches that the player won. Only ended matches that the requester may see are
    /// counted.
    pub won: u64,
    /// Number of matches that the player lost. Only ended matches that the requester may see are
    /// counted.
    pub lost: u64,
    /// Number of matches that ended in a draw. Only ended matches that the requester may see are
    /// counted.
    pub drawn: u64,
    /// The player's most recently ended matches, newest first. The list contains at most ten
    /// matches, and only matches that the requester may see.
    #[serde(rename = "last")]
    pub recent_matches: Vec<HistoryRow>,
}

/// Rating of a player in one pool of one game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PoolRating {
    /// Name of the game, such as `chess`.
    pub game: String,
    /// Pool that the rating belongs to.
    pub pool: RatingPool,
    /// Current Glicko-2 rating, from 400 to 4000.
    pub rating: i32,
    /// Rating deviation. A smaller deviation means a more reliable rating.
    pub deviation: u32,
    /// Whether the rating is provisional because its deviation is still large.
    pub provisional: bool,
    /// Number of rated matches in this pool.
    pub games: u64,
    /// Rating history of the player, oldest entry first. Each entry is a day (UTC), such as
    /// `2026-11-22`, and the player's rating at the end of that day. The list covers the player's
    /// last 100 days with rated matches.
    #[serde(rename = "series")]
    pub daily_ratings: Vec<(String, i32)>,
}
