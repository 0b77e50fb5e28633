//! Reads lists of moves as players and programs write them, and plays the moves.
//!
//! A word of the list is a move in any notation that [`Position::read_move`] takes, or several moves with
//! nothing between them. Where one of them ends depends on the position: `e7e8qd8e8` and `d3passc5` have
//! moves of different lengths.

use super::movetext::{Token, tokens};
use super::{Erased, IllegalHere, PlayError, SetUpError, writes_san};
use crate::game::{Course, IllegalMove, Position, RecordFormat};

/// Longest text of a move among joined moves, in bytes: a chain of nine jumps in draughts.
const MOVE_BYTES_MAX: usize = 29;

/// How many further moves have to be legal where the next move of a joined text can end at several places.
const LOOKAHEAD: u32 = 2;

/// An error quotes the beginning of an unreadable text, in characters.
const QUOTE_CHARS_MAX: usize = 20;

const UNCLOSED: IllegalMove = IllegalMove("opens a comment or a variation that has no end");
const AFTER_RESULT: IllegalMove = IllegalMove("comes after the result of the game");
const TOO_LONG: IllegalMove = IllegalMove("would make the game longer than any can be");

/// Results of games in PGN, and of draughts games in PDN as well.
const RESULTS: [&str; 5] = ["*", "1-0", "0-1", "1/2-1/2", "½-½"];
const PDN_RESULTS: [&str; 4] = ["2-0", "0-2", "1-1", "0-0"];

/// How the moves of a game are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notation {
    seam: Seam,
    /// Whether a move is a number.
    is_numeric: bool,
}

/// Where one of several joined moves ends in canonical notation.
#[derive(Clone, Copy, Debug)]
enum Seam {
    /// Each move has this many bytes.
    Width(usize),
    /// Each move begins with a letter, and has no other.
    Letter,
    /// The notation does not tell.
    None,
}

impl Notation {
    /// The notation of a game that begins with one of these moves.
    pub(super) fn of(moves: &[String]) -> Self {
        let is_number = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit());
        Self {
            seam: Seam::of(moves),
            is_numeric: moves.iter().all(is_number),
        }
    }
}

impl Seam {
    fn of(moves: &[String]) -> Self {
        let mut widths = moves.iter().map(String::len);
        let first = widths.next().unwrap_or_default();
        let is_square = |text: &String| {
            let (letter, number) = text.split_at_checked(1).unwrap_or_default();
            letter.bytes().all(|byte| byte.is_ascii_alphabetic())
                && number.bytes().all(|byte| byte.is_ascii_digit())
        };
        if widths.all(|width| width == first) {
            Self::Width(first)
        } else if moves.iter().all(is_square) {
            Self::Letter
        } else {
            Self::None
        }
    }

    /// Splits off the first move of a text.
    fn split(self, text: &str) -> (&str, &str) {
        let end = match self {
            Self::Width(width) => width,
            Self::Letter => {
                let mut bytes = text.bytes().enumerate().skip(1);
                let next = bytes.find(|(_, byte)| byte.is_ascii_alphabetic());
                next.map_or(text.len(), |(at, _)| at)
            }
            Self::None => text.len(),
        };
        text.split_at_checked(end).unwrap_or((text, ""))
    }

    /// The moves of a text.
    fn split_all(self, text: &str) -> impl Iterator<Item = &str> {
        let mut rest = text;
        std::iter::from_fn(move || {
            let (m, others) = self.split(rest);
            rest = others;
            (!m.is_empty()).then_some(m)
        })
    }
}

/// Plays the moves of a text.
#[derive(Debug)]
pub(super) struct MoveReader<'a, P: Position> {
    pos: &'a mut Erased<P>,
    notation: Notation,
    /// Whether the text is a record of a game: it may leave out forced passes, and continue after a draw
    /// that nobody has claimed.
    is_record: bool,
    played: Vec<P::Move>,
    /// The last move number, and how many moves came before it.
    number: Option<(u32, usize)>,
    has_result: bool,
}

impl<'a, P: Position> MoveReader<'a, P> {
    pub(super) const fn new(pos: &'a mut Erased<P>, notation: Notation) -> Self {
        Self {
            pos,
            notation,
            is_record: false,
            played: Vec::new(),
            number: None,
            has_result: false,
        }
    }

