//! Moves, and endings of a match by resignation, absence, timeout or abort.

use plyhouse_engine::catalog::PlayError;
use plyhouse_engine::game::{Outcome, Seat};
use plyhouse_protocol::{EndDetail, EndReason, PlayerId, Ply};

use super::clocks::RemainingTime;
use super::{Decision, EventKind, Match, Occupant, Refusal, Stage, Timestamp};

/// Describes how a match ended. It does not contain the remaining time on the clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchEnd {
    pub(super) winner: Option<Seat>,
    pub(super) reason: EndReason,
    pub(super) detail: Option<EndDetail>,
    pub(super) by: Option<Seat>,
}

impl MatchEnd {
    pub(super) const fn new(winner: Option<Seat>, reason: EndReason) -> Self {
        Self {
            winner,
            reason,
            detail: None,
            by: None,
        }
    }

    pub(super) const fn without_result(detail: Option<EndDetail>, by: Option<Seat>) -> Self {
        Self {
            detail,
            by,
            ..Self::new(None, EndReason::Aborted)
        }
    }

    pub(super) const BY_AGREEMENT: Self = Self::new(None, EndReason::Agreement);

    pub(super) const fn into_event(self, remaining: Option<RemainingTime>) -> EventKind {
        EventKind::Ended {
            winner: self.winner,
            reason: self.reason,
            detail: self.detail,
            by: self.by,
            remaining,
        }
    }
}

/// Returns the event that ends a match when the rules of the game produce the given outcome.
pub(super) const fn rules_end_event(
    outcome: Outcome,
    remaining: Option<RemainingTime>,
) -> EventKind {
    let winner = match outcome {
        Outcome::Draw => None,
        Outcome::Decisive { winner } => Some(winner),
    };
    MatchEnd::new(winner, EndReason::Rules).into_event(remaining)
}

impl Match {
    pub(super) fn play_as_player(
        &self,
        player: PlayerId,
        ply: Ply,
        text: &str,
        takebacks: Option<u64>,
        now: Timestamp,
    ) -> Result<Decision, Refusal> {
        let seat = self.seat_in_running_match(player)?;
        if takebacks.is_some_and(|known_takebacks| known_takebacks != self.takebacks) {
            return Err(self.stale_ply());
        }
        self.play_move(seat, ply, text, now)
    }

    pub(super) fn play_as_bot(
        &self,
        seat: Seat,
        ply: Ply,
        text: &str,
        now: Timestamp,
    ) -> Result<Decision, Refusal> {
        match self.occupant(seat) {
            Occupant::Bot(_) | Occupant::StandIn { .. } => self.play_move(seat, ply, text, now),
            Occupant::Open | Occupant::Player { .. } => Err(Refusal::NotSeated),
        }
    }

    fn play_move(
        &self,
        seat: Seat,
        ply: Ply,
        text: &str,
        now: Timestamp,
    ) -> Result<Decision, Refusal> {
        self.check_running()?;
        self.check_ply(ply)?;
        if seat != self.position.turn() {
            return Err(Refusal::NotYourTurn);
        }
        let preview = self.position.preview_move(text);
        let (m, outcome) = preview.map_err(|error| match error {
            PlayError::Unreadable(why) => Refusal::Unreadable(why),
            PlayError::Illegal(why) => Refusal::Illegal(why),
        })?;
        let spent_ms = self.charged_ms(now);
        let remaining = self.remaining_after_move(spent_ms.unwrap_or(0));
        let moved = EventKind::Moved {
            seat,
            m,
            spent_ms,
            remaining,
        };
        let ended = outcome.map(|outcome| rules_end_event(outcome, remaining));
        Ok([Some(moved), ended])
    }

    pub(super) fn end_with_loser(
        &self,
        loser: Seat,
        reason: EndReason,
        now: Timestamp,
    ) -> Result<Decision, Refusal> {
        self.check_running()?;
        self.end_now(MatchEnd::new(Some(loser.other()), reason), now)
    }

    pub(super) fn resign_as_bot(&self, seat: Seat, now: Timestamp) -> Result<Decision, Refusal> {
        if self.occupant(seat).bot_level().is_none() {
            return Err(Refusal::NotSeated);
        }
        self.end_with_loser(seat, EndReason::Resignation, now)
    }

