//! The program that thinks: started, spoken to by lines, and ended with this process at the latest.

use std::ffi::OsString;
use std::io;
use std::mem;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, timeout_at};

/// The longest line that is taken from a program. Engines tell lines of play of some hundred moves.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// How long a program may take to end by itself once it was told to.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Why a program has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EngineError {
    /// It cannot be started at all.
    #[error("{0} cannot be started: {1}")]
    SpawnFailed(String, String),
    /// It has ended.
    #[error("the program has ended")]
    Exited,
    /// It has not answered in time.
    #[error("the program has not answered {0:?} within {1:?}")]
    Timeout(String, Duration),
    /// It does not know the option of this name.
    #[error("the program has no option {0:?}")]
    UnknownOption(String),
    /// It does not take this value of an option.
    #[error("the program's option {name:?} takes {takes}, not {value:?}")]
    InvalidOptionValue {
        name: String,
        takes: String,
        value: String,
    },
    /// It refuses a command that its protocol requires.
    #[error("the program refuses {command:?}: {words:?}")]
    CommandRejected {
        command: String,
        /// What it said.
        words: String,
    },
    /// It cannot be told with what the match begins.
    #[error("the program cannot be told of the position {0:?}, with which the match begins")]
    UnsupportedPosition(String),
    /// It has said what nobody can play.
    #[error("the program said {0:?}")]
    InvalidReply(String),
}

impl From<io::Error> for EngineError {
    /// A pipe that is broken is a program that has ended.
    fn from(_: io::Error) -> Self {
        Self::Exited
    }
}

/// A program that runs. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct EngineProcess {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// Whether the last line ended with a CR, so that an LF that comes next is no line of its own.
    skip_next_lf: bool,
}

impl EngineProcess {
    /// Starts it. What it writes to standard error goes where this process writes it.
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

    /// Sends lines.
    pub(crate) async fn send_lines(&mut self, lines: &str) -> Result<(), EngineError> {
        self.stdin.write_all(lines.as_bytes()).await?;
        self.stdin.write_all(b"\n").await?;
        Ok(self.stdin.flush().await?)
    }

    /// The first line, from now on and until the deadline, of which `wanted` makes something.
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

    /// Returns the next line, which ends with LF, CR or CR LF. Drops what exceeds [`LINE_BYTES_MAX`].
    ///
    /// A CR completes the line at once. An LF that follows it is skipped when it arrives.
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

    /// Tells it to end, and waits a little until it has.
    pub(crate) async fn quit(mut self, quit_command: &str) {
        let _ = timeout_at(Instant::now() + QUIT_TIMEOUT, async {
            // A program that does not read has ended, or is killed below.
            let _ = self.send_lines(quit_command).await;
            self.child.wait().await
        })
        .await;
    }
}

/// By when something is to be answered.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    at: Instant,
    timeout: Duration,
    description: String,
}

impl Deadline {
    /// So long from now.
    pub(crate) fn after(timeout: Duration, description: &str) -> Self {
        Self {
            at: Instant::now() + timeout,
            timeout,
            description: description.to_owned(),
        }
    }
}