    /// Plays moves with spaces or commas between them, as an engine protocol gives them.
    ///
    /// # Errors
    ///
    /// As of [`Analyst::play`](super::Analyst::play).
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
    /// As of [`Analyst::play_record`](super::Analyst::play_record).
    pub(super) fn play_record(mut self, text: &str) -> Result<Vec<P::Move>, SetUpError> {
        self.is_record = true;
        for token in tokens(text) {
            match token {
                Token::Unclosed(bracket) => return Err(self.refused(bracket, UNCLOSED)),
                Token::Word(word) => {
                    let joined = self.moves_in(word)?;
                    if !joined.is_empty() {
                        self.play_word(joined)?;
                    }
                }
            }
        }
        Ok(self.played)
    }

    /// The part of a word that names moves: without a move number before it and marks behind it. Empty
    /// for a move number, a result or marks alone.
    fn moves_in<'t>(&mut self, word: &'t str) -> Result<&'t str, SetUpError> {
        if self.has_result {
            return Err(self.refused(word, AFTER_RESULT));
        }
        if is_result::<P>(word) {
            self.has_result = true;
            return Ok("");
        }
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let (number, behind) = word.split_at(digits);
        let rest = behind.trim_start_matches(['.', '…']);
        let is_bare = behind.is_empty() && !self.notation.is_numeric;
        if rest.len() == behind.len() && !(is_bare && self.is_next(number)) {
            return Ok(self.without_marks(word));
        }
        if let Ok(number) = number.parse() {
            self.number = Some((number, self.played.len()));
        }
        Ok(self.without_marks(rest))
    }

    /// Whether a number without a full stop is the next move number: any number before the first move,
    /// and else the last number or the one after it.
    fn is_next(&self, number: &str) -> bool {
        let Ok(number) = number.parse::<u32>() else {
            return false;
        };
        match self.number {
            None => self.played.is_empty(),
            Some((last, plies)) => {
                plies < self.played.len() && (number == last || Some(number) == last.checked_add(1))
            }
        }
    }

    /// A move without the marks of praise, blame and check behind it, if these tell nothing of the move.
    fn without_marks<'t>(&self, word: &'t str) -> &'t str {
        let bare = word.trim_end_matches(['!', '?']);
        if !writes_san::<P>() || self.played.is_empty() {
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
        let Err(whole) = self.play_one(word) else {
            return Ok(());
        };
        // A text that names a move is that move, also where it is illegal.
        if matches!(whole, SetUpError::Illegal { .. }) {
            return Err(whole);
        }
        let plies = self.played.len();
        let start = self.is_record.then(|| self.pos.0.clone());
        let Err(by_seam) = self.play_by_seam(word) else {
            return Ok(());
        };
        let mut by_position = None;
        if let Some(start) = start {
            self.pos.0 = start;
            self.played.truncate(plies);
            by_position = self.play_by_position(word).err();
            if by_position.is_none() {
                return Ok(());
            }
        }
        let is_canonical = |text: &str| text.parse::<P::Move>().is_ok();
        // Of two errors at the same ply the one by position names a whole move: `passpass` is no `pa` and `ss`.
        let furthest = match by_position {
            Some(error) if ply_of(&error) >= ply_of(&by_seam) => error,
            _ => by_seam,
        };
        let is_of_a_move =
            ply_of(&furthest) > plies || self.notation.seam.split_all(word).all(is_canonical);
        Err(if is_of_a_move { furthest } else { whole })
    }

    /// Plays the moves of a word that are written in canonical notation. It takes next to no time.
    fn play_by_seam(&mut self, word: &str) -> Result<(), SetUpError> {
        for m in self.notation.seam.split_all(word) {
            self.play_one(m)?;
        }
        Ok(())
    }

    /// Plays the moves of a word, each of which ends where the position has such a move.
    fn play_by_position(&mut self, word: &str) -> Result<(), SetUpError> {
        let mut rest = word;
        while !rest.is_empty() {
            match first_move_end(self.pos.0.position(), rest) {
                Some(end) => {
                    self.play_one(&rest[..end])?;
                    rest = &rest[end..];
                }
                None => {
                    let (m, _) = self.notation.seam.split(rest);
                    return match self.play_one(m) {
                        Err(SetUpError::UnreadableMove { .. }) | Ok(()) => self.play_one(rest),
                        illegal => illegal,
                    };
                }
            }
        }
        Ok(())
    }

    /// Plays the move that `text` names.
    fn play_one(&mut self, text: &str) -> Result<(), SetUpError> {
        if self.played.len() >= P::INFO.plies_max as usize {
            return Err(self.refused(text, TOO_LONG));
        }
        self.play_or_continue(text).map_err(|error| match error {
            PlayError::Unreadable(why) => SetUpError::UnreadableMove {
                ply: self.played.len(),
                text: beginning(text),
                why,
            },
            PlayError::Illegal(why) => SetUpError::Illegal {
                ply: self.played.len(),
                why,
            },
        })
    }

    /// Plays the move that `text` names; in a record also after an unclaimed draw or an omitted pass.
    fn play_or_continue(&mut self, text: &str) -> Result<(), PlayError> {
        let error = match self.pos.play_text(text) {
            Ok(m) => {
                self.played.push(m);
                return Ok(());
            }
            Err(error) => error,
        };
        if !self.is_record {
            return Err(error);
        }
        if self.pos.0.waive_draw() {
            self.played.push(self.pos.play_text(text)?);
            return Ok(());
        }
        let Some(omitted) = self.pos.0.position().omissible_move() else {
            return Err(error);
        };
        let mut after: Course<P> = self.pos.0.clone();
        after.play(omitted).expect("it is the only legal move");
        let mut after = Erased(after);
        let Ok(m) = after.play_text(text) else {
            return Err(error);
        };
        *self.pos = after;
        self.played.extend([omitted, m]);
        Ok(())
    }

    fn refused(&self, text: &str, why: IllegalMove) -> SetUpError {
        SetUpError::Illegal {
            ply: self.played.len(),
            why: IllegalHere {
                m: beginning(text),
                why,
            },
        }
    }
}

