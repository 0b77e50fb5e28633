//! Move requests and their results.

use plyhouse_protocol::{ErrorCode, MatchId, PlayerId, Ply, Seq, ServerMessage};

/// Request to play a move.
#[derive(Clone, Debug)]
pub(super) struct MoveRequest {
    /// Position of the request in the history.
    pub(super) index: usize,
    /// When the request was sent, in microseconds.
    pub(super) sent_us: u128,
    /// Player that was logged in on the connection.
    pub(super) player: Option<PlayerId>,
    pub(super) id: MatchId,
    pub(super) ply: Ply,
    /// Move in the notation of the game.
    pub(super) m: String,
    /// Number of takebacks that the client knew of when it sent the request. `None` if the request
    /// does not contain this number.
    pub(super) takebacks: Option<u64>,
    pub(super) result: RequestResult,
    /// Position of the reply in the history.
    pub(super) reply_index: Option<usize>,
}

/// Result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestResult {
    /// The result is unknown because there was no reply, or because the reply does not state the
    /// result.
    Unknown,
    /// The request took effect.
    Accepted(Option<Seq>),
    /// The request did not take effect.
    Refused,
}

impl RequestResult {
    /// Returns the result that a reply reports. In a cluster, `overloaded` leaves the result
    /// unknown. A server may send `overloaded` for a forwarded request that the owner of the match
    /// has already applied.
    pub(super) fn from_reply(answer: &ServerMessage, is_cluster: bool) -> Self {
        match answer {
            ServerMessage::Ok { seq, .. } => Self::Accepted(*seq),
            // An internal error may have occurred before or after the server applied the request.
            ServerMessage::Error(error) if error.code == Some(ErrorCode::Internal) => Self::Unknown,
            ServerMessage::Error(error)
                if is_cluster && error.code == Some(ErrorCode::Overloaded) =>
            {
                Self::Unknown
            }
            ServerMessage::Error(_) => Self::Refused,
            _ => Self::Accepted(None),
        }
    }
}

/// Converts a move to canonical notation, which is lower case in all simulated games.
pub(super) fn canonical_move(m: &str) -> String {
    m.trim().to_ascii_lowercase()
}
