//! Positions in FEN (PGN standard, section 16.1). The parser also accepts EPD (section 16.2), which
//! has operations in place of the last two FEN fields.

use std::str::FromStr;

use cozy_chess::{Board, Color, File, Piece, Rank, Square as CozySquare, get_king_moves};

use super::{Chess, HALFMOVE_CLOCK_MAX, piece_letter, square_name};
use crate::game::rank_text::append_fen_pieces;
use crate::game::{ParsePositionError, append_number, bit_index, parse_count, single_squares};

impl Chess {
    /// Appends the position in FEN.
    pub(super) fn append_fen(&self, fen: &mut Vec<u8>) {
        self.append_pieces(fen);
        let board = &self.board;
        let turn = board.side_to_move();
        fen.extend_from_slice(match turn {
            Color::White => b" w ",
            Color::Black => b" b ",
        });
        let start = fen.len();
        for (color, [short, long]) in [(Color::White, *b"KQ"), (Color::Black, *b"kq")] {
            let rights = board.castle_rights(color);
            for (right, letter) in [(rights.short, short), (rights.long, long)] {
                if right.is_some() {
                    fen.push(letter);
                }
            }
        }
        if fen.len() == start {
            fen.push(b'-');
        }
        fen.push(b' ');
        match board.en_passant() {
            Some(file) => {
                let square = CozySquare::new(file, Rank::Third.relative_to(!turn));
                fen.extend_from_slice(&square_name(square));
            }
            None => fen.push(b'-'),
        }
        for counter in [board.halfmove_clock().into(), board.fullmove_number()] {
            fen.push(b' ');
            append_number(counter, fen);
        }
    }

    /// Appends the first field of FEN.
    fn append_pieces(&self, fen: &mut Vec<u8>) {
        let board = &self.board;
        let mut letters = [0; 64];
        for piece in Piece::ALL {
            for square in single_squares(board.pieces(piece).0) {
                letters[usize::from(bit_index(square))] = piece_letter(piece);
            }
        }
        for square in single_squares(board.colors(Color::White).0) {
            letters[usize::from(bit_index(square))].make_ascii_uppercase();
        }
        let occupied = board.occupied().0.to_le_bytes().map(u16::from);
        let letter = |rank: usize, file: u8| letters[8 * rank + usize::from(file)];
        append_fen_pieces(occupied, 8, letter, fen);
    }
}

impl FromStr for Chess {
    type Err = ParsePositionError;

    /// Parses a position in FEN or EPD. The last two FEN fields are optional.
    ///
    /// Rejects positions that are clearly unreachable: a side without exactly one king, a king that
    /// could be captured, or castling rights after the king or rook has moved.
    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        let position_error = |reason| ParsePositionError(reason);
        let fen = normalize_fen(text);
        // `Board::from_fen` accepts boards with fewer than eight ranks, so the ranks are counted
        // here.
        if fen_ranks(&fen).count() != RANKS {
            return Err(position_error(RANKS_ERROR));
        }
        let board = Board::from_fen(&fen, false)
            .map_err(|error| position_error(fen_error_reason(&error, &fen)))?;
        let [white, black] = Color::ALL.map(|color| board.king(color));
        if get_king_moves(white).has(black) {
            return Err(position_error("the kings are on adjacent squares"));
        }
        for color in Color::ALL {
            let rights = board.castle_rights(color);
            let may_castle = rights.short.is_some() || rights.long.is_some();
            if may_castle && board.king(color).file() != File::E {
                return Err(position_error(
                    "a king with castling rights is not on the e-file",
                ));
            }
        }
        // `Board::from_fen` also accepts FEN that is not in canonical form. This check rejects
        // non-canonical FEN, so that a parsed position is always written back as the same text.
        if board.to_string() != fen {
            return Err(position_error("the FEN is not in canonical form"));
        }
        Ok(Self { board })
    }
}

/// Converts FEN or EPD written by other programs or people to standard FEN:
///
/// - A missing halfmove clock becomes `0`, and a missing move number becomes `1`. In EPD, the
///   operations `hmvc` and `fmvn` provide the halfmove clock and the move number. All other
///   operations are ignored.
/// - The move number `0` becomes `1`, because some programs count moves from 0.
/// - Castling rights are put into the standard order.
/// - A counter above its maximum is reduced to the maximum. Other programs let the halfmove clock
///   exceed 100 if no player claims the draw.
fn normalize_fen(text: &str) -> String {
    let (mut fields, operations) = split_epd_operations(text);
    if fields.len() < FIELDS_MIN {
        return fields.join(" ");
    }
    for (field, name, default_value) in [(4, "hmvc", "0"), (5, "fmvn", "1")] {
        if fields.len() == field {
            fields.push(find_epd_operand(operations, name).unwrap_or(default_value));
        }
    }
    let rights = order_castling_rights(fields[2]);
    fields[2] = &rights;
    let halfmove_clock = parse_count(fields[4], HALFMOVE_CLOCK_MAX).map(|clock| clock.to_string());
    let fullmove_number = parse_count(fields[5], u16::MAX).map(|number| number.max(1).to_string());
    for (field, count) in [(4, &halfmove_clock), (5, &fullmove_number)] {
        if let Some(count) = count {
            fields[field] = count;
        }
    }
    fields.join(" ")
}

