//! Whether a match can have gone the way its record says. [`Match::replay`] takes what its fold takes;
//! this also holds each event against what the match would have decided.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{Ply, Reason, Seq};

use crate::play::ended_by_rules;
use crate::{
    Creation, Event, EventKind, Match, Occupant, Offer, RemainingTime, ReplayError, Stage,
};

/// What is wrong with the record of a match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// An event cannot have happened here at all, or the match cannot have begun so.
    #[error(transparent)]
    Damaged(#[from] ReplayError),
    /// An event stands where another must be, which comes with the one before.
    #[error("event {seq} is {found:?}, but must be {owed:?}")]
    Unexpected {
        /// The number of the event.
        seq: Seq,
        /// What is there.
        found: Box<EventKind>,
        /// What must be there.
        owed: Box<EventKind>,
    },
    /// The record breaks off before an event that comes with its last.
    #[error("the last event must be followed by {owed:?}")]
    Incomplete {
        /// What is missing.
        owed: EventKind,
    },
    /// No match decides on such an event.
    #[error("event {seq}: {why}")]
    Undecidable {
        /// The number of the event.
        seq: Seq,
        /// Why not.
        why: &'static str,
    },
    /// A move is written in another way than a match writes it.
    #[error("event {seq}: {m:?} is not the move's proper name")]
    Misspelt {
        /// The number of the event.
        seq: Seq,
        /// The move as it is written.
        m: String,
    },
}

impl Match {
    /// Whether a match can have gone this way, by its rules and those of its game.
    ///
    /// # Errors
    ///
    /// Says what cannot have come from any match.
    pub fn audit(creation: Creation, events: &[Event]) -> Result<(), AuditError> {
        let mut state = Self::new(creation)?;
        for event in events {
            let seq = state.seq().next();
            let kind = &event.kind;
            match state.owed() {
                Some(owed) if owed != *kind => {
                    let (found, owed) = (Box::new(kind.clone()), Box::new(owed));
                    return Err(AuditError::Unexpected { seq, found, owed });
                }
                Some(_) | None => {}
            }
            (state.check_decided(event)).map_err(|why| AuditError::Undecidable { seq, why })?;
            state.fold(event)?;
            if let EventKind::Moved { m, .. } = kind
                && state.moves().last() != Some(m)
            {
                let m = m.clone();
                return Err(AuditError::Misspelt { seq, m });
            }
        }
        match state.owed() {
            Some(owed) => Err(AuditError::Incomplete { owed }),
            None => Ok(()),
        }
    }

    /// The one event that can come next, because it is decided together with the one before.
    fn owed(&self) -> Option<EventKind> {
        match self.stage {
            Stage::Open => (!self.seats.contains(&Occupant::Open)).then(|| self.started()),
            Stage::Running => {
                let outcome = self.position.outcome();
                let ended = outcome.map(|outcome| ended_by_rules(outcome, self.left()));
                ended.or_else(|| self.granted_by_a_bot())
            }
            Stage::Ended { .. } => None,
        }
    }

    /// The takeback that a bot has granted, which it does at once.
    fn granted_by_a_bot(&self) -> Option<EventKind> {
        let mut offers = self.offers();
        let asked = offers.find(|standing| standing.offer == Offer::Takeback)?;
        self.occupant(asked.seat.other()).bot()?;
        self.taken_back(asked.to_ply)
    }

