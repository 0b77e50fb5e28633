//! Reasons why a player forfeits a game.

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
