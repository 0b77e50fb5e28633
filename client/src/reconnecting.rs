//! Connection that reconnects with increasing delays when it drops.

use std::pin::Pin;
use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use plyhouse_connection::{Connection, ConnectionError};
use plyhouse_protocol::{ClientMessage, CloseCode, Request};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::exit::Failure;
use crate::sanitize::sanitize;
use crate::server_address::ServerAddress;

/// Timeout for opening a connection, and for sending one message.
const IO_TIMEOUT: Duration = Duration::from_secs(10);

/// If the server sends nothing for this time, the client sends a ping. The server must then respond
/// within [`IO_TIMEOUT`]. The sum of both times is well below the server's default idle timeout of
/// one minute.
const PING_AFTER_SILENCE: Duration = Duration::from_secs(20);

/// The delay between reconnection attempts grows from `RETRY_DELAY_MIN` to `RETRY_DELAY_MAX`,
/// before jitter is added. The client gives up after `RETRIES_MAX` attempts. Without jitter, the
/// delays add up to about six minutes. By default, a live match between two people waits at most
/// five minutes for an absent player.
const RETRY_DELAY_MIN: Duration = Duration::from_millis(250);
const RETRY_DELAY_MAX: Duration = Duration::from_secs(10);
const RETRIES_MAX: usize = 40;

/// Delay before reconnecting after the server has closed the connection because of its rate limit.
const RATE_LIMIT_DELAY: Duration = Duration::from_mins(1);

/// Advice to the user when no server responds.
const NO_SERVER_HELP: &str = "Is the server running? Start one with `plyhouse` (from source: \
    `cargo run --release --locked`), or pass --server with another address (wss:// for TLS)";

/// Advice to the user when something other than a Plyhouse server responds.
const WRONG_SERVER_HELP: &str =
    "This is not a Plyhouse server: check the host, port and path of --server";

/// Advice to the user when the server's certificate is not trusted.
const UNTRUSTED_CERTIFICATE_HELP: &str = "The certificate must name the host in --server. If the server has its own certificate \
    authority, pass the authority's certificate with --ca";

/// Advice to the user when the server does not use TLS.
const NO_TLS_HELP: &str = "For a server without TLS, use ws:// in --server";

/// Timeout for closing a connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Connection that reconnects when it drops.
pub(crate) struct ReconnectingConnection {
    server: ServerAddress,
    state: ConnectionState,
    retry_delays: ExponentialBackoff,
}

enum ConnectionState {
    Connected(Box<OpenConnection>),
    Reconnecting(ReconnectAttempt),
}

struct OpenConnection {
    connection: Connection,
    /// Time at which the client last received a message. If the client has sent a ping since then,
    /// `ping_sent` is true.
    last_received_at: Instant,
    ping_sent: bool,
}

type ReconnectAttempt = Pin<Box<dyn Future<Output = Result<Connection, ConnectionError>>>>;

/// Event on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionEvent {
    /// The server sent a message.
    Message(String),
    /// The connection dropped, and the client is reconnecting. Contains the server's close reason,
    /// if the server sent one.
    Disconnected(Option<String>),
    /// The connection is open again.
    Reconnected,
}

impl ReconnectingConnection {
    /// Opens the first connection. A failed attempt is not repeated, because there may be no server
    /// at this address.
    pub(crate) async fn open(server: &ServerAddress) -> Result<Self, Failure> {
        let connection = connect(server).await?;
        let state = ConnectionState::connected(connection);
        Ok(Self {
            server: server.clone(),
            state,
            retry_delays: retry_delays(),
        })
    }

    /// Waits for the next event. This method is cancel safe.
    pub(crate) async fn next_event(&mut self) -> Result<ConnectionEvent, Failure> {
        loop {
            match &mut self.state {
                ConnectionState::Connected(up) => match up.next_message().await {
                    Ok(text) => return Ok(ConnectionEvent::Message(text)),
                    Err(error) => {
                        return self
                            .schedule_reconnect(&error)
                            .map(ConnectionEvent::Disconnected);
                    }
                },
                ConnectionState::Reconnecting(attempt) => match attempt.await {
                    Ok(connection) => {
                        self.state = ConnectionState::connected(connection);
                        return Ok(ConnectionEvent::Reconnected);
                    }
                    Err(error) => {
                        self.schedule_reconnect(&error)?;
                    }
                },
            }
        }
    }

    /// Sends a request. If the client is reconnecting, the request is lost.
    pub(crate) async fn send(&mut self, request: &Request) {
        if let ConnectionState::Connected(up) = &mut self.state {
            // If sending fails, the error is reported when the caller waits for the next event.
            let _ = timeout(IO_TIMEOUT, up.connection.send(request)).await;
        }
    }

    /// Resets the retry delays. The caller does this after the server has sent `welcome`.
    pub(crate) fn reset_retry_delays(&mut self) {
        self.retry_delays = retry_delays();
    }

    /// Closes the connection, if it is open.
    pub(crate) async fn close(self) {
        if let ConnectionState::Connected(up) = self.state {
            let _ = timeout(CLOSE_TIMEOUT, up.connection.close()).await;
        }
    }

