//! A WebSocket that several tasks may write to.
//!
//! A task that sends a message first tries to write the message itself. If another task holds the
//! lock, or the socket accepts no more bytes, the outbox wakes the connection's own task, which
//! writes the rest. The kernel socket wakes only the task that polled it last. While the
//! connection's task waits for the socket, no other task may therefore write.
//!
//! The WebSocket library reads frames and answers pings and close frames. This module encodes
//! outgoing messages itself, because encoding is frequent and simple: a server's text frame is only
//! a short header and the text. The module uses the library's synchronous API. The asynchronous API
//! stores its own wakers, and would set and wake them for every message.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::tungstenite::protocol::{
    CloseFrame, Role, WebSocketConfig, WebSocketContext,
};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::throttled_stream::ThrottledStream;
use plyhouse_protocol::CloseCode;
use plyhouse_server::locks::{Mutex, SOCKET};
use plyhouse_server::{Outbox, Settings, Writer};

/// Size of the read buffer, in bytes. Most messages are shorter than 200 bytes. The library's
/// default of 128 KiB would take much more memory. The library would also clear these 128 KiB
/// before each of the two reads per message.
const READ_BUFFER_BYTES: usize = 256;

/// Size in bytes at which a batch of frames is full.
const BATCH_BYTES: usize = 16 * 1024;

thread_local! {
    /// Spare buffer for a batch of frames. Most batches are written at once, so each thread has one
    /// buffer for all sockets. A socket keeps the buffer only while its client reads slowly.
    static SPARE: RefCell<Vec<u8>> = RefCell::default();
}

/// First bytes of WebSocket frames (RFC 6455, section 5.2). `TEXT` begins an unfragmented text
/// frame, and `PING` begins a ping frame.
const TEXT: u8 = 0x81;
const PING: u8 = 0x89;

/// Payload size of the pings that measure the round-trip time, in bytes.
const PING_BYTES: u8 = 4;

/// A WebSocket that several tasks may write to. The lock is held only while bytes are passed to the
/// kernel, and never while a task waits.
pub(super) struct Socket<S>(Mutex<Inner<S>, SOCKET>);

