//! The floor server is a minimal but realistic match server. It handles the same load as the real
//! server and uses the same WebSocket library.
//!
//! It parses requests as JSON and runs one task per connection and one per match. It checks whose
//! turn it is and whether the square is free. It sends each move to both players and the
//! spectators, and an `ok` to the mover. It has no player identities, lobby, limits, store or games
//! other than tic-tac-toe. Its messages have the fields of the real server's messages, so the bytes
//! on the wire are comparable.
//!
//! [`WriteMode`] selects how the floor server writes to sockets: with one writer task per
//! connection, as is usual, or directly from the match task.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, bail};
use futures::stream::SplitSink;
use futures::{SinkExt, StreamExt, lock};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, accept_async_with_config};
use uuid::Uuid;

use crate::tic_tac_toe::{Board, SQUARES};

/// Size of a socket's read buffer in bytes, as in the real server.
const READ_BUFFER_BYTES: usize = 256;
const WRITE_BUFFER_BYTES: usize = 16 * 1024;
const MESSAGE_BYTES_MAX: usize = 8192;
const MAILBOX_CAPACITY: usize = 64;

/// Maximum number of messages that wait for the writer task of a connection.
const OUTBOX_CAPACITY: usize = 64;

type Socket = SplitSink<WebSocketStream<TcpStream>, Message>;

/// Task that writes to a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WriteMode {
    /// Writer task per connection
    ///
    /// The task writes all queued messages at once. A slow reader does not delay a match.
    Task,
    /// Match task, without writer tasks
    ///
    /// This saves a wake-up per message, but a slow reader delays its opponent, which a production
    /// server cannot accept.
    Match,
}

/// Destination of the messages to one client.
#[derive(Clone)]
enum ClientSink {
    Task(mpsc::Sender<Message>),
    Match(Arc<lock::Mutex<Socket>>),
}

/// Registry of the matches that wait for a second player. The map contains the mailbox of each
/// match, keyed by match id. The integer counts the matches created so far.
type OpenMatches = Arc<Mutex<(HashMap<String, mpsc::Sender<MatchCommand>>, u128)>>;

/// Client request of any type. The request type determines which optional fields are present.
#[derive(Deserialize)]
struct Request<'a> {
    #[serde(rename = "type")]
    message_type: &'a str,
    id: u64,
    #[serde(rename = "match")]
    target: Option<&'a str>,
    ply: Option<u64>,
    #[serde(rename = "move")]
    m: Option<&'a str>,
}

/// Command to a match task.
enum MatchCommand {
    Join {
        sink: ClientSink,
        re: u64,
    },
    Watch {
        sink: ClientSink,
        re: u64,
    },
    Move {
        seat: usize,
        re: u64,
        ply: u64,
        m: [u8; 2],
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ServerMessage<'a> {
    Match {
        re: u64,
        #[serde(rename = "match")]
        match_id: &'a str,
    },
    Moved {
        #[serde(rename = "match")]
        match_id: &'a str,
        seq: u64,
        ply: u64,
        seat: usize,
        #[serde(rename = "move")]
        m: &'a str,
        position: &'a str,
        turn: Option<usize>,
        legal: Vec<&'static str>,
    },
    Ok {
        re: u64,
        seq: u64,
    },
    Error {
        re: u64,
        code: &'a str,
    },
}

/// Serves connections until the process is killed.
pub(crate) async fn run(write_mode: WriteMode) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stderr(), "listening on {}", listener.local_addr()?)?;
    let open_matches = OpenMatches::default();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let open_matches = Arc::clone(&open_matches);
        spawn_detached(async move {
            if let Err(error) = serve_connection(stream, &open_matches, write_mode).await {
                // The client of a failed connection misses a message, which makes the benchmark
                // fail. The error printed here shows the cause.
                let _ = writeln!(std::io::stderr(), "{error:#}");
            }
        });
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this server is killed: nothing waits for its tasks"
)]
fn spawn_detached(task: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(task);
}

