//! Checks clocks against the rules and the elapsed time. The expected values are computed
//! independently of the server because the server is under test.
//!
//! The history does not show exactly when a clock runs, so the checker computes bounds for the
//! duration of each turn. A turn begins after the event that starts it is durable and before a
//! client receives this event. The server reads a move at some time after the client sends it and
//! before the write of the move starts.

mod correspondence;
mod expected_time;
mod reported_turn;

use plyhouse_engine::game::Seat;
use plyhouse_matches::{Event, EventKind, Match, Occupant};
use plyhouse_protocol::{ClockControl, EndDetail, EndReason, MatchId, PlayerId, TimeLeft};

use self::expected_time::ExpectedTime;
pub(super) use self::reported_turn::{ObservationTimes, ReportedTurn};
use super::observations::{Observations, ObservedMatch};
use crate::store::{FinalState, WriteFailure};

/// Time limit for the first ply of a seat. It does not apply to clocks with a fixed time per move.
const FIRST_MOVE_LIMIT_MS: u64 = 30_000;

/// Maximum lag credit that a player can save up, as a multiple of the lag credit that one move
/// adds.
const LAG_CREDITS_MAX: u32 = 7;

/// Maximum time between the moment a player's time runs out and the event that ends the match. The
/// limit allows for timer inaccuracy, a slow store and queued writes.
const FLAG_DELAY_MAX_MS: u64 = 3000;

/// Expected clock of one match and its current turn.
#[derive(Debug)]
pub(super) struct ExpectedClock<'a> {
    id: MatchId,
    observations: &'a Observations,
    observed: &'a ObservedMatch,
    stored: &'a FinalState,
    /// `None` if the match has no clock.
    remaining: Option<ExpectedTime>,
    control: Option<ClockControl>,
    /// Plies played so far, without the plies that were taken back. Each entry holds the seat that
    /// played the ply and the remaining times before the ply.
    plies: Vec<(Seat, ExpectedTime)>,
    /// Number of the event that began the turn. `None` before the first turn.
    turn_seq: Option<u64>,
    /// Timestamp of the event that began the turn.
    turn_started_ms: u64,
    /// Whether a player left the seat on turn, or a bot took over that seat, during the turn.
    occupant_changed: bool,
}

impl<'a> ExpectedClock<'a> {
    pub(super) fn new(
        state: &Match,
        observations: &'a Observations,
        observed: &'a ObservedMatch,
        stored: &'a FinalState,
    ) -> Self {
        let control = state.clock();
        Self {
            id: state.id(),
            observations,
            observed,
            stored,
            remaining: control.map(ExpectedTime::initial),
            control,
            plies: Vec::new(),
            turn_seq: None,
            turn_started_ms: 0,
            occupant_changed: false,
        }
    }

    /// Advances the clock by an event. The argument `before` is the turn before the event, and
    /// `state` is the match after the event. Returns a description of the error if the clock data
    /// of the event is wrong.
    pub(super) fn apply_event(
        &mut self,
        before: Turn,
        state: &Match,
        event: &Event,
    ) -> Option<String> {
        let (Some(control), Some(time)) = (self.control, self.remaining) else {
            return self.check_untimed(event);
        };
        let seq = state.seq().0;
        let wrong = match &event.kind {
            EventKind::Seated { seat, occupant } => {
                let is_on_turn = before.seat == Some(*seat);
                match occupant {
                    Occupant::Player { .. } if is_on_turn => self.begin_turn(seq, event),
                    _ => self.occupant_changed |= is_on_turn,
                }
                return None;
            }
            EventKind::Offered { .. } | EventKind::Declined { .. } | EventKind::Hinted { .. } => {
                return None;
            }
            EventKind::Started { remaining: left } => {
                self.set_remaining(time, left.map(to_time_left))
            }
            EventKind::Moved {
                seat,
                spent_ms,
                remaining: left,
                ..
            } => {
                let wrong = self.check_charge(control, time, (before, *spent_ms), seq);
                let after = match self.is_free_ply(*seat) {
                    true => time,
                    false => time.after_move(control, *seat, spent_ms.unwrap_or(0)),
                };
                self.plies.push((*seat, time));
                wrong.or_else(|| self.set_remaining(after, left.map(to_time_left)))
            }
            EventKind::TakenBack {
                ply,
                remaining: left,
            } => {
                let back = usize::try_from(ply.0).expect("a ply fits into usize");
                let after = self.plies.get(back).map_or(time, |(_, time)| *time);
                self.plies.truncate(back);
                self.set_remaining(after, left.map(to_time_left))
            }
            EventKind::TimeGiven {
                seat,
                ms,
                remaining: left,
            } => self.set_remaining(time.after_gift(*seat, *ms), Some(to_time_left(*left))),
            EventKind::Ended {
                remaining: left,
                reason,
                detail,
                ..
            } => {
                let is_first = *detail == Some(EndDetail::NoFirstMove);
                let is_flag = *reason == EndReason::Timeout || is_first;
                self.check_end(
                    control,
                    time,
                    before,
                    (left.map(to_time_left)?, is_flag, seq),
                )
            }
        };
        if !matches!(event.kind, EventKind::TimeGiven { .. }) {
            self.begin_turn(seq, event);
            self.occupant_changed = false;
        }
        wrong.map(|wrong| format!("{}: {wrong}, {event:?}, number {seq}", self.id))
    }

