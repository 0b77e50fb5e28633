//! What happened in a world, as everybody outside the server saw it.

use std::fmt;
use std::time::Duration;

use plyhouse_protocol::{Request, ServerMessage};

/// Everything that was sent and received, in the order of the world's one clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) entries: Vec<HistoryEntry>,
}

/// One thing that happened, and when.
#[derive(Clone, Debug)]
pub(crate) struct HistoryEntry {
    pub(crate) at_us: u128,
    pub(crate) event: HistoryEvent,
}

/// Tells the connections of one world apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnectionId(pub(crate) u64);

/// One thing that happened.
#[derive(Clone, Debug)]
pub(crate) enum HistoryEvent {
    /// A client has a connection.
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
    /// Something came that is no message of the protocol.
    ReceivedInvalid {
        connection: ConnectionId,
        text: String,
    },
    /// The client's end of the connection is no more.
    Closed {
        connection: ConnectionId,
        reason: String,
    },
    /// The server died.
    Crash(String),
    /// For so long nobody was there: the wall clock has gone on by that, and nothing else.
    Downtime(Duration),
    /// The server runs again.
    Restart,
    /// Something else befell the world.
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
