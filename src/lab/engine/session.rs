//! What the protocols have in common: lines come in while a search goes on.
//!
//! One thread reads, one thinks at a time, and this one does all else: it alone knows the protocol
//! and writes. It sleeps until one of the others has something to say.

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

/// How much may have happened that has not been looked at. Whoever adds more waits.
const HAPPENINGS_MAX: usize = 64;

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

/// Something that this thread is told.
enum Happening {
    Line(String),
    EndOfInput,
    Unreadable(io::Error),
    Progress(Report<String>),
    Found(Box<dyn Analyst>, Option<Choice>),
    Panicked,
}

struct Session<P, W> {
    protocol: P,
    out: W,
    seed: u64,
    happenings: Receiver<Happening>,
    tell: SyncSender<Happening>,
    /// Where a search does not have it.
    analyst: Option<Box<dyn Analyst>>,
    /// What ends the search that is going on.
    thought: Option<Stop>,
    waiting: VecDeque<String>,
    has_input: bool,
    /// Whether what waits is to be done without thinking.
    hurries: bool,
}

/// Speaks the protocol on stdin and `out` until told to quit, or until nobody is there any more.
pub(super) fn run<P: Protocol>(
    protocol: P,
    settings: &Settings,
    seed: u64,
    out: impl Write,
) -> anyhow::Result<()> {
    let (tell, happenings) = sync_channel(HAPPENINGS_MAX);
    let reader = tell.clone();
    // The thread ends with the process: nothing wakes who waits for stdin.
    thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || read_lines(io::stdin().lock(), &reader))
        .context("cannot read stdin beside a search")?;
    let session = Session {
        protocol,
        out,
        seed,
        happenings,
        tell,
        analyst: Some(settings.game.analyst(bytes(settings.table_mib))),
        thought: None,
        waiting: VecDeque::new(),
        has_input: true,
        hurries: false,
    };
    match session.converse() {
        // Who does not listen any more is gone.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        ended => ended,
    }
}

impl<P: Protocol, W: Write> Session<P, W> {
    fn converse(mut self) -> anyhow::Result<()> {
        loop {
            while self.thought.is_none() {
                let Some(line) = self.waiting.pop_front() else {
                    break;
                };
                if self.take(&line)? == Next::Quit {
                    return Ok(());
                }
            }
            if self.thought.is_none() && !self.has_input {
                return Ok(());
            }
            let happening = self.happenings.recv().context("the input is gone")?;
            match happening {
                Happening::Line(line) => {
                    if self.line(line)? == Next::Quit {
                        return Ok(());
                    }
                }
                Happening::EndOfInput => {
                    self.has_input = false;
                    if P::ENDS_AT_ONCE {
                        return Ok(());
                    }
                }
                Happening::Progress(report) => {
                    self.protocol.progress(&report, &mut self.out)?;
                    self.out.flush()?;
                }
                Happening::Found(analyst, choice) => self.found(analyst, choice)?,
                Happening::Unreadable(error) => return Err(error).context("cannot read stdin"),
                Happening::Panicked => return Err(anyhow!("the search has failed")),
            }
        }
    }

    fn line(&mut self, line: String) -> anyhow::Result<Next> {
        let Some(thought) = &self.thought else {
            self.waiting.push_back(line);
            return Ok(Next::Line);
        };
        let meanwhile = self.protocol.meanwhile(&line, &mut self.out)?;
        self.out.flush()?;
        match meanwhile {
            Meanwhile::Done => {}
            Meanwhile::Stop => thought.stop(),
            Meanwhile::Hurry => {
                thought.stop();
                self.hurries = true;
                self.waiting.push_back(line);
            }
            Meanwhile::Wait => {
                if self.waiting.len() == WAITING_MAX {
                    thought.stop();
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
        self.thought = Some(stop);
        Ok(())
    }

    fn found(
        &mut self,
        mut analyst: Box<dyn Analyst>,
        choice: Option<Choice>,
    ) -> anyhow::Result<()> {
        let thought = self.thought.take();
        let stopped = thought.is_some_and(|stop| stop.is_stopped());
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
    tell: &SyncSender<Happening>,
) {
    let Question { level, limits } = question;
    let mut watch = |report: &Report<String>| {
        // Nobody listens any more once the process ends.
        let _ = tell.send(Happening::Progress(report.clone()));
    };
    let choose = || analyst.choose(level, seed, &limits, stop, &mut watch);
    let happening = match catch_unwind(AssertUnwindSafe(choose)) {
        Ok(choice) => Happening::Found(analyst, choice),
        Err(_) => Happening::Panicked,
    };
    let _ = tell.send(happening);
}

/// Reads to the end of the input, or until nobody listens.
fn read_lines(mut input: impl BufRead, tell: &SyncSender<Happening>) {
    loop {
        let happening = match read_line(&mut input) {
            Ok(Some(line)) => Happening::Line(line),
            Ok(None) => Happening::EndOfInput,
            Err(error) => Happening::Unreadable(error),
        };
        let is_last = !matches!(happening, Happening::Line(_));
        if tell.send(happening).is_err() || is_last {
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
