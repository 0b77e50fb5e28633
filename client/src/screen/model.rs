//! What the keys do: a cursor on the board, a line that is typed, and from both the lines that the session
//! reads. Does no I/O, so every key can be tested.

use std::collections::VecDeque;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use plyhouse_protocol::{MatchId, MatchStatus, Ply};
use tui_input::{Input, InputRequest};

use super::log::Log;
use super::picking::{Selection, pick};
use crate::customs::Customs;
use crate::view::{FAINT, MatchView, RenderedBoard, Square, paint};

/// The longest line that can be typed, in characters.
const LINE_CHARS_MAX: usize = 500;

/// How many lines that were typed are kept, to be typed again.
const LINES_MAX: usize = 50;

/// What a page of the log is.
const PAGE: usize = 5;

/// What a key comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pressed {
    /// Nothing more than what it has changed here.
    Nothing,
    /// A line for the session, as if it had been typed.
    Line(String),
    /// Something that is told to whoever has pressed it.
    Note(&'static str),
    /// To stop.
    Interrupt,
    /// Nothing more will be typed.
    End,
    /// The screen is to be drawn afresh, as something else may have written to it.
    Redraw,
}

/// Moves of which one is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The moves.
    pub(crate) moves: Vec<String>,
    /// The one that Enter takes.
    pub(crate) at: usize,
}

/// All that the screen has of its own, beside the match.
#[derive(Debug, Default)]
pub(crate) struct Model {
    /// What was said.
    pub(crate) log: Log,
    /// The line that is typed.
    pub(crate) typed: Input,
    /// The square that the next key means; nothing where there is no board.
    pub(crate) cursor: Option<Square>,
    /// The squares that were picked, of a move that takes several.
    pub(crate) path: Vec<Square>,
    /// The moves of which one is still to be chosen.
    pub(crate) choice: Option<Choice>,
    /// Whether the log covers the board.
    pub(crate) unrolled: bool,
    /// Whether nothing can be typed.
    pub(crate) is_watching: bool,
    /// Lines that were typed before, the newest last, and which of them is shown.
    before: VecDeque<String>,
    recalled: Option<usize>,
    seen: Option<(MatchId, Ply, u64)>,
}

impl Model {
    /// A screen on which nothing was said. If somebody only looks on, nothing can be typed.
    pub(crate) fn new(is_watching: bool) -> Self {
        Self {
            is_watching,
            ..Self::default()
        }
    }

    /// Takes in how the match stands. Whatever was picked belonged to the position before.
    pub(crate) fn see(&mut self, scene: Option<&MatchView>) {
        let seen = scene.map(|scene| {
            let now = &scene.snapshot;
            (now.match_id, now.ply, now.takebacks)
        });
        let is_other =
            |other: Option<(MatchId, _, _)>| other.map(|(id, ..)| id) != seen.map(|(id, ..)| id);
        if is_other(self.seen) || self.cursor.is_none() {
            let picture = scene.and_then(|scene| scene.rendered_board(false));
            self.cursor = picture.and_then(|picture| middle(&picture));
        }
        if self.seen != seen {
            self.path.clear();
            self.choice = None;
        }
        self.seen = seen;
    }

