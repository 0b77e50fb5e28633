//! Series of matches between two opponents. Each match is the rematch of the previous one.

use plyhouse_engine::game::Seat;

use super::{Match, Occupant, PreviousMatch, Stage, Terms};

/// Score of a series of matches after one of its matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// Number of the match in the series, counted from 1.
    pub game: u64,
    /// Half-points that each seat has scored in the series. The score includes the current match if
    /// that match has ended.
    pub points: [u64; 2],
}

impl Match {
    /// Returns the time at which the match ended, in milliseconds since 1970. Returns `None` if the
    /// match has not ended.
    #[must_use]
    pub const fn ended_ms(&self) -> Option<u64> {
        self.ended_ms
    }

    /// Returns the number of this match in its series, and the score of the series. A win scores
    /// two half-points, and a draw scores one half-point for each seat. An aborted match scores
    /// nothing.
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

    /// Returns whether the match has started and ended.
    #[must_use]
    pub fn has_been_played(&self) -> bool {
        matches!(self.stage, Stage::Ended { .. }) && !self.seats.contains(&Occupant::Open)
    }

    /// Returns the occupants and terms of a rematch. The players swap seats. Returns `None` if the
    /// match has not ended, never started, or was played by bots only.
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

    /// Returns the seat that `player` holds, even if a stand-in sits there.
    #[must_use]
    pub fn seat_held_by(&self, player: plyhouse_protocol::PlayerId) -> Option<Seat> {
        let is_held = |seat: &Seat| self.occupant(*seat).holder() == Some(player);
        Seat::ALL.into_iter().find(is_held)
    }
}
