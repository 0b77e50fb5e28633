use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use tokio::task::{JoinSet, yield_now};

use super::*;

/// Adds up what it is sent, until the mailbox is over.
fn adder(room: usize) -> (Sender<usize>, Arc<AtomicUsize>, Task<usize>) {
    let (sender, mut receiver) = mailbox(room);
    let sum = Arc::<AtomicUsize>::default();
    let total = Arc::clone(&sum);
    let task = sender.begin(async move {
        while let Some(number) = receiver.recv().await {
            total.fetch_add(number, Ordering::SeqCst);
        }
    });
    (sender, sum, task)
}

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

#[tokio::test]
async fn what_is_sent_is_served_at_once_without_the_task() {
    let (sender, sum, _task) = adder(1);
    for number in 1..=10 {
        sender.try_send(number).unwrap();
    }
    assert_eq!(sum.load(Ordering::SeqCst), 55);
}

#[tokio::test]
async fn what_is_sent_before_the_begin_is_served_by_the_task() {
    let (sender, mut receiver) = mailbox(2);
    sender.try_send(1).unwrap();
    sender.try_send(2).unwrap();
    let task = sender.begin(async move {
        assert_eq!(receiver.recv().await, Some(1));
        assert_eq!(receiver.recv().await, Some(2));
    });
    task.await;
}

#[tokio::test]
async fn the_task_ends_with_the_owner() {
    let (sender, sum, task) = adder(1);
    let mut tasks = JoinSet::new();
    tasks.spawn(task);
    yield_now().await;
    sender.try_send(1).unwrap();
    drop(sender);
    tasks.join_all().await;
    assert_eq!(sum.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_waits_goes_on_in_the_task() {
    let (go, gone) = oneshot::channel();
    let (done, is_done) = oneshot::channel();
    let (sender, mut receiver) = mailbox(1);
    let mut tasks = JoinSet::new();
    tasks.spawn(sender.begin(async move {
        receiver.recv().await;
        let _ = gone.await;
        let _ = done.send(());
    }));
    sender.try_send(()).unwrap();
    go.send(()).unwrap();
    is_done.await.unwrap();
    tasks.join_all().await;
}

/// Else whoever sends would never get away.
#[tokio::test]
async fn an_owner_that_wakes_itself_is_left_to_its_task() {
    let polls = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&polls);
    let (sender, _receiver) = mailbox(1);
    let task = sender.begin(poll_fn(move |context| {
        context.waker().wake_by_ref();
        if counted.fetch_add(1, Ordering::SeqCst) == 9 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }));
    sender.try_send(()).unwrap();
    assert_eq!(polls.load(Ordering::SeqCst), POLLS_MAX);
    task.await;
    assert_eq!(polls.load(Ordering::SeqCst), 10);
}

#[tokio::test]
async fn a_panic_ends_the_owner_and_not_who_sends() {
    let (sender, receiver) = mailbox(1);
    let task = sender.begin(async move {
        let _receiver = receiver;
        panic!("as it should")
    });
    sender.try_send(()).unwrap();
    assert_eq!(sender.try_send(()), Err(Unsent::Closed(())));
    task.await;
}

#[test]
fn the_owner_goes_with_its_task() {
    let (sender, _, task) = adder(1);
    drop(task);
    assert_eq!(sender.try_send(1), Err(Unsent::Closed(1)));
}

/// An owner that waits for something else is not polled for each message.
#[test]
fn only_an_owner_that_waits_for_a_message_is_polled_for_one() {
    let (sender, receiver) = mailbox(9);
    let polls = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&polls);
    let _task = sender.begin(poll_fn(move |_| {
        let _ = &receiver;
        counted.fetch_add(1, Ordering::SeqCst);
        Poll::Pending
    }));
    for _ in 0..3 {
        sender.try_send(()).unwrap();
    }
    assert_eq!(polls.load(Ordering::SeqCst), 1);
}

/// Many at once, more than there is room for: nothing that was sent is left lying.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_wake_is_lost_between_many_who_send() {
    let (sender, sum, task) = adder(2);
    let sender = Arc::new(sender);
    let (mut tasks, mut senders) = (JoinSet::new(), JoinSet::new());
    tasks.spawn(task);
    for _ in 0..8 {
        let sender = Arc::clone(&sender);
        senders.spawn(async move {
            for number in 0..2_000 {
                sender.send(number).await.unwrap();
            }
        });
    }
    senders.join_all().await;
    drop(sender);
    tasks.join_all().await;
    assert_eq!(sum.load(Ordering::SeqCst), 8 * 1_999 * 1_000);
}
