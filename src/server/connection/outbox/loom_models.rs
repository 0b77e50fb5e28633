use std::sync::atomic::Ordering;

use loom::sync::atomic::AtomicUsize;
use loom::{model, thread};

use super::*;
use crate::context::loom_test_helpers::{Task, TaskState, new_outbox, send_text};

/// Polls the task once on a new thread. Joining the thread returns the task.
fn start<F: Future<Output = ()> + Send + 'static>(
    mut task: Task<F>,
) -> thread::JoinHandle<Task<F>> {
    thread::spawn(move || {
        task.poll();
        task
    })
}

/// Without a writer, the connection's task must write all messages.
#[test]
fn model_sent_messages_are_written() {
    model(|| {
        let outbox = new_outbox(9);
        let written = Arc::new(AtomicUsize::new(0));
        let (queue, count) = (outbox.clone(), Arc::clone(&written));
        let task = start(Task::new(async move {
            loop {
                queue.wait_for_wake().await;
                queue.take_frames(|_| {
                    count.fetch_add(1, Ordering::SeqCst);
                    true
                });
            }
        }));
        let other = outbox.clone();
        let other = thread::spawn(move || send_text(&other, "a"));
        send_text(&outbox, "b");
        other.join().unwrap();
        assert_eq!(task.join().unwrap().run_until_stalled(), TaskState::Waiting);
        assert_eq!(written.load(Ordering::SeqCst), 2);
    });
}

/// A task that waits in `wait_for_close` must be woken when the outbox is closed and when the
/// outbox overflows.
#[test]
fn model_close_wakes_the_waiting_task() {
    for ends in [
        |outbox: &Outbox| outbox.close(CloseCode::IdleTimeout),
        |outbox: &Outbox| send_text(outbox, "a"),
    ] {
        model(move || {
            let outbox = new_outbox(0);
            let queue = outbox.clone();
            let task = start(Task::new(async move {
                queue.wait_for_close().await;
            }));
            ends(&outbox);
            assert_eq!(task.join().unwrap().run_until_stalled(), TaskState::Ended);
        });
    }
}

#[test]
fn model_taking_messages_wakes_the_waiting_task() {
    model(|| {
        let outbox = new_outbox(2);
        for text in ["a", "b"] {
            outbox.enqueue(text.into());
        }
        let queue = outbox.clone();
        let task = start(Task::new(async move {
            while queue.has_room() == Ok(false) {
                queue.wait_for_room().await;
            }
        }));
        outbox.take_frames(|_| true);
        assert_eq!(task.join().unwrap().run_until_stalled(), TaskState::Ended);
    });
}
