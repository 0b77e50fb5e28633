//! Players and their sessions: each session is one device or one program, with a token of its own.

use serde::{Deserialize, Serialize};

use super::id::SessionId;
use super::wire_enum::wire_enum;

wire_enum! {
    /// What a player is.
    PlayerKind {
        /// Somebody whose name is not theirs alone.
        Guest = "guest",
        /// A person whose name is theirs alone.
        Account = "account",
        /// A program, whose name is its own alone, and which belongs to a person.
        Bot = "bot",
    }
}

impl PlayerKind {
    /// Whether the name is the player's alone.
    #[must_use]
    pub const fn is_account(self) -> bool {
        !matches!(self, Self::Guest)
    }
}

wire_enum! {
    /// What a session is of.
    SessionKind {
        /// A page in a browser.
        Web = "web",
        /// A program.
        Cli = "cli",
        /// A key that was made for a program.
        Key = "key",
    }
}

/// A session as its player sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SessionSummary {
    /// Which it is.
    pub session: SessionId,
    /// What the player calls it.
    pub label: String,
    /// What it is of.
    pub kind: SessionKind,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// The day on which it was used last, as `2026-11-22`.
    #[serde(rename = "seen_day")]
    pub last_seen_day: String,
    /// Whether it has a connection.
    pub connected: bool,
    /// Whether it is the session of this very connection.
    #[serde(rename = "this")]
    pub is_current: bool,
    /// The name of the program whose it is, if that has an account of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot: Option<String>,
}
