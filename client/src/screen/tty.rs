//! The terminal itself: taken for a full screen, and given back in whatever way it ends.

use std::io;
use std::process;
use std::thread;
use std::time::Duration;

use crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use ratatui::DefaultTerminal;
use ratatui::layout::Rect;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};
use tokio::sync::mpsc;

/// How many keys may be pressed ahead. Those beyond are dropped.
const EVENT_QUEUE_CAPACITY: usize = 256;

/// What the terminal tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TerminalEvent {
    /// A key.
    Key(KeyEvent),
    /// It has another size now, or shows what it did not show before.
    Changed,
    /// It is gone.
    Closed,
}

/// The terminal as a full screen, until this value is dropped; also if a panic comes before that.
pub(super) struct Tty {
    terminal: DefaultTerminal,
    events: mpsc::Receiver<TerminalEvent>,
}

impl Tty {
    /// Takes the terminal.
    pub(super) fn open() -> io::Result<Self> {
        let terminal = ratatui::try_init().inspect_err(|_| restore_terminal())?;
        // From here on, and not only once the thread below reads, a change of size is heard: one that came before
        // would be lost.
        event::poll(Duration::ZERO).inspect_err(|_| restore_terminal())?;
        let (sender, events) = mpsc::channel(EVENT_QUEUE_CAPACITY);
        let tty = Self { terminal, events };
        exit_on_hangup()?;
        // Reading blocks; the thread ends with the process.
        thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || {
                loop {
                    let terminal_event = match event::read() {
                        Ok(Event::Key(key)) if key.kind == KeyEventKind::Release => continue,
                        Ok(Event::Key(key)) => TerminalEvent::Key(key),
                        Ok(_) => TerminalEvent::Changed,
                        Err(_) => TerminalEvent::Closed,
                    };
                    let closed = matches!(
                        sender.try_send(terminal_event),
                        Err(mpsc::error::TrySendError::Closed(_))
                    );
                    if closed || terminal_event == TerminalEvent::Closed {
                        return;
                    }
                }
            })?;
        Ok(tty)
    }

    /// Waits for what the terminal tells next. May be cancelled.
    pub(super) async fn next_event(&mut self) -> TerminalEvent {
        self.events.recv().await.unwrap_or(TerminalEvent::Closed)
    }

    /// Whether the terminal has told more than was asked for so far.
    pub(super) fn has_pending_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Draws what differs from what was drawn before.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(|_| ())
    }

    /// Has everything drawn the next time.
    pub(super) fn force_redraw(&mut self) -> io::Result<()> {
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
        restore_terminal();
    }
}

/// What shells call the status of a program that SIGHUP has ended.
const SIGHUP_EXIT_CODE: i32 = 128 + 1;

/// Ends the process when the terminal hangs up, as the kernel does to those to whom it belongs. One that was
/// lent, as by a program that starts others, would be read in vain for ever.
fn exit_on_hangup() -> io::Result<()> {
    let wait_for_hangup = || {
        let input = io::stdin();
        // It tells of a hang-up though nothing is asked for.
        let mut terminal = [PollFd::new(&input, PollFlags::empty())];
        while poll(&mut terminal, None) == Err(Errno::INTR) {}
        // There are systems that cannot wait for a terminal.
        if terminal[0].revents().contains(PollFlags::HUP) {
            let _ = kill_process(getpid(), Signal::HUP);
            // Under `nohup` the signal is ignored, and the terminal is gone all the same.
            process::exit(SIGHUP_EXIT_CODE);
        }
    };
    let thread = thread::Builder::new().name("hang-up".to_owned());
    thread.spawn(wait_for_hangup).map(|_| ())
}

fn restore_terminal() {
    // Nothing can be done if the terminal is gone.
    let _ = ratatui::try_restore();
}
