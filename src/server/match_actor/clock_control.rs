//! How an owner keeps the time of its match: what a move is charged, when a flag falls, and why a clock
//! stands.
//!
//! A match has one deadline, by the time alone. What its player would get back for the network is looked
//! up when that comes, and not with every move.

use std::time::{Duration, Instant};

use plyhouse_engine::game::Seat;
use plyhouse_matches::{
    Action, Attendance, ClockUsage, Event, EventKind, Match, Occupant, Stage, Timekeeper,
    Timestamp, TurnTime,
};
use plyhouse_protocol::PlayerId;

use super::leader::Leader;
use crate::context::clock::now;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::{Command, MatchRequest};

/// After how long it is looked again whether the server was heard where somebody's time seems to be up:
/// it is asked four times a second.
const HEAR_AGAIN: Duration = Duration::from_millis(100);

/// The time of one match.
#[derive(Debug, Default)]
pub(super) struct Time {
    /// `None` in a match without a clock.
    keeper: Option<Timekeeper>,
    /// Whether moves get anything back for the network.
    measures: bool,
    /// When the flag of the turn is looked at, if the clock runs.
    flag_at: Option<Instant>,
    /// When the server was heard last where whoever is to move is, if that is another one.
    heard_at: Option<Instant>,
    /// Until when the flag of a match of days does not fall, in milliseconds since 1970; 0 if nothing
    /// holds it.
    held_until_ms: u64,
    /// A clock has stopped, goes on, or counts from another instant, and nobody has been told.
    is_untold: bool,
}

/// What a move that comes now is charged, and how it came.
#[derive(Clone, Copy, Debug)]
struct Charged {
    seat: Seat,
    charge: ClockUsage,
    rtt: Option<Duration>,
}

impl Time {
    pub(super) fn new(state: &Match, server: &ServerContext) -> Self {
        let lag_max = server.settings.lag_compensation;
        Self {
            keeper: Timekeeper::new(state, lag_max),
            measures: Timekeeper::gives_back(state, lag_max),
            held_until_ms: server.grace_until_ms(),
            ..Self::default()
        }
    }

    /// The match has come from the store, with nobody there yet whom `is_present` does not know: its turn
    /// begins anew.
    pub(super) fn begin(
        &mut self,
        state: &Match,
        is_present: impl Fn(PlayerId) -> bool,
        server: &ServerContext,
    ) {
        *self = Self::new(state, server);
        if let Some(keeper) = &mut self.keeper {
            keeper.begin_anew(state, is_present, now(), server.clock.now_ms());
            self.reckon(state);
        }
    }

    /// The flag falls when it is due, however long the server has been up.
    pub(super) fn release(&mut self, state: &Match) {
        self.held_until_ms = 0;
        self.reckon(state);
    }