    /// Schedules the next attempt to connect, and returns the server's close reason, if the server
    /// sent one. Fails if the client must not reconnect, or if no attempts are left.
    fn schedule_reconnect(&mut self, error: &ConnectionError) -> Result<Option<String>, Failure> {
        let reason = sanitize(&error.to_string());
        let (min_delay, server_reason) = match error {
            ConnectionError::Closed {
                code,
                reason: close_reason,
            } => {
                let close_reason = (!close_reason.is_empty()).then(|| sanitize(close_reason));
                (reconnect_delay(*code, &reason)?, close_reason)
            }
            _ => (Duration::ZERO, None),
        };
        let Some(pause) = self.retry_delays.next() else {
            let what = format!("gave up reconnecting: {reason}");
            return Err(Failure::NoConnection(what));
        };
        let (server, pause) = (self.server.clone(), pause.max(min_delay));
        self.state = ConnectionState::Reconnecting(Box::pin(async move {
            sleep(pause).await;
            try_connect(&server).await
        }));
        Ok(server_reason)
    }
}

impl ConnectionState {
    fn connected(connection: Connection) -> Self {
        Self::Connected(Box::new(OpenConnection {
            connection,
            last_received_at: Instant::now(),
            ping_sent: false,
        }))
    }
}

impl OpenConnection {
    async fn next_message(&mut self) -> Result<String, ConnectionError> {
        loop {
            let silence_limit = if self.ping_sent {
                PING_AFTER_SILENCE + IO_TIMEOUT
            } else {
                PING_AFTER_SILENCE
            };
            tokio::select! {
                text = self.connection.receive_text() => {
                    self.last_received_at = Instant::now();
                    self.ping_sent = false;
                    return text;
                }
                () = sleep_until(self.last_received_at + silence_limit) => {
                    let ping = Request { id: None, message: ClientMessage::Ping };
                    if self.ping_sent || timeout(IO_TIMEOUT, self.connection.send(&ping)).await.is_err() {
                        return Err(ConnectionError::Lost);
                    }
                    self.ping_sent = true;
                }
            }
        }
    }
}

/// Opens one connection. The error message contains advice for the user.
pub(crate) async fn connect(server: &ServerAddress) -> Result<Connection, Failure> {
    let url = sanitize(&server.url);
    let no_connection = |reason: &str, help: &str| {
        let text = format!("cannot connect to {url}: {reason}\n{help}");
        Failure::NoConnection(text.trim_end().to_owned())
    };
    let Ok(opened) = timeout(IO_TIMEOUT, server.connect()).await else {
        let reason = format!("timed out after {} s", IO_TIMEOUT.as_secs());
        return Err(no_connection(&reason, NO_SERVER_HELP));
    };
    opened.map_err(|error| {
        let reason = error.http_rejection().unwrap_or_else(|| error.to_string());
        let help = match error {
            ConnectionError::CertificateRejected { .. } => UNTRUSTED_CERTIFICATE_HELP,
            ConnectionError::NoTls => NO_TLS_HELP,
            _ if error.is_unsupported_protocol() => WRONG_SERVER_HELP,
            // The server is running and says why it rejects the connection.
            _ if error.http_rejection().is_some() => "",
            _ => NO_SERVER_HELP,
        };
        no_connection(&sanitize(&reason), help)
    })
}

async fn try_connect(server: &ServerAddress) -> Result<Connection, ConnectionError> {
    match timeout(IO_TIMEOUT, server.connect()).await {
        Ok(opened) => opened,
        Err(_) => Err(ConnectionError::Lost),
    }
}

/// Returns the minimum delay before the client reconnects. The delay depends on the code with which
/// the server closed the connection. Fails if the client must not reconnect after this close code.
fn reconnect_delay(code: u16, reason: &str) -> Result<Duration, Failure> {
    match CloseCode::from_number(code) {
        Some(
            CloseCode::InvalidFrame
            | CloseCode::BinaryFrame
            | CloseCode::InvalidUtf8
            | CloseCode::ProtocolViolation
            | CloseCode::MessageTooLarge
            | CloseCode::Replaced
            | CloseCode::SessionEnded,
        ) => Err(Failure::Refused(reason.to_owned())),
        Some(CloseCode::RateLimited) => Ok(RATE_LIMIT_DELAY),
        _ => Ok(Duration::ZERO),
    }
}

/// Converts a connection error into a [`Failure`]. Callers use this function for connections that
/// they do not reopen.
pub(crate) fn connection_failure(error: &ConnectionError) -> Failure {
    let reason = sanitize(&error.to_string());
    if let ConnectionError::Closed { code, .. } = error
        && let Err(refused) = reconnect_delay(*code, &reason)
    {
        return refused;
    }
    Failure::NoConnection(reason)
}

fn retry_delays() -> ExponentialBackoff {
    ExponentialBuilder::default()
        .with_min_delay(RETRY_DELAY_MIN)
        .with_max_delay(RETRY_DELAY_MAX)
        .with_max_times(RETRIES_MAX)
        .with_jitter()
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_code_determines_reconnect_and_delay() {
        for never in [1002, 1003, 1007, 1008, 1009, 4001] {
            assert!(
                matches!(reconnect_delay(never, "why"), Err(Failure::Refused(_))),
                "{never}"
            );
        }
        for again in [1000, 1001, 1011, 1013, 4002, 4004, 4999] {
            assert_eq!(reconnect_delay(again, "why"), Ok(Duration::ZERO), "{again}");
        }
        assert_eq!(reconnect_delay(4003, "why"), Ok(RATE_LIMIT_DELAY));
    }

    #[test]
    fn retry_delays_grow_to_the_maximum() {
        let pauses: Vec<Duration> = retry_delays().collect();
        assert_eq!(pauses.len(), RETRIES_MAX);
        assert!(pauses[0] >= RETRY_DELAY_MIN && pauses[0] <= RETRY_DELAY_MIN * 2);
        assert!(pauses[10] >= RETRY_DELAY_MAX);
        assert!(pauses.iter().all(|&pause| pause <= RETRY_DELAY_MAX * 2));
    }
}
