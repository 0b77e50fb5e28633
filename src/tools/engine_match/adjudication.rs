//! Adjudication of games by the scores that the engines report, like the options `-resign` and
//! `-draw` of cutechess-cli.
//!
//! Scores are in hundredths of a pawn, or in hundredths of a point in games decided by points. If
//! an engine moves without reporting a score, its move counts for `-resign` restart at zero. Both
//! engines' move counts for `-draw` then also restart at zero.

use plyhouse_engine::game::{Outcome, Seat};
use plyhouse_engine::search::Score;
use plyhouse_engine_host::MATE_SCORE;

/// Maximum score that the user can set in an adjudication rule. A mate score exceeds it.
const SCORE_MAX: i32 = 100_000;

/// Maximum number of moves that the user can set in an adjudication rule.
const MOVES_MAX: u32 = 10_000;

/// Rules for ending a game early, based on the engines' scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AdjudicationRules {
    pub(crate) resign: Option<ResignRule>,
    pub(crate) draw: Option<DrawRule>,
}

/// Rule that adjudicates a loss when an engine's score has been very low for several moves in a
/// row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ResignRule {
    /// Number of consecutive moves with a losing score after which the losing engine resigns.
    consecutive_moves: u32,
    /// Threshold for a losing score, as a positive number. A score is losing if it is at most
    /// `-score_threshold`.
    score_threshold: i32,
    /// If true, the opponent must also have reported a score of at least `score_threshold` on each
    /// of its last `consecutive_moves` moves.
    is_two_sided: bool,
}

/// Rule that adjudicates a draw when both engines' scores have been near zero for several moves in
/// a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrawRule {
    /// Minimum number of full moves before a draw is adjudicated.
    full_moves_min: u32,
    /// Number of consecutive moves with a score near zero that each engine must have played.
    consecutive_moves: u32,
    /// Maximum absolute value of a score that counts as near zero.
    score_max: i32,
}

impl ResignRule {
    /// Parses `movecount=N score=S [twosided=true]`.
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let [moves, score, two_sided] =
            parse_key_values(words, ["movecount", "score", "twosided"])?;
        Ok(Self {
            consecutive_moves: parse_number_in_range("movecount", moves, 1, MOVES_MAX)?,
            score_threshold: parse_number_in_range("score", score, 1, SCORE_MAX)?,
            is_two_sided: match two_sided {
                None | Some("false") => false,
                Some("true") => true,
                Some(other) => {
                    return Err(format!(
                        "invalid twosided '{other}': expected true or false"
                    ));
                }
            },
        })
    }
}

impl DrawRule {
    /// Parses `movenumber=N movecount=M score=S`.
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let [from, moves, score] = parse_key_values(words, ["movenumber", "movecount", "score"])?;
        Ok(Self {
            full_moves_min: parse_number_in_range("movenumber", from, 0, MOVES_MAX)?,
            consecutive_moves: parse_number_in_range("movecount", moves, 1, MOVES_MAX)?,
            score_max: parse_number_in_range("score", score, 0, SCORE_MAX)?,
        })
    }
}

/// Parses words of the form `KEY=VALUE`. Returns one value for each key in `keys`, in the same
/// order. The value of a missing key is `None`.
fn parse_key_values<'a, const N: usize>(
    words: &'a [String],
    keys: [&str; N],
) -> Result<[Option<&'a str>; N], String> {
    let mut values = [None; N];
    for word in words {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| format!("invalid setting '{word}': expected KEY=VALUE"))?;
        let place = keys.iter().position(|known| *known == key);
        let place = place.ok_or_else(|| {
            let keys = keys.join(", ");
            format!("unknown setting '{key}': expected one of {keys}")
        })?;
        if values[place].replace(value).is_some() {
            return Err(format!("{key}= is given twice"));
        }
    }
    Ok(values)
}

/// Parses `value` as a number. Returns an error message if the value is missing, invalid, less than
/// `least` or greater than `greatest`.
fn parse_number_in_range<T>(
    key: &str,
    value: Option<&str>,
    least: T,
    greatest: T,
) -> Result<T, String>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    let value = value.ok_or_else(|| format!("{key}= is missing"))?;
    let number = value.parse().ok();
    number
        .filter(|number| (&least..=&greatest).contains(&number))
        .ok_or_else(|| {
            format!("invalid {key} '{value}': expected a number from {least} to {greatest}")
        })
}

/// Adjudicator of one game. The adjudicator counts each engine's consecutive moves with a losing
/// score, a winning score or a score near zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adjudicator {
    rules: AdjudicationRules,
    /// Number of consecutive moves with a losing score, by seat. The fields `winning_moves` and
    /// `level_moves` count the moves with a winning score and with a score near zero.
    losing_moves: [u32; 2],
    winning_moves: [u32; 2],
    level_moves: [u32; 2],
}