    const fn begin_turn(&mut self, seq: u64, event: &Event) {
        (self.turn_seq, self.turn_started_ms) = (Some(seq), event.at_ms);
    }

    /// Checks that an event of a match without a clock has no clock data.
    fn check_untimed(&self, event: &Event) -> Option<String> {
        let is_timed = match &event.kind {
            EventKind::Started { remaining: left }
            | EventKind::TakenBack {
                remaining: left, ..
            }
            | EventKind::Ended {
                remaining: left, ..
            } => left.is_some(),
            EventKind::Moved {
                spent_ms,
                remaining: left,
                ..
            } => spent_ms.is_some() || left.is_some(),
            EventKind::TimeGiven { .. } => true,
            EventKind::Seated { .. }
            | EventKind::Offered { .. }
            | EventKind::Declined { .. }
            | EventKind::Hinted { .. } => false,
        };
        is_timed.then(|| format!("{}: {event:?} without a clock", self.id))
    }

    fn is_free_ply(&self, seat: Seat) -> bool {
        !self.plies.iter().any(|(by, _)| *by == seat)
    }

    /// Sets the expected remaining time. Returns a violation if the stored remaining time differs
    /// from the expected one.
    fn set_remaining(&mut self, time: ExpectedTime, stored: Option<TimeLeft>) -> Option<String> {
        self.remaining = Some(time);
        let should = time.to_time_left();
        (stored != Some(should)).then(|| format!("{should:?} is the expected remaining time"))
    }

    /// Checks the thinking time that was charged for a move.
    fn check_charge(
        &self,
        control: ClockControl,
        time: ExpectedTime,
        (turn, spent_ms): (Turn, Option<u64>),
        seq: u64,
    ) -> Option<String> {
        let seat = turn.seat?;
        let Some(spent_ms) = spent_ms else {
            return Some("the move has no time charge".to_owned());
        };
        if self.is_free_ply(seat) {
            return (spent_ms > 0).then(|| "a free ply is charged".to_owned());
        }
        let allowance = time.allowance_ms(control, seat);
        if spent_ms >= allowance {
            return Some(format!("the move took {spent_ms} of {allowance} ms"));
        }
        let write_started_us = self
            .stored
            .write_times
            .get(&(self.id, seq))?
            .started
            .as_micros();
        let passed_us = self.elapsed_max_us(turn, write_started_us, write_started_us)?;
        if u128::from(spent_ms) * 1000 > passed_us {
            return Some(format!("only {passed_us} us have elapsed"));
        }
        let least = self
            .elapsed_min_ms(turn, write_started_us)?
            .min(allowance - 1);
        (spent_ms < least).then(|| format!("at least {least} ms have elapsed"))
    }

    /// Returns the maximum time that the turn can have lasted at `at_us`, or `None` if the start of
    /// the turn is unknown. `ran_us` is a time at which the server process that measures the turn
    /// was already running.
    fn elapsed_max_us(&self, turn: Turn, ran_us: u128, at_us: u128) -> Option<u128> {
        if self.is_correspondence() {
            return Some(self.wall_elapsed_us(at_us));
        }
        let began = self.turn_start_us(turn, ran_us)?;
        let stood: u128 = self.paused_us(began, at_us).sum();
        Some(at_us.saturating_sub(began).saturating_sub(stood))
    }

