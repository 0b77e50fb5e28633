//! The moves that were asked for, and what was answered.

use plyhouse_protocol::{ErrorCode, MatchId, PlayerId, Ply, Seq, ServerMessage};

/// One request to move.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// Where in the history it was sent.
    pub(super) place: usize,
    /// When that was.
    pub(super) at_us: u128,
    /// Who the server took the sender for.
    pub(super) player: Option<PlayerId>,
    pub(super) id: MatchId,
    pub(super) ply: Ply,
    /// The move, as the games write it.
    pub(super) m: String,
    /// How many takebacks the sender knew of, if that was sent.
    pub(super) takebacks: Option<u64>,
    pub(super) verdict: Verdict,
    /// Where in the history it was answered.
    pub(super) answered: Option<usize>,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may have come about or not: there was no answer, or one that does not tell.
    Unclear,
    /// It came about.
    Done(Option<Seq>),
    /// It did not, and will not.
    Refused,
}

impl Verdict {
    /// What an answer says. Where several servers may have a part in it, one that has tried in vain does not
    /// know what the other has done.
    pub(super) fn of(answer: &ServerMessage, of_several: bool) -> Self {
        match answer {
            ServerMessage::Ok { seq, .. } => Self::Done(*seq),
            // The server failed, and does not say how far it had come.
            ServerMessage::Error(error) if error.code == Some(ErrorCode::Internal) => Self::Unclear,
            ServerMessage::Error(error)
                if of_several && error.code == Some(ErrorCode::Overloaded) =>
            {
                Self::Unclear
            }
            ServerMessage::Error(_) => Self::Refused,
            _ => Self::Done(None),
        }
    }
}

/// A move as the games write it: all of ours are in lower case.
pub(super) fn canonical(m: &str) -> String {
    m.trim().to_ascii_lowercase()
}
