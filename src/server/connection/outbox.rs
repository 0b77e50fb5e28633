//! Queue of messages to one client.
//!
//! Adding a message never waits. If the queue is full, the server closes the connection, so a slow
//! reader affects only itself. To close a connection, the server stores a close code in the queue.
//! The connection is closed after the messages that were queued earlier.

mod rtt;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Poll;
use std::time::Instant;

use self::rtt::{PingText, RttEstimator, smooth_rtt};
use super::id::ConnectionId;
use crate::context::clock_and_rng::now;
use crate::context::locks::OUTBOX;
use crate::context::metrics::Metrics;
use crate::match_handle::wake_cell::WakeCell;
use plyhouse_protocol::CloseCode;

/// Encoded message. Clones of a frame share the encoded bytes, so the server encodes an event only
/// once for all followers of a match.
pub type Frame = Arc<str>;

/// Writes the messages of an outbox to the client without waiting.
pub trait Writer: Send + Sync {
    /// Tries to write all queued messages. Returns false if the connection's task must be woken to
    /// write the rest.
    fn try_write(&self, outbox: &Outbox) -> bool;
}

/// Queue of messages to one client. Clones share the queue.
#[derive(Clone, Debug)]
pub struct Outbox(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    connection: ConnectionId,
    metrics: Arc<Metrics>,
    messages_max: usize,
    bytes_max: usize,
    /// Smoothed round-trip time in microseconds; [`NO_RTT`] before the first measurement.
    rtt_us: AtomicU32,
    /// Whether a ping may have been requested. If this flag is false, no ping has to be written.
    /// Every write reads this flag, so the flag is atomic and needs no lock.
    is_ping_pending: AtomicBool,
    /// Number of rejected moves that have not been charged to the rate limit yet.
    rejected_moves: AtomicU32,
    /// Queued messages, with the waker of the connection's task.
    queue: WakeCell<Queue, OUTBOX>,
}

/// Value of `rtt_us` before the first measurement.
const NO_RTT: u32 = u32::MAX;

#[derive(Default)]
struct Queue {
    frames: VecDeque<Frame>,
    bytes: usize,
    closing: Option<CloseCode>,
    /// Whether the connection's task has been asked to write the queued messages.
    is_write_requested: bool,
    /// Whether the last call of [`has_room`](Outbox::has_room) found less than half of the queue
    /// free. Taking messages from the queue clears this flag.
    is_waiting_for_room: bool,
    rtt_estimator: RttEstimator,
    writer: Option<Arc<dyn Writer>>,
}

/// Number and total size of the messages in an outbox.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueDepth {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

impl Outbox {
    pub(crate) fn new(
        connection: ConnectionId,
        messages_max: usize,
        bytes_max: usize,
        metrics: &Arc<Metrics>,
    ) -> Self {
        Self(Arc::new(Inner {
            connection,
            metrics: Arc::clone(metrics),
            messages_max,
            bytes_max,
            rtt_us: AtomicU32::new(NO_RTT),
            is_ping_pending: AtomicBool::new(false),
            rejected_moves: AtomicU32::new(0),
            queue: WakeCell::default(),
        }))
    }

    /// Creates an outbox without a connection, which discards all messages.
    pub(crate) fn without_connection(metrics: &Arc<Metrics>) -> Self {
        Self::new(ConnectionId::NONE, 0, 0, metrics)
    }

    /// Sets the writer that `flush` uses to write messages without waking the connection's task.
    pub fn attach_writer(&self, writer: Arc<dyn Writer>) {
        self.0.queue.with_value(|queue| queue.writer = Some(writer));
    }

    /// Removes the writer. Afterwards, only the connection's task writes messages.
    pub fn detach_writer(&self) {
        let writer = self.0.queue.with_value(|queue| queue.writer.take());
        drop(writer);
    }

    /// Queues a message and flushes the outbox.
    pub(crate) fn send(&self, frame: Frame) {
        self.enqueue(frame);
        self.flush();
    }

    /// Queues a message, unless the connection is closing. If the queue is full, closes the
    /// connection as a slow consumer and discards the queue. The next [`flush`](Self::flush) or
    /// [`wake`](Self::wake) sends the message.
    pub(crate) fn enqueue(&self, frame: Frame) {
        self.0.queue.update(|queue| {
            if queue.closing.is_some() {
                return ((), false);
            }
            let bytes = queue.bytes + frame.len();
            let overflows = queue.frames.len() == self.0.messages_max || bytes > self.0.bytes_max;
            if overflows {
                let discarded = queue.frames.len() as u64 + 1;
                self.0.metrics.discarded_messages.inc_by(discarded);
                queue.frames.clear();
                queue.bytes = 0;
                queue.closing = Some(CloseCode::SlowConsumer);
            } else {
                queue.frames.push_back(frame);
                queue.bytes = bytes;
            }
            ((), overflows)
        });
    }

    /// Requests a ping that measures the round-trip time. The request is ignored if another ping
    /// was requested within the last second. The next write to the socket sends the ping.
    pub(crate) fn request_ping(&self) {
        let now = now();
        self.0
            .queue
            .with_value(|queue| queue.rtt_estimator.request_ping(now));
        self.0.is_ping_pending.store(true, Ordering::Release);
    }

    /// Returns the text of the requested ping, if any. The caller must write the ping immediately,
    /// because the round-trip time is measured from this call.
    pub fn take_ping(&self) -> Option<PingText> {
        if !self.0.is_ping_pending.load(Ordering::Acquire) {
            return None;
        }
        self.0.is_ping_pending.store(false, Ordering::Release);
        let now = now();
        self.0
            .queue
            .with_value(|queue| queue.rtt_estimator.start_ping(now))
    }

