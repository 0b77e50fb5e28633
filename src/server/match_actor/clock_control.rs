//! How an owner keeps the time of its match: what a move is charged, when a flag falls, and why a clock
//! stands.
//!
//! A match has one deadline, by the time alone. What its player would get back for the network is looked
//! up when that comes, and not with every move.

use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_matches::{
    AbsenceTimers, Action, ClockUsage, Event, EventKind, Match, Occupant, Stage, Timestamp,
    TurnClock, TurnTime,
};
use plyhouse_protocol::PlayerId;

use super::leader::Leader;
use crate::context::clock::now;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::{Command, MatchRequest};

/// After how long it is looked again whether the server was heard where somebody's time seems to be up:
/// it is asked four times a second.
const RECHECK_DELAY: Duration = Duration::from_millis(100);

/// The time of one match.
#[derive(Debug, Default)]
pub(super) struct MatchClock {
    /// `None` in a match without a clock.
    turn_clock: Option<TurnClock>,
    /// Whether moves get anything back for the network.
    compensates_lag: bool,
    /// When the flag of the turn is looked at, if the clock runs.
    flag_at: Option<Instant>,
    /// When the server was heard last where whoever is to move is, if that is another one.
    mover_last_response_at: Option<Instant>,
    /// Until when the flag of a match of days does not fall, in milliseconds since 1970; 0 if nothing
    /// holds it.
    grace_until_ms: u64,
    /// A clock has stopped, goes on, or counts from another instant, and nobody has been told.
    has_unsent_change: bool,
}

/// What a move that comes now is charged, and how it came.
#[derive(Clone, Copy, Debug)]
struct MoveCharge {
    seat: Seat,
    usage: ClockUsage,
    rtt: Option<Duration>,
}

impl MatchClock {
    pub(super) fn new(state: &Match, server: &ServerContext) -> Self {
        let lag_max = server.settings.lag_compensation;
        Self {
            turn_clock: TurnClock::new(state, lag_max),
            compensates_lag: TurnClock::compensates_lag(state, lag_max),
            grace_until_ms: server.grace_until_ms(),
            ..Self::default()
        }
    }

    /// The match has come from the store, with nobody there yet whom `is_following` does not know: its turn
    /// begins anew.
    pub(super) fn start(
        &mut self,
        state: &Match,
        is_following: impl Fn(PlayerId) -> bool,
        server: &ServerContext,
    ) {
        *self = Self::new(state, server);
        if let Some(turn_clock) = &mut self.turn_clock {
            turn_clock.restart_turn(state, is_following, now(), server.clock.now_ms());
            self.compute_flag_at(state);
        }
    }

    /// The flag falls when it is due, however long the server has been up.
    pub(super) fn end_grace(&mut self, state: &Match) {
        self.grace_until_ms = 0;
        self.compute_flag_at(state);
    }

