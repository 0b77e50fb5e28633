//! Conventions of individual games that the protocol does not describe. A game without conventions
//! can still be shown and played.

use crate::args::EngineProtocol;

/// Points that White receives for moving second in Go, as documented in the protocol.
pub(crate) const KOMI: u32 = 7;

/// Game with known conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conventions {
    TicTacToe,
    ConnectFour,
    Othello,
    Draughts,
    Chess,
    Gomoku,
    Go,
    /// Game without known conventions.
    Other,
}

impl Conventions {
    pub(crate) fn for_game(game: &str) -> Self {
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

    /// Returns the protocol that engines of the game usually speak.
    pub(crate) const fn engine_protocol(self) -> Option<EngineProtocol> {
        match self {
            Self::Chess => Some(EngineProtocol::Uci),
            Self::Go => Some(EngineProtocol::Gtp),
            Self::Gomoku => Some(EngineProtocol::Piskvork),
            _ => None,
        }
    }

    /// Converts a move that the user typed to the notation of the game. Spaces, hyphens and capture
    /// signs between squares are ignored. If the text is not recognized, it is only trimmed. Only
    /// draughts uses the list of `legal` moves.
    pub(crate) fn normalize_move(self, typed: &str, legal: &[String]) -> String {
        let typed = typed.trim();
        let notation = match self {
            Self::TicTacToe => square_on_number_pad(typed).or_else(|| parse_square(typed)),
            Self::Othello | Self::Gomoku | Self::Go => parse_square(typed),
            Self::Chess => parse_chess_move(typed),
            Self::Draughts => parse_draughts_move(typed, legal),
            Self::ConnectFour | Self::Other => None,
        };
        notation.unwrap_or_else(|| typed.to_owned())
    }

    /// Describes how the user types a move.
    pub(crate) const fn move_help(self) -> &'static str {
        match self {
            Self::TicTacToe => "b2, or 1 to 9 as on a number pad (7 8 9 is the top row)",
            Self::ConnectFour => "a column number, as shown above the board",
            Self::Othello => "a square, such as d3, or pass if you have no other move",
            Self::Draughts => {
                "two squares: 11-15; a capture: 15x22, or all landing squares: 22x15x8"
            }
            Self::Chess => {
                "two squares: e2e4, e7e8q, e1g1 to castle; or standard notation: Nf3, O-O"
            }
            Self::Gomoku => "an intersection, such as h8",
            Self::Go => "an intersection, such as D4, or pass (two passes end the game)",
            Self::Other => "a move in the game's notation; `moves` lists them",
        }
    }

