//! The terminal itself: taken for a full screen, and given back in whatever way it ends.

use std::io;
use std::thread;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use ratatui::layout::Rect;
use tokio::sync::mpsc;

/// How many keys may be pressed ahead. Those beyond are dropped.
const KEYS_AHEAD: usize = 256;

/// What the terminal tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// A key.
    Key(KeyEvent),
    /// It has another size now, or shows what it did not show before.
    Changed,
    /// It is gone.
    Gone,
}

/// The terminal as a full screen, until this value is dropped; also if a panic comes before that.
pub(super) struct Tty {
    terminal: DefaultTerminal,
    told: mpsc::Receiver<Told>,
}

impl Tty {
    /// Takes the terminal.
    pub(super) fn take() -> io::Result<Self> {
        let terminal = ratatui::try_init().inspect_err(|_| give_back())?;
        let (sender, told) = mpsc::channel(KEYS_AHEAD);
        let tty = Self { terminal, told };
        // Reading blocks; the thread ends with the process.
        thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || {
                loop {
                    let told = match event::read() {
                        Ok(Event::Key(key)) if key.kind == KeyEventKind::Release => continue,
                        Ok(Event::Key(key)) => Told::Key(key),
                        Ok(_) => Told::Changed,
                        Err(_) => Told::Gone,
                    };
                    let closed = matches!(
                        sender.try_send(told),
                        Err(mpsc::error::TrySendError::Closed(_))
                    );
                    if closed || told == Told::Gone {
                        return;
                    }
                }
            })?;
        Ok(tty)
    }

    /// Waits for what the terminal tells next. May be cancelled.
    pub(super) async fn next(&mut self) -> Told {
        self.told.recv().await.unwrap_or(Told::Gone)
    }

    /// Draws what differs from what was drawn before.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(|_| ())
    }

    /// Has everything drawn the next time.
    pub(super) fn wipe(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal
            .resize(Rect::from((ratatui::layout::Position::ORIGIN, size)))
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        // Given back before the message of the panic was written, which a second time would cover.
        if thread::panicking() {
            return;
        }
        // Nothing can be done if the terminal is gone.
        let _ = self.terminal.show_cursor();
        give_back();
    }
}

fn give_back() {
    // Nothing can be done if the terminal is gone.
    let _ = ratatui::try_restore();
}
