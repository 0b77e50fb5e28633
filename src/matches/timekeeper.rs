//! For how long the present turn has lasted, and when it must end.
//!
//! What is left on the clocks is history and stands in the match. This is what is not: it is not stored,
//! and after a restart the turn begins anew. It runs from the instant at which the turn was told to that
//! at which a move was read, stands at times, and knows the one deadline of a match.
//!
//! A match of days goes by the wall clock instead, from when the event happened that began the turn
//! ([`Match::turn_at_ms`]), and never stands. Whoever needs its deadline and has no timekeeper finds it
//! by [`Timekeeper::days_due_ms`].

use std::time::{Duration, Instant};

use super::lag::Lag;
use super::{Action, Match};
use plyhouse_engine::game::Seat;
use plyhouse_protocol::{ClockControl, PlayerId};
use serde::{Deserialize, Serialize};

/// How long the first ply of a seat may take, which is charged nothing. With a time for every move
/// that is the limit.
const FIRST_MOVE: Duration = Duration::from_secs(30);

/// An alarm that comes later than this was kept back by a process or a machine that stood still.
const LATE_FROM: Duration = Duration::from_secs(2);

/// What such a process is given to read what has come meanwhile.
const LATE_GRACE: Duration = Duration::from_secs(1);

/// Keeps the time of one match, from its start or from when it was read.
#[derive(Debug)]
pub struct Timekeeper {
    control: ClockControl,
    lag: Lag,
    /// For how long the turn had lasted at `since`, or has lasted if that is `None`: the clock stands.
    lasted: Duration,
    since: Option<Instant>,
    stands: Causes,
    /// How much of it was charged to whoever sat here before the bot whose turn it is.
    before_bot: Duration,
}

/// Why a clock stands. It runs while nothing of this is so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Causes {
    /// The store keeps nothing.
    store: bool,
    /// Nobody can hear the player whose turn it is, by a fault of the servers.
    unheard: bool,
    /// The match has been read anew, and the player whose turn it is has not been there since.
    player: bool,
    /// Bots stand in for both.
    deserted: bool,
}

/// What a move is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockUsage {
    /// The charge, in whole milliseconds.
    pub ms: u64,
    back: Duration,
}

/// How a turn stands, as it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnTime {
    /// For how long it has been charged, in milliseconds.
    pub turn_ms: u64,
    /// Whether the clock stands.
    pub stands: bool,
    /// What is left of the time for a seat's first ply, in milliseconds, where that is limited.
    pub first_move_ms: Option<u64>,
}

impl Timekeeper {
    /// The timekeeper of a match; `None` if it has no clock. No move gets back more than `lag_max` on
    /// average of what the network takes.
    #[must_use]
    pub fn new(state: &Match, lag_max: Duration) -> Option<Self> {
        let control = state.clock()?;
        Some(Self {
            lag: Lag::new(&control, lag_max),
            control,
            lasted: Duration::ZERO,
            since: None,
            stands: Causes::default(),
            before_bot: Duration::ZERO,
        })
    }

    /// Whether moves of this match get anything back for the network.
    #[must_use]
    pub fn gives_back(state: &Match, lag_max: Duration) -> bool {
        let control = state.clock();
        control.is_some_and(|control| Lag::new(&control, lag_max).gives())
    }

    /// The turn that begins has been told at this instant.
    pub fn turn_told(&mut self, told_at: Instant) {
        self.stands.player = false;
        self.begin(Duration::ZERO, told_at);
    }

    fn begin(&mut self, lasted: Duration, now: Instant) {
        self.lasted = lasted;
        self.before_bot = Duration::ZERO;
        self.since = self.runs().then_some(now);
    }

    fn runs(&self) -> bool {
        self.stands == Causes::default()
    }

