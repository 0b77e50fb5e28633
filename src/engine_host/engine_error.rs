//! Errors of engines.

use std::io;
use std::time::Duration;

/// Error of an engine or of its process.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The program cannot be started. Contains the program's name and the reason.
    #[error("cannot start {0}: {1}")]
    SpawnFailed(String, String),
    /// The program has exited.
    #[error("the engine exited")]
    Exited,
    /// The program has not replied in time. Contains the expected action as a verb, and the
    /// duration of the timeout.
    #[error("the engine did not {0} within {1:?}")]
    Timeout(&'static str, Duration),
    /// The engine does not declare the option with this name.
    #[error("unknown UCI option '{name}': {}", describe_options(known))]
    UnknownOption {
        /// Name of the unknown option.
        name: String,
        /// Names of the options that the engine declares.
        known: Vec<String>,
    },
    /// The engine declares the option, but does not accept this value.
    #[error("invalid value '{value}' for UCI option '{name}': expected {expected}")]
    InvalidOptionValue {
        /// Name of the option.
        name: String,
        /// Description of the values that the option accepts.
        expected: String,
        /// Value that the option does not accept.
        value: String,
    },
    /// The engine rejects a command that its protocol requires.
    #[error("the engine rejected {command:?}: {reply:?}")]
    CommandRejected {
        /// Rejected command.
        command: String,
        /// Error text of the engine's reply.
        reply: String,
    },
    /// A position or a move cannot be converted to the notation of the engine's protocol.
    #[error("cannot convert {0:?} for this engine")]
    UnsupportedNotation(String),
    /// The engine's reply is malformed or unusable.
    #[error("unexpected reply from the engine: {0:?}")]
    InvalidReply(String),
}

impl EngineError {
    /// Returns the error for a command that the engine rejects with this reply.
    pub(crate) fn rejected(command: &str, reply: String) -> Self {
        Self::CommandRejected {
            command: command.to_owned(),
            reply,
        }
    }
}

fn describe_options(names: &[String]) -> String {
    if names.is_empty() {
        "the engine has no options".to_owned()
    } else {
        format!("expected one of {}", names.join(", "))
    }
}

impl From<io::Error> for EngineError {
    /// Converts every I/O error to [`EngineError::Exited`], because the pipes break when the
    /// program exits.
    fn from(_: io::Error) -> Self {
        Self::Exited
    }
}
