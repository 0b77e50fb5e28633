//! The person's side: where text is written, and where lines come from.
//!
//! Lines are read by a thread of their own, since reading a terminal blocks; it ends with the
//! process. While somebody types, text has to be written through rustyline, which draws it above
//! the line being typed.

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

use crate::ascii_fallback::to_ascii;
use crate::sanitize::{strip_token, to_one_line_json};
use crate::view::{ERROR, FAINT, paint};

/// How many lines may be typed ahead. A script waits at the bound; a person's line is dropped.
const INPUT_QUEUE_LINES: usize = 64;

/// The longest line that is read, in bytes; what is longer comes in pieces.
pub(crate) const LINE_BYTES_MAX: u64 = 64 * 1024;

/// How long drawing a prompt may take. One that takes longer stays to be seen, nothing worse.
const PROMPT_DRAW_TIME: Duration = Duration::from_millis(30);

/// What comes from the person, or from a script in a person's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line, without its end.
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Nothing will come any more.
    EndOfInput,
}

/// What is to be written and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputMode {
    /// A person reads along and types.
    Interactive,
    /// A person or a script reads, and lines are read without a prompt.
    Lines,
    /// Nothing is read.
    Disabled,
}

/// Where text is written and lines come from.
pub(crate) struct Terminal {
    json: bool,
    ascii: bool,
    colour: bool,
    lines: Option<mpsc::Receiver<Input>>,
    line_editor: Option<LineEditor>,
    /// The line that is kept up to date just above the prompt, or below all else where nobody types.
    status_line: Option<String>,
}

/// Goes to the line above and empties it.
const CLEAR_LINE_ABOVE: &str = "\u{1b}[A\r\u{1b}[2K";

/// Empties the line.
const CLEAR_LINE: &str = "\r\u{1b}[2K";

/// What is to be undone when somebody is left in mid-line.
struct LineEditor {
    printer: Box<dyn ExternalPrinter + Send>,
    saved_termios: Option<Termios>,
}

/// Whether a person sits at both ends.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Whether colours are wanted where text is written.
pub(crate) fn is_colour_enabled() -> bool {
    AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// How many columns the terminal has that is written to, if it is one.
pub(crate) fn columns() -> Option<usize> {
    size().map(|(columns, _)| columns)
}

/// How many columns and rows the terminal has that is written to, if it is one.
pub(crate) fn size() -> Option<(usize, usize)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some((usize::from(size.ws_col), usize::from(size.ws_row)))
}

