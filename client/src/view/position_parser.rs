//! Parses the boards of positions in the notation of each game. This module knows the squares of a
//! board, but not the rules of any game.

use crate::conventions::Conventions;
use crate::sanitize::sanitize_char;

/// Maximum number of files and ranks of a board that is drawn. There are only 26 letters for files,
/// and terminals are narrow.
pub(super) const BOARD_SIDE_MAX: usize = 26;

/// A square as its file and rank, both counted from 0. The square a1 is `(0, 0)`.
pub(crate) type Square = (usize, usize);

/// Parses a board into its ranks, the highest rank first. Each character is one square, and `.` is
/// an empty square. Returns `None` if the text is not a board of this size.
pub(super) fn parse_board(
    conventions: Conventions,
    position: &str,
    files: usize,
    ranks: usize,
) -> Option<Vec<Vec<char>>> {
    let board = match conventions {
        Conventions::Othello => parse_othello(position, files, ranks)?,
        Conventions::Draughts => parse_draughts(position, files, ranks)?,
        _ => parse_fen(position, files, ranks),
    };
    (board.len() == ranks && board.iter().all(|rank| rank.len() == files)).then_some(board)
}

/// Parses ranks in a notation like FEN, the highest rank first. A piece is one character. A `.`
/// stands for one empty square, and a number stands for that many empty squares. Text after a space
/// is not part of the board.
fn parse_fen(position: &str, files: usize, ranks: usize) -> Vec<Vec<char>> {
    let board = position.split(' ').next().unwrap_or_default();
    let ranks = board.split('/').take(ranks + 1);
    ranks.map(|rank| parse_fen_rank(rank, files)).collect()
}

/// Parses one rank. If the rank has more than `files` squares, parsing stops early to limit the
/// memory use. The returned rank is then longer than `files`, so the caller can detect the error.
fn parse_fen_rank(rank: &str, files: usize) -> Vec<char> {
    let mut squares = Vec::with_capacity(files + 1);
    let mut empty_count = 0;
    for c in rank.chars() {
        if let Some(digit) = c.to_digit(10) {
            empty_count = (empty_count * 10 + digit as usize).min(BOARD_SIDE_MAX + 1);
            continue;
        }
        squares.resize(squares.len() + empty_count, '.');
        empty_count = 0;
        squares.push(sanitize_char(c));
        if squares.len() > files {
            return squares;
        }
    }
    squares.resize(squares.len() + empty_count, '.');
    squares
}

/// Parses an Othello board, which lists all squares without separators, the lowest rank first. An
/// empty square is `-`.
fn parse_othello(position: &str, files: usize, ranks: usize) -> Option<Vec<Vec<char>>> {
    let board = position.split(' ').next()?;
    let squares: Vec<char> = board
        .chars()
        .take(files * ranks + 1)
        .map(|c| if c == '-' { '.' } else { sanitize_char(c) })
        .collect();
    let mut rows: Vec<Vec<char>> = squares.chunks(files).map(<[char]>::to_vec).collect();
    rows.reverse();
    Some(rows)
}

/// Parses a draughts position, which lists the numbers of the occupied squares for each side. A
/// king has the prefix `K` in the position, and is a capital letter in the result.
fn parse_draughts(position: &str, files: usize, ranks: usize) -> Option<Vec<Vec<char>>> {
    let mut board = vec![vec!['.'; files]; ranks];
    let sides = position.split(':').skip(1);
    for side in sides.filter(|side| side.starts_with(['W', 'B'])) {
        let (side, pieces) = side.split_at(1);
        let side = side.chars().next()?;
        for piece in pieces.split(',').filter(|piece| !piece.is_empty()) {
            let number = piece.strip_prefix('K');
            let drawn = if number.is_some() {
                side
            } else {
                side.to_ascii_lowercase()
            };
            let (file, rank) = draughts_square(number.unwrap_or(piece))?;
            let row = ranks.checked_sub(rank + 1)?;
            *board.get_mut(row)?.get_mut(file)? = drawn;
        }
    }
    Some(board)
}

/// Returns the pieces on a board, each with its letter and the name of its square. Returns `None`
/// if the position is not a board of this size.
pub(crate) fn pieces_with_squares(
    conventions: Conventions,
    position: &str,
    files: usize,
    ranks: usize,
) -> Option<Vec<(char, String)>> {
    let rows = parse_board(conventions, position, files, ranks)?;
    let columns: Vec<char> = match conventions {
        // Go names files with capital letters and skips the letter I.
        Conventions::Go => ('A'..='Z').filter(|letter| *letter != 'I').collect(),
        _ => ('a'..='z').collect(),
    };
    let mut pieces = Vec::new();
    for (row, rank) in rows.iter().zip((1..=ranks).rev()) {
        for (piece, column) in row.iter().zip(&columns) {
            if *piece != '.' {
                pieces.push((*piece, format!("{column}{rank}")));
            }
        }
    }
    Some(pieces)
}

