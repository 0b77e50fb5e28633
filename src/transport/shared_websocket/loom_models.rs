//! Loom models of the shared WebSocket. They check that in every explored interleaving of threads,
//! all messages are written and no task waits forever.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use loom::model::Builder;
use loom::sync::Mutex;
use loom::thread;
use plyhouse_server::loom_test_helpers::{Task, TaskState, new_outbox, send_text};
use tokio::io::ReadBuf;

use super::*;

/// Maximum number of times that loom preempts a runnable thread. Without this limit, a model does
/// not finish within ten minutes. Tests with injected faults found all faults with fewer
/// preemptions.
const PREEMPTIONS_MAX: usize = 3;

/// Size in bytes of a text frame with a one-byte payload.
const FRAME_BYTES: usize = 3;

/// Masked text frame from a client, as on the wire.
const ASKED: [u8; 7] = [0x81, 0x81, 0, 0, 0, 0, b'x'];

/// Runs a model in all interleavings of its threads within the preemption bound. The settings are
/// created outside the model, because the stack of a model thread is too small for creating them.
fn model(run: impl Fn(&Settings) + Sync + Send + 'static) {
    let settings = Settings::default();
    let mut builder = Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS_MAX);
    builder.check(move || run(&settings));
}

/// Kernel buffers between the server and a client. Like a kernel socket, the buffers wake only the
/// task that last tried to write.
#[derive(Debug)]
struct Kernel {
    /// Number of bytes that the send buffer still accepts.
    room: usize,
    /// Capacity of the send buffer, in bytes.
    size: usize,
    written: Vec<u8>,
    to_be_read: Vec<u8>,
    writer: Option<Waker>,
}

#[derive(Clone, Debug)]
struct Line(Arc<Mutex<Kernel>>);

impl Line {
    /// Creates a [`Line`] with a send buffer of this size, in bytes.
    fn new(size: usize) -> Self {
        Self(Arc::new(Mutex::new(Kernel {
            room: size,
            size,
            written: Vec::new(),
            to_be_read: ASKED.to_vec(),
            writer: None,
        })))
    }

    /// Empties the send buffer, as a reading client does. Returns whether it held any bytes.
    fn drain(&self) -> bool {
        let (writer, drained) = {
            let mut kernel = self.0.lock().unwrap();
            let drained = kernel.room < kernel.size;
            kernel.room = kernel.size;
            (kernel.writer.take(), drained)
        };
        if let Some(writer) = writer {
            writer.wake();
        }
        drained
    }

    fn written(&self) -> Vec<u8> {
        self.0.lock().unwrap().written.clone()
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut kernel = self.0.lock().unwrap();
        let taken = bytes.len().min(kernel.room);
        if taken == 0 {
            kernel.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        kernel.room -= taken;
        kernel.written.extend(&bytes[..taken]);
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Line {
    /// Returns the client's bytes once, and `Pending` afterwards. Registers no waker, because no
    /// model waits for more input.
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let sent = std::mem::take(&mut self.0.lock().unwrap().to_be_read);
        if sent.is_empty() {
            return Poll::Pending;
        }
        buffer.put_slice(&sent);
        Poll::Ready(Ok(()))
    }
}

/// Creates a connection with a send buffer of this size, and the task that writes to it.
fn connection(
    size: usize,
    settings: &Settings,
) -> (
    Line,
    Arc<Socket<Line>>,
    Outbox,
    Task<impl Future<Output = ()> + use<>>,
) {
    let (line, outbox) = (Line::new(size), new_outbox(9));
    let socket = Socket::open(line.clone(), settings);
    outbox.attach_writer(socket.clone());
    let (writes, queue) = (socket.clone(), outbox.clone());
    let task = Task::new(async move {
        loop {
            queue.wait_for_wake().await;
            writes.write(&queue).await.unwrap();
        }
    });
    (line, socket, outbox, task)
}

/// Runs the writing task and the simulated client until all data is written and read.
fn settle<F: Future<Output = ()>>(task: &mut Task<F>, line: &Line) {
    loop {
        while task.poll() {}
        if !line.drain() {
            break;
        }
    }
}

/// Asserts that the client received complete frames with one-byte texts, in one of the given
/// orders.
fn assert_written(line: &Line, orders: [&str; 3]) {
    let written = line.written();
    let frames = orders.map(|texts| {
        let mut frames = Vec::new();
        texts
            .bytes()
            .for_each(|text| push_text(&mut frames, &[text]));
        frames
    });
    assert!(frames.contains(&written), "{written:?}");
}

/// All messages of concurrent senders are written completely, even if the client reads slowly.
#[test]
fn model_concurrent_messages_reach_slow_client() {
    for size in [FRAME_BYTES - 1, FRAME_BYTES + 1] {
        model(move |settings| {
            let (line, _socket, outbox, mut task) = connection(size, settings);
            task.poll();
            let (sender, reader) = (outbox.clone(), line.clone());
            let sender = thread::spawn(move || ["a", "c"].map(|text| send_text(&sender, text)));
            let reader = thread::spawn(move || reader.drain());
            send_text(&outbox, "b");
            task.poll();
            task.poll();
            sender.join().unwrap();
            reader.join().unwrap();
            settle(&mut task, &line);
            assert_written(&line, ["acb", "abc", "bac"]);
            // After all messages are written, the socket can send another message.
            send_text(&outbox, "d");
            settle(&mut task, &line);
            assert_written(&line, ["acbd", "abcd", "bacd"]);
            outbox.detach_writer();
        });
    }
}

/// A task that waits to read continues after the frame is written.
#[test]
fn model_waiting_read_continues_after_frame_is_written() {
    model(|settings| {
        let (line, socket, outbox, mut task) = connection(FRAME_BYTES - 1, settings);
        task.poll();
        send_text(&outbox, "a");
        let reads = socket.clone();
        let mut reading = Task::new(async move {
            assert!(matches!(reads.next().await, Some(Ok(Message::Text(_)))));
        });
        let (client, reading) = (
            line.clone(),
            thread::spawn(move || {
                reading.poll();
                reading
            }),
        );
        client.drain();
        task.poll();
        let reading = reading.join().unwrap();
        settle(&mut task, &line);
        assert_eq!(reading.run_until_stalled(), TaskState::Ended);
        outbox.detach_writer();
    });
}