    /// The present turn begins anew, since the match has been read anew or its player has come back. It
    /// stands until that player is there; not with a short time for every move, nor over days, where
    /// the wall clock, which shows `now_ms`, goes on.
    pub fn begin_anew(
        &mut self,
        state: &Match,
        is_present: impl Fn(PlayerId) -> bool,
        now: Instant,
        now_ms: u64,
    ) {
        let waits = !matches!(self.control, ClockControl::Move { .. });
        let player = state.turn().and_then(|seat| state.occupant(seat).player());
        self.stands = Causes {
            store: false,
            unheard: false,
            player: waits && player.is_some_and(|player| !is_present(player)),
            deserted: state.waits_for_people(),
        };
        let passed = now_ms.saturating_sub(state.turn_at_ms());
        let lasted = if self.control.is_of_days() { passed } else { 0 };
        self.begin(Duration::from_millis(lasted), now);
    }

    /// Takes note of who is there and who sits where. To be called after every event and every coming
    /// or going. True if the clock has stopped or goes on by that.
    pub fn attend(
        &mut self,
        state: &Match,
        is_present: impl Fn(PlayerId) -> bool,
        now: Instant,
    ) -> bool {
        let player = state.turn().and_then(|seat| state.occupant(seat).player());
        let mut stands = self.stands;
        stands.player &= player.is_some_and(|player| !is_present(player));
        stands.deserted = state.waits_for_people();
        self.stand(stands, now)
    }

    /// A bot has taken the seat whose turn it is. What its player has used up stays so.
    pub fn bot_took_over(&mut self, now: Instant) {
        self.before_bot = self.lasted(now);
    }

    /// The store has kept nothing since this instant. True if the clock has stopped by that.
    pub fn store_refuses(&mut self, since: Instant) -> bool {
        let store = true;
        self.stand(
            Causes {
                store,
                ..self.stands
            },
            since,
        )
    }

    /// The store keeps things again. True if the clock goes on by that.
    pub fn store_accepts(&mut self, now: Instant) -> bool {
        let store = false;
        self.stand(
            Causes {
                store,
                ..self.stands
            },
            now,
        )
    }

    /// Whoever is to move has not been heard since this instant, by a fault of the servers. True if the
    /// clock has stopped by that.
    pub fn is_unheard(&mut self, since: Instant) -> bool {
        let unheard = true;
        self.stand(
            Causes {
                unheard,
                ..self.stands
            },
            since,
        )
    }

    /// Whoever is to move can be heard. True if the clock goes on by that.
    pub fn is_heard(&mut self, now: Instant) -> bool {
        let unheard = false;
        self.stand(
            Causes {
                unheard,
                ..self.stands
            },
            now,
        )
    }

    /// Whether the clock stands because the store keeps nothing.
    #[must_use]
    pub const fn is_store_awaited(&self) -> bool {
        self.stands.store
    }

    fn stand(&mut self, stands: Causes, now: Instant) -> bool {
        let ran = self.runs();
        if self.control.is_of_days() {
            // No time over days is long enough to be stopped for.
            self.stands = Causes::default();
            return false;
        }
        self.stands = stands;
        let runs = self.runs();
        if ran && !runs {
            self.lasted = self.lasted(now);
            self.since = None;
        } else if runs && !ran {
            self.since = Some(now);
        }
        ran != runs
    }

    fn lasted(&self, now: Instant) -> Duration {
        let since = |since| now.saturating_duration_since(since);
        self.lasted + self.since.map(since).unwrap_or_default()
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
        let lasted = self.lasted(read_at);
        let back = self.lag.back(seat, rtt, lasted);
        let most = self.allowance_ms(state, seat).saturating_sub(1);
        ClockUsage {
            ms: whole_ms(lasted - back).min(most),
            back,
        }
    }

    /// What a bot is charged that has searched for so long: never so much that it runs out of time.
    #[must_use]
    pub fn charge_bot(&self, state: &Match, seat: Seat, searched: Duration) -> u64 {
        let charged = whole_ms(self.before_bot + searched);
        charged.min(self.allowance_ms(state, seat).saturating_sub(1))
    }

    /// How much the player has used up for whom a bot is to move now.
    #[must_use]
    pub const fn before_bot(&self) -> Duration {
        self.before_bot
    }

