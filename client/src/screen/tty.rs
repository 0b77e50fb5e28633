//! Full-screen mode of the terminal, and its restoration at the end of the run.

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

/// Capacity of the queue of terminal events. While the queue is full, further events are dropped.
const EVENT_QUEUE_CAPACITY: usize = 256;

/// Event of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TerminalEvent {
    /// A key was pressed.
    Key(KeyEvent),
    /// Any other event, such as a change of the window size.
    Changed,
    /// The terminal can no longer be read.
    Closed,
}

/// Terminal in full-screen mode. The normal mode is restored when this value is dropped, or after a
/// panic.
pub(super) struct Tty {
    terminal: DefaultTerminal,
    events: mpsc::Receiver<TerminalEvent>,
}

impl Tty {
    /// Switches the terminal to full-screen mode and starts to read its events.
    pub(super) fn open() -> io::Result<Self> {
        let terminal = ratatui::try_init().inspect_err(|_| restore_terminal())?;
        // This call to `event::poll` installs crossterm's handler for size changes. Without it, a
        // size change before the first `event::read` would be lost.
        event::poll(Duration::ZERO).inspect_err(|_| restore_terminal())?;
        let (sender, events) = mpsc::channel(EVENT_QUEUE_CAPACITY);
        let tty = Self { terminal, events };
        exit_on_hangup()?;
        // `event::read` blocks, so it runs on its own thread. The thread ends when the queue or the
        // terminal is closed, or when the process ends.
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

    /// Waits for the next event of the terminal. This method is cancel safe.
    pub(super) async fn next_event(&mut self) -> TerminalEvent {
        self.events.recv().await.unwrap_or(TerminalEvent::Closed)
    }

    /// Returns whether the queue contains unread events.
    pub(super) fn has_pending_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Draws a frame. Only cells that differ from the last frame are written.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(|_| ())
    }

    /// Clears the screen, so that the next frame is written completely.
    pub(super) fn force_redraw(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal
            .resize(Rect::from((ratatui::layout::Position::ORIGIN, size)))
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        // The panic hook has already restored the terminal. If this method restored the terminal
        // again, the panic message could disappear.
        if thread::panicking() {
            return;
        }
        // An error means that the terminal is closed, and is ignored.
        let _ = self.terminal.show_cursor();
        restore_terminal();
    }
}

/// Exit code that shells report for a process terminated by SIGHUP.
const SIGHUP_EXIT_CODE: i32 = 128 + 1;

/// Ends the process when the terminal hangs up. The kernel sends SIGHUP only if the terminal is the
/// controlling terminal of the process. If the terminal is not the controlling terminal, the
/// process would otherwise try to read forever after a hang-up.
fn exit_on_hangup() -> io::Result<()> {
    let wait_for_hangup = || {
        let input = io::stdin();
        // `poll` reports a hang-up even if no events are requested.
        let mut terminal = [PollFd::new(&input, PollFlags::empty())];
        while poll(&mut terminal, None) == Err(Errno::INTR) {}
        // On systems whose `poll` does not support terminals, `HUP` is not set, and hang-ups remain
        // undetected.
        if terminal[0].revents().contains(PollFlags::HUP) {
            let _ = kill_process(getpid(), Signal::HUP);
            // Under `nohup`, the process ignores SIGHUP. It must exit nevertheless, because it has
            // lost its terminal.
            process::exit(SIGHUP_EXIT_CODE);
        }
    };
    let thread = thread::Builder::new().name("hang-up".to_owned());
    thread.spawn(wait_for_hangup).map(|_| ())
}

fn restore_terminal() {
    // An error means that the terminal is closed, and is ignored.
    let _ = ratatui::try_restore();
}
