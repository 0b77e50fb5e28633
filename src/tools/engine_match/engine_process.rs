//! Engine that runs as a child process and communicates over pipes.
//!
//! The process has its own process group. Ctrl-C therefore does not reach the engine, and killing
//! the group also kills all descendants of the engine.

mod gtp;
mod piskvork;
mod uci;
mod uci_reported_options;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use plyhouse_engine::search::Stop;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::time::Instant;

use super::engine_command_line::CommandLine;
use super::forfeit_reason::ForfeitReason;
use crate::line_reader::LineReader;

pub(crate) use gtp::GtpPlayer;
pub(crate) use piskvork::PiskvorkPlayer;
pub(crate) use uci::UciPlayer;

/// Maximum length of an output line in bytes. The rest of a longer line is dropped.
const LINE_BYTES_MAX: usize = 1 << 16;

/// Maximum number of unread output lines. If a program writes more lines, its output is blocked
/// until the match has read some of the unread lines.
const QUEUED_LINES_MAX: usize = 1024;

/// Time limit for every response of a program except a move.
pub(crate) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// Time that a program has to exit after the quit command.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Interval at which a blocked read checks whether the match was stopped.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Running engine process. Dropping the value ends the process.
#[derive(Debug)]
pub(crate) struct EngineProcess {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Command that asks the program to exit.
    quit_command: &'static str,
}

impl EngineProcess {
    pub(crate) fn start(
        command: &CommandLine,
        quit_command: &'static str,
    ) -> std::io::Result<Self> {
        let (program, arguments) = command
            .words
            .split_first()
            .expect("the command line names a program");
        let mut process = Command::new(program);
        if let Some(directory) = &command.directory {
            process.current_dir(directory);
        }
        let mut child = process
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let output = child.stdout.take().expect("stdout is piped");
        let (sender, lines) = sync_channel(QUEUED_LINES_MAX);
        // The reader thread ends when the program closes its standard output.
        thread::spawn(move || read_lines(BufReader::new(output), &sender));
        Ok(Self {
            input: child.stdin.take(),
            child,
            lines,
            quit_command,
        })
    }

    /// Writes a line to the program's standard input. The write does not block in practice: the
    /// pipe's buffer has enough space for all lines that the program has not read yet.
    pub(crate) fn write_line(&mut self, line: &str) -> Result<(), ForfeitReason> {
        let input = self.input.as_mut().expect("stdin is open until drop");
        let written = input.write_all(format!("{line}\n").as_bytes());
        written
            .and_then(|()| input.flush())
            .map_err(|_| ForfeitReason::Crashed)
    }

    /// Returns the next line of the program's output. Fails if the program writes no line before
    /// `deadline`, if the program has exited, or if `stop` is set.
    pub(crate) fn read_line(
        &mut self,
        deadline: Instant,
        stop: &Stop,
    ) -> Result<String, ForfeitReason> {
        loop {
            if stop.is_stopped() {
                return Err(ForfeitReason::Stopped);
            }
            let remaining = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(remaining.min(STOP_POLL_INTERVAL)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(ForfeitReason::Crashed),
                Err(RecvTimeoutError::Timeout) if remaining.is_zero() => {
                    return Err(ForfeitReason::Timeout);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Skips lines until one begins with `word`, and returns the rest of that line.
    pub(crate) fn read_line_starting_with(
        &mut self,
        word: &str,
        deadline: Instant,
        stop: &Stop,
    ) -> Result<String, ForfeitReason> {
        loop {
            let line = self.read_line(deadline, stop)?;
            let mut words = line.split_whitespace();
            if words.next() == Some(word) {
                return Ok(words.collect::<Vec<_>>().join(" "));
            }
        }
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        // An error while sending the quit command is ignored, because the program may have exited
        // already. If the program ignores the command, `kill_process_group` ends the program.
        let _ = self.write_line(self.quit_command);
        self.input = None;
        let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() || self.lines.recv_timeout(remaining).is_err() {
                break;
            }
        }
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            // If no process of the group is left, `kill_process_group` returns an error, which is
            // ignored.
            let _ = kill_process_group(group, Signal::KILL);
        }
        // Waiting for the child does not take long, because a process cannot ignore SIGKILL.
        let _ = self.child.wait();
    }
}

/// Sends each line of the program's output to `sender`, until the output ends or the receiver is
/// dropped.
fn read_lines(output: impl BufRead, sender: &SyncSender<String>) {
    let mut lines = LineReader::new(output, LINE_BYTES_MAX);
    while let Ok(Some(line)) = lines.next_line() {
        if sender.send(line.trim_end().to_owned()).is_err() {
            return;
        }
    }
}
