//! Clock of a match on the server that owns it. The clock charges players for the time of their
//! moves, detects timeouts and can be paused.
//!
//! The clock has one timer, which is first set to the turn's deadline without lag compensation. The
//! lag compensation is computed only when that timer expires, not for every move.

use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_matches::{
    ClockUsage, Event, EventKind, Match, Occupant, Stage, Timestamp, TurnClock, TurnTime,
};
use plyhouse_protocol::PlayerId;

use super::leader::Leader;
use crate::context::clock_and_rng::{now, to_millis};
use crate::context::server_context::ServerContext;
use crate::match_handle::command::{Command, MatchRequest};

/// Delay before an expired deadline is checked again. The delay is used if the player to move is
/// connected to another server that has not responded since the deadline. Servers ping each other
/// four times a second.
const RECHECK_DELAY: Duration = Duration::from_millis(100);

/// Clock state of one match.
#[derive(Debug, Default)]
pub(super) struct MatchClock {
    turn_clock: Option<TurnClock>,
    /// Whether lag compensation is enabled. Lag compensation deducts network delay from the time
    /// charged for a move.
    pub(super) compensates_lag: bool,
    /// Time at which the current turn must be checked for a timeout. `None` while the clock does
    /// not run or the restart grace period prevents a timeout.
    pub(super) flag_at: Option<Instant>,
    /// Time of the last response from another server to which the player to move is connected.
    /// `None` if the player is connected to this server or does not follow the match on another
    /// server.
    pub(super) mover_last_response_at: Option<Instant>,
    /// End of the grace period after a restart, in milliseconds since 1970; 0 if there is none.
    /// Until then, no player loses a correspondence match on time.
    grace_until_ms: u64,
    /// Whether the followers must still be informed that the clock was paused, resumed or adjusted.
    has_unsent_change: bool,
}

/// Time charged for a move, with the seat and the round-trip time from which it was computed.
#[derive(Clone, Copy, Debug)]
struct MoveCharge {
    seat: Seat,
    usage: ClockUsage,
    rtt: Option<Duration>,
}

impl MatchClock {
    pub(super) fn new(state: &Match, server: &ServerContext) -> Self {
        let lag_max = server.infra.settings.lag_compensation;
        Self {
            turn_clock: TurnClock::new(state, lag_max),
            compensates_lag: TurnClock::compensates_lag(state, lag_max),
            grace_until_ms: server.matches.grace_until_ms(server.infra.clock.now_ms()),
            ..Self::default()
        }
    }

    /// Resets the clock after the match was loaded from the store, and starts the clock for the
    /// current turn. `is_following` returns whether a player follows the match.
    pub(super) fn start(
        &mut self,
        state: &Match,
        is_following: impl Fn(PlayerId) -> bool,
        server: &ServerContext,
    ) {
        *self = Self::new(state, server);
        if let Some(turn_clock) = &mut self.turn_clock {
            turn_clock.restart_turn(state, is_following, now(), server.infra.clock.now_ms());
            self.compute_flag_at(state);
        }
    }

    /// Ends the restart grace period, so that an expired turn times out now.
    pub(super) fn end_grace(&mut self, state: &Match) {
        self.grace_until_ms = 0;
        self.compute_flag_at(state);
    }

    /// Returns the turn's deadline if it passed before this command arrived. The command must come
    /// from the player to move. The deadline includes lag compensation for the command's round-trip
    /// time.
    fn deadline_before(&self, state: &Match, command: &Command) -> Option<Instant> {
        self.flag_at?; // While the clock is paused or in the grace period, no turn can expire.
        let deadline = self.turn_clock.as_ref()?.deadline(state, command.rtt())?;
        (deadline <= command.received_at).then_some(deadline)
    }

    /// Returns the turn's deadline if it has expired at `now`.
    ///
    /// If lag compensation moves the deadline beyond `now`, this method schedules a later check
    /// instead. It also schedules a later check while the player's server has not responded since
    /// the deadline.
    fn expired_deadline(
        &mut self,
        state: &Match,
        now: Instant,
        rtt: Option<Duration>,
    ) -> Option<Instant> {
        let timer_at = self.flag_at.filter(|at| *at <= now)?;
        let turn_clock = self.turn_clock.as_mut()?;
        if turn_clock.shift_if_late(timer_at, now) {
            tracing::warn!(match_id = %state.id(), late = ?(now - timer_at), "flag timer fired late");
            self.has_unsent_change = true;
            self.compute_flag_at(state);
            return None;
        }
        self.flag_at = turn_clock.deadline(state, rtt);
        let deadline = self.flag_at.filter(|at| *at <= now)?;
        let last_response_at = self.mover_last_response_at;
        if last_response_at.is_some_and(|at| at < deadline) {
            self.flag_at = Some(now + RECHECK_DELAY);
            return None;
        }
        Some(deadline)
    }

