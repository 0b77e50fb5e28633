//! Failures that stop `ply` early, and their exit codes.

use std::io;
use std::process::ExitCode;

/// Reason why `ply` stops early. The text is shown to the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// The user stopped `ply`, or its output was closed. No message is printed.
    #[error("stopped")]
    Stopped,
    /// The client failed, or the match cannot continue.
    #[error("{0}")]
    Failed(String),
    /// The connection could not be opened, or was lost.
    #[error("{0}")]
    NoConnection(String),
    /// The server refused a request.
    #[error("{0}")]
    Refused(String),
}

impl Failure {
    /// Returns the exit code. Code 2 is not used here, because clap returns it for command-line
    /// errors.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Stopped | Self::Failed(_) => 1,
            Self::NoConnection(_) => 3,
            Self::Refused(_) => 4,
        })
    }
}

/// Error that occurred while writing output.
#[derive(Debug)]
pub(crate) struct OutputError(io::Error);

impl From<io::Error> for OutputError {
    fn from(error: io::Error) -> Self {
        Self(error)
    }
}

impl From<OutputError> for Failure {
    /// A closed pipe is not reported, because the program that reads the output may have read all
    /// it needs.
    fn from(OutputError(error): OutputError) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Stopped,
            _ => Self::Failed(format!("cannot write the output: {error}")),
        }
    }
}

pub(crate) type OutputResult<T> = Result<T, OutputError>;
