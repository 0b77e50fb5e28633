//! Reads lists of moves as written by players and programs, and plays the moves.
//!
//! Each word of a list is a move in any notation that [`Position::read_move`] accepts, or several
//! moves joined without separators. The end of a joined move may depend on the position. For
//! example, `e7e8qd8e8` and `d3passc5` contain moves of different lengths.

use super::movetext_tokenizer::{Token, tokenize};
use super::{ErasedPosition, IllegalMoveError, PlayError, SetUpError, uses_san};
use crate::game::{GameHistory, IllegalMove, Position, RecordFormat};

/// Maximum length of a single move among joined moves, in bytes. The longest move is a draughts
/// move with nine jumps.
const MOVE_BYTES_MAX: usize = 29;

/// Number of plies that the reader looks ahead to find where a joined move ends. If several ends
/// are possible, the reader prefers an end that makes the following moves legal.
const LOOKAHEAD_PLIES: u32 = 2;

/// Maximum number of characters that an error message quotes from rejected text.
const QUOTE_CHARS_MAX: usize = 20;

const UNCLOSED_BRACKET: IllegalMove =
    IllegalMove("opens a comment or variation that is never closed");
const MOVE_AFTER_RESULT: IllegalMove = IllegalMove("follows the game result");
const GAME_TOO_LONG: IllegalMove = IllegalMove("exceeds the maximum length of a game");

/// Game results in PGN and in draughts records (PDN). PDN records use both `PGN_RESULTS` and
/// `PDN_RESULTS`.
const PGN_RESULTS: [&str; 5] = ["*", "1-0", "0-1", "1/2-1/2", "½-½"];
const PDN_RESULTS: [&str; 4] = ["2-0", "0-2", "1-1", "0-0"];

/// Properties of a game's move notation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notation {
    boundary: MoveBoundary,
    /// Whether the moves of the game are plain numbers, such as the columns of Connect Four.
    is_numeric: bool,
}

/// Rule that finds the end of a joined move in canonical notation.
#[derive(Clone, Copy, Debug)]
enum MoveBoundary {
    /// Every move has this length in bytes.
    FixedWidth(usize),
    /// Every move begins with a letter, and all of its other characters are digits.
    LeadingLetter,
    /// The end of a move cannot be found without the position.
    Unknown,
}

impl Notation {
    /// Derives the notation of a game from the legal moves of its initial position.
    pub(super) fn from_moves(moves: &[String]) -> Self {
        let is_number = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit());
        Self {
            boundary: MoveBoundary::from_moves(moves),
            is_numeric: moves.iter().all(is_number),
        }
    }
}

impl MoveBoundary {
    fn from_moves(moves: &[String]) -> Self {
        let mut widths = moves.iter().map(String::len);
        let first = widths.next().unwrap_or_default();
        let is_square = |text: &String| {
            let (letter, number) = text.split_at_checked(1).unwrap_or_default();
            letter.bytes().all(|byte| byte.is_ascii_alphabetic())
                && number.bytes().all(|byte| byte.is_ascii_digit())
        };
        if widths.all(|width| width == first) {
            Self::FixedWidth(first)
        } else if moves.iter().all(is_square) {
            Self::LeadingLetter
        } else {
            Self::Unknown
        }
    }

    /// Splits joined moves after the first move. Returns the first move and the rest.
    fn split_first(self, text: &str) -> (&str, &str) {
        let end = match self {
            Self::FixedWidth(width) => width,
            Self::LeadingLetter => {
                let mut bytes = text.bytes().enumerate().skip(1);
                let next = bytes.find(|(_, byte)| byte.is_ascii_alphabetic());
                next.map_or(text.len(), |(at, _)| at)
            }
            Self::Unknown => text.len(),
        };
        text.split_at_checked(end).unwrap_or((text, ""))
    }

