//! The number of a connection.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Tells the connections of one process apart, and orders them by their beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct ConnectionId(pub(crate) u64);

impl ConnectionId {
    /// The number that no connection has.
    pub(crate) const NONE: Self = Self(u64::MAX);
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