/// Returns the seat that moves first in the initial position of a match. Returns seat 0 if the game
/// is not known.
pub(crate) fn first_seat_to_move(conventions: Conventions, position: &str) -> usize {
    let side_to_move = position.split(' ').nth(1);
    let count = |piece: char| position.chars().filter(|c| *c == piece).count();
    let is_second = match conventions {
        Conventions::Othello => side_to_move == Some("O"),
        Conventions::Chess => side_to_move == Some("b"),
        Conventions::Go => side_to_move == Some("w"),
        Conventions::Draughts => position.starts_with('W'),
        Conventions::TicTacToe => count('x') > count('o'),
        Conventions::ConnectFour => count('r') > count('y'),
        Conventions::Gomoku => count('b') > count('w'),
        Conventions::Other => false,
    };
    usize::from(is_second)
}

/// Returns how many stones each seat has captured in Go. The text of a Go position contains these
/// numbers after the board and the side to move. Returns `None` for other games.
pub(super) fn captured_stone_counts(conventions: Conventions, position: &str) -> Option<[u32; 2]> {
    if conventions != Conventions::Go {
        return None;
    }
    let mut numbers = position.split(' ').skip(2);
    let mut next_number = || numbers.next()?.parse().ok();
    Some([next_number()?, next_number()?])
}

/// Returns the letters of the chess pieces that a seat has lost, sorted from most to least
/// valuable. The letters are upper-case for seat 0 and lower-case for seat 1.
pub(super) fn captured_chess_pieces(
    conventions: Conventions,
    initial_position: Option<&str>,
    position: &str,
    seat: usize,
) -> Vec<char> {
    if conventions != Conventions::Chess {
        return Vec::new();
    }
    let count = |position: &str, piece: char| {
        let board = position.split(' ').next().unwrap_or_default();
        board.chars().filter(|c| *c == piece).count()
    };
    let differences = CHESS_PIECES_BY_VALUE.map(|kind| {
        let piece = match seat {
            0 => kind.to_ascii_uppercase(),
            _ => kind,
        };
        let first = count(initial_position.unwrap_or(CHESS_INITIAL_BOARD), piece);
        let now = count(position, piece);
        (piece, first.saturating_sub(now), now.saturating_sub(first))
    });
    // If a side has more pieces of a kind than in the initial position, the extra pieces are
    // promoted pawns. A promoted pawn is missing from the board, but it must not be counted as
    // captured.
    let promoted: usize = differences.iter().map(|(_, _, more)| more).sum();
    let captured = differences.iter().flat_map(|(piece, lacks, _)| {
        let is_pawn = piece.eq_ignore_ascii_case(&'p');
        let captured_count = lacks.saturating_sub(if is_pawn { promoted } else { 0 });
        std::iter::repeat_n(*piece, captured_count)
    });
    captured.collect()
}

/// Chess pieces that can be captured, the most valuable first.
const CHESS_PIECES_BY_VALUE: [char; 5] = ['q', 'r', 'b', 'n', 'p'];

/// Initial board of chess.
const CHESS_INITIAL_BOARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

/// Returns the draughts square with this number. Squares 1 to 4 are g1, e1, c1 and a1, squares 5 to
/// 8 are h2, f2, d2 and b2, and so on.
pub(super) fn draughts_square(number: &str) -> Option<Square> {
    let at = number.parse::<usize>().ok()?.checked_sub(1)?;
    let (rank, column) = (at / 4, at % 4);
    (rank < 8).then_some((6 + rank % 2 - 2 * column, rank))
}

/// Returns the last square that the text of a move names, such as `e4` in `e2e4` or `e8` in
/// `e7e8q`.
pub(super) fn last_square(text: &str) -> Option<Square> {
    // The letter of a promotion piece may follow the square.
    let text = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let digits = text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (before, rank) = text.split_at(text.len() - digits);
    let file = before.bytes().last().filter(u8::is_ascii_lowercase)?;
    let rank = rank.parse::<usize>().ok()?.checked_sub(1)?;
    Some((usize::from(file - b'a'), rank))
}

/// Parses the name of a crossing in Go, such as `D4`. The files skip the letter I.
pub(super) fn parse_vertex(text: &str) -> Option<Square> {
    let letter = text.chars().next().filter(char::is_ascii_uppercase)?;
    let rank = text.get(1..)?.parse::<usize>().ok()?.checked_sub(1)?;
    let file = ('A'..=letter)
        .filter(|&c| c != 'I')
        .count()
        .checked_sub(1)?;
    (letter != 'I').then_some((file, rank))
}

