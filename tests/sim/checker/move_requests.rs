//! The moves that were asked for, and what was answered.

use plyhouse_protocol::{ErrorCode, MatchId, PlayerId, Ply, Seq, ServerMessage};

/// One request to move.
#[derive(Clone, Debug)]
pub(super) struct MoveRequest {
    /// Where in the history it was sent.
    pub(super) index: usize,
    /// When that was.
    pub(super) sent_us: u128,
    /// Who the server took the sender for.
    pub(super) player: Option<PlayerId>,
    pub(super) id: MatchId,
    pub(super) ply: Ply,
    /// The move, as the games write it.
    pub(super) m: String,
    /// How many takebacks the sender knew of, if that was sent.
    pub(super) takebacks: Option<u64>,
    pub(super) result: RequestResult,
    /// Where in the history it was answered.
    pub(super) reply_index: Option<usize>,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestResult {
    /// It may have come about or not: there was no answer, or one that does not tell.
    Unknown,
    /// It came about.
    Accepted(Option<Seq>),
    /// It did not, and will not.
    Refused,
}

impl RequestResult {
    /// What an answer says. Where several servers may have a part in it, one that has tried in vain does not
    /// know what the other has done.
    pub(super) fn from_reply(answer: &ServerMessage, is_cluster: bool) -> Self {
        match answer {
            ServerMessage::Ok { seq, .. } => Self::Accepted(*seq),
            // The server failed, and does not say how far it had come.
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

/// A move as the games write it: all of ours are in lower case.
pub(super) fn canonical_move(m: &str) -> String {
    m.trim().to_ascii_lowercase()
}
