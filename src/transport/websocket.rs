//! One WebSocket: frames in, frames out, and an end that the client gets to hear of.
//!
//! A connection is one task, which reads and writes side by side. A match that has something to
//! tell writes it to the socket itself if the socket takes it at once, and otherwise leaves it to
//! this task: waking a task for every message would be a good part of what a move costs.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Waker, ready};

use futures::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message};

use super::metered::Metered;
use crate::protocol::CloseCode;
use crate::server::{Frame, Guest, Outbox, Server, Session, Settings, Writer};

/// What is read from the socket at a time. The library's own 128 KiB a connection cost many times
/// the memory, and time to clear before each read; most messages have less than 200 bytes.
const READ_BUFFER_BYTES: usize = 1024;

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
pub(super) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    server: &Server,
    guest: Guest,
) {
    let mut session = server.connect(guest);
    let outbox = session.outbox();
    let socket = Socket::open(stream, server.settings()).await;
    outbox.attach(socket.clone());
    let end = {
        let mut reading = pin!(read(&socket, &mut session, &outbox, server));
        tokio::select! {
            biased; // Nothing is left to a chance that no seed governs.
            end = &mut reading => end,
            _ = write(&socket, &outbox) => {
                // A request that is being served is not torn off in the middle.
                outbox.close(CloseCode::Normal);
                reading.await;
                End::Gone
            }
        }
    };
    // Everybody else learns at once that the client has gone.
    session.end(match &end {
        End::Close(code) => Some(*code),
        End::Gone => None,
    });
    outbox.detach();
    if let End::Close(code) = end {
        let goodbye = async {
            socket.write(&outbox).await?;
            say_goodbye(&socket, code).await
        };
        let _ = timeout(server.settings().close_timeout, goodbye).await;
    }
}

/// Turns a client away.
pub(super) async fn refuse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    server: &Server,
    code: CloseCode,
) {
    let socket = Socket::open(stream, server.settings()).await;
    server.count_closed(Some(code));
    let goodbye = say_goodbye(&socket, code);
    let _ = timeout(server.settings().close_timeout, goodbye).await;
}

/// A socket that several tasks may write to. The lock is held for as long as it takes to hand bytes
/// to the kernel, and never while waiting.
struct Socket<S>(Mutex<Inner<S>>);

