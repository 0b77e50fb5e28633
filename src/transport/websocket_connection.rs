//! Serves a WebSocket connection, from the first frame to the close frame.
//!
//! Each connection has one task, which reads and writes concurrently. A match writes its messages
//! directly to the socket if the socket accepts them at once. Otherwise, the connection's task
//! writes them. If a task were woken for each message, the wake-ups would be a large part of the
//! cost of a move.

use std::pin::pin;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::shared_websocket::Socket;
use plyhouse_protocol::{CloseCode, SessionKind};
use plyhouse_server::{Client, ConnectionPermit, Outbox, Server};

/// Reasons why a connection ends.
enum ConnectionEnd {
    /// The client has disconnected, or has sent a close frame.
    Disconnected,
    /// The server closes the connection.
    Close(CloseCode),
}

/// Serves a client until its connection ends.
pub(super) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    server: &Server,
    permit: ConnectionPermit,
    (kind, external): (SessionKind, Option<String>),
) {
    let mut client = server.connect(permit, kind, external);
    let outbox = client.outbox();
    let socket = Socket::open(stream, server.settings());
    outbox.attach_writer(socket.clone());
    let end = {
        let mut reading = pin!(read(&socket, &mut client, &outbox, server));
        tokio::select! {
            biased;
            end = &mut reading => end,
            _ = write(&socket, &outbox) => {
                // After a failed write, the server still completes the request that is being
                // served.
                outbox.close(CloseCode::Normal);
                reading.await;
                ConnectionEnd::Disconnected
            }
        }
    };
    // The client is removed before the socket is closed, so that other players learn about the
    // disconnection at once.
    client.end(match &end {
        ConnectionEnd::Close(code) => Some(*code),
        ConnectionEnd::Disconnected => None,
    });
    outbox.detach_writer();
    let goodbye = async {
        if let ConnectionEnd::Close(code) = end {
            socket.write(&outbox).await?;
            socket.send_close(code).await?;
        }
        socket.close_stream().await
    };
    let _ = timeout(server.settings().close_timeout, goodbye).await;
}

/// Closes a connection when the server is full.
pub(super) async fn refuse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    server: &Server,
    code: CloseCode,
) {
    let socket = Socket::open(stream, server.settings());
    server.count_closed_connection(Some(code));
    let goodbye = async {
        socket.send_close(code).await?;
        socket.close_stream().await
    };
    let _ = timeout(server.settings().close_timeout, goodbye).await;
}

/// Reads and serves requests one at a time until the connection ends.
async fn read<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &Socket<S>,
    client: &mut Client,
    outbox: &Outbox,
    server: &Server,
) -> ConnectionEnd {
    let settings = server.settings();
    // The ping interval must be at most half of the idle timeout, so that the server always pings a
    // client before it considers the client idle.
    let ping_interval = settings.ping_interval.min(settings.idle_timeout / 2);
    let mut last_heard = Instant::now();
    let mut alarm = pin!(sleep_until(last_heard + ping_interval));
    loop {
        let has_room = match outbox.has_room() {
            Ok(has_room) => has_room,
            Err(code) => return ConnectionEnd::Close(code),
        };
        tokio::select! {
            // The branch for incoming messages is polled first. While messages arrive continuously,
            // the other branches need not be polled for each message.
            biased;
            message = socket.next(), if has_room => {
                last_heard = Instant::now();
                match message {
                    Some(Ok(Message::Text(text))) => {
                        client.receive(&text, last_heard.into_std()).await;
                    }
                    Some(Ok(Message::Binary(_))) => return ConnectionEnd::Close(CloseCode::BinaryFrame),
                    Some(Ok(Message::Ping(_))) => client.count_activity(),
                    Some(Ok(Message::Pong(text))) => client.receive_pong(&text, last_heard.into_std()),
                    // The WebSocket library replies to the close frame. The next read then returns
                    // `None`.
                    Some(Ok(Message::Close(_) | Message::Frame(_))) => {}
                    Some(Err(error)) => return to_connection_end(&error),
                    None => return ConnectionEnd::Disconnected,
                }
            }
            code = outbox.wait_for_close() => return ConnectionEnd::Close(code),
            () = outbox.wait_for_room(), if !has_room => {}
            () = &mut alarm => {
                let silent = last_heard.elapsed();
                if silent >= settings.idle_timeout {
                    // If the server has paused reading, the client has not yet received earlier
                    // messages. The client is then too slow rather than idle.
                    let was_heard = has_room && socket.is_listening();
                    let code = if was_heard { CloseCode::IdleTimeout } else { CloseCode::SlowConsumer };
                    return ConnectionEnd::Close(code);
                }
                let next = if silent < ping_interval {
                    last_heard + ping_interval
                } else {
                    socket.ping();
                    outbox.wake();
                    (Instant::now() + ping_interval)
                        .min(last_heard + settings.idle_timeout)
                };
                alarm.as_mut().reset(next);
            }
        }
    }
}

/// Converts a read error to the reason why the connection ends.
fn to_connection_end(error: &Error) -> ConnectionEnd {
    match error {
        Error::Capacity(_) => ConnectionEnd::Close(CloseCode::MessageTooLarge),
        Error::Utf8(_) => ConnectionEnd::Close(CloseCode::InvalidUtf8),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => ConnectionEnd::Disconnected,
        Error::Protocol(_) => ConnectionEnd::Close(CloseCode::InvalidFrame),
        // For all other errors, the server treats the client as disconnected.
        _ => ConnectionEnd::Disconnected,
    }
}

/// Writes the contents of the outbox each time the outbox wakes this task, until a write fails.
async fn write<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &Socket<S>,
    outbox: &Outbox,
) -> Result<(), Error> {
    loop {
        outbox.wait_for_wake().await;
        socket.write(outbox).await?;
    }
}