/// Returns the squares that the user picks to enter a move: first the start square, if there is
/// one, and then the target squares. Returns `None` for a move without squares, such as a pass.
pub(crate) fn move_squares(conventions: Conventions, move_text: &str) -> Option<Vec<Square>> {
    match conventions {
        // In Connect Four, a move names only the file, so the user may pick any square of the file.
        Conventions::ConnectFour => {
            Some(vec![(move_text.parse::<usize>().ok()?.checked_sub(1)?, 0)])
        }
        Conventions::Draughts => move_text.split(['-', 'x']).map(draughts_square).collect(),
        Conventions::Go => Some(vec![parse_vertex(move_text)?]),
        Conventions::Chess => {
            let (from, to) = (move_text.get(..2)?, move_text.get(2..4)?);
            Some(vec![last_square(from)?, last_square(to)?])
        }
        _ => Some(vec![last_square(move_text)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_board(conventions: Conventions, position: &str, expect: Option<[&str; 8]>) {
        let drawn = parse_board(conventions, position, 8, 8)
            .map(|ranks| ranks.iter().map(|rank| rank.iter().collect()).collect());
        let expect = expect.map(|ranks| ranks.map(str::to_owned).to_vec());
        assert_eq!(drawn, expect, "{position:?}");
    }

    #[test]
    fn go_capture_counts_are_parsed() {
        let rows = ["9"; 9].join("/");
        let read =
            |conventions, rest| captured_stone_counts(conventions, &format!("{rows} {rest}"));
        assert_eq!(read(Conventions::Go, "w 3 12 0 40"), Some([3, 12]));
        for nothing in ["w", "w 3", "w x 12", "w 3 -1"] {
            assert_eq!(read(Conventions::Go, nothing), None, "{nothing}");
        }
        assert_eq!(read(Conventions::Chess, "w 3 12"), None);
    }

    #[test]
    fn chess_captures_are_missing_pieces_minus_promotions() {
        let captured = |start, position, seat| {
            let lost = captured_chess_pieces(Conventions::Chess, start, position, seat);
            lost.into_iter().collect::<String>()
        };
        let after = "r1bqkb1r/pppp1ppp/2n5/4N3/4n3/8/PPPP1PPP/RNBQKB1R w KQkq - 0 5";
        assert_eq!([0, 1].map(|seat| captured(None, after, seat)), ["P", "p"]);
        // White has promoted a pawn to a queen. Black has captured another pawn and a rook.
        let after = "4k3/8/8/8/8/8/PPPPPP2/RNBQKBNQ b - - 0 30";
        assert_eq!(captured(None, after, 0), "RP");
        let start = "4k3/7P/8/8/8/8/8/4K3 w - - 0 1";
        let after = "4k2Q/8/8/8/8/8/8/4K3 b - - 0 1";
        assert_eq!(captured(Some(start), after, 0), "");
        assert_eq!(captured_chess_pieces(Conventions::Go, None, after, 0), []);
    }

    #[test]
    fn first_seat_to_move_is_parsed_for_each_game() {
        for (conventions, first, second) in [
            (Conventions::TicTacToe, ".../.x./..o", ".../.x./..."),
            (Conventions::ConnectFour, "ry", "r......"),
            (Conventions::Othello, "----O*O- *", "----O*O- O"),
            (Conventions::Draughts, "B:W21:B1", "W:W21:B1"),
            (Conventions::Chess, "4k3/8 w - - 0 1", "4k3/8 b - - 0 1"),
            (Conventions::Gomoku, "15/7bw6", "15/7b7"),
            (Conventions::Go, "b..w b 0 0 0 2", "b... w 0 0 0 1"),
        ] {
            assert_eq!(first_seat_to_move(conventions, first), 0, "{first}");
            assert_eq!(first_seat_to_move(conventions, second), 1, "{second}");
        }
    }

    #[test]
    fn othello_position_is_parsed_from_lowest_rank() {
        let position = "O--------------------------O*------*O-------------------------** *";
        check_board(
            Conventions::Othello,
            position,
            Some([
                "......**", "........", "........", "...*O...", "...O*...", "........", "........",
                "O.......",
            ]),
        );
        check_board(Conventions::Othello, "O--*", None);
        check_board(Conventions::Othello, &format!("-{position}"), None);
    }

    #[test]
    fn draughts_position_is_parsed_by_square_number() {
        check_board(
            Conventions::Draughts,
            "B:W21,K32,K5:B1,4,K8:H0:F1",
            Some([
                ".W......", "........", ".......w", "........", "........", "........", ".B.....W",
                "b.....b.",
            ]),
        );
        check_board(Conventions::Draughts, "B:W33:B1", None);
        check_board(Conventions::Draughts, "B:W0:B1", None);
        check_board(Conventions::Draughts, "B:Wx:B1", None);
    }

    #[test]
    fn last_square_and_vertex_are_parsed_from_moves() {
        assert_eq!(last_square("b2"), Some((1, 1)));
        assert_eq!(last_square("e2e4"), Some((4, 3)));
        assert_eq!(last_square("e7e8q"), Some((4, 7)));
        assert_eq!(last_square("a10"), Some((0, 9)));
        for not in ["", "pass", "4", "a0", "é1", "a99999999999999999999999"] {
            assert_eq!(last_square(not), None, "{not:?}");
        }
        assert_eq!(
            ["A1", "H8", "J9"].map(parse_vertex),
            [Some((0, 0)), Some((7, 7)), Some((8, 8))]
        );
        assert_eq!(
            ["I5", "pass", "A0", "", "Ä1", "a1"].map(parse_vertex),
            [None; 6]
        );
    }
}
