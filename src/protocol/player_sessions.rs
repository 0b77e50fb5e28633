//! Kinds of players, and their sessions. A session is one device or program with its own token.

use serde::{Deserialize, Serialize};

use super::id::SessionId;
use super::wire_enum::wire_enum;

wire_enum! {
    /// Kind of player.
    PlayerKind {
        /// A player without an account, whose name is not reserved.
        Guest = "guest",
        /// A person with an account, whose name is reserved.
        Account = "account",
        /// A program with its own account. The program's account belongs to a person's account.
        Bot = "bot",
    }
}

impl PlayerKind {
    /// Returns whether the player has an account and therefore a reserved name.
    #[must_use]
    pub const fn is_account(self) -> bool {
        !matches!(self, Self::Guest)
    }
}

wire_enum! {
    /// Kind of client that a session belongs to.
    SessionKind {
        /// A web page.
        Web = "web",
        /// A program, such as the command-line client.
        Cli = "cli",
        /// An API key that the player created for a program.
        Key = "key",
    }
}

/// Session of a player, as listed for that player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SessionSummary {
    /// Id of the session.
    pub session: SessionId,
    /// Label that helps the player recognise the session.
    pub label: String,
    /// Kind of client that uses the session.
    pub kind: SessionKind,
    /// Creation time, in milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// Day (UTC) of the session's last `hello`, in the form `2026-11-22`.
    #[serde(rename = "seen_day")]
    pub last_seen_day: String,
    /// Whether the session has an open connection.
    pub connected: bool,
    /// Whether this is the session of the requesting connection.
    #[serde(rename = "this")]
    pub is_current: bool,
    /// Name of the bot account that the session belongs to. Absent for the player's own sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot: Option<String>,
}
