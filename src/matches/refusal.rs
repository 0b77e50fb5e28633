//! Why an action is turned down, and what a record that cannot be true is called.

use plyhouse_engine::catalog::{IllegalMoveError, InitialPositionError};
use plyhouse_engine::game::ParseMoveError;
use plyhouse_protocol::{Ply, Seq};

/// Why an action is turned down. The match is then exactly as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The match is over.
    #[error("the match is over")]
    MatchEnded,
    /// The match is being played.
    #[error("the match is being played")]
    MatchRunning,
    /// A seat is still open.
    #[error("the match has not started: a seat is open")]
    MatchNotStarted,
    /// The player sits here already.
    #[error("you have a seat in this match")]
    AlreadySeated,
    /// That seat, or every seat, is filled.
    #[error("that seat is not open")]
    SeatTaken,
    /// The player does not sit here.
    #[error("you have no seat in this match")]
    NotSeated,
    /// Only the match's host may do this.
    #[error("only the host of the match may do this")]
    NotHost,
    /// Another ply is next, or moves were taken back that the player did not know of.
    #[error("ply {expected} is next, after {takebacks} takebacks")]
    StalePly {
        /// The ply that is next.
        expected: Ply,
        /// How often moves were taken back.
        takebacks: u64,
    },
    /// The other seat moves next.
    #[error("it is the other side's turn")]
    NotYourTurn,
    /// The text is not a move of this game.
    #[error(transparent)]
    Unreadable(ParseMoveError),
    /// The move cannot be played in this position.
    #[error(transparent)]
    Illegal(IllegalMoveError),
    /// The terms of the match, its game or its stage exclude it.
    #[error("{0}")]
    NotAllowed(&'static str),
    /// A guest plays nothing that is rated.
    #[error("a rated match is for accounts: register first")]
    NotRegistered,
    /// It may be asked for later.
    #[error("{reason}")]
    TooSoon {
        /// Why not now.
        reason: &'static str,
        /// From which ply on it may be, where that is known.
        expected: Option<Ply>,
        /// After how many milliseconds it may be, where that is known.
        retry_after_ms: Option<u64>,
    },
    /// No such offer stands.
    #[error("nothing of that kind is offered")]
    NothingOffered,
    /// So much has happened in the match that nothing is added but moves.
    #[error("too much has been offered in this match")]
    TooManyEvents,
}

/// A record of a match that cannot be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// No match begins so.
    #[error("it cannot have begun so: {0}")]
    InitialPosition(#[from] InitialPositionError),
    /// An event cannot have followed those before it.
    #[error("event {seq} cannot have happened")]
    Event {
        /// The number of the event.
        seq: Seq,
    },
}
