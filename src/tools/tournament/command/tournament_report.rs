//! Report on a tournament. It supplies the fields of the JSON object and the cells of the text
//! tables.

use crate::tournament::{EloEstimate, Pairing, Ratings, Tally, TournamentPlan};
use plyhouse_engine::search::LEVELS_VERSION;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct TournamentReport {
    pub(super) game: &'static str,
    pub(super) levels_version: u32,
    pub(super) games_per_pair: usize,
    pub(super) opening_plies: u32,
    pub(super) nodes: Option<u64>,
    pub(super) seed: u64,
    /// Players in descending order of levels, with the random player last. The order does not
    /// depend on the ratings.
    pub(super) players: Vec<PlayerRow>,
    /// Results of every pair of players. In each row, `player` precedes `opponent` in the list of
    /// players.
    pub(super) pairs: Vec<PairRow>,
}

/// Row of the report for one player, with the player's rating and total score against all other
/// players.
#[derive(Debug, Serialize)]
pub(super) struct PlayerRow {
    pub(super) player: String,
    pub(super) rating: EloInterval,
    /// Rating of this player minus the rating of the player in the next row.
    #[serde(rename = "step")]
    pub(super) gap_to_next: Option<EloInterval>,
    pub(super) score: f64,
    pub(super) games: u32,
}

/// Results of the games between two players, from the point of view of `player`.
#[derive(Debug, Serialize)]
pub(super) struct PairRow {
    pub(super) player: String,
    pub(super) opponent: String,
    pub(super) games: u32,
    pub(super) wins: u32,
    pub(super) draws: u32,
    pub(super) losses: u32,
    pub(super) score: f64,
    pub(super) difference: EloInterval,
    pub(super) superiority: f64,
}

/// An Elo difference and its 95% confidence interval.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct EloInterval {
    pub(super) elo: f64,
    pub(super) low: f64,
    pub(super) high: f64,
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
        let (points, games) = own_tallies.fold((0.0, 0), |(points, games), tally: Tally| {
            (points + tally.points(), games + tally.game_count())
        });
        let gap_to = |below: usize| ratings.elo_difference(index, below).into();
        Self {
            player,
            rating: ratings.elo_difference(index, 0).into(),
            gap_to_next: index.checked_sub(1).map(gap_to),
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
            player,
            opponent,
            games: tally.game_count(),
            wins: tally.wins,
            draws: tally.draws,
            losses: tally.losses,
            score: round_to(tally.points() / f64::from(tally.game_count()), 4),
            difference: tally.elo_difference().into(),
            superiority: round_to(tally.likelihood_of_superiority(), 4),
        }
    }
}

impl From<EloEstimate> for EloInterval {
    fn from(estimate: EloEstimate) -> Self {
        let [low, high] = estimate.interval();
        let [elo, low, high] = [estimate.elo, low, high].map(|elo| round_to(elo, 1));
        Self { elo, low, high }
    }
}

/// Rounds to `decimals` decimal places. Further digits would differ between machines, because the
/// logarithm functions of the machines differ.
fn round_to(number: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    // Adding zero turns a negative zero into a positive zero.
    (number * scale).round() / scale + 0.0
}
