//! Where requests wait for one match: a queue with a bound, between all who ask and the one who serves.
//!
//! Our own: a match is mostly served by whoever asks it, there and then, so that a request goes in and
//! out at once. The well-known channels are made for more, and touch several times as much memory.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// A mailbox with room for so many messages: where they go in, and where they come out.
pub(super) fn mailbox<T>(room: usize) -> (Sender<T>, Receiver<T>) {
    let inner = Arc::new(Inner {
        room,
        queue: Mutex::new(Queue {
            messages: VecDeque::new(),
            is_over: false,
            is_room_awaited: false,
            receiver: None,
        }),
        emptied: Notify::new(),
    });
    (Sender(Arc::clone(&inner)), Receiver(inner))
}

/// Where messages go in. Once it is dropped, no more come out than there are.
pub(super) struct Sender<T>(Arc<Inner<T>>);

/// Where messages come out. Once it is dropped, none go in, and those that are there are dropped.
pub(super) struct Receiver<T>(Arc<Inner<T>>);

/// A message that did not go in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unsent<T> {
    /// There is no room now.
    Full(T),
    /// Nobody receives any more.
    Closed(T),
}

struct Inner<T> {
    room: usize,
    queue: Mutex<Queue<T>>,
    /// Wakes those who wait for room.
    emptied: Notify,
}

struct Queue<T> {
    messages: VecDeque<T>,
    /// One of the two ends is gone.
    is_over: bool,
    /// Somebody has found no room since a message was taken out.
    is_room_awaited: bool,
    /// Who waits for a message.
    receiver: Option<Waker>,
}

impl<T> Sender<T> {
    /// Puts a message in, if there is room.
    pub(super) fn try_send(&self, message: T) -> Result<(), Unsent<T>> {
        let mut queue = self.0.queue.lock();
        if queue.is_over {
            return Err(Unsent::Closed(message));
        }
        if queue.messages.len() >= self.0.room {
            queue.is_room_awaited = true;
            return Err(Unsent::Full(message));
        }
        queue.messages.push_back(message);
        let receiver = queue.receiver.take();
        drop(queue);
        receiver.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// Puts a message in once there is room, or gives it back if nobody receives any more.
    pub(super) async fn send(&self, mut message: T) -> Result<(), T> {
        loop {
            // It learns of all room that is made from here on.
            let emptied = self.0.emptied.notified();
            message = match self.try_send(message) {
                Ok(()) => return Ok(()),
                Err(Unsent::Closed(message)) => return Err(message),
                Err(Unsent::Full(message)) => message,
            };
            emptied.await;
        }
    }
}

impl<T> Receiver<T> {
    /// The next message, first in, first out. `None` once no more can come.
    pub(super) async fn recv(&mut self) -> Option<T> {
        poll_fn(|context| {
            let mut queue = self.0.queue.lock();
            if let Some(message) = queue.messages.pop_front() {
                let is_room_awaited = std::mem::take(&mut queue.is_room_awaited);
                drop(queue);
                if is_room_awaited {
                    self.0.emptied.notify_waiters();
                }
                return Poll::Ready(Some(message));
            }
            if queue.is_over {
                return Poll::Ready(None);
            }
            match &queue.receiver {
                Some(receiver) if receiver.will_wake(context.waker()) => {}
                _ => queue.receiver = Some(context.waker().clone()),
            }
            Poll::Pending
        })
        .await
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.is_over = true;
        let receiver = queue.receiver.take();
        drop(queue);
        receiver.into_iter().for_each(Waker::wake);
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut queue = self.0.queue.lock();
        queue.is_over = true;
        let unread = std::mem::take(&mut queue.messages);
        drop(queue);
        self.0.emptied.notify_waiters();
        // Whoever sent them may be told, which is not done under the lock.
        drop(unread);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use tokio::task::JoinSet;

    use super::*;

    #[test]
    fn messages_come_out_in_order_and_then_the_end() {
        let (sender, mut receiver) = mailbox(3);
        assert_eq!(receiver.recv().now_or_never(), None);
        for message in 1..=3 {
            assert_eq!(sender.try_send(message), Ok(()));
        }
        assert_eq!(sender.try_send(4), Err(Unsent::Full(4)));
        drop(sender);
        for message in [Some(1), Some(2), Some(3), None] {
            assert_eq!(receiver.recv().now_or_never(), Some(message));
        }
    }

    #[tokio::test]
    async fn whoever_receives_is_woken() {
        let (sender, mut receiver) = mailbox(3);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { (receiver.recv().await, receiver.recv().await) });
        tokio::task::yield_now().await;
        sender.try_send(1).unwrap();
        tokio::task::yield_now().await;
        drop(sender);
        assert_eq!(tasks.join_next().await.unwrap().unwrap(), (Some(1), None));
    }

    #[tokio::test]
    async fn nobody_receives_any_more() {
        let (sender, receiver) = mailbox(1);
        let unread = Arc::new(());
        sender.try_send(Arc::clone(&unread)).unwrap();
        let mut waiting = std::pin::pin!(sender.send(Arc::clone(&unread)));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(receiver);
        assert!(waiting.await.is_err());
        assert_eq!(Arc::strong_count(&unread), 1);
        assert!(matches!(sender.try_send(unread), Err(Unsent::Closed(_))));
    }

    /// More who wait than there is room for.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn all_who_wait_for_room_find_it() {
        let (sender, mut receiver) = mailbox(2);
        let (sender, mut senders) = (Arc::new(sender), JoinSet::new());
        for _ in 0..8 {
            let sender = Arc::clone(&sender);
            senders.spawn(async move {
                for message in 0..2_000_u64 {
                    sender.send(message).await.unwrap();
                }
            });
        }
        drop(sender);
        let mut sum = 0;
        while let Some(message) = receiver.recv().await {
            sum += message;
        }
        assert_eq!(sum, 8 * 1_999 * 1_000);
        senders.join_all().await;
    }
}