    pub(super) fn abort_by_player(
        &self,
        player: PlayerId,
        now: Timestamp,
    ) -> Result<Decision, Refusal> {
        let seat = self.seat_in_running_match(player)?;
        if self.ply() >= ABORT_BEFORE_PLY || self.takebacks > 0 {
            return Err(Refusal::NotAllowed(
                "it is too late to abort: resign instead",
            ));
        }
        self.end_now(MatchEnd::without_result(None, Some(seat)), now)
    }

    /// Ends the match because the side to move has run out of time. The match is drawn if the
    /// opponent cannot win or has offered a draw.
    pub(super) fn flag_fall(&self) -> Result<Decision, Refusal> {
        self.check_running()?;
        let clock = self.creation.terms.clock;
        let clock = clock.ok_or(Refusal::NotAllowed("this match has no clock"))?;
        let loser = self.position.turn();
        let winner = loser.other();
        let timeout = MatchEnd::new(Some(winner), EndReason::Timeout);
        let end = if !self.position.can_win(winner) {
            MatchEnd {
                winner: None,
                detail: Some(EndDetail::CannotWin),
                ..timeout
            }
        } else if self.has_offered_draw(winner) {
            MatchEnd {
                detail: Some(EndDetail::Flag),
                ..MatchEnd::BY_AGREEMENT
            }
        } else {
            timeout
        };
        let allowance_ms = self.remaining.allowance_ms(&clock, loser);
        let remaining = self.remaining.after_charge(&clock, loser, allowance_ms);
        Ok([Some(end.into_event(Some(remaining))), None])
    }

    pub(super) fn no_first_move(&self) -> Result<Decision, Refusal> {
        self.check_running()?;
        let (detail, by) = (EndDetail::NoFirstMove, self.position.turn());
        self.end_at_turn_start(MatchEnd::without_result(Some(detail), Some(by)))
    }

    pub(super) fn abort(&self, now: Timestamp) -> Result<Decision, Refusal> {
        let end = MatchEnd::without_result(None, None);
        match self.stage {
            Stage::Ended { .. } => Err(Refusal::MatchEnded),
            Stage::Open => self.end_at_turn_start(end),
            Stage::Running => self.end_now(end, now),
        }
    }

    /// Ends the match without charging any time for the current turn.
    #[expect(clippy::unnecessary_wraps, reason = "it ends what may be refused")]
    pub(super) fn end_at_turn_start(&self, end: MatchEnd) -> Result<Decision, Refusal> {
        Ok([Some(end.into_event(self.remaining_time())), None])
    }

    /// Ends a running match. The side to move is charged for the time used in the current turn, but
    /// gets no increment.
    #[expect(clippy::unnecessary_wraps, reason = "it ends what may be refused")]
    pub(super) fn end_now(&self, end: MatchEnd, now: Timestamp) -> Result<Decision, Refusal> {
        let spent_ms = self.charged_ms(now).unwrap_or(0);
        let clock = self.creation.terms.clock;
        let seat = self.position.turn();
        let remaining = clock.map(|clock| self.remaining.after_charge(&clock, seat, spent_ms));
        Ok([Some(end.into_event(remaining)), None])
    }

    /// Returns the charge for a move at `now`, in milliseconds. The first ply of a seat is free.
    /// Returns `None` without a clock.
    fn charged_ms(&self, now: Timestamp) -> Option<u64> {
        self.creation.terms.clock?;
        Some(if self.is_free_ply() { 0 } else { now.spent_ms })
    }

    /// Returns the remaining time of both players after a move that costs the mover `spent_ms`
    /// milliseconds. Returns `None` without a clock.
    pub(super) fn remaining_after_move(&self, spent_ms: u64) -> Option<RemainingTime> {
        let clock = self.creation.terms.clock?;
        if self.is_free_ply() {
            return Some(self.remaining);
        }
        Some(
            self.remaining
                .after_move(&clock, self.position.turn(), spent_ms),
        )
    }

    /// Returns the seat of a player, if the match is running.
    pub(super) fn seat_in_running_match(&self, player: PlayerId) -> Result<Seat, Refusal> {
        let seat = self.seat_of(player).ok_or(Refusal::NotSeated)?;
        self.check_running().map(|()| seat)
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

/// First ply at which players can no longer abort the match.
const ABORT_BEFORE_PLY: Ply = Ply(2);
