//! A connection that comes back: when it drops, it is made again, with pauses that grow.

use std::pin::Pin;
use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use plyhouse_connection::{Connection, ConnectionError};
use plyhouse_protocol::{ClientMessage, CloseCode, Request};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::failure::Failure;
use crate::harmless::sanitize;
use crate::server::ServerAddress;

/// How long making a connection, or sending one message, may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// After how much silence the server is asked for a sign of life, which it then has
/// [`PATIENCE`] to give. Well below the minute that a server grants us.
const SILENCE: Duration = Duration::from_secs(20);

/// The pauses between two tries: from the first to the longest. Forty of them are six minutes,
/// longer than any match is held for those who are away.
const PAUSE_MIN: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(10);
const TRIES_MAX: usize = 40;

/// The pause after the server's rate limit has closed the connection.
const PENANCE: Duration = Duration::from_mins(1);

/// Advice where no server answers.
const NO_SERVER: &str = "Is a server running? `plyhouse` starts one (in its source folder \
    `cargo run --release --locked`); --server names one elsewhere, by wss:// if it speaks TLS.";

/// Advice where something else answers.
const ANOTHER: &str = "What answers there is no Plyhouse server, or not under this path: --server names \
    another host, port or path.";

/// Advice where a certificate is not trusted.
const NO_TRUST: &str = "If its operator has an authority of their own, --ca names the file with \
    the authority's certificate.";

/// Advice where TLS was expected and the server does not speak it.
const NO_TLS: &str = "A server without TLS is named by ws://.";

/// How long a goodbye may take.
const GOODBYE: Duration = Duration::from_secs(1);

/// A connection that comes back.
pub(crate) struct Link {
    server: ServerAddress,
    state: State,
    pauses: ExponentialBackoff,
}

enum State {
    Up(Box<Up>),
    Down(Revival),
}

struct Up {
    connection: Connection,
    /// When anything was heard, and whether a sign of life has been asked for since.
    heard: Instant,
    asked: bool,
}

type Revival = Pin<Box<dyn Future<Output = Result<Connection, ConnectionError>>>>;

/// What happens on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// A message came.
    Text(String),
    /// The connection is lost and is being made again; here is why, if the server said it.
    Down(Option<String>),
    /// The connection stands again.
    Up,
}

impl Link {
    /// Connects for the first time. A failure is final: there is no sign of a server yet.
    pub(crate) async fn open(server: &ServerAddress) -> Result<Self, Failure> {
        let connection = connect(server).await?;
        let state = State::up(connection);
        Ok(Self {
            server: server.clone(),
            state,
            pauses: pauses(),
        })
    }

    /// Waits for what happens next. May be cancelled.
    pub(crate) async fn next(&mut self) -> Result<News, Failure> {
        loop {
            match &mut self.state {
                State::Up(up) => match up.next().await {
                    Ok(text) => return Ok(News::Text(text)),
                    Err(error) => return self.fall(&error).map(News::Down),
                },
                State::Down(revival) => match revival.await {
                    Ok(connection) => {
                        self.state = State::up(connection);
                        return Ok(News::Up);
                    }
                    Err(error) => {
                        self.fall(&error)?;
                    }
                },
            }
        }
    }

    /// Sends a request. Without a connection it is lost, as it would be on the way.
    pub(crate) async fn send(&mut self, request: &Request) {
        if let State::Up(up) = &mut self.state {
            // What fails to be sent shows when the next message is waited for.
            let _ = timeout(PATIENCE, up.connection.send(request)).await;
        }
    }

    /// The server has welcomed us: the next drop is the first of its kind again.
    pub(crate) fn welcomed(&mut self) {
        self.pauses = pauses();
    }

    /// Says goodbye, if there is a connection to say it on.
    pub(crate) async fn close(self) {
        if let State::Up(up) = self.state {
            let _ = timeout(GOODBYE, up.connection.close()).await;
        }
    }

    /// Schedules another attempt to connect, or says why there is none. Returns the server's words, if it
    /// sent any.
    fn fall(&mut self, error: &ConnectionError) -> Result<Option<String>, Failure> {
        let reason = sanitize(&error.to_string());
        let (at_least, said) = match error {
            ConnectionError::Closed { code, reason: said } => {
                let said = (!said.is_empty()).then(|| sanitize(said));
                (advice(*code, &reason)?, said)
            }
            ConnectionError::Lost
            | ConnectionError::CertificateRejected { .. }
            | ConnectionError::NoTls
            | ConnectionError::Transport(_)
            | ConnectionError::InvalidMessage(_) => (Duration::ZERO, None),
        };
        let Some(pause) = self.pauses.next() else {
            let what = format!("gave up connecting again: {reason}");
            return Err(Failure::NoConnection(what));
        };
        let (server, pause) = (self.server.clone(), pause.max(at_least));
        self.state = State::Down(Box::pin(async move {
            sleep(pause).await;
            dial(&server).await
        }));
        Ok(said)
    }
}

