//! Identifiers and counters, each a type of its own so that none is taken for another.

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
    /// Names one match for ever. Ids of one server sort by the time of creation (UUID version 7).
    MatchId
}
uuid_id! {
    /// Names one player to others. It is public: the token is what proves who somebody is.
    PlayerId
}

uuid_id! {
    /// Names one session of a player to that player alone: one device, or one program.
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
    /// The number that a client gives a request and finds again in the answer: 0 to 2^53 - 1.
    RequestId
}
counter! {
    /// The number of an event within its match: 1, 2, 3 … without gaps. 0 is before the first.
    Seq
}
counter! {
    /// A number of moves played: also the number of the next move, counted from 0.
    Ply
}

impl Seq {
    /// The number of the event after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// A seat by its number on the wire: 0, who moves first, or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct SeatNumber(#[cfg_attr(test, schemars(range(max = 1)))] pub u8);

impl SeatNumber {
    /// The number as an index into a pair.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The other seat's number.
    #[must_use]
    pub const fn other(self) -> Self {
        Self(self.0 ^ 1)
    }
}
