//! List of the open seeks.

use serde::{Deserialize, Serialize};

use super::ratings::ShownRating;
use super::time_control::ClockControl;
use super::welcome::PlayerSummary;

/// Open seeks that a client may see.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SeekList {
    /// Total number of open seeks, including those not in `rows`.
    pub total: u64,
    /// Up to 50 open seeks, starting with the player who has waited longest.
    pub rows: Vec<Seeker>,
}

/// Open seek of one player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Seeker {
    /// Player who is looking for an opponent.
    pub player: PlayerSummary,
    /// Rating of the player in the rating pool of the match. Absent for guests.
    #[serde(flatten)]
    pub rating: Option<ShownRating>,
    /// Name of the game, such as `chess`.
    pub game: String,
    /// Clock of the match; `null` if the match is untimed.
    pub clock: Option<ClockControl>,
    /// Whether the match will be rated.
    pub rated: bool,
}
