//! Analysis board: a text interface for the analysis of positions in any game. The interface
//! converts text to the move and position types of the game, and search results back to text. The
//! search itself works only with the typed moves and positions.

use std::fmt;

use super::move_list::{MoveReader, Notation, quoted_prefix};
use super::report_conversion::{report_to_text, text_progress_callback, to_move_choice};
use super::{AnyPosition, ErasedPosition, IllegalMoveError, MoveChoice, to_strings};
use crate::game::perft::{PlyCount, perft};
use crate::game::{GameHistory, ParseMoveError, ParsePositionError, Position};
use crate::search;
use crate::search::analysis;
use crate::search::analysis::TextbookMethod;
use crate::search::minimax::Scale;
use crate::search::{Evaluate, Level, Limits, Report, Stop, TranspositionTable};

/// Position of a game whose type is not known at compile time, with a transposition table for
/// searches.
///
/// The table keeps its entries when the position changes.
pub trait AnalysisBoard: fmt::Debug + Send {
    /// Sets up the position that `text` describes. The text is either a position in the notation of
    /// the protocol, or a list of moves from the initial position. A list of moves may have any
    /// form that [`play_record`](Self::play_record) accepts. Empty text gives the initial position.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is neither a position nor a list of moves, or if a move is
    /// illegal. After an error, the position is unspecified.
    fn set_up(&mut self, text: &str) -> Result<(), SetUpError>;

    /// Sets up a position like [`set_up`](Self::set_up). If the text is a list of moves, returns
    /// them in canonical notation. Otherwise returns an empty list.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`set_up`](Self::set_up).
    fn set_up_moves(&mut self, text: &str) -> Result<Vec<String>, SetUpError>;

    /// Plays moves separated by spaces or commas, as in engine protocols.
    ///
    /// Canonical moves need no separators if the legal moves of the initial position all have the
    /// same length, or if they are all squares.
    ///
    /// # Errors
    ///
    /// Returns an error if a move is unreadable or illegal. After an error, the moves before the
    /// rejected one have been played.
    fn play_moves(&mut self, moves: &str) -> Result<(), SetUpError>;

    /// Plays the moves of a game record, as written by players and programs, and returns them in
    /// canonical notation.
    ///
    /// The record may contain elements of PGN: move numbers, comments and variations, which are
    /// skipped, and a result at the end. A record may leave out forced passes. The function plays
    /// these passes and returns them too. A record may also continue after a draw that a player
    /// must claim.
    ///
    /// # Errors
    ///
    /// Returns an error in the following cases. After an error, the position is unspecified.
    ///
    /// - A move is unreadable or illegal.
    /// - A comment or a variation is not closed.
    /// - Moves follow the result.
    fn play_record(&mut self, text: &str) -> Result<Vec<String>, SetUpError>;

    /// Lets a finished game continue from the current position. Has no effect if the game is not
    /// over.
    ///
    /// Clears the history of positions. If the game forbids repetition, the earlier positions stay
    /// forbidden.
    ///
    /// Some positions end the game although moves are still possible, such as a dead position in
    /// chess. After a call to `resume`, the moves of such a position can be played, although the
    /// position still reports its outcome.
    fn resume(&mut self);

    /// Lets the game continue from the current position, whether it is over or not. Clears the
    /// history of positions like [`resume`](Self::resume). Resets the counters that can end the
    /// game, such as the number of successive passes.
    fn resume_without_history(&mut self);

    /// Returns the current position.
    fn position(&self) -> &dyn AnyPosition;

    /// Returns an upper bound on the number of plies to the end of the game.
    fn plies_left(&self) -> u32;

    /// Analyses the position and returns the value of every move, best first. Returns `None` if the
    /// game is over.
    ///
    /// If `exact` is set, the function computes the exact value of every move. It returns `None` if
    /// a limit is reached or `stop` is set before all exact values are known. While the search
    /// runs, it calls `on_progress` with intermediate results.
    fn analyse(
        &mut self,
        exact: bool,
        limits: &Limits,
        stop: &Stop,
        on_progress: &mut dyn FnMut(&Report<String>),
    ) -> Option<Report<String>>;

    /// Solves the position: returns its exact value and a best move. Returns `None` if the game is
    /// over, if a limit is reached or if `stop` is set.
    fn solve(&self, limits: &Limits, stop: &Stop) -> Option<Report<String>>;

    /// Returns the move that a bot of this level plays, or `None` if the game is over.
    ///
    /// At full strength, the search uses the table entries of earlier searches and calls
    /// `on_progress` with the result so far. Bots of lower levels choose a move like
    /// [`AnyPosition::choose_move`] and do not report progress.
    fn choose_move(
        &mut self,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        on_progress: &mut dyn FnMut(&Report<String>),
    ) -> Option<MoveChoice>;

