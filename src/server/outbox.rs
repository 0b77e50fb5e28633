//! The queue of messages towards one client.
//!
//! Writing to it never waits: what finds no room closes the connection, so a slow reader costs
//! nobody but itself. The same queue carries the end of the connection, after what came before.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::protocol::{CloseCode, ServerMessage};

/// A message as it goes out. Clones share the bytes, so an event is written once for everybody.
pub type Frame = Utf8Bytes;

/// The queue of messages towards one client. Clones are the same queue.
#[derive(Clone, Debug)]
pub struct Outbox(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    messages_max: usize,
    bytes_max: usize,
    queue: Mutex<Queue>,
    /// Wakes the one who takes messages out.
    filled: Notify,
    /// Wakes the one who waits for room.
    drained: Notify,
    /// Wakes the one who waits for the end.
    closed: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    frames: VecDeque<Frame>,
    bytes: usize,
    closing: Option<CloseCode>,
}

impl Outbox {
    pub(super) fn new(messages_max: usize, bytes_max: usize) -> Self {
        Self(Arc::new(Inner {
            messages_max,
            bytes_max,
            queue: Mutex::default(),
            filled: Notify::new(),
            drained: Notify::new(),
            closed: Notify::new(),
        }))
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // No code that holds the lock can panic half-way through a change.
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a message for this client alone.
    pub(super) fn tell(&self, message: &ServerMessage) {
        self.push(encode(message));
    }

    /// Adds a message, unless the connection is closing. Without room, closes it as too slow.
    pub(super) fn push(&self, frame: Frame) {
        let mut queue = self.queue();
        if queue.closing.is_some() {
            return;
        }
        let bytes = queue.bytes + frame.len();
        if queue.frames.len() == self.0.messages_max || bytes > self.0.bytes_max {
            *queue = Queue {
                closing: Some(CloseCode::TooSlow),
                ..Queue::default()
            };
            self.0.closed.notify_one();
        } else {
            queue.frames.push_back(frame);
            queue.bytes = bytes;
            self.0.filled.notify_one();
        }
    }

    /// Ends the connection after what is in the queue. The first reason given counts.
    pub fn close(&self, code: CloseCode) {
        self.queue().closing.get_or_insert(code);
        self.0.closed.notify_one();
    }

    /// Whether the connection is being closed.
    pub(super) fn is_closing(&self) -> bool {
        self.queue().closing.is_some()
    }

    /// Waits until the connection is to be closed, and tells why. One task at a time may wait.
    pub async fn closed(&self) -> CloseCode {
        loop {
            if let Some(code) = self.queue().closing {
                return code;
            }
            self.0.closed.notified().await;
        }
    }

    /// Waits for messages and moves all of them to `frames`. One task at a time may wait. May be
    /// cancelled.
    pub async fn take(&self, frames: &mut VecDeque<Frame>) {
        while !self.drain(frames) {
            self.0.filled.notified().await;
        }
    }

    /// Moves the messages that are there to `frames`. False if there are none.
    pub fn drain(&self, frames: &mut VecDeque<Frame>) -> bool {
        let mut queue = self.queue();
        if queue.frames.is_empty() {
            return false;
        }
        frames.append(&mut queue.frames);
        queue.bytes = 0;
        self.0.drained.notify_one();
        true
    }

    /// Whether at least half of the queue is free. A client that asks faster than it reads is not
    /// listened to until then, so its own answers never overflow the queue.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let queue = self.queue();
        queue.frames.len() <= self.0.messages_max / 2 && queue.bytes <= self.0.bytes_max / 2
    }

    /// Waits until messages were taken. One task at a time may wait.
    pub async fn drained(&self) {
        self.0.drained.notified().await;
    }
}

/// A message as bytes.
pub(super) fn encode(message: &impl Serialize) -> Frame {
    serde_json::to_string(message)
        .expect("messages have text keys only")
        .into()
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn taken(outbox: &Outbox) -> Option<Vec<String>> {
        let mut frames = VecDeque::new();
        outbox.take(&mut frames).now_or_never()?;
        Some(
            frames
                .iter()
                .map(|frame| frame.as_str().to_owned())
                .collect(),
        )
    }

    #[test]
    fn messages_come_out_in_order_and_before_the_end() {
        let outbox = Outbox::new(3, 100);
        assert_eq!(taken(&outbox), None);
        outbox.push("a".into());
        outbox.push("b".into());
        assert_eq!(outbox.closed().now_or_never(), None);
        outbox.close(CloseCode::Replaced);
        outbox.close(CloseCode::Idle);
        outbox.push("c".into());
        assert_eq!(outbox.closed().now_or_never(), Some(CloseCode::Replaced));
        assert_eq!(taken(&outbox), Some(vec!["a".into(), "b".into()]));
        assert_eq!(taken(&outbox), None);
    }

    #[test]
    fn a_full_queue_closes_the_connection() {
        for outbox in [Outbox::new(2, 100), Outbox::new(100, 2)] {
            outbox.push("a".into());
            outbox.push("b".into());
            assert!(!outbox.is_closing());
            outbox.push("c".into());
            assert_eq!(outbox.closed().now_or_never(), Some(CloseCode::TooSlow));
            assert_eq!(taken(&outbox), None);
        }
    }

    #[test]
    fn room_comes_back_when_messages_are_taken() {
        let outbox = Outbox::new(2, 100);
        outbox.push("a".into());
        assert!(outbox.has_room());
        outbox.push("b".into());
        assert!(!outbox.has_room());
        taken(&outbox);
        assert!(outbox.has_room());
        assert_eq!(outbox.drained().now_or_never(), Some(()));
    }
}
