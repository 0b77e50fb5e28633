//! Tracks absent players, and decides what happens when a player has been absent for too long.
//!
//! Absences are not part of the match's history. Absence from a running match begins no earlier
//! than the start of the match. Time before the start of the server process does not count as
//! absence.

use std::time::{Duration, Instant};

use super::{Action, Match, Occupant, Stage};
use plyhouse_engine::game::Seat;
use plyhouse_protocol::PlayerId;

/// Maximum time that a match waits for a player to return if only bots occupy its seats.
const ONLY_STAND_INS_TIMEOUT: Duration = Duration::from_secs(600);

/// Tracks the absence of the seated players, and of the host while the match is open.
#[derive(Debug)]
pub struct AbsenceTimers {
    /// Maximum time that a player may be absent from an open match.
    open_match_limit: Duration,
    absences: Vec<Absence>,
    /// Time since which the match has been waiting for a player to return. Only bots occupy the
    /// seats of such a match.
    only_stand_ins_since: Option<Instant>,
    was_open: bool,
}

#[derive(Clone, Copy, Debug)]
struct Absence {
    player: PlayerId,
    since: Instant,
}

impl AbsenceTimers {
    /// Creates absence timers. Players may be absent from an open match for `open_match_limit`. In
    /// a running match, the match itself defines the limit.
    #[must_use]
    pub const fn new(open_match_limit: Duration) -> Self {
        Self {
            open_match_limit,
            absences: Vec::new(),
            only_stand_ins_since: None,
            was_open: true,
        }
    }

    /// Updates the list of absent players. Must be called after every event, and each time a player
    /// becomes present or absent.
    pub fn update(&mut self, state: &Match, is_present: impl Fn(PlayerId) -> bool, now: Instant) {
        let is_open = state.stage() == Stage::Open;
        if self.was_open && !is_open {
            // Absence before the start of the match does not count.
            self.absences.clear();
        }
        self.was_open = is_open;
        let has_only_stand_ins = state.stage() == Stage::Running && state.waits_for_players();
        self.only_stand_ins_since =
            has_only_stand_ins.then(|| self.only_stand_ins_since.unwrap_or(now));
        let has_limit = self.absence_limit(state).is_some();
        let is_tracked = |player| match state.stage() {
            _ if !has_limit => false,
            Stage::Open => player == state.creation().host || state.seat_of(player).is_some(),
            Stage::Running => state.seat_of(player).is_some(),
            Stage::Ended { .. } => false,
        };
        let mut absences = std::mem::take(&mut self.absences);
        absences.retain(|absent| is_tracked(absent.player) && !is_present(absent.player));
        for player in state.players().chain([state.creation().host]) {
            let is_listed = absences.iter().any(|absent| absent.player == player);
            if is_tracked(player) && !is_listed && !is_present(player) {
                absences.push(Absence { player, since: now });
            }
        }
        self.absences = absences;
    }

    /// Restores the start times of absences after the match was reloaded. Must be called after
    /// [`update`](Self::update), which finds the absent players.
    pub fn restore(&mut self, absent_since: impl Fn(PlayerId) -> Option<Instant>) {
        for absent in &mut self.absences {
            if let Some(since) = absent_since(absent.player) {
                absent.since = absent.since.min(since);
            }
        }
    }

    /// Returns the time at which `player` became absent. Returns `None` if the player is present or
    /// not tracked.
    #[must_use]
    pub fn absent_since(&self, player: PlayerId) -> Option<Instant> {
        let mut absences = self.absences.iter();
        Some(absences.find(|absent| absent.player == player)?.since)
    }

    /// Returns whether a running match limits the absence of its seated players.
    #[must_use]
    pub const fn counts_absence(state: &Match) -> bool {
        matches!(state.stage(), Stage::Running) && state.absence_limit_ms().is_some()
    }

    /// Returns the current limit on absences, or `None` if players may be absent without limit.
    fn absence_limit(&self, state: &Match) -> Option<Duration> {
        match state.stage() {
            Stage::Open if state.creation().terms.is_correspondence() => None,
            Stage::Open => Some(self.open_match_limit),
            Stage::Running => state.absence_limit_ms().map(Duration::from_millis),
            Stage::Ended { .. } => None,
        }
    }

    /// Returns the earliest time at which the match must act on an absence. If all absent players
    /// return before that time, the match need not act.
    #[must_use]
    pub fn next_deadline(&self, state: &Match) -> Option<Instant> {
        let earliest = self.absences.iter().map(|absent| absent.since).min();
        let earliest = earliest.zip(self.absence_limit(state));
        let stand_ins_deadline = self
            .only_stand_ins_since
            .map(|since| since + ONLY_STAND_INS_TIMEOUT);
        let absence_deadline = earliest.map(|(since, limit)| since + limit);
        absence_deadline.into_iter().chain(stand_ins_deadline).min()
    }

    /// Returns how much longer the player in `seat` may be absent from a running match. Returns
    /// `None` if the player is present or the match has no absence limit.
    #[must_use]
    pub fn absence_remaining(&self, state: &Match, seat: Seat, now: Instant) -> Option<Duration> {
        let player = state.occupant(seat).player()?;
        let limit = self.absence_limit(state)?;
        let mut absences = self.absences.iter();
        let absence = absences.find(|absent| absent.player == player)?;
        let is_running = state.stage() == Stage::Running;
        is_running.then(|| (absence.since + limit).saturating_duration_since(now))
    }

    /// Returns whether a bot may replace the player in `seat`. This requires that the terms of the
    /// match allow stand-ins. The opponent must be a present player or a stand-in.
    #[must_use]
    pub fn can_substitute(&self, state: &Match, seat: Seat) -> bool {
        let is_present = |player| !self.absences.iter().any(|absent| absent.player == player);
        state.creation().terms.stand_in.is_some()
            && state.stage() == Stage::Running
            && match state.occupant(seat.other()) {
                Occupant::Player { id, .. } => is_present(*id),
                Occupant::StandIn { .. } => true,
                Occupant::Open | Occupant::Bot(_) => false,
            }
    }

    /// Returns the action that is due at `now`, if a player has been absent for too long.
    #[must_use]
    pub fn due_action(&self, state: &Match, now: Instant) -> Option<Action> {
        if now < self.next_deadline(state)? {
            return None;
        }
        let Some(first) = self.absences.iter().min_by_key(|absent| absent.since) else {
            // Only stand-ins remain in the match, and no player returned before the deadline, so
            // the match is aborted.
            return Some(Action::Abort);
        };
        if state.stage() == Stage::Open {
            return Some(Action::Leave {
                player: first.player,
            });
        }
        let left_together = |absent: &&Absence| absent.since == first.since;
        if self.absences.iter().filter(left_together).count() == Seat::ALL.len() {
            // Both players became absent at the same time, so neither of them loses.
            return Some(Action::Abort);
        }
        let seat = state.seat_of(first.player)?;
        Some(if self.can_substitute(state, seat) {
            Action::StandIn { seat }
        } else {
            Action::Abandon { seat }
        })
    }
}
