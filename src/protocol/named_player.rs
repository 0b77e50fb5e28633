//! Public id and name of a player.

use serde::{Deserialize, Serialize};

use super::id::PlayerId;

/// Public id and name of a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NamedPlayer {
    /// Public id of the player.
    pub player: PlayerId,
    /// Name of the player.
    pub name: String,
}
