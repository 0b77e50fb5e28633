//! Report on a tournament, written either as a JSON object or as text tables.

use std::fmt;

use plyhouse_cli::count_text;
use plyhouse_engine::search::LEVELS_VERSION;
use serde::Serialize;

use super::TournamentPlan;
use crate::engine_match::elo_interval::round_to;
use crate::engine_match::match_report::PairResult;
use crate::engine_match::{EloInterval, Pairing, Ratings};

#[derive(Debug, Serialize)]
pub(super) struct TournamentReport {
    game: &'static str,
    levels_version: u32,
    games_per_pair: usize,
    opening_plies: u32,
    nodes: Option<u64>,
    seed: u64,
    /// Players in descending order of levels, with the random player last. The order does not
    /// depend on the ratings.
    players: Vec<PlayerRow>,
    /// Results of every pair of players. In each row, `player` precedes `opponent` in the list of
    /// players.
    pairs: Vec<PairRow>,
}

/// Row of the report for one player, with the player's rating and total score against all other
/// players.
#[derive(Debug, Serialize)]
struct PlayerRow {
    player: String,
    rating: EloInterval,
    /// Rating of this player minus the rating of the player in the next row.
    #[serde(rename = "step")]
    gap_to_next: Option<EloInterval>,
    score: f64,
    games: u32,
}

/// Results of the games between two players, from the point of view of `player`.
#[derive(Debug, Serialize)]
struct PairRow {
    #[serde(flatten)]
    result: PairResult,
    difference: EloInterval,
    superiority: f64,
}

impl TournamentReport {
    pub(super) fn new(plan: &TournamentPlan, pairings: &[Pairing]) -> Self {
        let ratings = Ratings::fit(plan.players.len(), pairings);
        let highest_first = (0..plan.players.len()).rev();
        let name = |index: usize| plan.players[index].to_string();
        Self {
            game: plan.game.info.id,
            levels_version: LEVELS_VERSION,
            games_per_pair: 2 * plan.opening_count,
            opening_plies: plan.opening_plies,
            nodes: plan.limits.nodes,
            seed: plan.seed,
            players: highest_first
                .map(|index| PlayerRow::new(name(index), index, &ratings, pairings))
                .collect(),
            pairs: pairings
                .iter()
                .rev()
                .map(|pairing| PairRow::new(pairing, name))
                .collect(),
        }
    }
}

impl PlayerRow {
    fn new(player: String, index: usize, ratings: &Ratings, pairings: &[Pairing]) -> Self {
        let own_tallies = pairings.iter().filter_map(|pairing| match pairing.players {
            [first, _] if first == index => Some(pairing.tally),
            [_, second] if second == index => Some(pairing.tally.reversed()),
            [_, _] => None,
        });
        let (points, games) = own_tallies.fold((0.0, 0), |(points, games), tally| {
            (points + tally.points(), games + tally.game_count())
        });
        let rating_above = |other| ratings.elo_difference(index, other).to_rounded_interval();
        Self {
            player,
            rating: rating_above(0),
            gap_to_next: index.checked_sub(1).map(rating_above),
            score: round_to(points / f64::from(games), 4),
            games,
        }
    }
}

impl PairRow {
    fn new(pairing: &Pairing, name: impl Fn(usize) -> String) -> Self {
        // The tally is reversed, because a `Pairing` lists the lower level first and a row of the
        // report lists the higher level first.
        let [opponent, player] = pairing.players.map(name);
        let tally = pairing.tally.reversed();
        Self {
            result: PairResult::new([player, opponent], tally),
            difference: tally.elo_difference().to_rounded_interval(),
            superiority: round_to(tally.likelihood_of_superiority(), 4),
        }
    }
}

const PLAYER_COLUMNS: &str =
    "player        Elo  95% interval       step  95% interval      score   games";
const PAIR_COLUMNS: &str =
    "pair                    games   wins  draws  losses   score     Elo  95% interval       LOS";

impl fmt::Display for TournamentReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (game, games, seed) = (self.game, self.games_per_pair, self.seed);
        let openings = count_text(games as u64 / 2, ["opening", "openings"]);
        let plies = count_text(self.opening_plies.into(), ["ply", "plies"]);
        write!(
            f,
            "{game}: {games} games per pair from {openings} of {plies}"
        )?;
        if let Some(nodes) = self.nodes {
            write!(f, ", at most {nodes} nodes per move")?;
        }
        writeln!(f, ", seed {seed}\n\n{PLAYER_COLUMNS}")?;
        self.players.iter().try_for_each(|row| row.fmt(f))?;
        writeln!(f, "\n{PAIR_COLUMNS}")?;
        self.pairs.iter().try_for_each(|row| row.fmt(f))
    }
}

impl fmt::Display for PlayerRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The last row is the random player. The rating of this player is 0 by definition, so it
        // has no interval.
        let intervals = self.gap_to_next.map_or_else(String::new, |step| {
            let [rating, gap] = [self.rating, step].map(format_interval);
            format!("{rating:<16}{:>+7.0}  {gap}", step.elo)
        });
        writeln!(
            f,
            "{:<10}{:>7.0}  {intervals:<41}{:>7}{:>8}",
            self.player,
            self.rating.elo,
            format_percent(self.score),
            self.games
        )
    }
}

impl fmt::Display for PairRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = &self.result;
        writeln!(
            f,
            "{:<22}{:>7}{:>7}{:>7}{:>8}{:>8}{:>+8.0}  {:<16}{:>6}",
            format!("{} - {}", result.player, result.opponent),
            result.games,
            result.wins,
            result.draws,
            result.losses,
            format_percent(result.score),
            self.difference.elo,
            format_interval(self.difference),
            format_percent(self.superiority),
        )
    }
}

fn format_percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn format_interval(EloInterval { low, high, .. }: EloInterval) -> String {
    format!("{low:+.0} to {high:+.0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn elo(elo: f64, low: f64, high: f64) -> EloInterval {
        EloInterval { elo, low, high }
    }

    #[test]
    fn table_columns_are_aligned() {
        let player = |player: &str, rating, step, score| PlayerRow {
            player: player.to_owned(),
            rating,
            gap_to_next: step,
            score,
            games: 2000,
        };
        let report = TournamentReport {
            game: "some-game",
            levels_version: 1,
            games_per_pair: 400,
            opening_plies: 4,
            nodes: Some(5000),
            seed: 7,
            players: vec![
                player(
                    "beginner",
                    elo(-12.4, -1012.5, 1005.6),
                    Some(elo(-12.4, -40.0, 9.9)),
                    1.0,
                ),
                player("random", elo(0.0, 0.0, 0.0), None, 0.005),
            ],
            pairs: vec![PairRow {
                result: PairResult {
                    player: "beginner".to_owned(),
                    opponent: "random".to_owned(),
                    games: 400,
                    wins: 100,
                    draws: 50,
                    losses: 250,
                    score: 0.3125,
                },
                difference: elo(-137.0, -170.2, -103.7),
                superiority: 0.0,
            }],
        };
        let expected = "\
some-game: 400 games per pair from 200 openings of 4 plies, at most 5000 nodes per move, seed 7

player        Elo  95% interval       step  95% interval      score   games
beginner      -12  -1012 to +1006      -12  -40 to +10       100.0%    2000
random          0                                              0.5%    2000

pair                    games   wins  draws  losses   score     Elo  95% interval       LOS
beginner - random         400    100     50     250   31.2%    -137  -170 to -104      0.0%
";
        assert_eq!(report.to_string(), expected);
    }
}
