//! Moves, and the ends that are no move: resignation, absence, time.

use plyhouse_engine::catalog::PlayError;
use plyhouse_engine::game::{Outcome, Seat};
use plyhouse_protocol::{Detail, PlayerId, Ply, Reason};

use super::clocks::RemainingTime;
use super::{Decided, EventKind, Match, Occupant, Refusal, Stage, Timestamp};

/// How a match ends, but for what is left on its clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) winner: Option<Seat>,
    pub(super) reason: Reason,
    pub(super) detail: Option<Detail>,
    pub(super) by: Option<Seat>,
}

impl End {
    pub(super) const fn without_result(detail: Option<Detail>, by: Option<Seat>) -> Self {
        Self {
            winner: None,
            reason: Reason::Aborted,
            detail,
            by,
        }
    }

    pub(super) const AGREED: Self = Self {
        winner: None,
        reason: Reason::Agreement,
        detail: None,
        by: None,
    };

    pub(super) const fn event(self, left: Option<RemainingTime>) -> EventKind {
        let Self {
            winner,
            reason,
            detail,
            by,
        } = self;
        EventKind::Ended {
            winner,
            reason,
            detail,
            by,
            left,
        }
    }
}

/// The end of a match whose game has come to this outcome.
pub(super) const fn ended_by_rules(outcome: Outcome, left: Option<RemainingTime>) -> EventKind {
    let winner = match outcome {
        Outcome::Draw => None,
        Outcome::Decisive { winner } => Some(winner),
    };
    let end = End {
        winner,
        reason: Reason::Rules,
        detail: None,
        by: None,
    };
    end.event(left)
}

impl Match {
    pub(super) fn play_as_player(
        &self,
        player: PlayerId,
        ply: Ply,
        text: &str,
        takebacks: Option<u64>,
        now: Timestamp,
    ) -> Result<Decided, Refusal> {
        let seat = self.seat_of(player).ok_or(Refusal::NotSeated)?;
        self.check_running()?;
        if takebacks.is_some_and(|known| known != self.takebacks) {
            return Err(self.stale_ply());
        }
        self.play(seat, ply, text, now)
    }

    pub(super) fn play_as_bot(
        &self,
        seat: Seat,
        ply: Ply,
        text: &str,
        now: Timestamp,
    ) -> Result<Decided, Refusal> {
        match self.occupant(seat) {
            Occupant::Bot(_) | Occupant::StandIn { .. } => self.play(seat, ply, text, now),
            Occupant::Open | Occupant::Player { .. } => Err(Refusal::NotSeated),
        }
    }

    fn play(&self, seat: Seat, ply: Ply, text: &str, now: Timestamp) -> Result<Decided, Refusal> {
        self.check_running()?;
        self.check_ply(ply)?;
        if seat != self.position.turn() {
            return Err(Refusal::NotYourTurn);
        }
        let tried = self.position.preview_move(text);
        let (m, outcome) = tried.map_err(|error| match error {
            PlayError::Unreadable(why) => Refusal::Unreadable(why),
            PlayError::Illegal(why) => Refusal::Illegal(why),
        })?;
        let spent_ms = self.spent_ms(now);
        let left = self.left_after_move(spent_ms.unwrap_or(0));
        let moved = EventKind::Moved {
            seat,
            m,
            spent_ms,
            left,
        };
        let ended = outcome.map(|outcome| ended_by_rules(outcome, left));
        Ok([Some(moved), ended])
    }

    pub(super) fn lose(
        &self,
        loser: Seat,
        reason: Reason,
        now: Timestamp,
    ) -> Result<Decided, Refusal> {
        self.check_running()?;
        let end = End {
            winner: Some(loser.other()),
            reason,
            detail: None,
            by: None,
        };
        self.end_now(end, now)
    }

    pub(super) fn resign_as_bot(&self, seat: Seat, now: Timestamp) -> Result<Decided, Refusal> {
        if self.occupant(seat).bot().is_none() {
            return Err(Refusal::NotSeated);
        }
        self.lose(seat, Reason::Resignation, now)
    }

