//! For how long the present turn has lasted, and when it must end.
//!
//! What is left on the clocks is history and stands in the match. This is what is not: it is not stored,
//! and after a restart the turn begins anew. It runs from the instant at which the turn was told to that
//! at which a move was read, stands at times, and knows the one deadline of a match.
//!
//! A match of days goes by the wall clock instead, from when the event happened that began the turn
//! ([`Match::turn_start_ms`]), and never stands. Whoever needs its deadline and has no timekeeper finds it
//! by [`TurnClock::correspondence_deadline_ms`].

use std::time::{Duration, Instant};

use super::lag_compensation::LagCompensation;
use super::{Action, Match};
use plyhouse_engine::game::Seat;
use plyhouse_protocol::{ClockControl, PlayerId};
use serde::{Deserialize, Serialize};

/// How long the first ply of a seat may take, which is charged nothing. With a time for every move
/// that is the limit.
const FIRST_MOVE_LIMIT: Duration = Duration::from_secs(30);

/// An alarm that comes later than this was kept back by a process or a machine that stood still.
const LATE_THRESHOLD: Duration = Duration::from_secs(2);

/// What such a process is given to read what has come meanwhile.
const LATE_GRACE: Duration = Duration::from_secs(1);

/// Keeps the time of one match, from its start or from when it was read.
#[derive(Debug)]
pub struct TurnClock {
    control: ClockControl,
    lag_compensation: LagCompensation,
    /// For how long the turn had lasted at `since`, or has lasted if that is `None`: the clock stands.
    elapsed: Duration,
    running_since: Option<Instant>,
    pause_causes: PauseCauses,
    /// How much of it was charged to whoever sat here before the bot whose turn it is.
    used_before_substitution: Duration,
}

/// Why a clock stands. It runs while nothing of this is so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PauseCauses {
    /// The store keeps nothing.
    store_down: bool,
    /// Nobody can hear the player whose turn it is, by a fault of the servers.
    player_unreachable: bool,
    /// The match has been read anew, and the player whose turn it is has not been there since.
    player_absent: bool,
    /// Bots stand in for both.
    only_stand_ins: bool,
}

/// What a move is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockUsage {
    /// The charge, in whole milliseconds.
    pub ms: u64,
    compensation: Duration,
}

/// How a turn stands, as it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnTime {
    /// For how long it has been charged, in milliseconds.
    pub turn_ms: u64,
    /// Whether the clock stands.
    #[serde(rename = "stands")]
    pub paused: bool,
    /// What is left of the time for a seat's first ply, in milliseconds, where that is limited.
    pub first_move_ms: Option<u64>,
}

impl TurnClock {
    /// The timekeeper of a match; `None` if it has no clock. No move gets back more than `lag_max` on
    /// average of what the network takes.
    #[must_use]
    pub fn new(state: &Match, lag_max: Duration) -> Option<Self> {
        let control = state.clock()?;
        Some(Self {
            lag_compensation: LagCompensation::new(&control, lag_max),
            control,
            elapsed: Duration::ZERO,
            running_since: None,
            pause_causes: PauseCauses::default(),
            used_before_substitution: Duration::ZERO,
        })
    }

    /// Whether moves of this match get anything back for the network.
    #[must_use]
    pub fn compensates_lag(state: &Match, lag_max: Duration) -> bool {
        let control = state.clock();
        control.is_some_and(|control| LagCompensation::new(&control, lag_max).is_enabled())
    }

    /// The turn that begins has been told at this instant.
    pub fn start_turn(&mut self, sent_at: Instant) {
        self.pause_causes.player_absent = false;
        self.restart_from(Duration::ZERO, sent_at);
    }

    fn restart_from(&mut self, elapsed: Duration, now: Instant) {
        self.elapsed = elapsed;
        self.used_before_substitution = Duration::ZERO;
        self.running_since = self.is_running().then_some(now);
    }

    fn is_running(&self) -> bool {
        self.pause_causes == PauseCauses::default()
    }

    /// The present turn begins anew, since the match has been read anew or its player has come back. It
    /// stands until that player is there; not with a short time for every move, nor over days, where
    /// the wall clock, which shows `now_ms`, goes on.
    pub fn restart_turn(
        &mut self,
        state: &Match,
        is_present: impl Fn(PlayerId) -> bool,
        now: Instant,
        now_ms: u64,
    ) {
        let can_pause = !matches!(self.control, ClockControl::Move { .. });
        let player = state.turn().and_then(|seat| state.occupant(seat).player());
        self.pause_causes = PauseCauses {
            store_down: false,
            player_unreachable: false,
            player_absent: can_pause && player.is_some_and(|player| !is_present(player)),
            only_stand_ins: state.waits_for_players(),
        };
        let passed = now_ms.saturating_sub(state.turn_start_ms());
        let elapsed = if self.control.is_correspondence() {
            passed
        } else {
            0
        };
        self.restart_from(Duration::from_millis(elapsed), now);
    }

