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
const GOODBYE: Duration = Duration::from_secs(1);

/// Why a program has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// It cannot be started at all.
    #[error("{0} cannot be started: {1}")]
    NotStarted(String, String),
    /// It has ended.
    #[error("the program has ended")]
    Gone,
    /// It has not answered in time.
    #[error("the program has not answered {0:?} within {1:?}")]
    TooSlow(String, Duration),
    /// It does not know the option of this name.
    #[error("the program has no option {0:?}")]
    NoOption(String),
    /// It does not take this value of an option.
    #[error("the program's option {name:?} takes {takes}, not {value:?}")]
    BadValue {
        name: String,
        takes: String,
        value: String,
    },
    /// It refuses a command that its protocol requires.
    #[error("the program refuses {command:?}: {words:?}")]
    Refused {
        command: String,
        /// What it said.
        words: String,
    },
    /// It cannot be told with what the match begins.
    #[error("the program cannot be told of the position {0:?}, with which the match begins")]
    NoPosition(String),
    /// It has said what nobody can play.
    #[error("the program said {0:?}")]
    Nonsense(String),
}

impl From<io::Error> for Fault {
    /// A pipe that is broken is a program that has ended.
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// A program that runs. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Whether the last line ended with a CR, so that an LF that comes next is no line of its own.
    skips_lf: bool,
}

impl Program {
    /// Starts it. What it writes to standard error goes where this process writes it.
    pub(crate) fn start(command: &[OsString]) -> Result<Self, Fault> {
        let (name, arguments) = command.split_first().expect("clap asks for a program");
        let mut child = Command::new(name)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| {
                Fault::NotStarted(name.to_string_lossy().into_owned(), error.to_string())
            })?;
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Ok(Self {
            child,
            input,
            output,
            skips_lf: false,
        })
    }

    /// Sends lines.
    pub(crate) async fn say(&mut self, lines: &str) -> Result<(), Fault> {
        self.input.write_all(lines.as_bytes()).await?;
        self.input.write_all(b"\n").await?;
        Ok(self.input.flush().await?)
    }

    /// The first line, from now on and until the deadline, of which `wanted` makes something.
    pub(crate) async fn hear<T>(
        &mut self,
        deadline: &Deadline,
        mut wanted: impl FnMut(&str) -> Option<T>,
    ) -> Result<T, Fault> {
        let heard = async {
            loop {
                if let Some(found) = wanted(self.line().await?.trim()) {
                    return Ok(found);
                }
            }
        };
        match timeout_at(deadline.at, heard).await {
            Ok(heard) => heard,
            Err(_) => Err(Fault::TooSlow(deadline.what.clone(), deadline.within)),
        }
    }

    /// Returns the next line, which ends with LF, CR or CR LF. Drops what exceeds [`LINE_BYTES_MAX`].
    ///
    /// A CR completes the line at once. An LF that follows it is skipped when it arrives.
    async fn line(&mut self) -> Result<String, Fault> {
        let mut line = Vec::new();
        loop {
            let heard = self.output.fill_buf().await?;
            let Some(first) = heard.first() else {
                return Err(Fault::Gone);
            };
            if mem::take(&mut self.skips_lf) && *first == b'\n' {
                self.output.consume(1);
                continue;
            }
            let end = heard.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let taken = end.unwrap_or(heard.len());
            let room = LINE_BYTES_MAX - line.len();
            line.extend_from_slice(&heard[..taken.min(room)]);
            self.skips_lf = end.is_some_and(|end| heard[end] == b'\r');
            self.output.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
        }
    }

    /// Tells it to end, and waits a little until it has.
    pub(crate) async fn end(mut self, farewell: &str) {
        let _ = timeout_at(Instant::now() + GOODBYE, async {
            // A program that does not read has ended, or is killed below.
            let _ = self.say(farewell).await;
            self.child.wait().await
        })
        .await;
    }
}

/// By when something is to be answered.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    at: Instant,
    within: Duration,
    what: String,
}

impl Deadline {
    /// So long from now.
    pub(crate) fn after(within: Duration, what: &str) -> Self {
        Self {
            at: Instant::now() + within,
            within,
            what: what.to_owned(),
        }
    }
}
