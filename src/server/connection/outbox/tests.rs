use futures::FutureExt;
use parking_lot::Mutex;

use super::*;

fn outbox(messages_max: usize, bytes_max: usize) -> Outbox {
    Outbox::new(ConnectionId(0), messages_max, bytes_max, &Arc::default())
}

fn taken(outbox: &Outbox) -> Vec<String> {
    let mut frames = Vec::new();
    let is_more = outbox.take(|frame| {
        frames.push(frame.to_string());
        true
    });
    assert!(!is_more);
    frames
}

#[test]
fn messages_come_out_in_order_and_before_the_end() {
    let outbox = outbox(3, 100);
    assert!(taken(&outbox).is_empty());
    outbox.post("a".into());
    outbox.post("b".into());
    assert_eq!(outbox.closed().now_or_never(), None);
    outbox.close(CloseCode::Replaced);
    outbox.close(CloseCode::Idle);
    outbox.post("c".into());
    assert_eq!(outbox.closed().now_or_never(), Some(CloseCode::Replaced));
    assert_eq!(taken(&outbox), ["a", "b"]);
    assert!(taken(&outbox).is_empty());
}

#[test]
fn a_full_queue_closes_the_connection() {
    for outbox in [outbox(2, 100), outbox(100, 2)] {
        outbox.post("a".into());
        outbox.post("b".into());
        assert!(!outbox.is_closing());
        assert_eq!(outbox.depth().messages, 2);
        outbox.post("c".into());
        assert_eq!(outbox.closed().now_or_never(), Some(CloseCode::TooSlow));
        assert!(taken(&outbox).is_empty());
        assert_eq!(outbox.metrics().discarded_messages.get(), 3);
    }
}

#[test]
fn room_comes_back_when_messages_are_taken() {
    let outbox = outbox(2, 100);
    outbox.post("a".into());
    assert_eq!(outbox.has_room(), Ok(true));
    outbox.post("b".into());
    assert_eq!(outbox.has_room(), Ok(false));
    assert_eq!(outbox.drained().now_or_never(), None);
    taken(&outbox);
    assert_eq!(outbox.has_room(), Ok(true));
    assert_eq!(outbox.drained().now_or_never(), Some(()));
    outbox.close(CloseCode::Idle);
    assert_eq!(outbox.has_room(), Err(CloseCode::Idle));
}

#[test]
fn no_more_is_taken_than_is_wanted() {
    let outbox = outbox(9, 100);
    outbox.post("ab".into());
    outbox.post("c".into());
    let mut frames = Vec::new();
    let is_more = outbox.take(|frame| {
        frames.push(frame.clone());
        false
    });
    assert!(is_more);
    assert_eq!(frames, ["ab".into()]);
    let QueueDepth { messages, bytes } = outbox.depth();
    assert_eq!((messages, bytes), (1, 1));
    assert_eq!(taken(&outbox), ["c"]);
}

/// Takes so many messages, and then no more.
struct Narrow(Mutex<usize>);

impl Writer for Narrow {
    fn try_write(&self, outbox: &Outbox) -> bool {
        let mut room = self.0.lock();
        let fits = outbox.depth().messages <= *room;
        if fits {
            *room -= taken(outbox).len();
        }
        fits
    }
}

#[test]
fn what_is_flushed_goes_out_at_once_or_wakes_the_connection() {
    let outbox = outbox(9, 100);
    outbox.flush();
    assert_eq!(
        outbox.woken().now_or_never(),
        None,
        "there is nothing to write"
    );
    outbox.post("a".into());
    outbox.flush();
    assert_eq!(
        outbox.woken().now_or_never(),
        Some(()),
        "there is no writer"
    );

    let narrow = Arc::new(Narrow(Mutex::new(1)));
    outbox.attach(narrow.clone());
    taken(&outbox);
    outbox.post("b".into());
    outbox.flush();
    assert_eq!(outbox.woken().now_or_never(), None, "nobody need do it");
    assert_eq!(outbox.depth().messages, 0, "it has been written");
    outbox.post("c".into());
    outbox.flush();
    assert_eq!(
        outbox.woken().now_or_never(),
        Some(()),
        "the writer takes no more"
    );
    outbox.detach();
    assert_eq!(Arc::strong_count(&narrow), 1);
}
