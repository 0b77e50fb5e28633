//! The face by which positions of any game are analysed: it speaks text, and it is crossed once a
//! question, never while one is being answered.

use std::fmt;
use std::str::FromStr;

use super::in_text::{chosen, text, watched};
use super::{AnyPosition, Choice, Erased, IllegalHere, PlayError};
use crate::game::perft::{PlyCount, perft};
use crate::game::{Course, ParseMoveError, ParsePositionError, Position};
use crate::search::analysis::{self, Method};
use crate::search::minimax::Scale;
use crate::search::{self, Evaluate, Level, Limits, Report, Stop, Table};

/// A text that cannot be read is repeated up to so many letters.
const TOLD_MAX: usize = 20;

/// A position of a game that is not known at compile time, and a table to search it with.
///
/// The table keeps what it knows when the position changes.
pub trait Analyst: fmt::Debug + Send {
    /// Sets up the position that `text` tells: in wire notation, or as the moves that lead to it
    /// from the start, as `play` takes them. Nothing is the start.
    ///
    /// # Errors
    ///
    /// The text is neither, or the moves break a rule. The position may then be any.
    fn set_up(&mut self, text: &str) -> Result<(), SetUpError>;

    /// Plays moves, with spaces or commas between. Moves need nothing between them where all moves at
    /// the start are written with as many letters, or all are squares, a letter and a number.
    ///
    /// # Errors
    ///
    /// A move is unreadable, or illegal when its turn comes. Those before it are played.
    fn play(&mut self, moves: &str) -> Result<(), SetUpError>;

    /// The moves that such a text names, each by itself, as they are written there.
    fn moves_of<'t>(&self, text: &'t str) -> Vec<&'t str>;

    /// Has a game that is over go on from the position on the board. What was before is forgotten, but
    /// where it may not come again. A position that ends the game by itself keeps its outcome, but moves that
    /// remain possible in it can be played: a dead position has some, mate has none.
    fn resume(&mut self);

    /// As [`resume`](Self::resume), and also where the game goes on: what brought its end nearer, such as
    /// a pass, is as if it had not been.
    fn resume_afresh(&mut self);

    /// The position.
    fn position(&self) -> &dyn AnyPosition;

    /// No line of play from here is longer than this many plies.
    fn plies_left(&self) -> u32;

    /// The value of the position and of every move, best first; `None` once there is an outcome.
    ///
    /// With `exact` only values of the game itself count, and `None` also tells that a limit or
    /// `stop` came before all of them were known. `watch` is told what is known so far.
    fn analyse(
        &mut self,
        exact: bool,
        limits: &Limits,
        stop: &Stop,
        watch: &mut dyn FnMut(&Report<String>),
    ) -> Option<Report<String>>;

    /// The exact value and a best move; `None` once there is an outcome, or if a limit or `stop`
    /// came first.
    fn solve(&self, limits: &Limits, stop: &Stop) -> Option<Report<String>>;

    /// The move that a player of this level plays; `None` once there is an outcome.
    ///
    /// At full strength `watch` is told what is known after every depth, and what the table knows
    /// from searches before is used; the levels below play as bots do, see [`AnyPosition::choose`].
    fn choose(
        &mut self,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        watch: &mut dyn FnMut(&Report<String>),
    ) -> Option<Choice>;

    /// The best lines of play that begin with different moves, the best first: `count` of them, or as
    /// many as there are, and only such as begin with a move of `only`, if it names any. Empty once there
    /// is an outcome, and if none of these moves is legal. At full strength, with what the table knows.
    ///
    /// `watch` is told what is known of a line, by its number from 0 on, after every depth.
    fn best_lines(
        &mut self,
        only: &[String],
        count: usize,
        limits: &Limits,
        stop: &Stop,
        watch: &mut dyn FnMut(usize, &Report<String>),
    ) -> Vec<Report<String>>;

    /// The fastest win, if the seat to move can force one within so many plies; `None`, too, if a limit
    /// or `stop` came first, and in games in which nobody is mated.
    fn win_within(&mut self, plies: u32, limits: &Limits, stop: &Stop) -> Option<Report<String>>;

    /// What a search by the textbook finds.
    fn textbook(&self, method: Method, depth: u32, scale: Scale) -> Report<String>;

    /// Counts the lines of play from here, of every length from 0 to `plies`.
    fn perft(&self, plies: usize) -> Vec<PlyCount>;
}