struct Inner<S> {
    stream: WebSocketStream<Metered<S>>,
    /// Taken out of the outbox and not gone yet.
    unsent: VecDeque<Frame>,
    is_ping_due: bool,
    /// The connection's own task waits for the socket to take more, and will then write everything.
    is_waiting: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Socket<S> {
    async fn open(stream: S, settings: &Settings) -> Arc<Self> {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .write_buffer_size(WRITE_BUFFER_BYTES)
            .max_message_size(Some(settings.message_bytes))
            .max_frame_size(Some(settings.message_bytes));
        let stream = Metered::new(stream, settings);
        let stream = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
        let unsent = VecDeque::new();
        Arc::new(Self(Mutex::new(Inner {
            stream,
            unsent,
            is_ping_due: false,
            is_waiting: false,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Inner<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next message of the client.
    async fn next(&self) -> Option<Result<Message, Error>> {
        poll_fn(|context| self.lock().stream.poll_next_unpin(context)).await
    }

    /// Writes all that the outbox holds.
    async fn write(&self, outbox: &Outbox) -> Result<(), Error> {
        poll_fn(|context| {
            let mut inner = self.lock();
            let written = inner.poll_write(outbox, context);
            inner.is_waiting = written.is_pending();
            written
        })
        .await
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Inner<S> {
    fn poll_write(
        &mut self,
        outbox: &Outbox,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Error>> {
        if self.is_ping_due {
            ready!(self.stream.poll_ready_unpin(context))?;
            self.stream.start_send_unpin(Message::Ping(Bytes::new()))?;
            self.is_ping_due = false;
        }
        loop {
            // Nothing is taken out of the outbox before the last has gone, so that its bound holds.
            while !self.unsent.is_empty() {
                ready!(self.stream.poll_ready_unpin(context))?;
                if let Some(frame) = self.unsent.pop_front() {
                    self.stream.start_send_unpin(Message::Text(frame))?;
                }
            }
            ready!(self.stream.poll_flush_unpin(context))?;
            if !outbox.drain(&mut self.unsent) {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Writer for Socket<S> {
    fn try_write(&self, outbox: &Outbox) -> bool {
        let mut inner = match self.0.try_lock() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        if inner.is_waiting {
            // To try here would put a waker that wakes nobody in the place of the task's.
            return true;
        }
        // Nobody is woken for this attempt: if it does not succeed, the connection's own task goes
        // on with it, and waits in its own name.
        let written = inner.poll_write(outbox, &mut Context::from_waker(Waker::noop()));
        matches!(written, Poll::Ready(Ok(())))
    }
}

/// Reads and serves requests, one after the other, until the connection is to end.
async fn read<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &Socket<S>,
    session: &mut Session,
    outbox: &Outbox,
    server: &Server,
) -> End {
    let settings = server.settings();
    // Whatever was set, a client is pinged before it is given up.
    let ping_interval = settings.ping_interval.min(settings.idle_timeout / 2);
    let mut shutdown = pin!(server.shutdown().cancelled());
    let mut closed = pin!(outbox.closed());
    let mut last_heard = Instant::now();
    let mut alarm = pin!(sleep_until(last_heard + ping_interval));
    loop {
        let has_room = outbox.has_room();
        tokio::select! {
            biased; // Nothing is left to a chance that no seed governs.
            code = &mut closed => return End::Close(code),
            () = &mut shutdown => return End::Close(CloseCode::GoingAway),
            message = socket.next(), if has_room => {
                last_heard = Instant::now();
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
                let next = if silent < ping_interval {
                    last_heard + ping_interval
                } else {
                    socket.lock().is_ping_due = true;
                    outbox.wake();
                    (Instant::now() + ping_interval)
                        .min(last_heard + settings.idle_timeout)
                };
                alarm.as_mut().reset(next);
            }
        }
    }
}

/// What a failure to read means for the connection.
fn end_of(error: &Error) -> End {
    match error {
        Error::Capacity(_) => End::Close(CloseCode::TooLarge),
        Error::Utf8(_) => End::Close(CloseCode::NotUtf8),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => End::Gone,
        Error::Protocol(_) => End::Close(CloseCode::BrokenFrames),
        // The others cannot come from a peer's frames, or mean that there is no peer.
        _ => End::Gone,
    }
}

/// Writes what the outbox holds whenever it asks for it, for as long as the client takes it.
async fn write<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &Socket<S>,
    outbox: &Outbox,
) -> Result<(), Error> {
    loop {
        outbox.woken().await;
        socket.write(outbox).await?;
    }
}

/// Sends a close frame and lets the client read it: a socket that is dropped with unread input
/// resets the connection, and the reset would overtake the close frame.
async fn say_goodbye<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &Socket<S>,
    code: CloseCode,
) -> Result<(), Error> {
    let frame = CloseFrame {
        code: code.number().into(),
        reason: code.reason().into(),
    };
    poll_fn(|context| socket.lock().stream.poll_ready_unpin(context)).await?;
    socket
        .lock()
        .stream
        .start_send_unpin(Message::Close(Some(frame)))?;
    poll_fn(|context| socket.lock().stream.poll_flush_unpin(context)).await?;
    poll_fn(|context| Pin::new(socket.lock().stream.get_mut()).poll_shutdown(context)).await?;
    poll_fn(|context| {
        let mut ignored = [0; 1024];
        loop {
            let mut ignored = ReadBuf::new(&mut ignored);
            let mut inner = socket.lock();
            ready!(Pin::new(inner.stream.get_mut()).poll_read(context, &mut ignored))?;
            if ignored.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    })
    .await
}
