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

use super::{EngineSettings, mib_to_bytes};
use crate::line_reader::LineReader;

/// The longest line that is read; the rest of a longer one is dropped. A game of chess with all its
/// moves, however long, has a tenth of that.
const LINE_BYTES_MAX: usize = 1 << 20;

/// How many messages may wait for this loop. The sender of one more waits.
const MESSAGES_MAX: usize = 64;

/// How many lines may wait for a search to end. One more ends it.
const QUEUED_LINES_MAX: usize = 1024;

/// A protocol, as seen by an engine that speaks it.
pub(super) trait Protocol {
    /// Does what a line asks for, while nothing is being thought about. What cannot be done changes
    /// nothing.
    fn handle_line(
        &mut self,
        line: &str,
        analysis_board: &mut Box<dyn AnalysisBoard>,
        out: &mut dyn Write,
    ) -> io::Result<NextAction>;

    /// What is to become of a line that comes during a search.
    fn handle_line_while_searching(
        &mut self,
        line: &str,
        out: &mut dyn Write,
    ) -> io::Result<WhileSearching>;

    /// There are no more lines than those that wait. What was asked for is done first; `Some` is how
    /// long the search that goes on may still take, where it would not end by itself.
    fn on_end_of_input(&mut self, _out: &mut dyn Write) -> io::Result<Option<Duration>> {
        Ok(None)
    }

    /// Tells how far a search has come with a line of play, by its number from 0 on.
    fn on_progress(
        &mut self,
        _line: usize,
        _report: &Report<String>,
        _out: &mut dyn Write,
    ) -> io::Result<()> {
        Ok(())
    }

    /// A search has ended. `was_stopped` tells that it was asked to end. Where the answer may not be given
    /// yet, it is given when a later line is taken.
    fn on_search_end(
        &mut self,
        result: SearchResult,
        was_stopped: bool,
        analysis_board: &mut Box<dyn AnalysisBoard>,
        out: &mut dyn Write,
    ) -> io::Result<()>;
}

/// What comes after a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NextAction {
    /// The next line.
    ReadLine,
    /// A search of the analyst's position.
    Search(SearchRequest),
    /// Nothing.
    Quit,
}

/// What is to become of a line that comes during a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhileSearching {
    /// It waits until the search has ended.
    Queue,
    /// It has been dealt with.
    Handled,
    /// The search is to end within this time, and has an answer.
    StopWithin(Duration),
    /// The search is to end now, and has an answer.
    Stop,
    /// It is the last. What comes before it is done without thinking any more.
    SkipSearches,
    /// Everything is to end now.
    Quit,
}

/// What is to be thought about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SearchRequest {
    pub(super) level: Level,
    pub(super) limits: Limits,
    pub(super) goal: SearchGoal,
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SearchGoal {
    /// The move that a player of the level plays.
    BestMove,
    /// The best so many lines, which begin with one of these moves if there are any. At full strength.
    Lines {
        search_moves: Vec<String>,
        count: usize,
    },
    /// A win within so many plies; without one, the best move as far as that.
    Win { plies: u32 },
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SearchResult {
    /// The move; `None` if the game is over.
    pub(super) best_move: Option<String>,
    /// The lines of play that were asked for, the best first. Below full strength the move need not be
    /// that of the first.
    pub(super) lines: Vec<Report<String>>,
}

impl SearchResult {
    /// What is known of a position whose best lines are these.
    fn from_lines(lines: Vec<Report<String>>) -> Self {
        let best = lines.first().and_then(|line| line.pv.first());
        Self {
            best_move: best.cloned(),
            lines,
        }
    }

    fn from_choice(choice: Option<MoveChoice>) -> Self {
        choice.map_or_else(Self::default, |MoveChoice { m, report }| Self {
            best_move: Some(m),
            lines: vec![report],
        })
    }

    /// How long it took.
    pub(super) fn search_time(&self) -> Duration {
        self.lines.first().map_or(Duration::ZERO, |line| line.time)
    }
}

/// What the other threads send.
enum Message {
    Line(String),
    EndOfInput,
    InputError(io::Error),
    Progress(usize, Report<String>),
    SearchEnded(Box<dyn AnalysisBoard>, SearchResult),
    SearchPanicked,
}

struct Driver<P, W> {
    protocol: P,
    out: W,
    seed: u64,
    messages: Receiver<Message>,
    sender: SyncSender<Message>,
    /// `None` while a search has it.
    analysis_board: Option<Box<dyn AnalysisBoard>>,
    /// The flag that stops the search that is going on.
    search_stop: Option<Stop>,
    /// When that is to end at the latest, if anybody has said so since it began.
    deadline: Option<Instant>,
    queued_lines: VecDeque<String>,
    is_input_open: bool,
    /// Whether the lines that wait are to be done without thinking.
    skips_searches: bool,
}

/// Speaks the protocol on stdin and `out` until told to quit, or until either is closed.
pub(super) fn run<P: Protocol>(
    protocol: P,
    settings: &EngineSettings,
    seed: u64,
    out: impl Write,
) -> anyhow::Result<()> {
    let (sender, messages) = sync_channel(MESSAGES_MAX);
    let reader_sender = sender.clone();
    // The thread ends with the process: nothing wakes who waits for stdin.
    thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || read_lines(io::stdin().lock(), &reader_sender))
        .context("cannot read stdin beside a search")?;
    let driver = Driver {
        protocol,
        out,
        seed,
        messages,
        sender,
        analysis_board: Some(
            settings
                .game
                .analysis_board(mib_to_bytes(settings.table_mib)),
        ),
        search_stop: None,
        deadline: None,
        queued_lines: VecDeque::new(),
        is_input_open: true,
        skips_searches: false,
    };
    driver.run()
}

