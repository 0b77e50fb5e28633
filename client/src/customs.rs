//! What single games need beside what the wire tells of every game. Nothing here must be known:
//! a game without customs is drawn and played all the same.

use crate::args::EngineProtocol;

/// What the server's Go gives white for moving second, as the protocol's page says.
pub(crate) const KOMI: u32 = 7;

/// The games that have customs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Customs {
    TicTacToe,
    ConnectFour,
    Othello,
    Draughts,
    Chess,
    Gomoku,
    Go,
    /// A game that nothing is known of.
    Other,
}

impl Customs {
    /// The customs of a game.
    pub(crate) fn of(game: &str) -> Self {
        match game {
            "tic-tac-toe" => Self::TicTacToe,
            "connect-four" => Self::ConnectFour,
            "othello" => Self::Othello,
            "draughts" => Self::Draughts,
            "chess" => Self::Chess,
            "gomoku" => Self::Gomoku,
            "go" => Self::Go,
            _ => Self::Other,
        }
    }

    /// The protocol that programs of the game speak.
    pub(crate) const fn engine_protocol(self) -> Option<EngineProtocol> {
        match self {
            Self::Chess => Some(EngineProtocol::Uci),
            Self::Go => Some(EngineProtocol::Gtp),
            Self::Gomoku => Some(EngineProtocol::Piskvork),
            Self::TicTacToe | Self::ConnectFour | Self::Othello | Self::Draughts | Self::Other => {
                None
            }
        }
    }

    /// The move in the game's notation that was meant by what was typed.
    pub(crate) fn read_move(self, typed: &str) -> String {
        let digit = typed.parse().ok().filter(|digit| (1..=9u8).contains(digit));
        match digit {
            Some(digit) if self == Self::TicTacToe => {
                let file = char::from(b'a' + (digit - 1) % 3);
                format!("{file}{}", (digit - 1) / 3 + 1)
            }
            Some(_) | None => typed.to_owned(),
        }
    }

