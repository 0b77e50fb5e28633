//! The loop that drives a protocol: lines come in while a search goes on.
//!
//! One thread reads lines and one searches. The thread of this loop does all else: it alone knows the
//! protocol and writes the output. It sleeps until one of the others sends a message.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::{Context, anyhow};
use plyhouse_engine::catalog::{Analyst, Choice};
use plyhouse_engine::search::{Level, Limits, Report, Stop};

use super::{Settings, bytes};

/// The longest line that is read; the rest of a longer one is dropped. A game of chess with all its
/// moves, however long, has a tenth of that.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// How many messages may wait for this loop. The sender of one more waits.
const MESSAGES_MAX: usize = 64;

/// How many lines may wait for a search to end. One more ends it.
const WAITING_MAX: usize = 1024;

/// A protocol, as seen by an engine that speaks it.
pub(super) trait Protocol {
    /// Whether the end of the input ends a search, too. Else what was asked for is done first.
    const ENDS_AT_ONCE: bool;

    /// Does what a line asks for, while nothing is being thought about. What cannot be done changes
    /// nothing.
    fn take(
        &mut self,
        line: &str,
        analyst: &mut Box<dyn Analyst>,
        out: &mut dyn Write,
    ) -> io::Result<Next>;

    /// What is to become of a line that comes during a search.
    fn meanwhile(&mut self, line: &str, out: &mut dyn Write) -> io::Result<Meanwhile>;

    /// Tells how far a search has come.
    fn progress(&mut self, _report: &Report<String>, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// A search has ended; there is no move if the game is over. `stopped` tells that it was asked to
    /// end. Where the answer may not be given yet, it is given when a later line is taken.
    fn found(
        &mut self,
        choice: Option<Choice>,
        stopped: bool,
        analyst: &mut Box<dyn Analyst>,
        out: &mut dyn Write,
    ) -> io::Result<()>;
}

/// What comes after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The next line.
    Line,
    /// A search of the analyst's position.
    Think(Question),
    /// Nothing.
    Quit,
}

/// What is to become of a line that comes during a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meanwhile {
    /// It waits until the search has ended.
    Wait,
    /// It has been dealt with.
    Done,
    /// The search is to end now, and has an answer.
    Stop,
    /// It is the last. What comes before it is done without thinking any more.
    Hurry,
    /// Everything is to end now.
    Quit,
}

/// What is to be thought about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) level: Level,
    pub(super) limits: Limits,
}

/// What the other threads send.
enum Message {
    Line(String),
    EndOfInput,
    Unreadable(io::Error),
    Progress(Report<String>),
    Found(Box<dyn Analyst>, Option<Choice>),
    Panicked,
}

struct Driver<P, W> {
    protocol: P,
    out: W,
    seed: u64,
    messages: Receiver<Message>,
    tell: SyncSender<Message>,
    /// `None` while a search has it.
    analyst: Option<Box<dyn Analyst>>,
    /// The flag that stops the search that is going on.
    search: Option<Stop>,
    waiting: VecDeque<String>,
    has_input: bool,
    /// Whether the lines that wait are to be done without thinking.
    hurries: bool,
}

/// Speaks the protocol on stdin and `out` until told to quit, or until either is closed.
pub(super) fn run<P: Protocol>(
    protocol: P,
    settings: &Settings,
    seed: u64,
    out: impl Write,
) -> anyhow::Result<()> {
    let (tell, messages) = sync_channel(MESSAGES_MAX);
    let reader = tell.clone();
    // The thread ends with the process: nothing wakes who waits for stdin.
    thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || read_lines(io::stdin().lock(), &reader))
        .context("cannot read stdin beside a search")?;
    let driver = Driver {
        protocol,
        out,
        seed,
        messages,
        tell,
        analyst: Some(settings.game.analyst(bytes(settings.table_mib))),
        search: None,
        waiting: VecDeque::new(),
        has_input: true,
        hurries: false,
    };
    match driver.run() {
        // Nobody reads the output any more.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        ended => ended,
    }
}