    /// Whether a match could decide on an event that its fold takes as it comes.
    fn check_decided(&self, event: &Event) -> Result<(), &'static str> {
        match &event.kind {
            EventKind::Seated { seat, occupant } => self.check_seated(*seat, occupant),
            EventKind::Started { .. } => Ok(()),
            EventKind::Moved { spent_ms, left, .. } => {
                if spent_ms.is_some() != self.clock().is_some() {
                    return Err("only a clock charges a move");
                }
                if self.is_free() && spent_ms.unwrap_or(0) > 0 {
                    return Err("the first move of a seat is free");
                }
                if self.left_after_move(spent_ms.unwrap_or(0)) != *left {
                    return Err("that cannot be what the move has left");
                }
                Ok(())
            }
            EventKind::Offered {
                seat,
                offer,
                ply,
                to_ply,
            } => self.check_offered(*seat, *offer, (*ply, *to_ply)),
            EventKind::Declined { by, seat, .. } => self.check_declined(*seat, *by),
            EventKind::TakenBack { ply, .. } => {
                let allowed = self.offers().any(|standing| standing.to_ply == Some(*ply));
                if !allowed || self.taken_back(Some(*ply)).as_ref() != Some(&event.kind) {
                    return Err("nobody has asked to go back there");
                }
                Ok(())
            }
            EventKind::TimeGiven { seat, ms, left } => {
                let is_right = self.left.given(*seat, *ms) == *left;
                if !is_right || self.check_gift(*seat, *ms).is_err() {
                    return Err("that much cannot have been given");
                }
                Ok(())
            }
            EventKind::Hinted { seat, .. } => {
                let allowed = self.check_hint(*seat);
                allowed.map_err(|_| "nobody can have been given a hint here")
            }
            EventKind::Ended {
                winner,
                reason,
                left,
                ..
            } => self.check_end(*winner, *reason, *left),
        }
    }

    fn check_seated(&self, seat: Seat, occupant: &Occupant) -> Result<(), &'static str> {
        match occupant {
            Occupant::StandIn { level, .. } if self.creation.terms.stand_in != Some(*level) => {
                Err("no such bot stands in")
            }
            _ if self.stage == Stage::Running => Ok(()),
            Occupant::Open => Ok(()),
            _ if self.occupant(seat) != &Occupant::Open => Err("the seat is taken"),
            Occupant::Player { id, .. } if self.seat_of(*id).is_some() => {
                Err("the player has the other seat")
            }
            Occupant::Player { .. } | Occupant::Bot(_) | Occupant::StandIn { .. } => Ok(()),
        }
    }

    fn check_offered(
        &self,
        seat: Seat,
        offer: Offer,
        (ply, to_ply): (Ply, Option<Ply>),
    ) -> Result<(), &'static str> {
        if ply != self.ply() || self.occupant(seat).player().is_none() {
            return Err("nobody can have offered that at this ply");
        }
        let may_be_offered = match offer {
            Offer::Draw => self.check_draw(seat),
            Offer::Takeback => self.check_takeback(seat, to_ply),
        };
        may_be_offered.map_err(|_| "that cannot have been offered")
    }

    fn check_declined(&self, seat: Seat, by: Seat) -> Result<(), &'static str> {
        let is_bot = self.bot_to_answer_draw() == Some(by);
        if self.occupant(by).player().is_none() && !(is_bot && by != seat) {
            return Err("nobody sits there who could decline");
        }
        Ok(())
    }

    fn check_end(
        &self,
        winner: Option<Seat>,
        reason: Reason,
        left: Option<RemainingTime>,
    ) -> Result<(), &'static str> {
        if !self.may_be_left(left) {
            return Err("that cannot be what was left");
        }
        let is_running = self.stage == Stage::Running;
        match reason {
            Reason::Rules if self.owed().is_none() => Err("by the rules it is not over"),
            Reason::Aborted if winner.is_some() => Err("without a result there is no winner"),
            Reason::Resignation | Reason::Abandonment | Reason::Timeout | Reason::Agreement
                if !is_running =>
            {
                Err("what has not begun cannot be lost")
            }
            Reason::Resignation | Reason::Abandonment if winner.is_none() => {
                Err("whoever is left has won")
            }
            Reason::Timeout if self.clock().is_none() => Err("there is no clock"),
            Reason::Timeout if winner == Some(self.position.turn()) => {
                Err("whoever runs out of time does not win")
            }
            Reason::Agreement if winner.is_some() => Err("in a draw there is no winner"),
            Reason::Agreement if !self.offers().any(|of| of.offer == Offer::Draw) => {
                Err("nobody has offered a draw")
            }
            Reason::Rules
            | Reason::Aborted
            | Reason::Resignation
            | Reason::Abandonment
            | Reason::Timeout
            | Reason::Agreement => Ok(()),
        }
    }

    /// Whether so much may be left at the end: time passes for the seat that is to move alone.
    fn may_be_left(&self, left: Option<RemainingTime>) -> bool {
        let (Some(left), Some(before)) = (left, self.left()) else {
            return left == self.left();
        };
        let to_move = self.position.turn().index();
        let [now, then] = [left, before].map(|left| left.left_ms());
        now[1 - to_move] == then[1 - to_move] && now[to_move] <= then[to_move]
    }
}