    /// Recomputes the time at which the current turn must be checked for a timeout.
    fn compute_flag_at(&mut self, state: &Match) {
        let is_in_grace = TurnClock::correspondence_deadline_ms(state)
            .is_some_and(|due_ms| due_ms < self.grace_until_ms);
        let turn_clock = self.turn_clock.as_ref().filter(|_| !is_in_grace);
        self.flag_at = turn_clock.and_then(|turn_clock| turn_clock.deadline(state, None));
    }

    /// Returns the time to charge for a move that was received at `received_at`. Returns `None`
    /// without a clock or if a bot has to move.
    fn move_charge(
        &self,
        state: &Match,
        received_at: Instant,
        rtt: Option<Duration>,
    ) -> Option<MoveCharge> {
        let turn_clock = self.turn_clock.as_ref()?;
        let seat = state.turn()?;
        state.occupant(seat).player()?;
        let usage = turn_clock.charge(state, seat, received_at, rtt);
        Some(MoveCharge { seat, usage, rtt })
    }

    /// Returns the timestamp for an action that was received at `received_at`.
    pub(super) fn timestamp(
        &self,
        state: &Match,
        received_at: Instant,
        rtt: Option<Duration>,
        at_ms: u64,
    ) -> Timestamp {
        let charge = self.move_charge(state, received_at, rtt);
        let spent_ms = charge.map_or(0, |charge| charge.usage.ms);
        Timestamp { at_ms, spent_ms }
    }

    /// Returns the timestamp for a bot's move. The time charged for the move is computed from
    /// `search_time`.
    pub(super) fn bot_timestamp(
        &self,
        state: &Match,
        search_time: Duration,
        at_ms: u64,
    ) -> Timestamp {
        let turn_clock_and_seat = self.turn_clock.as_ref().zip(state.turn());
        let spent_ms = turn_clock_and_seat
            .map(|(turn_clock, seat)| turn_clock.charge_bot(state, seat, search_time));
        Timestamp {
            at_ms,
            spent_ms: spent_ms.unwrap_or(0),
        }
    }

    /// Returns the time that a player used in the current turn before a bot took over the seat.
    pub(super) fn time_used_before_bot(&self) -> Duration {
        let turn_clock = self.turn_clock.as_ref();
        turn_clock.map_or(Duration::ZERO, TurnClock::used_before_substitution)
    }

    /// Records a player's move after it was stored. This method must be called before the move is
    /// applied to the match.
    pub(super) fn on_move(&mut self, state: &Match, command: &Command) {
        let charge = self.move_charge(state, command.received_at, command.rtt());
        if let Some((turn_clock, charge)) = self.turn_clock.as_mut().zip(charge) {
            let MoveCharge { seat, usage, rtt } = charge;
            turn_clock.record_move(seat, usage, state.is_free_ply(), rtt);
        }
    }

    /// Adapts the clock to the players who are present. Must be called after a seat gets a new
    /// occupant and after a player becomes present or absent.
    pub(super) fn update_presence(&mut self, state: &Match, is_present: impl Fn(PlayerId) -> bool) {
        if let Some(turn_clock) = &mut self.turn_clock
            && turn_clock.update_presence(state, is_present, now())
        {
            self.has_unsent_change = true;
            self.compute_flag_at(state);
        }
    }

    /// Updates the clock after an event was applied to the match and sent to the followers at
    /// `sent_at`.
    pub(super) fn on_event_sent(
        &mut self,
        state: &Match,
        event: &Event,
        sent_at: Instant,
        now_ms: u64,
    ) {
        let Some(turn_clock) = &mut self.turn_clock else {
            return;
        };
        match &event.kind {
            EventKind::Started { .. } | EventKind::Moved { .. } | EventKind::TakenBack { .. } => {
                turn_clock.start_turn(sent_at)
            }
            EventKind::Seated { seat, occupant } if state.turn() == Some(*seat) => match occupant {
                Occupant::StandIn { .. } => turn_clock.record_substitution(sent_at),
                // If a player takes the seat back from a stand-in, the player counts as present and
                // the turn restarts.
                Occupant::Player { .. } => {
                    turn_clock.restart_turn(state, |_| true, sent_at, now_ms);
                    self.has_unsent_change = true;
                }
                Occupant::Open | Occupant::Bot(_) => {}
            },
            EventKind::Seated { .. } => {}
            EventKind::Offered { .. } | EventKind::Declined { .. } | EventKind::Hinted { .. } => {
                return;
            }
            EventKind::TimeGiven { .. } | EventKind::Ended { .. } => {}
        }
        self.compute_flag_at(state);
    }

