//! The positions that the games of a tournament begin with.

use std::collections::HashSet;

use plyhouse_engine::catalog::{AnyPosition, GameEntry};
use plyhouse_engine::game::GameInfo;
use plyhouse_engine::search::seeded_rng::SeededRng;

/// How many draws in a row may bring nothing new, for each opening there is and one more, before it
/// is believed that there are no others. The last of n that are as likely is missed by this many
/// draws with a probability of e^-100.
const FRUITLESS_DRAWS: usize = 100;

/// The plan asks for more openings than there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{wanted} different openings are needed, and only {found} of {plies} plies were found: \
     play fewer games, or take openings of another length"
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

/// A position that games begin with, and the moves to it.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) pos: Box<dyn AnyPosition>,
    pub(crate) moves: Vec<String>,
}

/// Draws so many openings of so many plies, no two of them the same position, none at the end of the
/// game, and only such as are fit.
pub(crate) fn draw(
    game: &GameEntry,
    wanted: usize,
    plies: u32,
    seed: u64,
    is_fit: impl Fn(&dyn AnyPosition) -> bool,
) -> Result<Vec<Opening>, TooFewOpenings> {
    let mut chance = SeededRng::new(seed, "openings");
    let mut seen = HashSet::new();
    let mut openings = Vec::new();
    let mut fruitless = 0;
    while openings.len() < wanted {
        let opening = random_plies(game, plies, &mut chance);
        let pos = opening.pos.as_ref();
        if pos.outcome().is_none() && seen.insert(pos.to_string()) && is_fit(pos) {
            openings.push(opening);
            fruitless = 0;
        } else if fruitless < FRUITLESS_DRAWS * (openings.len() + 1) {
            fruitless += 1;
        } else {
            return Err(TooFewOpenings {
                wanted,
                found: openings.len(),
                plies,
            });
        }
    }
    Ok(openings)
}

/// The position after that many random plies, or at the end of the game if that comes before.
fn random_plies(game: &GameEntry, plies: u32, chance: &mut SeededRng) -> Opening {
    let mut pos = game.initial_position();
    let mut moves = Vec::new();
    for _ in 0..plies {
        let mut legal = pos.legal_moves();
        if legal.is_empty() {
            break;
        }
        let m = legal.swap_remove(chance.next_below(legal.len()));
        pos.play(&m).expect("it is among the legal moves");
        moves.push(m);
    }
    Opening { pos, moves }
}
