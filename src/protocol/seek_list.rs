//! Who looks for somebody to play, as others see it.

use serde::{Deserialize, Serialize};

use super::clock::ClockControl;
use super::ratings::ShownRating;
use super::welcome::PlayerSummary;

/// Who looks for somebody to play: all that is told of them at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeekList {
    /// How many there are.
    pub total: u64,
    /// At most 50 of them, who has waited longest first.
    pub rows: Vec<Seeker>,
}

/// A player who looks for somebody to play, and what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Seeker {
    /// Who.
    pub player: PlayerSummary,
    /// How the player is rated in what is to be played, if it is an account.
    #[serde(flatten)]
    pub rating: Option<ShownRating>,
    /// What is to be played.
    pub game: String,
    /// The clock; none if untimed.
    pub clock: Option<ClockControl>,
    /// Whether it is to count for ratings.
    pub rated: bool,
}
