//! State of the screen: the board cursor and the input line. Keys change this state and produce
//! input lines for the session. The state performs no I/O, so tests can cover every key.

use std::collections::VecDeque;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use plyhouse_protocol::{MatchId, MatchStatus, Ply};
use tui_input::{Input, InputRequest};

use super::message_log::MessageLog;
use super::move_selection::{Selection, select_square};
use crate::conventions::Conventions;
use crate::view::{FAINT, MatchView, RenderedBoard, Square, paint};

/// Maximum length of the input line, in characters.
const INPUT_CHARS_MAX: usize = 500;

/// Maximum number of submitted lines that the user can recall.
const INPUT_HISTORY_MAX: usize = 50;

/// Number of log lines that Page Up and Page Down scroll.
const SCROLL_ROWS: usize = 5;

/// Action that the caller performs after a key press.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyAction {
    /// The caller performs no further action. The key may have changed the state of the screen.
    NoAction,
    /// Passes a line to the session, as if the user had typed it.
    SubmitLine(String),
    /// Shows a short message to the user, such as "It is not your turn."
    ShowNotice(&'static str),
    /// Interrupts `ply`, as Ctrl-C does.
    Interrupt,
    /// Signals to the session that the user has ended the input.
    Eof,
    /// Redraws the complete screen, because another program may have written to it.
    Redraw,
}

/// Moves that match the picked squares. The user must choose one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MoveChoice {
    pub(crate) moves: Vec<String>,
    /// Index of the highlighted move in `moves`. The Enter key plays the highlighted move.
    pub(crate) selected: usize,
}

/// State of the screen: the message log, the input line and the selection on the board.
#[derive(Debug, Default)]
pub(crate) struct ScreenState {
    /// Messages shown to the user.
    pub(crate) log: MessageLog,
    /// Line that the user is typing.
    pub(crate) input: Input,
    /// Square under the cursor, if there is a board.
    pub(crate) cursor: Option<Square>,
    /// Squares that the user has picked so far for the next move.
    pub(crate) picked_squares: Vec<Square>,
    /// Moves that match the picked squares, if there are several. The user must choose a move now.
    pub(crate) move_choice: Option<MoveChoice>,
    /// Whether the log covers the board.
    pub(crate) is_log_expanded: bool,
    /// Whether the user only watches and cannot type.
    pub(crate) is_watching: bool,
    /// Lines that the user has submitted, newest last. `history_index` is the index of the line
    /// that the user has recalled, if any.
    input_history: VecDeque<String>,
    history_index: Option<usize>,
    shown_position: Option<(MatchId, Ply, u64)>,
}

impl ScreenState {
    /// Creates the state of a screen with an empty log. If `is_watching` is set, the user cannot
    /// type.
    pub(crate) fn new(is_watching: bool) -> Self {
        Self {
            is_watching,
            ..Self::default()
        }
    }

    /// Updates the state for the current match. A new position clears the picked squares, and a new
    /// match also resets the cursor.
    pub(crate) fn set_match(&mut self, match_view: Option<&MatchView>) {
        let position = match_view.map(|scene| {
            let now = &scene.snapshot;
            (now.match_id, now.ply, now.takebacks)
        });
        let is_other = |other: Option<(MatchId, _, _)>| {
            other.map(|(id, ..)| id) != position.map(|(id, ..)| id)
        };
        if is_other(self.shown_position) || self.cursor.is_none() {
            let board_image = match_view.and_then(|scene| scene.rendered_board(false));
            self.cursor = board_image.and_then(|image| middle_square(&image));
        }
        if self.shown_position != position {
            self.picked_squares.clear();
            self.move_choice = None;
        }
        self.shown_position = position;
    }

