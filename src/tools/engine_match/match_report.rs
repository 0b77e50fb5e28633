//! Report of an engine match, written either as a JSON object or as text.

use std::fmt;

use plyhouse_cli::count_text;
use serde::Serialize;

use super::elo_interval::{EloInterval, round_to};
use super::head_to_head_score::{ForfeitCounts, PairingScore};
use super::sprt::{Sprt, Verdict};
use super::{EngineMatch, Ratings, Tally};

/// Singular and plural of the noun for games.
const GAMES: [&str; 2] = ["game", "games"];

/// Complete report of a match.
#[derive(Debug, Serialize)]
pub(crate) struct MatchReport {
    game: &'static str,
    /// Ratings of the engines relative to the first engine, in descending order. Empty if only two
    /// engines play.
    #[serde(rename = "standing", skip_serializing_if = "Vec::is_empty")]
    standings: Vec<Standing>,
    #[serde(rename = "pairs")]
    pairings: Vec<PairingRow>,
}

/// Rating of an engine, estimated from all its games.
#[derive(Debug, Serialize)]
struct Standing {
    player: String,
    #[serde(flatten)]
    rating: EloInterval,
}

/// Number of games that a player won, drew and lost against an opponent.
#[derive(Debug, Serialize)]
pub(crate) struct PairResult {
    pub(crate) player: String,
    pub(crate) opponent: String,
    pub(crate) games: u32,
    pub(crate) wins: u32,
    pub(crate) draws: u32,
    pub(crate) losses: u32,
    /// Fraction of the points that the player won.
    pub(crate) score: f64,
}

/// Score of a pairing, from the perspective of its first engine.
#[derive(Debug, Serialize)]
struct PairingRow {
    #[serde(flatten)]
    result: PairResult,
    /// Number of game pairs in which the first engine scored 0, 1/2, 1, 3/2 or 2 points, in this
    /// order.
    pentanomial: [u32; 5],
    /// JSON has no infinity, so infinite values are written as null.
    #[serde(flatten)]
    elo_difference: Option<EloInterval>,
    los: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sprt: Option<SprtReport>,
    /// Number of games that each engine lost by forfeit.
    #[serde(rename = "faults")]
    forfeits: [ForfeitCounts; 2],
    /// Number of games that `--resign` or `--draw` ended.
    #[serde(skip_serializing_if = "is_zero")]
    adjudicated: u32,
}

/// State of the sequential probability ratio test (SPRT).
#[derive(Clone, Copy, Debug, Serialize)]
struct SprtReport {
    elo0: f64,
    elo1: f64,
    llr: f64,
    bounds: [f64; 2],
    verdict: Verdict,
}

impl MatchReport {
    pub(crate) fn new(
        engine_match: &EngineMatch,
        scores: &[PairingScore],
        sprt: Option<Sprt>,
    ) -> Self {
        let pairs = engine_match.pairings.iter().zip(scores);
        let name = |player: usize| engine_match.engines[player].name.clone();
        Self {
            game: engine_match.game.info.id,
            standings: player_standings(engine_match, scores),
            pairings: pairs
                .map(|([player, opponent], score)| {
                    PairingRow::new([name(*player), name(*opponent)], score, sprt)
                })
                .collect(),
        }
    }

    /// Returns a summary in one line: the score of the pairing, or the number of games if the match
    /// has several pairings.
    pub(crate) fn to_summary(&self) -> String {
        match self.pairings.as_slice() {
            [row] => row.to_summary(),
            rows => {
                let games: u32 = rows.iter().map(|row| row.result.games).sum();
                let games = count_text(games.into(), GAMES);
                format!("{games} in {} pairings", rows.len())
            }
        }
    }
}

