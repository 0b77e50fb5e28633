//! Process of an external engine. [`EngineProcess`] exchanges lines with the engine and kills the
//! process on drop.

use std::ffi::OsString;
use std::io;
use std::mem;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, timeout_at};

/// Maximum length of a line in bytes. The limit is generous, because engines print variations that
/// contain several hundred moves.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// Time that a program has to exit after the quit command.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Error of an external engine or of its process.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EngineError {
    /// The program cannot be started. Contains the program's name and the reason.
    #[error("cannot start {0}: {1}")]
    SpawnFailed(String, String),
    /// The program has exited.
    #[error("the engine exited")]
    Exited,
    /// The program has not replied in time. Contains the expected action as a verb, and the
    /// duration of the timeout.
    #[error("the engine did not {0} within {1:?}")]
    Timeout(String, Duration),
    /// The engine does not declare the option with this name.
    #[error("the engine has no option {0:?}")]
    UnknownOption(String),
    /// The engine declares the option, but does not accept this value.
    #[error("invalid value {value:?} for engine option {name:?}: expected {takes}")]
    InvalidOptionValue {
        name: String,
        takes: String,
        value: String,
    },
    /// The engine rejects a command that its protocol requires.
    #[error("the engine rejected {command:?}: {words:?}")]
    CommandRejected {
        command: String,
        /// Error text that the engine has sent in its reply.
        words: String,
    },
    /// The initial position of the match cannot be converted for the engine's protocol.
    #[error("cannot convert the initial position {0:?} for this engine")]
    UnsupportedPosition(String),
    /// The engine's reply is malformed or unusable.
    #[error("unexpected reply from the engine: {0:?}")]
    InvalidReply(String),
}

impl From<io::Error> for EngineError {
    /// Converts every I/O error to [`EngineError::Exited`], because the pipes break when the
    /// program exits.
    fn from(_: io::Error) -> Self {
        Self::Exited
    }
}

/// Running program with piped standard input and output. It is killed on drop.
#[derive(Debug)]
pub(crate) struct EngineProcess {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// Whether the last line ended with a CR. If the next byte is an LF, it is skipped as the
    /// second half of a CR LF line ending.
    skip_next_lf: bool,
}

impl EngineProcess {
    /// Starts the program. The program inherits the standard error of this process.
    pub(crate) fn spawn(command: &[OsString]) -> Result<Self, EngineError> {
        let (name, arguments) = command.split_first().expect("clap requires a program");
        let mut child = Command::new(name)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| {
                EngineError::SpawnFailed(name.to_string_lossy().into_owned(), error.to_string())
            })?;
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        Ok(Self {
            child,
            stdin,
            stdout,
            skip_next_lf: false,
        })
    }

    /// Sends one or more lines. Appends a newline to `lines`.
    pub(crate) async fn send_lines(&mut self, lines: &str) -> Result<(), EngineError> {
        self.stdin.write_all(lines.as_bytes()).await?;
        self.stdin.write_all(b"\n").await?;
        Ok(self.stdin.flush().await?)
    }

    /// Reads lines until `parse` returns a value, and returns that value. Fails with
    /// [`EngineError::Timeout`] at the deadline.
    pub(crate) async fn wait_for_line<T>(
        &mut self,
        deadline: &Deadline,
        mut parse: impl FnMut(&str) -> Option<T>,
    ) -> Result<T, EngineError> {
        let parsed = async {
            loop {
                if let Some(value) = parse(self.read_line().await?.trim()) {
                    return Ok(value);
                }
            }
        };
        match timeout_at(deadline.at, parsed).await {
            Ok(result) => result,
            Err(_) => Err(EngineError::Timeout(
                deadline.description.clone(),
                deadline.timeout,
            )),
        }
    }

    /// Returns the next line, which ends with LF, CR or CR LF. Truncates the line to
    /// [`LINE_BYTES_MAX`].
    ///
    /// A CR completes the line without waiting for further bytes. If an LF follows the CR, the next
    /// call skips it.
    async fn read_line(&mut self) -> Result<String, EngineError> {
        let mut line = Vec::new();
        loop {
            let buffer = self.stdout.fill_buf().await?;
            let Some(first) = buffer.first() else {
                return Err(EngineError::Exited);
            };
            if mem::take(&mut self.skip_next_lf) && *first == b'\n' {
                self.stdout.consume(1);
                continue;
            }
            let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let length = end.unwrap_or(buffer.len());
            let room = LINE_BYTES_MAX - line.len();
            line.extend_from_slice(&buffer[..length.min(room)]);
            self.skip_next_lf = end.is_some_and(|end| buffer[end] == b'\r');
            self.stdout.consume(length + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
        }
    }

    /// Sends the quit command and waits at most [`QUIT_TIMEOUT`] for the program to exit.
    pub(crate) async fn quit(mut self, quit_command: &str) {
        let _ = timeout_at(Instant::now() + QUIT_TIMEOUT, async {
            // An error from writing the quit command is ignored. If the program is still running,
            // it is killed when `self` is dropped.
            let _ = self.send_lines(quit_command).await;
            self.child.wait().await
        })
        .await;
    }
}

/// Deadline for a reply from the engine. `description` is the expected action as a verb, which
/// the timeout error names.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    at: Instant,
    timeout: Duration,
    description: String,
}

impl Deadline {
    /// Creates a deadline that expires after `timeout`.
    pub(crate) fn after(timeout: Duration, description: &str) -> Self {
        Self {
            at: Instant::now() + timeout,
            timeout,
            description: description.to_owned(),
        }
    }
}