    /// Returns the best lines of play with different first moves, best first. Returns `count`
    /// lines, or fewer if there are not enough legal moves. If `only` is not empty, every line
    /// starts with one of the moves in `only`. Returns an empty list if the game is over or if no
    /// move in `only` is legal.
    ///
    /// The lines come from a minimax search that uses the table. After searching a line to a new
    /// depth, the search calls `on_progress` with the line's index and report.
    fn best_lines(
        &mut self,
        only: &[String],
        count: usize,
        limits: &Limits,
        stop: &Stop,
        on_progress: &mut dyn FnMut(usize, &Report<String>),
    ) -> Vec<Report<String>>;

    /// Returns the fastest win that the seat to move can force within `plies` plies. Returns `None`
    /// if there is no such win, or if a limit is reached or `stop` is set first. Always returns
    /// `None` in games that do not end by mate.
    fn find_win_within(
        &mut self,
        plies: u32,
        limits: &Limits,
        stop: &Stop,
    ) -> Option<Report<String>>;

    /// Runs plain minimax or plain alpha-beta search, as selected by `method`, in the form that
    /// textbooks describe. Only `depth` limits the search.
    fn textbook_search(&self, method: TextbookMethod, depth: u32, scale: Scale) -> Report<String>;

    /// Counts the lines of play from this position, for every length from 0 to `plies`.
    fn perft(&self, plies: usize) -> Vec<PlyCount>;
}

/// Error returned when a position cannot be set up or a list of moves cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetUpError {
    /// The text is not a position, and does not begin with a move.
    #[error(
        "{text:?} is not a move (such as {}) and not a position: {}",
        .move_error.example, .position_error.0
    )]
    Unreadable {
        /// Beginning of the rejected text.
        text: String,
        /// Reason why the text does not begin with a move.
        move_error: ParseMoveError,
        /// Reason why the text is not a position.
        position_error: ParsePositionError,
    },
    /// The list contains text that is not a move.
    #[error("ply {ply}: {text:?} is {reason}")]
    UnreadableMove {
        /// Number of moves before the unreadable text.
        ply: usize,
        /// Beginning of the unreadable text.
        text: String,
        /// Reason why the text is not a move.
        reason: ParseMoveError,
    },
    /// A move in the list cannot be played.
    #[error("ply {ply}: {reason}")]
    Illegal {
        /// Number of moves before the illegal move.
        ply: usize,
        /// The move, and the reason why it cannot be played.
        reason: IllegalMoveError,
    },
}

/// Byte order mark, which some editors write at the start of a text file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Parses a position in the notation of the protocol. A FEN string may be followed by a semicolon
/// and EPD operations.
fn parse_position<P: Position>(text: &str) -> Result<P, ParsePositionError> {
    let error = match text.parse() {
        Ok(pos) => return Ok(pos),
        Err(error) => error,
    };
    let (fen, _) = text.split_once(';').ok_or(error)?;
    let is_number = |field: &str| field.bytes().all(|byte| byte.is_ascii_digit());
    match fen.split_ascii_whitespace().last().is_some_and(is_number) {
        true => fen.trim_ascii_end().parse(),
        false => Err(error),
    }
}

/// Analysis board of the game whose positions have the type `P`.
#[derive(Debug)]
pub(super) struct TypedAnalysisBoard<P: Position> {
    pos: ErasedPosition<P>,
    table: TranspositionTable,
    notation: Notation,
}

impl<P: Evaluate> TypedAnalysisBoard<P> {
    /// Creates a board with the initial position and a table of at most `table_bytes` bytes.
    pub(super) fn new(table_bytes: usize) -> Self {
        let pos = ErasedPosition(GameHistory::<P>::initial());
        Self {
            notation: Notation::from_moves(&pos.legal_moves()),
            pos,
            table: TranspositionTable::for_game::<P>(table_bytes),
        }
    }

    /// Sets up the position that `text` describes. If the text is a list of moves, returns the
    /// moves. Otherwise returns an empty list.
    fn set_up_typed(&mut self, text: &str) -> Result<Vec<P::Move>, SetUpError> {
        self.table.start_search();
        self.pos.0 = GameHistory::initial();
        let text = text.trim_start_matches(BYTE_ORDER_MARK).trim_ascii();
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let position_error = match parse_position::<P>(text) {
            Ok(pos) => {
                self.pos.0 = GameHistory::from(pos);
                return Ok(Vec::new());
            }
            Err(error) => error,
        };
        let reader = MoveReader::new(&mut self.pos, self.notation);
        let move_error = match reader.play_record(text) {
            Err(SetUpError::UnreadableMove {
                ply: 0,
                reason: why,
                ..
            }) => why,
            // Text that contains only move numbers, comments or a result is not a list of moves.
            Ok(moves) if moves.is_empty() => match text.parse::<P::Move>() {
                Err(why) => why,
                Ok(_) => return Ok(moves),
            },
            played => return played,
        };
        Err(SetUpError::Unreadable {
            text: quoted_prefix(text),
            move_error,
            position_error,
        })
    }
}

