//! However threads come to the socket, all that is told is written, and who waits goes on.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use loom::model::Builder;
use loom::sync::Mutex;
use loom::thread;
use plyhouse_server::loom_support::{Task, TaskState, new_outbox, send_text};
use tokio::io::ReadBuf;

use super::*;

/// How often at most a thread is interrupted that could have gone on. With any number a model does not end
/// in ten minutes; each fault that was put in was found with fewer.
const PREEMPTIONS_MAX: usize = 3;

/// Bytes of a frame that holds a text of one byte.
const FRAME_BYTES: usize = 3;

/// A masked text frame of a client, as it is read from the wire.
const ASKED: [u8; 7] = [0x81, 0x81, 0, 0, 0, 0, b'x'];

/// Tries the orders in which threads can come to the locks. The settings are read before: the stack of a
/// model's thread has no room for that.
fn model(run: impl Fn(&Settings) + Sync + Send + 'static) {
    let settings = Settings::default();
    let mut builder = Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS_MAX);
    builder.check(move || run(&settings));
}

/// What stands between the server and a client: the kernel's buffers. It wakes only the task that has tried
/// to write last.
#[derive(Debug)]
struct Kernel {
    /// How many bytes more it takes.
    room: usize,
    /// How many it has when it is empty.
    size: usize,
    written: Vec<u8>,
    to_be_read: Vec<u8>,
    writer: Option<Waker>,
}

#[derive(Clone, Debug)]
struct Line(Arc<Mutex<Kernel>>);

impl Line {
    /// A line on which this many bytes may wait to be taken by the client.
    fn new(size: usize) -> Self {
        Self(Arc::new(Mutex::new(Kernel {
            room: size,
            size,
            written: Vec::new(),
            to_be_read: ASKED.to_vec(),
            writer: None,
        })))
    }

    /// The client takes all that there is. True if that was anything.
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
    /// There is always what the client has sent, and then nothing more: that is waited for by nobody here.
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

/// A connection whose client takes this many bytes at a time, and the task that writes for it.
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

/// Lets a task and the client go on until neither has anything to do.
fn settle<F: Future<Output = ()>>(task: &mut Task<F>, line: &Line) {
    loop {
        while task.poll() {}
        if !line.drain() {
            break;
        }
    }
}

/// The client has got these texts of one byte each, in one of these orders, in whole frames.
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

/// Whoever tells something, and however slowly the client reads: all of it is written, whole.
#[test]
fn model_what_is_told_reaches_a_slow_client() {
    for size in [FRAME_BYTES - 1, FRAME_BYTES + 1] {
        model(move |settings| {
            let (line, _socket, outbox, mut task) = connection(size, settings);
            task.poll();
            let (teller, reader) = (outbox.clone(), line.clone());
            let teller = thread::spawn(move || ["a", "c"].map(|text| send_text(&teller, text)));
            let reader = thread::spawn(move || reader.drain());
            send_text(&outbox, "b");
            task.poll();
            task.poll();
            teller.join().unwrap();
            reader.join().unwrap();
            settle(&mut task, &line);
            assert_written(&line, ["acb", "abc", "bac"]);
            // Once nothing waits any more, it goes on as at the begin.
            send_text(&outbox, "d");
            settle(&mut task, &line);
            assert_written(&line, ["acbd", "abcd", "bacd"]);
            outbox.detach_writer();
        });
    }
}

/// Whoever waits to read until a frame is written reads on once it is.
#[test]
fn model_reading_goes_on_when_a_frame_is_written() {
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
