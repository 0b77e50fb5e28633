//! Verification of stored matches. [`Match::replay`] accepts every event that can be applied to the
//! match. [`Match::audit`] also checks that the match could have produced each event.

use plyhouse_engine::game::Seat;
use plyhouse_protocol::{EndReason, Ply, Seq};

use crate::moves_and_endings::rules_end_event;
use crate::{
    Creation, Event, EventKind, Match, Occupant, Offer, RemainingTime, ReplayError, Stage,
};

/// Error that an audit found in the record of a match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// An event cannot be applied to the match, or the initial position is invalid.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The previous event requires a certain next event, but the record contains a different one.
    #[error("event {seq}: expected {expected:?}, found {found:?}")]
    Unexpected {
        /// Sequence number of the event.
        seq: Seq,
        /// Event in the record.
        found: Box<EventKind>,
        /// Event that the previous event requires.
        expected: Box<EventKind>,
    },
    /// The record ends although its last event requires a further event.
    #[error("the last event must be followed by {expected:?}")]
    Incomplete {
        /// Missing event.
        expected: EventKind,
    },
    /// The match could not have produced this event.
    #[error("event {seq}: {reason}")]
    InvalidDecision {
        /// Sequence number of the event.
        seq: Seq,
        /// Description of the error.
        reason: &'static str,
    },
    /// A recorded move is not in canonical form.
    #[error("event {seq}: move {m:?} is not in canonical notation")]
    NonCanonicalMove {
        /// Sequence number of the event.
        seq: Seq,
        /// Move in the record.
        m: String,
    },
}

impl Match {
    /// Checks that a match could have produced these events, according to its own rules and the
    /// rules of its game.
    ///
    /// # Errors
    ///
    /// Returns the first error in the record.
    pub fn audit(creation: Creation, events: &[Event]) -> Result<(), AuditError> {
        let mut state = Self::new(creation)?;
        for event in events {
            let seq = state.seq().next();
            let kind = &event.kind;
            if let Some(expected) = state.expected_event()
                && expected != *kind
            {
                let (found, expected) = (Box::new(kind.clone()), Box::new(expected));
                return Err(AuditError::Unexpected {
                    seq,
                    found,
                    expected,
                });
            }
            (state.check_event(event))
                .map_err(|reason| AuditError::InvalidDecision { seq, reason })?;
            state.fold(event)?;
            if let EventKind::Moved { m, .. } = kind
                && state.moves().last() != Some(m)
            {
                let m = m.clone();
                return Err(AuditError::NonCanonicalMove { seq, m });
            }
        }
        match state.expected_event() {
            Some(expected) => Err(AuditError::Incomplete { expected }),
            None => Ok(()),
        }
    }

    /// Returns the event that must follow the last event, if any. A match produces both events from
    /// the same action.
    fn expected_event(&self) -> Option<EventKind> {
        match self.stage {
            Stage::Open => (!self.seats.contains(&Occupant::Open)).then(|| self.start_event()),
            Stage::Running => {
                let outcome = self.position.outcome();
                let ended = outcome.map(|outcome| rules_end_event(outcome, self.remaining_time()));
                ended.or_else(|| self.bot_granted_takeback())
            }
            Stage::Ended { .. } => None,
        }
    }

    /// Returns the takeback event that must follow a takeback request to a bot. A bot accepts such
    /// a request at once.
    fn bot_granted_takeback(&self) -> Option<EventKind> {
        let mut offers = self.pending_offers();
        let takeback = offers.find(|standing| standing.offer == Offer::Takeback)?;
        self.occupant(takeback.seat.other()).bot_level()?;
        self.takeback_event(takeback.to_ply)
    }

