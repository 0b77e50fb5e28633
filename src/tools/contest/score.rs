//! What two players have scored against each other.

use std::collections::HashMap;

use plyhouse_engine::game::{Outcome, Seat};
use plyhouse_protocol::is_displayable;
use serde::Serialize;

use super::fault::Fault;
use super::game::{End, Played};
use super::pentanomial::Pentanomial;
use crate::tournament::Tally;

/// How often a player has lost by its own doing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Faults {
    pub(super) illegal: u32,
    pub(super) crashes: u32,
    pub(super) time: u32,
    pub(super) refusals: u32,
    /// The command that the player refused first, and its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<String>,
}

impl Faults {
    /// How many games were lost so.
    pub(super) const fn count(&self) -> u32 {
        self.illegal + self.crashes + self.time + self.refusals
    }

    fn add(&mut self, fault: &Fault) {
        match fault {
            Fault::Illegal(_) => self.illegal += 1,
            Fault::Late => self.time += 1,
            Fault::Crashed | Fault::Stopped => self.crashes += 1,
            Fault::Refused(words) => {
                self.refusals += 1;
                self.refused.get_or_insert_with(|| printable(words));
            }
        }
    }
}

/// Longest text of a program that the report shows, in characters.
const WORDS_MAX: usize = 200;

/// The beginning of a program's text, without characters that a terminal would not simply show.
fn printable(text: &str) -> String {
    let shown = |c| {
        if is_displayable(c) {
            c
        } else {
            char::REPLACEMENT_CHARACTER
        }
    };
    text.chars().take(WORDS_MAX).map(shown).collect()
}

/// What two players have scored, as the first of them sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Score {
    /// All games.
    pub(super) tally: Tally,
    /// The pairs of which both games have been played.
    pub(super) pairs: Pentanomial,
    pub(super) faults: [Faults; 2],
    /// Games that were ended by the players' scores.
    pub(super) adjudicated: u32,
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
        match &played.end {
            End::Fault(fault) => {
                self.faults[usize::from(played.winner == Some(seat))].add(fault);
            }
            End::Adjudication => self.adjudicated += 1,
            End::Rules(_) | End::Resignation => {}
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

    /// A refusal is no crash, and the first one is told in the program's words, which may be anything.
    #[test]
    fn refusals_are_counted_with_the_words_of_the_first() {
        let mut faults = Faults::default();
        let long = format!("komi 7: {}", "x".repeat(1000));
        for words in [
            "boardsize 9: only 19\u{1b}[2J\tx19",
            "play b e5: illegal",
            &long,
        ] {
            faults.add(&Fault::Refused(words.to_owned()));
        }
        let expected = "boardsize 9: only 19\u{fffd}[2J\u{fffd}x19";
        assert_eq!(faults.refused.as_deref(), Some(expected));
        assert_eq!((faults.refusals, faults.crashes, faults.count()), (3, 0, 3));
        assert_eq!(printable(&long).chars().count(), WORDS_MAX);
    }
}
