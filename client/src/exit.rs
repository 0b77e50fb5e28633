//! Why `ply` stops before a match has ended, and the exit code that says so.

use std::io;
use std::process::ExitCode;

/// Why `ply` stops early. The text is for the person at the terminal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// The player wanted to stop. No message is needed.
    #[error("stopped")]
    Stopped,
    /// Something went wrong on this side, or the match cannot go on.
    #[error("{0}")]
    Failed(String),
    /// There is no connection, or no more.
    #[error("{0}")]
    NoConnection(String),
    /// The server will not have it.
    #[error("{0}")]
    Refused(String),
}

impl Failure {
    /// The exit code that stands for it. 2, wrong usage, is clap's.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Stopped | Self::Failed(_) => 1,
            Self::NoConnection(_) => 3,
            Self::Refused(_) => 4,
        })
    }
}

/// What is written cannot be read by anybody. A reader that has seen enough is no failure to
/// speak of.
#[expect(
    clippy::needless_pass_by_value,
    reason = "signature required by `map_err`"
)]
pub(crate) fn write_failure(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Stopped,
        _ => Failure::Failed(format!("cannot write: {error}")),
    }
}
