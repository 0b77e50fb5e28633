//! Initializes logging to stderr, as text or as one JSON object per line.

use std::io::{self, IsTerminal};

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Text on a terminal, JSON otherwise
    Auto,
    /// Human-readable text
    Text,
    /// One JSON object per line
    Json,
}

/// Initializes logging. A second call of this function panics, because the global logger is already
/// set.
pub(crate) fn init_logging(filter: &str, format: LogFormat) {
    let is_terminal = io::stderr().is_terminal();
    let log = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_writer(io::stderr);
    match format {
        LogFormat::Auto if is_terminal => log.with_ansi(true).init(),
        LogFormat::Text => log.with_ansi(is_terminal).init(),
        LogFormat::Auto | LogFormat::Json => log.json().flatten_event(true).init(),
    }
}