    /// Returns an example move for the user. If there is no example, the caller shows a legal move
    /// instead.
    pub(crate) const fn example_move(self) -> Option<&'static str> {
        match self {
            Self::TicTacToe => Some("b2, or 5 as on a number pad"),
            Self::ConnectFour => Some("4 for the fourth column"),
            Self::Chess => Some("e2e4 or Nf3"),
            Self::Draughts => Some("11-15, the starting and landing squares"),
            Self::Gomoku => Some("h8, or another intersection"),
            Self::Go => Some("D4, or pass"),
            Self::Othello | Self::Other => None,
        }
    }

    /// Returns whether the board is rotated for the player in the second seat. The board is rotated
    /// in games whose players face each other across the board.
    pub(crate) const fn flips_for_second_seat(self) -> bool {
        matches!(self, Self::Chess | Self::Draughts)
    }

    /// Returns whether the first rank is at the top of the board.
    pub(crate) const fn has_first_rank_on_top(self) -> bool {
        matches!(self, Self::Othello)
    }

    /// Returns whether pieces are placed on crossings of lines instead of in squares.
    pub(crate) const fn is_played_on_crossings(self) -> bool {
        matches!(self, Self::Gomoku | Self::Go)
    }

    /// Returns the label above a file. In draughts, the label is a space, because squares have
    /// numbers instead of file letters.
    pub(crate) fn file_label(self, file: usize) -> char {
        let first = match self {
            Self::ConnectFour => b'1',
            Self::Go if file < 8 => b'A',
            // Go skips the letter I.
            Self::Go => b'A' + 1,
            Self::Draughts => return ' ',
            Self::TicTacToe | Self::Othello | Self::Chess | Self::Gomoku | Self::Other => b'a',
        };
        // The `?` is never shown, because boards with more files than letters are not drawn.
        u8::try_from(file).map_or('?', |file| char::from(first.saturating_add(file)))
    }

    /// Returns the label on the left of a rank.
    ///
    /// The label is empty in Connect Four, where a move names only the file. In draughts, the label
    /// is the range of square numbers in the rank, from left to right. The range is `4-1` for the
    /// first rank, or `1-4` if the board is flipped.
    pub(crate) fn rank_label(self, rank: usize, flipped: bool) -> String {
        match self {
            Self::ConnectFour => String::new(),
            Self::Draughts if flipped => format!("{}-{}", rank * 4 + 1, rank * 4 + 4),
            Self::Draughts => format!("{}-{}", rank * 4 + 4, rank * 4 + 1),
            _ => (rank + 1).to_string(),
        }
    }

    /// Returns the pieces that are drawn as symbols instead of letters. Each entry contains the
    /// letter, the seat and the symbol.
    ///
    /// The symbols differ in shape, because not every terminal or user can distinguish colours. The
    /// first symbol of a seat also represents the seat.
    const fn piece_symbols(self) -> &'static [(char, usize, char)] {
        match self {
            Self::ConnectFour => &[('r', 0, '●'), ('y', 1, '○')],
            Self::Othello => &[('*', 0, '●'), ('O', 1, '○')],
            Self::Gomoku | Self::Go => &[('b', 0, '●'), ('w', 1, '○')],
            Self::Draughts => DRAUGHTS_SYMBOLS,
            Self::Chess => CHESS_SYMBOLS,
            Self::TicTacToe | Self::Other => &[],
        }
    }

    /// Returns the seat that owns the piece, and the symbol of the piece. Returns `None` if the
    /// piece has no symbol.
    pub(crate) fn piece_symbol(self, piece: char) -> Option<(usize, char)> {
        let mut symbols = self.piece_symbols().iter();
        let (_, seat, symbol) = symbols.find(|figure| figure.0 == piece)?;
        Some((*seat, *symbol))
    }

    /// Returns the symbol that represents a seat, if the game has symbols.
    pub(crate) fn seat_symbol(self, seat: usize) -> Option<char> {
        let mut symbols = self.piece_symbols().iter();
        symbols
            .find(|figure| figure.1 == seat)
            .map(|figure| figure.2)
    }

    /// Describes the winning line for the user.
    pub(crate) fn winning_line_text(self, squares: &[String]) -> String {
        match self {
            // In Connect Four, the names of squares appear only in the protocol, so the text omits
            // them.
            Self::ConnectFour => "Four in a row.".to_owned(),
            Self::Gomoku if squares.len() == 5 => "Five in a row.".to_owned(),
            Self::Gomoku => format!("{} in a row.", squares.len()),
            _ => format!("Winning line: {}.", squares.join(" ")),
        }
    }
}

/// Returns the letter for a chess or draughts symbol in a position. In draughts, a capital letter
/// is a king.
pub(crate) fn piece_letter(symbol: char) -> Option<char> {
    let mut all = CHESS_SYMBOLS.iter().chain(DRAUGHTS_SYMBOLS);
    all.find(|known| known.2 == symbol).map(|known| known.0)
}

fn square_on_number_pad(typed: &str) -> Option<String> {
    let digit = typed.parse().ok().filter(|d| (1..=9u8).contains(d))?;
    let file = char::from(b'a' + (digit - 1) % 3);
    Some(format!("{file}{}", (digit - 1) / 3 + 1))
}