    /// Splits joined moves into single moves.
    fn split_all(self, text: &str) -> impl Iterator<Item = &str> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let (m, others) = self.split_first(rest);
            rest = others;
            (!m.is_empty()).then_some(m)
        })
    }
}

/// Reads moves from text and plays them.
#[derive(Debug)]
pub(super) struct MoveReader<'a, P: Position> {
    pos: &'a mut ErasedPosition<P>,
    notation: Notation,
    /// Whether the text is a game record. A record may leave out forced passes, and may continue
    /// after an unclaimed draw.
    is_record: bool,
    played_moves: Vec<P::Move>,
    /// The last move number in the text, such as 12 for `12.`, and the number of moves that were
    /// played before this number was read.
    last_number: Option<(u32, usize)>,
    has_seen_result: bool,
}

impl<'a, P: Position> MoveReader<'a, P> {
    pub(super) const fn new(pos: &'a mut ErasedPosition<P>, notation: Notation) -> Self {
        Self {
            pos,
            notation,
            is_record: false,
            played_moves: Vec::new(),
            last_number: None,
            has_seen_result: false,
        }
    }

    /// Plays moves separated by spaces or commas, as in engine protocols.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`AnalysisBoard::play_moves`](super::AnalysisBoard::play_moves).
    pub(super) fn play_moves(mut self, text: &str) -> Result<(), SetUpError> {
        for word in text.split([' ', ',', '\t']).filter(|word| !word.is_empty()) {
            self.play_word(word)?;
        }
        Ok(())
    }

    /// Plays the moves of a game record and returns them.
    ///
    /// # Errors
    ///
    /// Returns the same errors as
    /// [`AnalysisBoard::play_record`](super::AnalysisBoard::play_record).
    pub(super) fn play_record(mut self, text: &str) -> Result<Vec<P::Move>, SetUpError> {
        self.is_record = true;
        for token in tokenize(text) {
            match token {
                Token::Unclosed(bracket) => {
                    return Err(self.illegal_move_error(bracket, UNCLOSED_BRACKET));
                }
                Token::Word(word) => {
                    let joined = self.extract_moves(word)?;
                    if !joined.is_empty() {
                        self.play_word(joined)?;
                    }
                }
            }
        }
        Ok(self.played_moves)
    }

