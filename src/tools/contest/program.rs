//! Another program, at the other end of two pipes. It has its own process group, so that Ctrl-C does not
//! reach it, and all that it has started ends with it.

mod gtp;
mod options;
mod piskvork;
mod uci;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use plyhouse_engine::search::Stop;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::time::Instant;

use super::command::CommandLine;
use super::fault::Fault;
use crate::line_reader::LineReader;

pub(super) use gtp::GtpPlayer;
pub(super) use piskvork::PiskvorkPlayer;
pub(super) use uci::UciPlayer;

/// Longest line in bytes. The rest of a longer line is dropped.
const LINE_BYTES_MAX: usize = 1 << 16;

/// How many lines may wait to be read. A program that says more waits.
const LINES_MAX: usize = 1024;

/// How long a program may take for anything but a move.
pub(super) const READY: Duration = Duration::from_secs(30);

/// How long a program may take to end once it was told to.
const FAREWELL: Duration = Duration::from_secs(1);

/// How soon it is seen that everything is to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// A program that runs. It ends, at the latest, when this is dropped.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What it is told to have it end.
    farewell: &'static str,
}

impl Program {
    /// Starts a program.
    pub(super) fn start(command: &CommandLine, farewell: &'static str) -> std::io::Result<Self> {
        let (program, arguments) = command.words.split_first().expect("it has been named");
        let mut started = Command::new(program);
        if let Some(directory) = &command.directory {
            started.current_dir(directory);
        }
        let mut child = started
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let output = child.stdout.take().expect("it is piped");
        let (tell, lines) = sync_channel(LINES_MAX);
        // The thread ends with the program's output.
        thread::spawn(move || read_lines(BufReader::new(output), &tell));
        Ok(Self {
            input: child.stdin.take(),
            child,
            lines,
            farewell,
        })
    }

    /// Says a line. Every line but the last few has been answered, so the pipe has room for it.
    pub(super) fn say(&mut self, line: &str) -> Result<(), Fault> {
        let input = self.input.as_mut().expect("it is open");
        let said = input.write_all(format!("{line}\n").as_bytes());
        said.and_then(|()| input.flush())
            .map_err(|_| Fault::Crashed)
    }

    /// The next line, which is waited for until then at most.
    pub(super) fn hear(&mut self, until: Instant, stop: &Stop) -> Result<String, Fault> {
        loop {
            if stop.is_stopped() {
                return Err(Fault::Stopped);
            }
            let rest = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(rest.min(GLANCE)) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(Fault::Crashed),
                Err(RecvTimeoutError::Timeout) if rest.is_zero() => return Err(Fault::Late),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// The rest of the next line that begins with this word.
    pub(super) fn hear_word(
        &mut self,
        word: &str,
        until: Instant,
        stop: &Stop,
    ) -> Result<String, Fault> {
        loop {
            let line = self.hear(until, stop)?;
            let mut words = line.split_whitespace();
            if words.next() == Some(word) {
                return Ok(words.collect::<Vec<_>>().join(" "));
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may be gone already, or not listen.
        let _ = self.say(self.farewell);
        self.input = None;
        let until = Instant::now() + FAREWELL;
        loop {
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() || self.lines.recv_timeout(rest).is_err() {
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
fn read_lines(output: impl BufRead, tell: &SyncSender<String>) {
    let mut lines = LineReader::new(output, LINE_BYTES_MAX);
    while let Ok(Some(line)) = lines.next_line() {
        if tell.send(line.trim_end().to_owned()).is_err() {
            return;
        }
    }
}
