//! Process of an engine, with piped standard input and output.
//!
//! The process has its own process group. Ctrl-C therefore does not reach the engine, and killing
//! the group also kills all descendants of the engine.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::engine_error::EngineError;
use crate::line_decoder::LineDecoder;

/// Maximum length of a line in bytes. The limit is generous, because engines print variations that
/// contain several hundred moves. The rest of a longer line is dropped.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// Time that a program has to exit after the quit command.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Command that starts a program. No shell interprets the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineCommand {
    /// Name or path of the program, followed by its arguments. Must not be empty.
    pub words: Vec<OsString>,
    /// Working directory of the program. If `None`, the program inherits the working directory of
    /// this process.
    pub directory: Option<PathBuf>,
    /// Whether the program writes its errors to the standard error of this process. Otherwise they
    /// are discarded.
    pub inherits_stderr: bool,
}

/// Running program. It is killed on drop, together with its process group.
#[derive(Debug)]
pub(crate) struct EngineProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    decoder: LineDecoder,
}

impl EngineProcess {
    pub(crate) fn spawn(command: &EngineCommand) -> Result<Self, EngineError> {
        let (program, arguments) = command
            .words
            .split_first()
            .expect("the command names a program");
        let mut process = Command::new(program);
        if let Some(directory) = &command.directory {
            process.current_dir(directory);
        }
        if !command.inherits_stderr {
            process.stderr(Stdio::null());
        }
        let mut child = process
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| {
                EngineError::SpawnFailed(program.to_string_lossy().into_owned(), error.to_string())
            })?;
        Ok(Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().expect("stdout is piped")),
            decoder: LineDecoder::new(LINE_BYTES_MAX),
            child,
        })
    }

    /// Sends one or more lines. Appends a newline to `lines`.
    pub(crate) async fn send_lines(&mut self, lines: &str) -> Result<(), EngineError> {
        let stdin = self.stdin.as_mut().ok_or(EngineError::Exited)?;
        Ok(stdin.write_all(format!("{lines}\n").as_bytes()).await?)
    }

    /// Returns the next line without surrounding whitespace.
    pub(crate) async fn read_line(&mut self) -> Result<String, EngineError> {
        loop {
            let chunk = self.stdout.fill_buf().await?;
            let is_end = chunk.is_empty();
            let (consumed, line) = self.decoder.decode(chunk);
            self.stdout.consume(consumed);
            match line {
                Some(line) => return Ok(line.trim().to_owned()),
                None if is_end => return Err(EngineError::Exited),
                None => {}
            }
        }
    }

    /// Reads lines until `parse` returns a value, and returns that value.
    pub(crate) async fn find_line<T>(
        &mut self,
        mut parse: impl FnMut(&str) -> Option<T>,
    ) -> Result<T, EngineError> {
        loop {
            if let Some(value) = parse(&self.read_line().await?) {
                return Ok(value);
            }
        }
    }

    /// Sends the quit command, closes the program's input and waits at most [`QUIT_TIMEOUT`] for
    /// the program to close its output. Then kills the process group.
    pub(crate) async fn quit(mut self, quit_command: &str) {
        let _ = timeout(QUIT_TIMEOUT, async {
            // An error is ignored, because the program may have exited already.
            let _ = self.send_lines(quit_command).await;
            self.stdin = None;
            while self.read_line().await.is_ok() {}
        })
        .await;
        self.kill_group();
        // Waiting does not take long, because a process cannot ignore SIGKILL.
        let _ = self.child.wait().await;
    }

    fn kill_group(&self) {
        // While nobody has waited for the child, its id cannot belong to another process.
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(group) = id.and_then(Pid::from_raw) {
            // The call fails if no process of the group is left.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        self.kill_group();
    }
}