    /// A move was played, which was charged so and came by a connection with this round-trip time. A
    /// free one gets nothing back, but saves as much.
    pub fn moved(&mut self, seat: Seat, charge: ClockUsage, was_free: bool, rtt: Option<Duration>) {
        let back = if was_free {
            Duration::ZERO
        } else {
            charge.back
        };
        self.lag.moved(seat, rtt, back);
    }

    /// When the turn must have ended, if its player has a connection with this round-trip time. `None`
    /// while the clock stands, and for bots.
    #[must_use]
    pub fn due(&self, state: &Match, rtt: Option<Duration>) -> Option<Instant> {
        let since = self.since?;
        let seat = state.turn()?;
        state.occupant(seat).player()?;
        let limit = if state.is_free() {
            self.first_move()
        } else {
            let allowance = Duration::from_millis(self.allowance_ms(state, seat));
            allowance + self.lag.back(seat, rtt, Duration::MAX)
        };
        Some(since + limit.saturating_sub(self.lasted))
    }

    /// What the match does when the turn has not ended in time.
    #[must_use]
    pub fn action(state: &Match) -> Action {
        if state.is_free() {
            Action::NoFirstMove
        } else {
            Action::Flag
        }
    }

    /// Looks whether an alarm comes so late that it tells nothing: then the begin of the turn moves on by
    /// the lateness, and a moment more for what came meanwhile to be read. True if it did.
    pub fn is_late(&mut self, due: Instant, now: Instant) -> bool {
        let late = now.saturating_duration_since(due);
        let is_late = late > LATE_FROM && !self.control.is_of_days();
        if is_late && let Some(since) = &mut self.since {
            *since += late + LATE_GRACE;
        }
        is_late
    }

    /// How the turn stands; `None` unless the match runs.
    #[must_use]
    pub fn told(&self, state: &Match, now: Instant) -> Option<TurnTime> {
        let seat = state.turn()?;
        let lasted = self.lasted(now);
        let is_bot = state.occupant(seat).bot().is_some();
        let limit = (!is_bot && state.is_free()).then(|| self.first_move());
        let turn_ms = match limit {
            Some(_) => 0,
            None if state.is_free() => 0,
            None if is_bot => self.charge_bot(state, seat, lasted.saturating_sub(self.before_bot)),
            None => whole_ms(lasted),
        };
        Some(TurnTime {
            turn_ms,
            stands: !self.runs(),
            first_move_ms: limit.map(|limit| whole_ms(limit.saturating_sub(lasted))),
        })
    }

    fn allowance_ms(&self, state: &Match, seat: Seat) -> u64 {
        let left = state.left();
        left.map_or(0, |left| left.allowance_ms(&self.control, seat))
    }

    fn first_move(&self) -> Duration {
        first_move(&self.control)
    }

    /// When the present turn of a match of days must have ended, in milliseconds since 1970. `None` for
    /// other matches, and for one that does not run or in which a bot is to move.
    #[must_use]
    pub fn days_due_ms(state: &Match) -> Option<u64> {
        let Some(ClockControl::Move { move_ms }) = state.clock().filter(ClockControl::is_of_days)
        else {
            return None;
        };
        state.occupant(state.turn()?).player()?;
        Some(state.turn_at_ms() + move_ms)
    }
}

/// How long a first ply that is told now may take, in milliseconds. `None` if the next ply is no seat's
/// first, or a bot's, or there is no clock.
#[must_use]
pub fn first_move_ms(state: &Match) -> Option<u64> {
    let control = state.clock()?;
    state.occupant(state.turn()?).player()?;
    state.is_free().then(|| whole_ms(first_move(&control)))
}

const fn first_move(control: &ClockControl) -> Duration {
    match control {
        ClockControl::Move { move_ms } => Duration::from_millis(*move_ms),
        ClockControl::Fischer { .. }
        | ClockControl::Delay { .. }
        | ClockControl::ByoYomi { .. } => FIRST_MOVE,
    }
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