/// Returns the ratings of all engines, or an empty list if there are only two engines.
fn player_standings(engine_match: &EngineMatch, scores: &[PairingScore]) -> Vec<Standing> {
    let engines = &engine_match.engines;
    if engines.len() < 3 {
        return Vec::new();
    }
    let ratings = Ratings::fit(engines.len(), &engine_match.pairing_results(scores));
    let standings = engines.iter().enumerate().map(|(index, engine)| Standing {
        player: engine.name.clone(),
        rating: ratings.elo_difference(index, 0).to_rounded_interval(),
    });
    let mut standings: Vec<_> = standings.collect();
    standings.sort_by(|a, b| b.rating.elo.total_cmp(&a.rating.elo));
    standings
}

impl PairResult {
    pub(crate) fn new([player, opponent]: [String; 2], tally: Tally) -> Self {
        Self {
            player,
            opponent,
            games: tally.game_count(),
            wins: tally.wins,
            draws: tally.draws,
            losses: tally.losses,
            score: round_to(tally.points() / f64::from(tally.game_count().max(1)), 4),
        }
    }
}

/// Formats the counts and the score, such as `+3 =1 -2, 58.3%`.
impl fmt::Display for PairResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = 100.0 * self.score;
        write!(
            f,
            "+{} ={} -{}, {share:.1}%",
            self.wins, self.draws, self.losses
        )
    }
}

impl PairingRow {
    fn new(names: [String; 2], score: &PairingScore, sprt: Option<Sprt>) -> Self {
        let pairs = &score.pairs;
        Self {
            result: PairResult::new(names, score.tally),
            pentanomial: pairs.0,
            elo_difference: pairs.elo_difference().map(EloInterval::rounded),
            los: round_to(pairs.likelihood_of_superiority(), 4),
            sprt: sprt.map(|sprt| SprtReport {
                elo0: sprt.elo0,
                elo1: sprt.elo1,
                llr: round_to(sprt.log_likelihood_ratio(pairs), 2),
                bounds: sprt.bounds().map(|bound| round_to(bound, 2)),
                verdict: sprt.verdict(pairs),
            }),
            forfeits: score.forfeits.clone(),
            adjudicated: score.adjudicated,
        }
    }

    fn to_summary(&self) -> String {
        let mut text = self.result.to_string();
        if let Some(EloInterval { elo, low, high }) = self.elo_difference {
            text += &format!(", {elo:+.1} Elo ({low:+.1} to {high:+.1})");
        }
        if let Some(test) = self.sprt {
            text += &format!(", LLR {:.2}", test.llr);
        }
        let lost: u32 = self.forfeits.iter().map(ForfeitCounts::total).sum();
        if lost > 0 {
            text += &format!(", {lost} lost by forfeit");
        }
        text
    }
}

impl fmt::Display for MatchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Standing { player, rating } in &self.standings {
            let EloInterval { elo, low, high } = rating;
            writeln!(f, "{player:<20} {elo:>+8.1} Elo ({low:+.1} to {high:+.1})")?;
        }
        self.pairings.iter().try_for_each(|row| row.fmt(f))
    }
}

impl fmt::Display for PairingRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = &self.result;
        let (player, opponent) = (&result.player, &result.opponent);
        let games = count_text(result.games.into(), GAMES);
        writeln!(f, "{player} against {opponent}: {games}, {result}")?;
        if let Some(EloInterval { elo, low, high }) = self.elo_difference {
            let los = 100.0 * self.los;
            writeln!(
                f,
                "  {elo:+.1} Elo (95%: {low:+.1} to {high:+.1}), LOS {los:.1}%"
            )?;
        }
        let [none, half, one, more, two] = self.pentanomial;
        writeln!(
            f,
            "  pairs with 0, 0.5, 1, 1.5 and 2 points: {none} {half} {one} {more} {two}"
        )?;
        let unpaired = result.games - 2 * self.pentanomial.iter().sum::<u32>();
        if unpaired > 0 {
            writeln!(
                f,
                "  unpaired games (not in the interval or SPRT): {unpaired}"
            )?;
        }
        if let Some(sprt) = self.sprt {
            let verdict = match sprt.verdict {
                Verdict::Undecided => "undecided",
                Verdict::H0 => "H0 accepted",
                Verdict::H1 => "H1 accepted",
            };
            let (llr, [low, high]) = (sprt.llr, sprt.bounds);
            writeln!(
                f,
                "  LLR {llr:.2} ({low:.2} to {high:.2}) for {} vs. {} nElo: {verdict}",
                sprt.elo0, sprt.elo1
            )?;
        }
        if self.adjudicated > 0 {
            writeln!(f, "  adjudicated games: {}", self.adjudicated)?;
        }
        for (name, faults) in [player, opponent].into_iter().zip(&self.forfeits) {
            fmt_forfeits(f, name, faults)?;
        }
        Ok(())
    }
}