impl<P: Protocol, W: Write> Driver<P, W> {
    fn run(mut self) -> anyhow::Result<()> {
        loop {
            while self.search_stop.is_none() {
                let Some(line) = self.queued_lines.pop_front() else {
                    break;
                };
                if self.handle_line(&line)? == NextAction::Quit {
                    return Ok(());
                }
            }
            if self.search_stop.is_none() && !self.is_input_open {
                return Ok(());
            }
            match self.next_message()? {
                Message::Line(line) => {
                    if self.on_line(line)? == NextAction::Quit {
                        return Ok(());
                    }
                }
                Message::EndOfInput => {
                    self.is_input_open = false;
                    let remaining = self.protocol.on_end_of_input(&mut self.out)?;
                    self.out.flush()?;
                    self.deadline = remaining.map(|rest| Instant::now() + rest);
                }
                Message::Progress(line, report) => {
                    self.protocol.on_progress(line, &report, &mut self.out)?;
                    self.out.flush()?;
                }
                Message::SearchEnded(analysis_board, result) => {
                    self.on_search_end(analysis_board, result)?
                }
                Message::InputError(error) => return Err(error).context("cannot read stdin"),
                Message::SearchPanicked => return Err(anyhow!("the search has failed")),
            }
        }
    }

    /// Waits for what comes next. A search that has to end by then is stopped.
    fn next_message(&mut self) -> anyhow::Result<Message> {
        const INPUT_CLOSED: &str = "the input is gone";
        if let (Some(deadline), Some(search)) = (self.deadline, &self.search_stop) {
            let remaining = deadline.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(remaining) {
                Ok(message) => return Ok(message),
                Err(RecvTimeoutError::Disconnected) => return Err(anyhow!(INPUT_CLOSED)),
                Err(RecvTimeoutError::Timeout) => search.stop(),
            }
        }
        self.messages.recv().context(INPUT_CLOSED)
    }

    fn on_line(&mut self, line: String) -> anyhow::Result<NextAction> {
        let Some(search) = &self.search_stop else {
            self.queued_lines.push_back(line);
            return Ok(NextAction::ReadLine);
        };
        let reaction = self
            .protocol
            .handle_line_while_searching(&line, &mut self.out)?;
        self.out.flush()?;
        match reaction {
            WhileSearching::Handled => {}
            WhileSearching::Stop => search.stop(),
            WhileSearching::StopWithin(remaining) => {
                self.deadline = Some(Instant::now() + remaining)
            }
            WhileSearching::SkipSearches => {
                search.stop();
                self.skips_searches = true;
                self.queued_lines.push_back(line);
            }
            WhileSearching::Queue => {
                if self.queued_lines.len() == QUEUED_LINES_MAX {
                    search.stop();
                }
                self.queued_lines.push_back(line);
            }
            WhileSearching::Quit => return Ok(NextAction::Quit),
        }
        Ok(NextAction::ReadLine)
    }