impl<P: Evaluate> AnalysisBoard for TypedAnalysisBoard<P> {
    fn set_up(&mut self, text: &str) -> Result<(), SetUpError> {
        self.set_up_typed(text).map(drop)
    }

    fn set_up_moves(&mut self, text: &str) -> Result<Vec<String>, SetUpError> {
        self.set_up_typed(text).map(to_strings)
    }

    fn play_moves(&mut self, moves: &str) -> Result<(), SetUpError> {
        MoveReader::new(&mut self.pos, self.notation).play_moves(moves)
    }

    fn play_record(&mut self, text: &str) -> Result<Vec<String>, SetUpError> {
        let reader = MoveReader::new(&mut self.pos, self.notation);
        reader.play_record(text).map(to_strings)
    }

    fn resume(&mut self) {
        if self.pos.outcome().is_some() {
            self.resume_without_history();
        }
    }

    fn resume_without_history(&mut self) {
        self.table.start_search();
        self.pos.0.resume();
    }

    fn position(&self) -> &dyn AnyPosition {
        &self.pos
    }

    fn plies_left(&self) -> u32 {
        self.pos.0.position().remaining_plies_max()
    }

    fn analyse(
        &mut self,
        exact: bool,
        limits: &Limits,
        stop: &Stop,
        on_progress: &mut dyn FnMut(&Report<String>),
    ) -> Option<Report<String>> {
        let mut on_typed_progress = text_progress_callback(on_progress);
        let (history, table) = (&self.pos.0, &mut self.table);
        let report = if exact {
            analysis::solve_all_moves(history, limits, stop, table, &mut on_typed_progress)
        } else {
            analysis::analyse(history, limits, stop, table, &mut on_typed_progress)
        };
        report.map(report_to_text)
    }

    fn solve(&self, limits: &Limits, stop: &Stop) -> Option<Report<String>> {
        search::solve(&self.pos.0, limits, stop, &self.table).map(report_to_text)
    }

    fn choose_move(
        &mut self,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        on_progress: &mut dyn FnMut(&Report<String>),
    ) -> Option<MoveChoice> {
        if level < Level::Max {
            let table = &mut self.table;
            return self.pos.choose_move(level, seed, limits, stop, table);
        }
        self.table.start_search();
        let (history, table) = (&self.pos.0, &mut self.table);
        let on_typed_progress = &mut text_progress_callback(on_progress);
        search::choose_move_with_progress(
            history,
            level,
            seed,
            limits,
            stop,
            table,
            on_typed_progress,
        )
        .map(to_move_choice)
    }

    fn best_lines(
        &mut self,
        only: &[String],
        count: usize,
        limits: &Limits,
        stop: &Stop,
        on_progress: &mut dyn FnMut(usize, &Report<String>),
    ) -> Vec<Report<String>> {
        let moves: Vec<_> = (only.iter())
            .filter_map(|m| self.pos.parse_move(m).ok())
            .collect();
        if moves.is_empty() && !only.is_empty() {
            return Vec::new();
        }
        self.table.start_search();
        let (history, table) = (&self.pos.0, &self.table);
        let mut on_typed_progress = |number: usize, report: &Report<P::Move>| {
            on_progress(number, &report_to_text(report.clone()));
        };
        search::best_lines(
            history,
            &moves,
            count,
            limits,
            stop,
            table,
            &mut on_typed_progress,
        )
        .into_iter()
        .map(report_to_text)
        .collect()
    }

    fn find_win_within(
        &mut self,
        plies: u32,
        limits: &Limits,
        stop: &Stop,
    ) -> Option<Report<String>> {
        self.table.start_search();
        search::find_win_within(&self.pos.0, plies, limits, stop, &self.table).map(report_to_text)
    }

    fn textbook_search(&self, method: TextbookMethod, depth: u32, scale: Scale) -> Report<String> {
        report_to_text(analysis::textbook_search(
            self.pos.0.position(),
            method,
            depth,
            scale,
        ))
    }

    fn perft(&self, plies: usize) -> Vec<PlyCount> {
        perft(&self.pos.0, plies)
    }
}
