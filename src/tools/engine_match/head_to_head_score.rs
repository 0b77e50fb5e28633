//! Score of two engines against each other.

use std::collections::HashMap;

use plyhouse_engine::game::Seat;
use plyhouse_protocol::is_displayable;
use serde::Serialize;

use super::forfeit_reason::ForfeitReason;
use super::pair_tally::Tally;
use super::paired_game::{GameEnd, PlayedGame};
use super::pentanomial::Pentanomial;

/// Number of games that a player lost by forfeit, for each reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ForfeitCounts {
    #[serde(rename = "illegal")]
    pub(crate) illegal_moves: u32,
    pub(crate) crashes: u32,
    #[serde(rename = "time")]
    pub(crate) timeouts: u32,
    pub(crate) refusals: u32,
    /// First command that the player refused, with the player's message.
    #[serde(rename = "refused", skip_serializing_if = "Option::is_none")]
    pub(crate) first_refusal: Option<String>,
}

impl ForfeitCounts {
    /// Returns the total number of games that the player lost by forfeit.
    pub(crate) const fn total(&self) -> u32 {
        self.illegal_moves + self.crashes + self.timeouts + self.refusals
    }

    fn record(&mut self, reason: &ForfeitReason) {
        match reason {
            ForfeitReason::IllegalMove(_) => self.illegal_moves += 1,
            ForfeitReason::Timeout => self.timeouts += 1,
            ForfeitReason::Crashed | ForfeitReason::Stopped => self.crashes += 1,
            ForfeitReason::CommandRefused(words) => {
                self.refusals += 1;
                self.first_refusal
                    .get_or_insert_with(|| to_printable(words));
            }
        }
    }
}

/// Maximum length of a program's message in the report, in characters.
const REFUSAL_TEXT_CHARS_MAX: usize = 200;

/// Returns the beginning of a program's message. Characters that cannot be displayed are replaced.
fn to_printable(text: &str) -> String {
    let start = text.chars().take(REFUSAL_TEXT_CHARS_MAX);
    let shown = start.map(|c| if is_displayable(c) { c } else { '\u{fffd}' });
    shown.collect()
}

/// Score of a pairing, from the perspective of its first player.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PairingScore {
    /// Wins, draws and losses in all games.
    pub(crate) tally: Tally,
    /// Results of the complete pairs of games.
    pub(crate) pairs: Pentanomial,
    pub(crate) forfeits: [ForfeitCounts; 2],
    /// Number of games that were adjudicated.
    pub(crate) adjudicated: u32,
    /// First player's half-points in each incomplete pair, of which only one game is recorded. The
    /// key is the number of the round.
    unpaired_points: HashMap<usize, usize>,
}

impl PairingScore {
    /// Records a finished game. `opening` is the round number; the two games of a round form a
    /// pair. `seat` is the seat of the pairing's first player in this game.
    pub(crate) fn record_game(&mut self, opening: usize, seat: Seat, game: &PlayedGame) {
        self.tally.record(game.winner, seat);
        let points = match game.winner {
            Some(winner) if winner == seat => 2,
            Some(_) => 0,
            None => 1,
        };
        if let Some(before) = self.unpaired_points.remove(&opening) {
            self.pairs.0[before + points] += 1;
        } else {
            self.unpaired_points.insert(opening, points);
        }
        match &game.end {
            GameEnd::Forfeit(fault) => {
                self.forfeits[usize::from(game.winner == Some(seat))].record(fault);
            }
            GameEnd::Adjudication => self.adjudicated += 1,
            GameEnd::Rules | GameEnd::Resignation => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_of_the_same_round_form_a_pair() {
        let finished_game = |winner, end| PlayedGame {
            names: [String::new(), String::new()],
            start_position: String::new(),
            moves: Vec::new(),
            winner,
            end,
        };
        let by_rules = |winner| finished_game(winner, GameEnd::Rules);
        let mut score = PairingScore::default();
        let (first, second) = (Seat::First, Seat::Second);
        score.record_game(0, first, &by_rules(Some(first)));
        score.record_game(1, second, &by_rules(Some(first)));
        assert_eq!(score.pairs.pair_count(), 0);
        score.record_game(0, second, &by_rules(None));
        score.record_game(
            1,
            first,
            &finished_game(Some(second), GameEnd::Forfeit(ForfeitReason::Timeout)),
        );
        score.record_game(
            2,
            first,
            &finished_game(Some(first), GameEnd::Forfeit(ForfeitReason::Crashed)),
        );
        assert_eq!(score.pairs, Pentanomial([1, 0, 0, 1, 0]));
        let tally = Tally {
            wins: 2,
            draws: 1,
            losses: 2,
        };
        assert_eq!(score.tally, tally);
        assert_eq!(
            (score.forfeits[0].timeouts, score.forfeits[1].crashes),
            (1, 1)
        );
    }

    /// A refused command must not count as a crash. The message of the first refusal must be
    /// sanitized, because a program can send any characters.
    #[test]
    fn refusals_are_counted_and_the_first_text_is_sanitized() {
        let mut forfeits = ForfeitCounts::default();
        let long = format!("komi 7: {}", "x".repeat(1000));
        for words in [
            "boardsize 9: only 19\u{1b}[2J\tx19",
            "play b e5: illegal",
            &long,
        ] {
            forfeits.record(&ForfeitReason::CommandRefused(words.to_owned()));
        }
        let expected = "boardsize 9: only 19\u{fffd}[2J\u{fffd}x19";
        assert_eq!(forfeits.first_refusal.as_deref(), Some(expected));
        assert_eq!(
            (forfeits.refusals, forfeits.crashes, forfeits.total()),
            (3, 0, 3)
        );
        assert_eq!(to_printable(&long).chars().count(), REFUSAL_TEXT_CHARS_MAX);
    }
}
