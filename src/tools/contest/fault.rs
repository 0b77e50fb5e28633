//! What a player may do wrong. Whatever it is, the game is lost by it.

use std::fmt;

/// Why a player has no move that can be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It plays what cannot be played.
    Illegal(String),
    /// It has ended, or cannot be started.
    Crashed,
    /// It has no answer in time.
    Late,
    /// It refused a command that its protocol requires: the command, and the program's words.
    Refused(String),
    /// Nothing is wrong, but that everything is to stop.
    Stopped,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Illegal(m) => write!(f, "illegal move {m}"),
            Self::Crashed => f.write_str("crash"),
            Self::Late => f.write_str("time"),
            Self::Refused(why) => write!(f, "it refused {why}"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}