struct Inner<S> {
    stream: ThrottledStream<S>,
    protocol: WebSocketContext,
    /// Frames that are being written. Reading is paused until all of them are written, because the
    /// library could otherwise write a reply into the middle of a frame.
    batch: Vec<u8>,
    /// Number of bytes of the batch that are already written.
    written_len: usize,
    is_ping_due: bool,
    /// Whether the library has a pending reply to the client, which is written before the next
    /// batch.
    has_pending_reply: bool,
    /// Whether the client has sent a close frame. The server sends no messages after a close frame.
    has_ended: bool,
    /// Whether the connection's own task waits until the socket accepts more bytes. When the socket
    /// accepts more bytes, the connection's task writes everything in the outbox.
    is_waiting: bool,
    /// Waker of the task that reads from the socket. Set while reading is paused until the batch is
    /// written.
    reader: Option<Waker>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Socket<S> {
    pub(super) fn open(stream: S, settings: &Settings) -> Arc<Self> {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .max_message_size(Some(settings.message_bytes))
            .max_frame_size(Some(settings.message_bytes));
        Arc::new(Self(Mutex::new(Inner {
            stream: ThrottledStream::new(stream, settings),
            protocol: WebSocketContext::new(Role::Server, Some(config)),
            batch: Vec::new(),
            written_len: 0,
            is_ping_due: false,
            has_pending_reply: false,
            has_ended: false,
            is_waiting: false,
            reader: None,
        })))
    }

    /// Returns the next message from the client. Must not be called again after it has returned an
    /// error or `None`.
    pub(super) async fn next(&self) -> Option<Result<Message, Error>> {
        poll_fn(|context| self.0.lock().poll_next(context)).await
    }

    /// Returns `false` while reading is paused because a batch is being written.
    pub(super) fn is_listening(&self) -> bool {
        self.0.lock().batch.is_empty()
    }

    /// Requests a ping, which the next batch contains.
    pub(super) fn ping(&self) {
        self.0.lock().is_ping_due = true;
    }

    /// Writes everything in the outbox.
    pub(super) async fn write(&self, outbox: &Outbox) -> Result<(), Error> {
        poll_fn(|context| {
            let mut inner = self.0.lock();
            let written = inner.poll_write(outbox, context);
            inner.is_waiting = written.is_pending();
            written
        })
        .await
    }

    pub(super) async fn send_close(&self, code: CloseCode) -> Result<(), Error> {
        let frame = CloseFrame {
            code: code.number().into(),
            reason: code.reason().into(),
        };
        let mut close = Some(Message::Close(Some(frame)));
        poll_fn(|context| {
            let mut inner = self.0.lock();
            if let Some(close) = close.take() {
                // If the close frame cannot be written at once, `poll_flush` below writes the
                // remaining bytes.
                if let Poll::Ready(written) =
                    inner.poll_with(context, |protocol, stream| protocol.write(stream, close))
                {
                    written?;
                }
            }
            inner.poll_flush(context)
        })
        .await
    }

    /// Shuts down the write side, then discards input until the client disconnects. Closing a
    /// socket with unread input resets the connection, and the reset could overtake the close
    /// frame.
    pub(super) async fn close_stream(&self) -> Result<(), Error> {
        poll_fn(|context| Pin::new(&mut self.0.lock().stream).poll_shutdown(context)).await?;
        poll_fn(|context| {
            let mut ignored = [0; 1024];
            loop {
                let mut ignored = ReadBuf::new(&mut ignored);
                let mut inner = self.0.lock();
                ready!(Pin::new(&mut inner.stream).poll_read(context, &mut ignored))?;
                if ignored.filled().is_empty() {
                    return Poll::Ready(Ok(()));
                }
            }
        })
        .await
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Inner<S> {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        if !self.batch.is_empty() {
            self.reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        let message = ready!(self.poll_with(context, |protocol, stream| protocol.read(stream)));
        match &message {
            Ok(Message::Ping(_)) => self.has_pending_reply = true,
            Ok(Message::Close(_)) => (self.has_pending_reply, self.has_ended) = (true, true),
            Ok(_) => {}
            Err(Error::ConnectionClosed | Error::AlreadyClosed) => return Poll::Ready(None),
            Err(_) => {}
        }
        Poll::Ready(Some(message))
    }

    /// Writes the library's pending replies to the client.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        match ready!(self.poll_with(context, |protocol, stream| protocol.flush(stream))) {
            // The library returns `ConnectionClosed` when it has written the reply to a close
            // frame.
            Err(Error::ConnectionClosed) => Poll::Ready(Ok(())),
            flushed => Poll::Ready(flushed),
        }
    }

    /// Calls the WebSocket library. Returns `Pending` if the call would block.
    fn poll_with<T>(
        &mut self,
        context: &mut Context<'_>,
        call: impl FnOnce(&mut WebSocketContext, &mut Polled<'_, '_, S>) -> Result<T, Error>,
    ) -> Poll<Result<T, Error>> {
        let mut polled = Polled {
            stream: &mut self.stream,
            context,
        };
        match call(&mut self.protocol, &mut polled) {
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            done => Poll::Ready(done),
        }
    }

    fn poll_write(
        &mut self,
        outbox: &Outbox,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Error>> {
        // Each iteration takes one batch from the outbox, until the outbox is empty. A task that
        // adds a message at the same time finds the socket locked and wakes the connection's task.
        let mut is_more = true;
        loop {
            if !self.batch.is_empty() {
                ready!(self.poll_write_batch(context))?;
            }
            if self.has_pending_reply {
                ready!(self.poll_flush(context))?;
                self.has_pending_reply = false;
            }
            if self.has_ended || !(is_more || self.is_ping_due) {
                return Poll::Ready(Ok(()));
            }
            is_more = self.collect_batch(outbox);
        }
    }

    /// Encodes messages from the outbox as a batch of frames, and returns whether the outbox holds
    /// more messages. Must be called only after the previous batch was written. Waiting messages
    /// thus remain in the outbox and count towards the outbox limit.
    fn collect_batch(&mut self, outbox: &Outbox) -> bool {
        let mut batch = SPARE.take();
        if std::mem::take(&mut self.is_ping_due) {
            batch.extend([PING, 0]);
        }
        let is_more = outbox.take_frames(|frame| {
            push_text(&mut batch, frame.as_bytes());
            batch.len() < BATCH_BYTES
        });
        if let Some(text) = outbox.take_ping() {
            batch.extend([PING, PING_BYTES]);
            batch.extend(text);
        }
        if batch.is_empty() {
            SPARE.set(batch);
        } else {
            self.batch = batch;
        }
        is_more
    }

    fn poll_write_batch(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut stream = Pin::new(&mut self.stream);
        while self.written_len < self.batch.len() {
            let rest = &self.batch[self.written_len..];
            match ready!(stream.as_mut().poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                bytes => self.written_len += bytes,
            }
        }
        ready!(stream.poll_flush(context))?;
        self.written_len = 0;
        let mut batch = std::mem::take(&mut self.batch);
        if batch.capacity() <= 2 * BATCH_BYTES {
            batch.clear();
            SPARE.set(batch);
        }
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
        Poll::Ready(Ok(()))
    }
}

/// Adapts the asynchronous stream to the synchronous library during one poll. An operation that
/// would have to wait returns `WouldBlock`. The stream later wakes the task that `context` belongs
/// to.
struct Polled<'a, 'b, S> {
    stream: &'a mut ThrottledStream<S>,
    context: &'a mut Context<'b>,
}

/// Converts `Pending` to a `WouldBlock` error.
fn or_block<T>(done: Poll<io::Result<T>>) -> io::Result<T> {
    match done {
        Poll::Ready(done) => done,
        Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
    }
}

impl<S: AsyncRead + Unpin> io::Read for Polled<'_, '_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        or_block(Pin::new(&mut *self.stream).poll_read(self.context, &mut buffer))?;
        Ok(buffer.filled().len())
    }
}

