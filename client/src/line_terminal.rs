//! Text output and line input on a terminal or for a script.
//!
//! A separate thread reads the lines, because reading from a terminal blocks. While the user types,
//! text must be written through rustyline, which draws it above the input line.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::thread;
use std::time::Duration;

use anstream::AutoStream;
use anstream::adapter::strip_str;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use rustyline::error::ReadlineError;
use rustyline::{Config, DefaultEditor, ExternalPrinter};
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::ascii_fallback::to_charset;
use crate::exit::OutputResult;
use crate::sanitize::{strip_token, to_one_line_json};
use crate::view::{ERROR, FAINT, paint};

/// Maximum number of input lines in the queue. If the queue is full, the thread that reads a script
/// waits, but a line typed at the prompt is dropped.
const INPUT_QUEUE_LINES: usize = 64;

/// Maximum length of a line in bytes. A longer line is read in several parts.
pub(crate) const LINE_BYTES_MAX: u64 = 64 * 1024;

/// Time to wait for the prompt to be drawn before the terminal is restored. If drawing takes
/// longer, the prompt stays on the screen.
const PROMPT_DRAW_TIME: Duration = Duration::from_millis(30);

/// Input from a user or a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line without its line break.
    Line(String),
    /// The user pressed Ctrl-C.
    Interrupt,
    /// The input has ended.
    Eof,
}

/// Input mode of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputMode {
    /// A user types lines at a prompt.
    Interactive,
    /// The terminal reads lines from a user or a script, but shows no prompt.
    Lines,
    /// No input is read.
    Disabled,
}

/// Terminal for text output and line input.
pub(crate) struct Terminal {
    json: bool,
    ascii: bool,
    colour: bool,
    lines: Option<mpsc::Receiver<Input>>,
    line_editor: Option<LineEditor>,
    /// Status line that is updated in place. The line is directly above the prompt. Without a
    /// prompt, it is the last line of the output.
    status_line: Option<String>,
}

/// Escape sequence that moves the cursor up one line and clears that line.
const CLEAR_LINE_ABOVE: &str = "\u{1b}[A\r\u{1b}[2K";

/// Escape sequence that clears the current line.
const CLEAR_LINE: &str = "\r\u{1b}[2K";

/// Line editor and the original terminal settings. The settings must be restored if the editor is
/// closed while the user types.
struct LineEditor {
    printer: Box<dyn ExternalPrinter + Send>,
    saved_termios: Option<Termios>,
}

/// Returns whether standard input and standard output are both terminals.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Returns whether standard output shows colours.
pub(crate) fn is_colour_enabled() -> bool {
    AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// Returns the number of columns of the terminal, if standard output is a terminal.
pub(crate) fn columns() -> Option<usize> {
    size().map(|(columns, _)| columns)
}

/// Returns the number of columns and rows of the terminal, if standard output is a terminal.
pub(crate) fn size() -> Option<(usize, usize)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some((usize::from(size.ws_col), usize::from(size.ws_row)))
}

impl Terminal {
    /// Opens the terminal. If `json` is set, only messages of the server are printed.
    pub(crate) fn open(input_mode: InputMode, json: bool) -> OutputResult<Self> {
        let colour = is_colour_enabled();
        let mut terminal = Self {
            json,
            ascii: false,
            colour,
            lines: None,
            line_editor: None,
            status_line: None,
        };
        match input_mode {
            InputMode::Interactive => terminal.start_line_editor()?,
            InputMode::Lines => terminal.lines = Some(spawn_line_reader()?),
            InputMode::Disabled => {}
        }
        Ok(terminal)
    }

    /// Sets whether output is converted to ASCII.
    pub(crate) fn with_ascii(self, ascii: bool) -> Self {
        Self { ascii, ..self }
    }

    fn start_line_editor(&mut self) -> OutputResult<()> {
        let saved_termios = tcgetattr(io::stdin()).ok();
        let config = Config::builder().bracketed_paste(false).build();
        let mut editor = DefaultEditor::with_config(config).map_err(io::Error::other)?;
        let Ok(printer) = editor.create_external_printer() else {
            // rustyline cannot draw on this terminal, so plain lines are read instead.
            self.lines = Some(spawn_line_reader()?);
            return Ok(());
        };
        self.line_editor = Some(LineEditor {
            printer: Box::new(printer),
            saved_termios,
        });
        let prompt = if self.colour {
            paint(FAINT, "> ")
        } else {
            "> ".to_owned()
        };
        let (sender, lines) = mpsc::channel(INPUT_QUEUE_LINES);
        self.lines = Some(lines);
        thread::Builder::new()
            .name("typing".to_owned())
            .spawn(move || {
                loop {
                    let (input, is_last) = match editor.readline(&prompt) {
                        Ok(line) => (Input::Line(line), false),
                        Err(ReadlineError::Interrupted) => (Input::Interrupt, true),
                        Err(ReadlineError::Signal(_)) => continue,
                        Err(_) => (Input::Eof, true),
                    };
                    // Sending must not block, because the code that prints text may be waiting for
                    // this thread to draw.
                    let is_closed = matches!(
                        sender.try_send(input),
                        Err(mpsc::error::TrySendError::Closed(_))
                    );
                    if is_last || is_closed {
                        return;
                    }
                }
            })?;
        Ok(())
    }

    /// Waits for the next input. Never returns if no more input can arrive. This method is cancel
    /// safe.
    pub(crate) async fn next_input(&mut self) -> Input {
        let next = match &mut self.lines {
            Some(lines) => lines.recv().await.unwrap_or(Input::Eof),
            None => std::future::pending().await,
        };
        if !matches!(next, Input::Line(_)) {
            self.lines = None;
        }
        // The line that the user typed is now below the status line, so the status line can no
        // longer be updated in place. Forget it, so that the next update draws a new status line.
        if self.line_editor.is_some() {
            self.status_line = None;
        }
        next
    }

