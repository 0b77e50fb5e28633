//! Stones on the board before the first move, for engine protocols that place stones one by one.

use plyhouse_protocol::GameSummary;

use crate::conventions::Conventions;
use crate::view;

/// Parses the position of a game with black and white stones. Returns each stone as its owner's
/// seat and its square in wire notation, or `None` if the position cannot be parsed or contains
/// other pieces.
pub(super) fn parse_stones(position: &str, game: &GameSummary) -> Option<Vec<(usize, String)>> {
    let conventions = Conventions::for_game(&game.game);
    let (files, ranks) = (game.files.try_into().ok()?, game.ranks.try_into().ok()?);
    let stones = view::pieces_with_squares(conventions, position, files, ranks)?;
    let stones = stones.into_iter().map(|(letter, square)| match letter {
        'b' => Some((0, square)),
        'w' => Some((1, square)),
        _ => None,
    });
    stones.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stones_text(game: &str, side: u64, position: &str) -> Option<String> {
        let game = GameSummary {
            game: game.to_owned(),
            title: game.to_owned(),
            sides: ["black", "white"].map(str::to_owned),
            files: side,
            ranks: side,
            record_extension: None,
            draw_offers: true,
        };
        let stones = parse_stones(position, &game)?;
        let stones = stones.iter().map(|(seat, at)| format!("{seat}{at}"));
        Some(stones.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn stones_use_wire_square_names() {
        let rows = [".........", "........b", "..w......"];
        let rows_below = ["."; 6].map(|_| rows[0]).join("/");
        let go = format!("{}/{rows_below} w 0 0 0 3", rows.join("/"));
        assert_eq!(stones_text("go", 9, &go), Some("0J8 1C7".to_owned()));
        let gomoku = format!("{}b13w/15", "15/".repeat(13));
        let stones = stones_text("gomoku", 15, &gomoku);
        assert_eq!(stones, Some("0a2 1o2".to_owned()));
        for (game, position) in [("go", "8/8"), ("gomoku", "x14"), ("chess", "15")] {
            assert_eq!(stones_text(game, 15, position), None, "{position}");
        }
    }
}
