//! Reasons why a match refuses an action, and errors in the stored record of a match.

use plyhouse_engine::catalog::{IllegalMoveError, InitialPositionError};
use plyhouse_engine::game::ParseMoveError;
use plyhouse_protocol::{Ply, Seq};

/// Reason why a match refused an action. A refused action does not change the match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The match has ended.
    #[error("the match is over")]
    MatchEnded,
    /// The action is not possible while the match is running.
    #[error("the match is still in progress")]
    MatchRunning,
    /// The match has not started, because a seat is open.
    #[error("the match has not started: a seat is open")]
    MatchNotStarted,
    /// The player already has a seat in the match.
    #[error("you already have a seat in this match")]
    AlreadySeated,
    /// The requested seat, or every seat, is taken or reserved.
    #[error("that seat is not available")]
    SeatTaken,
    /// The player or bot does not have the seat that the action requires.
    #[error("you are not a player in this match")]
    NotSeated,
    /// The action is reserved for the host of the match.
    #[error("only the host can do this")]
    NotHost,
    /// The action is outdated: it names a ply other than the next one, or was sent before the last
    /// takeback.
    #[error("the position has changed (next ply: {expected}, takebacks: {takebacks})")]
    StalePly {
        /// Number of the next ply.
        expected: Ply,
        /// Number of takebacks so far.
        takebacks: u64,
    },
    /// It is the opponent's turn.
    #[error("it is not your turn")]
    NotYourTurn,
    /// The text cannot be read as a move of this game.
    #[error(transparent)]
    Unreadable(ParseMoveError),
    /// The move is not legal in this position.
    #[error(transparent)]
    Illegal(IllegalMoveError),
    /// The match, its terms or its game do not allow the action. The string says why the action is
    /// not allowed.
    #[error("{0}")]
    NotAllowed(&'static str),
    /// Guests cannot play rated matches.
    #[error("rated matches require an account: register first")]
    NotRegistered,
    /// The action is not allowed yet.
    #[error("{reason}")]
    TooSoon {
        /// Reason for the refusal.
        reason: &'static str,
        /// First ply at which the match allows the action, if known.
        expected: Option<Ply>,
        /// Time in milliseconds until the action is allowed, if known.
        retry_after_ms: Option<u64>,
    },
    /// No offer of that kind is pending.
    #[error("no such offer is pending")]
    NothingOffered,
    /// The match has too many events to accept more offers, gifts of time or hints.
    #[error("too many offers and requests in this match")]
    TooManyEvents,
}

/// Error in the stored record of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The initial position is invalid.
    #[error(transparent)]
    InitialPosition(#[from] InitialPositionError),
    /// An event cannot follow the events before it.
    #[error("event {seq} cannot follow the events before it")]
    Event {
        /// Sequence number of the event.
        seq: Seq,
    },
}
