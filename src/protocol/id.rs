//! Types for ids and counters. Each kind of id or counter has its own type, so that the compiler
//! detects when code confuses two kinds.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }
    };
}

uuid_id! {
    /// Permanent id of a match (UUID version 7). Match ids created by the same server sort by
    /// creation time.
    MatchId
}
uuid_id! {
    /// Public id of a player. The id is not a secret, because players authenticate with tokens.
    PlayerId
}

uuid_id! {
    /// Id of a session, which is one device or program of a player. The server shows a session id
    /// only to the player who owns the session.
    SessionId
}

macro_rules! counter {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(transparent)]
        pub struct $name(
            #[cfg_attr(test, schemars(range(max = 9_007_199_254_740_991_u64)))] pub u64,
        );

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

counter! {
    /// Number that the client assigns to a request, from 0 to 2^53 - 1. The server returns this
    /// number in the field `re` of its answer.
    RequestId
}
counter! {
    /// Number of an event within its match: 1, 2, 3 … without gaps. The number 0 stands for the
    /// state before the first event.
    Seq
}
counter! {
    /// Index of a move in its match, counted from 0. The ply of the next move equals the number of
    /// moves played.
    Ply
}

impl Seq {
    /// Returns the number of the next event.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Seat number on the wire, 0 or 1. Seat 0 moves first, unless the match starts from a custom
/// position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct SeatNumber(#[cfg_attr(test, schemars(range(max = 1)))] pub u8);

impl SeatNumber {
    /// Returns the seat number as an array index.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Returns the number of the other seat.
    #[must_use]
    pub const fn other(self) -> Self {
        Self(self.0 ^ 1)
    }
}