    pub(super) fn call_off(&self, player: PlayerId, now: Timestamp) -> Result<Decided, Refusal> {
        let seat = self.seat_of(player).ok_or(Refusal::NotSeated)?;
        self.check_running()?;
        if self.ply() >= CALLED_OFF_BEFORE || self.takebacks > 0 {
            return Err(Refusal::NotAllowed("the match has begun: resign instead"));
        }
        self.end_now(End::without_result(None, Some(seat)), now)
    }

    /// The seat whose turn it is has run out of time.
    pub(super) fn flag(&self) -> Result<Decided, Refusal> {
        self.check_running()?;
        let clock = self.creation.terms.clock;
        let clock = clock.ok_or(Refusal::NotAllowed("there is no clock"))?;
        let loser = self.position.turn();
        let winner = loser.other();
        let lost = End {
            winner: Some(winner),
            reason: Reason::Timeout,
            detail: None,
            by: None,
        };
        let end = if !self.position.can_win(winner) {
            End {
                winner: None,
                detail: Some(Detail::CannotWin),
                ..lost
            }
        } else if self.has_offered_draw(winner) {
            End {
                detail: Some(Detail::Flag),
                ..End::AGREED
            }
        } else {
            lost
        };
        let all = self.left.allowance_ms(&clock, loser);
        let left = self.left.charged(&clock, loser, all);
        Ok([Some(end.event(Some(left))), None])
    }

    pub(super) fn no_first_move(&self) -> Result<Decided, Refusal> {
        self.check_running()?;
        let (detail, by) = (Detail::NoFirstMove, self.position.turn());
        self.end(End::without_result(Some(detail), Some(by)))
    }

    pub(super) fn abort(&self, now: Timestamp) -> Result<Decided, Refusal> {
        let end = End::without_result(None, None);
        match self.stage {
            Stage::Ended { .. } => Err(Refusal::MatchEnded),
            Stage::Open => self.end(end),
            Stage::Running => self.end_now(end, now),
        }
    }

    /// Ends the match with the clocks as they stand at the begin of the turn.
    #[expect(clippy::unnecessary_wraps, reason = "it ends what may be refused")]
    pub(super) fn end(&self, end: End) -> Result<Decided, Refusal> {
        Ok([Some(end.event(self.left())), None])
    }

    /// Ends a running match with the clocks as they are after a move now.
    #[expect(clippy::unnecessary_wraps, reason = "it ends what may be refused")]
    pub(super) fn end_now(&self, end: End, now: Timestamp) -> Result<Decided, Refusal> {
        let spent_ms = self.spent_ms(now).unwrap_or(0);
        let clock = self.creation.terms.clock;
        let seat = self.position.turn();
        let left = clock.map(|clock| self.left.charged(&clock, seat, spent_ms));
        Ok([Some(end.event(left)), None])
    }

    /// What is charged at this moment: nothing for a free ply.
    fn spent_ms(&self, now: Timestamp) -> Option<u64> {
        self.creation.terms.clock?;
        Some(if self.is_free() { 0 } else { now.spent_ms })
    }

    /// What is left after a move that is charged so much.
    pub(super) fn left_after_move(&self, spent_ms: u64) -> Option<RemainingTime> {
        let clock = self.creation.terms.clock?;
        if self.is_free() {
            return Some(self.left);
        }
        Some(self.left.after_move(&clock, self.position.turn(), spent_ms))
    }

    pub(super) fn check_running(&self) -> Result<(), Refusal> {
        match self.stage {
            Stage::Open => Err(Refusal::MatchNotStarted),
            Stage::Ended { .. } => Err(Refusal::MatchEnded),
            Stage::Running => Ok(()),
        }
    }

    pub(super) fn check_ply(&self, ply: Ply) -> Result<(), Refusal> {
        if ply == self.ply() {
            Ok(())
        } else {
            Err(self.stale_ply())
        }
    }

    fn stale_ply(&self) -> Refusal {
        Refusal::StalePly {
            expected: self.ply(),
            takebacks: self.takebacks,
        }
    }
}

/// A match can be called off while fewer plies than these are played.
const CALLED_OFF_BEFORE: Ply = Ply(2);
