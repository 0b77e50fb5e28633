//! Ends games that the players' own scores have decided, as `-resign` and `-draw` of cutechess do.
//!
//! Scores are in hundredths of a pawn, or of a point in games that points decide. A player that reports no
//! score never ends a game: a move without one starts each count again.

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Score;

/// Score of a mate, beyond all scores that a user can ask for.
const MATE: i32 = 1_000_000;

/// Greatest score that a user can ask for.
const SCORE_MAX: i32 = 100_000;

/// Greatest number of moves that a user can ask for.
const MOVES_MAX: u32 = 10_000;

/// When a game is ended before its rules end it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Adjudication {
    pub(super) resign: Option<Resign>,
    pub(super) draw: Option<Draw>,
}

/// A player loses whose score was low enough for long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resign {
    /// Number of the player's consecutive moves.
    moves: u32,
    /// How far below zero the score is at least.
    score: i32,
    /// Whether the opponent's score has to be as high for as long.
    is_two_sided: bool,
}

/// A game is drawn in which both scores were near zero for long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draw {
    /// Number of full moves of the game, before which it goes on.
    from: u32,
    /// Number of consecutive moves of each player.
    moves: u32,
    /// How far from zero the scores are at most.
    score: i32,
}

impl Resign {
    /// Reads `movecount=N score=S [twosided=true]`.
    pub(super) fn read(words: &[String]) -> Result<Self, String> {
        let [moves, score, two_sided] = values(words, ["movecount", "score", "twosided"])?;
        Ok(Self {
            moves: number("movecount", moves, 1, MOVES_MAX)?,
            score: number("score", score, 1, SCORE_MAX)?,
            is_two_sided: match two_sided {
                None | Some("false") => false,
                Some("true") => true,
                Some(other) => return Err(format!("twosided is true or false, not {other:?}")),
            },
        })
    }
}

impl Draw {
    /// Reads `movenumber=N movecount=M score=S`.
    pub(super) fn read(words: &[String]) -> Result<Self, String> {
        let [from, moves, score] = values(words, ["movenumber", "movecount", "score"])?;
        Ok(Self {
            from: number("movenumber", from, 0, MOVES_MAX)?,
            moves: number("movecount", moves, 1, MOVES_MAX)?,
            score: number("score", score, 0, SCORE_MAX)?,
        })
    }
}

/// The values of these keys among words that are `KEY=VALUE`; `None` for a key that is missing.
fn values<'a, const N: usize>(
    words: &'a [String],
    keys: [&str; N],
) -> Result<[Option<&'a str>; N], String> {
    let mut values = [None; N];
    for word in words {
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| format!("{word} is to be KEY=VALUE"))?;
        let place = keys.iter().position(|known| *known == key);
        let place = place.ok_or_else(|| format!("{key} is none of {}", keys.join(", ")))?;
        if values[place].replace(value).is_some() {
            return Err(format!("{key} is given twice"));
        }
    }
    Ok(values)
}

/// A number that is given, from the least to the greatest.
fn number<T>(key: &str, value: Option<&str>, least: T, greatest: T) -> Result<T, String>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    let value = value.ok_or_else(|| format!("{key}= is missing"))?;
    let number = value.parse().ok();
    number
        .filter(|number| (&least..=&greatest).contains(&number))
        .ok_or_else(|| format!("{key} is a number from {least} to {greatest}, not {value:?}"))
}

/// Counts the scores of one game.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adjudicator {
    rules: Adjudication,
    /// Consecutive moves of each seat with a score that loses, wins or is near zero.
    losing: [u32; 2],
    winning: [u32; 2],
    level: [u32; 2],
}

/// How a game is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    /// This seat has won.
    Won(Seat),
    Drawn,
}

/// A move that was just played.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored {
    pub(super) seat: Seat,
    /// What the player thinks of the position before the move.
    pub(super) score: Option<i32>,
    /// Plies of the game, those of its opening included.
    pub(super) plies: usize,
    /// Whether no earlier position can come again, as after a capture or a pawn's move.
    pub(super) is_irreversible: bool,
}

impl Adjudicator {
    pub(super) const fn new(rules: Adjudication) -> Self {
        Self {
            rules,
            losing: [0; 2],
            winning: [0; 2],
            level: [0; 2],
        }
    }

