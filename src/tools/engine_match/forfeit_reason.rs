//! What a player may do wrong. Whatever it is, the game is lost by it.

use std::fmt;

/// Why a player has no move that can be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForfeitReason {
    /// It plays what cannot be played.
    IllegalMove(String),
    /// It has ended, or cannot be started.
    Crashed,
    /// It has no answer in time.
    Timeout,
    /// It refused a command that its protocol requires: the command, and the program's words.
    CommandRefused(String),
    /// Nothing is wrong, but that everything is to stop.
    Stopped,
}

impl fmt::Display for ForfeitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IllegalMove(m) => write!(f, "illegal move {m}"),
            Self::Crashed => f.write_str("crash"),
            Self::Timeout => f.write_str("time"),
            Self::CommandRefused(reason) => write!(f, "it refused {reason}"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}
