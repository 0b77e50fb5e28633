use std::sync::atomic::Ordering;

use futures::FutureExt;
use loom::future::block_on;
use loom::sync::atomic::{AtomicBool, AtomicUsize};
use loom::{model, thread};

use super::*;
use crate::context::loom_test_helpers;
use crate::context::loom_test_helpers::TaskState;

/// Two threads send messages while the actor's task runs. The actor must receive every message, and
/// its task must end when the actor ends.
#[test]
fn model_every_sent_message_is_served() {
    model(|| {
        let (sender, mut receiver) = mailbox(2);
        let sum = Arc::new(AtomicUsize::new(0));
        let total = Arc::clone(&sum);
        let mut task = loom_test_helpers::Task::new(sender.start(async move {
            while let Some(number) = receiver.recv().await {
                total.fetch_add(number, Ordering::SeqCst);
            }
        }));
        let runtime = thread::spawn(move || {
            task.poll();
            task
        });
        let sender = Arc::new(sender);
        let other = Arc::clone(&sender);
        let other = thread::spawn(move || assert!(other.try_send(1).is_ok()));
        assert!(sender.try_send(2).is_ok());
        other.join().unwrap();
        let mut task = runtime.join().unwrap();
        while task.poll() {}
        // Check the sum before dropping the sender, because the drop wakes the actor and would hide
        // a lost wake-up.
        assert_eq!(sum.load(Ordering::SeqCst), 3);
        drop(sender);
        assert_eq!(task.run_until_stalled(), TaskState::Ended);
    });
}

/// The actor waits for a flag that another thread sets, and not for a message. Setting the flag
/// must wake the actor, even while the actor's task or a sender is polling the actor.
#[test]
fn model_external_wake_of_the_actor_is_not_lost() {
    model(|| {
        let (sender, mut receiver) = mailbox(1);
        let (is_ready, listener) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let (notifier, waker) = (Arc::clone(&is_ready), Arc::clone(&listener));
        let mut task = loom_test_helpers::Task::new(sender.start(async move {
            poll_fn(|context| {
                let _ = receiver.recv().boxed().poll_unpin(context);
                *lock(&listener) = Some(context.waker().clone());
                if is_ready.load(Ordering::Relaxed) {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
            .await;
        }));
        let runtime = thread::spawn(move || {
            task.poll();
            task
        });
        let notifier = thread::spawn(move || {
            notifier.store(true, Ordering::Relaxed);
            let waker: Option<Waker> = lock(&waker).take();
            waker.into_iter().for_each(Waker::wake);
        });
        let _ = sender.try_send(());
        notifier.join().unwrap();
        assert_eq!(
            runtime.join().unwrap().run_until_stalled(),
            TaskState::Ended
        );
    });
}

fn lock<T>(mutex: &loom::sync::Mutex<T>) -> loom::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

#[test]
fn model_sender_waiting_for_capacity_is_woken() {
    model(|| {
        let (sender, mut receiver) = mailbox(1);
        let sender = Arc::new(sender);
        let other = Arc::clone(&sender);
        assert!(sender.try_send(0).is_ok());
        let other = thread::spawn(move || assert!(block_on(other.send(1)).is_ok()));
        assert_eq!(receiver.recv().now_or_never(), Some(Some(0)));
        other.join().unwrap();
        assert_eq!(receiver.recv().now_or_never(), Some(Some(1)));
    });
}

/// Two senders wait for capacity in a mailbox that holds one message. The receiver takes messages
/// and is then dropped. Each sender must be woken in either case.
#[test]
fn model_waiting_senders_learn_of_capacity_or_closing() {
    model(|| {
        let (sender, mut receiver) = mailbox(1);
        let sender = Arc::new(sender);
        let other = Arc::clone(&sender);
        let other = thread::spawn(move || block_on(other.send(1)));
        let receiver = thread::spawn(move || {
            let received = (0..3).filter_map(|_| receiver.recv().now_or_never());
            received.count()
        });
        let sent = [block_on(sender.send(2)), other.join().unwrap()];
        let sent = sent.iter().filter(|sent| sent.is_ok()).count();
        assert!(receiver.join().unwrap() <= sent);
    });
}