/// Move that was just played, with the engine's score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoredMove {
    pub(crate) seat: Seat,
    /// Score that the engine reported with the move, or `None` if the engine reported no score.
    pub(crate) score: Option<i32>,
    /// Number of plies of the game so far, including the opening.
    pub(crate) plies: usize,
    /// Whether the move is irreversible, for example a capture or a pawn move. After an
    /// irreversible move, no earlier position can occur again.
    pub(crate) is_irreversible: bool,
}

impl Adjudicator {
    pub(crate) const fn new(rules: AdjudicationRules) -> Self {
        Self {
            rules,
            losing_moves: [0; 2],
            winning_moves: [0; 2],
            level_moves: [0; 2],
        }
    }

    /// Counts a move. Returns the result if the rules adjudicate the game after this move.
    pub(crate) fn adjudicate_move(&mut self, scored: ScoredMove) -> Option<Outcome> {
        let own = scored.seat.index();
        if let Some(resign) = self.rules.resign {
            let count =
                |counter: &mut u32, meets: bool| *counter = if meets { *counter + 1 } else { 0 };
            let limit = resign.score_threshold;
            let is_losing = scored.score.is_some_and(|score| score <= -limit);
            let is_winning = scored.score.is_some_and(|score| score >= limit);
            count(&mut self.losing_moves[own], is_losing);
            count(&mut self.winning_moves[own], is_winning);
            let loses = |seat: &Seat| {
                self.losing_moves[seat.index()] >= resign.consecutive_moves
                    && (!resign.is_two_sided
                        || self.winning_moves[seat.other().index()] >= resign.consecutive_moves)
            };
            if let Some(loser) = Seat::ALL.iter().find(|seat| loses(seat)) {
                let winner = loser.other();
                return Some(Outcome::Decisive { winner });
            }
        }
        let draw = self.rules.draw?;
        let is_level = (scored.score).is_some_and(|score| score.abs() <= draw.score_max);
        if scored.is_irreversible || !is_level {
            self.level_moves = [0; 2];
        } else {
            self.level_moves[own] += 1;
        }
        let is_past_minimum = scored.plies / 2 >= draw.full_moves_min as usize;
        let is_long_enough = |moves: &u32| *moves >= draw.consecutive_moves;
        let has_been_level = self.level_moves.iter().all(is_long_enough);
        (is_past_minimum && has_been_level).then_some(Outcome::Draw)
    }
}