fn is_result<P: Position>(word: &str) -> bool {
    let is_pdn = matches!(P::RECORD, Some(RecordFormat::Pdn { .. }));
    RESULTS.contains(&word) || is_pdn && PDN_RESULTS.contains(&word)
}

const fn ply_of(error: &SetUpError) -> usize {
    match error {
        SetUpError::Unreadable { .. } => 0,
        SetUpError::UnreadableMove { ply, .. } | SetUpError::Illegal { ply, .. } => *ply,
    }
}

/// Length of the first of several joined moves, in bytes. `None` if no legal move is written so.
///
/// Of several lengths the longest is taken after which the next moves can be read as well.
fn first_move_end<P: Position>(pos: &P, text: &str) -> Option<usize> {
    let first: Vec<(usize, P)> = first_moves(pos, text).collect();
    if let [(end, _)] = first[..] {
        return Some(end);
    }
    let fits = |(end, after): &&(usize, P)| can_be_read(after, &text[*end..], LOOKAHEAD);
    let found = first.iter().find(fits).or(first.first());
    found.map(|(end, _)| *end)
}

/// Whether the text begins with this many legal moves, or ends before.
fn can_be_read<P: Position>(pos: &P, text: &str, plies: u32) -> bool {
    plies == 0
        || text.is_empty()
        || first_moves(pos, text).any(|(end, after)| can_be_read(&after, &text[end..], plies - 1))
}

/// The legal moves with which a text can begin, the longest text first: its length in bytes, and the
/// position after the move.
fn first_moves<P: Position>(pos: &P, text: &str) -> impl Iterator<Item = (usize, P)> {
    let here = pos.unclaimed().unwrap_or_else(|| pos.clone());
    let omitted = pos.omissible_move().map(|m| pos.after(m));
    let befores: Vec<P> = [Some(here), omitted].into_iter().flatten().collect();
    let ends = (1..=text.len().min(MOVE_BYTES_MAX)).rev();
    let ends = ends.filter(|end| text.is_char_boundary(*end));
    ends.filter_map(move |end| {
        befores.iter().find_map(|before| {
            let m = before.read_move(&text[..end]).ok()?;
            before.check(m).ok()?;
            Some((end, before.after(m)))
        })
    })
}

/// The part of an unreadable text that an error quotes.
pub(super) fn beginning(text: &str) -> String {
    text.chars().take(QUOTE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests;