impl State {
    fn up(connection: Connection) -> Self {
        Self::Up(Box::new(Up {
            connection,
            heard: Instant::now(),
            asked: false,
        }))
    }
}

impl Up {
    async fn next(&mut self) -> Result<String, ConnectionError> {
        loop {
            let patience = if self.asked {
                SILENCE + PATIENCE
            } else {
                SILENCE
            };
            tokio::select! {
                text = self.connection.receive_text() => {
                    self.heard = Instant::now();
                    self.asked = false;
                    return text;
                }
                () = sleep_until(self.heard + patience) => {
                    let ping = Request { id: None, message: ClientMessage::Ping };
                    if self.asked || timeout(PATIENCE, self.connection.send(&ping)).await.is_err() {
                        return Err(ConnectionError::Lost);
                    }
                    self.asked = true;
                }
            }
        }
    }
}

/// Makes one connection, or says that there is none.
pub(crate) async fn connect(server: &ServerAddress) -> Result<Connection, Failure> {
    let url = sanitize(&server.url);
    let none = |reason: &str, help: &str| {
        Failure::NoConnection(format!("no connection to {url}: {reason}\n{help}"))
    };
    let Ok(opened) = timeout(PATIENCE, server.connect()).await else {
        let reason = format!("no answer within {} s", PATIENCE.as_secs());
        return Err(none(&reason, NO_SERVER));
    };
    opened.map_err(|error| {
        let reason = error.http_rejection().unwrap_or_else(|| error.to_string());
        let help = match error {
            ConnectionError::CertificateRejected { .. } => NO_TRUST,
            ConnectionError::NoTls => NO_TLS,
            _ if error.is_unsupported_protocol() => ANOTHER,
            ConnectionError::Closed { .. }
            | ConnectionError::Lost
            | ConnectionError::Transport(_)
            | ConnectionError::InvalidMessage(_) => NO_SERVER,
        };
        none(&sanitize(&reason), help)
    })
}

async fn dial(server: &ServerAddress) -> Result<Connection, ConnectionError> {
    match timeout(PATIENCE, server.connect()).await {
        Ok(opened) => opened,
        Err(_) => Err(ConnectionError::Lost),
    }
}

/// Whether to come back after this close code, and how long to stay away at least.
fn advice(code: u16, reason: &str) -> Result<Duration, Failure> {
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
        Some(CloseCode::RateLimited) => Ok(PENANCE),
        Some(
            CloseCode::Normal
            | CloseCode::GoingAway
            | CloseCode::ServerFull
            | CloseCode::SlowConsumer
            | CloseCode::IdleTimeout,
        )
        | None => Ok(Duration::ZERO),
    }
}

/// A connection that is no more, where none is made again.
pub(crate) fn lost(error: &ConnectionError) -> Failure {
    let reason = sanitize(&error.to_string());
    match error {
        ConnectionError::Closed { code, .. } => match advice(*code, &reason) {
            Err(refused) => refused,
            Ok(_) => Failure::NoConnection(reason),
        },
        ConnectionError::Lost
        | ConnectionError::CertificateRejected { .. }
        | ConnectionError::NoTls
        | ConnectionError::Transport(_)
        | ConnectionError::InvalidMessage(_) => Failure::NoConnection(reason),
    }
}

fn pauses() -> ExponentialBackoff {
    ExponentialBuilder::default()
        .with_min_delay(PAUSE_MIN)
        .with_max_delay(PAUSE_MAX)
        .with_max_times(TRIES_MAX)
        .with_jitter()
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_close_code_tells_whether_to_come_back() {
        for never in [1002, 1003, 1007, 1008, 1009, 4001] {
            assert!(
                matches!(advice(never, "why"), Err(Failure::Refused(_))),
                "{never}"
            );
        }
        for again in [1000, 1001, 1011, 1013, 4002, 4004, 4999] {
            assert_eq!(advice(again, "why"), Ok(Duration::ZERO), "{again}");
        }
        assert_eq!(advice(4003, "why"), Ok(PENANCE));
    }

    #[test]
    fn pauses_grow_to_a_bound() {
        let pauses: Vec<Duration> = pauses().collect();
        assert_eq!(pauses.len(), TRIES_MAX);
        assert!(pauses[0] >= PAUSE_MIN && pauses[0] <= PAUSE_MIN * 2);
        assert!(pauses[10] >= PAUSE_MAX);
        assert!(pauses.iter().all(|&pause| pause <= PAUSE_MAX * 2));
    }
}
