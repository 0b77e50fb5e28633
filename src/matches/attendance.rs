//! Who is away from a match, since when, and what comes of it.
//!
//! Attendance is not part of a match's history: it is not stored, and begins anew with the start
//! of the match and of the server.

use std::time::{Duration, Instant};

use super::{Action, Match, Stage};
use plyhouse_engine::game::Seat;
use plyhouse_protocol::PlayerId;

/// Watches over the players whose absence matters: those who sit, and the host while the match is
/// open.
#[derive(Debug)]
pub struct Attendance {
    patience: Duration,
    absent: Vec<Absent>,
    was_open: bool,
}

#[derive(Clone, Copy, Debug)]
struct Absent {
    player: PlayerId,
    since: Instant,
}

impl Attendance {
    /// Lets players be absent for `patience`.
    #[must_use]
    pub const fn new(patience: Duration) -> Self {
        Self {
            patience,
            absent: Vec::new(),
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
        let matters = |player| match state.stage() {
            Stage::Open => player == state.creation().host || state.seat_of(player).is_some(),
            Stage::Running => state.seat_of(player).is_some(),
            Stage::Ended { .. } => false,
        };
        self.absent
            .retain(|absent| matters(absent.player) && !is_present(absent.player));
        for player in state.players().chain([state.creation().host]) {
            let known = self.absent.iter().any(|absent| absent.player == player);
            if matters(player) && !known && !is_present(player) {
                self.absent.push(Absent { player, since: now });
            }
        }
    }

    /// When the match must act if nobody comes back before.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.absent
            .iter()
            .map(|absent| absent.since + self.patience)
            .min()
    }

    /// What the match must do at `now` because somebody has been away for too long.
    #[must_use]
    pub fn due(&self, state: &Match, now: Instant) -> Option<Action> {
        let first = self.absent.iter().min_by_key(|absent| absent.since)?;
        if now < first.since + self.patience {
            return None;
        }
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
        state
            .seat_of(first.player)
            .map(|seat| Action::Abandon { seat })
    }
}
