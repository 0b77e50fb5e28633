//! A typed connection to a server: what the command-line client and the tests speak through.

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

/// What a client takes from its socket at a time. The library's own 128 KiB would be mostly air.
const READ_BUFFER_BYTES: usize = 8 * 1024;

/// The largest message that is taken from a server. A page of a hundred matches, the largest that
/// there is, has about a twentieth of that.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// A connection to a server. Pings are answered while messages are waited for.
#[derive(Debug)]
pub struct Connection<S = MaybeTlsStream<TcpStream>> {
    socket: WebSocketStream<S>,
}

/// The connection could not be made, or has ended.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The server closed it and said why.
    #[error("closed by the server: {reason} ({code})")]
    Closed {
        /// The close code; see [`CloseCode`](plyhouse_protocol::CloseCode).
        code: u16,
        /// The server's words. Not to be trusted on a terminal.
        reason: String,
    },
    /// The stream ended, or the server closed without a reason.
    #[error("the connection was lost")]
    Lost,
    /// The server's certificate is not trusted, or not for the host of the URL.
    #[error("the server's certificate is not believed: {why}")]
    CertificateRejected {
        /// What is wrong with it.
        why: String,
    },
    /// The server does not speak TLS.
    #[error("no TLS is spoken there")]
    NoTls,
    /// The network or the WebSocket protocol failed.
    #[error(transparent)]
    Transport(tungstenite::Error),
    /// The server sent what is not a message of this protocol.
    #[error("not a message of this protocol")]
    InvalidMessage(#[from] serde_json::Error),
}

impl ConnectionError {
    /// What the server said in place of a handshake, in one line. Not to be trusted on a terminal.
    #[must_use]
    pub fn http_rejection(&self) -> Option<String> {
        let Self::Transport(tungstenite::Error::Http(response)) = self else {
            return None;
        };
        let body = response.body().as_deref()?;
        let text = String::from_utf8_lossy(body);
        let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        // A page is for browsers.
        let is_page = first.starts_with('<');
        (!is_page).then(|| first.chars().take(HTTP_REJECTION_CHARS_MAX).collect())
    }

    /// Whether something answers there that is no such server, as far as that can be told.
    #[must_use]
    pub fn is_unsupported_protocol(&self) -> bool {
        match self {
            Self::Transport(tungstenite::Error::Http(_)) => self.http_rejection().is_none(),
            Self::Transport(error) => matches!(error, tungstenite::Error::Protocol(_)),
            Self::Closed { .. }
            | Self::Lost
            | Self::CertificateRejected { .. }
            | Self::NoTls
            | Self::InvalidMessage(_) => false,
        }
    }
}

/// So much is read of what a server says in place of a handshake.
const HTTP_REJECTION_CHARS_MAX: usize = 200;

impl From<tungstenite::Error> for ConnectionError {
    fn from(error: tungstenite::Error) -> Self {
        // Errors of TLS come wrapped into an error of the stream.
        let tls = match &error {
            tungstenite::Error::Io(error) => error
                .get_ref()
                .and_then(|error| error.downcast_ref::<rustls::Error>()),
            _ => None,
        };
        match tls {
            Some(rustls::Error::InvalidCertificate(error)) => Self::CertificateRejected {
                why: tls_roots::rejection_reason(error),
            },
            Some(rustls::Error::InvalidMessage(_)) => Self::NoTls,
            _ => Self::Transport(error),
        }
    }
}

impl Connection {
    /// Connects to a server by its URL, such as `ws://127.0.0.1:7878/ws`, or over TLS
    /// `wss://play.example.org/ws` if an authority that the system trusts has signed its certificate.
    ///
    /// # Errors
    ///
    /// The URL is malformed, nothing listens there, or it is no Plyhouse server.
    pub async fn open(url: &str) -> Result<Self, ConnectionError> {
        Self::open_with_roots(url, &TlsRoots::default()).await
    }

    /// Connects as [`open`](Self::open) does, trusting these authorities.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
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
    /// Connects over a stream that exists already.
    ///
    /// # Errors
    ///
    /// The other end is no Plyhouse server.
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
    /// The connection has ended.
    pub async fn send(&mut self, request: &Request) -> Result<(), ConnectionError> {
        self.send_text(serde_json::to_string(request)?).await
    }

    /// Sends a text as it is, valid request or not.
    ///
    /// # Errors
    ///
    /// The connection has ended.
    pub async fn send_text(&mut self, text: String) -> Result<(), ConnectionError> {
        Ok(self.socket.send(Message::text(text)).await?)
    }

    /// Waits for the next message of a type that this build knows. May be cancelled.
    ///
    /// # Errors
    ///
    /// The connection has ended, or a message could not be read.
    pub async fn receive(&mut self) -> Result<ServerMessage, ConnectionError> {
        loop {
            let text = self.receive_text().await?;
            if let Some(message) = ServerMessage::decode(&text)? {
                return Ok(message);
            }
        }
    }

    /// Waits for the next message and gives it as it came. May be cancelled.
    ///
    /// # Errors
    ///
    /// The connection has ended.
    pub async fn receive_text(&mut self) -> Result<String, ConnectionError> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return Ok(text.as_str().to_owned()),
                Some(Ok(Message::Close(Some(CloseFrame { code, reason })))) => {
                    let reason = reason.as_str().to_owned();
                    return Err(ConnectionError::Closed {
                        code: code.into(),
                        reason,
                    });
                }
                Some(Ok(Message::Close(None))) | None => return Err(ConnectionError::Lost),
                Some(Ok(
                    Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_),
                )) => {}
                Some(Err(error)) => return Err(error.into()),
            }
        }
    }

    /// Sends a close frame and waits for the server's.
    ///
    /// # Errors
    ///
    /// The connection has ended.
    pub async fn close(mut self) -> Result<(), ConnectionError> {
        self.socket.close(None).await?;
        while self
            .socket
            .next()
            .await
            .is_some_and(|message| message.is_ok())
        {}
        Ok(())
    }
}

fn handshake_request(
    url: &str,
) -> Result<tungstenite::handshake::client::Request, tungstenite::Error> {
    let mut request = url.into_client_request()?;
    let protocol = HeaderValue::from_static(SUBPROTOCOL);
    request
        .headers_mut()
        .insert(SEC_WEBSOCKET_PROTOCOL, protocol);
    Ok(request)
}

fn websocket_config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX))
}