    /// Takes note of who is there and who sits where. To be called after every event and every coming
    /// or going. True if the clock has stopped or goes on by that.
    pub fn update_presence(
        &mut self,
        state: &Match,
        is_present: impl Fn(PlayerId) -> bool,
        now: Instant,
    ) -> bool {
        let player = state.turn().and_then(|seat| state.occupant(seat).player());
        let mut causes = self.pause_causes;
        causes.player_absent &= player.is_some_and(|player| !is_present(player));
        causes.only_stand_ins = state.waits_for_players();
        self.set_pause_causes(causes, now)
    }

    /// A bot has taken the seat whose turn it is. What its player has used up stays so.
    pub fn record_substitution(&mut self, now: Instant) {
        self.used_before_substitution = self.elapsed(now);
    }

    /// The store has kept nothing since this instant. True if the clock has stopped by that.
    pub fn pause_for_store(&mut self, since: Instant) -> bool {
        let store_down = true;
        self.set_pause_causes(
            PauseCauses {
                store_down,
                ..self.pause_causes
            },
            since,
        )
    }

    /// The store keeps things again. True if the clock goes on by that.
    pub fn resume_after_store(&mut self, now: Instant) -> bool {
        let store_down = false;
        self.set_pause_causes(
            PauseCauses {
                store_down,
                ..self.pause_causes
            },
            now,
        )
    }

    /// Whoever is to move has not been heard since this instant, by a fault of the servers. True if the
    /// clock has stopped by that.
    pub fn pause_for_unreachable_player(&mut self, since: Instant) -> bool {
        let player_unreachable = true;
        self.set_pause_causes(
            PauseCauses {
                player_unreachable,
                ..self.pause_causes
            },
            since,
        )
    }

    /// Whoever is to move can be heard. True if the clock goes on by that.
    pub fn resume_for_reachable_player(&mut self, now: Instant) -> bool {
        let player_unreachable = false;
        self.set_pause_causes(
            PauseCauses {
                player_unreachable,
                ..self.pause_causes
            },
            now,
        )
    }

    /// Whether the clock stands because the store keeps nothing.
    #[must_use]
    pub const fn is_paused_for_store(&self) -> bool {
        self.pause_causes.store_down
    }

    fn set_pause_causes(&mut self, causes: PauseCauses, now: Instant) -> bool {
        let was_running = self.is_running();
        if self.control.is_correspondence() {
            // No time over days is long enough to be stopped for.
            self.pause_causes = PauseCauses::default();
            return false;
        }
        self.pause_causes = causes;
        let is_running = self.is_running();
        if was_running && !is_running {
            self.elapsed = self.elapsed(now);
            self.running_since = None;
        } else if is_running && !was_running {
            self.running_since = Some(now);
        }
        was_running != is_running
    }

    fn elapsed(&self, now: Instant) -> Duration {
        let elapsed_since = |since| now.saturating_duration_since(since);
        self.elapsed + self.running_since.map(elapsed_since).unwrap_or_default()
    }

    /// What a move is charged that was read at this instant, and came by a connection with this
    /// round-trip time. It came before the flag, so something is left: a flag that waited for a slow
    /// connection is no reason to lose by a fast one.
    #[must_use]
    pub fn charge(
        &self,
        state: &Match,
        seat: Seat,
        read_at: Instant,
        rtt: Option<Duration>,
    ) -> ClockUsage {
        let elapsed = self.elapsed(read_at);
        let compensation = self.lag_compensation.compensation(seat, rtt, elapsed);
        let max_ms = self.allowance_ms(state, seat).saturating_sub(1);
        ClockUsage {
            ms: saturating_ms(elapsed - compensation).min(max_ms),
            compensation,
        }
    }

    /// What a bot is charged that has searched for so long: never so much that it runs out of time.
    #[must_use]
    pub fn charge_bot(&self, state: &Match, seat: Seat, search_time: Duration) -> u64 {
        let charge_ms = saturating_ms(self.used_before_substitution + search_time);
        charge_ms.min(self.allowance_ms(state, seat).saturating_sub(1))
    }

