//! User interface of a match: printed lines or a full screen.

use crate::exit::OutputResult;
use crate::line_terminal;
use crate::line_terminal::{Input, Terminal};
use crate::screen::Screen;
use crate::session::PlaySession;

pub(crate) enum Ui {
    /// Text that is printed line by line.
    Lines(Terminal),
    Screen(Box<Screen>),
}

impl Ui {
    /// Shows the current state of the match.
    pub(crate) fn show_match(&mut self, session: &mut PlaySession) -> OutputResult<()> {
        match self {
            Self::Lines(terminal) => {
                session.set_columns(line_terminal::columns());
                terminal.show_status_line(session.clock_line().map(|live| live.text).as_deref())
            }
            Self::Screen(screen) => screen.show_match(session.match_view()),
        }
    }

    /// Waits for the next input. Never returns if no more input can arrive. This method is cancel
    /// safe.
    pub(crate) async fn next_input(&mut self) -> OutputResult<Input> {
        match self {
            Self::Lines(terminal) => Ok(terminal.next_input().await),
            Self::Screen(screen) => screen.next_input().await,
        }
    }

    /// Prints a message for the user.
    pub(crate) fn print(&mut self, text: &str) -> OutputResult<()> {
        match self {
            Self::Lines(terminal) => terminal.print(text)?,
            Self::Screen(screen) => screen.print(text),
        }
        Ok(())
    }

    /// Prints an error for the user.
    pub(crate) fn print_error(&mut self, text: &str) -> OutputResult<()> {
        match self {
            Self::Lines(terminal) => terminal.print_error(text)?,
            Self::Screen(screen) => screen.print_error(text),
        }
        Ok(())
    }

    /// Starts a new line after the terminal has echoed `^C`. A full screen has no echo.
    pub(crate) fn end_interrupted_line(&mut self) -> OutputResult<()> {
        match self {
            Self::Lines(terminal) => terminal.end_interrupted_line(),
            Self::Screen(_) => Ok(()),
        }
    }

    /// Prints a message of the server, if JSON output is selected.
    pub(crate) fn print_server_message(&mut self, json: &str) -> OutputResult<()> {
        match self {
            Self::Lines(terminal) => terminal.print_server_message(json),
            Self::Screen(_) => Ok(()),
        }
    }

    /// After a match that the user has watched, keeps a full screen open until the user presses a
    /// key.
    pub(crate) async fn wait_for_key_at_end(
        &mut self,
        session: &mut PlaySession,
    ) -> OutputResult<()> {
        if !matches!(self, Self::Screen(screen) if screen.waits_for_key_at_end()) {
            return Ok(());
        }
        self.show_match(session)?;
        self.next_input().await.map(|_| ())
    }

    /// Restores the terminal.
    pub(crate) async fn close(&mut self, session: &PlaySession) -> OutputResult<()> {
        match self {
            Self::Lines(terminal) => terminal.close().await,
            Self::Screen(screen) => screen.close(session.match_view().as_ref()),
        }
    }
}