/// Splits text into its FEN fields and the EPD operations that follow the first four fields.
fn split_epd_operations(text: &str) -> (Vec<&str>, &str) {
    // EPD operations contain a semicolon or a quote. Text without a semicolon or a quote, such as a
    // move, remains a FEN field, so that the parser rejects it.
    let has_operations = text.contains([';', '"']);
    let mut fields = Vec::new();
    let mut rest = text.trim_ascii();
    while !rest.is_empty() {
        let is_position = fields.len() < FIELDS_MIN;
        let is_operation = rest.starts_with(|c: char| c.is_alphabetic() || c == ';');
        if !is_position && is_operation && has_operations {
            break;
        }
        let end = match is_position {
            true => rest.find(|c: char| c.is_ascii_whitespace()),
            false => rest.find(is_token_end),
        };
        let (field, others) = rest.split_at(end.unwrap_or(rest.len()));
        fields.push(field);
        rest = others.trim_ascii_start();
    }
    (fields, rest)
}

/// Returns the first operand of the first EPD operation with this opcode.
///
/// An operation consists of an opcode, its operands and a semicolon. An operand in quotation marks
/// may contain semicolons and opcodes (PGN standard, section 16.2).
fn find_epd_operand<'t>(mut operations: &'t str, opcode: &str) -> Option<&'t str> {
    let mut is_first = true;
    let mut is_match = false;
    while !operations.is_empty() {
        operations = operations.trim_ascii_start();
        if let Some(rest) = operations.strip_prefix(';') {
            (is_first, is_match) = (true, false);
            operations = rest;
            continue;
        }
        let (token, rest) = match operations.strip_prefix('"') {
            Some(string) => split_quoted_string(string),
            None => {
                let end = operations.find(|c| is_token_end(c) || c == '"');
                operations.split_at(end.unwrap_or(operations.len()))
            }
        };
        if is_match {
            return Some(token);
        }
        is_match = is_first && !operations.starts_with('"') && token == opcode;
        is_first = false;
        operations = rest;
    }
    None
}

/// Returns whether this character ends an EPD opcode or an operand without quotation marks.
const fn is_token_end(c: char) -> bool {
    c.is_ascii_whitespace() || c == ';'
}

/// Splits a quoted string from the text after it. The string ends at the first unescaped quote, or
/// at the end of the text. `text` starts after the opening quote.
fn split_quoted_string(text: &str) -> (&str, &str) {
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    match end {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, ""),
    }
}

/// Sorts castling rights into the standard order `KQkq`. Text that is not a set of castling rights
/// is returned unchanged.
fn order_castling_rights(rights: &str) -> String {
    let letters = "KQkq".chars().filter(|way| rights.contains(*way));
    let ordered: String = letters.collect();
    if ordered.len() == rights.len() {
        ordered
    } else {
        rights.to_owned()
    }
}

/// Number of required FEN fields. The last two fields of FEN are optional and have default values.
const FIELDS_MIN: usize = 4;

const RANKS: usize = 8;
const RANKS_ERROR: &str = "expected eight ranks separated by /";

/// Splits the board field of a FEN string into its ranks, from the eighth rank to the first.
fn fen_ranks(fen: &str) -> impl Iterator<Item = &str> {
    fen.split(' ').next().unwrap_or_default().split('/')
}

/// Returns the reason why `cozy-chess` rejected a FEN string.
fn fen_error_reason(error: &cozy_chess::FenParseError, text: &str) -> &'static str {
    use cozy_chess::FenParseError as Fen;
    let field = |number| text.split(' ').nth(number).unwrap_or_default();
    match error {
        Fen::InvalidBoard => board_error_reason(text),
        Fen::InvalidSideToMove => "the side to move must be w or b",
        Fen::InvalidCastlingRights if !field(2).chars().all(|c| "KQkq".contains(c)) => {
            "castling rights must be letters of KQkq, or -"
        }
        Fen::InvalidCastlingRights => "the castling rights do not match the kings and rooks",
        Fen::InvalidEnPassant if field(3).parse::<CozySquare>().is_err() => {
            "the fourth field must be an en passant square or -"
        }
        Fen::InvalidEnPassant => "no pawn has just passed the en passant square",
        Fen::InvalidHalfMoveClock => "the halfmove clock must be a number",
        Fen::InvalidFullmoveNumber => "the move number must be a number",
        Fen::MissingField => "FEN needs at least four fields",
        Fen::TooManyFields => "FEN has at most six fields",
    }
}

/// Returns the reason why the board in a FEN string is invalid, or why the position is impossible
/// with the given side to move.
fn board_error_reason(text: &str) -> &'static str {
    let ranks: Vec<&str> = fen_ranks(text).collect();
    let board = ranks.join("/");
    let is_valid_char =
        |c: char| c == '/' || ('1'..='8').contains(&c) || "pnbrqkPNBRQK".contains(c);
    if !board.chars().all(is_valid_char) {
        return "pieces must be PNBRQK for White and pnbrqk for Black";
    }
    let squares = |rank: &str| -> u32 { rank.chars().map(|c| c.to_digit(10).unwrap_or(1)).sum() };
    if ranks.iter().any(|rank| squares(rank) != 8) {
        return "each rank must have eight squares";
    }
    let count = |predicate: &dyn Fn(char) -> bool| board.chars().filter(|c| predicate(*c)).count();
    if "kK".chars().any(|king| count(&|c| c == king) != 1) {
        return "each side must have exactly one king";
    }
    if [ranks[0], ranks[7]]
        .iter()
        .any(|rank| rank.contains(['p', 'P']))
    {
        return "a pawn is on the first or last rank";
    }
    let pieces = [char::is_lowercase, char::is_uppercase].map(|of| count(&of));
    let pawns = ['p', 'P'].map(|pawn| count(&|c| c == pawn));
    if pieces.iter().any(|pieces| *pieces > 16) || pawns.iter().any(|pawns| *pawns > 8) {
        return "a side has more than 16 pieces or more than 8 pawns";
    }
    "the side not to move is in check, or too many pieces give check"
}
