//! What single games need beside what the wire tells of every game. Nothing here must be known:
//! a game without customs is drawn and played all the same.

/// What one game needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Customs {
    /// Whether the nine squares can be named as on a number pad, 7 8 9 on top.
    pub(crate) number_pad: bool,
    /// Whether a move names a file by its number, and drops a disc to its lowest free square.
    pub(crate) drops: bool,
}

impl Customs {
    /// The customs of a game.
    pub(crate) fn of(game: &str) -> Self {
        Self {
            number_pad: game == "tic-tac-toe",
            drops: game == "connect-four",
        }
    }

    /// The move in the game's notation that was meant by what was typed.
    pub(crate) fn read_move(self, typed: &str) -> String {
        let digit = typed.parse().ok().filter(|digit| (1..=9u8).contains(digit));
        match digit {
            Some(digit) if self.number_pad => {
                let file = char::from(b'a' + (digit - 1) % 3);
                format!("{file}{}", (digit - 1) / 3 + 1)
            }
            Some(_) | None => typed.to_owned(),
        }
    }

    /// How a move is typed, for people.
    pub(crate) const fn how_to_move(self) -> &'static str {
        match (self.number_pad, self.drops) {
            (true, _) => "b2, or 1 to 9 as on a number pad (7 8 9 is the top row)",
            (false, true) => "the number of a column, as it stands above the board",
            (false, false) => "a move in the game's notation; `moves` lists them",
        }
    }

    /// A move to begin with, for people, where the game is known.
    pub(crate) const fn example(self) -> Option<&'static str> {
        match (self.number_pad, self.drops) {
            (true, _) => Some("b2, or 5 as on a number pad"),
            (false, true) => Some("4 for the fourth column"),
            (false, false) => None,
        }
    }

    /// What stands above a file of the board.
    pub(crate) fn file_label(self, file: usize) -> char {
        let first = if self.drops { b'1' } else { b'a' };
        // Boards with more files than letters are not drawn at all.
        u8::try_from(file).map_or('?', |file| char::from(first.saturating_add(file)))
    }

    /// What stands left of a rank; nothing where nobody ever names one, so that numbers mean files.
    pub(crate) fn rank_label(self, rank: usize) -> String {
        if self.drops {
            String::new()
        } else {
            (rank + 1).to_string()
        }
    }

    /// What a seat's pieces look like, where that is not the letter that positions have for them.
    /// They differ in more than their colour, which not every terminal or eye has.
    pub(crate) const fn piece(self, seat: usize) -> Option<char> {
        match (self.drops, seat) {
            (true, 0) => Some('●'),
            (true, _) => Some('○'),
            (false, _) => None,
        }
    }

    /// What is said of the winning line, which the board shows too.
    pub(crate) fn line(self, squares: &[String]) -> String {
        if self.drops {
            // Its squares have names on the wire only.
            "Four in a row.".to_owned()
        } else {
            format!("The line is {}.", squares.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_pad_names_squares() {
        let read = |typed| Customs::of("tic-tac-toe").read_move(typed);
        assert_eq!(["7", "8", "9"].map(read), ["a3", "b3", "c3"]);
        assert_eq!(["4", "5", "6"].map(read), ["a2", "b2", "c2"]);
        assert_eq!(["1", "2", "3"].map(read), ["a1", "b1", "c1"]);
        assert_eq!(
            ["0", "10", "b2", "B2", ""].map(read),
            ["0", "10", "b2", "B2", ""]
        );
    }

    #[test]
    fn discs_differ_without_colour() {
        let pieces = |game| [0, 1].map(|seat| Customs::of(game).piece(seat));
        let [first, second] = pieces("connect-four").map(|piece| piece.expect("a disc"));
        assert_ne!(first, second);
        assert_eq!(pieces("tic-tac-toe"), [None, None]);
    }

    #[test]
    fn other_games_read_what_is_typed() {
        assert_eq!(Customs::of("connect-four").read_move("4"), "4");
        assert_eq!(Customs::of("chess").read_move("e2e4"), "e2e4");
    }
}
