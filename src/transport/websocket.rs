//! One WebSocket: frames in, frames out, and an end that the client gets to hear of.
//!
//! A connection is one task. Reading and writing go on side by side in it, so that whatever woke
//! it up, what a request led to leaves in one piece.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;

use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};

use crate::protocol::{CloseCode, MESSAGE_BYTES_MAX};
use crate::server::{Frame, Outbox, Server, Session};

/// What is read from the socket at a time. The library's own 128 KiB a connection cost many times
/// the memory, and time to clear; most messages have less than 200 bytes.
const READ_BUFFER_BYTES: usize = 4 * 1024;

/// What is gathered before it is written to the socket, unless there is no more to write.
const WRITE_BUFFER_BYTES: usize = 16 * 1024;

/// Why a connection ends.
enum End {
    /// The client has gone, or has said that it goes.
    Gone,
    /// It is for us to say goodbye.
    Close(CloseCode),
}

/// Serves one client until its connection ends.
pub(super) async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, server: &Server) {
    let mut session = server.connect();
    let outbox = session.outbox();
    let (mut sink, mut source) = open(stream).await.split();
    let ping = Notify::new();
    let mut unsent = VecDeque::new();
    let end = {
        let mut reading = pin!(read(&mut source, &mut session, &outbox, &ping, server));
        tokio::select! {
            end = &mut reading => end,
            _ = write(&mut sink, &mut unsent, &outbox, &ping) => {
                // A request that is being served is not torn off in the middle.
                outbox.close(CloseCode::Normal);
                reading.await;
                End::Gone
            }
        }
    };
    // Everybody else learns at once that the client has gone.
    drop(session);
    if let End::Close(code) = end {
        outbox.drain(&mut unsent);
        let socket = source.reunite(sink).expect("both halves are of one socket");
        let _ = timeout(
            server.settings().close_timeout,
            say_goodbye(socket, unsent, code),
        )
        .await;
    }
}

/// Turns a client away.
pub(super) async fn refuse(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    server: &Server,
    code: CloseCode,
) {
    let goodbye = say_goodbye(open(stream).await, VecDeque::new(), code);
    let _ = timeout(server.settings().close_timeout, goodbye).await;
}

async fn open<S: AsyncRead + AsyncWrite + Unpin>(stream: S) -> WebSocketStream<S> {
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(WRITE_BUFFER_BYTES)
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX));
    WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await
}

/// Reads and serves requests, one after the other, until the connection is to end.
async fn read<S: AsyncRead + AsyncWrite + Unpin>(
    source: &mut SplitStream<WebSocketStream<S>>,
    session: &mut Session,
    outbox: &Outbox,
    ping: &Notify,
    server: &Server,
) -> End {
    let settings = server.settings();
    let mut shutdown = pin!(server.shutdown().cancelled());
    let mut last_heard = now();
    let mut alarm = pin!(sleep_until(last_heard + settings.ping_interval));
    loop {
        let has_room = outbox.has_room();
        tokio::select! {
            code = outbox.closed() => return End::Close(code),
            () = &mut shutdown => return End::Close(CloseCode::GoingAway),
            message = source.next(), if has_room => {
                last_heard = now();
                match message {
                    Some(Ok(Message::Text(text))) => session.receive(&text).await,
                    Some(Ok(Message::Binary(_))) => return End::Close(CloseCode::Binary),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => session.heard_of(),
                    // The library answers; then the stream ends.
                    Some(Ok(Message::Close(_) | Message::Frame(_))) => {}
                    Some(Err(error)) => return end_of(&error),
                    None => return End::Gone,
                }
            }
            () = outbox.drained(), if !has_room => {}
            () = &mut alarm => {
                let silent = last_heard.elapsed();
                if silent >= settings.idle_timeout {
                    // Who has not been listened to cannot be blamed for its silence.
                    let code = if has_room { CloseCode::Idle } else { CloseCode::TooSlow };
                    return End::Close(code);
                }
                let next = if silent < settings.ping_interval {
                    last_heard + settings.ping_interval
                } else {
                    ping.notify_one();
                    (now() + settings.ping_interval).min(last_heard + settings.idle_timeout)
                };
                alarm.as_mut().reset(next);
            }
        }
    }
}

fn now() -> Instant {
    Instant::now()
}

/// What a failure to read means for the connection.
fn end_of(error: &Error) -> End {
    match error {
        Error::Capacity(_) => End::Close(CloseCode::TooLarge),
        Error::Utf8(_) => End::Close(CloseCode::NotUtf8),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => End::Gone,
        Error::Protocol(_) => End::Close(CloseCode::BrokenRules),
        // The others cannot come from a peer's frames, or mean that there is no peer.
        _ => End::Gone,
    }
}

/// Writes what the outbox holds, for as long as the client takes it. What it leaves in `unsent`
/// when it is cancelled has not gone out.
async fn write<S: AsyncRead + AsyncWrite + Unpin>(
    sink: &mut SplitSink<WebSocketStream<S>, Message>,
    unsent: &mut VecDeque<Frame>,
    outbox: &Outbox,
    ping: &Notify,
) -> Result<(), Error> {
    loop {
        tokio::select! {
            () = outbox.take(unsent) => {}
            () = ping.notified() => sink.feed(Message::Ping(Bytes::new())).await?,
        }
        while !unsent.is_empty() {
            poll_fn(|context| sink.poll_ready_unpin(context)).await?;
            if let Some(frame) = unsent.pop_front() {
                sink.start_send_unpin(Message::Text(frame))?;
            }
        }
        sink.flush().await?;
    }
}

/// Sends what is left and a close frame, and lets the client read both: a socket that is dropped
/// with unread input resets the connection, and the reset would overtake the close frame.
async fn say_goodbye<S: AsyncRead + AsyncWrite + Unpin>(
    mut socket: WebSocketStream<S>,
    unsent: VecDeque<Frame>,
    code: CloseCode,
) -> Result<(), Error> {
    for frame in unsent {
        socket.feed(Message::Text(frame)).await?;
    }
    let frame = CloseFrame {
        code: code.number().into(),
        reason: code.reason().into(),
    };
    socket.close(Some(frame)).await?;
    socket.flush().await?;
    let stream = socket.get_mut();
    stream.shutdown().await?;
    let mut ignored = [0; 1024];
    while stream.read(&mut ignored).await? > 0 {}
    Ok(())
}