    /// When something is due next.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.flag_at
    }

    /// When the turn should have ended by the time at which this came from whoever is to move, if it should.
    fn deadline_before(&self, state: &Match, command: &Command) -> Option<Instant> {
        self.flag_at?; // Something holds it.
        let deadline = self.turn_clock.as_ref()?.deadline(state, command.rtt())?;
        (deadline <= command.received_at).then_some(deadline)
    }

    /// When the turn should have ended, if it should. A flag whose player would get time back is looked at
    /// again by then. So is that of a player on another server, unless that was heard since.
    fn expired_deadline(
        &mut self,
        state: &Match,
        now: Instant,
        rtt: impl FnOnce() -> Option<Duration>,
    ) -> Option<Instant> {
        let timer_at = self.flag_at.filter(|at| *at <= now)?;
        let turn_clock = self.turn_clock.as_mut()?;
        if turn_clock.shift_if_late(timer_at, now) {
            tracing::warn!(match_id = %state.id(), late = ?(now - timer_at), "flag timer fired late");
            self.has_unsent_change = true;
            self.compute_flag_at(state);
            return None;
        }
        self.flag_at = turn_clock.deadline(state, rtt());
        let deadline = self.flag_at.filter(|at| *at <= now)?;
        if self
            .mover_last_response_at
            .is_some_and(|last_response_at| last_response_at < deadline)
        {
            self.flag_at = Some(now + RECHECK_DELAY);
            return None;
        }
        Some(deadline)
    }

    /// Finds out anew when the flag is to be looked at.
    fn compute_flag_at(&mut self, state: &Match) {
        let is_in_grace = TurnClock::correspondence_deadline_ms(state)
            .is_some_and(|due_ms| due_ms < self.grace_until_ms);
        let turn_clock = self.turn_clock.as_ref().filter(|_| !is_in_grace);
        self.flag_at = turn_clock.and_then(|turn_clock| turn_clock.deadline(state, None));
    }

    /// What a move is charged that was read at this instant. `None` where nothing is charged: without a
    /// clock, or a bot is to move.
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

    /// The moment at which an action is decided on that was read then.
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

    /// The moment at which a bot moves that has searched for so long.
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

    /// How long a player for whom a bot is to move has used up.
    pub(super) fn time_used_before_bot(&self) -> Duration {
        let turn_clock = self.turn_clock.as_ref();
        turn_clock.map_or(Duration::ZERO, TurnClock::used_before_substitution)
    }

    /// A move of a player is stored, which was read then. To be called before it is part of the match.
    pub(super) fn on_move(&mut self, state: &Match, command: &Command) {
        let charge = self.move_charge(state, command.received_at, command.rtt());
        if let Some((turn_clock, charge)) = self.turn_clock.as_mut().zip(charge) {
            let MoveCharge { seat, usage, rtt } = charge;
            turn_clock.record_move(seat, usage, state.is_free_ply(), rtt);
        }
    }

    /// Takes note of who is there and who sits where.
    pub(super) fn update_presence(&mut self, state: &Match, is_present: impl Fn(PlayerId) -> bool) {
        if let Some(turn_clock) = &mut self.turn_clock
            && turn_clock.update_presence(state, is_present, now())
        {
            self.has_unsent_change = true;
            self.compute_flag_at(state);
        }
    }

    /// An event is part of the match, and has been told at this instant.
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
                // Whoever has come back is there, and begins the turn anew.
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

    /// The store has kept nothing since this instant, be it of this match or of another.
    pub(super) fn on_store_unavailable(&mut self, state: &Match, since: Instant) {
        if let Some(turn_clock) = &mut self.turn_clock
            && state.stage() == Stage::Running
        {
            self.has_unsent_change |= turn_clock.pause_for_store(since);
            self.compute_flag_at(state);
        }
    }

    /// The store keeps things.
    pub(super) fn on_store_available(&mut self, state: &Match) {
        let Some(turn_clock) = &mut self.turn_clock else {
            return;
        };
        if turn_clock.is_paused_for_store() {
            self.has_unsent_change |= turn_clock.resume_after_store(now());
            self.compute_flag_at(state);
        }
    }

    /// Takes note when the server was heard last where whoever is to move is, if that is another one.
    pub(super) const fn set_mover_last_response_at(&mut self, last_response_at: Option<Instant>) {
        self.mover_last_response_at = last_response_at;
    }

    /// Whoever is to move has not been heard since this instant.
    pub(super) fn on_mover_unreachable(&mut self, state: &Match, since: Instant) {
        if let Some(turn_clock) = &mut self.turn_clock
            && state.stage() == Stage::Running
        {
            self.has_unsent_change |= turn_clock.pause_for_unreachable_player(since);
            self.compute_flag_at(state);
        }
    }

    /// Whoever is to move can be heard again.
    pub(super) fn on_mover_reachable(&mut self, state: &Match) {
        if let Some(turn_clock) = &mut self.turn_clock {
            self.has_unsent_change |= turn_clock.resume_for_reachable_player(now());
            self.compute_flag_at(state);
        }
    }

    /// Whether it is to be measured how far away whoever is to move is.
    pub(super) const fn needs_rtt(&self) -> bool {
        self.flag_at.is_some() && self.compensates_lag
    }

    /// Whether moves get anything back for the network.
    pub(super) const fn compensates_lag(&self) -> bool {
        self.compensates_lag
    }

    /// How the turn stands; `None` without a clock, or unless the match runs.
    pub(super) fn turn_time(&self, state: &Match) -> Option<TurnTime> {
        self.turn_clock.as_ref()?.turn_time(state, now())
    }

    /// Whether everybody is to be told how the clock stands, of which the caller sees to it.
    pub(super) const fn take_unsent_change(&mut self) -> bool {
        std::mem::replace(&mut self.has_unsent_change, false)
    }
}

impl Leader {
    /// When the turn should have ended, if it should.
    pub(super) fn expired_turn_deadline(&mut self, state: &Match, now: Instant) -> Option<Instant> {
        let players = &self.server.players;
        let player = || state.occupant(state.turn()?).player();
        // How far away somebody is of another server's is known there: their move tells it.
        let rtt = match self.match_clock.mover_last_response_at {
            Some(_) => Some(Duration::MAX),
            None => player().and_then(|player| players.max_rtt(player)),
        };
        self.match_clock.expired_deadline(state, now, || rtt)
    }

    /// Whether the turn should have ended before this command came, and at which instant. Then that is
    /// looked at first.
    pub(super) fn flag_before_command(
        &mut self,
        state: &Match,
        command: &Command,
    ) -> Option<Instant> {
        let is_act = matches!(command.request, MatchRequest::Act(_));
        if !is_act {
            return None;
        }
        let mover = state.turn().and_then(|seat| state.occupant(seat).player());
        if command.relay.is_some() && mover == Some(command.player) {
            // Whoever moves has been heard, and tells how far away they are. The alarm has not known that.
            return self.match_clock.deadline_before(state, command);
        }
        if self.match_clock.flag_at? > command.received_at {
            return None;
        }
        self.expired_turn_deadline(state, command.received_at)
    }

    /// What the match does since the turn has not ended in time.
    pub(super) fn flag_action(state: &Match) -> Action {
        TurnClock::timeout_action(state)
    }

    /// The store has refused to keep something that came at this instant: the clock stands until whoever
    /// watches the store tells that it keeps things again.
    pub(super) fn stop_clock_for_store(&mut self, state: &Match, since: Instant) {
        self.match_clock.on_store_unavailable(state, since);
        self.server.store_health.report_refused(since);
    }

    /// For how long each seat's player may still be gone, in milliseconds.
    pub(super) fn absence_left_ms(&self, state: &Match) -> [Option<u64>; 2] {
        let (attendance, now): (&AbsenceTimers, _) = (&self.attendance, now());
        Seat::ALL.map(|seat| {
            let remaining = attendance.absence_remaining(state, seat, now)?;
            Some(u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX))
        })
    }
}