    /// What this key comes to at this match.
    pub(crate) fn press(&mut self, key: KeyEvent, scene: Option<&MatchView>) -> Pressed {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => return Pressed::Interrupt,
            KeyCode::Char('l') if control => return Pressed::Redraw,
            KeyCode::PageUp => {
                self.log.back = self.log.back.saturating_add(PAGE);
                return Pressed::Nothing;
            }
            KeyCode::PageDown => {
                self.log.back = self.log.back.saturating_sub(PAGE);
                return Pressed::Nothing;
            }
            KeyCode::F(10) => return Pressed::Interrupt,
            _ => {}
        }
        if self.is_watching {
            let is_over = scene.is_some_and(|scene| scene.snapshot.status == MatchStatus::Ended);
            return match key.code {
                KeyCode::Char('q') | KeyCode::Esc => Pressed::Interrupt,
                KeyCode::Enter if is_over => Pressed::Interrupt,
                _ => Pressed::Nothing,
            };
        }
        if std::mem::take(&mut self.unrolled) && scene.is_some() {
            self.log.back = 0;
            // What is typed on is not lost; a key that means the board would be a slip.
            let types_on = matches!(key.code, KeyCode::Char(c) if c != ' ');
            if !types_on {
                return Pressed::Nothing;
            }
        }
        if let KeyCode::F(number) = key.code {
            return self.function(number);
        }
        if let Some(choice) = self.choice.take() {
            return self.choose(choice, key);
        }
        if control {
            return self.control(key.code);
        }
        if self.typed.value().is_empty() && self.at_board(key.code, scene) {
            return self.move_or_pick(key.code, scene);
        }
        self.edit(key)
    }

    /// What a function key says. What cannot be undone is only written down: Enter says it.
    fn function(&mut self, number: u8) -> Pressed {
        let word = match number {
            1 => "help",
            2 => "draw",
            3 => "takeback",
            4 => "hint",
            5 => {
                self.typed = Input::new("resign".to_owned());
                return Pressed::Nothing;
            }
            6 => "pass",
            7 => "decline",
            8 => "rematch",
            9 => "more time",
            _ => return Pressed::Nothing,
        };
        self.said(word.to_owned())
    }

    fn choose(&mut self, choice: Choice, key: KeyEvent) -> Pressed {
        let Choice { moves, at } = choice;
        let count = moves.len().max(1);
        let at = match key.code {
            KeyCode::Left | KeyCode::Up => (at + count - 1) % count,
            KeyCode::Right | KeyCode::Down | KeyCode::Tab => (at + 1) % count,
            KeyCode::Enter | KeyCode::Char(' ') => {
                self.path.clear();
                return moves
                    .into_iter()
                    .nth(at)
                    .map_or(Pressed::Nothing, Pressed::Line);
            }
            KeyCode::Char(letter) => match moves.iter().find(|m| m.ends_with(letter)) {
                Some(m) => {
                    self.path.clear();
                    return Pressed::Line(m.clone());
                }
                None => at,
            },
            KeyCode::Esc => {
                self.path.clear();
                return Pressed::Nothing;
            }
            _ => at,
        };
        self.choice = Some(Choice { moves, at });
        Pressed::Nothing
    }

    fn control(&mut self, code: KeyCode) -> Pressed {
        let request = match code {
            KeyCode::Char('d') if self.typed.value().is_empty() => return Pressed::End,
            KeyCode::Char('d') => InputRequest::DeleteNextChar,
            KeyCode::Char('a') => InputRequest::GoToStart,
            KeyCode::Char('e') => InputRequest::GoToEnd,
            KeyCode::Char('u') => InputRequest::DeleteLine,
            KeyCode::Char('k') => InputRequest::DeleteTillEnd,
            KeyCode::Char('w') => InputRequest::DeletePrevWord,
            // What a terminal sends for Ctrl-Backspace.
            KeyCode::Char('h') => InputRequest::DeletePrevChar,
            KeyCode::Left => InputRequest::GoToPrevWord,
            KeyCode::Right => InputRequest::GoToNextWord,
            KeyCode::Char('p') => return self.recall(true),
            KeyCode::Char('n') => return self.recall(false),
            _ => return Pressed::Nothing,
        };
        self.typed.handle(request);
        Pressed::Nothing
    }

    /// Whether the key is one of those that mean the board, as long as nothing is typed.
    fn at_board(&self, code: KeyCode, scene: Option<&MatchView>) -> bool {
        let runs = scene.is_some_and(|scene| scene.snapshot.status == MatchStatus::Running);
        let means_it = match code {
            KeyCode::Left | KeyCode::Right | KeyCode::Up | KeyCode::Down => true,
            KeyCode::Enter | KeyCode::Char(' ') => runs,
            KeyCode::Esc => !self.path.is_empty(),
            _ => false,
        };
        means_it && self.cursor.is_some()
    }

    fn move_or_pick(&mut self, code: KeyCode, scene: Option<&MatchView>) -> Pressed {
        let (Some(scene), Some(cursor)) = (scene, self.cursor) else {
            return Pressed::Nothing;
        };
        match code {
            KeyCode::Enter | KeyCode::Char(' ') => return self.pick(scene, cursor),
            KeyCode::Esc => self.path.clear(),
            _ => {
                let picture = scene.rendered_board(false);
                self.cursor = picture.and_then(|picture| next(&picture, cursor, code));
            }
        }
        Pressed::Nothing
    }

    fn pick(&mut self, scene: &MatchView, cursor: Square) -> Pressed {
        if scene.snapshot.you.is_none() {
            return Pressed::Note("You only look on.");
        }
        if !scene.is_my_turn() {
            return Pressed::Note("It is not your turn.");
        }
        let customs = Customs::of(&scene.snapshot.game);
        match pick(customs, &scene.snapshot.legal, &self.path, cursor) {
            Selection::Path(path) => self.path = path,
            Selection::Move(m) => {
                self.path.clear();
                return Pressed::Line(m);
            }
            Selection::OneOf(moves) => self.choice = Some(Choice { moves, at: 0 }),
            Selection::Nothing => return Pressed::Note("No move of yours goes there."),
        }
        Pressed::Nothing
    }

    /// Changes the line that is typed, or has it said.
    fn edit(&mut self, key: KeyEvent) -> Pressed {
        let request = match key.code {
            KeyCode::Enter => return self.enter(),
            KeyCode::Char(c) if self.typed.value().chars().count() < LINE_CHARS_MAX => {
                InputRequest::InsertChar(c)
            }
            KeyCode::Backspace => InputRequest::DeletePrevChar,
            KeyCode::Delete => InputRequest::DeleteNextChar,
            KeyCode::Left => InputRequest::GoToPrevChar,
            KeyCode::Right => InputRequest::GoToNextChar,
            KeyCode::Home => InputRequest::GoToStart,
            KeyCode::End => InputRequest::GoToEnd,
            KeyCode::Esc => InputRequest::DeleteLine,
            KeyCode::Up => return self.recall(true),
            KeyCode::Down => return self.recall(false),
            _ => return Pressed::Nothing,
        };
        self.typed.handle(request);
        Pressed::Nothing
    }

    fn enter(&mut self) -> Pressed {
        let line = self.typed.value_and_reset();
        self.log.back = 0;
        self.recalled = None;
        self.path.clear();
        if !line.trim().is_empty() && self.before.back() != Some(&line) {
            if self.before.len() == LINES_MAX {
                self.before.pop_front();
            }
            self.before.push_back(line.clone());
        }
        self.said(line)
    }

    /// A line that was said in words stands in the log; a move that was picked is told there anyway.
    fn said(&mut self, line: String) -> Pressed {
        if matches!(line.trim().to_ascii_lowercase().as_str(), "help" | "?") {
            self.unrolled = true;
            self.log.back = 0;
        }
        if !line.trim().is_empty() {
            self.log.push(paint(FAINT, &format!("> {line}")));
        }
        Pressed::Line(line)
    }

    /// Shows the line that was typed before the one that is shown, or after it.
    fn recall(&mut self, earlier: bool) -> Pressed {
        let shown = self.recalled.unwrap_or(self.before.len());
        let wanted = if earlier {
            shown.checked_sub(1)
        } else {
            Some(shown + 1)
        };
        let Some(wanted) = wanted else {
            return Pressed::Nothing;
        };
        let line = self.before.get(wanted).cloned();
        self.recalled = line.is_some().then_some(wanted);
        self.typed = Input::new(line.unwrap_or_default());
        Pressed::Nothing
    }
}

fn middle(picture: &RenderedBoard) -> Option<Square> {
    let row = picture.rows.get(picture.rows.len() / 2)?;
    row.get(row.len() / 2).copied()
}

/// The square beside this one, as the board is seen; at the edge the same.
fn next(picture: &RenderedBoard, from: Square, code: KeyCode) -> Option<Square> {
    let Some((row, column)) = picture.grid_position(from) else {
        return middle(picture);
    };
    let (row, column) = match code {
        KeyCode::Up => (row.saturating_sub(1), column),
        KeyCode::Down => (row + 1, column),
        KeyCode::Left => (row, column.saturating_sub(1)),
        _ => (row, column + 1),
    };
    let beside = picture.rows.get(row).and_then(|row| row.get(column));
    Some(beside.copied().unwrap_or(from))
}

#[cfg(test)]
mod tests;