/// Returns whether users may type this character between squares or before the promotion piece.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || "-‐‑–—−>x×X:*=,".contains(c)
}

/// Splits typed text at its separators.
fn split_squares(typed: &str) -> impl Iterator<Item = &str> {
    typed.split(is_separator).filter(|part| !part.is_empty())
}

/// Parses a square. Separators between the letter and the number are ignored.
fn parse_square(typed: &str) -> Option<String> {
    let joined: String = split_squares(typed).collect();
    let (letter, number) = joined.split_at_checked(1)?;
    let is_letter = letter.chars().all(|c| c.is_ascii_alphabetic());
    let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    (is_letter && is_number).then_some(joined)
}

/// Parses a chess move that names two squares and optionally the promotion piece. A capital B
/// before lower-case letters is a bishop, so `B1xd4` is not parsed as a move from b1.
fn parse_chess_move(typed: &str) -> Option<String> {
    let joined: String = split_squares(typed).collect();
    let is_bishop = joined.starts_with('B') && joined.chars().any(|c| c.is_ascii_lowercase());
    let joined = joined.to_ascii_lowercase();
    let is_square = |file: &u8, rank: &u8| matches!((file, rank), (b'a'..=b'h', b'1'..=b'8'));
    let is_move = match joined.as_bytes() {
        [a, b, c, d] => is_square(a, b) && is_square(c, d),
        [a, b, c, d, piece] => is_square(a, b) && is_square(c, d) && b"qrbn".contains(piece),
        _ => false,
    };
    (is_move && !is_bishop).then_some(joined)
}

/// Parses a draughts move that names its squares. The move may name only its first and last square.
/// If exactly one legal move matches the squares, returns that move. Otherwise, joins the squares
/// in draughts notation.
fn parse_draughts_move(typed: &str, legal: &[String]) -> Option<String> {
    let squares: Vec<&str> = split_squares(typed).collect();
    let is_number = |part: &&str| part.chars().all(|c| c.is_ascii_digit());
    if squares.len() < 2 || !squares.iter().all(is_number) {
        return None;
    }
    let is_same_path = |m: &&String| {
        let path: Vec<&str> = split_squares(m).collect();
        let ends = [path.first(), path.last()];
        path == squares || squares.len() == 2 && ends == [squares.first(), squares.last()]
    };
    let mut candidates = legal.iter().filter(is_same_path);
    if let (Some(m), None) = (candidates.next(), candidates.next()) {
        return Some(m.clone());
    }
    let is_capture = squares.len() > 2 || legal.iter().any(|m| is_same_path(&m) && m.contains('x'));
    let is_capture = is_capture || typed.contains(['x', 'X']);
    Some(squares.join(if is_capture { "x" } else { "-" }))
}

const DRAUGHTS_SYMBOLS: &[(char, usize, char)] =
    &[('b', 0, '⛂'), ('B', 0, '⛃'), ('w', 1, '⛀'), ('W', 1, '⛁')];

