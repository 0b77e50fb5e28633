//! The positions that the games of a tournament begin with.

use std::collections::HashSet;

use super::Plan;
use plyhouse_engine::catalog::{AnyPosition, Entry};
use plyhouse_engine::game::GameInfo;
use plyhouse_engine::search::chance::Chance;

/// How many draws in a row may bring nothing new, for each opening there is and one more, before it
/// is believed that there are no others. The last of n that are as likely is missed by this many
/// draws with a probability of e^-100.
const FRUITLESS_DRAWS: usize = 100;

/// The plan asks for more openings than there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{wanted} different openings are needed, and only {found} of {plies} plies were found: \
     play fewer games, or take longer openings"
)]
pub struct TooFewOpenings {
    /// How many openings the plan asks for.
    pub wanted: usize,
    /// How many different ones were found.
    pub found: usize,
    /// How long they are.
    pub plies: u32,
}

/// How many random plies suit a game: enough for some hundred different openings, and so few that
/// most of the game is still to play. A tenth of the longest game, at least 3 and at most 8.
#[must_use]
pub fn default_plies(game: &GameInfo) -> u32 {
    (game.plies_max / 10).clamp(3, 8)
}

/// Draws as many openings as the plan asks for, no two of them the same position and none at the
/// end of the game.
pub(super) fn draw(plan: &Plan) -> Result<Vec<Box<dyn AnyPosition>>, TooFewOpenings> {
    let mut chance = Chance::new(plan.seed, "openings");
    let mut seen = HashSet::new();
    let mut openings = Vec::new();
    let mut fruitless = 0;
    while openings.len() < plan.openings {
        let pos = random_plies(plan.game, plan.opening_plies, &mut chance);
        if pos.outcome().is_none() && seen.insert(pos.to_string()) {
            openings.push(pos);
            fruitless = 0;
        } else if fruitless < FRUITLESS_DRAWS * (openings.len() + 1) {
            fruitless += 1;
        } else {
            return Err(TooFewOpenings {
                wanted: plan.openings,
                found: openings.len(),
                plies: plan.opening_plies,
            });
        }
    }
    Ok(openings)
}

/// The position after that many random plies, or at the end of the game if that comes before.
fn random_plies(game: &Entry, plies: u32, chance: &mut Chance) -> Box<dyn AnyPosition> {
    let mut pos = game.start();
    for _ in 0..plies {
        let moves = pos.legal_moves();
        if moves.is_empty() {
            break;
        }
        let m = &moves[chance.below(moves.len())];
        pos.play(m).expect("it is among the legal moves");
    }
    pos
}
