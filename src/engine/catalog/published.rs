//! How the levels are rated that everybody can play: one table, on the scale of the players' ratings.

use crate::search::Level;

/// The ratings of the levels in each game, the weakest level first. They come from `plyhouse tournament` and
/// `plyhouse match`: differences of Elo, put on the scale on which `medium` is 1500. Who has beaten another
/// in all games is taken to be 800 above.
const PUBLISHED: [(&str, [i32; 5]); 7] = [
    ("tic-tac-toe", [1195, 1343, 1500, 1603, 1673]),
    ("connect-four", [1128, 1345, 1500, 1782, 2118]),
    ("othello", [632, 1327, 1500, 1949, 2676]),
    ("draughts", [761, 1205, 1500, 1795, 2411]),
    ("chess", [216, 1016, 1500, 2266, 3032]),
    ("gomoku", [884, 1192, 1500, 1741, 1918]),
    ("go", [442, 1118, 1500, 1776, 1923]),
];

/// The rating of a level in a game, which never changes by what is played.
#[must_use]
pub fn published(game: &str, level: Level) -> i32 {
    let of_game = PUBLISHED.iter().find(|(id, _)| *id == game);
    // A game without a row has levels that are as far apart as in most others.
    let ratings = of_game.map_or([1000, 1250, 1500, 1750, 2000], |(_, ratings)| *ratings);
    ratings[level as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::CATALOG;

    #[test]
    fn every_game_has_ratings_of_its_levels() {
        assert_eq!(PUBLISHED.len(), CATALOG.len());
        for entry in &CATALOG {
            let id = entry.info.id;
            assert!(PUBLISHED.iter().any(|(game, _)| *game == id), "{id}");
            let ratings = Level::ALL.map(|level| published(id, level));
            assert!(ratings.is_sorted(), "{id}");
            assert_eq!(published(id, Level::Medium), 1500, "{id}");
        }
    }
}
