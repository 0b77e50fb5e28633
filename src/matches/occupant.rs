//! Who sits in a seat.

use plyhouse_engine::search::Level;
use plyhouse_protocol::PlayerId;
use serde::{Deserialize, Serialize};

use super::plain;

/// Who sits in a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Occupant {
    /// Nobody.
    Open,
    /// A person, or a program that plays for one.
    Player {
        /// The player's public id.
        id: PlayerId,
        /// The player's name at the time of sitting down.
        name: String,
    },
    /// A bot of this level.
    Bot(#[serde(with = "plain::level")] Level),
}

impl Occupant {
    /// The player who sits here, if it is one.
    #[must_use]
    pub const fn player(&self) -> Option<PlayerId> {
        match self {
            Self::Player { id, .. } => Some(*id),
            Self::Open | Self::Bot(_) => None,
        }
    }
}