    /// When something is due next.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.flag_at
    }

    /// When the turn should have ended by the time at which this came from whoever is to move, if it should.
    fn due_of(&self, state: &Match, command: &Command) -> Option<Instant> {
        self.flag_at?; // Something holds it.
        let due = self.keeper.as_ref()?.due(state, command.rtt())?;
        (due <= command.received_at).then_some(due)
    }

    /// When the turn should have ended, if it should. A flag whose player would get time back is looked at
    /// again by then. So is that of a player on another server, unless that was heard since.
    fn due(
        &mut self,
        state: &Match,
        now: Instant,
        rtt: impl FnOnce() -> Option<Duration>,
    ) -> Option<Instant> {
        let alarm = self.flag_at.filter(|at| *at <= now)?;
        let keeper = self.keeper.as_mut()?;
        if keeper.is_late(alarm, now) {
            tracing::warn!(match_id = %state.id(), late = ?(now - alarm), "a flag's alarm came late");
            self.is_untold = true;
            self.reckon(state);
            return None;
        }
        self.flag_at = keeper.due(state, rtt());
        let due = self.flag_at.filter(|at| *at <= now)?;
        if self.heard_at.is_some_and(|heard_at| heard_at < due) {
            self.flag_at = Some(now + HEAR_AGAIN);
            return None;
        }
        Some(due)
    }

    /// Finds out anew when the flag is to be looked at.
    fn reckon(&mut self, state: &Match) {
        let is_held =
            Timekeeper::days_due_ms(state).is_some_and(|due_ms| due_ms < self.held_until_ms);
        let keeper = self.keeper.as_ref().filter(|_| !is_held);
        self.flag_at = keeper.and_then(|keeper| keeper.due(state, None));
    }

    /// What a move is charged that was read at this instant. `None` where nothing is charged: without a
    /// clock, or a bot is to move.
    fn charged(&self, state: &Match, read_at: Instant, rtt: Option<Duration>) -> Option<Charged> {
        let keeper = self.keeper.as_ref()?;
        let seat = state.turn()?;
        state.occupant(seat).player()?;
        let charge = keeper.charge(state, seat, read_at, rtt);
        Some(Charged { seat, charge, rtt })
    }

    /// The moment at which an action is decided on that was read then.
    pub(super) fn moment(
        &self,
        state: &Match,
        read_at: Instant,
        rtt: Option<Duration>,
        at_ms: u64,
    ) -> Timestamp {
        let charged = self.charged(state, read_at, rtt);
        let spent_ms = charged.map_or(0, |charged| charged.charge.ms);
        Timestamp { at_ms, spent_ms }
    }

    /// The moment at which a bot moves that has searched for so long.
    pub(super) fn moment_of_bot(&self, state: &Match, searched: Duration, at_ms: u64) -> Timestamp {
        let charge = self.keeper.as_ref().zip(state.turn());
        let charge = charge.map(|(keeper, seat)| keeper.charge_bot(state, seat, searched));
        Timestamp {
            at_ms,
            spent_ms: charge.unwrap_or(0),
        }
    }

    /// How long a player for whom a bot is to move has used up.
    pub(super) fn before_bot(&self) -> Duration {
        let keeper = self.keeper.as_ref();
        keeper.map_or(Duration::ZERO, Timekeeper::before_bot)
    }

    /// A move of a player is stored, which was read then. To be called before it is part of the match.
    pub(super) fn moved(&mut self, state: &Match, command: &Command) {
        let charged = self.charged(state, command.received_at, command.rtt());
        if let Some((keeper, charged)) = self.keeper.as_mut().zip(charged) {
            let Charged { seat, charge, rtt } = charged;
            keeper.moved(seat, charge, state.is_free(), rtt);
        }
    }

    /// Takes note of who is there and who sits where.
    pub(super) fn attend(&mut self, state: &Match, is_present: impl Fn(PlayerId) -> bool) {
        if let Some(keeper) = &mut self.keeper
            && keeper.attend(state, is_present, now())
        {
            self.is_untold = true;
            self.reckon(state);
        }
    }

    /// An event is part of the match, and has been told at this instant.
    pub(super) fn told(&mut self, state: &Match, event: &Event, told_at: Instant, now_ms: u64) {
        let Some(keeper) = &mut self.keeper else {
            return;
        };
        match &event.kind {
            EventKind::Started { .. } | EventKind::Moved { .. } | EventKind::TakenBack { .. } => {
                keeper.turn_told(told_at)
            }
            EventKind::Seated { seat, occupant } if state.turn() == Some(*seat) => match occupant {
                Occupant::StandIn { .. } => keeper.bot_took_over(told_at),
                // Whoever has come back is there, and begins the turn anew.
                Occupant::Player { .. } => {
                    keeper.begin_anew(state, |_| true, told_at, now_ms);
                    self.is_untold = true;
                }
                Occupant::Open | Occupant::Bot(_) => {}
            },
            EventKind::Seated { .. } => {}
            EventKind::Offered { .. } | EventKind::Declined { .. } | EventKind::Hinted { .. } => {
                return;
            }
            EventKind::TimeGiven { .. } | EventKind::Ended { .. } => {}
        }
        self.reckon(state);
    }

    /// The store has kept nothing since this instant, be it of this match or of another.
    pub(super) fn store_refuses(&mut self, state: &Match, since: Instant) {
        if let Some(keeper) = &mut self.keeper
            && state.stage() == Stage::Running
        {
            self.is_untold |= keeper.store_refuses(since);
            self.reckon(state);
        }
    }

    /// The store keeps things.
    pub(super) fn store_accepts(&mut self, state: &Match) {
        let Some(keeper) = &mut self.keeper else {
            return;
        };
        if keeper.is_store_awaited() {
            self.is_untold |= keeper.store_accepts(now());
            self.reckon(state);
        }
    }

    /// Takes note when the server was heard last where whoever is to move is, if that is another one.
    pub(super) const fn mover_is_elsewhere(&mut self, heard_at: Option<Instant>) {
        self.heard_at = heard_at;
    }

    /// Whoever is to move has not been heard since this instant.
    pub(super) fn is_unheard(&mut self, state: &Match, since: Instant) {
        if let Some(keeper) = &mut self.keeper
            && state.stage() == Stage::Running
        {
            self.is_untold |= keeper.is_unheard(since);
            self.reckon(state);
        }
    }

    /// Whoever is to move can be heard again.
    pub(super) fn is_heard(&mut self, state: &Match) {
        if let Some(keeper) = &mut self.keeper {
            self.is_untold |= keeper.is_heard(now());
            self.reckon(state);
        }
    }

    /// Whether it is to be measured how far away whoever is to move is.
    pub(super) const fn measures(&self) -> bool {
        self.flag_at.is_some() && self.measures
    }

    /// Whether moves get anything back for the network.
    pub(super) const fn gives_back(&self) -> bool {
        self.measures
    }

    /// How the turn stands; `None` without a clock, or unless the match runs.
    pub(super) fn turn_time(&self, state: &Match) -> Option<TurnTime> {
        self.keeper.as_ref()?.told(state, now())
    }

    /// Whether everybody is to be told how the clock stands, of which the caller sees to it.
    pub(super) const fn take_untold(&mut self) -> bool {
        std::mem::replace(&mut self.is_untold, false)
    }
}

