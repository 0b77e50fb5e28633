//! Who is away from a match, since when, and what comes of it.
//!
//! Attendance is not part of a match's history: it is not stored, and begins anew with the start
//! of the match and of the server.

use std::time::{Duration, Instant};

use super::{Action, Match, Occupant, Stage};
use plyhouse_engine::game::Seat;
use plyhouse_protocol::PlayerId;

/// How long bots that stand in for players wait while no person sits at all.
const ONLY_STAND_INS_TIMEOUT: Duration = Duration::from_secs(600);

/// Watches over the players whose absence matters: those who sit, and the host while the match is
/// open.
#[derive(Debug)]
pub struct AbsenceTimers {
    /// How long an open match waits.
    open_match_limit: Duration,
    absences: Vec<Absence>,
    /// Since when only bots have sat there that stand in for somebody.
    only_stand_ins_since: Option<Instant>,
    was_open: bool,
}

#[derive(Clone, Copy, Debug)]
struct Absence {
    player: PlayerId,
    since: Instant,
}

impl AbsenceTimers {
    /// Lets players of an open match be absent for `open_match_limit`. How long those of a running match
    /// may be is settled by the match.
    #[must_use]
    pub const fn new(open_match_limit: Duration) -> Self {
        Self {
            open_match_limit,
            absences: Vec::new(),
            only_stand_ins_since: None,
            was_open: true,
        }
    }

    /// Takes note of who is there. To be called after every event and every coming or going.
    pub fn update(&mut self, state: &Match, is_present: impl Fn(PlayerId) -> bool, now: Instant) {
        let is_open = state.stage() == Stage::Open;
        if self.was_open && !is_open {
            // The time counts anew from the start of the match.
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

    /// Takes over since when players have been away, where the match was read again. To be called once it
    /// is known who is there.
    pub fn restore(&mut self, absent_since: impl Fn(PlayerId) -> Option<Instant>) {
        for absent in &mut self.absences {
            if let Some(since) = absent_since(absent.player) {
                absent.since = absent.since.min(since);
            }
        }
    }

    /// Since when this player has been away, if that counts.
    #[must_use]
    pub fn absent_since(&self, player: PlayerId) -> Option<Instant> {
        let mut absences = self.absences.iter();
        Some(absences.find(|absent| absent.player == player)?.since)
    }

    /// Whether the absence of a seated player counts: the match runs and limits how long they may be gone.
    #[must_use]
    pub const fn counts_absence(state: &Match) -> bool {
        matches!(state.stage(), Stage::Running) && state.absence_limit_ms().is_some()
    }

    /// How long a player may be absent now; `None` where that does not matter.
    fn absence_limit(&self, state: &Match) -> Option<Duration> {
        match state.stage() {
            Stage::Open if state.creation().terms.is_correspondence() => None,
            Stage::Open => Some(self.open_match_limit),
            Stage::Running => state.absence_limit_ms().map(Duration::from_millis),
            Stage::Ended { .. } => None,
        }
    }

    /// When the match must act if nobody comes back before.
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

    /// For how long the player in this seat may still be gone, while the match runs. `None` for whoever
    /// is there or whose absence does not count.
    #[must_use]
    pub fn absence_remaining(&self, state: &Match, seat: Seat, now: Instant) -> Option<Duration> {
        let player = state.occupant(seat).player()?;
        let limit = self.absence_limit(state)?;
        let mut absences = self.absences.iter();
        let absence = absences.find(|absent| absent.player == player)?;
        let is_running = state.stage() == Stage::Running;
        is_running.then(|| (absence.since + limit).saturating_duration_since(now))
    }

    /// Whether a bot takes this seat if its player goes: the match has one, and somebody is there to play
    /// on, or will be.
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

    /// What the match must do at `now` because somebody has been away for too long.
    #[must_use]
    pub fn due_action(&self, state: &Match, now: Instant) -> Option<Action> {
        if now < self.next_deadline(state)? {
            return None;
        }
        let Some(first) = self.absences.iter().min_by_key(|absent| absent.since) else {
            // Nobody has come back to those who stand in.
            return Some(Action::Abort);
        };
        if state.stage() == Stage::Open {
            return Some(Action::Leave {
                player: first.player,
            });
        }
        let left_together = |absent: &&Absence| absent.since == first.since;
        if self.absences.iter().filter(left_together).count() == Seat::ALL.len() {
            // Neither has let the other down.
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
