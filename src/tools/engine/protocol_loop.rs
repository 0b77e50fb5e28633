//! Event loop that runs an engine protocol and reads commands while a search runs.
//!
//! The input thread reads lines, and the search thread searches. A third thread runs the event
//! loop. Only this third thread uses the protocol state and writes the output. The event loop
//! sleeps until another thread sends a message or the search reaches its deadline.

use std::collections::VecDeque;
use std::io::{self, BufRead, Stdout, Write};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};
use plyhouse_engine::catalog::{AnalysisBoard, GameEntry, MoveChoice};
use plyhouse_engine::search::{Level, Limits, Report, Stop};
use tokio::time::Instant;

use crate::line_reader::LineReader;

/// Maximum length of a line in bytes. The rest of a longer line is dropped. Even the `position`
/// command of the longest possible chess game needs only about a tenth of this length.
const LINE_BYTES_MAX: usize = 1 << 20;

/// Capacity of the message channel. When the channel is full, the senders block.
const MESSAGES_MAX: usize = 64;

/// Maximum number of lines queued during a search. When the queue is full, the next line stops the
/// search.
const QUEUED_LINES_MAX: usize = 1024;

/// The engine's side of an engine protocol.
pub(super) trait Protocol {
    /// Returns the board with the position to search. While a search runs, the search thread owns
    /// this board, and the protocol has an unused board in its place.
    fn analysis_board(&mut self) -> &mut Box<dyn AnalysisBoard>;

    /// Handles a line while no search is running. A failed command leaves the position unchanged.
    fn handle_line(&mut self, line: &str, out: &mut dyn Write) -> io::Result<NextAction>;

    /// Handles an input line that arrives while a search is running. Must not use the analysis
    /// board.
    fn handle_line_while_searching(&mut self, line: &str) -> WhileSearching;

    /// Handles the end of the input. The loop still processes the queued lines.
    ///
    /// A running search without limits would run until a command such as `stop` arrives. For such a
    /// search, the method returns a time limit, and the loop stops the search when that time has
    /// passed.
    fn on_end_of_input(&mut self, _out: &mut dyn Write) -> io::Result<Option<Duration>> {
        Ok(None)
    }

    /// Reports the progress of a search. If the search finds several lines of play, `_line` is the
    /// 0-based index of the reported line.
    fn on_progress(
        &mut self,
        _line: usize,
        _report: &Report<String>,
        _out: &mut dyn Write,
    ) -> io::Result<()> {
        Ok(())
    }

    /// Handles the end of a search. If the protocol does not allow an answer yet, the
    /// implementation must withhold the answer until a later line allows it.
    fn on_search_end(&mut self, result: SearchResult, out: &mut dyn Write) -> io::Result<()>;
}

/// Next action of the loop after a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NextAction {
    /// Continue with the next line.
    ReadLine,
    /// Search the position of the analysis board.
    Search(SearchRequest),
    /// End the loop.
    Quit,
}

/// Reaction to a line that arrives during a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WhileSearching {
    /// Queue the line until the search has ended.
    Queue,
    /// Continue the search. The line was already handled.
    Handled,
    /// Continue the search and send this line.
    Reply(&'static str),
    /// Stop the search when the given time has passed. The protocol then sends the result of the
    /// search.
    StopWithin(Duration),
    /// Stop the search now. The protocol then sends the result of the search.
    Stop,
    /// Stop the search and queue the input line. From then on, the loop stops every search that a
    /// queued line starts, as soon as it starts.
    SkipSearches,
    /// End the loop now.
    Quit,
}

/// A search to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SearchRequest {
    pub(super) level: Level,
    pub(super) limits: Limits,
    pub(super) goal: SearchGoal,
}