    /// Takes in a move, and says whether the game ends with it.
    pub(super) fn judge(&mut self, played: Scored) -> Option<Ruling> {
        let own = played.seat.index();
        if let Some(resign) = self.rules.resign {
            let count =
                |counter: &mut u32, meets: bool| *counter = if meets { *counter + 1 } else { 0 };
            let meets = |test: fn(i32, i32) -> bool| {
                played.score.is_some_and(|score| test(score, resign.score))
            };
            count(&mut self.losing[own], meets(|score, limit| score <= -limit));
            count(&mut self.winning[own], meets(|score, limit| score >= limit));
            let loses = |seat: &Seat| {
                self.losing[seat.index()] >= resign.moves
                    && (!resign.is_two_sided || self.winning[seat.other().index()] >= resign.moves)
            };
            if let Some(loser) = Seat::ALL.iter().find(|seat| loses(seat)) {
                return Some(Ruling::Won(loser.other()));
            }
        }
        let draw = self.rules.draw?;
        let is_level = played.score.is_some_and(|score| score.abs() <= draw.score);
        if played.is_irreversible || !is_level {
            self.level = [0; 2];
        } else {
            self.level[own] += 1;
        }
        let is_late = played.plies / 2 >= draw.from as usize;
        let has_been_level = self.level.iter().all(|moves| *moves >= draw.moves);
        (is_late && has_been_level).then_some(Ruling::Drawn)
    }
}

/// A score of a search, in hundredths. `point` is how much of an estimate makes a point, in games that points
/// decide.
pub(super) fn hundredths(score: Score, point: Option<i32>) -> i32 {
    match (score.plies_to_end(), score.points()) {
        (Some(_), _) if score > Score::DRAW => MATE,
        (Some(_), _) => -MATE,
        (None, Some(points)) => 100 * points,
        (None, None) => 100 * score.value() / point.unwrap_or(100),
    }
}