    /// Processes a pong that was received at `at`. Returns false if the pong does not answer the
    /// last ping that [`take_ping`](Self::take_ping) returned.
    pub fn receive_pong(&self, text: &[u8], at: Instant) -> bool {
        let queue = &self.0.queue;
        let Some(elapsed) = queue.with_value(|queue| queue.rtt_estimator.finish_ping(text, at))
        else {
            return false;
        };
        let rtt_us = smooth_rtt(self.rtt_us(), elapsed).min(NO_RTT - 1);
        self.0.rtt_us.store(rtt_us, Ordering::Relaxed);
        true
    }

    /// Returns the smoothed round-trip time in microseconds, if it has been measured.
    pub(crate) fn rtt_us(&self) -> Option<u32> {
        Some(self.0.rtt_us.load(Ordering::Relaxed)).filter(|us| *us != NO_RTT)
    }

    /// Writes the queued messages through the writer, or wakes the connection's task to write them.
    pub(crate) fn flush(&self) {
        let writer = self.0.queue.with_value(|queue| {
            let has_frames = !queue.frames.is_empty();
            has_frames.then(|| queue.writer.clone())
        });
        let Some(writer) = writer else { return };
        if !writer.is_some_and(|writer| writer.try_write(self)) {
            self.wake();
        }
    }

    /// Asks the connection's task to write the queued messages.
    pub fn wake(&self) {
        self.0.queue.update(|queue| {
            queue.is_write_requested = true;
            ((), true)
        });
    }

    /// Waits until `condition` returns a value for the queue. Only the connection's own task may
    /// call this method.
    async fn wait_for<T>(&self, mut condition: impl FnMut(&mut Queue) -> Option<T>) -> T {
        poll_fn(|context| {
            let ready = self.0.queue.register_and_read(context, &mut condition);
            ready.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Waits until [`wake`](Self::wake) asks the connection's task to write. Only the connection's
    /// own task may call this method.
    pub async fn wait_for_wake(&self) {
        let take_write_request =
            |queue: &mut Queue| std::mem::take(&mut queue.is_write_requested).then_some(());
        self.wait_for(take_write_request).await;
    }

    /// Closes the connection after the queued messages. If the connection is already closing,
    /// `code` is ignored.
    pub fn close(&self, code: CloseCode) {
        self.0.queue.update(|queue| {
            queue.closing.get_or_insert(code);
            ((), true)
        });
    }

    /// Returns the id of the client's connection.
    pub(crate) fn connection(&self) -> ConnectionId {
        self.0.connection
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Counts a rejected move.
    pub(crate) fn count_rejected_move(&self) {
        // Relaxed ordering is sufficient, because the counter does not guard other data.
        self.0.rejected_moves.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of rejected moves since the last call.
    pub(crate) fn take_rejected_moves(&self) -> u32 {
        match self.0.rejected_moves.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.0.rejected_moves.swap(0, Ordering::Relaxed),
        }
    }

    /// Returns the number and total size of the queued messages.
    pub(crate) fn depth(&self) -> QueueDepth {
        self.0.queue.with_value(|queue| QueueDepth {
            messages: queue.frames.len(),
            bytes: queue.bytes,
        })
    }

    /// Returns whether the connection is being closed.
    pub(crate) fn is_closing(&self) -> bool {
        self.0.queue.with_value(|queue| queue.closing.is_some())
    }

    /// Waits until the connection must be closed and returns the close code. Only the connection's
    /// own task may call this method.
    pub async fn wait_for_close(&self) -> CloseCode {
        self.wait_for(|queue| queue.closing).await
    }

    /// Removes messages in order and passes each to `take`, until `take` returns false. Returns
    /// true if messages are left.
    pub fn take_frames(&self, mut take: impl FnMut(&Frame) -> bool) -> bool {
        self.0.queue.update(|queue| {
            let mut wants_more = true;
            while wants_more && let Some(frame) = queue.frames.pop_front() {
                queue.bytes -= frame.len();
                wants_more = take(&frame);
            }
            let has_more = !queue.frames.is_empty();
            (has_more, std::mem::take(&mut queue.is_waiting_for_room))
        })
    }

    /// Returns whether at least half of the queue is free. If less than half is free, the server
    /// stops reading requests from the client. A client that sends faster than it reads therefore
    /// cannot fill its queue with replies.
    ///
    /// # Errors
    ///
    /// Fails with the close code if the connection is closing.
    pub fn has_room(&self) -> Result<bool, CloseCode> {
        self.0.queue.with_value(|queue| {
            if let Some(code) = queue.closing {
                return Err(code);
            }
            let has_room = queue.frames.len() <= self.0.messages_max / 2
                && queue.bytes <= self.0.bytes_max / 2;
            queue.is_waiting_for_room = !has_room;
            Ok(has_room)
        })
    }

    /// Returns whether at least half of the queue is free. Bulk messages, such as analysis results,
    /// are sent only if this is the case.
    pub(crate) fn is_half_free(&self) -> bool {
        let QueueDepth { messages, bytes } = self.depth();
        messages <= self.0.messages_max / 2 && bytes <= self.0.bytes_max / 2
    }

    /// If the last call of [`has_room`](Self::has_room) returned false, waits until messages have
    /// been taken from the queue. Only the connection's own task may call this method.
    pub async fn wait_for_room(&self) {
        let room_available = |queue: &mut Queue| (!queue.is_waiting_for_room).then_some(());
        self.wait_for(room_available).await;
    }
}

#[cfg(all(test, feature = "loom"))]
mod loom_models;

#[cfg(all(test, not(feature = "loom")))]
mod tests;
