//! Who is away from a match, since when, and what comes of it.
//!
//! Attendance is not part of a match's history: it is not stored, and begins anew with the start
//! of the match and of the server.

use std::time::{Duration, Instant};

use super::{Action, Match, Occupant, Stage};
use plyhouse_engine::game::Seat;
use plyhouse_protocol::PlayerId;

/// How long bots that stand in for players wait while no person sits at all.
const STAND_INS_WAIT: Duration = Duration::from_secs(600);

/// Watches over the players whose absence matters: those who sit, and the host while the match is
/// open.
#[derive(Debug)]
pub struct Attendance {
    /// How long an open match waits.
    open_patience: Duration,
    absent: Vec<Absent>,
    /// Since when only bots have sat there that stand in for somebody.
    deserted_since: Option<Instant>,
    was_open: bool,
}

#[derive(Clone, Copy, Debug)]
struct Absent {
    player: PlayerId,
    since: Instant,
}

impl Attendance {
    /// Lets players of an open match be absent for `open_patience`. How long those of a running match
    /// may be is settled by the match.
    #[must_use]
    pub const fn new(open_patience: Duration) -> Self {
        Self {
            open_patience,
            absent: Vec::new(),
            deserted_since: None,
            was_open: true,
        }
    }

    /// Takes note of who is there. To be called after every event and every coming or going.
    pub fn update(&mut self, state: &Match, is_present: impl Fn(PlayerId) -> bool, now: Instant) {
        let is_open = state.stage() == Stage::Open;
        if self.was_open && !is_open {
            // The time counts anew from the start of the match.
            self.absent.clear();
        }
        self.was_open = is_open;
        let is_deserted = state.stage() == Stage::Running && state.waits_for_people();
        self.deserted_since = is_deserted.then(|| self.deserted_since.unwrap_or(now));
        let counts = self.patience(state).is_some();
        let matters = |player| match state.stage() {
            _ if !counts => false,
            Stage::Open => player == state.creation().host || state.seat_of(player).is_some(),
            Stage::Running => state.seat_of(player).is_some(),
            Stage::Ended { .. } => false,
        };
        let mut absent = std::mem::take(&mut self.absent);
        absent.retain(|absent| matters(absent.player) && !is_present(absent.player));
        for player in state.players().chain([state.creation().host]) {
            let known = absent.iter().any(|absent| absent.player == player);
            if matters(player) && !known && !is_present(player) {
                absent.push(Absent { player, since: now });
            }
        }
        self.absent = absent;
    }

    /// Takes over since when players have been away, where the match was read again. To be called once it
    /// is known who is there.
    pub fn resume(&mut self, since: impl Fn(PlayerId) -> Option<Instant>) {
        for absent in &mut self.absent {
            if let Some(since) = since(absent.player) {
                absent.since = absent.since.min(since);
            }
        }
    }

    /// Since when this player has been away, if that counts.
    #[must_use]
    pub fn absent_since(&self, player: PlayerId) -> Option<Instant> {
        let mut absent = self.absent.iter();
        Some(absent.find(|absent| absent.player == player)?.since)
    }

    /// Whether the absence of a seated player counts: the match runs and limits how long they may be gone.
    #[must_use]
    pub const fn counts(state: &Match) -> bool {
        matches!(state.stage(), Stage::Running) && state.patience_ms().is_some()
    }

    /// How long a player may be absent now; `None` where that does not matter.
    fn patience(&self, state: &Match) -> Option<Duration> {
        match state.stage() {
            Stage::Open if state.creation().terms.is_of_days() => None,
            Stage::Open => Some(self.open_patience),
            Stage::Running => state.patience_ms().map(Duration::from_millis),
            Stage::Ended { .. } => None,
        }
    }

    /// When the match must act if nobody comes back before.
    #[must_use]
    pub fn next_deadline(&self, state: &Match) -> Option<Instant> {
        let first = self.absent.iter().map(|absent| absent.since).min();
        let first = first.zip(self.patience(state));
        let deserted = self.deserted_since.map(|since| since + STAND_INS_WAIT);
        let lost = first.map(|(since, patience)| since + patience);
        lost.into_iter().chain(deserted).min()
    }

    /// For how long the player in this seat may still be gone, while the match runs. `None` for whoever
    /// is there or whose absence does not count.
    #[must_use]
    pub fn gone(&self, state: &Match, seat: Seat, now: Instant) -> Option<Duration> {
        let player = state.occupant(seat).player()?;
        let patience = self.patience(state)?;
        let mut absent = self.absent.iter();
        let absent = absent.find(|absent| absent.player == player)?;
        let is_running = state.stage() == Stage::Running;
        is_running.then(|| (absent.since + patience).saturating_duration_since(now))
    }

    /// Whether a bot takes this seat if its player goes: the match has one, and somebody is there to play
    /// on, or will be.
    #[must_use]
    pub fn may_stand_in(&self, state: &Match, seat: Seat) -> bool {
        let is_there = |player| !self.absent.iter().any(|absent| absent.player == player);
        state.creation().terms.stand_in.is_some()
            && state.stage() == Stage::Running
            && match state.occupant(seat.other()) {
                Occupant::Player { id, .. } => is_there(*id),
                Occupant::StandIn { .. } => true,
                Occupant::Open | Occupant::Bot(_) => false,
            }
    }

    /// What the match must do at `now` because somebody has been away for too long.
    #[must_use]
    pub fn due(&self, state: &Match, now: Instant) -> Option<Action> {
        if now < self.next_deadline(state)? {
            return None;
        }
        let Some(first) = self.absent.iter().min_by_key(|absent| absent.since) else {
            // Nobody has come back to those who stand in.
            return Some(Action::Abort);
        };
        if state.stage() == Stage::Open {
            return Some(Action::Leave {
                player: first.player,
            });
        }
        let together = |absent: &&Absent| absent.since == first.since;
        if self.absent.iter().filter(together).count() == Seat::ALL.len() {
            // Neither has let the other down.
            return Some(Action::Abort);
        }
        let seat = state.seat_of(first.player)?;
        Some(if self.may_stand_in(state, seat) {
            Action::StandIn { seat }
        } else {
            Action::Abandon { seat }
        })
    }
}
