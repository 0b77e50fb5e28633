//! Reads lists of moves as players and programs write them, and plays the moves.
//!
//! A word of the list is a move in any notation that [`Position::read_move`] takes, or several moves with
//! nothing between them. Where one of them ends depends on the position: `e7e8qd8e8` and `d3passc5` have
//! moves of different lengths.

use super::movetext_tokenizer::{Token, tokenize};
use super::{ErasedPosition, IllegalMoveError, PlayError, SetUpError, uses_san};
use crate::game::{GameHistory, IllegalMove, Position, RecordFormat};

/// Longest text of a move among joined moves, in bytes: a chain of nine jumps in draughts.
const MOVE_BYTES_MAX: usize = 29;

/// How many further moves have to be legal where the next move of a joined text can end at several places.
const LOOKAHEAD_PLIES: u32 = 2;

/// An error quotes the beginning of an unreadable text, in characters.
const QUOTE_CHARS_MAX: usize = 20;

const UNCLOSED_BRACKET: IllegalMove = IllegalMove("opens a comment or a variation that has no end");
const MOVE_AFTER_RESULT: IllegalMove = IllegalMove("comes after the result of the game");
const GAME_TOO_LONG: IllegalMove = IllegalMove("would make the game longer than any can be");

/// Results of games in PGN, and of draughts games in PDN as well.
const PGN_RESULTS: [&str; 5] = ["*", "1-0", "0-1", "1/2-1/2", "½-½"];
const PDN_RESULTS: [&str; 4] = ["2-0", "0-2", "1-1", "0-0"];

/// How the moves of a game are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notation {
    boundary: MoveBoundary,
    /// Whether a move is a number.
    is_numeric: bool,
}

/// Where one of several joined moves ends in canonical notation.
#[derive(Clone, Copy, Debug)]
enum MoveBoundary {
    /// Each move has this many bytes.
    FixedWidth(usize),
    /// Each move begins with a letter, and has no other.
    LeadingLetter,
    /// The notation does not tell.
    Unknown,
}

impl Notation {
    /// The notation of a game that begins with one of these moves.
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

    /// Splits off the first move of a text.
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

    /// The moves of a text.
    fn split_all(self, text: &str) -> impl Iterator<Item = &str> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let (m, others) = self.split_first(rest);
            rest = others;
            (!m.is_empty()).then_some(m)
        })
    }
}

/// Plays the moves of a text.
#[derive(Debug)]
pub(super) struct MoveReader<'a, P: Position> {
    pos: &'a mut ErasedPosition<P>,
    notation: Notation,
    /// Whether the text is a record of a game: it may leave out forced passes, and continue after a draw
    /// that nobody has claimed.
    is_record: bool,
    played_moves: Vec<P::Move>,
    /// The last move number, and how many moves came before it.
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

    /// Plays moves with spaces or commas between them, as an engine protocol gives them.
    ///
    /// # Errors
    ///
    /// As of [`AnalysisBoard::play_moves`](super::AnalysisBoard::play_moves).
    pub(super) fn play_moves(mut self, text: &str) -> Result<(), SetUpError> {
        for word in text.split([' ', ',', '\t']).filter(|word| !word.is_empty()) {
            self.play_word(word)?;
        }
        Ok(())
    }

    /// Plays the moves of a record and returns them.
    ///
    /// # Errors
    ///
    /// As of [`AnalysisBoard::play_record`](super::AnalysisBoard::play_record).
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

    /// The part of a word that names moves: without a move number before it and marks behind it. Empty
    /// for a move number, a result or marks alone.
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

    /// Whether a number without a full stop is the next move number: any number before the first move,
    /// and else the last number or the one after it.
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

    /// A move without the marks of praise, blame and check behind it, if these tell nothing of the move.
    fn strip_marks<'t>(&self, word: &'t str) -> &'t str {
        let bare = word.trim_end_matches(['!', '?']);
        if !uses_san::<P>() || self.played_moves.is_empty() {
            return bare;
        }
        // A space may stand before these signs, which belong to the move before them.
        match bare.trim_end_matches(['+', '#']) {
            "" | "e.p." | "ep" => "",
            _ => bare,
        }
    }

    /// Plays the moves of a word.
    fn play_word(&mut self, word: &str) -> Result<(), SetUpError> {
        let Err(word_error) = self.play_move(word) else {
            return Ok(());
        };
        // A text that names a move is that move, also where it is illegal.
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
        // Of two errors at the same ply the one by position names a whole move: `passpass` is no `pa` and `ss`.
        let furthest = match position_error {
            Some(error) if ply_of_error(&error) >= ply_of_error(&boundary_error) => error,
            _ => boundary_error,
        };
        let names_a_move = ply_of_error(&furthest) > plies
            || self.notation.boundary.split_all(word).all(is_canonical);
        Err(if names_a_move { furthest } else { word_error })
    }

    /// Plays the moves of a word that are written in canonical notation. It takes next to no time.
    fn play_split_by_boundary(&mut self, word: &str) -> Result<(), SetUpError> {
        for m in self.notation.boundary.split_all(word) {
            self.play_move(m)?;
        }
        Ok(())
    }

    /// Plays the moves of a word, each of which ends where the position has such a move.
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

    /// Plays the move that `text` names; in a record also after an unclaimed draw or an omitted pass.
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

/// Length of the first of several joined moves, in bytes. `None` if no legal move is written so.
///
/// Of several lengths the longest is taken after which the next moves can be read as well.
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

/// Whether the text begins with this many legal moves, or ends before.
fn starts_with_legal_moves<P: Position>(pos: &P, text: &str, plies: u32) -> bool {
    plies == 0
        || text.is_empty()
        || possible_first_moves(pos, text)
            .any(|(end, after)| starts_with_legal_moves(&after, &text[end..], plies - 1))
}

/// The legal moves with which a text can begin, the longest text first: its length in bytes, and the
/// position after the move.
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

/// The part of an unreadable text that an error quotes.
pub(super) fn quoted_prefix(text: &str) -> String {
    text.chars().take(QUOTE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests;
