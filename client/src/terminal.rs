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

use crate::ascii::ascii;
use crate::harmless::{one_line_json, without_token};
use crate::view::{FAINT, WRONG, paint};

/// How many lines may be typed ahead. A script waits at the bound; a person's line is dropped.
const LINES_AHEAD: usize = 64;

/// The longest line that is read, in bytes; what is longer comes in pieces.
pub(crate) const LINE_BYTES_MAX: u64 = 64 * 1024;

/// How long drawing a prompt may take. One that takes longer stays to be seen, nothing worse.
const PROMPT: Duration = Duration::from_millis(30);

/// What comes from the person, or from a script in a person's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line, without its end.
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Nothing will come any more.
    End,
}

/// What is to be written and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// A person reads along and types.
    Conversation,
    /// A person or a script reads, and lines are read without a prompt.
    Script,
    /// Nothing is read.
    Silence,
}

/// Where text is written and lines come from.
pub(crate) struct Terminal {
    json: bool,
    ascii: bool,
    colour: bool,
    lines: Option<mpsc::Receiver<Input>>,
    typing: Option<Typing>,
    /// The line that is kept up to date just above the prompt, or below all else where nobody types.
    live: Option<String>,
}

/// Goes to the line above and empties it.
const ONTO_LINE_ABOVE: &str = "\u{1b}[A\r\u{1b}[2K";

/// Empties the line.
const EMPTY_LINE: &str = "\r\u{1b}[2K";

/// What is to be undone when somebody is left in mid-line.
struct Typing {
    printer: Box<dyn ExternalPrinter + Send>,
    before: Option<Termios>,
}

