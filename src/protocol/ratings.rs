//! Ratings, rating changes and leaderboards.

use serde::{Deserialize, Serialize};

use super::id::SeatNumber;
use super::welcome::PlayerSummary;
use super::wire_enum::wire_enum;

wire_enum! {
    /// Group of players whose ratings can be compared. Each game has separate ratings in every
    /// pool.
    RatingPool {
        /// Ratings of people in all matches except correspondence matches.
        Live = "live",
        /// Ratings of people in correspondence matches.
        Correspondence = "days",
        /// Ratings of programs. A program's opponents may be other programs or the server's bots.
        Bots = "bots",
    }
}

wire_enum! {
    /// Reason why a rated match did not change any ratings.
    UnratedReason {
        /// The match looks like rating farming. The same players recently played the same opening
        /// moves with the same winner, or played too many rated matches in 24 hours.
        Farming = "farming",
        /// The operator has excluded one of the players from ratings.
        PlayerExcluded = "unrated",
    }
}

/// Rating of a player as other players see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShownRating {
    /// Glicko-2 rating, from 400 to 4000.
    pub rating: i32,
    /// Whether the rating is provisional because its deviation is still large.
    pub provisional: bool,
}

/// Change of one player's rating after a rated match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RatingChange {
    /// Seat of the rated player.
    pub seat: SeatNumber,
    /// Rating before the match, from 400 to 4000.
    pub before: i32,
    /// Rating after the match, from 400 to 4000.
    pub after: i32,
    /// Whether the new rating is provisional because its deviation is still large.
    pub provisional: bool,
}

/// Parameters of a `leaders` request, which asks for one page of a leaderboard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeaderboardRequest {
    /// Name of the game, such as `chess`.
    pub game: String,
    /// Pool whose leaderboard is requested. Defaults to `live`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<RatingPool>,
    /// Maximum number of rows, from 1 to 100. Defaults to 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 1, max = 100)))]
    pub limit: Option<u64>,
    /// Place of the last row on the previous page. If absent, the page starts with the first place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
}

/// Row of a leaderboard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeaderboardRow {
    /// Place on the leaderboard, counted from 1.
    pub place: u64,
    /// Player at this place.
    pub player: PlayerSummary,
    /// Glicko-2 rating, from 400 to 4000.
    pub rating: i32,
    /// Rating deviation. A smaller deviation means a more reliable rating.
    pub deviation: u32,
    /// Number of rated matches in this pool.
    pub games: u64,
}
