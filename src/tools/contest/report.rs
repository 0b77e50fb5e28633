//! What a contest has found: the fields of its JSON object, and the text that people read.

use std::fmt;

use serde::Serialize;

use super::Contest;
use super::pentanomial::Difference;
use super::score::{Faults, Score};
use super::sprt::{Sprt, Verdict};
use crate::tournament::{Pairing, Ratings};

/// All that is printed of a contest.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    game: &'static str,
    /// Where more than two play: from the strongest down, against the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    standing: Vec<Standing>,
    pairs: Vec<Row>,
}

/// What is known of a player from all games.
#[derive(Debug, Serialize)]
struct Standing {
    player: String,
    elo: f64,
    low: f64,
    high: f64,
}

/// What two players have scored, as the first of them sees it.
#[derive(Debug, Serialize)]
struct Row {
    player: String,
    opponent: String,
    games: u32,
    wins: u32,
    draws: u32,
    losses: u32,
    score: f64,
    /// How many pairs have which points, from none to two.
    pentanomial: [u32; 5],
    /// Infinite numbers are null.
    #[serde(flatten)]
    difference: Option<Elo>,
    los: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sprt: Option<Test>,
    /// What the two have lost by their own doing.
    faults: [Faults; 2],
    /// Games that `--resign` or `--draw` ended.
    #[serde(skip_serializing_if = "is_zero")]
    adjudicated: u32,
}

/// A difference in Elo and the interval that holds it with a certainty of 95%.
#[derive(Clone, Copy, Debug, Serialize)]
struct Elo {
    elo: f64,
    low: f64,
    high: f64,
}

/// What a test says.
#[derive(Clone, Copy, Debug, Serialize)]
struct Test {
    elo0: f64,
    elo1: f64,
    llr: f64,
    bounds: [f64; 2],
    verdict: Verdict,
}

impl Report {
    pub(super) fn new(contest: &Contest, scores: &[Score], sprt: Option<Sprt>) -> Self {
        let pairs = contest.pairings.iter().zip(scores);
        let name = |player: usize| contest.entrants[player].name.clone();
        Self {
            game: contest.game.info.id,
            standing: standing(contest, scores),
            pairs: pairs
                .map(|([player, opponent], score)| {
                    Row::new([name(*player), name(*opponent)], score, sprt)
                })
                .collect(),
        }
    }

    /// The first pair in a line.
    pub(super) fn in_short(&self) -> String {
        match self.pairs.as_slice() {
            [row] => row.in_short(),
            rows => {
                let games: u32 = rows.iter().map(|row| row.games).sum();
                format!("{games} games of {} pairs of players", rows.len())
            }
        }
    }
}

/// Ratings of all players from all games, where there are more than two.
fn standing(contest: &Contest, scores: &[Score]) -> Vec<Standing> {
    if contest.entrants.len() < 3 {
        return Vec::new();
    }
    let pairings = contest.pairings.iter().zip(scores);
    let pairings: Vec<_> = pairings
        .map(|(&players, score)| Pairing {
            players,
            tally: score.tally,
        })
        .collect();
    let ratings = Ratings::fit(contest.entrants.len(), &pairings);
    let mut standing: Vec<_> = (0..contest.entrants.len())
        .map(|player| {
            let estimate = ratings.difference(player, 0);
            let [low, high] = estimate.interval();
            Standing {
                player: contest.entrants[player].name.clone(),
                elo: rounded(estimate.elo, 1),
                low: rounded(low, 1),
                high: rounded(high, 1),
            }
        })
        .collect();
    standing.sort_by(|a, b| b.elo.total_cmp(&a.elo));
    standing
}

impl Row {
    fn new([player, opponent]: [String; 2], score: &Score, sprt: Option<Sprt>) -> Self {
        let (tally, pairs) = (score.tally, &score.pairs);
        Self {
            player,
            opponent,
            games: tally.games(),
            wins: tally.wins,
            draws: tally.draws,
            losses: tally.losses,
            score: rounded(tally.points() / f64::from(tally.games().max(1)), 4),
            pentanomial: pairs.0,
            difference: pairs.difference().map(Elo::from),
            los: rounded(pairs.superiority(), 4),
            sprt: sprt.map(|sprt| Test {
                elo0: sprt.elo0,
                elo1: sprt.elo1,
                llr: rounded(sprt.ratio(pairs), 2),
                bounds: sprt.bounds().map(|bound| rounded(bound, 2)),
                verdict: sprt.verdict(pairs),
            }),
            faults: score.faults.clone(),
            adjudicated: score.adjudicated,
        }
    }

    fn in_short(&self) -> String {
        let Self {
            wins,
            draws,
            losses,
            score,
            ..
        } = self;
        let mut text = format!("+{wins} ={draws} -{losses}, {:.1}%", 100.0 * score);
        if let Some(Elo { elo, low, high }) = self.difference {
            text += &format!(", {elo:+.1} Elo ({low:+.1} to {high:+.1})");
        }
        if let Some(test) = self.sprt {
            text += &format!(", LLR {:.2}", test.llr);
        }
        let lost: u32 = self.faults.iter().map(Faults::count).sum();
        if lost > 0 {
            text += &format!(", {lost} lost by faults");
        }
        text
    }

    /// The games whose pair has not been played to the end: intervals and tests know nothing of them.
    fn unpaired(&self) -> u32 {
        self.games - 2 * self.pentanomial.iter().sum::<u32>()
    }
}

