//! A player as others see one.

use serde::{Deserialize, Serialize};

use super::id::PlayerId;

/// A player as others see one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NamedPlayer {
    /// The public id.
    pub player: PlayerId,
    /// The name that is shown.
    pub name: String,
}