/// A position that cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetUpError {
    /// The text begins with no move, and is no position.
    #[error("{text:?} is {m}, and {position}")]
    Unreadable {
        /// How the text begins.
        text: String,
        /// Why it is no move.
        m: ParseMoveError,
        /// Why it is no position.
        position: ParsePositionError,
    },
    /// One of the moves is none.
    #[error("ply {ply}: {text:?} is {why}")]
    UnreadableMove {
        /// How many moves come before it.
        ply: usize,
        /// How the text begins that is to be a move.
        text: String,
        /// Why it is none.
        why: ParseMoveError,
    },
    /// One of the moves cannot be played when its turn comes.
    #[error("ply {ply}: {why}")]
    Illegal {
        /// How many moves come before it.
        ply: usize,
        /// Which move, and why.
        why: IllegalHere,
    },
}

/// An analyst of the game whose positions are `P`.
#[derive(Debug)]
pub(super) struct TypedAnalyst<P: Position> {
    pos: Erased<P>,
    table: Table,
    seam: Seam,
}

/// How moves are told apart that have nothing between them.
#[derive(Clone, Copy, Debug)]
enum Seam {
    /// Each is written with so many bytes.
    Width(usize),
    /// Each begins with a letter, and has no other.
    Letter,
    /// They are not.
    None,
}

impl Seam {
    /// Of a game that begins with these moves.
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

    /// Where the first move of a word ends that has several.
    fn end(self, word: &str) -> usize {
        match self {
            Self::Width(width) => width,
            Self::Letter => {
                let mut bytes = word.bytes().enumerate().skip(1);
                let next = bytes.find(|(_, byte)| byte.is_ascii_alphabetic());
                next.map_or(word.len(), |(at, _)| at)
            }
            Self::None => word.len(),
        }
    }

    /// What a text has between spaces and commas: a move, or several without anything between.
    fn part<M: FromStr>(self, text: &str) -> impl Iterator<Item = &str> {
        // Bytes are found faster than characters, and these are both.
        let is_between = |byte| matches!(byte, b' ' | b',' | b'\t');
        let (mut rest, mut word) = (text, "");
        std::iter::from_fn(move || {
            if word.is_empty() {
                rest = &rest[rest.bytes().position(|byte| !is_between(byte))?..];
                let end = rest.bytes().position(is_between).unwrap_or(rest.len());
                (word, rest) = rest.split_at(end);
                if self.end(word) >= word.len() || word.parse::<M>().is_ok() {
                    return Some(std::mem::take(&mut word));
                }
            }
            let parts = word.split_at_checked(self.end(word));
            let (m, others) = parts.unwrap_or((word, ""));
            word = others;
            Some(m)
        })
    }
}

impl<P: Evaluate> TypedAnalyst<P> {
    /// With a table of at most so many bytes.
    pub(super) fn new(table_bytes: usize) -> Self {
        let pos = Erased(Course::<P>::start());
        Self {
            seam: Seam::of(&pos.legal_moves()),
            pos,
            table: Table::for_game::<P>(table_bytes),
        }
    }
}