/// Goal of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SearchGoal {
    /// Find the move that a bot of the requested level would play.
    BestMove,
    /// Find the best `count` lines of play at full strength. If `search_moves` is not empty, each
    /// line of play must start with one of these moves.
    Lines {
        search_moves: Vec<String>,
        count: usize,
    },
    /// Find a win within the given number of plies. If no such win exists, find the best move with
    /// a search whose depth is this number of plies.
    Win { plies: u32 },
}

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SearchResult {
    /// Best move, or `None` if the game is over.
    pub(super) best_move: Option<String>,
    /// The requested lines of play, best first. A bot level below full strength may choose a best
    /// move that does not start the first line.
    pub(super) lines: Vec<Report<String>>,
    /// Whether the search was stopped early.
    pub(super) was_stopped: bool,
}

impl SearchResult {
    /// Creates a result from the best lines of a position.
    fn from_lines(lines: Vec<Report<String>>) -> Self {
        let best = lines.first().and_then(|line| line.pv.first());
        Self {
            best_move: best.cloned(),
            lines,
            was_stopped: false,
        }
    }

    fn from_choice(choice: Option<MoveChoice>) -> Self {
        choice.map_or_else(Self::default, |MoveChoice { m, report }| Self {
            best_move: Some(m),
            lines: vec![report],
            was_stopped: false,
        })
    }

    /// Returns the duration of the search.
    pub(super) fn search_time(&self) -> Duration {
        self.lines.first().map_or(Duration::ZERO, |line| line.time)
    }
}

/// Message from the input thread or the search thread to the event loop.
enum Message {
    Line(String),
    EndOfInput,
    InputError(io::Error),
    Progress(usize, Report<String>),
    SearchEnded(Box<dyn AnalysisBoard>, SearchResult),
    SearchPanicked,
}

struct Driver {
    protocol: Box<dyn Protocol>,
    game: &'static GameEntry,
    out: Stdout,
    seed: u64,
    messages: Receiver<Message>,
    sender: SyncSender<Message>,
    /// Flag that stops the current search. `None` if no search is running.
    search_stop: Option<Stop>,
    /// Time at which the loop stops the current search, if the protocol has set a deadline.
    deadline: Option<Instant>,
    queued_lines: VecDeque<String>,
    is_input_open: bool,
    /// Whether the loop stops each new search as soon as a queued line starts it.
    skips_searches: bool,
}

/// Runs the protocol with input from stdin and output to stdout. Returns when a command ends the
/// protocol, or when stdin or stdout is closed.
pub(super) fn run(
    protocol: Box<dyn Protocol>,
    game: &'static GameEntry,
    seed: u64,
) -> anyhow::Result<()> {
    let (sender, messages) = sync_channel(MESSAGES_MAX);
    let reader_sender = sender.clone();
    // A blocking read of stdin cannot be interrupted, so the input thread runs until the process
    // ends.
    thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || read_lines(io::stdin().lock(), &reader_sender))
        .context("cannot start the input thread")?;
    let driver = Driver {
        protocol,
        game,
        out: io::stdout(),
        seed,
        messages,
        sender,
        search_stop: None,
        deadline: None,
        queued_lines: VecDeque::new(),
        is_input_open: true,
        skips_searches: false,
    };
    driver.run()
}

impl Driver {
    fn run(mut self) -> anyhow::Result<()> {
        loop {
            if self.search_stop.is_none() {
                match self.queued_lines.pop_front() {
                    Some(line) if self.handle_line(&line)? == NextAction::Quit => return Ok(()),
                    Some(_) => continue,
                    None if !self.is_input_open => return Ok(()),
                    None => {}
                }
            }
            match self.next_message()? {
                Message::Line(line) if self.on_line(&line)? == NextAction::Quit => return Ok(()),
                Message::Line(_) => {}
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
                Message::SearchPanicked => {
                    return Err(anyhow!("internal error: the search panicked"));
                }
            }
        }
    }