impl From<Difference> for Elo {
    fn from(Difference { elo, low, high }: Difference) -> Self {
        let [elo, low, high] = [elo, low, high].map(|elo| rounded(elo, 1));
        Self { elo, low, high }
    }
}

/// Rounded to so many decimals: more would differ between machines, whose logarithms do.
fn rounded(number: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    // Adding zero makes a negative zero positive.
    (number * scale).round() / scale + 0.0
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Standing {
            player,
            elo,
            low,
            high,
        } in &self.standing
        {
            writeln!(f, "{player:<20} {elo:>+8.1} Elo ({low:+.1} to {high:+.1})")?;
        }
        self.pairs.iter().try_for_each(|row| row.fmt(f))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            player,
            opponent,
            games,
            wins,
            draws,
            losses,
            score,
            ..
        } = self;
        let share = 100.0 * score;
        writeln!(
            f,
            "{player} against {opponent}: {games} games, +{wins} ={draws} -{losses}, {share:.1}%"
        )?;
        if let Some(Elo { elo, low, high }) = self.difference {
            let los = 100.0 * self.los;
            writeln!(
                f,
                "  {elo:+.1} Elo (95%: {low:+.1} to {high:+.1}), LOS {los:.1}%"
            )?;
        }
        let [none, half, one, more, two] = self.pentanomial;
        writeln!(
            f,
            "  pairs by points, from 0 to 2: {none} {half} {one} {more} {two}"
        )?;
        if self.unpaired() > 0 {
            let unpaired = self.unpaired();
            writeln!(
                f,
                "  games without their pair, which no interval or test counts: {unpaired}"
            )?;
        }
        if let Some(Test {
            elo0,
            elo1,
            llr,
            bounds: [low, high],
            verdict,
        }) = self.sprt
        {
            let verdict = match verdict {
                Verdict::Open => "undecided",
                Verdict::H0 => "H0",
                Verdict::H1 => "H1",
            };
            writeln!(
                f,
                "  LLR {llr:.2} ({low:.2} to {high:.2}) for {elo0} against {elo1} nElo: {verdict}"
            )?;
        }
        if self.adjudicated > 0 {
            writeln!(f, "  adjudicated by scores: {}", self.adjudicated)?;
        }
        for (name, faults) in [player, opponent].into_iter().zip(&self.faults) {
            fmt_faults(f, name, faults)?;
        }
        Ok(())
    }
}

fn fmt_faults(f: &mut fmt::Formatter<'_>, name: &str, faults: &Faults) -> fmt::Result {
    let Faults {
        illegal,
        crashes,
        time,
        refusals,
        refused,
    } = faults;
    if faults.count() == 0 {
        return Ok(());
    }
    write!(
        f,
        "  {name} lost {illegal} by illegal moves, {crashes} by crashes, {time} on time"
    )?;
    if let Some(refused) = refused {
        write!(f, ", {refusals} by refused commands: {refused}")?;
    }
    writeln!(f)
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::Pentanomial;
    use crate::tournament::Tally;

    #[test]
    fn a_pair_of_players_is_told_in_a_few_lines() {
        let tally = Tally {
            wins: 20,
            draws: 10,
            losses: 10,
        };
        let mut score = Score::default();
        score.tally = tally;
        score.pairs = Pentanomial([1, 2, 8, 4, 5]);
        score.faults[1].time = 3;
        let sprt = Sprt {
            elo0: 0.0,
            elo1: 10.0,
            alpha: 0.05,
            beta: 0.05,
        };
        let row = Row::new(["new".to_owned(), "old".to_owned()], &score, Some(sprt));
        let expected = "\
new against old: 40 games, +20 =10 -10, 62.5%
  +88.7 Elo (95%: +1.7 to +188.5), LOS 97.7%
  pairs by points, from 0 to 2: 1 2 8 4 5
  LLR 0.32 (-2.94 to 2.94) for 0 against 10 nElo: undecided
  old lost 0 by illegal moves, 0 by crashes, 3 on time
";
        assert_eq!(row.to_string(), expected);
        assert_eq!(
            row.in_short(),
            "+20 =10 -10, 62.5%, +88.7 Elo (+1.7 to +188.5), LLR 0.32, 3 lost by faults"
        );

        // The contest ended while a pair was being played.
        score.tally.wins += 1;
        let row = Row::new(["new".to_owned(), "old".to_owned()], &score, Some(sprt));
        let told = row.to_string();
        let unpaired = "  games without their pair, which no interval or test counts: 1\n";
        assert!(told.contains(unpaired), "{told}");
    }

    #[test]
    fn refusals_and_adjudicated_games_are_told_where_there_are_any() {
        let mut score = Score::default();
        score.faults[0].refusals = 2;
        score.faults[0].refused = Some("komi 7: no such command".to_owned());
        score.adjudicated = 5;
        let row = Row::new(["a".to_owned(), "b".to_owned()], &score, None);
        let told = row.to_string();
        let expected = "  adjudicated by scores: 5
  a lost 0 by illegal moves, 0 by crashes, 0 on time, 2 by refused commands: komi 7: no such command
";
        assert!(told.ends_with(expected), "{told}");
        let json = serde_json::to_value(&row).expect("JSON");
        assert_eq!(json["adjudicated"], 5);
        assert_eq!(json["faults"][0]["refused"], "komi 7: no such command");
        score = Score::default();
        let row = Row::new(["a".to_owned(), "b".to_owned()], &score, None);
        let json = serde_json::to_value(&row).expect("JSON");
        assert_eq!(json.get("adjudicated"), None);
        assert_eq!(json["faults"][0].get("refused"), None);
    }
}
