//! The loop that drives a protocol: lines come in while a search goes on.
//!
//! One thread reads lines and one searches. The thread of this loop does all else: it alone knows the
//! protocol and writes the output. It sleeps until one of the others sends a message.

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};
use plyhouse_engine::catalog::{AnalysisBoard, MoveChoice};
use plyhouse_engine::search::{Level, Limits, Report, Stop};
use tokio::time::Instant;

use super::{Settings, bytes};
use crate::line_reader::LineReader;

/// The longest line that is read; the rest of a longer one is dropped. A game of chess with all its
/// moves, however long, has a tenth of that.
const LINE_BYTES_MAX: usize = 1 << 20;

/// How many messages may wait for this loop. The sender of one more waits.
const MESSAGES_MAX: usize = 64;

/// How many lines may wait for a search to end. One more ends it.
const WAITING_MAX: usize = 1024;

/// A protocol, as seen by an engine that speaks it.
pub(super) trait Protocol {
    /// Does what a line asks for, while nothing is being thought about. What cannot be done changes
    /// nothing.
    fn take(
        &mut self,
        line: &str,
        analyst: &mut Box<dyn AnalysisBoard>,
        out: &mut dyn Write,
    ) -> io::Result<Next>;

    /// What is to become of a line that comes during a search.
    fn meanwhile(&mut self, line: &str, out: &mut dyn Write) -> io::Result<WhileSearching>;

    /// There are no more lines than those that wait. What was asked for is done first; `Some` is how
    /// long the search that goes on may still take, where it would not end by itself.
    fn end_of_input(&mut self, _out: &mut dyn Write) -> io::Result<Option<Duration>> {
        Ok(None)
    }

    /// Tells how far a search has come with a line of play, by its number from 0 on.
    fn progress(
        &mut self,
        _line: usize,
        _report: &Report<String>,
        _out: &mut dyn Write,
    ) -> io::Result<()> {
        Ok(())
    }

    /// A search has ended. `stopped` tells that it was asked to end. Where the answer may not be given
    /// yet, it is given when a later line is taken.
    fn found(
        &mut self,
        thought: Thought,
        stopped: bool,
        analyst: &mut Box<dyn AnalysisBoard>,
        out: &mut dyn Write,
    ) -> io::Result<()>;
}

/// What comes after a line.
#[derive(Clone, Debug, PartialEq, Eq)]
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
pub(super) enum WhileSearching {
    /// It waits until the search has ended.
    Wait,
    /// It has been dealt with.
    Done,
    /// The search is to end within this time, and has an answer.
    Within(Duration),
    /// The search is to end now, and has an answer.
    Stop,
    /// It is the last. What comes before it is done without thinking any more.
    Hurry,
    /// Everything is to end now.
    Quit,
}

/// What is to be thought about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) level: Level,
    pub(super) limits: Limits,
    pub(super) aim: Aim,
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// The move that a player of the level plays.
    Move,
    /// The best so many lines, which begin with one of these moves if there are any. At full strength.
    Lines { only: Vec<String>, count: usize },
    /// A win within so many plies; without one, the best move as far as that.
    Win { plies: u32 },
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Thought {
    /// The move; `None` if the game is over.
    pub(super) m: Option<String>,
    /// The lines of play that were asked for, the best first. Below full strength the move need not be
    /// that of the first.
    pub(super) lines: Vec<Report<String>>,
}

impl Thought {
    /// What is known of a position whose best lines are these.
    fn of_lines(lines: Vec<Report<String>>) -> Self {
        let best = lines.first().and_then(|line| line.pv.first());
        Self {
            m: best.cloned(),
            lines,
        }
    }

    fn of_choice(choice: Option<MoveChoice>) -> Self {
        choice.map_or_else(Self::default, |MoveChoice { m, report }| Self {
            m: Some(m),
            lines: vec![report],
        })
    }

    /// How long it took.
    pub(super) fn time(&self) -> Duration {
        self.lines.first().map_or(Duration::ZERO, |line| line.time)
    }
}

/// What the other threads send.
enum Message {
    Line(String),
    EndOfInput,
    Unreadable(io::Error),
    Progress(usize, Report<String>),
    Found(Box<dyn AnalysisBoard>, Thought),
    Panicked,
}

