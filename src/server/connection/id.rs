//! Identifiers of connections.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Identifier of a connection, unique within one process. Later connections have higher numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct ConnectionId(pub(crate) u64);

impl ConnectionId {
    /// Identifier used by commands and outboxes that do not belong to a connection.
    pub(crate) const NONE: Self = Self(u64::MAX);
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
