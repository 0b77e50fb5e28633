//! What a rated match has changed.

use plyhouse_protocol::{RatingChange, UnratedReason};
use serde::{Deserialize, Serialize};

/// What a rated match has changed, as its followers are told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RatingUpdate {
    pub(crate) changes: Vec<RatingChange>,
    pub(crate) why: Option<UnratedReason>,
}
