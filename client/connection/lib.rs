//! Typed connection to a Plyhouse server, used by the command-line client and the tests.

mod tls_roots;

use futures::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::rustls;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::http::header::SEC_WEBSOCKET_PROTOCOL;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{Connector, MaybeTlsStream, WebSocketStream};

pub use self::tls_roots::{InvalidPem, TlsRoots};
use plyhouse_protocol::{Request, SUBPROTOCOL, ServerMessage};

/// Size of the read buffer. Most messages are much smaller than the WebSocket library's default
/// buffer of 128 KiB.
const READ_BUFFER_BYTES: usize = 8 * 1024;

/// Maximum size of a message from the server. In practice, the largest message lists a hundred
/// matches and is about 50 KiB long.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// Connection to a server. While the caller waits for a message, the connection answers the
/// server's pings.
#[derive(Debug)]
pub struct Connection<S = MaybeTlsStream<TcpStream>> {
    socket: WebSocketStream<S>,
}

/// Error returned when a connection cannot be opened, has ended or receives an invalid message.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The server closed the connection and gave a reason.
    #[error("the server closed the connection: {reason} ({code})")]
    Closed {
        /// Close code; see [`CloseCode`](plyhouse_protocol::CloseCode).
        code: u16,
        /// Reason sent by the server. The text is untrusted: sanitize it before writing it to a
        /// terminal.
        reason: String,
    },
    /// The stream ended, or the server closed the connection without a reason.
    #[error("connection lost")]
    Lost,
    /// The server's certificate is not trusted, or was issued for another host.
    #[error("the server's certificate is not trusted: {why}")]
    CertificateRejected {
        /// Reason why the certificate was rejected.
        why: String,
    },
    /// The server does not speak TLS.
    #[error("the server does not use TLS")]
    NoTls,
    /// Error of the network or the WebSocket protocol.
    #[error("{}", transport_error_text(.0))]
    Transport(tungstenite::Error),
    /// The server sent a message that is not valid in the Plyhouse protocol.
    #[error("invalid protocol message")]
    InvalidMessage(#[from] serde_json::Error),
}

impl ConnectionError {
    /// Returns the first line of the plain text that the server sent instead of a WebSocket
    /// handshake. The text is untrusted: sanitize it before writing it to a terminal.
    #[must_use]
    pub fn http_rejection(&self) -> Option<String> {
        let Self::Transport(tungstenite::Error::Http(response)) = self else {
            return None;
        };
        let body = response.body().as_deref()?;
        let text = String::from_utf8_lossy(body);
        let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        // An HTML page starts with `<` and is not a readable error message.
        let is_page = first.starts_with('<');
        (!is_page).then(|| first.chars().take(HTTP_REJECTION_CHARS_MAX).collect())
    }

    /// Returns whether the error suggests that the URL belongs to something other than a Plyhouse
    /// server.
    #[must_use]
    pub fn is_unsupported_protocol(&self) -> bool {
        match self {
            Self::Transport(tungstenite::Error::Http(_)) => self.http_rejection().is_none(),
            Self::Transport(error) => matches!(error, tungstenite::Error::Protocol(_)),
            _ => false,
        }
    }
}

/// Maximum number of characters that [`ConnectionError::http_rejection`] returns.
const HTTP_REJECTION_CHARS_MAX: usize = 200;

impl From<tungstenite::Error> for ConnectionError {
    fn from(error: tungstenite::Error) -> Self {
        let tls = tls_error(&error);
        match tls {
            Some(rustls::Error::InvalidCertificate(error)) => Self::CertificateRejected {
                why: tls_roots::rejection_reason(error),
            },
            Some(rustls::Error::InvalidMessage(_)) => Self::NoTls,
            _ => Self::Transport(error),
        }
    }
}

/// Returns the error of the TLS library, which the WebSocket library wraps in an I/O error.
fn tls_error(error: &tungstenite::Error) -> Option<&rustls::Error> {
    match error {
        tungstenite::Error::Io(error) => error.get_ref()?.downcast_ref(),
        _ => None,
    }
}

