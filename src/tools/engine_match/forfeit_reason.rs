//! Reasons why a player forfeits a game.

use std::fmt;

/// Reason why a player did not make a legal move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForfeitReason {
    /// The player made an illegal or unreadable move.
    IllegalMove(String),
    /// The player's process exited or could not be started.
    Crashed,
    /// The player did not answer in time.
    Timeout,
    /// The player refused a command that the protocol requires. Contains the command and the
    /// program's message.
    CommandRefused(String),
    /// The match was stopped before the player moved. The player is not at fault.
    Stopped,
}

impl fmt::Display for ForfeitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IllegalMove(m) => write!(f, "illegal move {m}"),
            Self::Crashed => f.write_str("crash"),
            Self::Timeout => f.write_str("timeout"),
            Self::CommandRefused(reason) => write!(f, "command refused: {reason}"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}