    /// How much the player has used up for whom a bot is to move now.
    #[must_use]
    pub const fn used_before_substitution(&self) -> Duration {
        self.used_before_substitution
    }

    /// A move was played, which was charged so and came by a connection with this round-trip time. A
    /// free one gets nothing back, but saves as much.
    pub fn record_move(
        &mut self,
        seat: Seat,
        charge: ClockUsage,
        was_free_ply: bool,
        rtt: Option<Duration>,
    ) {
        let compensation = if was_free_ply {
            Duration::ZERO
        } else {
            charge.compensation
        };
        self.lag_compensation.record_move(seat, rtt, compensation);
    }

    /// When the turn must have ended, if its player has a connection with this round-trip time. `None`
    /// while the clock stands, and for bots.
    #[must_use]
    pub fn deadline(&self, state: &Match, rtt: Option<Duration>) -> Option<Instant> {
        let since = self.running_since?;
        let seat = state.turn()?;
        state.occupant(seat).player()?;
        let limit = if state.is_free_ply() {
            self.first_move_limit()
        } else {
            let allowance = Duration::from_millis(self.allowance_ms(state, seat));
            allowance + self.lag_compensation.compensation(seat, rtt, Duration::MAX)
        };
        Some(since + limit.saturating_sub(self.elapsed))
    }

    /// What the match does when the turn has not ended in time.
    #[must_use]
    pub fn timeout_action(state: &Match) -> Action {
        if state.is_free_ply() {
            Action::NoFirstMove
        } else {
            Action::Flag
        }
    }

    /// Looks whether an alarm comes so late that it tells nothing: then the begin of the turn moves on by
    /// the lateness, and a moment more for what came meanwhile to be read. True if it did.
    pub fn shift_if_late(&mut self, deadline: Instant, now: Instant) -> bool {
        let lateness = now.saturating_duration_since(deadline);
        let is_late = lateness > LATE_THRESHOLD && !self.control.is_correspondence();
        if is_late && let Some(since) = &mut self.running_since {
            *since += lateness + LATE_GRACE;
        }
        is_late
    }

    /// How the turn stands; `None` unless the match runs.
    #[must_use]
    pub fn turn_time(&self, state: &Match, now: Instant) -> Option<TurnTime> {
        let seat = state.turn()?;
        let elapsed = self.elapsed(now);
        let is_bot = state.occupant(seat).bot_level().is_some();
        let limit = (!is_bot && state.is_free_ply()).then(|| self.first_move_limit());
        let turn_ms = match limit {
            Some(_) => 0,
            None if state.is_free_ply() => 0,
            None if is_bot => self.charge_bot(
                state,
                seat,
                elapsed.saturating_sub(self.used_before_substitution),
            ),
            None => saturating_ms(elapsed),
        };
        Some(TurnTime {
            turn_ms,
            paused: !self.is_running(),
            first_move_ms: limit.map(|limit| saturating_ms(limit.saturating_sub(elapsed))),
        })
    }

    fn allowance_ms(&self, state: &Match, seat: Seat) -> u64 {
        let remaining = state.remaining_time();
        remaining.map_or(0, |left| left.allowance_ms(&self.control, seat))
    }

    fn first_move_limit(&self) -> Duration {
        first_move_limit(&self.control)
    }

    /// When the present turn of a match of days must have ended, in milliseconds since 1970. `None` for
    /// other matches, and for one that does not run or in which a bot is to move.
    #[must_use]
    pub fn correspondence_deadline_ms(state: &Match) -> Option<u64> {
        let Some(ClockControl::Move { move_ms }) =
            state.clock().filter(ClockControl::is_correspondence)
        else {
            return None;
        };
        state.occupant(state.turn()?).player()?;
        Some(state.turn_start_ms() + move_ms)
    }
}

/// How long a first ply that is told now may take, in milliseconds. `None` if the next ply is no seat's
/// first, or a bot's, or there is no clock.
#[must_use]
pub fn first_move_limit_ms(state: &Match) -> Option<u64> {
    let control = state.clock()?;
    state.occupant(state.turn()?).player()?;
    state
        .is_free_ply()
        .then(|| saturating_ms(first_move_limit(&control)))
}

const fn first_move_limit(control: &ClockControl) -> Duration {
    match control {
        ClockControl::Move { move_ms } => Duration::from_millis(*move_ms),
        ClockControl::Fischer { .. }
        | ClockControl::Delay { .. }
        | ClockControl::ByoYomi { .. } => FIRST_MOVE_LIMIT,
    }
}

fn saturating_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