    /// Checks whether the match could have produced the event, in addition to the checks that
    /// `fold` performs.
    fn check_event(&self, event: &Event) -> Result<(), &'static str> {
        match &event.kind {
            EventKind::Seated { seat, occupant } => self.check_occupant(*seat, occupant),
            EventKind::Started { .. } => Ok(()),
            EventKind::Moved {
                spent_ms,
                remaining,
                ..
            } => {
                if spent_ms.is_some() != self.clock().is_some() {
                    return Err("time spent must be recorded if and only if the match has a clock");
                }
                if self.is_free_ply() && spent_ms.unwrap_or(0) > 0 {
                    return Err("the first move of a seat must not use clock time");
                }
                if self.remaining_after_move(spent_ms.unwrap_or(0)) != *remaining {
                    return Err("the remaining time after the move is wrong");
                }
                Ok(())
            }
            EventKind::Offered {
                seat,
                offer,
                ply,
                to_ply,
            } => self.check_offer(*seat, *offer, (*ply, *to_ply)),
            EventKind::Declined { by, seat, .. } => self.check_decline(*seat, *by),
            EventKind::TakenBack { ply, .. } => {
                let is_offered = self
                    .pending_offers()
                    .any(|standing| standing.to_ply == Some(*ply));
                if !is_offered || self.takeback_event(Some(*ply)).as_ref() != Some(&event.kind) {
                    return Err("there is no matching takeback request");
                }
                Ok(())
            }
            EventKind::TimeGiven {
                seat,
                ms,
                remaining,
            } => {
                let is_consistent = self.remaining.with_added_time(*seat, *ms) == *remaining;
                if !is_consistent || self.check_time_gift(*seat, *ms).is_err() {
                    return Err("this amount of time cannot be added");
                }
                Ok(())
            }
            EventKind::Hinted { seat, .. } => {
                let hint_check = self.check_hint(*seat);
                hint_check.map_err(|_| "a hint is not allowed here")
            }
            EventKind::Ended {
                winner,
                reason,
                remaining,
                ..
            } => self.check_end(*winner, *reason, *remaining),
        }
    }

    fn check_occupant(&self, seat: Seat, occupant: &Occupant) -> Result<(), &'static str> {
        match occupant {
            Occupant::StandIn { level, .. } if self.creation.terms.stand_in != Some(*level) => {
                Err("the stand-in bot differs from the match settings")
            }
            _ if self.stage == Stage::Running => Ok(()),
            Occupant::Open => Ok(()),
            _ if self.occupant(seat) != &Occupant::Open => Err("the seat is taken"),
            Occupant::Player { id, .. } if self.seat_of(*id).is_some() => {
                Err("the player already has the other seat")
            }
            Occupant::Player { .. } | Occupant::Bot(_) | Occupant::StandIn { .. } => Ok(()),
        }
    }

    fn check_offer(
        &self,
        seat: Seat,
        offer: Offer,
        (ply, to_ply): (Ply, Option<Ply>),
    ) -> Result<(), &'static str> {
        if ply != self.ply() || self.occupant(seat).player().is_none() {
            return Err("no offer is allowed at this ply");
        }
        let offer_check = match offer {
            Offer::Draw => self.check_draw_offer(seat),
            Offer::Takeback => self.check_takeback(seat, to_ply),
        };
        offer_check.map_err(|_| "the offer is not allowed")
    }

    fn check_decline(&self, seat: Seat, by: Seat) -> Result<(), &'static str> {
        let is_bot = self.bot_to_answer_draw() == Some(by);
        if self.occupant(by).player().is_none() && !(is_bot && by != seat) {
            return Err("the seat cannot decline this offer");
        }
        Ok(())
    }

    fn check_end(
        &self,
        winner: Option<Seat>,
        reason: EndReason,
        left: Option<RemainingTime>,
    ) -> Result<(), &'static str> {
        if !self.is_possible_at_end(left) {
            return Err("the remaining time at the end is wrong");
        }
        let is_running = self.stage == Stage::Running;
        match reason {
            EndReason::Rules if self.expected_event().is_none() => {
                Err("the game is not over according to its rules")
            }
            EndReason::Aborted if winner.is_some() => Err("an aborted match cannot have a winner"),
            EndReason::Resignation
            | EndReason::Abandonment
            | EndReason::Timeout
            | EndReason::Agreement
                if !is_running =>
            {
                Err("a match that has not started cannot end this way")
            }
            EndReason::Resignation | EndReason::Abandonment if winner.is_none() => {
                Err("the winner is missing")
            }
            EndReason::Timeout if self.clock().is_none() => Err("the match has no clock"),
            EndReason::Timeout if winner == Some(self.position.turn()) => {
                Err("the side that ran out of time cannot win")
            }
            EndReason::Agreement if winner.is_some() => Err("a draw cannot have a winner"),
            EndReason::Agreement
                if !self
                    .pending_offers()
                    .any(|pending| pending.offer == Offer::Draw) =>
            {
                Err("no draw offer is pending")
            }
            EndReason::Rules
            | EndReason::Aborted
            | EndReason::Resignation
            | EndReason::Abandonment
            | EndReason::Timeout
            | EndReason::Agreement => Ok(()),
        }
    }

    /// Returns whether `left` is a possible remaining time at the end of the match. Since the last
    /// move, only the side to move can have used time.
    fn is_possible_at_end(&self, left: Option<RemainingTime>) -> bool {
        let (Some(left), Some(before)) = (left, self.remaining_time()) else {
            return left == self.remaining_time();
        };
        let to_move = self.position.turn().index();
        let [now, then] = [left, before].map(|left| left.remaining_ms());
        now[1 - to_move] == then[1 - to_move] && now[to_move] <= then[to_move]
    }
}