    /// Returns the part of a word that names moves. Removes a move number at the beginning of the
    /// word and annotation marks at its end. Returns an empty string if the word is only a move
    /// number, a result or marks.
    fn extract_moves<'t>(&mut self, word: &'t str) -> Result<&'t str, SetUpError> {
        if self.has_seen_result {
            return Err(self.illegal_move_error(word, MOVE_AFTER_RESULT));
        }
        if is_game_result::<P>(word) {
            self.has_seen_result = true;
            return Ok("");
        }
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let (number, after_number) = word.split_at(digits);
        let rest = after_number.trim_start_matches(['.', '…']);
        let is_bare = after_number.is_empty() && !self.notation.is_numeric;
        if rest.len() == after_number.len() && !(is_bare && self.is_next_move_number(number)) {
            return Ok(self.strip_marks(word));
        }
        if let Ok(number) = number.parse() {
            self.last_number = Some((number, self.played_moves.len()));
        }
        Ok(self.strip_marks(rest))
    }

    /// Returns whether a number without a full stop can be the next move number. Before the first
    /// move, any number is accepted. Later, the number must be equal to the last move number or
    /// greater by one.
    fn is_next_move_number(&self, number: &str) -> bool {
        let Ok(number) = number.parse::<u32>() else {
            return false;
        };
        match self.last_number {
            None => self.played_moves.is_empty(),
            Some((last, plies)) => {
                plies < self.played_moves.len()
                    && (number == last || Some(number) == last.checked_add(1))
            }
        }
    }

    /// Returns the word without the annotation marks `!` and `?` at its end. In chess, returns an
    /// empty string if only the sign for check, mate or en passant remains.
    fn strip_marks<'t>(&self, word: &'t str) -> &'t str {
        let bare = word.trim_end_matches(['!', '?']);
        if !uses_san::<P>() || self.played_moves.is_empty() {
            return bare;
        }
        // Some chess records write a space between a move and its sign for check, mate or en
        // passant.
        match bare.trim_end_matches(['+', '#']) {
            "" | "e.p." | "ep" => "",
            _ => bare,
        }
    }

    /// Plays the moves of a word, which is a single move or several joined moves.
    fn play_word(&mut self, word: &str) -> Result<(), SetUpError> {
        let Err(word_error) = self.play_move(word) else {
            return Ok(());
        };
        // A word that names a single move is never split, even if this move is illegal.
        if matches!(word_error, SetUpError::Illegal { .. }) {
            return Err(word_error);
        }
        let plies = self.played_moves.len();
        let start = self.is_record.then(|| self.pos.0.clone());
        let Err(boundary_error) = self.play_split_by_boundary(word) else {
            return Ok(());
        };
        let mut position_error = None;
        if let Some(start) = start {
            self.pos.0 = start;
            self.played_moves.truncate(plies);
            position_error = self.play_split_by_position(word).err();
            if position_error.is_none() {
                return Ok(());
            }
        }
        let is_canonical = |text: &str| text.parse::<P::Move>().is_ok();
        // If both ways of splitting the word fail at the same ply, the error of
        // `play_split_by_position` is clearer, because it quotes an entire move.
        // `play_split_by_boundary` reads `passpass` as `pa` and `ss`.
        let furthest = match position_error {
            Some(error) if ply_of_error(&error) >= ply_of_error(&boundary_error) => error,
            _ => boundary_error,
        };
        let names_a_move = ply_of_error(&furthest) > plies
            || self.notation.boundary.split_all(word).all(is_canonical);
        Err(if names_a_move { furthest } else { word_error })
    }

    /// Plays joined moves in canonical notation, which are split by the rule of [`MoveBoundary`].
    /// This is much faster than `play_split_by_position`.
    fn play_split_by_boundary(&mut self, word: &str) -> Result<(), SetUpError> {
        for m in self.notation.boundary.split_all(word) {
            self.play_move(m)?;
        }
        Ok(())
    }

    /// Plays joined moves in any notation. To find the end of a move, the reader checks which
    /// prefixes of the text are legal moves in the position.
    fn play_split_by_position(&mut self, word: &str) -> Result<(), SetUpError> {
        let mut rest = word;
        while !rest.is_empty() {
            match first_move_length(self.pos.0.position(), rest) {
                Some(end) => {
                    self.play_move(&rest[..end])?;
                    rest = &rest[end..];
                }
                None => {
                    let (m, _) = self.notation.boundary.split_first(rest);
                    return match self.play_move(m) {
                        Err(SetUpError::UnreadableMove { .. }) | Ok(()) => self.play_move(rest),
                        illegal => illegal,
                    };
                }
            }
        }
        Ok(())
    }

    /// Plays the move that `text` names.
    fn play_move(&mut self, text: &str) -> Result<(), SetUpError> {
        if self.played_moves.len() >= P::INFO.plies_max as usize {
            return Err(self.illegal_move_error(text, GAME_TOO_LONG));
        }
        self.play_with_record_rules(text)
            .map_err(|error| match error {
                PlayError::Unreadable(why) => SetUpError::UnreadableMove {
                    ply: self.played_moves.len(),
                    text: quoted_prefix(text),
                    reason: why,
                },
                PlayError::Illegal(why) => SetUpError::Illegal {
                    ply: self.played_moves.len(),
                    reason: why,
                },
            })
    }

    /// Plays the move that `text` names. In a record, the move may continue the game after an
    /// unclaimed draw. If the record leaves out a forced pass before the move, the function plays
    /// the pass too.
    fn play_with_record_rules(&mut self, text: &str) -> Result<(), PlayError> {
        let error = match self.pos.play_move_text(text) {
            Ok(m) => {
                self.played_moves.push(m);
                return Ok(());
            }
            Err(error) => error,
        };
        if !self.is_record {
            return Err(error);
        }
        if self.pos.0.waive_draw() {
            self.played_moves.push(self.pos.play_move_text(text)?);
            return Ok(());
        }
        let Some(omitted) = self.pos.0.position().implicit_pass() else {
            return Err(error);
        };
        let mut history_after: GameHistory<P> = self.pos.0.clone();
        history_after
            .play(omitted)
            .expect("the implicit pass is legal");
        let mut position_after = ErasedPosition(history_after);
        let Ok(m) = position_after.play_move_text(text) else {
            return Err(error);
        };
        *self.pos = position_after;
        self.played_moves.extend([omitted, m]);
        Ok(())
    }

    fn illegal_move_error(&self, text: &str, reason: IllegalMove) -> SetUpError {
        SetUpError::Illegal {
            ply: self.played_moves.len(),
            reason: IllegalMoveError {
                m: quoted_prefix(text),
                reason,
            },
        }
    }
}