impl<S: AsyncWrite + Unpin> io::Write for Polled<'_, '_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        or_block(Pin::new(&mut *self.stream).poll_write(self.context, bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        or_block(Pin::new(&mut *self.stream).poll_flush(self.context))
    }
}

/// Appends a text frame as sent by a server, unfragmented and unmasked (RFC 6455, section 5.2).
fn push_text(batch: &mut Vec<u8>, text: &[u8]) {
    match (u8::try_from(text.len()), u16::try_from(text.len())) {
        (Ok(bytes @ 0..126), _) => batch.extend([TEXT, bytes]),
        (_, Ok(bytes)) => {
            let [high, low] = bytes.to_be_bytes();
            batch.extend([TEXT, 126, high, low]);
        }
        _ => {
            batch.extend([TEXT, 127]);
            batch.extend((text.len() as u64).to_be_bytes());
        }
    }
    batch.extend_from_slice(text);
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Writer for Socket<S> {
    fn try_write(&self, outbox: &Outbox) -> bool {
        let Some(mut inner) = self.0.try_lock() else {
            return false;
        };
        if inner.is_waiting {
            // No write attempt is needed, because the connection's task already waits for the
            // socket. A write attempt by this task would replace the waker of the connection's task
            // with a waker that wakes no task.
            return true;
        }
        // This write attempt does not wait. If it fails, the outbox wakes the connection's task.
        // The connection's task then tries again and registers its own waker.
        let written = inner.poll_write(outbox, &mut Context::from_waker(Waker::noop()));
        matches!(written, Poll::Ready(Ok(())))
    }
}

#[cfg(all(test, feature = "loom"))]
mod loom_models;

#[cfg(test)]
mod tests {
    use tokio_tungstenite::tungstenite::protocol::frame::Frame as LibraryFrame;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

    use super::*;

    #[test]
    fn text_frames_equal_those_of_tungstenite() {
        for length in [0, 1, 125, 126, 127, 255, 256, 65535, 65536, 100_000] {
            let text = vec![b'x'; length];
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            push_text(&mut ours, &text);
            let frame = LibraryFrame::message(text, OpCode::Data(Data::Text), true);
            frame.format(&mut theirs).unwrap();
            assert_eq!(ours, theirs, "{length}");
        }
    }
}
