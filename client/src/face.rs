//! What the person sees of a match: lines, one below the other, or a full screen.

use std::io;

use crate::screen::Screen;
use crate::session::Session;
use crate::terminal::{self, Input, Terminal};

/// What the person sees of a match.
pub(crate) enum Face {
    /// Lines, one below the other.
    Lines(Terminal),
    /// A full screen.
    Screen(Box<Screen>),
}

impl Face {
    /// Shows what has changed at the match.
    pub(crate) fn show(&mut self, session: &mut Session) -> io::Result<()> {
        match self {
            Self::Lines(terminal) => {
                session.fit(terminal::columns());
                terminal.show(session.live().map(|live| live.text).as_deref())
            }
            Self::Screen(screen) => screen.show(session.scene()),
        }
    }

    /// Waits for the next line; for ever if none can come. May be cancelled.
    pub(crate) async fn next(&mut self) -> io::Result<Input> {
        match self {
            Self::Lines(terminal) => Ok(terminal.next().await),
            Self::Screen(screen) => screen.next().await,
        }
    }

    /// Tells the person something.
    pub(crate) fn say(&mut self, text: &str) -> io::Result<()> {
        match self {
            Self::Lines(terminal) => terminal.say(text)?,
            Self::Screen(screen) => screen.say(text),
        }
        Ok(())
    }

    /// Tells the person what is wrong.
    pub(crate) fn complain(&mut self, text: &str) -> io::Result<()> {
        match self {
            Self::Lines(terminal) => terminal.complain(text)?,
            Self::Screen(screen) => screen.complain(text),
        }
        Ok(())
    }

    /// Ends the line on which the terminal has shown `^C`. A full screen shows none.
    pub(crate) fn interrupted(&mut self) -> io::Result<()> {
        match self {
            Self::Lines(terminal) => terminal.interrupted(),
            Self::Screen(_) => Ok(()),
        }
    }

    /// Writes a message of the server, if messages are what is wanted.
    pub(crate) fn message(&mut self, json: &str) -> io::Result<()> {
        match self {
            Self::Lines(terminal) => terminal.message(json),
            Self::Screen(_) => Ok(()),
        }
    }

    /// Waits until whoever has looked on has seen the end.
    pub(crate) async fn linger(&mut self, session: &mut Session) -> io::Result<()> {
        if !matches!(self, Self::Screen(screen) if screen.lingers()) {
            return Ok(());
        }
        self.show(session)?;
        self.next().await.map(|_| ())
    }

    /// Leaves the terminal as it was found.
    pub(crate) async fn close(&mut self, session: &Session) -> io::Result<()> {
        match self {
            Self::Lines(terminal) => terminal.close().await,
            Self::Screen(screen) => screen.close(session.scene().as_ref()),
        }
    }
}