    fn handle_line(&mut self, line: &str) -> anyhow::Result<NextAction> {
        let analysis_board = self.analysis_board.as_mut().expect("no search is running");
        let next = self
            .protocol
            .handle_line(line, analysis_board, &mut self.out)?;
        self.out.flush()?;
        match next {
            NextAction::Search(request) => {
                self.start_search(request)?;
                Ok(NextAction::ReadLine)
            }
            NextAction::ReadLine | NextAction::Quit => Ok(next),
        }
    }

    fn start_search(&mut self, request: SearchRequest) -> anyhow::Result<()> {
        let analysis_board = self.analysis_board.take().expect("no search is running");
        let stop = Stop::new();
        if self.skips_searches {
            stop.stop();
        }
        let (stop_flag, sender, seed) = (stop.clone(), self.sender.clone(), self.seed);
        thread::Builder::new()
            .name("search".to_owned())
            .spawn(move || run_search_thread(analysis_board, request, seed, &stop_flag, &sender))
            .context("cannot think beside the input")?;
        self.search_stop = Some(stop);
        self.deadline = None;
        Ok(())
    }

    fn on_search_end(
        &mut self,
        mut analysis_board: Box<dyn AnalysisBoard>,
        result: SearchResult,
    ) -> anyhow::Result<()> {
        let search = self.search_stop.take();
        self.deadline = None;
        let was_stopped = search.is_some_and(|stop| stop.is_stopped());
        self.protocol
            .on_search_end(result, was_stopped, &mut analysis_board, &mut self.out)?;
        self.out.flush()?;
        self.analysis_board = Some(analysis_board);
        Ok(())
    }
}

fn run_search_thread(
    mut analysis_board: Box<dyn AnalysisBoard>,
    request: SearchRequest,
    seed: u64,
    stop: &Stop,
    sender: &SyncSender<Message>,
) {
    let mut on_progress = |line: usize, report: &Report<String>| {
        // The loop may have ended before.
        let _ = sender.send(Message::Progress(line, report.clone()));
    };
    let search = || {
        run_search(
            analysis_board.as_mut(),
            &request,
            seed,
            stop,
            &mut on_progress,
        )
    };
    let message = match catch_unwind(AssertUnwindSafe(search)) {
        Ok(result) => Message::SearchEnded(analysis_board, result),
        Err(_) => Message::SearchPanicked,
    };
    let _ = sender.send(message);
}

/// Finds what is looked for.
pub(super) fn run_search(
    analysis_board: &mut dyn AnalysisBoard,
    request: &SearchRequest,
    seed: u64,
    stop: &Stop,
    on_progress: &mut dyn FnMut(usize, &Report<String>),
) -> SearchResult {
    let mut limits = request.limits;
    match &request.goal {
        SearchGoal::Lines {
            search_moves: only,
            count,
        } => {
            return SearchResult::from_lines(analysis_board.best_lines(
                only,
                *count,
                &limits,
                stop,
                on_progress,
            ));
        }
        SearchGoal::Win { plies } => {
            let started_at = Instant::now();
            if let Some(win) = analysis_board.find_win_within(*plies, &limits, stop) {
                return SearchResult::from_lines(vec![win]);
            }
            limits.depth = Some(limits.depth.unwrap_or(u32::MAX).min(*plies));
            let elapsed = started_at.elapsed();
            limits.time = limits.time.map(|time| time.saturating_sub(elapsed));
        }
        SearchGoal::BestMove => {}
    }
    let mut on_main_line_progress = |report: &Report<String>| on_progress(0, report);
    SearchResult::from_choice(analysis_board.choose_move(
        request.level,
        seed,
        &limits,
        stop,
        &mut on_main_line_progress,
    ))
}

/// Sends each line to the loop, until the input or the loop has ended.
fn read_lines(input: impl BufRead, sender: &SyncSender<Message>) {
    let mut lines = LineReader::new(input, LINE_BYTES_MAX);
    loop {
        let message = match lines.next_line() {
            Ok(Some(line)) => Message::Line(line),
            Ok(None) => Message::EndOfInput,
            Err(error) => Message::InputError(error),
        };
        let is_last = !matches!(message, Message::Line(_));
        if sender.send(message).is_err() || is_last {
            return;
        }
    }
}