fn is_game_result<P: Position>(word: &str) -> bool {
    let is_pdn = matches!(P::RECORD_FORMAT, Some(RecordFormat::Pdn { .. }));
    PGN_RESULTS.contains(&word) || is_pdn && PDN_RESULTS.contains(&word)
}

const fn ply_of_error(error: &SetUpError) -> usize {
    match error {
        SetUpError::Unreadable { .. } => 0,
        SetUpError::UnreadableMove { ply, .. } | SetUpError::Illegal { ply, .. } => *ply,
    }
}

/// Returns the length of the first of several joined moves, in bytes. Returns `None` if the text
/// does not begin with a legal move.
///
/// If several lengths are possible, prefers a length that lets the rest of the text begin with
/// legal moves. If several lengths are equally good, returns the longest of them.
fn first_move_length<P: Position>(pos: &P, text: &str) -> Option<usize> {
    let first: Vec<(usize, P)> = possible_first_moves(pos, text).collect();
    if let [(end, _)] = first[..] {
        return Some(end);
    }
    let is_readable =
        |(end, after): &&(usize, P)| starts_with_legal_moves(after, &text[*end..], LOOKAHEAD_PLIES);
    let found = first.iter().find(is_readable).or(first.first());
    found.map(|(end, _)| *end)
}

/// Returns whether the text begins with `plies` legal moves, or consists entirely of fewer legal
/// moves.
fn starts_with_legal_moves<P: Position>(pos: &P, text: &str, plies: u32) -> bool {
    plies == 0
        || text.is_empty()
        || possible_first_moves(pos, text)
            .any(|(end, after)| starts_with_legal_moves(&after, &text[end..], plies - 1))
}

/// Finds every prefix of the text that is a legal move. Returns the length of each prefix in bytes
/// and the position after the move, longest prefix first.
fn possible_first_moves<P: Position>(pos: &P, text: &str) -> impl Iterator<Item = (usize, P)> {
    let continued = pos.with_draw_waived().unwrap_or_else(|| pos.clone());
    let omitted = pos.implicit_pass().map(|m| pos.after(m));
    let starts: Vec<P> = [Some(continued), omitted].into_iter().flatten().collect();
    let ends = (1..=text.len().min(MOVE_BYTES_MAX)).rev();
    let ends = ends.filter(|end| text.is_char_boundary(*end));
    ends.filter_map(move |end| {
        starts.iter().find_map(|before| {
            let m = before.read_move(&text[..end]).ok()?;
            before.check_legal(m).ok()?;
            Some((end, before.after(m)))
        })
    })
}

/// Returns the beginning of rejected text, short enough for an error message.
pub(super) fn quoted_prefix(text: &str) -> String {
    text.chars().take(QUOTE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests;
