//! What a client believes of a match, from what it was told.

use plyhouse_protocol::{
    Event, MatchId, MatchRef, Occupant, PlayerId, Ply, SeatNumber, Seq, Snapshot, Status,
};

/// What a client believes of a match.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) id: MatchId,
    pub(crate) code: String,
    pub(crate) seq: Seq,
    pub(crate) status: Status,
    pub(crate) you: Option<SeatNumber>,
    pub(crate) is_host: bool,
    pub(crate) ply: Ply,
    turn: Option<SeatNumber>,
    pub(crate) legal: Vec<String>,
    /// The last move that was played.
    pub(crate) last: Option<String>,
}

impl View {
    pub(crate) fn new(snapshot: &Snapshot, me: Option<PlayerId>) -> Self {
        Self {
            id: snapshot.match_id,
            code: snapshot.code.clone(),
            seq: snapshot.seq,
            status: snapshot.status,
            you: snapshot.you,
            is_host: Some(snapshot.host) == me,
            ply: snapshot.ply,
            turn: snapshot.turn,
            legal: snapshot.legal.clone(),
            last: snapshot.moves.last().cloned(),
        }
    }

    pub(crate) fn take_in(&mut self, event: &Event, me: Option<PlayerId>) {
        self.seq = event.seq();
        match event {
            Event::Seated { seat, occupant, .. } => {
                let is_me = |occupant: &Occupant| match occupant {
                    Occupant::Player { player, .. } => Some(*player) == me,
                    Occupant::Open | Occupant::Bot { .. } => false,
                };
                if is_me(occupant) {
                    self.you = Some(*seat);
                } else if self.you == Some(*seat) {
                    self.you = None;
                }
            }
            Event::Started { turn, legal, .. } => {
                self.status = Status::Running;
                self.turn = Some(*turn);
                self.legal.clone_from(legal);
            }
            Event::Moved {
                ply,
                m,
                turn,
                legal,
                ..
            } => {
                self.ply = Ply(ply.0 + 1);
                self.turn = *turn;
                self.legal.clone_from(legal);
                self.last = Some(m.clone());
            }
            Event::TakenBack {
                ply, turn, legal, ..
            } => {
                self.ply = *ply;
                self.turn = Some(*turn);
                self.legal.clone_from(legal);
                self.last = None;
            }
            Event::Offered { .. } | Event::Declined { .. } | Event::TimeGiven { .. } => {}
            Event::Ended { .. } => {
                self.status = Status::Ended;
                self.turn = None;
            }
        }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.status != Status::Ended
    }

    pub(crate) fn is_my_turn(&self) -> bool {
        self.turn.is_some() && self.turn == self.you
    }

    /// How a request may name the match.
    pub(crate) fn target(&self, by_code: bool) -> MatchRef {
        // Only a live match has its code for itself.
        if by_code && self.is_live() {
            MatchRef::from(&*self.code)
        } else {
            self.id.into()
        }
    }
}