/// Converts a score of the search to hundredths. In games decided by points, `score_per_point` is
/// the evaluation score of one point.
pub(crate) fn to_hundredths(score: Score, score_per_point: Option<i32>) -> i32 {
    match (score.plies_to_end(), score.points()) {
        (Some(_), _) if score > Score::DRAW => MATE_SCORE,
        (Some(_), _) => -MATE_SCORE,
        (None, Some(points)) => 100 * points,
        (None, None) => 100 * score.value() / score_per_point.unwrap_or(100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn resign_rules(text: &str) -> AdjudicationRules {
        AdjudicationRules {
            resign: Some(ResignRule::parse(&split_words(text)).expect(text)),
            draw: None,
        }
    }

    fn draw_rules(text: &str) -> AdjudicationRules {
        AdjudicationRules {
            resign: None,
            draw: Some(DrawRule::parse(&split_words(text)).expect(text)),
        }
    }

    /// Adjudicates a game in which the engines report the given scores, one for each ply. The first
    /// seat moves first. Returns the last ply and the result.
    fn adjudicate_game(
        rules: AdjudicationRules,
        scores: &[Option<i32>],
        irreversible: &[usize],
    ) -> Option<(usize, Outcome)> {
        let mut adjudicator = Adjudicator::new(rules);
        scores.iter().enumerate().find_map(|(ply, score)| {
            let ruling = adjudicator.adjudicate_move(ScoredMove {
                seat: Seat::ALL[ply % 2],
                score: *score,
                plies: ply + 1,
                is_irreversible: irreversible.contains(&(ply + 1)),
            });
            ruling.map(|ruling| (ply + 1, ruling))
        })
    }

    fn to_scores(scores: &[i32]) -> Vec<Option<i32>> {
        scores.iter().copied().map(Some).collect()
    }

    #[test]
    fn low_score_for_the_required_moves_loses() {
        let rules = resign_rules("movecount=2 score=500");
        let first_wins = Some((
            4,
            Outcome::Decisive {
                winner: Seat::First,
            },
        ));
        assert_eq!(
            adjudicate_game(rules, &to_scores(&[0, -500, 0, -900]), &[]),
            first_wins
        );
        let second_wins = Some((
            3,
            Outcome::Decisive {
                winner: Seat::Second,
            },
        ));
        assert_eq!(
            adjudicate_game(rules, &to_scores(&[-MATE_SCORE, 0, -MATE_SCORE]), &[]),
            second_wins
        );
        // A score above the losing threshold or a missing score resets the count of losing moves.
        let scores = to_scores(&[0, -500, 0, -499, 0, -500]);
        assert_eq!(adjudicate_game(rules, &scores, &[]), None);
        let scores = [Some(-700), None, None, None, Some(-700)];
        assert_eq!(adjudicate_game(rules, &scores, &[]), None);
        assert_eq!(adjudicate_game(rules, &[None; 50], &[]), None);
    }

    #[test]
    fn two_sided_resignation_requires_the_winners_score() {
        let rules = resign_rules("movecount=2 score=500 twosided=true");
        assert_eq!(
            adjudicate_game(rules, &to_scores(&[499, -900, 499, -900, 0, -900]), &[]),
            None
        );
        let first_wins = |ply| {
            Some((
                ply,
                Outcome::Decisive {
                    winner: Seat::First,
                },
            ))
        };
        assert_eq!(
            adjudicate_game(rules, &to_scores(&[0, -900, 0, -900, 500, -900, 500]), &[]),
            first_wins(7)
        );
        assert_eq!(
            adjudicate_game(rules, &to_scores(&[500, -500, 600, -600]), &[]),
            first_wins(4)
        );
        // If the opponent reports no score, a two-sided resign rule must not end the game.
        let silent = [None, Some(-900)].repeat(9);
        assert_eq!(adjudicate_game(rules, &silent, &[]), None);
    }

    #[test]
    fn level_scores_for_the_required_moves_are_a_draw() {
        let drawn = |ply| Some((ply, Outcome::Draw));
        let rules = draw_rules("movenumber=0 movecount=2 score=10");
        assert_eq!(
            adjudicate_game(rules, &to_scores(&[10, -10, 0, 5]), &[]),
            drawn(4)
        );
        assert_eq!(
            adjudicate_game(rules, &to_scores(&[10, -11, 0, 5, 0, 0]), &[]),
            drawn(6)
        );
        // An irreversible move, for example a capture, must reset both engines' counts of moves
        // with a score near zero.
        assert_eq!(adjudicate_game(rules, &to_scores(&[0; 9]), &[2]), drawn(6));
        assert_eq!(adjudicate_game(rules, &to_scores(&[0; 4]), &[4]), None);
        let late = draw_rules("movenumber=5 movecount=1 score=0");
        assert_eq!(adjudicate_game(late, &to_scores(&[0; 20]), &[]), drawn(10));
        let one_silent = [Some(0), None].repeat(20);
        assert_eq!(adjudicate_game(rules, &one_silent, &[]), None);
    }

    #[test]
    fn incomplete_or_invalid_rules_are_refused() {
        for (text, expected) in [
            ("movecount=3", "score= is missing"),
            ("score=300", "movecount= is missing"),
            ("movecount=0 score=300", "from 1 to"),
            ("movecount=3 score=-300", "from 1 to"),
            ("movecount=3 score=3.5", "from 1 to"),
            ("movecount=3 score=3 twosided=yes", "true or false"),
            ("movecount=3 score=3 score=4", "given twice"),
            ("movecount=3 score", "KEY=VALUE"),
            ("movenumber=3 score=3", "one of movecount, score, twosided"),
        ] {
            let error = ResignRule::parse(&split_words(text)).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
        for (text, expected) in [
            ("movenumber=40 movecount=8", "score= is missing"),
            ("movecount=8 score=10", "movenumber= is missing"),
            ("movenumber=40 movecount=8 score=-1", "from 0 to"),
            ("movenumber=x movecount=8 score=1", "from 0 to"),
        ] {
            let error = DrawRule::parse(&split_words(text)).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn search_scores_are_converted_to_hundredths() {
        assert_eq!(to_hundredths(Score::estimate(-35), None), -35);
        assert_eq!(to_hundredths(Score::estimate(18), Some(12)), 150);
        assert_eq!(to_hundredths(Score::win_by_points(-4), Some(12)), -400);
        assert_eq!(to_hundredths(Score::win_in(3), None), MATE_SCORE);
        assert_eq!(to_hundredths(Score::loss_in(3), Some(12)), -MATE_SCORE);
    }
}