    /// Handles a key and returns the resulting action.
    pub(crate) fn handle_key(
        &mut self,
        key: KeyEvent,
        match_view: Option<&MatchView>,
    ) -> KeyAction {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => return KeyAction::Interrupt,
            KeyCode::Char('l') if control => return KeyAction::Redraw,
            KeyCode::PageUp => {
                self.log.scroll_back = self.log.scroll_back.saturating_add(SCROLL_ROWS);
                return KeyAction::NoAction;
            }
            KeyCode::PageDown => {
                self.log.scroll_back = self.log.scroll_back.saturating_sub(SCROLL_ROWS);
                return KeyAction::NoAction;
            }
            KeyCode::F(10) => return KeyAction::Interrupt,
            _ => {}
        }
        if self.is_watching {
            let is_over =
                match_view.is_some_and(|scene| scene.snapshot.status == MatchStatus::Ended);
            return match key.code {
                KeyCode::Char('q') | KeyCode::Esc => KeyAction::Interrupt,
                KeyCode::Enter if is_over => KeyAction::Interrupt,
                _ => KeyAction::NoAction,
            };
        }
        if std::mem::take(&mut self.is_log_expanded) && match_view.is_some() {
            self.log.scroll_back = 0;
            // The log covers the board, so most keys only close the log and have no effect on the
            // board. A typed character is also added to the input line.
            let continues_typing = matches!(key.code, KeyCode::Char(c) if c != ' ');
            if !continues_typing {
                return KeyAction::NoAction;
            }
        }
        if let KeyCode::F(number) = key.code {
            return self.handle_function_key(number);
        }
        if let Some(choice) = self.move_choice.take() {
            return self.handle_choice_key(choice, key);
        }
        if control {
            return self.handle_control_key(key.code);
        }
        if self.input.value().is_empty() && self.is_board_key(key.code, match_view) {
            return self.handle_board_key(key.code, match_view);
        }
        self.edit_input(key)
    }

    /// Handles a function key. F5 only types `resign` into the input line, so that the user must
    /// confirm the resignation.
    fn handle_function_key(&mut self, number: u8) -> KeyAction {
        let command = match number {
            1 => "help",
            2 => "draw",
            3 => "takeback",
            4 => "hint",
            5 => {
                self.input = Input::new("resign".to_owned());
                return KeyAction::NoAction;
            }
            6 => "pass",
            7 => "decline",
            8 => "rematch",
            9 => "more time",
            _ => return KeyAction::NoAction,
        };
        self.submit_line(command.to_owned())
    }

    fn handle_choice_key(&mut self, mut choice: MoveChoice, key: KeyEvent) -> KeyAction {
        let count = choice.moves.len().max(1);
        let chosen = match key.code {
            KeyCode::Enter | KeyCode::Char(' ') => choice.moves.get(choice.selected),
            KeyCode::Char(letter) => choice.moves.iter().find(|m| m.ends_with(letter)),
            _ => None,
        };
        let ends_choice = matches!(key.code, KeyCode::Enter | KeyCode::Char(' ') | KeyCode::Esc);
        if ends_choice || chosen.is_some() {
            self.picked_squares.clear();
            let m = chosen.cloned();
            return m.map_or(KeyAction::NoAction, KeyAction::SubmitLine);
        }
        match key.code {
            KeyCode::Left | KeyCode::Up => choice.selected = (choice.selected + count - 1) % count,
            KeyCode::Right | KeyCode::Down | KeyCode::Tab => {
                choice.selected = (choice.selected + 1) % count;
            }
            _ => {}
        }
        self.move_choice = Some(choice);
        KeyAction::NoAction
    }

    fn handle_control_key(&mut self, code: KeyCode) -> KeyAction {
        let request = match code {
            KeyCode::Char('d') if self.input.value().is_empty() => return KeyAction::Eof,
            KeyCode::Char('d') => InputRequest::DeleteNextChar,
            KeyCode::Char('a') => InputRequest::GoToStart,
            KeyCode::Char('e') => InputRequest::GoToEnd,
            KeyCode::Char('u') => InputRequest::DeleteLine,
            KeyCode::Char('k') => InputRequest::DeleteTillEnd,
            KeyCode::Char('w') => InputRequest::DeletePrevWord,
            // Many terminals send Ctrl-H when the user presses Ctrl-Backspace.
            KeyCode::Char('h') => InputRequest::DeletePrevChar,
            KeyCode::Left => InputRequest::GoToPrevWord,
            KeyCode::Right => InputRequest::GoToNextWord,
            KeyCode::Char('p') => return self.recall_line(true),
            KeyCode::Char('n') => return self.recall_line(false),
            _ => return KeyAction::NoAction,
        };
        self.input.handle(request);
        KeyAction::NoAction
    }

    /// Returns whether the key moves the board cursor or picks squares. The caller must check that
    /// the input line is empty.
    fn is_board_key(&self, code: KeyCode, match_view: Option<&MatchView>) -> bool {
        let is_running =
            match_view.is_some_and(|scene| scene.snapshot.status == MatchStatus::Running);
        let moves_or_picks = match code {
            KeyCode::Left | KeyCode::Right | KeyCode::Up | KeyCode::Down => true,
            KeyCode::Enter | KeyCode::Char(' ') => is_running,
            KeyCode::Esc => !self.picked_squares.is_empty(),
            _ => false,
        };
        moves_or_picks && self.cursor.is_some()
    }

    fn handle_board_key(&mut self, code: KeyCode, match_view: Option<&MatchView>) -> KeyAction {
        let (Some(match_view), Some(cursor)) = (match_view, self.cursor) else {
            return KeyAction::NoAction;
        };
        match code {
            KeyCode::Enter | KeyCode::Char(' ') => return self.pick_square(match_view, cursor),
            KeyCode::Esc => self.picked_squares.clear(),
            _ => {
                let board_image = match_view.rendered_board(false);
                self.cursor = board_image.and_then(|image| adjacent_square(&image, cursor, code));
            }
        }
        KeyAction::NoAction
    }

    fn pick_square(&mut self, match_view: &MatchView, cursor: Square) -> KeyAction {
        if match_view.snapshot.you.is_none() {
            return KeyAction::ShowNotice("You are only watching.");
        }
        if !match_view.is_my_turn() {
            return KeyAction::ShowNotice("It is not your turn.");
        }
        let conventions = Conventions::for_game(&match_view.snapshot.game);
        let legal = &match_view.snapshot.legal;
        match select_square(conventions, legal, &self.picked_squares, cursor) {
            Selection::Partial(path) => self.picked_squares = path,
            Selection::Move(m) => {
                self.picked_squares.clear();
                return KeyAction::SubmitLine(m);
            }
            Selection::Ambiguous(moves) => {
                self.move_choice = Some(MoveChoice { moves, selected: 0 })
            }
            Selection::NoMove => return KeyAction::ShowNotice("You have no legal move there."),
        }
        KeyAction::NoAction
    }

    /// Edits or submits the input line.
    fn edit_input(&mut self, key: KeyEvent) -> KeyAction {
        let request = match key.code {
            KeyCode::Enter => return self.submit_input(),
            KeyCode::Char(c) if self.input.value().chars().count() < INPUT_CHARS_MAX => {
                InputRequest::InsertChar(c)
            }
            KeyCode::Backspace => InputRequest::DeletePrevChar,
            KeyCode::Delete => InputRequest::DeleteNextChar,
            KeyCode::Left => InputRequest::GoToPrevChar,
            KeyCode::Right => InputRequest::GoToNextChar,
            KeyCode::Home => InputRequest::GoToStart,
            KeyCode::End => InputRequest::GoToEnd,
            KeyCode::Esc => InputRequest::DeleteLine,
            KeyCode::Up => return self.recall_line(true),
            KeyCode::Down => return self.recall_line(false),
            _ => return KeyAction::NoAction,
        };
        self.input.handle(request);
        KeyAction::NoAction
    }

    fn submit_input(&mut self) -> KeyAction {
        let line = self.input.value_and_reset();
        self.log.scroll_back = 0;
        self.history_index = None;
        self.picked_squares.clear();
        if !line.trim().is_empty() && self.input_history.back() != Some(&line) {
            if self.input_history.len() == INPUT_HISTORY_MAX {
                self.input_history.pop_front();
            }
            self.input_history.push_back(line.clone());
        }
        self.submit_line(line)
    }

    /// Submits a line and adds it to the log. A move picked on the board is submitted without this
    /// method, because the session itself prints the move to the log.
    fn submit_line(&mut self, line: String) -> KeyAction {
        if matches!(line.trim().to_ascii_lowercase().as_str(), "help" | "?") {
            self.is_log_expanded = true;
            self.log.scroll_back = 0;
        }
        if !line.trim().is_empty() {
            self.log.push(paint(FAINT, &format!("> {line}")));
        }
        KeyAction::SubmitLine(line)
    }

    /// Replaces the input line with the previous or the next line of the input history.
    fn recall_line(&mut self, earlier: bool) -> KeyAction {
        let current = self.history_index.unwrap_or(self.input_history.len());
        let index = match earlier {
            true if current == 0 => return KeyAction::NoAction,
            true => current - 1,
            false => current + 1,
        };
        let line = self.input_history.get(index).cloned();
        self.history_index = line.is_some().then_some(index);
        self.input = Input::new(line.unwrap_or_default());
        KeyAction::NoAction
    }
}

fn middle_square(board_image: &RenderedBoard) -> Option<Square> {
    let row = board_image.rows.get(board_image.rows.len() / 2)?;
    row.get(row.len() / 2).copied()
}

/// Returns the square next to `from` on the screen, in the direction of the arrow key. Returns
/// `from` itself at the edge of the board.
fn adjacent_square(board_image: &RenderedBoard, from: Square, code: KeyCode) -> Option<Square> {
    let Some((row, column)) = board_image.grid_position(from) else {
        return middle_square(board_image);
    };
    let (row, column) = match code {
        KeyCode::Up => (row.saturating_sub(1), column),
        KeyCode::Down => (row + 1, column),
        KeyCode::Left => (row, column.saturating_sub(1)),
        _ => (row, column + 1),
    };
    let adjacent = board_image.rows.get(row).and_then(|row| row.get(column));
    Some(adjacent.copied().unwrap_or(from))
}

#[cfg(test)]
mod tests;
