//! Another program, at the other end of two pipes. It has its own process group, so that Ctrl-C does not
//! reach it, and all that it has started ends with it.

mod gtp;
mod piskvork;
mod uci;
mod uci_options;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use plyhouse_engine::search::Stop;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::time::Instant;

use super::command_line::CommandLine;
use super::forfeit_reason::ForfeitReason;
use crate::line_reader::LineReader;

pub(crate) use gtp::GtpPlayer;
pub(crate) use piskvork::PiskvorkPlayer;
pub(crate) use uci::UciPlayer;

/// Longest line in bytes. The rest of a longer line is dropped.
const LINE_BYTES_MAX: usize = 1 << 16;

/// How many lines may wait to be read. A program that says more waits.
const QUEUED_LINES_MAX: usize = 1024;

/// How long a program may take for anything but a move.
pub(crate) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a program may take to end once it was told to.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// How soon it is seen that everything is to stop.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A program that runs. It ends, at the latest, when this is dropped.
#[derive(Debug)]
pub(crate) struct EngineProcess {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What it is told to have it end.
    quit_command: &'static str,
}

impl EngineProcess {
    /// Starts a program.
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
        // The thread ends with the program's output.
        thread::spawn(move || read_lines(BufReader::new(output), &sender));
        Ok(Self {
            input: child.stdin.take(),
            child,
            lines,
            quit_command,
        })
    }

    /// Says a line. Every line but the last few has been answered, so the pipe has room for it.
    pub(crate) fn write_line(&mut self, line: &str) -> Result<(), ForfeitReason> {
        let input = self.input.as_mut().expect("stdin is open until drop");
        let written = input.write_all(format!("{line}\n").as_bytes());
        written
            .and_then(|()| input.flush())
            .map_err(|_| ForfeitReason::Crashed)
    }

    /// The next line, which is waited for until then at most.
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

    /// The rest of the next line that begins with this word.
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
        // It may be gone already, or not listen.
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
            // There is none if all have ended.
            let _ = kill_process_group(group, Signal::KILL);
        }
        // Nobody outlives that signal, so this does not wait for long.
        let _ = self.child.wait();
    }
}

/// Sends every line, until the program's output ends or the receiver is gone.
fn read_lines(output: impl BufRead, sender: &SyncSender<String>) {
    let mut lines = LineReader::new(output, LINE_BYTES_MAX);
    while let Ok(Some(line)) = lines.next_line() {
        if sender.send(line.trim_end().to_owned()).is_err() {
            return;
        }
    }
}
