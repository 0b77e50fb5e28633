//! Recorded history of a simulated world, as seen from outside the server.

use std::fmt;
use std::time::Duration;

use plyhouse_protocol::{Request, ServerMessage};

/// All messages and faults of a run, ordered by simulated time.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) entries: Vec<HistoryEntry>,
}

/// History event with the simulated time at which it happened.
#[derive(Clone, Debug)]
pub(crate) struct HistoryEntry {
    pub(crate) at_us: u128,
    pub(crate) event: HistoryEvent,
}

/// Identifies a connection within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnectionId(pub(crate) u64);

#[derive(Clone, Debug)]
pub(crate) enum HistoryEvent {
    /// A client opened a connection.
    Opened {
        connection: ConnectionId,
        client: String,
        server: String,
    },
    Sent {
        connection: ConnectionId,
        request: Box<Request>,
    },
    Received {
        connection: ConnectionId,
        message: Box<ServerMessage>,
    },
    /// A client received text that is not a message of the protocol.
    ReceivedInvalid {
        connection: ConnectionId,
        text: String,
    },
    /// The client's end of the connection was closed.
    Closed {
        connection: ConnectionId,
        reason: String,
    },
    /// A server crashed. The text describes the fault.
    Crash(String),
    /// The wall clock advanced by this duration while the server was down. Simulated time did not
    /// advance.
    Downtime(Duration),
    /// The server was restarted.
    Restart,
    /// A fault other than a crash was injected.
    Fault(String),
}

impl fmt::Display for HistoryEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = |value: Result<String, serde_json::Error>| value.map_err(|_| fmt::Error);
        match self {
            Self::Opened {
                connection,
                client,
                server,
            } => {
                write!(f, "{:>4}    {client} connects to {server}", connection.0)
            }
            Self::Sent {
                connection,
                request,
            } => {
                let request = json(serde_json::to_string(request))?;
                write!(f, "{:>4} -> {request}", connection.0)
            }
            Self::Received {
                connection,
                message,
            } => {
                let message = json(serde_json::to_string(message))?;
                write!(f, "{:>4} <- {message}", connection.0)
            }
            Self::ReceivedInvalid { connection, text } => {
                write!(f, "{:>4} <- {text}", connection.0)
            }
            Self::Closed {
                connection,
                reason: why,
            } => {
                write!(f, "{:>4}    closed: {why}", connection.0)
            }
            Self::Downtime(away) => write!(f, "   *    {away:?} pass"),
            Self::Restart => write!(f, "   *    Restart"),
            Self::Crash(what) | Self::Fault(what) => write!(f, "   *    {what}"),
        }
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for HistoryEntry { at_us, event: what } in &self.entries {
            writeln!(f, "{:>6}.{:03} {what}", at_us / 1000, at_us % 1000)?;
        }
        Ok(())
    }
}
