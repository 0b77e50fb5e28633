use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use tokio::task::{JoinSet, yield_now};

use super::*;

/// Creates an actor that sums the received numbers until the mailbox is closed.
fn summing_actor(capacity: usize) -> (Sender<usize>, Arc<AtomicUsize>, Task<usize>) {
    let (sender, mut receiver) = mailbox(capacity);
    let sum = Arc::<AtomicUsize>::default();
    let total = Arc::clone(&sum);
    let task = sender.start(async move {
        while let Some(number) = receiver.recv().await {
            total.fetch_add(number, Ordering::SeqCst);
        }
    });
    (sender, sum, task)
}

#[test]
fn receiver_yields_messages_in_order_then_none() {
    let (sender, mut receiver) = mailbox(3);
    assert_eq!(receiver.recv().now_or_never(), None);
    for message in 1..=3 {
        assert_eq!(sender.try_send(message), Ok(()));
    }
    assert_eq!(sender.try_send(4), Err(TrySendError::Full(4)));
    drop(sender);
    for message in [Some(1), Some(2), Some(3), None] {
        assert_eq!(receiver.recv().now_or_never(), Some(message));
    }
}

#[tokio::test]
async fn send_fails_after_receiver_is_dropped() {
    let (sender, receiver) = mailbox(1);
    let message = Arc::new(());
    sender.try_send(Arc::clone(&message)).unwrap();
    let mut waiting = std::pin::pin!(sender.send(Arc::clone(&message)));
    assert!(waiting.as_mut().now_or_never().is_none());
    drop(receiver);
    assert!(waiting.await.is_err());
    assert_eq!(Arc::strong_count(&message), 1);
    assert!(matches!(
        sender.try_send(message),
        Err(TrySendError::Closed(_))
    ));
}

#[tokio::test]
async fn try_send_runs_the_actor_in_the_caller() {
    let (sender, sum, _task) = summing_actor(1);
    for number in 1..=10 {
        sender.try_send(number).unwrap();
    }
    assert_eq!(sum.load(Ordering::SeqCst), 55);
}

#[tokio::test]
async fn messages_sent_before_start_are_served_by_the_task() {
    let (sender, mut receiver) = mailbox(2);
    sender.try_send(1).unwrap();
    sender.try_send(2).unwrap();
    let task = sender.start(async move {
        assert_eq!(receiver.recv().await, Some(1));
        assert_eq!(receiver.recv().await, Some(2));
    });
    task.await;
}

#[tokio::test]
async fn task_ends_when_the_actor_ends() {
    let (sender, sum, task) = summing_actor(1);
    let mut tasks = JoinSet::new();
    tasks.spawn(task);
    yield_now().await;
    sender.try_send(1).unwrap();
    drop(sender);
    tasks.join_all().await;
    assert_eq!(sum.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn pending_actor_continues_in_the_task() {
    let (resume, resumed) = oneshot::channel();
    let (finish, finished) = oneshot::channel();
    let (sender, mut receiver) = mailbox(1);
    let mut tasks = JoinSet::new();
    tasks.spawn(sender.start(async move {
        receiver.recv().await;
        let _ = resumed.await;
        let _ = finish.send(());
    }));
    sender.try_send(()).unwrap();
    resume.send(()).unwrap();
    finished.await.unwrap();
    tasks.join_all().await;
}

/// If an actor keeps waking itself, the sender stops polling it, and the actor's own task
/// continues. Otherwise, the sender would poll the actor forever.
#[tokio::test]
async fn self_waking_actor_is_left_to_its_task() {
    let polls = Arc::<AtomicUsize>::default();
    let poll_count = Arc::clone(&polls);
    let (sender, _receiver) = mailbox(1);
    let task = sender.start(poll_fn(move |context| {
        context.waker().wake_by_ref();
        if poll_count.fetch_add(1, Ordering::SeqCst) == 9 {
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
async fn actor_panic_closes_the_mailbox_but_not_the_sender_task() {
    let (sender, receiver) = mailbox(1);
    let task = sender.start(async move {
        let _receiver = receiver;
        panic!("expected by the test")
    });
    sender.try_send(()).unwrap();
    assert_eq!(sender.try_send(()), Err(TrySendError::Closed(())));
    task.await;
}

#[test]
fn dropping_the_task_closes_the_mailbox() {
    let (sender, _, task) = summing_actor(1);
    drop(task);
    assert_eq!(sender.try_send(1), Err(TrySendError::Closed(1)));
}

#[test]
fn send_does_not_poll_an_actor_that_waits_for_something_else() {
    let (sender, receiver) = mailbox(9);
    let polls = Arc::<AtomicUsize>::default();
    let poll_count = Arc::clone(&polls);
    let _task = sender.start(poll_fn(move |_| {
        let _ = &receiver;
        poll_count.fetch_add(1, Ordering::SeqCst);
        Poll::Pending
    }));
    for _ in 0..3 {
        sender.try_send(()).unwrap();
    }
    assert_eq!(polls.load(Ordering::SeqCst), 1);
}

/// If concurrent senders send more messages than the mailbox can hold, the actor must still receive
/// every message.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_senders_lose_no_wake() {
    let (sender, sum, task) = summing_actor(2);
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