    /// Returns the earliest time at which the turn can have started. A server restart during a turn
    /// starts the turn again. After the restart, the clock stays paused until the player whose turn
    /// it is logs in. A clock with a fixed time per move is not paused.
    fn turn_start_us(&self, turn: Turn, until_us: u128) -> Option<u128> {
        let durable_us = self.turn_durable_us()?;
        let mut restarts = self.observations.restarts.iter();
        let Some(restart) = restarts.rfind(|at| durable_us < **at && **at <= until_us) else {
            return Some(durable_us);
        };
        let waits = !matches!(self.control, Some(ClockControl::Move { .. }));
        Some(match turn.player.filter(|_| waits) {
            Some(player) => {
                let mut hellos = self.observations.hellos.get(&player)?.iter();
                *hellos.find(|at| *at >= restart)?
            }
            None => *restart,
        })
    }

    fn turn_durable_us(&self) -> Option<u128> {
        let written = self.stored.write_times.get(&(self.id, self.turn_seq?))?;
        Some(written.durable_at.as_micros())
    }

    fn write_failures(&self) -> impl Iterator<Item = &'a WriteFailure> {
        self.stored
            .write_failures
            .get(&self.id)
            .into_iter()
            .flatten()
    }

    /// Returns the durations of the pauses that store outages caused between `from_us` and `to_us`.
    /// Each outage yields at most one duration. An outage pauses the clock when the store rejects a
    /// write of the match.
    fn paused_us(&self, from_us: u128, to_us: u128) -> impl Iterator<Item = u128> {
        // Overlapping outages count only once.
        let mut known = from_us;
        self.write_failures().filter_map(move |trouble| {
            let from = trouble.rejected_at?.as_micros().max(known);
            let until = trouble.resolved_at.map_or(to_us, |until| until.as_micros());
            let until = until.min(to_us);
            known = known.max(until);
            (until > from).then(|| until - from)
        })
    }

    /// Returns the minimum duration of a turn that ended with a move. The write of the move started
    /// at `written_us`. Returns `None` if the clock may have been paused.
    fn elapsed_min_ms(&self, turn: Turn, written_us: u128) -> Option<u64> {
        let player = turn.player?;
        let first_received_us = *self.observed.first_received_us.get(&self.turn_seq?)?;
        if !self.is_uninterrupted(written_us) && !self.runs_during_outages() {
            return None;
        }
        let played = self.plies.len() as u64;
        let sent = self.observations.move_requests.iter();
        let sent = sent.filter(|request| request.id == self.id && request.ply.0 == played);
        let sent = sent.filter(|request| request.player == Some(player));
        let sent_us = sent.map(|request| request.sent_us).min()?;
        let wall = |at_us| match self.is_correspondence() {
            true => self.observations.wall_clock.unix_us(at_us),
            false => at_us,
        };
        let least_us = wall(sent_us).checked_sub(wall(first_received_us))?;
        let least_ms = u64::try_from(least_us / 1000).ok()?;
        Some(least_ms.saturating_sub(self.lag_compensation_max_ms()))
    }

    /// Returns the maximum lag compensation of a move.
    fn lag_compensation_max_ms(&self) -> u64 {
        let most = self.stored.lag_compensation * LAG_CREDITS_MAX;
        u64::try_from(most.as_millis()).expect("the compensation fits into u64")
    }

    /// Returns whether nothing can have paused the clock between the start of the turn and
    /// `until_us`.
    fn is_uninterrupted(&self, until_us: u128) -> bool {
        let Some(from_us) = self.turn_durable_us() else {
            return false;
        };
        // A failed write to any match pauses the clocks of all matches.
        let has_trouble = self
            .stored
            .write_failures
            .values()
            .flatten()
            .any(|trouble| {
                let until = trouble
                    .resolved_at
                    .map_or(u128::MAX, |until| until.as_micros());
                trouble.started.as_micros() <= until_us
                    && from_us <= until.saturating_add(STORE_RECOVERY_MAX_US)
            });
        let mut restarts = self.observations.restarts.iter();
        let has_crashed = restarts.any(|at| (from_us..=until_us).contains(at));
        !has_trouble && !has_crashed && !self.occupant_changed
    }
}

