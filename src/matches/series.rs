//! Matches that the same two play one after the other, each the rematch of the one before.

use plyhouse_engine::game::Seat;

use super::{Match, Occupant, PreviousMatch, Stage, Terms};

/// How a series stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// The number of the match in it, from 1.
    pub game: u64,
    /// The half-points of the seats, from all of its matches that have ended, this one included.
    pub points: [u64; 2],
}

impl Match {
    /// When the match ended, in milliseconds since 1970; `None` while it is live.
    #[must_use]
    pub const fn ended_ms(&self) -> Option<u64> {
        self.ended_ms
    }

    /// The number of this match in its series, and how that stands. A win is two half-points and a draw
    /// is one for either; what was broken off gives none.
    #[must_use]
    pub fn series(&self) -> Series {
        let previous = self.creation.terms.previous;
        let (before, points) = previous.map_or((0, [0; 2]), |before| (before.game, before.points));
        let gained = match self.stage {
            Stage::Ended {
                winner: Some(seat), ..
            } => Seat::ALL.map(|other| if other == seat { 2 } else { 0 }),
            Stage::Ended { reason, .. } if reason != plyhouse_protocol::EndReason::Aborted => {
                [1; 2]
            }
            Stage::Ended { .. } | Stage::Open | Stage::Running => [0; 2],
        };
        Series {
            game: before + 1,
            points: [points[0] + gained[0], points[1] + gained[1]],
        }
    }

    /// Whether the match had started, and has ended.
    #[must_use]
    pub fn has_been_played(&self) -> bool {
        matches!(self.stage, Stage::Ended { .. }) && !self.seats.contains(&Occupant::Open)
    }

    /// Who would sit where in a rematch and on which terms: the seats change sides. `None` if there can
    /// be none, since the match has not ended, never started, or was played by bots alone.
    #[must_use]
    pub fn rematch_params(&self) -> Option<([Occupant; 2], Terms)> {
        if !self.has_been_played() || self.seat_holders().next().is_none() {
            return None;
        }
        let mut seats = self.seats.clone().map(|occupant| match occupant {
            Occupant::StandIn {
                player,
                name,
                kind,
                rating,
                ..
            } => Occupant::Player {
                id: player,
                name,
                kind,
                rating,
            },
            Occupant::Open | Occupant::Player { .. } | Occupant::Bot(_) => occupant,
        });
        seats.reverse();
        let Series { game, mut points } = self.series();
        points.reverse();
        let previous = PreviousMatch {
            id: self.id(),
            game,
            points,
        };
        let terms = Terms {
            invited: None,
            previous: Some(previous),
            ..self.creation.terms.clone()
        };
        Some((seats, terms))
    }

    /// The seat that is this player's, though a bot may stand in.
    #[must_use]
    pub fn seat_held_by(&self, player: plyhouse_protocol::PlayerId) -> Option<Seat> {
        let is_held = |seat: &Seat| self.occupant(*seat).holder() == Some(player);
        Seat::ALL.into_iter().find(is_held)
    }
}
