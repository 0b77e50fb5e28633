//! The positions that the games of a tournament begin with.

use std::collections::HashSet;

use plyhouse_engine::catalog::{AnyPosition, GameEntry};
use plyhouse_engine::game::GameInfo;
use plyhouse_engine::search::seeded_rng::SeededRng;

/// How many draws in a row may bring nothing new, for each opening there is and one more, before it
/// is believed that there are no others. The last of n that are as likely is missed by this many
/// draws with a probability of e^-100.
const FAILED_DRAWS_PER_OPENING_MAX: usize = 100;

/// The plan asks for more openings than there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{required} different openings are needed, and only {found} of {plies} plies were found: \
     play fewer games, or take openings of another length"
)]
pub struct TooFewOpenings {
    /// How many openings the plan asks for.
    pub required: usize,
    /// How many different ones were found.
    pub found: usize,
    /// How long they are.
    pub plies: u32,
}

/// How many random plies suit a game: enough for some hundred different openings, and so few that
/// most of the game is still to play. A tenth of the longest game, at least 3 and at most 8.
#[must_use]
pub fn default_opening_plies(game: &GameInfo) -> u32 {
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
pub(crate) fn generate_openings(
    game: &GameEntry,
    required: usize,
    plies: u32,
    seed: u64,
    is_suitable: impl Fn(&dyn AnyPosition) -> bool,
) -> Result<Vec<Opening>, TooFewOpenings> {
    let mut rng = SeededRng::new(seed, "openings");
    let mut seen_positions = HashSet::new();
    let mut openings = Vec::new();
    let mut failed_draws = 0;
    while openings.len() < required {
        let opening = play_random_plies(game, plies, &mut rng);
        let pos = opening.pos.as_ref();
        if pos.outcome().is_none() && seen_positions.insert(pos.to_string()) && is_suitable(pos) {
            openings.push(opening);
            failed_draws = 0;
        } else if failed_draws < FAILED_DRAWS_PER_OPENING_MAX * (openings.len() + 1) {
            failed_draws += 1;
        } else {
            return Err(TooFewOpenings {
                required,
                found: openings.len(),
                plies,
            });
        }
    }
    Ok(openings)
}

/// The position after that many random plies, or at the end of the game if that comes before.
fn play_random_plies(game: &GameEntry, plies: u32, rng: &mut SeededRng) -> Opening {
    let mut pos = game.initial_position();
    let mut moves = Vec::new();
    for _ in 0..plies {
        let mut legal = pos.legal_moves();
        if legal.is_empty() {
            break;
        }
        let m = legal.swap_remove(rng.next_below(legal.len()));
        pos.play(&m).expect("the move is legal");
        moves.push(m);
    }
    Opening { pos, moves }
}