    /// Pauses the clock with effect from `since`. From that time on, the store has rejected writes
    /// of this match or of another match.
    pub(super) fn on_store_unavailable(&mut self, state: &Match, since: Instant) {
        if let Some(turn_clock) = &mut self.turn_clock
            && state.stage() == Stage::Running
        {
            self.has_unsent_change |= turn_clock.pause_for_store(since);
            self.compute_flag_at(state);
        }
    }

    /// Resumes a clock that was paused because the store rejected writes.
    pub(super) fn on_store_available(&mut self, state: &Match) {
        let Some(turn_clock) = &mut self.turn_clock else {
            return;
        };
        if turn_clock.is_paused_for_store() {
            self.has_unsent_change |= turn_clock.resume_after_store(now());
            self.compute_flag_at(state);
        }
    }

    /// Pauses the clock with effect from `since`, because the player to move is connected to an
    /// unreachable server. That server last responded at `since`.
    pub(super) fn on_mover_unreachable(&mut self, state: &Match, since: Instant) {
        if let Some(turn_clock) = &mut self.turn_clock
            && state.stage() == Stage::Running
        {
            self.has_unsent_change |= turn_clock.pause_for_unreachable_player(since);
            self.compute_flag_at(state);
        }
    }

    /// Resumes a clock that was paused because the player's server was unreachable.
    pub(super) fn on_mover_reachable(&mut self, state: &Match) {
        if let Some(turn_clock) = &mut self.turn_clock {
            self.has_unsent_change |= turn_clock.resume_for_reachable_player(now());
            self.compute_flag_at(state);
        }
    }

    /// Returns whether the round-trip time of the player whose turn it is should be measured.
    pub(super) const fn needs_rtt(&self) -> bool {
        self.flag_at.is_some() && self.compensates_lag
    }

    /// Returns the state of the clock in the current turn. Returns `None` if the match has no clock
    /// or is not running.
    pub(super) fn turn_time(&self, state: &Match) -> Option<TurnTime> {
        self.turn_clock.as_ref()?.turn_time(state, now())
    }

    /// Returns whether the caller must send a clock change to the followers, and marks the change
    /// as sent.
    pub(super) const fn take_unsent_change(&mut self) -> bool {
        std::mem::replace(&mut self.has_unsent_change, false)
    }
}

impl Leader {
    /// Returns the deadline of the current turn if it has expired.
    pub(super) fn expired_turn_deadline(&mut self, state: &Match, now: Instant) -> Option<Instant> {
        let players = &self.server.identity.players;
        // If the player to move is connected to another server, this server does not know the
        // player's round-trip time until the move arrives. Until then, assume the maximum
        // round-trip time.
        let rtt = match self.match_clock.mover_last_response_at {
            Some(_) => Some(Duration::MAX),
            None => state
                .player_to_move()
                .and_then(|player| players.max_rtt(player)),
        };
        self.match_clock.expired_deadline(state, now, rtt)
    }

    /// Returns the current turn's deadline if it expired before this command was received. The
    /// caller must then handle the timeout first and the command afterwards.
    pub(super) fn flag_before_command(
        &mut self,
        state: &Match,
        command: &Command,
    ) -> Option<Instant> {
        if !matches!(command.request, MatchRequest::Act(_)) {
            return None;
        }
        if command.relay.is_some() && state.player_to_move() == Some(command.player) {
            // The command proves that the player's server is reachable, so there is no need to wait
            // for a response. The command also contains the round-trip time for lag compensation.
            return self.match_clock.deadline_before(state, command);
        }
        if self.match_clock.flag_at? > command.received_at {
            return None;
        }
        self.expired_turn_deadline(state, command.received_at)
    }

    /// Pauses the clock after the store has rejected a write of a request received at `since`. The
    /// store health monitor resumes the clock when the store works again.
    pub(super) fn stop_clock_for_store(&mut self, state: &Match, since: Instant) {
        self.match_clock.on_store_unavailable(state, since);
        self.server.infra.store_health.report_refused(since);
    }

    /// Returns how long each seat's player may remain absent, in milliseconds. An entry is `None`
    /// if the player is present or the match does not limit the absence.
    pub(super) fn absence_left_ms(&self, state: &Match) -> [Option<u64>; 2] {
        let now = now();
        Seat::ALL.map(|seat| {
            let remaining = self.absence_timers.absence_remaining(state, seat, now);
            remaining.map(to_millis)
        })
    }
}
