//! Message that reports the rating changes caused by a match.

use plyhouse_protocol::{RatingChange, UnratedReason};
use serde::{Deserialize, Serialize};

/// Rating changes caused by a match. The server sends them to the match's followers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RatingUpdate {
    pub(crate) changes: Vec<RatingChange>,
    pub(crate) why: Option<UnratedReason>,
}
