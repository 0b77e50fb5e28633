//! Standard algebraic notation (SAN): `Nf3`, `exd5`, `O-O`, `e8=Q+` (FIDE Laws of Chess, appendix
//! C; Portable Game Notation standard, 1994, section 8.2.3).
//!
//! Moves are written in the form of the PGN standard. The parser is more lenient: it accepts any
//! text that identifies exactly one legal move. For example, it accepts figurines (`♘f3`), the
//! letter `P` for pawns (`Pe4`) and long notation (`Ng1-f3`).

use cozy_chess::{
    BitBoard, Color, File, Piece, Rank, Square as CozySquare, get_bishop_moves, get_knight_moves,
    get_rook_moves,
};

use super::{Chess, Move, piece_letter, square_name};

/// Maximum length of a move in SAN, such as `Qa1xb2#`.
const SAN_BYTES_MAX: usize = 7;

/// Error for text that does not identify exactly one legal move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SanError {
    /// The text is not a move in algebraic notation.
    Unreadable,
    /// No legal move matches the text.
    Illegal,
    /// Several legal moves match the text.
    Ambiguous,
}

/// Description of a move, parsed from SAN text. The origin file and rank are `None` if the text
/// omits them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParsedSan {
    Castling {
        to: File,
    },
    Ordinary {
        piece: Piece,
        file: Option<File>,
        rank: Option<Rank>,
        to: CozySquare,
        promotion: Option<Piece>,
    },
}

impl Chess {
    /// Returns a legal move in standard algebraic notation. `after` is the position after the move.
    pub(super) fn san(&self, m: Move, after: &Self) -> String {
        let mut san = Vec::with_capacity(SAN_BYTES_MAX);
        if self.is_castling(m) {
            san.extend_from_slice(match m.to().file() {
                File::G => b"O-O",
                _ => b"O-O-O",
            });
        } else {
            self.append_san_of_ordinary_move(m, &mut san);
        }
        if after.is_check() {
            san.push(if after.can_move() { b'+' } else { b'#' });
        }
        String::from_utf8(san).expect("SAN is ASCII")
    }

    /// Appends the SAN of a move that is not castling, without the sign for check or mate.
    fn append_san_of_ordinary_move(&self, m: Move, san: &mut Vec<u8>) {
        let piece = self.board.piece_on(m.from()).expect("a piece moves");
        let [from_file, from_rank] = square_name(m.from());
        let is_en_passant = || piece == Piece::Pawn && m.from().file() != m.to().file();
        let is_capture = self.board.occupied().has(m.to()) || is_en_passant();
        if piece == Piece::Pawn {
            if is_capture {
                san.push(from_file);
            }
        } else {
            san.push(piece_letter(piece).to_ascii_uppercase());
            let [needs_file, needs_rank] = self.origin_parts_needed(piece, m);
            if needs_file {
                san.push(from_file);
            }
            if needs_rank {
                san.push(from_rank);
            }
        }
        if is_capture {
            san.push(b'x');
        }
        san.extend_from_slice(&square_name(m.to()));
        if let Some(promotion) = m.promotion() {
            san.extend_from_slice(&[b'=', piece_letter(promotion).to_ascii_uppercase()]);
        }
    }

    /// Returns whether SAN must give the file and the rank of the origin, because other pieces of
    /// the same kind can move to the same square.
    fn origin_parts_needed(&self, piece: Piece, m: Move) -> [bool; 2] {
        let (to, occupied) = (m.to(), self.board.occupied());
        let origins = match piece {
            Piece::Knight => get_knight_moves(to),
            Piece::Bishop => get_bishop_moves(to, occupied),
            Piece::Rook => get_rook_moves(to, occupied),
            Piece::Queen => get_bishop_moves(to, occupied) | get_rook_moves(to, occupied),
            Piece::Pawn | Piece::King => BitBoard::EMPTY,
        };
        let own = self.board.colored_pieces(self.board.side_to_move(), piece);
        let (mut is_ambiguous, mut shares_file, mut shares_rank) = (false, false, false);
        for from in origins & own & !m.from().bitboard() {
            let promotion = None;
            if self.board.is_legal(cozy_chess::Move {
                from,
                to,
                promotion,
            }) {
                is_ambiguous = true;
                shares_file |= from.file() == m.from().file();
                shares_rank |= from.rank() == m.from().rank();
            }
        }
        // The file is preferred. If it does not suffice, the rank is given, or both.
        [is_ambiguous && (!shares_file || shares_rank), shares_file]
    }