    /// Draws or updates the status line, unless the output is JSON or no user can see the line.
    /// When other text is printed later, the status line is drawn again below that text.
    pub(crate) fn show_status_line(&mut self, line: Option<&str>) -> OutputResult<()> {
        let is_visible =
            self.line_editor.is_some() || self.lines.is_none() && io::stdout().is_terminal();
        if self.json || !is_visible {
            return Ok(());
        }
        let line = line.map(|line| self.strip_colour_unless_enabled(&to_charset(line, self.ascii)));
        if line == self.status_line {
            return Ok(());
        }
        let previous = std::mem::replace(&mut self.status_line, line);
        let current = self.status_line.as_deref().unwrap_or_default();
        let text = match (&self.line_editor, &previous, &self.status_line) {
            (Some(_), None, _) => format!("{current}\n"),
            (Some(_), Some(_), Some(_)) => format!("{CLEAR_LINE_ABOVE}{current}\n"),
            // Clear the status line, and move the prompt up to the cleared line.
            (Some(_), Some(_), None) => format!("{CLEAR_LINE_ABOVE}\u{1b}[A\n"),
            (None, ..) => format!("{CLEAR_LINE}{current}"),
        };
        self.write_text(text)
    }

    /// Prints text for the user, unless JSON output is selected.
    pub(crate) fn print(&mut self, text: &str) -> OutputResult<()> {
        if self.json {
            return Ok(());
        }
        self.write_above_status_line(&to_charset(text, self.ascii))
    }

    /// Prints an error for the user. Without a line editor, the error is written to standard error.
    pub(crate) fn print_error(&mut self, text: &str) -> OutputResult<()> {
        let text = to_charset(text, self.ascii);
        if self.line_editor.is_some() {
            return self.write_above_status_line(&paint(ERROR, &text));
        }
        // If standard error is closed, there is nowhere to report the failure.
        let _ = writeln!(anstream::stderr().lock(), "ply: {text}");
        Ok(())
    }

    /// Starts a new line after the terminal has echoed `^C`.
    pub(crate) fn end_interrupted_line(&mut self) -> OutputResult<()> {
        if self.line_editor.is_none() && io::stdin().is_terminal() && io::stdout().is_terminal() {
            self.write_above_status_line("")?;
        }
        Ok(())
    }

    /// Prints a message of the server, if JSON output is selected.
    pub(crate) fn print_server_message(&mut self, json: &str) -> OutputResult<()> {
        if self.json {
            self.write_above_status_line(&to_one_line_json(&strip_token(json)))
        } else {
            Ok(())
        }
    }

    /// Restores the terminal, even if the user is typing a line.
    pub(crate) async fn close(&mut self) -> OutputResult<()> {
        self.show_status_line(None)?;
        let Some(mut editor) = self.line_editor.take() else {
            return Ok(());
        };
        // Wait until the printer has drawn all earlier text. The printer queues only one text, so
        // it accepts the second text below only after drawing all earlier text. Both texts move the
        // cursor up and down again, so the screen stays unchanged. The printer may still have to
        // draw the prompt, so the code also waits for `PROMPT_DRAW_TIME`.
        for _ in 0..2 {
            let nothing = "\u{1b}[A\n".to_owned();
            editor.printer.print(nothing).map_err(io::Error::other)?;
        }
        sleep(PROMPT_DRAW_TIME).await;
        let mut out = io::stdout().lock();
        write!(out, "\r\u{1b}[K")?;
        out.flush()?;
        if let Some(before) = &editor.saved_termios {
            tcsetattr(io::stdin(), OptionalActions::Now, before).map_err(io::Error::from)?;
        }
        Ok(())
    }

    fn strip_colour_unless_enabled(&self, text: &str) -> String {
        if self.colour {
            text.to_owned()
        } else {
            strip_str(text).to_string()
        }
    }

    /// Prints text, and draws the status line again below it.
    fn write_above_status_line(&mut self, text: &str) -> OutputResult<()> {
        let text = self.strip_colour_unless_enabled(text);
        self.write_text(match (&self.line_editor, &self.status_line) {
            (_, None) => format!("{text}\n"),
            (Some(_), Some(live)) => format!("{CLEAR_LINE_ABOVE}{text}\n{live}\n"),
            (None, Some(live)) => format!("{CLEAR_LINE}{text}\n{live}"),
        })
    }

    fn write_text(&mut self, text: String) -> OutputResult<()> {
        match &mut self.line_editor {
            Some(typing) => typing.printer.print(text).map_err(io::Error::other)?,
            None => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()?;
            }
        }
        Ok(())
    }
}

/// Starts a thread that reads standard input line by line. The thread waits while the queue is
/// full.
fn spawn_line_reader() -> io::Result<mpsc::Receiver<Input>> {
    let (sender, lines) = mpsc::channel(INPUT_QUEUE_LINES);
    thread::Builder::new()
        .name("script".to_owned())
        .spawn(move || {
            let mut input = io::stdin().lock();
            loop {
                let mut line = Vec::new();
                let read = input
                    .by_ref()
                    .take(LINE_BYTES_MAX)
                    .read_until(b'\n', &mut line);
                let next = match read {
                    Ok(0) | Err(_) => Input::Eof,
                    Ok(_) => {
                        let text = String::from_utf8_lossy(&line);
                        Input::Line(text.trim_end_matches(['\r', '\n']).to_owned())
                    }
                };
                let is_last = next == Input::Eof;
                if sender.blocking_send(next).is_err() || is_last {
                    return;
                }
            }
        })?;
    Ok(lines)
}
