//! The queue of messages towards one client.
//!
//! Writing to it never waits: what finds no room closes the connection, so a slow reader costs
//! nobody but itself. The same queue carries the end of the connection, after what came before.

mod rtt;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Poll;
use std::time::Instant;

use self::rtt::{PingText, RttEstimator, smooth_rtt};
use super::id::ConnectionId;
use crate::context::clock::now;
use crate::context::locks::OUTBOX;
use crate::context::metrics::Metrics;
use crate::match_handle::wake_cell::WakeCell;
use plyhouse_protocol::CloseCode;

/// A message as it goes out. Clones share the bytes, so an event is written once for everybody.
pub type Frame = Arc<str>;

/// What can carry messages out of an outbox without waiting.
pub trait Writer: Send + Sync {
    /// Writes all that the outbox holds, if that can be done at once. If not, some of it may have
    /// been written, and the rest will be once the outbox is woken.
    fn try_write(&self, outbox: &Outbox) -> bool;
}

/// The queue of messages towards one client. Clones are the same queue.
#[derive(Clone, Debug)]
pub struct Outbox(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    connection: ConnectionId,
    metrics: Arc<Metrics>,
    messages_max: usize,
    bytes_max: usize,
    /// The smoothed round-trip time in microseconds; [`NO_RTT`] before it has been measured.
    rtt_us: AtomicU32,
    /// There may be a ping to be written: what is asked with every write needs no lock.
    is_ping_pending: AtomicBool,
    /// How many moves were answered that came to nothing, since that was asked last.
    rejected_moves: AtomicU32,
    /// The connection's task waits for it.
    queue: WakeCell<Queue, OUTBOX>,
}

/// Stands for a round-trip time that nobody has measured.
const NO_RTT: u32 = u32::MAX;

#[derive(Default)]
struct Queue {
    frames: VecDeque<Frame>,
    bytes: usize,
    closing: Option<CloseCode>,
    /// The connection's task has been asked to write.
    is_write_requested: bool,
    /// The connection's task found [no room](Outbox::has_room), and nothing has been taken since.
    is_waiting_for_room: bool,
    rtt_estimator: RttEstimator,
    writer: Option<Arc<dyn Writer>>,
}