    /// Returns the legal move that `text` identifies. If two moves differ only in the case of a
    /// letter, such as `bxc3` and `Bxc3`, the case of that letter decides which move is meant.
    pub(super) fn parse_san(&self, text: &str) -> Result<Move, SanError> {
        let text: String = (strip_en_passant_suffix(strip_nag(text)).chars())
            .filter(|c| !is_ignored_char(*c))
            .map(|c| figurine_letter(c).unwrap_or(c))
            .collect();
        let exact_parse = parse_exact(&text);
        let lenient_parses = || parse_lenient(&text.to_ascii_lowercase());
        let found = self
            .find_legal_move(&exact_parse)
            .or_else(|_| self.find_legal_move(&lenient_parses()));
        // If parsing as SAN fails, the text may still name the origin and destination squares of a
        // move, such as `g1-f3`.
        found.or_else(|why| match text.parse() {
            Ok(m) if why != SanError::Ambiguous && self.is_legal_ignoring_end(m) => Ok(m),
            _ => Err(why),
        })
    }

    /// Returns the only legal move that matches at least one of these parsed moves. Returns an
    /// error if no legal move matches, or if several do.
    fn find_legal_move(&self, candidates: &[ParsedSan]) -> Result<Move, SanError> {
        let turn = self.board.side_to_move();
        if !candidates
            .iter()
            .any(|reading| reading.is_possible_for(turn))
        {
            return Err(SanError::Unreadable);
        }
        let mut found = Err(SanError::Illegal);
        self.for_each_move(|piece, m| {
            if candidates
                .iter()
                .any(|reading| reading.matches(piece, m, self.is_castling(m)))
            {
                found = match found {
                    Err(SanError::Illegal) => Ok(m),
                    _ => Err(SanError::Ambiguous),
                };
            }
        });
        found
    }
}

impl ParsedSan {
    /// Returns whether a move by the side `turn` could match this parsed text in at least one
    /// position. White pawns never move to rank 1 or 2, and black pawns never move to rank 8 or 7.
    fn is_possible_for(&self, turn: Color) -> bool {
        match self {
            Self::Ordinary {
                piece: Piece::Pawn,
                to,
                ..
            } => {
                let rank = to.rank();
                rank != Rank::First.relative_to(turn) && rank != Rank::Second.relative_to(turn)
            }
            Self::Ordinary { .. } | Self::Castling { .. } => true,
        }
    }

    fn matches(&self, moved_piece: Piece, m: Move, is_castling: bool) -> bool {
        match *self {
            Self::Castling { to } => is_castling && m.to().file() == to,
            Self::Ordinary {
                piece,
                file,
                rank,
                to,
                promotion,
            } => {
                moved_piece == piece
                    && !is_castling
                    && m.to() == to
                    && m.promotion() == promotion
                    && file.is_none_or(|file| m.from().file() == file)
                    && rank.is_none_or(|rank| m.from().rank() == rank)
            }
        }
    }
}

/// Returns whether the parser ignores a character: whitespace, hyphens, and symbols for captures,
/// check, promotion and annotations. The parser does not need these symbols to identify a move.
fn is_ignored_char(c: char) -> bool {
    // Variation selectors choose between text and emoji rendering of a figurine.
    let is_variation_selector = matches!(c, '\u{fe0e}' | '\u{fe0f}');
    c.is_whitespace() || is_variation_selector || "xX×:=/()-‐‑–—−+†‡#!?‼⁉⁇⁈".contains(c)
}