/// Returns a readable text for an error of the network or the WebSocket protocol.
fn transport_error_text(error: &tungstenite::Error) -> String {
    match error {
        tungstenite::Error::Io(io_error) => match tls_error(error) {
            Some(error) => tls_roots::handshake_error_text(error),
            None => io_error.to_string(),
        },
        error => error.to_string(),
    }
}

impl Connection {
    /// Connects to the server at a URL such as `ws://127.0.0.1:7878/ws`. With `wss://`, the
    /// connection uses TLS, and the server's certificate must be signed by an authority that the
    /// operating system trusts.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is malformed, if no server listens at the URL, or if the server
    /// is not a Plyhouse server.
    pub async fn open(url: &str) -> Result<Self, ConnectionError> {
        Self::open_with_roots(url, &TlsRoots::default()).await
    }

    /// Connects like [`open`](Self::open), but trusts the given certificate authorities.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`open`](Self::open).
    pub async fn open_with_roots(url: &str, roots: &TlsRoots) -> Result<Self, ConnectionError> {
        let request = handshake_request(url)?;
        let connector = match request.uri().scheme_str() {
            Some("wss") => Connector::Rustls(roots.client_config()),
            Some(_) | None => Connector::Plain,
        };
        let (socket, _) = tokio_tungstenite::connect_async_tls_with_config(
            request,
            Some(websocket_config()),
            true,
            Some(connector),
        )
        .await?;
        Ok(Self { socket })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Connects over an existing stream.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is malformed or the other end is not a Plyhouse server.
    pub async fn open_over_stream(stream: S, url: &str) -> Result<Self, ConnectionError> {
        let request = handshake_request(url)?;
        let (socket, _) =
            tokio_tungstenite::client_async_with_config(request, stream, Some(websocket_config()))
                .await?;
        Ok(Self { socket })
    }

    /// Sends a request.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection has ended.
    pub async fn send(&mut self, request: &Request) -> Result<(), ConnectionError> {
        self.send_text(serde_json::to_string(request)?).await
    }

    /// Sends text without checking that it is a valid request.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection has ended.
    pub async fn send_text(&mut self, text: String) -> Result<(), ConnectionError> {
        Ok(self.socket.send(Message::text(text)).await?)
    }

    /// Waits for the next message and returns it. Skips messages of types that this build does not
    /// know. This method is cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection has ended or if a message is invalid.
    pub async fn receive(&mut self) -> Result<ServerMessage, ConnectionError> {
        loop {
            let text = self.receive_text().await?;
            if let Some(message) = ServerMessage::decode(&text)? {
                return Ok(message);
            }
        }
    }

    /// Waits for the next message and returns its unparsed text. This method is cancel safe.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection has ended.
    pub async fn receive_text(&mut self) -> Result<String, ConnectionError> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return Ok(text.as_str().to_owned()),
                Some(Ok(Message::Close(Some(CloseFrame { code, reason })))) => {
                    let (code, reason) = (code.into(), reason.as_str().to_owned());
                    return Err(ConnectionError::Closed { code, reason });
                }
                Some(Ok(Message::Close(None))) | None => return Err(ConnectionError::Lost),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.into()),
            }
        }
    }

    /// Sends a close frame and waits until the server closes the connection.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection has already ended.
    pub async fn close(mut self) -> Result<(), ConnectionError> {
        self.socket.close(None).await?;
        while let Some(Ok(_)) = self.socket.next().await {}
        Ok(())
    }
}

fn handshake_request(
    url: &str,
) -> Result<tungstenite::handshake::client::Request, tungstenite::Error> {
    let mut request = url.into_client_request()?;
    let protocol = HeaderValue::from_static(SUBPROTOCOL);
    let headers = request.headers_mut();
    headers.insert(SEC_WEBSOCKET_PROTOCOL, protocol);
    Ok(request)
}

fn websocket_config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX))
}