const CHESS_SYMBOLS: &[(char, usize, char)] = &[
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

    #[track_caller]
    fn check_normalized(game: &str, legal: &[&str], typed: &[&str], expect: &str) {
        let legal: Vec<String> = legal.iter().map(|&m| m.to_owned()).collect();
        for typed in typed {
            assert_eq!(
                Conventions::for_game(game).normalize_move(typed, &legal),
                expect,
                "{typed:?}"
            );
        }
    }

    #[test]
    fn number_pad_digits_are_tic_tac_toe_squares() {
        for (typed, square) in (1..=9).zip(["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]) {
            check_normalized("tic-tac-toe", &[], &[&typed.to_string()], square);
        }
        for typed in ["0", "10", "b2", "B2", ""] {
            check_normalized("tic-tac-toe", &[], &[typed], typed);
        }
    }

    #[test]
    fn squares_with_any_separator_are_normalized() {
        let typed = [
            "c6d4", "c6 d4", "c6-d4", "c6xd4", "C6D4", "C6 x D4", " c6  d4 ", "c6:d4", "c6–d4",
            "c6->d4",
        ];
        check_normalized("chess", &[], &typed, "c6d4");
        let typed = ["e7e8q", "e7 e8 q", "e7-e8=Q", "E7E8Q", "e7xe8q"];
        check_normalized("chess", &[], &typed, "e7e8q");
        check_normalized("othello", &[], &["d 3", "d-3", "d3"], "d3");
        check_normalized("gomoku", &[], &["h 10", "h-10"], "h10");
        check_normalized("go", &[], &["D 4", "D4"], "D4");
        check_normalized("tic-tac-toe", &[], &["b 2", "b-2"], "b2");
    }

    /// The server reads standard algebraic notation, so the client sends it unchanged.
    #[test]
    fn san_and_invalid_moves_are_left_unchanged() {
        for typed in [
            "Nf3", "O-O", "o-o-o", "0-0", "exd5", "Bxc3", "bxc3", "B1xd4", "B6d4", "Bb6xd4",
            "R1xd4", "e8=Q+", "Nc6-d4", "e4", "pass", "", "x", "-",
        ] {
            check_normalized("chess", &[], &[typed], typed);
        }
        for typed in ["pass", "Pass", "d", "3", "d3 e4", "é3", ""] {
            check_normalized("othello", &[], &[typed], typed);
        }
    }

    #[test]
    fn draughts_moves_with_any_separator_are_normalized() {
        let steps = ["11-15", "11-16"];
        let typed = [
            "11-15", "11 15", "11x15", "11 - 15", "11,15", "11–15", "11>15", "11:15", "11*15",
            "11‐15",
        ];
        check_normalized("draughts", &steps, &typed, "11-15");
        check_normalized("draughts", &steps, &["11 14", "11-14"], "11-14");
        let jumps = ["22x15x8", "22x15x6", "22x17x10", "21x14"];
        let typed = [
            "22 15 8",
            "22-15-8",
            "22x15x8",
            "22X15X8",
            "22 8",
            "22-8",
            "22x8",
            "22:15:8",
            "22:8",
            "22*8",
            "22×15×8",
            "22−8",
            "22x15-8*",
        ];
        check_normalized("draughts", &jumps, &typed, "22x15x8");
        // Two legal captures lead from square 22 to square 8. The client sends only these two
        // squares, and the server resolves the ambiguity.
        let both = ["22x15x8", "22x17x8"];
        check_normalized("draughts", &both, &["22 8", "22x8", "22-8"], "22x8");
        for typed in ["11", "", "11 a", "moves", "-", "1115"] {
            check_normalized("draughts", &steps, &[typed], typed);
        }
    }

    #[test]
    fn seat_symbols_differ_without_colour() {
        for game in [
            "connect-four",
            "othello",
            "draughts",
            "chess",
            "gomoku",
            "go",
        ] {
            let [first, second] = [0, 1].map(|seat| Conventions::for_game(game).seat_symbol(seat));
            assert!(first.is_some() && first != second, "{game}");
        }
        let others = [0, 1].map(|seat| Conventions::for_game("tic-tac-toe").seat_symbol(seat));
        assert_eq!(others, [None, None]);
    }

    #[test]
    fn connect_four_and_unknown_game_moves_are_only_trimmed() {
        check_normalized("connect-four", &[], &["4", " 4 "], "4");
        check_normalized("another", &[], &["a1-b 2"], "a1-b 2");
    }

    #[test]
    fn go_file_labels_skip_i() {
        let letters: String = (0..9)
            .map(|file| Conventions::Go.file_label(file))
            .collect();
        assert_eq!(letters, "ABCDEFGHJ");
    }
}