impl<P: Protocol, W: Write> Driver<P, W> {
    fn run(mut self) -> anyhow::Result<()> {
        loop {
            while self.search.is_none() {
                let Some(line) = self.waiting.pop_front() else {
                    break;
                };
                if self.take(&line)? == Next::Quit {
                    return Ok(());
                }
            }
            if self.search.is_none() && !self.has_input {
                return Ok(());
            }
            let message = self.messages.recv().context("the input is gone")?;
            match message {
                Message::Line(line) => {
                    if self.line(line)? == Next::Quit {
                        return Ok(());
                    }
                }
                Message::EndOfInput => {
                    self.has_input = false;
                    if P::ENDS_AT_ONCE {
                        return Ok(());
                    }
                }
                Message::Progress(report) => {
                    self.protocol.progress(&report, &mut self.out)?;
                    self.out.flush()?;
                }
                Message::Found(analyst, choice) => self.found(analyst, choice)?,
                Message::Unreadable(error) => return Err(error).context("cannot read stdin"),
                Message::Panicked => return Err(anyhow!("the search has failed")),
            }
        }
    }

    fn line(&mut self, line: String) -> anyhow::Result<Next> {
        let Some(search) = &self.search else {
            self.waiting.push_back(line);
            return Ok(Next::Line);
        };
        let meanwhile = self.protocol.meanwhile(&line, &mut self.out)?;
        self.out.flush()?;
        match meanwhile {
            Meanwhile::Done => {}
            Meanwhile::Stop => search.stop(),
            Meanwhile::Hurry => {
                search.stop();
                self.hurries = true;
                self.waiting.push_back(line);
            }
            Meanwhile::Wait => {
                if self.waiting.len() == WAITING_MAX {
                    search.stop();
                }
                self.waiting.push_back(line);
            }
            Meanwhile::Quit => return Ok(Next::Quit),
        }
        Ok(Next::Line)
    }

    fn take(&mut self, line: &str) -> anyhow::Result<Next> {
        let analyst = self.analyst.as_mut().expect("nothing is thought about");
        let next = self.protocol.take(line, analyst, &mut self.out)?;
        self.out.flush()?;
        if let Next::Think(question) = next {
            self.think(question)?;
        }
        Ok(next)
    }

    fn think(&mut self, question: Question) -> anyhow::Result<()> {
        let analyst = self.analyst.take().expect("nothing is thought about");
        let stop = Stop::new();
        if self.hurries {
            stop.stop();
        }
        let (raised, tell, seed) = (stop.clone(), self.tell.clone(), self.seed);
        thread::Builder::new()
            .name("search".to_owned())
            .spawn(move || think(analyst, question, seed, &raised, &tell))
            .context("cannot think beside the input")?;
        self.search = Some(stop);
        Ok(())
    }

    fn found(
        &mut self,
        mut analyst: Box<dyn Analyst>,
        choice: Option<Choice>,
    ) -> anyhow::Result<()> {
        let search = self.search.take();
        let stopped = search.is_some_and(|stop| stop.is_stopped());
        self.protocol
            .found(choice, stopped, &mut analyst, &mut self.out)?;
        self.out.flush()?;
        self.analyst = Some(analyst);
        Ok(())
    }
}

fn think(
    mut analyst: Box<dyn Analyst>,
    question: Question,
    seed: u64,
    stop: &Stop,
    tell: &SyncSender<Message>,
) {
    let Question { level, limits } = question;
    let mut watch = |report: &Report<String>| {
        // The loop may have ended before.
        let _ = tell.send(Message::Progress(report.clone()));
    };
    let choose = || analyst.choose(level, seed, &limits, stop, &mut watch);
    let message = match catch_unwind(AssertUnwindSafe(choose)) {
        Ok(choice) => Message::Found(analyst, choice),
        Err(_) => Message::Panicked,
    };
    let _ = tell.send(message);
}

/// Sends each line until the input ends, or the loop has.
fn read_lines(mut input: impl BufRead, tell: &SyncSender<Message>) {
    loop {
        let message = match read_line(&mut input) {
            Ok(Some(line)) => Message::Line(line),
            Ok(None) => Message::EndOfInput,
            Err(error) => Message::Unreadable(error),
        };
        let is_last = !matches!(message, Message::Line(_));
        if tell.send(message).is_err() || is_last {
            return;
        }
    }
}

/// The next line without its end; `None` at the end of the input. What is no UTF-8 is replaced.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if input
        .by_ref()
        .take(LINE_BYTES_MAX)
        .read_until(b'\n', &mut line)?
        == 0
    {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    let text = String::from_utf8_lossy(&line);
    Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
