//! A client's view of a match, built from the messages that it received.

use plyhouse_protocol::{
    Event, MatchId, MatchRef, MatchStatus, Occupant, OfferKind, OfferState, PlayerId, Ply,
    RematchState, SeatNumber, Seq, Snapshot,
};

/// State of a match as one client knows it.
#[derive(Clone, Debug)]
pub(crate) struct MatchView {
    pub(crate) id: MatchId,
    pub(crate) code: String,
    pub(crate) game: String,
    pub(crate) seq: Seq,
    pub(crate) status: MatchStatus,
    pub(crate) your_seat: Option<SeatNumber>,
    /// Whether a stand-in bot plays in place of this client.
    pub(crate) has_stand_in: bool,
    pub(crate) is_host: bool,
    pub(crate) ply: Ply,
    turn: Option<SeatNumber>,
    pub(crate) legal_moves: Vec<String>,
    /// Last move that was played. `None` before the first move and after a takeback.
    pub(crate) last_move: Option<String>,
    pub(crate) takebacks: u64,
    /// Pending offers.
    pub(crate) offers: Vec<OfferState>,
    pub(crate) rematch: Option<RematchState>,
}

impl MatchView {
    pub(crate) fn new(snapshot: &Snapshot, own_id: Option<PlayerId>) -> Self {
        Self {
            id: snapshot.match_id,
            code: snapshot.code.clone(),
            game: snapshot.game.clone(),
            seq: snapshot.seq,
            status: snapshot.status,
            your_seat: snapshot.you,
            has_stand_in: snapshot
                .seats
                .iter()
                .any(|seat| is_stand_in(&seat.occupant, own_id)),
            is_host: Some(snapshot.host) == own_id,
            ply: snapshot.ply,
            turn: snapshot.turn,
            legal_moves: snapshot.legal.clone(),
            last_move: snapshot.moves.last().cloned(),
            takebacks: snapshot.takebacks,
            offers: snapshot.offers.clone(),
            rematch: snapshot.rematch.clone(),
        }
    }

    pub(crate) fn apply_event(&mut self, event: &Event, own_id: Option<PlayerId>) {
        self.seq = event.seq();
        match event {
            Event::Seated { seat, occupant, .. } => {
                let is_me = |occupant: &Occupant| match occupant {
                    Occupant::Player { player, .. } => Some(*player) == own_id,
                    Occupant::Open | Occupant::Bot { .. } => false,
                };
                if is_me(occupant) {
                    self.your_seat = Some(*seat);
                    self.has_stand_in = false;
                } else if self.your_seat == Some(*seat) {
                    self.your_seat = None;
                    self.has_stand_in = is_stand_in(occupant, own_id);
                }
                self.offers.retain(|offer| offer.seat != *seat);
            }
            Event::Started { turn, legal, .. } => {
                self.status = MatchStatus::Running;
                self.turn = Some(*turn);
                self.legal_moves.clone_from(legal);
            }
            Event::Moved {
                ply,
                seat,
                m,
                turn,
                legal,
                ..
            } => {
                let survives_move =
                    |offer: &OfferState| offer.offer == OfferKind::Draw && offer.seat == *seat;
                self.offers.retain(survives_move);
                self.ply = Ply(ply.0 + 1);
                self.turn = *turn;
                self.legal_moves.clone_from(legal);
                self.last_move = Some(m.clone());
            }
            Event::TakenBack {
                ply,
                turn,
                legal,
                takebacks,
                ..
            } => {
                self.takebacks = *takebacks;
                self.offers.clear();
                self.ply = *ply;
                self.turn = Some(*turn);
                self.legal_moves.clone_from(legal);
                self.last_move = None;
            }
            Event::Offered { offer, .. } => {
                self.offers.retain(|known| known.offer != offer.offer);
                self.offers.push(*offer);
            }
            Event::Declined { seat, offer, .. } => {
                let is_other = |known: &OfferState| known.seat != *seat || known.offer != *offer;
                self.offers.retain(is_other);
            }
            Event::TimeGiven { .. } | Event::Hinted { .. } => {}
            Event::Ended { .. } => {
                self.offers.clear();
                self.status = MatchStatus::Ended;
                self.turn = None;
            }
        }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.status != MatchStatus::Ended
    }

    pub(crate) fn is_my_turn(&self) -> bool {
        self.turn.is_some() && self.turn == self.your_seat
    }

    /// Returns the pending offers of the opponent.
    pub(crate) fn opponent_offers(&self) -> impl Iterator<Item = &OfferState> {
        let is_opponents =
            |offer: &&OfferState| self.your_seat.is_some_and(|you| you != offer.seat);
        self.offers.iter().filter(is_opponents)
    }

    /// Returns a [`MatchRef`] that identifies the match by id or by code. Only `Watch` requests use
    /// the code, because a rematch has the same code.
    pub(crate) fn match_ref(&self, by_code: bool) -> MatchRef {
        if by_code {
            MatchRef::from(&*self.code)
        } else {
            self.id.into()
        }
    }
}

/// Returns whether the occupant is a stand-in for this player.
fn is_stand_in(occupant: &Occupant, own_id: Option<PlayerId>) -> bool {
    match occupant {
        Occupant::Bot {
            stand_in_for: replaced_player,
            ..
        } => {
            let person = replaced_player.as_ref();
            person.is_some() && person.map(|person| person.player) == own_id
        }
        Occupant::Open | Occupant::Player { .. } => false,
    }
}
