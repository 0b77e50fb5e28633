//! Input of a search: the position, the clocks and the limits.

use std::time::Duration;

use crate::engine_error::EngineError;

/// Position in which an engine must move.
#[derive(Clone, Copy, Debug)]
pub struct GamePosition<'a> {
    /// Position before the first move, or `None` for the standard initial position of the game.
    pub initial: Option<&'a InitialPosition>,
    /// Moves since then, in the notation of the wire protocol.
    pub moves: &'a [String],
    /// Index of the seat to move. Seat 0 plays White in chess, and Black in Go and Gomoku.
    pub seat: usize,
}

/// Position before the first move of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitialPosition {
    /// Position in the notation of the wire protocol, which is FEN in chess.
    pub text: String,
    /// Stones on the board, each as its owner's seat and its square. Protocols other than UCI need
    /// them. `None` if the position does not consist of two kinds of stones.
    pub stones: Option<Vec<(usize, String)>>,
}

/// Limits on a search. An engine receives those that its protocol can express.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchLimits {
    /// Thinking time for the move. GTP engines receive it in whole seconds, rounded up, and only if
    /// `clock` is `None`.
    pub move_time: Option<Duration>,
    /// Clocks of both players.
    pub clock: Option<Clock>,
    /// Maximum number of nodes. Only for UCI.
    pub nodes: Option<u64>,
    /// Maximum depth in plies. Only for UCI.
    pub depth: Option<u32>,
}

/// State of the clocks at the beginning of a turn. Arrays are indexed by seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Main time of a player at the start of the game. Not for UCI.
    pub main_time: Duration,
    /// Duration of a byo-yomi period and number of moves in a period. Periods follow the main time.
    /// Only for GTP.
    pub period: Option<(Duration, u32)>,
    /// Remaining time.
    pub remaining: [Duration; 2],
    /// Time added after each move. Only for UCI.
    pub increments: [Duration; 2],
    /// Number of moves that remain in the current period, including the next move. `None` if the
    /// player is not in a period. Not for Piskvork.
    pub moves_to_go: [Option<u32>; 2],
}

impl<'a> GamePosition<'a> {
    /// Returns the stones before the first move, for a protocol that places them one by one.
    pub(crate) fn initial_stones(&self) -> Result<&'a [(usize, String)], EngineError> {
        let Some(initial) = self.initial else {
            return Ok(&[]);
        };
        let unsupported = || EngineError::UnsupportedNotation(initial.text.clone());
        initial.stones.as_deref().ok_or_else(unsupported)
    }

    /// Returns each move with the seat that played it.
    pub(crate) fn moves_with_seats(&self) -> impl Iterator<Item = (usize, &'a String)> {
        let seat_of = |ply| (self.seat + self.moves.len() - ply) % 2;
        let moves = self.moves.iter().enumerate();
        moves.map(move |(ply, m)| (seat_of(ply), m))
    }
}