/// Reads the requests of one client, which plays one match at a time.
async fn serve_connection(
    stream: TcpStream,
    open_matches: &OpenMatches,
    write_mode: WriteMode,
) -> anyhow::Result<()> {
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(WRITE_BUFFER_BYTES)
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX));
    let socket = accept_async_with_config(stream, Some(config)).await?;
    let (sink, mut source) = socket.split();
    let sink = match write_mode {
        WriteMode::Task => {
            let (outbox, queued) = mpsc::channel(OUTBOX_CAPACITY);
            spawn_detached(write_frames(sink, queued));
            ClientSink::Task(outbox)
        }
        WriteMode::Match => ClientSink::Match(Arc::new(lock::Mutex::new(sink))),
    };
    let mut current_seat = None;
    while let Some(Ok(Message::Text(text))) = source.next().await {
        let request: Request<'_> = serde_json::from_str(&text)?;
        let re = request.id;
        match request.message_type {
            "create" => {
                let (mailbox, commands) = mpsc::channel(MAILBOX_CAPACITY);
                let mut matches = open_matches.lock();
                matches.1 += 1;
                let id = Uuid::from_u128(matches.1).to_string();
                matches.0.insert(id.clone(), mailbox.clone());
                drop(matches);
                spawn_detached(run_match(id.clone(), sink.clone(), re, commands));
                current_seat = Some((0, id, mailbox));
            }
            "watch" => {
                let target = request.target.context("`watch` without a match")?;
                let mailbox = open_matches
                    .lock()
                    .0
                    .get(target)
                    .cloned()
                    .context("no such match")?;
                let sink = sink.clone();
                // The send fails only if the match task has ended, and the error is ignored.
                let _ = mailbox.send(MatchCommand::Watch { sink, re }).await;
            }
            "join" => {
                let target = request.target.context("`join` without a match")?;
                let mailbox = open_matches
                    .lock()
                    .0
                    .remove(target)
                    .context("no such match")?;
                let sink = sink.clone();
                // The send fails only if the match task has ended, and the error is ignored.
                let _ = mailbox.send(MatchCommand::Join { sink, re }).await;
                current_seat = Some((1, target.to_owned(), mailbox));
            }
            "move" => match (&current_seat, request.ply, request.m.map(str::as_bytes)) {
                (Some((seat, id, mailbox)), Some(ply), Some(&[file, rank]))
                    if request.target == Some(id) =>
                {
                    let (seat, m) = (*seat, [file, rank]);
                    // The send fails only if the match task has ended, and the error is ignored.
                    let _ = mailbox.send(MatchCommand::Move { seat, re, ply, m }).await;
                }
                _ => bail!("invalid move: {text}"),
            },
            _ => bail!("unknown request: {text}"),
        }
    }
    Ok(())
}

/// Runs one match until both players have started another match or disconnected.
async fn run_match(
    id: String,
    creator: ClientSink,
    re: u64,
    mut commands: mpsc::Receiver<MatchCommand>,
) {
    let match_id = id.as_str();
    let snapshot = encode(&ServerMessage::Match { re, match_id });
    send_frames(&creator, [snapshot]).await;
    let mut sinks = vec![creator];
    let mut spectators: Vec<ClientSink> = Vec::new();
    let mut board = Board::default();
    while let Some(command) = commands.recv().await {
        match command {
            MatchCommand::Join { sink, re } => {
                let snapshot = encode(&ServerMessage::Match { re, match_id });
                send_frames(&sink, [snapshot]).await;
                sinks.push(sink);
            }
            MatchCommand::Watch { sink, re } => {
                let snapshot = encode(&ServerMessage::Match { re, match_id });
                send_frames(&sink, [snapshot]).await;
                spectators.push(sink);
            }
            MatchCommand::Move { seat, re, ply, m } => match (board.play(seat, ply, m), &sinks[..])
            {
                (Some(square), [_, _]) => {
                    let seq = board.ply;
                    let moved = encode(&ServerMessage::Moved {
                        match_id,
                        seq,
                        ply,
                        seat,
                        m: SQUARES[square],
                        position: &board.position(),
                        turn: (!board.is_over()).then(|| board.turn()),
                        legal: board.legal_moves(),
                    });
                    let ok = encode(&ServerMessage::Ok { re, seq });
                    send_frames(&sinks[1 - seat], [moved.clone()]).await;
                    send_frames(&sinks[seat], [moved.clone(), ok]).await;
                    for spectator in &spectators {
                        send_frames(spectator, [moved.clone()]).await;
                    }
                }
                _ => {
                    let code = "illegal_move";
                    send_frames(&sinks[seat], [encode(&ServerMessage::Error { re, code })]).await;
                }
            },
        }
    }
}

fn encode(message: &ServerMessage<'_>) -> Utf8Bytes {
    serde_json::to_string(message)
        .expect("messages serialise to JSON")
        .into()
}

async fn send_frames<const N: usize>(sink: &ClientSink, frames: [Utf8Bytes; N]) {
    let frames = frames.into_iter().map(Message::Text);
    // Messages to a disconnected client are dropped.
    match sink {
        ClientSink::Task(outbox) => {
            for frame in frames {
                let _ = outbox.send(frame).await;
            }
        }
        ClientSink::Match(socket) => {
            let mut socket = socket.lock().await;
            for frame in frames {
                let _ = socket.feed(frame).await;
            }
            let _ = socket.flush().await;
        }
    }
}

/// Writes the queued messages of a connection until all senders are dropped.
async fn write_frames(mut socket: Socket, mut queued: mpsc::Receiver<Message>) {
    while let Some(first) = queued.recv().await {
        let mut next = Some(first);
        while let Some(frame) = next {
            // Messages to a disconnected client are dropped.
            let _ = socket.feed(frame).await;
            next = queued.try_recv().ok();
        }
        let _ = socket.flush().await;
    }
}