    /// How a move is typed, for people.
    pub(crate) const fn how_to_move(self) -> &'static str {
        match self {
            Self::TicTacToe => "b2, or 1 to 9 as on a number pad (7 8 9 is the top row)",
            Self::ConnectFour => "the number of a column, as it stands above the board",
            Self::Othello => "a square: d3; or pass, where nothing else is possible",
            Self::Draughts => {
                "two squares: 11-15; a capture: 15x22, or with every square where it lands: 22x15x8"
            }
            Self::Chess => "two squares: e2e4, e7e8q, e1g1 to castle; or as in books: Nf3, O-O",
            Self::Gomoku => "a crossing: h8",
            Self::Go => "a crossing: D4; or pass: two passes end the game",
            Self::Other => "a move in the game's notation; `moves` lists them",
        }
    }

    /// A move to begin with, for people, where the game is known.
    pub(crate) const fn example(self) -> Option<&'static str> {
        match self {
            Self::TicTacToe => Some("b2, or 5 as on a number pad"),
            Self::ConnectFour => Some("4 for the fourth column"),
            Self::Chess => Some("e2e4, or a move as in books: Nf3"),
            Self::Draughts => Some("11-15, for the squares from and to"),
            Self::Gomoku => Some("h8, or another crossing"),
            Self::Go => Some("D4, or pass"),
            Self::Othello | Self::Other => None,
        }
    }

    /// Whether the players sit face to face, so that the second sees the board from the other side.
    pub(crate) const fn faces(self) -> bool {
        matches!(self, Self::Chess | Self::Draughts)
    }

    /// Whether the first rank lies on top.
    pub(crate) const fn downwards(self) -> bool {
        matches!(self, Self::Othello)
    }

    /// Whether pieces stand where lines cross.
    pub(crate) const fn crosses(self) -> bool {
        matches!(self, Self::Gomoku | Self::Go)
    }

    /// What stands above a file of the board; nothing where squares have other names.
    pub(crate) fn file_label(self, file: usize) -> char {
        let first = match self {
            Self::ConnectFour => b'1',
            Self::Go if file < 8 => b'A',
            // There is no I.
            Self::Go => b'A' + 1,
            Self::Draughts => return ' ',
            Self::TicTacToe | Self::Othello | Self::Chess | Self::Gomoku | Self::Other => b'a',
        };
        // Boards with more files than letters are not drawn at all.
        u8::try_from(file).map_or('?', |file| char::from(first.saturating_add(file)))
    }

    /// What stands left of a rank; nothing where nobody ever names one, so that numbers mean files.
    /// In draughts it is the numbers of its squares from left to right, which run the other way for
    /// whoever sees the board `turned`.
    pub(crate) fn rank_label(self, rank: usize, turned: bool) -> String {
        match self {
            Self::ConnectFour => String::new(),
            Self::Draughts if turned => format!("{}-{}", rank * 4 + 1, rank * 4 + 4),
            Self::Draughts => format!("{}-{}", rank * 4 + 4, rank * 4 + 1),
            Self::TicTacToe
            | Self::Othello
            | Self::Chess
            | Self::Gomoku
            | Self::Go
            | Self::Other => (rank + 1).to_string(),
        }
    }

    /// What pieces look like where that is not the letter that positions have for them: the letter, the
    /// seat, and the figure. Figures differ in more than their colour, which not every terminal or eye
    /// has. A seat's first is what stands for the seat.
    const fn figures(self) -> &'static [(char, usize, char)] {
        match self {
            Self::ConnectFour => &[('r', 0, '●'), ('y', 1, '○')],
            Self::Othello => &[('*', 0, '●'), ('O', 1, '○')],
            Self::Gomoku | Self::Go => &[('b', 0, '●'), ('w', 1, '○')],
            Self::Draughts => DRAUGHTS,
            Self::Chess => CHESS,
            Self::TicTacToe | Self::Other => &[],
        }
    }

    /// Whose piece this is and what it looks like, in games that have figures.
    pub(crate) fn figure(self, piece: char) -> Option<(usize, char)> {
        let found = self.figures().iter().find(|figure| figure.0 == piece)?;
        Some((found.1, found.2))
    }

    /// What a seat plays with, where that is more than the letter that begins its side's name.
    pub(crate) fn piece(self, seat: usize) -> Option<char> {
        let found = self.figures().iter().find(|figure| figure.1 == seat)?;
        Some(found.2)
    }

    /// What is said of the winning line, which the board shows too.
    pub(crate) fn line(self, squares: &[String]) -> String {
        match self {
            // Its squares have names on the wire only.
            Self::ConnectFour => "Four in a row.".to_owned(),
            Self::Gomoku if squares.len() == 5 => "Five in a row.".to_owned(),
            Self::Gomoku => format!("{} in a row.", squares.len()),
            Self::TicTacToe
            | Self::Othello
            | Self::Draughts
            | Self::Chess
            | Self::Go
            | Self::Other => format!("The line is {}.", squares.join(" ")),
        }
    }
}

/// The letter of a piece of chess or draughts by its figure, capitals for kings in draughts.
pub(crate) fn letter(figure: char) -> Option<char> {
    let mut all = CHESS.iter().chain(DRAUGHTS);
    all.find(|known| known.2 == figure).map(|known| known.0)
}

const DRAUGHTS: &[(char, usize, char)] =
    &[('b', 0, '⛂'), ('B', 0, '⛃'), ('w', 1, '⛀'), ('W', 1, '⛁')];

const CHESS: &[(char, usize, char)] = &[
    ('K', 0, '♔'),
    ('Q', 0, '♕'),
    ('R', 0, '♖'),
    ('B', 0, '♗'),
    ('N', 0, '♘'),
    ('P', 0, '♙'),
    ('k', 1, '♚'),
    ('q', 1, '♛'),
    ('r', 1, '♜'),
    ('b', 1, '♝'),
    ('n', 1, '♞'),
    ('p', 1, '♟'),
];

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
    fn pieces_differ_without_colour() {
        for game in [
            "connect-four",
            "othello",
            "draughts",
            "chess",
            "gomoku",
            "go",
        ] {
            let [first, second] = [0, 1].map(|seat| Customs::of(game).piece(seat));
            assert!(first.is_some() && first != second, "{game}");
        }
        let others = [0, 1].map(|seat| Customs::of("tic-tac-toe").piece(seat));
        assert_eq!(others, [None, None]);
    }

    #[test]
    fn other_games_read_what_is_typed() {
        assert_eq!(Customs::of("connect-four").read_move("4"), "4");
        assert_eq!(Customs::of("chess").read_move("e2e4"), "e2e4");
    }

    #[test]
    fn the_letters_of_go_leave_out_i() {
        let letters: String = (0..9).map(|file| Customs::Go.file_label(file)).collect();
        assert_eq!(letters, "ABCDEFGHJ");
    }
}
