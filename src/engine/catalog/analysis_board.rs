//! The face by which positions of any game are analysed: it speaks text, and it is crossed once a
//! question, never while one is being answered.

use std::fmt;

use super::move_list::{MoveReader, Notation, quoted_prefix};
use super::text_report::{report_to_text, text_progress_callback, to_move_choice};
use super::{AnyPosition, ErasedPosition, IllegalMoveError, MoveChoice, to_strings};
use crate::game::perft::{PlyCount, perft};
use crate::game::{GameHistory, ParseMoveError, ParsePositionError, Position};
use crate::search;
use crate::search::analysis;
use crate::search::analysis::TextbookMethod;
use crate::search::minimax::Scale;
use crate::search::{Evaluate, Level, Limits, Report, Stop, TranspositionTable};

/// A position of a game that is not known at compile time, and a table to search it with.
///
/// The table keeps what it knows when the position changes.
pub trait AnalysisBoard: fmt::Debug + Send {
    /// Sets up the position that `text` describes: in wire notation, or as the moves that lead to it from
    /// the start, as [`play_record`](Self::play_record) takes them. An empty text is the start.
    ///
    /// # Errors
    ///
    /// The text is neither, or the moves break a rule. The position is then undefined.
    fn set_up(&mut self, text: &str) -> Result<(), SetUpError>;

    /// As [`set_up`](Self::set_up). Returns the moves in canonical form if the text is a list of moves,
    /// and else none.
    ///
    /// # Errors
    ///
    /// As of [`set_up`](Self::set_up).
    fn set_up_moves(&mut self, text: &str) -> Result<Vec<String>, SetUpError>;

    /// Plays moves with spaces or commas between them, as engine protocols write them. Moves in canonical
    /// form may have nothing between them if all moves at the start have the same length, or all are squares.
    ///
    /// # Errors
    ///
    /// A move is unreadable, or illegal in its position. The moves before it are played.
    fn play_moves(&mut self, moves: &str) -> Result<(), SetUpError>;

    /// Plays the moves of a record of a game, as players and programs write it, and returns them in
    /// canonical form.
    ///
    /// A record may contain what PGN does: move numbers, comments, variations, which are skipped, and a
    /// result at its end. It may leave out a forced pass, which is played. It may continue after a draw
    /// that a player has to claim.
    ///
    /// # Errors
    ///
    /// A move is unreadable, or illegal in its position; a comment has no end; or moves follow the result.
    /// The position is then undefined.
    fn play_record(&mut self, text: &str) -> Result<Vec<String>, SetUpError>;

    /// Has a game that is over go on from the position on the board. What was before is forgotten, but
    /// where it may not come again. A position that ends the game by itself keeps its outcome, but moves that
    /// remain possible in it can be played: a dead position has some, mate has none.
    fn resume(&mut self);

    /// As [`resume`](Self::resume), and also where the game goes on: what brought its end nearer, such as
    /// a pass, is as if it had not been.
    fn resume_without_history(&mut self);

    /// The position.
    fn position(&self) -> &dyn AnyPosition;

    /// No line of play from here is longer than this many plies.
    fn plies_left(&self) -> u32;

    /// The value of the position and of every move, best first; `None` once there is an outcome.
    ///
    /// With `exact` only values of the game itself count, and `None` also tells that a limit or
    /// `stop` came before all of them were known. `on_progress` is told what is known so far.
    fn analyse(
        &mut self,
        exact: bool,
        limits: &Limits,
        stop: &Stop,
        on_progress: &mut dyn FnMut(&Report<String>),
    ) -> Option<Report<String>>;

    /// The exact value and a best move; `None` once there is an outcome, or if a limit or `stop`
    /// came first.
    fn solve(&self, limits: &Limits, stop: &Stop) -> Option<Report<String>>;

    /// The move that a player of this level plays; `None` once there is an outcome.
    ///
    /// At full strength `on_progress` is told what is known after every depth, and what the table knows
    /// from searches before is used; the levels below play as bots do, see [`AnyPosition::choose_move`].
    fn choose_move(
        &mut self,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        on_progress: &mut dyn FnMut(&Report<String>),
    ) -> Option<MoveChoice>;

    /// The best lines of play that begin with different moves, the best first: `count` of them, or as
    /// many as there are, and only such as begin with a move of `only`, if it names any. Empty once there
    /// is an outcome, and if none of these moves is legal. At full strength, with what the table knows.
    ///
    /// `on_progress` is told what is known of a line, by its number from 0 on, after every depth.
    fn best_lines(
        &mut self,
        only: &[String],
        count: usize,
        limits: &Limits,
        stop: &Stop,
        on_progress: &mut dyn FnMut(usize, &Report<String>),
    ) -> Vec<Report<String>>;

    /// The fastest win, if the seat to move can force one within so many plies; `None`, too, if a limit
    /// or `stop` came first, and in games in which nobody is mated.
    fn find_win_within(
        &mut self,
        plies: u32,
        limits: &Limits,
        stop: &Stop,
    ) -> Option<Report<String>>;

    /// What a search by the textbook finds.
    fn textbook_search(&self, method: TextbookMethod, depth: u32, scale: Scale) -> Report<String>;

    /// Counts the lines of play from here, of every length from 0 to `plies`.
    fn perft(&self, plies: usize) -> Vec<PlyCount>;
}

/// A position that cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetUpError {
    /// The text begins with no move, and is no position.
    #[error("{text:?} is {move_error}, and {position_error}")]
    Unreadable {
        /// How the text begins.
        text: String,
        /// Why it is no move.
        move_error: ParseMoveError,
        /// Why it is no position.
        position_error: ParsePositionError,
    },
    /// One of the moves is none.
    #[error("ply {ply}: {text:?} is {reason}")]
    UnreadableMove {
        /// How many moves come before it.
        ply: usize,
        /// How the text begins that is to be a move.
        text: String,
        /// Why it is none.
        reason: ParseMoveError,
    },
    /// One of the moves cannot be played when its turn comes.
    #[error("ply {ply}: {reason}")]
    Illegal {
        /// How many moves come before it.
        ply: usize,
        /// Which move, and why.
        reason: IllegalMoveError,
    },
}

/// Some editors begin a text file with it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads a position in wire notation. A semicolon may end a FEN, as it ends the operations of EPD.
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

/// An analyst of the game whose positions are `P`.
#[derive(Debug)]
pub(super) struct TypedAnalysisBoard<P: Position> {
    pos: ErasedPosition<P>,
    table: TranspositionTable,
    notation: Notation,
}

impl<P: Evaluate> TypedAnalysisBoard<P> {
    /// With a table of at most so many bytes.
    pub(super) fn new(table_bytes: usize) -> Self {
        let pos = ErasedPosition(GameHistory::<P>::initial());
        Self {
            notation: Notation::from_moves(&pos.legal_moves()),
            pos,
            table: TranspositionTable::for_game::<P>(table_bytes),
        }
    }

    /// Sets up a position and returns the moves that lead to it, if the text is a list of moves.
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
            // Move numbers, comments or a result alone are no list of moves.
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
