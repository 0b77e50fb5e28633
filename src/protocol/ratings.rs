//! How well players play: what is asked about it, and what is told.

use serde::{Deserialize, Serialize};

use super::id::SeatNumber;
use super::welcome::PlayerSummary;
use super::wire_enum::wire_enum;

wire_enum! {
    /// Among whom a rating compares. Each game has all of them.
    RatingPool {
        /// People, by clocks.
        Live = "live",
        /// People, over days.
        Correspondence = "days",
        /// Programs, with the server's levels among them.
        Bots = "bots",
    }
}

wire_enum! {
    /// Why a rated match has changed no ratings.
    UnratedReason {
        /// The same two have played it lately, or play too much.
        Farming = "farming",
        /// The matches of one of them do not count.
        PlayerExcluded = "unrated",
    }
}

/// How well somebody plays, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShownRating {
    /// The rating.
    pub rating: i32,
    /// Whether it is too unsure to be taken at its word.
    pub provisional: bool,
}

/// What a rated match has changed for one seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RatingChange {
    /// The seat.
    pub seat: SeatNumber,
    /// The rating before.
    pub before: i32,
    /// The rating after.
    pub after: i32,
    /// Whether it is too unsure to be taken at its word.
    pub provisional: bool,
}

/// Which part of a leaderboard is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeaderboardRequest {
    /// What is played.
    pub game: String,
    /// Among whom; `live` if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<RatingPool>,
    /// At most this many; 50 if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(range(min = 1, max = 100)))]
    pub limit: Option<u64>,
    /// Only those behind this place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
}

/// A place on a leaderboard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeaderboardRow {
    /// The place, from 1.
    pub place: u64,
    /// Whose it is.
    pub player: PlayerSummary,
    /// The rating.
    pub rating: i32,
    /// How sure that is: the less, the surer.
    pub deviation: u32,
    /// How many matches it was made of.
    pub games: u64,
}
