//! How an event becomes part of a match.

use plyhouse_engine::catalog::MoveNotation;
use plyhouse_engine::game::Seat;
use plyhouse_protocol::{Ply, Seq};

use super::clocks::RemainingTime;
use super::{Event, EventKind, Match, Occupant, Played, ReplayError, Stage, Standing};

/// For how many plies a match that begins has room, which saves short games from growing it step by
/// step.
const PLIES_ROOM: usize = 16;

impl Match {
    /// Makes an event part of the match.
    ///
    /// # Errors
    ///
    /// The event cannot have happened here, which [`apply`](Self::apply) never lets come about:
    /// the record of the match is damaged. The match is then as it was.
    pub fn fold(&mut self, event: &Event) -> Result<(), ReplayError> {
        let seq = self.seq.next();
        self.try_fold(event, seq)
            .ok_or(ReplayError::Event { seq })?;
        self.seq = seq;
        Ok(())
    }

    /// `None` if the event cannot have happened here; the match is then as it was.
    fn try_fold(&mut self, event: &Event, seq: Seq) -> Option<()> {
        match (&event.kind, self.stage) {
            (EventKind::Seated { seat, occupant }, Stage::Open) => {
                let is_stand_in = matches!(occupant, Occupant::StandIn { .. });
                (!is_stand_in).then(|| self.seats[seat.index()] = occupant.clone())
            }
            (EventKind::Seated { seat, occupant }, Stage::Running) => {
                self.fold_change_of_hands(*seat, occupant, event.at_ms)
            }
            (EventKind::Started { left }, Stage::Open) => self.fold_start(*left, event.at_ms),
            (
                EventKind::Moved {
                    seat,
                    m,
                    spent_ms: _,
                    left,
                },
                Stage::Running,
            ) => self.fold_move(*seat, m, *left, event.at_ms, seq),
            (
                EventKind::Offered { .. }
                | EventKind::Declined { .. }
                | EventKind::TakenBack { .. }
                | EventKind::TimeGiven { .. }
                | EventKind::Hinted { .. },
                Stage::Running,
            ) => self.fold_agreement(event, seq),
            (
                EventKind::Ended {
                    winner,
                    reason,
                    detail,
                    by,
                    left,
                },
                Stage::Open | Stage::Running,
            ) => {
                self.set_left(*left)?;
                self.offers.end_all();
                self.ended_ms = Some(event.at_ms);
                self.stage = Stage::Ended {
                    winner: *winner,
                    reason: *reason,
                    detail: *detail,
                    by: *by,
                };
                Some(())
            }
            (
                EventKind::Started { .. }
                | EventKind::Moved { .. }
                | EventKind::Offered { .. }
                | EventKind::Declined { .. }
                | EventKind::TakenBack { .. }
                | EventKind::TimeGiven { .. }
                | EventKind::Hinted { .. },
                _,
            )
            | (EventKind::Seated { .. } | EventKind::Ended { .. }, Stage::Ended { .. }) => None,
        }
    }

    /// What the players offer and grant each other while they play.
    fn fold_agreement(&mut self, event: &Event, seq: Seq) -> Option<()> {
        match &event.kind {
            EventKind::Offered {
                seat,
                offer,
                ply,
                to_ply,
            } => {
                let standing = Standing {
                    seat: *seat,
                    offer: *offer,
                    ply: *ply,
                    to_ply: *to_ply,
                    seq,
                };
                self.offers.offered(standing, event.at_ms);
                Some(())
            }
            EventKind::Declined { seat, offer, by: _ } => {
                self.offers.declined(*seat, *offer).then_some(())
            }
            EventKind::TakenBack { ply, left } => self.fold_takeback(*ply, *left, event.at_ms),
            EventKind::TimeGiven { seat, ms: _, left } => {
                self.set_left(Some(*left))?;
                self.offers.time_given(seat.other(), self.ply());
                Some(())
            }
            EventKind::Hinted { seat, ply } => self.fold_hint(*seat, *ply),
            EventKind::Seated { .. }
            | EventKind::Started { .. }
            | EventKind::Moved { .. }
            | EventKind::Ended { .. } => None,
        }
    }

    /// Takes what is left from an event, which has it if there is a clock.
    fn set_left(&mut self, left: Option<RemainingTime>) -> Option<()> {
        if left.is_some() != self.creation.terms.clock.is_some() {
            return None;
        }
        self.left = left.unwrap_or_default();
        Some(())
    }

    fn fold_change_of_hands(&mut self, seat: Seat, occupant: &Occupant, at_ms: u64) -> Option<()> {
        if !self.may_change_hands(seat, occupant) {
            return None;
        }
        match occupant {
            Occupant::StandIn { .. } => {
                let times = &mut self.stood_in[seat.index()];
                *times = times.saturating_add(1);
            }
            // Whoever comes back begins the turn anew.
            Occupant::Player { .. } if self.position.turn() == seat => self.turn_at_ms = at_ms,
            Occupant::Open | Occupant::Player { .. } | Occupant::Bot(_) => {}
        }
        self.seats[seat.index()] = occupant.clone();
        self.offers.seated(seat);
        Some(())
    }

    fn fold_start(&mut self, left: Option<RemainingTime>, at_ms: u64) -> Option<()> {
        if self.seats.contains(&Occupant::Open) {
            return None;
        }
        self.set_left(left)?;
        self.stage = Stage::Running;
        self.turn_at_ms = at_ms;
        let has_bot = self.seats.iter().any(|occupant| occupant.bot().is_some());
        let patience = self.creation.terms.patience;
        self.patience_ms = patience.map(|patience| match has_bot {
            true => patience.bot_ms,
            false => patience.people_ms,
        });
        self.played.reserve(PLIES_ROOM);
        Some(())
    }

    fn fold_move(
        &mut self,
        seat: Seat,
        m: &str,
        left: Option<RemainingTime>,
        at_ms: u64,
        seq: Seq,
    ) -> Option<()> {
        let has_left = left.is_some() == self.creation.terms.clock.is_some();
        if !has_left || seat != self.position.turn() {
            return None;
        }
        let MoveNotation { m, san } = self.position.play_with_notation(m).ok()?;
        self.sans.extend(san.map(String::into_boxed_str));
        self.played.push(Played {
            seat,
            m,
            seq,
            left: self.left,
        });
        self.left = left.unwrap_or_default();
        self.turn_at_ms = at_ms;
        self.offers.moved(seat);
        Some(())
    }

    fn fold_takeback(&mut self, ply: Ply, left: Option<RemainingTime>, at_ms: u64) -> Option<()> {
        let kept = usize::try_from(ply.0).ok()?;
        if kept >= self.played.len() {
            return None;
        }
        // A position knows no way back.
        let position = self.position_at(kept)?;
        self.set_left(left)?;
        self.position = position;
        self.played.truncate(kept);
        self.sans.truncate(kept);
        self.takebacks += 1;
        self.turn_at_ms = at_ms;
        self.offers.taken_back(ply);
        Some(())
    }
}