/// Maximum time, in microseconds, for which a match keeps waiting for the store after the server
/// has learned that the store works again.
const STORE_RECOVERY_MAX_US: u128 = 5_000_000;

/// Current turn of a match: the seat that must move, and the player in that seat.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    seat: Option<Seat>,
    player: Option<PlayerId>,
    /// Whether the match waits for a player to return. A match waits if no player occupies a seat
    /// and at least one occupant is a stand-in bot.
    waits_for_players: bool,
}

impl Turn {
    pub(super) fn from_state(state: &Match) -> Self {
        let seat = state.turn();
        let player = seat.and_then(|seat| state.occupant(seat).player());
        Self {
            seat,
            player,
            waits_for_players: state.waits_for_players(),
        }
    }
}

impl ExpectedClock<'_> {
    /// Checks the clock data of the event that ends a match.
    fn check_end(
        &mut self,
        control: ClockControl,
        time: ExpectedTime,
        turn: Turn,
        (remaining, is_flag, seq): (TimeLeft, bool, u64),
    ) -> Option<String> {
        let Some(seat) = turn.seat else {
            return self.set_remaining(time, Some(remaining));
        };
        let written = self.stored.write_times.get(&(self.id, seq));
        let write_started_us = written.map(|written| written.started.as_micros());
        let allowance = match (self.is_free_ply(seat), control) {
            (false, control) => time.allowance_ms(control, seat),
            (true, ClockControl::Move { move_ms }) => move_ms,
            (true, _) => FIRST_MOVE_LIMIT_MS,
        };
        if is_flag {
            if turn.player.is_none() {
                return Some("a bot has run out of time".to_owned());
            }
            let passed = write_started_us.and_then(|write_started_us| {
                self.elapsed_max_us(turn, write_started_us, write_started_us)
            });
            if passed.is_none_or(|passed| passed < u128::from(allowance) * 1000) {
                return Some(format!(
                    "{passed:?} us of {allowance} ms have elapsed at the flag"
                ));
            }
            if write_started_us
                .is_some_and(|write_started_us| self.is_within_grace(write_started_us))
            {
                return Some("a flag fell within the restart grace".to_owned());
            }
            let late = write_started_us
                .and_then(|write_started_us| self.late_flag_error(turn, write_started_us));
            if late.is_some() {
                return late;
            }
            let spent = if self.is_free_ply(seat) { 0 } else { allowance };
            return self.set_remaining(time.after_charge(control, seat, spent), Some(remaining));
        }
        if remaining == time.to_time_left() {
            return None;
        }
        // The server may have charged the player for the unfinished last turn, as it does for a
        // move.
        let passed = write_started_us.and_then(|write_started_us| {
            self.elapsed_max_us(turn, write_started_us, write_started_us)
        })?;
        let passed_ms = u64::try_from(passed / 1000).unwrap_or(u64::MAX);
        let mut possible = (0..=passed_ms.min(allowance)).rev();
        let is_free = self.is_free_ply(seat);
        let fits = |spent: u64| time.after_charge(control, seat, spent).to_time_left() == remaining;
        (is_free || !possible.any(fits))
            .then(|| format!("{time:?} cannot become the stored remaining time"))
    }

    /// Checks that an unfinished turn at the end of the run is not overdue.
    pub(super) fn check_unfinished_turn(&self, turn: Turn, ends_us: u128) -> Option<String> {
        let (control, time, seat) = (self.control?, self.remaining?, turn.seat?);
        if self.is_correspondence() {
            return self.late_flag_error(turn, ends_us);
        }
        if turn.player.is_none() || self.is_free_ply(seat) || !self.is_uninterrupted(ends_us) {
            return None;
        }
        let most_ms =
            time.allowance_ms(control, seat) + self.lag_compensation_max_ms() + FLAG_DELAY_MAX_MS;
        let passed_us = self.elapsed_max_us(turn, ends_us, ends_us)?;
        let is_late = passed_us > u128::from(most_ms) * 1000;
        is_late.then(|| {
            format!(
                "{}: {seat:?} is still on turn after {passed_us} us",
                self.id
            )
        })
    }
}

/// Converts stored remaining times to the form that the protocol uses.
fn to_time_left(left: plyhouse_matches::RemainingTime) -> TimeLeft {
    TimeLeft {
        left_ms: left.remaining_ms(),
        periods: left.periods(),
    }
}
