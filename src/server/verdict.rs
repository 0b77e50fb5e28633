//! What a rated match has changed.

use plyhouse_protocol::{RatingChange, RatingWhy};
use serde::{Deserialize, Serialize};

/// What a rated match has changed, as its followers are told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RatingUpdate {
    pub(super) changes: Vec<RatingChange>,
    pub(super) why: Option<RatingWhy>,
}
