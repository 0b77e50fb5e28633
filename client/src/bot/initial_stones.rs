//! Stones on the board before the first move, for engine protocols that place stones one by one.

use plyhouse_protocol::GameSummary;

use crate::conventions::Conventions;
use crate::view;

/// Stones on the board before the first move of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InitialStones {
    /// Stones, each as its owner's seat and its square in wire notation.
    pub(super) stones: Vec<(usize, String)>,
    pub(super) first_seat: usize,
}

impl InitialStones {
    /// Parses the position of a game with black and white stones. Returns `None` if the position
    /// cannot be parsed or contains other pieces.
    pub(super) fn from_position(position: &str, game: &GameSummary) -> Option<Self> {
        let conventions = Conventions::for_game(&game.game);
        let (files, ranks) = (game.files.try_into().ok()?, game.ranks.try_into().ok()?);
        let stones = view::pieces_with_squares(conventions, position, files, ranks)?;
        let stones = stones.into_iter().map(|(letter, square)| {
            let seat = match letter {
                'b' => 0,
                'w' => 1,
                _ => return None,
            };
            Some((seat, square))
        });
        Some(Self {
            stones: stones.collect::<Option<_>>()?,
            first_seat: view::first_seat_to_move(conventions, position),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_stones(game: &str, side: u64, position: &str) -> Option<(String, usize)> {
        let game = GameSummary {
            game: game.to_owned(),
            title: game.to_owned(),
            sides: ["black", "white"].map(str::to_owned),
            files: side,
            ranks: side,
            record_extension: None,
            draw_offers: true,
        };
        let initial_stones = InitialStones::from_position(position, &game)?;
        let stones = initial_stones.stones.iter();
        let stones = stones.map(|(seat, at)| format!("{seat}{at}"));
        Some((
            stones.collect::<Vec<_>>().join(" "),
            initial_stones.first_seat,
        ))
    }

    #[test]
    fn stones_use_wire_square_names() {
        let rows = [".........", "........b", "..w......"];
        let go = |turn: &str| {
            format!(
                "{}/{} {turn} 0 0 0 3",
                rows.join("/"),
                ["."; 6].map(|_| rows[0]).join("/")
            )
        };
        assert_eq!(
            parse_stones("go", 9, &go("w")),
            Some(("0J8 1C7".to_owned(), 1))
        );
        assert_eq!(
            parse_stones("go", 9, &go("b")),
            Some(("0J8 1C7".to_owned(), 0))
        );
        let gomoku = format!("{}b13w/15", "15/".repeat(13));
        assert_eq!(
            parse_stones("gomoku", 15, &gomoku),
            Some(("0a2 1o2".to_owned(), 0))
        );
        let gomoku = format!("{}b14/15", "15/".repeat(13));
        assert_eq!(
            parse_stones("gomoku", 15, &gomoku),
            Some(("0a2".to_owned(), 1))
        );
        for (game, position) in [("go", "8/8"), ("gomoku", "x14"), ("chess", "15")] {
            assert_eq!(parse_stones(game, 15, position), None, "{position}");
        }
    }
}
