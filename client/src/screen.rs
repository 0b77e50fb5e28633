//! Full-screen interface of a match. The screen is redrawn after every change. Keys are converted
//! to the lines that the session reads.

mod draw;
mod function_keys;
mod key_input;
mod message_log;
mod move_selection;
mod tty;

use std::io::Write as _;

use plyhouse_protocol::MatchStatus;

use crate::ascii_fallback::to_charset;
use crate::exit::OutputResult;
use crate::line_terminal;
use crate::line_terminal::Input;
use crate::view::{ERROR, MatchView, paint};
use draw::{COLUMNS_MIN, ROWS_MIN, draw_screen};
use function_keys::function_keys;
use key_input::{KeyAction, ScreenState};
use tty::{TerminalEvent, Tty};

pub(crate) use draw::Theme;

/// Help on the keys for the board. Together with the help on commands, this text fits the smallest
/// supported screen.
const BOARD_KEYS_HELP: &str = "\
Arrow keys move the cursor, Enter or Space selects a square (for a move with several squares, \
select each in turn), Esc cancels.";

/// Help on the keys that work at any time.
const LOG_KEYS_HELP: &str = "PgUp and PgDn scroll; Ctrl-P and Ctrl-N recall earlier input.";

/// Values of `TERM` for terminals that cannot position the cursor.
const UNSUPPORTED_TERMS: [&str; 4] = ["", "dumb", "cons25", "emacs"];

/// Full-screen interface of a match.
pub(crate) struct Screen {
    /// Terminal access, opened when the screen is first drawn. At that time, the process already
    /// handles signals, so a stopped run still restores the terminal.
    tty: Option<Tty>,
    theme: Theme,
    state: ScreenState,
    match_view: Option<MatchView>,
    /// Messages that were printed but not drawn.
    undrawn_messages: Vec<String>,
}

/// Returns the help on the keys that work in the current match, or before a match has started.
fn keys_help(match_view: Option<&MatchView>) -> String {
    let started_match = match_view.filter(|scene| scene.snapshot.status != MatchStatus::Open);
    let Some(match_view) = started_match else {
        return format!("F10 quits. {LOG_KEYS_HELP}");
    };
    let keys = function_keys(match_view).join(", ");
    // F5 types the word `resign`, but does not submit it.
    let keys = keys.replace("F5 resign", "F5 then Enter resign");
    format!("{BOARD_KEYS_HELP} {keys}, F10 quit. {LOG_KEYS_HELP}")
}

/// Returns whether the terminal is large enough and can position the cursor.
pub(crate) fn is_terminal_supported() -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    let (columns, rows) = (usize::from(COLUMNS_MIN), usize::from(ROWS_MIN));
    let fits = line_terminal::size().is_some_and(|size| size.0 >= columns && size.1 >= rows);
    fits && !UNSUPPORTED_TERMS.contains(&term.as_str())
}

impl Screen {
    /// Creates a screen without drawing it. If `is_watching`, the user cannot type.
    pub(crate) fn new(theme: Theme, is_watching: bool) -> Self {
        Self {
            tty: None,
            theme,
            state: ScreenState::new(is_watching),
            match_view: None,
            undrawn_messages: Vec::new(),
        }
    }

    /// Draws the current state of the match.
    pub(crate) fn show_match(&mut self, match_view: Option<MatchView>) -> OutputResult<()> {
        self.state.set_match(match_view.as_ref());
        self.match_view = match_view;
        self.undrawn_messages.clear();
        self.draw()
    }

    /// Adds a message to the log.
    pub(crate) fn print(&mut self, text: &str) {
        self.state.log.push(text.to_owned());
        self.undrawn_messages.push(text.to_owned());
    }

    /// Adds an error message to the log.
    pub(crate) fn print_error(&mut self, text: &str) {
        self.print(&paint(ERROR, text));
    }

    /// Waits until the user's keys produce an input, such as a complete line. This method is cancel
    /// safe.
    pub(crate) async fn next_input(&mut self) -> OutputResult<Input> {
        loop {
            let event = match &mut self.tty {
                Some(tty) => tty.next_event().await,
                None => std::future::pending().await,
            };
            let key = match event {
                TerminalEvent::Key(key) => key,
                TerminalEvent::Changed => {
                    self.draw_if_no_key_pending()?;
                    continue;
                }
                TerminalEvent::Closed => return Ok(Input::Eof),
            };
            match self.state.handle_key(key, self.match_view.as_ref()) {
                KeyAction::NoAction => {}
                KeyAction::SubmitLine(line) => {
                    if self.state.is_log_expanded {
                        let keys = keys_help(self.match_view.as_ref());
                        self.state.log.push(keys);
                    }
                    return Ok(Input::Line(line));
                }
                KeyAction::ShowNotice(text) => self.state.log.push(paint(ERROR, text)),
                KeyAction::Interrupt => return Ok(Input::Interrupt),
                KeyAction::Eof => return Ok(Input::Eof),
                KeyAction::Redraw => {
                    if let Some(tty) = &mut self.tty {
                        tty.force_redraw()?;
                    }
                }
            }
            self.draw_if_no_key_pending()?;
        }
    }

    /// Returns whether the screen stays open after the end of a match until the user presses a key.
    pub(crate) const fn waits_for_key_at_end(&self) -> bool {
        self.state.is_watching
    }

    /// Restores the terminal. Then prints the outcome of the match and the messages that were not
    /// drawn.
    pub(crate) fn close(&mut self, match_view: Option<&MatchView>) -> OutputResult<()> {
        self.tty = None;
        let mut texts = std::mem::take(&mut self.undrawn_messages);
        if let Some(outcome) = match_view.and_then(MatchView::outcome_text) {
            texts.retain(|text| !outcome.ends_with(text.as_str()));
            texts.insert(0, outcome);
        }
        let mut out = anstream::stdout().lock();
        for text in texts {
            writeln!(out, "{}", to_charset(&text, self.theme.ascii))?;
        }
        Ok(out.flush()?)
    }

    /// Draws the screen, unless more events are pending. Pending events are handled first, so that
    /// pasted text is drawn only once.
    fn draw_if_no_key_pending(&mut self) -> OutputResult<()> {
        if self.tty.as_ref().is_some_and(Tty::has_pending_events) {
            return Ok(());
        }
        self.draw()
    }

    fn draw(&mut self) -> OutputResult<()> {
        let tty = match &mut self.tty {
            Some(tty) => tty,
            empty => empty.insert(Tty::open()?),
        };
        let (state, match_view, theme) = (&mut self.state, self.match_view.as_ref(), self.theme);
        Ok(tty.draw(|frame| draw_screen(frame, state, match_view, theme))?)
    }
}
