//! Ratings of the bot levels, on the same scale as the ratings of players.

use crate::search::Level;

/// Elo ratings of the bot levels in each game, weakest level first. The ratings of each game are
/// shifted so that the level `medium` has the rating 1500.
///
/// The ratings of a game are a single Bradley-Terry fit to all results of `plyhouse tournament GAME
/// --nodes 20000 --games N`. N was 400 in tic-tac-toe and Connect Four, 200 in Othello, 100 in
/// chess, 60 in Gomoku and 40 in draughts. For Go, the rating differences between the levels come
/// from a table in `src/book/strength.md`.
const LEVEL_RATINGS: [(&str, [i32; 5]); 7] = [
    ("tic-tac-toe", [1243, 1397, 1500, 1582, 1594]),
    ("connect-four", [1129, 1346, 1500, 1785, 2127]),
    ("othello", [970, 1381, 1500, 1941, 2722]),
    ("draughts", [906, 1363, 1500, 1783, 2199]),
    ("chess", [447, 1018, 1500, 2034, 2575]),
    ("gomoku", [723, 1066, 1500, 1662, 1814]),
    ("go", [442, 1118, 1500, 1776, 1923]),
];

/// Returns the rating of a bot level in a game. Match results do not change this rating.
#[must_use]
pub fn level_rating(game: &str, level: Level) -> i32 {
    let of_game = LEVEL_RATINGS.iter().find(|(id, _)| *id == game);
    // Default ratings for a game that is missing from `LEVEL_RATINGS`. Neighbouring levels differ
    // by 250 points, which is typical of the other games.
    let ratings = of_game.map_or([1000, 1250, 1500, 1750, 2000], |(_, ratings)| *ratings);
    ratings[level as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::CATALOG;

    #[test]
    fn every_game_has_level_ratings() {
        assert_eq!(LEVEL_RATINGS.len(), CATALOG.len());
        for entry in &CATALOG {
            let id = entry.info.id;
            assert!(LEVEL_RATINGS.iter().any(|(game, _)| *game == id), "{id}");
            let ratings = Level::ALL.map(|level| level_rating(id, level));
            assert!(ratings.is_sorted(), "{id}");
            assert_eq!(level_rating(id, Level::Medium), 1500, "{id}");
        }
    }
}