impl Leader {
    /// When the turn should have ended, if it should.
    pub(super) fn time_due(&mut self, state: &Match, now: Instant) -> Option<Instant> {
        let players = &self.server.players;
        let player = || state.occupant(state.turn()?).player();
        // How far away somebody is of another server's is known there: their move tells it.
        let rtt = match self.time.heard_at {
            Some(_) => Some(Duration::MAX),
            None => player().and_then(|player| players.rtt(player)),
        };
        self.time.due(state, now, || rtt)
    }

    /// Whether the turn should have ended before this command came, and at which instant. Then that is
    /// looked at first.
    pub(super) fn flag_before(&mut self, state: &Match, command: &Command) -> Option<Instant> {
        let is_act = matches!(command.request, MatchRequest::Act(_));
        if !is_act {
            return None;
        }
        let mover = state.turn().and_then(|seat| state.occupant(seat).player());
        if command.relayed.is_some() && mover == Some(command.player) {
            // Whoever moves has been heard, and tells how far away they are. The alarm has not known that.
            return self.time.due_of(state, command);
        }
        if self.time.flag_at? > command.received_at {
            return None;
        }
        self.time_due(state, command.received_at)
    }

    /// What the match does since the turn has not ended in time.
    pub(super) fn flag(state: &Match) -> Action {
        Timekeeper::action(state)
    }

    /// The store has refused to keep something that came at this instant: the clock stands until whoever
    /// watches the store tells that it keeps things again.
    pub(super) fn stands_for_the_store(&mut self, state: &Match, since: Instant) {
        self.time.store_refuses(state, since);
        self.server.store_health.report_refused(since);
    }

    /// For how long each seat's player may still be gone, in milliseconds.
    pub(super) fn gone_ms(&self, state: &Match) -> [Option<u64>; 2] {
        let (attendance, now): (&Attendance, _) = (&self.attendance, now());
        Seat::ALL.map(|seat| {
            let gone = attendance.gone(state, seat, now)?;
            Some(u64::try_from(gone.as_millis()).unwrap_or(u64::MAX))
        })
    }
}
