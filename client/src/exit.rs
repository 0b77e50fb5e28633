//! Failures that stop `ply` early, and their exit codes.

use std::io;
use std::process::ExitCode;

/// Reason why `ply` stops early. The text is shown to the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// Stopped by the user or by a closed output. No message is printed.
    #[error("stopped")]
    Stopped,
    /// Error of the client, or a match that cannot continue.
    #[error("{0}")]
    Failed(String),
    /// Connection that could not be opened, or was lost.
    #[error("{0}")]
    NoConnection(String),
    /// Request that the server refused.
    #[error("{0}")]
    Refused(String),
}

impl Failure {
    /// Returns the exit code. Code 2 is reserved for wrong usage, which clap reports.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Stopped | Self::Failed(_) => 1,
            Self::NoConnection(_) => 3,
            Self::Refused(_) => 4,
        })
    }
}

/// Converts an error while writing output. A closed pipe is not reported, because the reader may
/// have read all it needs.
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