/// The score of a line `info … score cp N …` or `info … score mate N …`. Bounds, and lines of play other than
/// the best, have none.
pub(super) fn uci_score(line: &str) -> Option<i32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.first() != Some(&"info") {
        return None;
    }
    // What follows these words is a text or moves.
    let ends = |word: &&str| matches!(*word, "string" | "pv" | "refutation" | "currline");
    let words = &words[..words.iter().position(ends).unwrap_or(words.len())];
    let after = |key: &str| {
        let place = words.iter().position(|word| *word == key)?;
        words.get(place + 1..)
    };
    if after("multipv").is_some_and(|rest| rest.first() != Some(&"1")) {
        return None;
    }
    let [kind, number, rest @ ..] = after("score")? else {
        return None;
    };
    if matches!(rest.first(), Some(&("lowerbound" | "upperbound"))) {
        return None;
    }
    let number: i32 = number.parse().ok()?;
    match *kind {
        "cp" => Some(number.clamp(-MATE, MATE)),
        "mate" if number > 0 => Some(MATE),
        "mate" => Some(-MATE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn resign(text: &str) -> Adjudication {
        Adjudication {
            resign: Some(Resign::read(&words(text)).expect(text)),
            draw: None,
        }
    }

    fn draw(text: &str) -> Adjudication {
        Adjudication {
            resign: None,
            draw: Some(Draw::read(&words(text)).expect(text)),
        }
    }

    /// The ply after which a game with these scores ends, and how. The first seat moves first.
    fn ruling(
        rules: Adjudication,
        scores: &[Option<i32>],
        irreversible: &[usize],
    ) -> Option<(usize, Ruling)> {
        let mut adjudicator = Adjudicator::new(rules);
        scores.iter().enumerate().find_map(|(ply, score)| {
            let ruling = adjudicator.judge(Scored {
                seat: Seat::ALL[ply % 2],
                score: *score,
                plies: ply + 1,
                is_irreversible: irreversible.contains(&(ply + 1)),
            });
            ruling.map(|ruling| (ply + 1, ruling))
        })
    }

    fn of(scores: &[i32]) -> Vec<Option<i32>> {
        scores.iter().copied().map(Some).collect()
    }

    #[test]
    fn player_with_a_low_score_for_long_enough_loses() {
        let rules = resign("movecount=2 score=500");
        let first_wins = Some((4, Ruling::Won(Seat::First)));
        assert_eq!(ruling(rules, &of(&[0, -500, 0, -900]), &[]), first_wins);
        let second_wins = Some((3, Ruling::Won(Seat::Second)));
        assert_eq!(ruling(rules, &of(&[-MATE, 0, -MATE]), &[]), second_wins);
        // The count starts again with a better score, and with a move without a score.
        let scores = of(&[0, -500, 0, -499, 0, -500]);
        assert_eq!(ruling(rules, &scores, &[]), None);
        let scores = [Some(-700), None, None, None, Some(-700)];
        assert_eq!(ruling(rules, &scores, &[]), None);
        assert_eq!(ruling(rules, &[None; 50], &[]), None);
    }

    #[test]
    fn two_sided_resignation_needs_the_winner_to_agree() {
        let rules = resign("movecount=2 score=500 twosided=true");
        assert_eq!(
            ruling(rules, &of(&[499, -900, 499, -900, 0, -900]), &[]),
            None
        );
        let first_wins = |ply| Some((ply, Ruling::Won(Seat::First)));
        assert_eq!(
            ruling(rules, &of(&[0, -900, 0, -900, 500, -900, 500]), &[]),
            first_wins(7)
        );
        assert_eq!(
            ruling(rules, &of(&[500, -500, 600, -600]), &[]),
            first_wins(4)
        );
        // An opponent that reports no score never agrees.
        let silent = [None, Some(-900)].repeat(9);
        assert_eq!(ruling(rules, &silent, &[]), None);
    }

    #[test]
    fn level_scores_for_long_enough_are_a_draw() {
        let drawn = |ply| Some((ply, Ruling::Drawn));
        let rules = draw("movenumber=0 movecount=2 score=10");
        assert_eq!(ruling(rules, &of(&[10, -10, 0, 5]), &[]), drawn(4));
        assert_eq!(ruling(rules, &of(&[10, -11, 0, 5, 0, 0]), &[]), drawn(6));
        // Captures and pawn moves start the count again.
        assert_eq!(ruling(rules, &of(&[0; 9]), &[2]), drawn(6));
        assert_eq!(ruling(rules, &of(&[0; 4]), &[4]), None);
        let late = draw("movenumber=5 movecount=1 score=0");
        assert_eq!(ruling(late, &of(&[0; 20]), &[]), drawn(10));
        let one_silent = [Some(0), None].repeat(20);
        assert_eq!(ruling(rules, &one_silent, &[]), None);
    }

    #[test]
    fn options_need_all_their_numbers() {
        for (text, why) in [
            ("movecount=3", "score= is missing"),
            ("score=300", "movecount= is missing"),
            ("movecount=0 score=300", "from 1 to"),
            ("movecount=3 score=-300", "from 1 to"),
            ("movecount=3 score=3.5", "from 1 to"),
            ("movecount=3 score=3 twosided=yes", "true or false"),
            ("movecount=3 score=3 score=4", "given twice"),
            ("movecount=3 score", "KEY=VALUE"),
            ("movenumber=3 score=3", "none of movecount, score, twosided"),
        ] {
            let refused = Resign::read(&words(text)).expect_err(text);
            assert!(refused.contains(why), "{text}: {refused}");
        }
        for (text, why) in [
            ("movenumber=40 movecount=8", "score= is missing"),
            ("movecount=8 score=10", "movenumber= is missing"),
            ("movenumber=40 movecount=8 score=-1", "from 0 to"),
            ("movenumber=x movecount=8 score=1", "from 0 to"),
        ] {
            let refused = Draw::read(&words(text)).expect_err(text);
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }

    #[test]
    fn scores_of_uci_are_read() {
        for (line, score) in [
            ("info depth 9 score cp -35 nodes 20 pv e2e4", Some(-35)),
            ("info depth 9 multipv 1 score mate 3 pv e2e4", Some(MATE)),
            ("info score mate -1", Some(-MATE)),
            ("info score mate 0", Some(-MATE)),
            ("info score cp 12 lowerbound nodes 7", None),
            ("info score cp 12 upperbound", None),
            ("info depth 9 multipv 2 score cp 99", None),
            ("info string score cp 99", None),
            ("info nodes 5 pv e2e4 score cp 99", None),
            ("info depth 9 score cp", None),
            ("info score cp 99999999999", None),
            ("bestmove e2e4", None),
            ("", None),
        ] {
            assert_eq!(uci_score(line), score, "{line}");
        }
    }

    #[test]
    fn scores_of_a_search_are_hundredths() {
        assert_eq!(hundredths(Score::estimate(-35), None), -35);
        assert_eq!(hundredths(Score::estimate(18), Some(12)), 150);
        assert_eq!(hundredths(Score::win_by_points(-4), Some(12)), -400);
        assert_eq!(hundredths(Score::win_in(3), None), MATE);
        assert_eq!(hundredths(Score::loss_in(3), Some(12)), -MATE);
    }
}
