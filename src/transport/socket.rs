//! A socket that several tasks may write to.
//!
//! Whoever has something to tell tries to write it at once. If somebody else holds the socket, or the
//! socket takes no more, the outbox wakes the connection's own task, which writes the rest. The operating
//! system's socket wakes only the task that tried last, so nobody else tries while that task waits.
//!
//! The WebSocket library reads, and answers pings and closes. Messages are put into frames here, since
//! that is done for every one, and a server's text frame is only its bytes behind their length. Of the
//! library only the part without tasks is used: its stream keeps wakers of its own between the socket
//! and the task, and sets and wakes them with every message.

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

/// How much is read from the socket at a time. Most messages have less than 200 bytes. The library's
/// own 128 KiB would take many times the memory, and would be cleared before each of the two reads that
/// a message takes.
const READ_BUFFER_BYTES: usize = 256;

/// Messages are gathered until they have this many bytes, and are then written in one go.
const BATCH_BYTES: usize = 16 * 1024;

thread_local! {
    /// A buffer to gather frames in. Most frames are written at once, so a thread has one buffer for
    /// all sockets. A socket keeps it only while its client reads slowly.
    static SPARE: RefCell<Vec<u8>> = RefCell::default();
}

/// The first byte of a frame that holds a whole text, and of one that holds a ping (RFC 6455, section
/// 5.2).
const TEXT: u8 = 0x81;
const PING: u8 = 0x89;

/// How many bytes a ping has by which the line is measured.
const PING_BYTES: u8 = 4;

/// A socket that several tasks may write to. The lock is held for as long as it takes to hand bytes
/// to the kernel, and never while waiting.
pub(super) struct Socket<S>(Mutex<Inner<S>, SOCKET>);

struct Inner<S> {
    stream: ThrottledStream<S>,
    protocol: WebSocketContext,
    /// Frames that are being written. Nothing is read meanwhile: the library would write its answers
    /// into the middle of a frame.
    batch: Vec<u8>,
    /// How many bytes of the batch are written.
    has_failed: usize,
    is_ping_due: bool,
    /// The library has something to answer, which is written before the next batch.
    pong_payloads: bool,
    /// The client has sent a close frame, after which nothing is sent to it.
    has_ended: bool,
    /// The connection's own task waits until the socket takes more, and will then write all that the
    /// outbox holds.
    is_waiting: bool,
    /// The task that waits to read until the batch is written.
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
            has_failed: 0,
            is_ping_due: false,
            pong_payloads: false,
            has_ended: false,
            is_waiting: false,
            reader: None,
        })))
    }

    /// The next message of the client. Not to be called again after an error or the end.
    pub(super) async fn next(&self) -> Option<Result<Message, Error>> {
        poll_fn(|context| self.0.lock().poll_next(context)).await
    }

    /// Whether the client is being read from.
    pub(super) fn is_listening(&self) -> bool {
        self.0.lock().batch.is_empty()
    }

    /// Adds a ping to what is written next.
    pub(super) fn ping(&self) {
        self.0.lock().is_ping_due = true;
    }

    /// Writes all that the outbox holds.
    pub(super) async fn write(&self, outbox: &Outbox) -> Result<(), Error> {
        poll_fn(|context| {
            let mut inner = self.0.lock();
            let written = inner.poll_write(outbox, context);
            inner.is_waiting = written.is_pending();
            written
        })
        .await
    }

    /// Sends a close frame.
    pub(super) async fn send_close(&self, code: CloseCode) -> Result<(), Error> {
        let frame = CloseFrame {
            code: code.number().into(),
            reason: code.reason().into(),
        };
        let mut close = Some(Message::Close(Some(frame)));
        poll_fn(|context| {
            let mut inner = self.0.lock();
            if let Some(close) = close.take() {
                // What cannot be written at once goes with what is flushed.
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

    /// Waits until the client has hung up, and drops what it still sends. To close a socket with unread
    /// input resets the connection, and the reset would overtake the close frame.
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
            Ok(Message::Ping(_)) => self.pong_payloads = true,
            Ok(Message::Close(_)) => (self.pong_payloads, self.has_ended) = (true, true),
            Ok(_) => {}
            Err(Error::ConnectionClosed | Error::AlreadyClosed) => return Poll::Ready(None),
            Err(_) => {}
        }
        Poll::Ready(Some(message))
    }

    /// Writes what the library has to answer.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        match ready!(self.poll_with(context, |protocol, stream| protocol.flush(stream))) {
            // The answer to a close frame is written.
            Err(Error::ConnectionClosed) => Poll::Ready(Ok(())),
            flushed => Poll::Ready(flushed),
        }
    }

    /// Lets the library read and write for as long as it need not wait.
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
        // The outbox is looked into once, and again only if it held more than one batch. Whoever posts to it
        // meanwhile finds the socket locked, and wakes the connection's task.
        let mut is_more = true;
        loop {
            if !self.batch.is_empty() {
                ready!(self.poll_write_batch(context))?;
            }
            if self.pong_payloads {
                ready!(self.poll_flush(context))?;
                self.pong_payloads = false;
            }
            if self.has_ended || !(is_more || self.is_ping_due) {
                return Poll::Ready(Ok(()));
            }
            is_more = self.collect_batch(outbox);
        }
    }

    /// Puts what the outbox holds into frames, and tells whether there is more. To be called when the
    /// batch before is written, so that what waits is in the outbox and counts against its bound.
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
        while self.has_failed < self.batch.len() {
            let rest = &self.batch[self.has_failed..];
            match ready!(stream.as_mut().poll_write(context, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                bytes => self.has_failed += bytes,
            }
        }
        ready!(stream.poll_flush(context))?;
        self.has_failed = 0;
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

/// A stream within one poll, for code that knows no tasks: where it would have to wait it says
/// `WouldBlock`, and the context's task is woken later.
struct Polled<'a, 'b, S> {
    stream: &'a mut ThrottledStream<S>,
    context: &'a mut Context<'b>,
}

/// Turns "not yet" into the error that says so.
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

/// Appends a frame that holds this text, as a server sends it: whole and unmasked (RFC 6455, section
/// 5.2).
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
            // An attempt would replace the task's waker by one that wakes nobody.
            return true;
        }
        // This attempt waits for nothing. If it fails, the connection's task is woken, tries again and
        // leaves its own waker.
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
