//! Applies events to the state of a match.

use plyhouse_engine::catalog::MoveNotation;
use plyhouse_engine::game::Seat;
use plyhouse_protocol::{Ply, Seq};

use super::clocks::RemainingTime;
use super::{Event, EventKind, Match, Occupant, PendingOffer, PlayedMove, ReplayError, Stage};

/// Initial capacity of the move list, so that short games need no reallocation.
const PLIES_CAPACITY: usize = 16;

impl Match {
    /// Applies an event to the match.
    ///
    /// # Errors
    ///
    /// Returns an error if the event cannot occur in the current state, and leaves the match
    /// unchanged. Events returned by [`apply`](Self::apply) never cause this error, so an error
    /// means that the stored record is damaged.
    pub fn fold(&mut self, event: &Event) -> Result<(), ReplayError> {
        let seq = self.seq.next();
        self.try_fold(event, seq)
            .ok_or(ReplayError::Event { seq })?;
        self.seq = seq;
        Ok(())
    }

    /// Applies an event. Returns `None` and leaves the match unchanged if the event cannot occur in
    /// the current state.
    fn try_fold(&mut self, event: &Event, seq: Seq) -> Option<()> {
        if !event.kind.can_occur_in(self.stage) {
            return None;
        }
        let at_ms = event.at_ms;
        match &event.kind {
            EventKind::Seated { seat, occupant } if self.stage == Stage::Open => {
                let is_stand_in = matches!(occupant, Occupant::StandIn { .. });
                (!is_stand_in).then(|| self.seats[seat.index()] = occupant.clone())
            }
            EventKind::Seated { seat, occupant } => self.fold_substitution(*seat, occupant, at_ms),
            EventKind::Started { remaining } => self.fold_start(*remaining, at_ms),
            EventKind::Moved {
                seat, m, remaining, ..
            } => self.fold_move(*seat, m, *remaining, at_ms, seq),
            EventKind::Offered {
                seat,
                offer,
                ply,
                to_ply,
            } => {
                let pending = PendingOffer {
                    seat: *seat,
                    offer: *offer,
                    ply: *ply,
                    to_ply: *to_ply,
                    seq,
                };
                self.offers.record_offer(pending, at_ms);
                Some(())
            }
            EventKind::Declined { seat, offer, by: _ } => {
                self.offers.withdraw(*seat, *offer).then_some(())
            }
            EventKind::TakenBack { ply, remaining } => self.fold_takeback(*ply, *remaining, at_ms),
            EventKind::TimeGiven {
                seat, remaining, ..
            } => {
                self.set_remaining_time(Some(*remaining))?;
                self.offers.record_time_gift(seat.other(), self.ply());
                Some(())
            }
            EventKind::Hinted { seat, ply } => self.fold_hint(*seat, *ply),
            EventKind::Ended {
                winner,
                reason,
                detail,
                by,
                remaining,
            } => {
                self.set_remaining_time(*remaining)?;
                self.offers.clear();
                self.ended_ms = Some(at_ms);
                self.stage = Stage::Ended {
                    winner: *winner,
                    reason: *reason,
                    detail: *detail,
                    by: *by,
                };
                Some(())
            }
        }
    }

    /// Sets the remaining time of both players. Returns `None` if `remaining` is missing in a timed
    /// match or present in an untimed match.
    fn set_remaining_time(&mut self, remaining: Option<RemainingTime>) -> Option<()> {
        if remaining.is_some() != self.creation.terms.clock.is_some() {
            return None;
        }
        self.remaining = remaining.unwrap_or_default();
        Some(())
    }

    fn fold_substitution(&mut self, seat: Seat, occupant: &Occupant, at_ms: u64) -> Option<()> {
        if !self.can_substitute(seat, occupant) {
            return None;
        }
        match occupant {
            Occupant::StandIn { .. } => {
                let count = &mut self.substitution_counts[seat.index()];
                *count = count.saturating_add(1);
            }
            // If the replaced player returns while it is their turn, the turn restarts.
            Occupant::Player { .. } if self.position.turn() == seat => self.turn_start_ms = at_ms,
            Occupant::Open | Occupant::Player { .. } | Occupant::Bot(_) => {}
        }
        self.seats[seat.index()] = occupant.clone();
        self.offers.record_occupant_change(seat);
        Some(())
    }

    fn fold_start(&mut self, remaining: Option<RemainingTime>, at_ms: u64) -> Option<()> {
        if self.seats.contains(&Occupant::Open) {
            return None;
        }
        self.set_remaining_time(remaining)?;
        self.stage = Stage::Running;
        self.turn_start_ms = at_ms;
        let has_bot = self
            .seats
            .iter()
            .any(|occupant| occupant.bot_level().is_some());
        let limits = self.creation.terms.absence_limits;
        self.absence_limit_ms = limits.map(|limits| match has_bot {
            true => limits.against_bot_ms,
            false => limits.against_player_ms,
        });
        self.played_moves.reserve(PLIES_CAPACITY);
        Some(())
    }

    fn fold_move(
        &mut self,
        seat: Seat,
        m: &str,
        remaining: Option<RemainingTime>,
        at_ms: u64,
        seq: Seq,
    ) -> Option<()> {
        let has_expected_time = remaining.is_some() == self.creation.terms.clock.is_some();
        if !has_expected_time || seat != self.position.turn() {
            return None;
        }
        let MoveNotation { m, san } = self.position.play_with_notation(m).ok()?;
        self.san_moves.extend(san.map(String::into_boxed_str));
        self.played_moves.push(PlayedMove {
            seat,
            m,
            seq,
            remaining: self.remaining,
        });
        self.remaining = remaining.unwrap_or_default();
        self.turn_start_ms = at_ms;
        self.offers.record_move(seat);
        Some(())
    }

    fn fold_takeback(
        &mut self,
        ply: Ply,
        remaining: Option<RemainingTime>,
        at_ms: u64,
    ) -> Option<()> {
        let plies = usize::try_from(ply.0).ok()?;
        if plies >= self.played_moves.len() {
            return None;
        }
        // A position cannot undo moves, so the earlier position is computed by replaying the moves
        // from the initial position.
        let position = self.position_at(plies)?;
        self.set_remaining_time(remaining)?;
        self.position = position;
        self.played_moves.truncate(plies);
        self.san_moves.truncate(plies);
        self.takebacks += 1;
        self.turn_start_ms = at_ms;
        self.offers.record_takeback(ply);
        Some(())
    }
}

impl EventKind {
    /// Returns whether the event can occur in this stage of a match.
    fn can_occur_in(&self, stage: Stage) -> bool {
        match self {
            Self::Seated { .. } | Self::Ended { .. } => !matches!(stage, Stage::Ended { .. }),
            Self::Started { .. } => stage == Stage::Open,
            Self::Moved { .. }
            | Self::Offered { .. }
            | Self::Declined { .. }
            | Self::TakenBack { .. }
            | Self::TimeGiven { .. }
            | Self::Hinted { .. } => stage == Stage::Running,
        }
    }
}