    /// Waits for the next message. If the search reaches its deadline before a message arrives,
    /// stops the search and continues to wait.
    fn next_message(&mut self) -> anyhow::Result<Message> {
        const INPUT_CLOSED: &str = "the input thread has stopped";
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

    fn on_line(&mut self, line: &str) -> anyhow::Result<NextAction> {
        let Some(search) = &self.search_stop else {
            return self.handle_line(line);
        };
        match self.protocol.handle_line_while_searching(line) {
            WhileSearching::Handled => {}
            WhileSearching::Reply(text) => {
                writeln!(self.out, "{text}")?;
                self.out.flush()?;
            }
            WhileSearching::Stop => search.stop(),
            WhileSearching::StopWithin(remaining) => {
                self.deadline = Some(Instant::now() + remaining)
            }
            WhileSearching::SkipSearches => {
                search.stop();
                self.skips_searches = true;
                self.queued_lines.push_back(line.to_owned());
            }
            WhileSearching::Queue => {
                if self.queued_lines.len() == QUEUED_LINES_MAX {
                    search.stop();
                }
                self.queued_lines.push_back(line.to_owned());
            }
            WhileSearching::Quit => return Ok(NextAction::Quit),
        }
        Ok(NextAction::ReadLine)
    }

    fn handle_line(&mut self, line: &str) -> anyhow::Result<NextAction> {
        let next = self.protocol.handle_line(line, &mut self.out)?;
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
        let unused_board = self.game.analysis_board(0);
        let analysis_board = mem::replace(self.protocol.analysis_board(), unused_board);
        let stop = Stop::new();
        if self.skips_searches {
            stop.stop();
        }
        let (stop_flag, sender, seed) = (stop.clone(), self.sender.clone(), self.seed);
        thread::Builder::new()
            .name("search".to_owned())
            .spawn(move || run_search_thread(analysis_board, request, seed, &stop_flag, &sender))
            .context("cannot start the search thread")?;
        self.search_stop = Some(stop);
        self.deadline = None;
        Ok(())
    }

    fn on_search_end(
        &mut self,
        analysis_board: Box<dyn AnalysisBoard>,
        mut result: SearchResult,
    ) -> anyhow::Result<()> {
        let search = self.search_stop.take();
        self.deadline = None;
        result.was_stopped = search.is_some_and(|stop| stop.is_stopped());
        *self.protocol.analysis_board() = analysis_board;
        self.protocol.on_search_end(result, &mut self.out)?;
        Ok(self.out.flush()?)
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
        // If the loop has already ended, the send fails, and the progress report is dropped.
        let _ = sender.send(Message::Progress(line, report.clone()));
    };
    let board = analysis_board.as_mut();
    let search = || run_search(board, &request, seed, stop, &mut on_progress);
    let message = match catch_unwind(AssertUnwindSafe(search)) {
        Ok(result) => Message::SearchEnded(analysis_board, result),
        Err(_) => Message::SearchPanicked,
    };
    let _ = sender.send(message);
}

/// Runs the requested search on the position of `analysis_board`.
pub(super) fn run_search(
    analysis_board: &mut dyn AnalysisBoard,
    request: &SearchRequest,
    seed: u64,
    stop: &Stop,
    on_progress: &mut dyn FnMut(usize, &Report<String>),
) -> SearchResult {
    let (board, mut limits) = (analysis_board, request.limits);
    match &request.goal {
        SearchGoal::Lines {
            search_moves,
            count,
        } => {
            let lines = board.best_lines(search_moves, *count, &limits, stop, on_progress);
            return SearchResult::from_lines(lines);
        }
        SearchGoal::Win { plies } => {
            let started_at = Instant::now();
            if let Some(win) = board.find_win_within(*plies, &limits, stop) {
                return SearchResult::from_lines(vec![win]);
            }
            limits.depth = Some(limits.depth.unwrap_or(u32::MAX).min(*plies));
            let elapsed = started_at.elapsed();
            limits.time = limits.time.map(|time| time.saturating_sub(elapsed));
        }
        SearchGoal::BestMove => {}
    }
    let mut on_progress = |report: &Report<String>| on_progress(0, report);
    let choice = board.choose_move(request.level, seed, &limits, stop, &mut on_progress);
    SearchResult::from_choice(choice)
}

/// Reads lines from `input` and sends them to the loop, until the input or the loop ends.
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