/// Removes a numeric annotation glyph (NAG) of PGN, such as `$14`, from the end of the text.
fn strip_nag(text: &str) -> &str {
    match text.trim_end().rsplit_once('$') {
        Some((m, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => m,
        _ => text,
    }
}

/// Removes an en passant suffix and the symbols after it, as in `exd3 e.p.+`.
fn strip_en_passant_suffix(text: &str) -> &str {
    let text = text.trim_end_matches(is_ignored_char);
    let ends = ["e.p.", "e.p", "ep"].iter().filter_map(|word| {
        let (m, end) = text.split_at_checked(text.len().checked_sub(word.len())?)?;
        end.eq_ignore_ascii_case(word).then_some(m)
    });
    ends.min_by_key(|m| m.len()).unwrap_or(text)
}

/// Returns the piece letter for a white or black chess figurine, such as `K` for `♔` and `♚`. The
/// letter for pawns is `P`.
const fn figurine_letter(figurine: char) -> Option<char> {
    Some(match figurine {
        '♔' | '♚' => 'K',
        '♕' | '♛' => 'Q',
        '♖' | '♜' => 'R',
        '♗' | '♝' => 'B',
        '♘' | '♞' => 'N',
        '♙' | '♟' => 'P',
        _ => return None,
    })
}

/// Parses SAN text. Capital letters are pieces, and lower-case letters are files.
fn parse_exact(text: &str) -> Vec<ParsedSan> {
    let parsed = match text.bytes().next() {
        Some(b'O' | b'0') => parse_castling(&text.to_ascii_lowercase()),
        Some(first) if first.is_ascii_uppercase() => {
            parse_piece(first).and_then(|piece| parse_piece_move(piece, &text[1..]))
        }
        _ => parse_piece_move(Piece::Pawn, text),
    };
    parsed.into_iter().collect()
}

/// Returns all possible interpretations of lower-case SAN text. For example, `b` can be a bishop or
/// a file.
fn parse_lenient(text: &str) -> Vec<ParsedSan> {
    let piece_move = text.bytes().next().and_then(|first| {
        let piece = parse_piece(first.to_ascii_uppercase())?;
        parse_piece_move(piece, &text[1..])
    });
    let candidates = [
        parse_castling(text),
        parse_piece_move(Piece::Pawn, text),
        piece_move,
    ];
    candidates.into_iter().flatten().collect()
}

fn parse_castling(text: &str) -> Option<ParsedSan> {
    let to = match text {
        "00" | "oo" => File::G,
        "000" | "ooo" => File::C,
        _ => return None,
    };
    Some(ParsedSan::Castling { to })
}

/// Parses the text after the piece letter. This text consists of an optional origin (a file, a rank
/// or both), the destination square and an optional promotion piece.
fn parse_piece_move(piece: Piece, text: &str) -> Option<ParsedSan> {
    let bytes = text.as_bytes();
    let (bytes, promotion) = match bytes {
        [rest @ .., last] if piece == Piece::Pawn && last.is_ascii_alphabetic() => {
            (rest, Some(parse_promotion(*last)?))
        }
        _ => (bytes, None),
    };
    let (origin, to) = bytes.split_last_chunk::<2>()?;
    let to = CozySquare::new(parse_file(to[0])?, parse_rank(to[1])?);
    let (file, rank) = match origin {
        [] => (None, None),
        [one] => (parse_file(*one), parse_rank(*one)),
        [first, second] => (Some(parse_file(*first)?), Some(parse_rank(*second)?)),
        _ => return None,
    };
    if origin.len() == 1 && file.is_none() && rank.is_none() {
        return None;
    }
    Some(ParsedSan::Ordinary {
        piece,
        file,
        rank,
        to,
        promotion,
    })
}

pub(super) fn parse_file(letter: u8) -> Option<File> {
    File::try_index(usize::from(letter.checked_sub(b'a')?))
}

pub(super) fn parse_rank(digit: u8) -> Option<Rank> {
    Rank::try_index(usize::from(digit.checked_sub(b'1')?))
}

/// Returns the piece that the given capital letter stands for. `P` is accepted for pawns, although
/// SAN omits it.
fn parse_piece(letter: u8) -> Option<Piece> {
    let letter = Some(char::from(letter)).filter(char::is_ascii_uppercase)?;
    Piece::try_from(letter.to_ascii_lowercase()).ok()
}

/// Returns the promotion piece that the given upper-case or lower-case letter stands for.
pub(super) fn parse_promotion(letter: u8) -> Option<Piece> {
    parse_piece(letter.to_ascii_uppercase())
        .filter(|piece| !matches!(piece, Piece::Pawn | Piece::King))
}
