//! What a tournament has found, as it is printed: the fields of the JSON object, and the cells of
//! the tables.

use crate::tournament::{Estimate, Pairing, Plan, Ratings, Tally};
use plyhouse_engine::search::LEVELS_VERSION;
use serde::Serialize;

/// All that is printed of a tournament.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) game: &'static str,
    pub(super) levels_version: u32,
    pub(super) games_per_pair: usize,
    pub(super) opening_plies: u32,
    pub(super) nodes: Option<u64>,
    pub(super) seed: u64,
    /// From the highest level down to the random mover: in the order of the levels, whatever they
    /// turned out to be worth.
    pub(super) players: Vec<PlayerRow>,
    /// Each player against those below it.
    pub(super) pairs: Vec<PairRow>,
}

/// What is known about a player from all games.
#[derive(Debug, Serialize)]
pub(super) struct PlayerRow {
    pub(super) player: String,
    pub(super) rating: Elo,
    /// How much stronger it is than the player of the next row.
    pub(super) step: Option<Elo>,
    pub(super) score: f64,
    pub(super) games: u32,
}

/// What is known about two players from their own games, as the first sees them.
#[derive(Debug, Serialize)]
pub(super) struct PairRow {
    pub(super) player: String,
    pub(super) opponent: String,
    pub(super) games: u32,
    pub(super) wins: u32,
    pub(super) draws: u32,
    pub(super) losses: u32,
    pub(super) score: f64,
    pub(super) difference: Elo,
    pub(super) superiority: f64,
}

/// A difference in Elo, and the interval that holds it with a certainty of 95%.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Elo {
    pub(super) elo: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Report {
    pub(super) fn new(plan: &Plan, pairings: &[Pairing]) -> Self {
        let ratings = Ratings::fit(plan.players.len(), pairings);
        let highest_first = (0..plan.players.len()).rev();
        let name = |index: usize| plan.players[index].to_string();
        Self {
            game: plan.game.info.id,
            levels_version: LEVELS_VERSION,
            games_per_pair: 2 * plan.openings,
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
        let own = pairings.iter().filter_map(|pairing| match pairing.players {
            [first, _] if first == index => Some(pairing.tally),
            [_, second] if second == index => Some(pairing.tally.reversed()),
            [_, _] => None,
        });
        let (points, games) = own.fold((0.0, 0), |(points, games), tally: Tally| {
            (points + tally.points(), games + tally.games())
        });
        let step = |below: usize| ratings.difference(index, below).into();
        Self {
            player,
            rating: ratings.difference(index, 0).into(),
            step: index.checked_sub(1).map(step),
            score: rounded(points / f64::from(games), 4),
            games,
        }
    }
}

impl PairRow {
    fn new(pairing: &Pairing, name: impl Fn(usize) -> String) -> Self {
        // A pairing begins with the lower level, a row with the higher.
        let [opponent, player] = pairing.players.map(name);
        let tally = pairing.tally.reversed();
        Self {
            player,
            opponent,
            games: tally.games(),
            wins: tally.wins,
            draws: tally.draws,
            losses: tally.losses,
            score: rounded(tally.points() / f64::from(tally.games()), 4),
            difference: tally.difference().into(),
            superiority: rounded(tally.superiority(), 4),
        }
    }
}

impl From<Estimate> for Elo {
    fn from(estimate: Estimate) -> Self {
        let [low, high] = estimate.interval();
        let [elo, low, high] = [estimate.elo, low, high].map(|elo| rounded(elo, 1));
        Self { elo, low, high }
    }
}

/// Rounded to so many decimals: more would differ between machines, whose logarithms do.
fn rounded(number: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    // Adding zero makes a negative zero positive.
    (number * scale).round() / scale + 0.0
}
