//! Positions as they are read: FEN (PGN standard, section 16.1), and EPD (section 16.2), which has operations
//! in the place of the last two fields.

use std::str::FromStr;

use cozy_chess::{Board, Color, File, Square as CozySquare, get_king_moves};

use super::{Chess, HALFMOVE_CLOCK_MAX};
use crate::game::{ParsePositionError, parse_count};

impl FromStr for Chess {
    type Err = ParsePositionError;

    /// Reads FEN, also without its last two fields, or EPD, which has operations in their place.
    /// Refuses what no play can reach as far as is plain: a side without its one king, a king that
    /// could be captured, rights to castle where king or rook have moved.
    fn from_str(text: &str) -> Result<Self, ParsePositionError> {
        let position_error = |reason| ParsePositionError(reason);
        let fen = normalize_fen(text);
        // What reads the rest would take a board that lacks ranks.
        if fen_ranks(&fen).count() != RANKS {
            return Err(position_error(RANKS_ERROR));
        }
        let board = Board::from_fen(&fen, false)
            .map_err(|error| position_error(fen_error_reason(&error, &fen)))?;
        let [white, black] = Color::ALL.map(|color| board.king(color));
        if get_king_moves(white).has(black) {
            return Err(position_error(
                "the board cannot come about: the kings stand beside each other",
            ));
        }
        for color in Color::ALL {
            let rights = board.castle_rights(color);
            let may_castle = rights.short.is_some() || rights.long.is_some();
            if may_castle && board.king(color).file() != File::E {
                return Err(position_error("a king that may castle has moved"));
            }
        }
        // Beyond that, how FEN is written is up to nobody: what is read is told again in the same letters.
        if board.to_string() != fen {
            return Err(position_error("it is not written as FEN is"));
        }
        Ok(Self { board })
    }
}

/// FEN as the standard has it, from what programs and people write: without the plies since a pawn was
/// moved or a piece captured and the number of the move, which are then `0 1`; with a number of the
/// move counted from 0; with rights to castle in any order; with operations behind (EPD), of which
/// `hmvc` and `fmvn` tell these two numbers and the others nothing of the position.
///
/// A count above its maximum becomes the maximum: games in which nobody claims the draw go on past
/// the hundredth ply.
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

/// The fields of FEN, and the operations of EPD behind the first four of them.
fn split_epd_operations(text: &str) -> (Vec<&str>, &str) {
    // Moves have neither sign. They are no operations, and must not be skipped.
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

/// The first operand of the first operation of EPD with this opcode. An operation is an opcode, its
/// operands, and a semicolon. A quoted operand is one string, which may contain semicolons and opcodes
/// (PGN standard, section 16.2).
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

/// Whether a token of EPD that is not quoted ends here.
const fn is_token_end(c: char) -> bool {
    c.is_ascii_whitespace() || c == ';'
}

/// Splits off the string that ends with the next quote without a backslash before it, or with the
/// text. Takes the text behind the opening quote.
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

/// Rights to castle in the order of the standard, if they are such.
fn order_castling_rights(rights: &str) -> String {
    let letters = "KQkq".chars().filter(|way| rights.contains(*way));
    let ordered: String = letters.collect();
    if ordered.len() == rights.len() {
        ordered
    } else {
        rights.to_owned()
    }
}

/// Fields of FEN that nothing can stand for.
const FIELDS_MIN: usize = 4;

const RANKS: usize = 8;
const RANKS_ERROR: &str = "a board has eight ranks, with / between them";

/// The ranks of a FEN, the highest first.
fn fen_ranks(fen: &str) -> impl Iterator<Item = &str> {
    fen.split(' ').next().unwrap_or_default().split('/')
}

/// What is wrong with a FEN.
fn fen_error_reason(error: &cozy_chess::FenParseError, text: &str) -> &'static str {
    use cozy_chess::FenParseError as Fen;
    let field = |number| text.split(' ').nth(number).unwrap_or_default();
    match error {
        Fen::InvalidBoard => board_error_reason(text),
        Fen::InvalidSideToMove => "the side to move is w or b",
        Fen::InvalidCastlingRights if !field(2).chars().all(|c| "KQkq".contains(c)) => {
            "the rights to castle are some of KQkq, or -"
        }
        Fen::InvalidCastlingRights => "these rights to castle cannot be",
        Fen::InvalidEnPassant if field(3).parse::<CozySquare>().is_err() => {
            "behind the rights to castle stands a square that a pawn has passed, or -"
        }
        Fen::InvalidEnPassant => "no pawn has just passed that square",
        Fen::InvalidHalfMoveClock => "the halfmove clock is a number",
        Fen::InvalidFullmoveNumber => "the number of the move is a number",
        Fen::MissingField => "FEN has six fields, and the first four are needed",
        Fen::TooManyFields => "FEN has six fields",
    }
}

/// What is wrong with the board of a FEN, or with who is to move on it.
fn board_error_reason(text: &str) -> &'static str {
    let ranks: Vec<&str> = fen_ranks(text).collect();
    let board = ranks.join("/");
    let is_valid_char =
        |c: char| c == '/' || ('1'..='8').contains(&c) || "pnbrqkPNBRQK".contains(c);
    if !board.chars().all(is_valid_char) {
        return "a piece is one of PNBRQK, or of pnbrqk for black";
    }
    let squares = |rank: &str| -> u32 { rank.chars().map(|c| c.to_digit(10).unwrap_or(1)).sum() };
    if ranks.iter().any(|rank| squares(rank) != 8) {
        return "a rank has eight squares";
    }
    let count = |predicate: &dyn Fn(char) -> bool| board.chars().filter(|c| predicate(*c)).count();
    if "kK".chars().any(|king| count(&|c| c == king) != 1) {
        return "the board cannot come about: each side has one king";
    }
    if [ranks[0], ranks[7]]
        .iter()
        .any(|rank| rank.contains(['p', 'P']))
    {
        return "the board cannot come about: a pawn is on the first or the last rank";
    }
    let pieces = [char::is_lowercase, char::is_uppercase].map(|of| count(&of));
    let pawns = ['p', 'P'].map(|pawn| count(&|c| c == pawn));
    if pieces.iter().any(|pieces| *pieces > 16) || pawns.iter().any(|pawns| *pawns > 8) {
        return "the board cannot come about: a side has at most 16 pieces, 8 of them pawns";
    }
    "the board cannot come about: a king is attacked that should not be, or by too many pieces"
}