fn fmt_forfeits(f: &mut fmt::Formatter<'_>, name: &str, forfeits: &ForfeitCounts) -> fmt::Result {
    if forfeits.total() == 0 {
        return Ok(());
    }
    write!(
        f,
        "  forfeits of {name}: illegal moves {}, crashes {}, timeouts {}",
        forfeits.illegal_moves, forfeits.crashes, forfeits.timeouts
    )?;
    if let Some(refused) = &forfeits.first_refusal {
        let refusals = forfeits.refusals;
        write!(f, ", refused commands {refusals} (first: {refused})")?;
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
    use crate::engine_match::Pentanomial;

    #[test]
    fn two_player_report_shows_elo_pairs_and_sprt() {
        let tally = Tally {
            wins: 20,
            draws: 10,
            losses: 10,
        };
        let mut score = PairingScore::default();
        score.tally = tally;
        score.pairs = Pentanomial([1, 2, 8, 4, 5]);
        score.forfeits[1].timeouts = 3;
        let sprt = Sprt {
            elo0: 0.0,
            elo1: 10.0,
            alpha: 0.05,
            beta: 0.05,
        };
        let row = PairingRow::new(["new".to_owned(), "old".to_owned()], &score, Some(sprt));
        let expected = "\
new against old: 40 games, +20 =10 -10, 62.5%
  +88.7 Elo (95%: +1.7 to +188.5), LOS 97.7%
  pairs with 0, 0.5, 1, 1.5 and 2 points: 1 2 8 4 5
  LLR 0.32 (-2.94 to 2.94) for 0 vs. 10 nElo: undecided
  forfeits of old: illegal moves 0, crashes 0, timeouts 3
";
        assert_eq!(row.to_string(), expected);
        assert_eq!(
            row.to_summary(),
            "+20 =10 -10, 62.5%, +88.7 Elo (+1.7 to +188.5), LLR 0.32, 3 lost by forfeit"
        );

        // Adds a win without a complete pair. The report must list this game as a game without its
        // pair.
        score.tally.wins += 1;
        let row = PairingRow::new(["new".to_owned(), "old".to_owned()], &score, Some(sprt));
        let text = row.to_string();
        let unpaired = "  unpaired games (not in the interval or SPRT): 1\n";
        assert!(text.contains(unpaired), "{text}");
    }

    #[test]
    fn refusals_and_adjudications_are_reported_only_if_any() {
        let mut score = PairingScore::default();
        score.forfeits[0].refusals = 2;
        score.forfeits[0].first_refusal = Some("komi 7: no such command".to_owned());
        score.adjudicated = 5;
        let row = PairingRow::new(["a".to_owned(), "b".to_owned()], &score, None);
        let text = row.to_string();
        let expected = "  adjudicated games: 5
  forfeits of a: illegal moves 0, crashes 0, timeouts 0, \
  refused commands 2 (first: komi 7: no such command)
";
        assert!(text.ends_with(expected), "{text}");
        let json = serde_json::to_value(&row).expect("JSON");
        assert_eq!(json["adjudicated"], 5);
        assert_eq!(json["faults"][0]["refused"], "komi 7: no such command");
        score = PairingScore::default();
        let row = PairingRow::new(["a".to_owned(), "b".to_owned()], &score, None);
        let json = serde_json::to_value(&row).expect("JSON");
        assert_eq!(json.get("adjudicated"), None);
        assert_eq!(json["faults"][0].get("refused"), None);
    }
}
