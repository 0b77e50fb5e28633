//! The match on a full screen: what it looks like is drawn anew whenever something has changed, and keys
//! make the lines that the session reads.

mod draw;
mod function_keys;
mod message_log;
mod move_selection;
mod state;
mod tty;

use std::io::{self, Write as _};

use plyhouse_protocol::MatchStatus;

use crate::terminal::{self, Input};
use crate::view::{ERROR, MatchView, paint};
use draw::{COLUMNS_MIN, ROWS_MIN, draw_screen};
use function_keys::function_keys;
use state::{KeyAction, ScreenState};
use tty::{TerminalEvent, Tty};

pub(crate) use draw::Theme;

/// What the keys at the board do. With what can be typed the help fits the least of screens.
const BOARD_KEYS_HELP: &str = "\
Arrows move the cursor, Enter or space picks a square (a move that takes several: one after the other), Esc puts \
back.";

/// What the keys do that work at any time.
const LOG_KEYS_HELP: &str = "PgUp and PgDn roll this; Ctrl-P and Ctrl-N bring back what was typed.";

/// Terminals that cannot place a cursor.
const UNSUPPORTED_TERMS: [&str; 4] = ["", "dumb", "cons25", "emacs"];

/// The match on a full screen.
pub(crate) struct Screen {
    /// Taken with the first drawing: then signals are listened for.
    tty: Option<Tty>,
    theme: Theme,
    state: ScreenState,
    match_view: Option<MatchView>,
    /// What was said and not drawn yet.
    undrawn_messages: Vec<String>,
}

/// What the keys do in this match, or where there is none yet.
fn keys_help(match_view: Option<&MatchView>) -> String {
    let started_match = match_view.filter(|scene| scene.snapshot.status != MatchStatus::Open);
    let Some(match_view) = started_match else {
        return format!("F10 quits. {LOG_KEYS_HELP}");
    };
    let keys = function_keys(match_view).join(", ");
    // The key alone only writes the word down.
    let keys = keys.replace("F5 resign", "F5 and Enter resign");
    format!("{BOARD_KEYS_HELP} {keys}, F10 quit. {LOG_KEYS_HELP}")
}

/// Whether the terminal has room for all of it, and is one that can be drawn upon.
pub(crate) fn is_terminal_supported() -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    let (columns, rows) = (usize::from(COLUMNS_MIN), usize::from(ROWS_MIN));
    let fits = terminal::size().is_some_and(|size| size.0 >= columns && size.1 >= rows);
    fits && !UNSUPPORTED_TERMS.contains(&term.as_str())
}

impl Screen {
    /// A screen that is not yet to be seen. If somebody only looks on, nothing can be typed.
    pub(crate) fn new(theme: Theme, is_watching: bool) -> Self {
        Self {
            tty: None,
            theme,
            state: ScreenState::new(is_watching),
            match_view: None,
            undrawn_messages: Vec::new(),
        }
    }

    /// Shows how the match stands now.
    pub(crate) fn show_match(&mut self, match_view: Option<MatchView>) -> io::Result<()> {
        self.state.set_match(match_view.as_ref());
        self.match_view = match_view;
        self.undrawn_messages.clear();
        self.draw()
    }

    /// Tells the person something.
    pub(crate) fn print(&mut self, text: &str) {
        self.state.log.push(text.to_owned());
        self.undrawn_messages.push(text.to_owned());
    }

    /// Tells the person what is wrong.
    pub(crate) fn print_error(&mut self, text: &str) {
        self.print(&paint(ERROR, text));
    }

    /// Waits for the next line that the keys make. May be cancelled.
    pub(crate) async fn next_input(&mut self) -> io::Result<Input> {
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
                TerminalEvent::Closed => return Ok(Input::EndOfInput),
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
                KeyAction::EndOfInput => return Ok(Input::EndOfInput),
                KeyAction::Redraw => {
                    if let Some(tty) = &mut self.tty {
                        tty.force_redraw()?;
                    }
                }
            }
            self.draw_if_no_key_pending()?;
        }
    }

    /// Whether the end of a match is looked at until a key is pressed.
    pub(crate) const fn waits_for_key_at_end(&self) -> bool {
        self.state.is_watching
    }

    /// Gives the terminal back, and writes on it what was not seen, and what the match has come to.
    pub(crate) fn close(&mut self, match_view: Option<&MatchView>) -> io::Result<()> {
        self.tty = None;
        let mut texts = std::mem::take(&mut self.undrawn_messages);
        if let Some(outcome) = match_view.and_then(MatchView::outcome_text) {
            texts.retain(|text| !outcome.ends_with(text.as_str()));
            texts.insert(0, outcome);
        }
        let mut out = anstream::stdout().lock();
        for text in texts {
            writeln!(out, "{}", self.theme.to_terminal_text(&text))?;
        }
        out.flush()
    }

    /// Draws, unless more keys were pressed meanwhile, which are done first: a text that is pasted is drawn once.
    fn draw_if_no_key_pending(&mut self) -> io::Result<()> {
        if self.tty.as_ref().is_some_and(Tty::has_pending_events) {
            return Ok(());
        }
        self.draw()
    }

    fn draw(&mut self) -> io::Result<()> {
        let tty = match &mut self.tty {
            Some(tty) => tty,
            empty => empty.insert(Tty::open()?),
        };
        let (state, match_view, theme) = (&mut self.state, self.match_view.as_ref(), self.theme);
        tty.draw(|frame| draw_screen(frame, state, match_view, theme))
    }
}