struct Driver<P, W> {
    protocol: P,
    out: W,
    seed: u64,
    messages: Receiver<Message>,
    tell: SyncSender<Message>,
    /// `None` while a search has it.
    analyst: Option<Box<dyn AnalysisBoard>>,
    /// The flag that stops the search that is going on.
    search: Option<Stop>,
    /// When that is to end at the latest, if anybody has said so since it began.
    deadline: Option<Instant>,
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
        analyst: Some(settings.game.analysis_board(bytes(settings.table_mib))),
        search: None,
        deadline: None,
        waiting: VecDeque::new(),
        has_input: true,
        hurries: false,
    };
    driver.run()
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
            match self.next_message()? {
                Message::Line(line) => {
                    if self.line(line)? == Next::Quit {
                        return Ok(());
                    }
                }
                Message::EndOfInput => {
                    self.has_input = false;
                    let rest = self.protocol.end_of_input(&mut self.out)?;
                    self.out.flush()?;
                    self.deadline = rest.map(|rest| Instant::now() + rest);
                }
                Message::Progress(line, report) => {
                    self.protocol.progress(line, &report, &mut self.out)?;
                    self.out.flush()?;
                }
                Message::Found(analyst, thought) => self.found(analyst, thought)?,
                Message::Unreadable(error) => return Err(error).context("cannot read stdin"),
                Message::Panicked => return Err(anyhow!("the search has failed")),
            }
        }
    }

    /// Waits for what comes next. A search that has to end by then is stopped.
    fn next_message(&mut self) -> anyhow::Result<Message> {
        const GONE: &str = "the input is gone";
        if let (Some(deadline), Some(search)) = (self.deadline, &self.search) {
            let rest = deadline.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(rest) {
                Ok(message) => return Ok(message),
                Err(RecvTimeoutError::Disconnected) => return Err(anyhow!(GONE)),
                Err(RecvTimeoutError::Timeout) => search.stop(),
            }
        }
        self.messages.recv().context(GONE)
    }

    fn line(&mut self, line: String) -> anyhow::Result<Next> {
        let Some(search) = &self.search else {
            self.waiting.push_back(line);
            return Ok(Next::Line);
        };
        let meanwhile = self.protocol.meanwhile(&line, &mut self.out)?;
        self.out.flush()?;
        match meanwhile {
            WhileSearching::Done => {}
            WhileSearching::Stop => search.stop(),
            WhileSearching::Within(rest) => self.deadline = Some(Instant::now() + rest),
            WhileSearching::Hurry => {
                search.stop();
                self.hurries = true;
                self.waiting.push_back(line);
            }
            WhileSearching::Wait => {
                if self.waiting.len() == WAITING_MAX {
                    search.stop();
                }
                self.waiting.push_back(line);
            }
            WhileSearching::Quit => return Ok(Next::Quit),
        }
        Ok(Next::Line)
    }

    fn take(&mut self, line: &str) -> anyhow::Result<Next> {
        let analyst = self.analyst.as_mut().expect("nothing is thought about");
        let next = self.protocol.take(line, analyst, &mut self.out)?;
        self.out.flush()?;
        match next {
            Next::Think(question) => {
                self.think(question)?;
                Ok(Next::Line)
            }
            Next::Line | Next::Quit => Ok(next),
        }
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
        self.deadline = None;
        Ok(())
    }

    fn found(
        &mut self,
        mut analyst: Box<dyn AnalysisBoard>,
        thought: Thought,
    ) -> anyhow::Result<()> {
        let search = self.search.take();
        self.deadline = None;
        let stopped = search.is_some_and(|stop| stop.is_stopped());
        self.protocol
            .found(thought, stopped, &mut analyst, &mut self.out)?;
        self.out.flush()?;
        self.analyst = Some(analyst);
        Ok(())
    }
}

fn think(
    mut analyst: Box<dyn AnalysisBoard>,
    question: Question,
    seed: u64,
    stop: &Stop,
    tell: &SyncSender<Message>,
) {
    let mut watch = |line: usize, report: &Report<String>| {
        // The loop may have ended before.
        let _ = tell.send(Message::Progress(line, report.clone()));
    };
    let answer = || answer(analyst.as_mut(), &question, seed, stop, &mut watch);
    let message = match catch_unwind(AssertUnwindSafe(answer)) {
        Ok(thought) => Message::Found(analyst, thought),
        Err(_) => Message::Panicked,
    };
    let _ = tell.send(message);
}

/// Finds what is looked for.
pub(super) fn answer(
    analyst: &mut dyn AnalysisBoard,
    question: &Question,
    seed: u64,
    stop: &Stop,
    watch: &mut dyn FnMut(usize, &Report<String>),
) -> Thought {
    let mut limits = question.limits;
    match &question.aim {
        Aim::Lines { only, count } => {
            return Thought::of_lines(analyst.best_lines(only, *count, &limits, stop, watch));
        }
        Aim::Win { plies } => {
            let begin = Instant::now();
            if let Some(win) = analyst.find_win_within(*plies, &limits, stop) {
                return Thought::of_lines(vec![win]);
            }
            limits.depth = Some(limits.depth.unwrap_or(u32::MAX).min(*plies));
            let spent = begin.elapsed();
            limits.time = limits.time.map(|time| time.saturating_sub(spent));
        }
        Aim::Move => {}
    }
    let mut watch = |report: &Report<String>| watch(0, report);
    Thought::of_choice(analyst.choose_move(question.level, seed, &limits, stop, &mut watch))
}

/// Sends each line to the loop, until the input or the loop has ended.
fn read_lines(input: impl BufRead, tell: &SyncSender<Message>) {
    let mut lines = LineReader::new(input, LINE_BYTES_MAX);
    loop {
        let message = match lines.next_line() {
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