/// How much waits in an outbox.
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

    /// One of no connection, which takes nothing.
    pub(crate) fn without_connection(metrics: &Arc<Metrics>) -> Self {
        Self::new(ConnectionId::NONE, 0, 0, metrics)
    }

    /// From now on whoever tells something writes it at once if this writer can.
    pub fn attach_writer(&self, writer: Arc<dyn Writer>) {
        self.0.queue.with_value(|queue| queue.writer = Some(writer));
    }

    /// Lets go of the writer.
    pub fn detach_writer(&self) {
        let writer = self.0.queue.with_value(|queue| queue.writer.take());
        drop(writer);
    }

    /// Tells this client something now.
    pub(crate) fn send(&self, frame: Frame) {
        self.enqueue(frame);
        self.flush();
    }

    /// Adds a message, unless the connection is closing. Without room, closes it as too slow. It
    /// goes out with the next [`flush`](Self::flush) or [`wake`](Self::wake).
    pub(crate) fn enqueue(&self, frame: Frame) {
        self.0.queue.update(|queue| {
            if queue.closing.is_some() {
                return ((), false);
            }
            let bytes = queue.bytes + frame.len();
            let overflows = queue.frames.len() == self.0.messages_max || bytes > self.0.bytes_max;
            if overflows {
                self.0
                    .metrics
                    .discarded_messages
                    .inc_by(queue.frames.len() as u64 + 1);
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

    /// Has a ping written behind what was added, to measure how long it takes; at most one a second.
    pub(crate) fn request_ping(&self) {
        let now = now();
        self.0
            .queue
            .with_value(|queue| queue.rtt_estimator.request_ping(now));
        self.0.is_ping_pending.store(true, Ordering::Release);
    }

    /// The ping that is to be written now, if one is.
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

    /// A pong has come at this instant. False if it answers no ping of [`take_ping`](Self::take_ping).
    pub fn receive_pong(&self, text: &[u8], at: Instant) -> bool {
        let Some(elapsed) = self
            .0
            .queue
            .with_value(|queue| queue.rtt_estimator.finish_ping(text, at))
        else {
            return false;
        };
        let rtt_us = smooth_rtt(self.rtt_us(), elapsed).min(NO_RTT - 1);
        self.0.rtt_us.store(rtt_us, Ordering::Relaxed);
        true
    }

    /// The smoothed round-trip time in microseconds, if it has been measured.
    pub(crate) fn rtt_us(&self) -> Option<u32> {
        Some(self.0.rtt_us.load(Ordering::Relaxed)).filter(|us| *us != NO_RTT)
    }

    /// Writes what was added at once, if the socket takes it, or has the connection do it.
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

    /// Has the connection's task write what was added.
    pub fn wake(&self) {
        self.0.queue.update(|queue| {
            queue.is_write_requested = true;
            ((), true)
        });
    }

    /// Waits until `condition` finds something. Only the connection's task may wait.
    async fn wait_for<T>(&self, mut condition: impl FnMut(&mut Queue) -> Option<T>) -> T {
        poll_fn(|context| {
            let ready = self.0.queue.register_and_read(context, &mut condition);
            ready.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Waits until there is something to write. Only the connection's task may wait.
    pub async fn wait_for_wake(&self) {
        let take_write_request =
            |queue: &mut Queue| std::mem::take(&mut queue.is_write_requested).then_some(());
        self.wait_for(take_write_request).await;
    }

    /// Ends the connection after what is in the queue. The first reason given counts.
    pub fn close(&self, code: CloseCode) {
        self.0.queue.update(|queue| {
            queue.closing.get_or_insert(code);
            ((), true)
        });
    }

    /// Whose it is, for the log.
    pub(crate) fn connection(&self) -> ConnectionId {
        self.0.connection
    }

    /// The counters of what becomes of messages.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Notes that a move came to nothing.
    pub(crate) fn count_rejected_move(&self) {
        // It governs a rate alone, and nothing else is read by it.
        self.0.rejected_moves.fetch_add(1, Ordering::Relaxed);
    }

    /// How many moves came to nothing since this was asked last.
    pub(crate) fn take_rejected_moves(&self) -> u32 {
        match self.0.rejected_moves.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.0.rejected_moves.swap(0, Ordering::Relaxed),
        }
    }

    /// How much waits to be written.
    pub(crate) fn depth(&self) -> QueueDepth {
        self.0.queue.with_value(|queue| QueueDepth {
            messages: queue.frames.len(),
            bytes: queue.bytes,
        })
    }

    /// Whether the connection is being closed.
    pub(crate) fn is_closing(&self) -> bool {
        self.0.queue.with_value(|queue| queue.closing.is_some())
    }

    /// Waits until the connection is to be closed, and tells why. Only the connection's task may wait.
    pub async fn wait_for_close(&self) -> CloseCode {
        self.wait_for(|queue| queue.closing).await
    }

    /// Takes messages out, first in, first out, and hands each to `take`, which tells whether it wants
    /// another. True if some are left.
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

    /// Whether at least half of the queue is free. A client that asks faster than it reads is not
    /// listened to until then, so its own answers never overflow the queue.
    ///
    /// # Errors
    ///
    /// The connection is to be closed, for this reason.
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

    /// Whether at least half of the queue is free, for whoever has much to tell and can wait.
    pub(crate) fn is_half_free(&self) -> bool {
        let QueueDepth { messages, bytes } = self.depth();
        messages <= self.0.messages_max / 2 && bytes <= self.0.bytes_max / 2
    }

    /// Waits until messages were taken since there was [no room](Self::has_room). Only the connection's
    /// task may wait.
    pub async fn wait_for_room(&self) {
        let room_available = |queue: &mut Queue| (!queue.is_waiting_for_room).then_some(());
        self.wait_for(room_available).await;
    }
}

#[cfg(all(test, feature = "loom"))]
mod loom_models;

#[cfg(all(test, not(feature = "loom")))]
mod tests;
