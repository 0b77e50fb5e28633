use futures::FutureExt;
use parking_lot::Mutex;

use super::*;

fn outbox(messages_max: usize, bytes_max: usize) -> Outbox {
    Outbox::new(ConnectionId(0), messages_max, bytes_max, &Arc::default())
}

fn take_all(outbox: &Outbox) -> Vec<String> {
    let mut frames = Vec::new();
    let has_more = outbox.take_frames(|frame| {
        frames.push(frame.to_string());
        true
    });
    assert!(!has_more);
    frames
}

#[test]
fn queued_messages_are_delivered_in_order_before_close() {
    let outbox = outbox(3, 100);
    assert!(take_all(&outbox).is_empty());
    outbox.enqueue("a".into());
    outbox.enqueue("b".into());
    assert_eq!(outbox.wait_for_close().now_or_never(), None);
    outbox.close(CloseCode::Replaced);
    outbox.close(CloseCode::IdleTimeout);
    outbox.enqueue("c".into());
    assert_eq!(
        outbox.wait_for_close().now_or_never(),
        Some(CloseCode::Replaced)
    );
    assert_eq!(take_all(&outbox), ["a", "b"]);
    assert!(take_all(&outbox).is_empty());
}

#[test]
fn a_full_queue_closes_the_connection() {
    for outbox in [outbox(2, 100), outbox(100, 2)] {
        outbox.enqueue("a".into());
        outbox.enqueue("b".into());
        assert!(!outbox.is_closing());
        assert_eq!(outbox.depth().messages, 2);
        outbox.enqueue("c".into());
        assert_eq!(
            outbox.wait_for_close().now_or_never(),
            Some(CloseCode::SlowConsumer)
        );
        assert!(take_all(&outbox).is_empty());
        assert_eq!(outbox.metrics().discarded_messages.get(), 3);
    }
}

#[test]
fn taking_messages_frees_room() {
    let outbox = outbox(2, 100);
    outbox.enqueue("a".into());
    assert_eq!(outbox.has_room(), Ok(true));
    outbox.enqueue("b".into());
    assert_eq!(outbox.has_room(), Ok(false));
    assert_eq!(outbox.wait_for_room().now_or_never(), None);
    take_all(&outbox);
    assert_eq!(outbox.has_room(), Ok(true));
    assert_eq!(outbox.wait_for_room().now_or_never(), Some(()));
    outbox.close(CloseCode::IdleTimeout);
    assert_eq!(outbox.has_room(), Err(CloseCode::IdleTimeout));
}

#[test]
fn take_stops_when_the_callback_returns_false() {
    let outbox = outbox(9, 100);
    outbox.enqueue("ab".into());
    outbox.enqueue("c".into());
    let mut frames = Vec::new();
    let has_more = outbox.take_frames(|frame| {
        frames.push(frame.clone());
        false
    });
    assert!(has_more);
    assert_eq!(frames, ["ab".into()]);
    let QueueDepth { messages, bytes } = outbox.depth();
    assert_eq!((messages, bytes), (1, 1));
    assert_eq!(take_all(&outbox), ["c"]);
}

/// A [`Writer`] with a limited capacity, given as a number of messages. It refuses to write more
/// messages than its remaining capacity.
struct LimitedWriter(Mutex<usize>);

impl Writer for LimitedWriter {
    fn try_write(&self, outbox: &Outbox) -> bool {
        let mut capacity = self.0.lock();
        let fits = outbox.depth().messages <= *capacity;
        if fits {
            *capacity -= take_all(outbox).len();
        }
        fits
    }
}

#[test]
fn flush_writes_at_once_or_wakes_the_connection() {
    let outbox = outbox(9, 100);
    outbox.flush();
    assert_eq!(
        outbox.wait_for_wake().now_or_never(),
        None,
        "there is nothing to write"
    );
    outbox.enqueue("a".into());
    outbox.flush();
    assert_eq!(
        outbox.wait_for_wake().now_or_never(),
        Some(()),
        "there is no writer"
    );

    let writer = Arc::new(LimitedWriter(Mutex::new(1)));
    outbox.attach_writer(writer.clone());
    take_all(&outbox);
    outbox.enqueue("b".into());
    outbox.flush();
    assert_eq!(
        outbox.wait_for_wake().now_or_never(),
        None,
        "the task need not write it"
    );
    assert_eq!(outbox.depth().messages, 0, "the writer has written it");
    outbox.enqueue("c".into());
    outbox.flush();
    assert_eq!(
        outbox.wait_for_wake().now_or_never(),
        Some(()),
        "the writer takes no more"
    );
    outbox.detach_writer();
    assert_eq!(Arc::strong_count(&writer), 1);
}