impl Terminal {
    /// Sets the terminal up. With `json`, only the server's messages are written.
    pub(crate) fn open(input_mode: InputMode, json: bool) -> io::Result<Self> {
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

    /// Draws what is told with ASCII, if that is wanted.
    pub(crate) fn with_ascii(self, ascii: bool) -> Self {
        Self { ascii, ..self }
    }

    fn start_line_editor(&mut self) -> io::Result<()> {
        let saved_termios = tcgetattr(io::stdin()).ok();
        let config = Config::builder().bracketed_paste(false).build();
        let mut editor = DefaultEditor::with_config(config).map_err(io::Error::other)?;
        let Ok(printer) = editor.create_external_printer() else {
            // A terminal that rustyline cannot draw on: plain lines will do.
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
                        Err(_) => (Input::EndOfInput, true),
                    };
                    // Never waits: the writer may be waiting for this thread to draw.
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

    /// Waits for the next line; for ever if none can come. May be cancelled.
    pub(crate) async fn next_input(&mut self) -> Input {
        let next = match &mut self.lines {
            Some(lines) => lines.recv().await.unwrap_or(Input::EndOfInput),
            None => std::future::pending().await,
        };
        if !matches!(next, Input::Line(_)) {
            self.lines = None;
        }
        // What was typed stands below the line that was kept up to date, which so stays as it is.
        if self.line_editor.is_some() {
            self.status_line = None;
        }
        next
    }

    /// Shows a line and keeps it up to date in its place, where a person looks on; nothing takes it
    /// away.
    pub(crate) fn show_status_line(&mut self, line: Option<&str>) -> io::Result<()> {
        let is_visible =
            self.line_editor.is_some() || self.lines.is_none() && io::stdout().is_terminal();
        if self.json || !is_visible {
            return Ok(());
        }
        let line =
            line.map(|line| self.strip_colour_unless_enabled(&self.to_terminal_charset(line)));
        if line == self.status_line {
            return Ok(());
        }
        let previous = std::mem::replace(&mut self.status_line, line);
        let current = self.status_line.as_deref().unwrap_or_default();
        let text = match (&self.line_editor, &previous, &self.status_line) {
            (Some(_), None, _) => format!("{current}\n"),
            (Some(_), Some(_), Some(_)) => format!("{CLEAR_LINE_ABOVE}{current}\n"),
            // The prompt moves up onto the line that is empty now.
            (Some(_), Some(_), None) => format!("{CLEAR_LINE_ABOVE}\u{1b}[A\n"),
            (None, ..) => format!("{CLEAR_LINE}{current}"),
        };
        self.write_text(text)
    }

    /// Tells the person something.
    pub(crate) fn print(&mut self, text: &str) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        self.write_above_status_line(&self.to_terminal_charset(text))
    }

    /// Tells the person what is wrong; a script finds it on its standard error.
    pub(crate) fn print_error(&mut self, text: &str) -> io::Result<()> {
        let text = self.to_terminal_charset(text);
        if self.line_editor.is_some() {
            return self.write_above_status_line(&paint(ERROR, &text));
        }
        // Nothing can be done if standard error is closed.
        let _ = writeln!(anstream::stderr().lock(), "ply: {text}");
        Ok(())
    }

    /// Ends the line on which the terminal has shown `^C`.
    pub(crate) fn end_interrupted_line(&mut self) -> io::Result<()> {
        if self.line_editor.is_none() && io::stdin().is_terminal() && io::stdout().is_terminal() {
            self.write_above_status_line("")?;
        }
        Ok(())
    }

    /// Writes a message of the server, if messages are what is wanted.
    pub(crate) fn print_server_message(&mut self, json: &str) -> io::Result<()> {
        if self.json {
            self.write_above_status_line(&to_one_line_json(&strip_token(json)))
        } else {
            Ok(())
        }
    }

    /// Leaves the terminal as it was found, even if somebody is in the middle of a line.
    pub(crate) async fn close(&mut self) -> io::Result<()> {
        self.show_status_line(None)?;
        let Some(mut editor) = self.line_editor.take() else {
            return Ok(());
        };
        // The printer takes one text ahead of the one it draws. This one draws nothing (up, and
        // down again); once it has been taken twice, all that was said before is to be seen. What
        // is then still to come is the prompt that the second one draws below itself.
        for _ in 0..2 {
            let nothing = "\u{1b}[A\n".to_owned();
            editor.printer.print(nothing).map_err(io::Error::other)?;
        }
        sleep(PROMPT_DRAW_TIME).await;
        let mut out = io::stdout().lock();
        write!(out, "\r\u{1b}[K")?;
        out.flush()?;
        if let Some(before) = &editor.saved_termios {
            tcsetattr(io::stdin(), OptionalActions::Now, before)?;
        }
        Ok(())
    }

    /// The text in the letters that the terminal has.
    fn to_terminal_charset(&self, text: &str) -> String {
        if self.ascii {
            to_ascii(text)
        } else {
            text.to_owned()
        }
    }

    /// The text with its colours, if these are wanted.
    fn strip_colour_unless_enabled(&self, text: &str) -> String {
        if self.colour {
            text.to_owned()
        } else {
            strip_str(text).to_string()
        }
    }

    /// Writes a text, and the line that is kept up to date below it.
    fn write_above_status_line(&mut self, text: &str) -> io::Result<()> {
        let text = self.strip_colour_unless_enabled(text);
        self.write_text(match (&self.line_editor, &self.status_line) {
            (_, None) => format!("{text}\n"),
            (Some(_), Some(live)) => format!("{CLEAR_LINE_ABOVE}{text}\n{live}\n"),
            (None, Some(live)) => format!("{CLEAR_LINE}{text}\n{live}"),
        })
    }

    fn write_text(&mut self, text: String) -> io::Result<()> {
        match &mut self.line_editor {
            Some(typing) => typing.printer.print(text).map_err(io::Error::other),
            None => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes())?;
                out.flush()
            }
        }
    }
}

/// Reads the standard input line by line, no faster than the lines are used.
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
                    Ok(0) | Err(_) => Input::EndOfInput,
                    Ok(_) => {
                        let text = String::from_utf8_lossy(&line);
                        Input::Line(text.trim_end_matches(['\r', '\n']).to_owned())
                    }
                };
                let is_last = next == Input::EndOfInput;
                if sender.blocking_send(next).is_err() || is_last {
                    return;
                }
            }
        })?;
    Ok(lines)
}