/// Whether a person sits at both ends.
pub(crate) fn is_person() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Whether colours are wanted where text is written.
pub(crate) fn has_colour() -> bool {
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
    pub(crate) fn open(manner: Manner, json: bool) -> io::Result<Self> {
        let colour = has_colour();
        let mut terminal = Self {
            json,
            ascii: false,
            colour,
            lines: None,
            typing: None,
            live: None,
        };
        match manner {
            Manner::Conversation => terminal.converse()?,
            Manner::Script => terminal.lines = Some(read_script()?),
            Manner::Silence => {}
        }
        Ok(terminal)
    }

    /// Draws what is told with ASCII, if that is wanted.
    pub(crate) fn in_ascii(self, ascii: bool) -> Self {
        Self { ascii, ..self }
    }

    fn converse(&mut self) -> io::Result<()> {
        let before = tcgetattr(io::stdin()).ok();
        let config = Config::builder().bracketed_paste(false).build();
        let mut editor = DefaultEditor::with_config(config).map_err(io::Error::other)?;
        let Ok(printer) = editor.create_external_printer() else {
            // A terminal that rustyline cannot draw on: plain lines will do.
            self.lines = Some(read_script()?);
            return Ok(());
        };
        self.typing = Some(Typing {
            printer: Box::new(printer),
            before,
        });
        let prompt = if self.colour {
            paint(FAINT, "> ")
        } else {
            "> ".to_owned()
        };
        let (sender, lines) = mpsc::channel(LINES_AHEAD);
        self.lines = Some(lines);
        thread::Builder::new()
            .name("typing".to_owned())
            .spawn(move || {
                loop {
                    let (input, last) = match editor.readline(&prompt) {
                        Ok(line) => (Input::Line(line), false),
                        Err(ReadlineError::Interrupted) => (Input::Interrupt, true),
                        Err(ReadlineError::Signal(_)) => continue,
                        Err(_) => (Input::End, true),
                    };
                    // Never waits: the writer may be waiting for this thread to draw.
                    let closed = matches!(
                        sender.try_send(input),
                        Err(mpsc::error::TrySendError::Closed(_))
                    );
                    if last || closed {
                        return;
                    }
                }
            })?;
        Ok(())
    }

    /// Waits for the next line; for ever if none can come. May be cancelled.
    pub(crate) async fn next(&mut self) -> Input {
        let next = match &mut self.lines {
            Some(lines) => lines.recv().await.unwrap_or(Input::End),
            None => std::future::pending().await,
        };
        if !matches!(next, Input::Line(_)) {
            self.lines = None;
        }
        // What was typed stands below the line that was kept up to date, which so stays as it is.
        if self.typing.is_some() {
            self.live = None;
        }
        next
    }

    /// Shows a line and keeps it up to date in its place, where a person looks on; nothing takes it
    /// away.
    pub(crate) fn show(&mut self, line: Option<&str>) -> io::Result<()> {
        let is_seen = self.typing.is_some() || self.lines.is_none() && io::stdout().is_terminal();
        if self.json || !is_seen {
            return Ok(());
        }
        let line = line.map(|line| self.styled(&self.lettered(line)));
        if line == self.live {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.live, line);
        let now = self.live.as_deref().unwrap_or_default();
        let text = match (&self.typing, &before, &self.live) {
            (Some(_), None, _) => format!("{now}\n"),
            (Some(_), Some(_), Some(_)) => format!("{ONTO_LINE_ABOVE}{now}\n"),
            // The prompt moves up onto the line that is empty now.
            (Some(_), Some(_), None) => format!("{ONTO_LINE_ABOVE}\u{1b}[A\n"),
            (None, ..) => format!("{EMPTY_LINE}{now}"),
        };
        self.draw(text)
    }

    /// Tells the person something.
    pub(crate) fn say(&mut self, text: &str) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        self.write(&self.lettered(text))
    }

    /// Tells the person what is wrong; a script finds it on its standard error.
    pub(crate) fn complain(&mut self, text: &str) -> io::Result<()> {
        let text = self.lettered(text);
        if self.typing.is_some() {
            return self.write(&paint(WRONG, &text));
        }
        // Nothing can be done if standard error is closed.
        let _ = writeln!(anstream::stderr().lock(), "ply: {text}");
        Ok(())
    }

    /// Ends the line on which the terminal has shown `^C`.
    pub(crate) fn interrupted(&mut self) -> io::Result<()> {
        if self.typing.is_none() && io::stdin().is_terminal() && io::stdout().is_terminal() {
            self.write("")?;
        }
        Ok(())
    }

    /// Writes a message of the server, if messages are what is wanted.
    pub(crate) fn message(&mut self, json: &str) -> io::Result<()> {
        if self.json {
            self.write(&one_line_json(&without_token(json)))
        } else {
            Ok(())
        }
    }

    /// Leaves the terminal as it was found, even if somebody is in the middle of a line.
    pub(crate) async fn close(&mut self) -> io::Result<()> {
        self.show(None)?;
        let Some(mut typing) = self.typing.take() else {
            return Ok(());
        };
        // The printer takes one text ahead of the one it draws. This one draws nothing (up, and
        // down again); once it has been taken twice, all that was said before is to be seen. What
        // is then still to come is the prompt that the second one draws below itself.
        for _ in 0..2 {
            let nothing = "\u{1b}[A\n".to_owned();
            typing.printer.print(nothing).map_err(io::Error::other)?;
        }
        sleep(PROMPT).await;
        let mut out = io::stdout().lock();
        write!(out, "\r\u{1b}[K")?;
        out.flush()?;
        if let Some(before) = &typing.before {
            tcsetattr(io::stdin(), OptionalActions::Now, before)?;
        }
        Ok(())
    }

    /// The text in the letters that the terminal has.
    fn lettered(&self, text: &str) -> String {
        if self.ascii {
            ascii(text)
        } else {
            text.to_owned()
        }
    }

    /// The text with its colours, if these are wanted.
    fn styled(&self, text: &str) -> String {
        if self.colour {
            text.to_owned()
        } else {
            strip_str(text).to_string()
        }
    }

    /// Writes a text, and the line that is kept up to date below it.
    fn write(&mut self, text: &str) -> io::Result<()> {
        let text = self.styled(text);
        self.draw(match (&self.typing, &self.live) {
            (_, None) => format!("{text}\n"),
            (Some(_), Some(live)) => format!("{ONTO_LINE_ABOVE}{text}\n{live}\n"),
            (None, Some(live)) => format!("{EMPTY_LINE}{text}\n{live}"),
        })
    }

    fn draw(&mut self, text: String) -> io::Result<()> {
        match &mut self.typing {
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
fn read_script() -> io::Result<mpsc::Receiver<Input>> {
    let (sender, lines) = mpsc::channel(LINES_AHEAD);
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
                    Ok(0) | Err(_) => Input::End,
                    Ok(_) => {
                        let text = String::from_utf8_lossy(&line);
                        Input::Line(text.trim_end_matches(['\r', '\n']).to_owned())
                    }
                };
                let last = next == Input::End;
                if sender.blocking_send(next).is_err() || last {
                    return;
                }
            }
        })?;
    Ok(lines)
}
