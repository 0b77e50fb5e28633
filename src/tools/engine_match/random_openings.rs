//! Random openings.

use std::collections::HashSet;

use plyhouse_engine::catalog::{AnyPosition, GameEntry};
use plyhouse_engine::game::GameInfo;
use plyhouse_engine::search::seeded_rng::SeededRng;

use super::openings::Opening;

/// Limits the number of consecutive failed attempts to find an opening. After k openings are found,
/// the generator allows k + 1 times this number. An attempt fails if it yields no new suitable
/// opening. If n openings are equally likely, the generator misses the last one with a probability
/// of about e^-100.
const FAILED_DRAWS_PER_OPENING_MAX: usize = 100;

/// Error that is returned if a game has fewer different openings than the plan requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not enough openings of length {plies}: found {found}, need {required}; play fewer games or \
     change the length"
)]
pub struct TooFewOpenings {
    /// Number of openings that the plan requires.
    pub required: usize,
    /// Number of different openings found.
    pub found: usize,
    /// Length of the openings in plies.
    pub plies: u32,
}

/// Returns the default number of random plies of an opening: a tenth of the maximum game length,
/// but at least 3 and at most 8. This gives at least a few hundred different openings and leaves
/// most of the game to the players.
pub(crate) fn default_opening_plies(game: &GameInfo) -> u32 {
    (game.plies_max / 10).clamp(3, 8)
}

/// Generates `required` random openings of `plies` plies that satisfy `is_suitable`. The positions
/// are distinct, and the game is not over in any of them.
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

/// Returns the position after `plies` random plies, or at the end of the game if the game ends
/// earlier.
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
    Opening {
        pos,
        start_position: String::new(),
        moves,
    }
}