impl<P: Evaluate> Analyst for TypedAnalyst<P> {
    fn set_up(&mut self, text: &str) -> Result<(), SetUpError> {
        self.table.next_search();
        self.pos.0 = Course::start();
        let text = text.trim_ascii();
        let Err(error) = self.play(text) else {
            return Ok(());
        };
        match (text.parse::<P>(), error) {
            (Ok(pos), _) => self.pos.0 = Course::from(pos),
            (Err(position), SetUpError::UnreadableMove { ply: 0, why, .. }) => {
                return Err(SetUpError::Unreadable {
                    text: beginning(text),
                    m: why,
                    position,
                });
            }
            (Err(_), error) => return Err(error),
        }
        Ok(())
    }

    fn play(&mut self, moves: &str) -> Result<(), SetUpError> {
        for (ply, m) in self.seam.part::<P::Move>(moves).enumerate() {
            self.pos.play(m).map_err(|error| match error {
                PlayError::Unreadable(why) => SetUpError::UnreadableMove {
                    ply,
                    text: beginning(m),
                    why,
                },
                PlayError::Illegal(why) => SetUpError::Illegal { ply, why },
            })?;
        }
        Ok(())
    }

    fn moves_of<'t>(&self, text: &'t str) -> Vec<&'t str> {
        self.seam.part::<P::Move>(text).collect()
    }

    fn resume(&mut self) {
        if self.pos.outcome().is_some() {
            self.resume_afresh();
        }
    }

    fn resume_afresh(&mut self) {
        self.table.next_search();
        self.pos.0.resume();
    }

    fn position(&self) -> &dyn AnyPosition {
        &self.pos
    }

    fn plies_left(&self) -> u32 {
        self.pos.0.position().plies_left()
    }

    fn analyse(
        &mut self,
        exact: bool,
        limits: &Limits,
        stop: &Stop,
        watch: &mut dyn FnMut(&Report<String>),
    ) -> Option<Report<String>> {
        let mut watch = watched(watch);
        let (course, table) = (&self.pos.0, &mut self.table);
        let report = if exact {
            analysis::solve_every_move(course, limits, stop, table, &mut watch)
        } else {
            analysis::analyse(course, limits, stop, table, &mut watch)
        };
        report.map(text)
    }

    fn solve(&self, limits: &Limits, stop: &Stop) -> Option<Report<String>> {
        search::solve(&self.pos.0, limits, stop, &self.table).map(text)
    }

    fn choose(
        &mut self,
        level: Level,
        seed: u64,
        limits: &Limits,
        stop: &Stop,
        watch: &mut dyn FnMut(&Report<String>),
    ) -> Option<Choice> {
        if level < Level::Max {
            let table = &mut self.table;
            return self.pos.choose(level, seed, limits, stop, table);
        }
        self.table.next_search();
        let (course, table) = (&self.pos.0, &mut self.table);
        let watch = &mut watched(watch);
        search::choose_watched(course, level, seed, limits, stop, table, watch).map(chosen)
    }

    fn best_lines(
        &mut self,
        only: &[String],
        count: usize,
        limits: &Limits,
        stop: &Stop,
        watch: &mut dyn FnMut(usize, &Report<String>),
    ) -> Vec<Report<String>> {
        let moves: Vec<_> = (only.iter())
            .filter_map(|m| self.pos.read(m).ok())
            .collect();
        if moves.is_empty() && !only.is_empty() {
            return Vec::new();
        }
        self.table.next_search();
        let (course, table) = (&self.pos.0, &self.table);
        let mut watch = |number: usize, report: &Report<P::Move>| {
            watch(number, &text(report.clone()));
        };
        search::best_lines(course, &moves, count, limits, stop, table, &mut watch)
            .into_iter()
            .map(text)
            .collect()
    }

    fn win_within(&mut self, plies: u32, limits: &Limits, stop: &Stop) -> Option<Report<String>> {
        self.table.next_search();
        search::win_within(&self.pos.0, plies, limits, stop, &self.table).map(text)
    }

    fn textbook(&self, method: Method, depth: u32, scale: Scale) -> Report<String> {
        text(analysis::textbook(
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

fn beginning(text: &str) -> String {
    text.chars().take(TOLD_MAX).collect()
}
