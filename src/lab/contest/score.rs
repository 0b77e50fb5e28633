//! What two players have scored against each other.

use std::collections::HashMap;

use plyhouse_engine::game::{Outcome, Seat};
use serde::Serialize;

use super::fault::Fault;
use super::game::{End, Played};
use super::pentanomial::Pentanomial;
use crate::tournament::Tally;

/// How often a player has lost by its own doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Faults {
    pub(super) illegal: u32,
    pub(super) crashes: u32,
    pub(super) time: u32,
}

impl Faults {
    /// How many games were lost so.
    pub(super) const fn count(&self) -> u32 {
        self.illegal + self.crashes + self.time
    }
}

/// What two players have scored, as the first of them sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Score {
    /// All games.
    pub(super) tally: Tally,
    /// The pairs of which both games have been played.
    pub(super) pairs: Pentanomial,
    pub(super) faults: [Faults; 2],
    /// The half-points of games whose pair is not complete, by opening.
    halves: HashMap<usize, usize>,
}

impl Score {
    /// Counts a game from this opening, in which the first player had this seat.
    pub(super) fn count(&mut self, opening: usize, seat: Seat, played: &Played) {
        let outcome = match played.winner {
            Some(winner) => Outcome::Decisive { winner },
            None => Outcome::Draw,
        };
        self.tally.record(outcome, seat);
        let points = match played.winner {
            Some(winner) if winner == seat => 2,
            Some(_) => 0,
            None => 1,
        };
        match self.halves.remove(&opening) {
            Some(before) => self.pairs.0[before + points] += 1,
            None => {
                self.halves.insert(opening, points);
            }
        }
        if let End::Fault(fault) = &played.end {
            let faults = &mut self.faults[usize::from(played.winner == Some(seat))];
            match fault {
                Fault::Illegal(_) => faults.illegal += 1,
                Fault::Late => faults.time += 1,
                Fault::Crashed | Fault::Refused(_) | Fault::Stopped => faults.crashes += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_games_of_an_opening_are_a_pair() {
        let played = |winner, end| Played {
            names: [String::new(), String::new()],
            start: String::new(),
            moves: Vec::new(),
            winner,
            end,
        };
        let by_rules = |winner| played(winner, End::Rules(None));
        let mut score = Score::default();
        let (first, second) = (Seat::First, Seat::Second);
        score.count(0, first, &by_rules(Some(first)));
        score.count(1, second, &by_rules(Some(first)));
        assert_eq!(score.pairs.pairs(), 0);
        score.count(0, second, &by_rules(None));
        score.count(1, first, &played(Some(second), End::Fault(Fault::Late)));
        score.count(2, first, &played(Some(first), End::Fault(Fault::Crashed)));
        assert_eq!(score.pairs, Pentanomial([1, 0, 0, 1, 0]));
        let tally = Tally {
            wins: 2,
            draws: 1,
            losses: 2,
        };
        assert_eq!(score.tally, tally);
        assert_eq!((score.faults[0].time, score.faults[1].crashes), (1, 1));
    }
}
