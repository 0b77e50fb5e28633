//! Load generator: pairs of connections that play one scripted game after another.
//!
//! The first client of a pair creates a match and the second joins it. Each client then moves as
//! soon as it has received the opponent's move. The clients check all received messages against the
//! script, and a mismatch aborts the benchmark.
//!
//! If a rate is set, each pair makes one move per period. The period has the same length for all
//! pairs, and each pair moves at its own offset within it. A pair starts its next match directly
//! after the previous one. All matches have the same number of plies, so all pairs end and restart
//! their matches within the same period.

use std::future::Future;
use std::net::SocketAddr;
use std::ops::Sub;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use futures::{SinkExt, StreamExt};
use parking_lot::Mutex;
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, Interval, interval_at, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

use crate::ServerKind;
use crate::game_script::GameScript;

/// Size of a client's read buffer in bytes. The library's default is much larger than needed.
const READ_BUFFER_BYTES: usize = 4 * 1024;

/// Time limit for finishing the running matches, which normally takes milliseconds.
const FINISH_TIMEOUT: Duration = Duration::from_secs(5);

/// All clients that play on one server.
#[derive(Debug)]
pub(crate) struct Load {
    pairs: JoinSet<anyhow::Result<()>>,
    counters: Arc<Counters>,
}

/// Counts of moves and messages so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LoadCounts {
    /// Number of completed moves. A move is complete when both players have received its event and
    /// the mover has received its `ok`.
    pub(crate) moves: u64,
    /// Number of matches played to the end.
    pub(crate) matches: u64,
    /// Number of text messages received from the server.
    pub(crate) frames: u64,
    /// Total size of the received text messages, in bytes.
    pub(crate) bytes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    moves: AtomicU64,
    matches: AtomicU64,
    frames: AtomicU64,
    bytes: AtomicU64,
    /// Whether each pair of players must stop before its next match.
    is_stopping: AtomicBool,
    /// Latencies of the moves that were played since the last call of [`Load::take_latencies`].
    latencies: Mutex<Vec<Duration>>,
}

/// Two clients that play each other.
pub(crate) struct PlayerPair {
    clients: [LoadClient; 2],
    /// Client that creates the matches, or `None` if the first player creates them.
    creator: Option<LoadClient>,
    script: Arc<GameScript>,
    counters: Arc<Counters>,
    move_timer: Option<Interval>,
    /// Clock settings of new matches, as JSON.
    clock_json: String,
}

/// One WebSocket connection to the server.
pub(crate) struct LoadClient {
    socket: WebSocketStream<TcpStream>,
    request_count: u64,
    counters: Arc<Counters>,
}

/// Fields of a server message that the load generator reads.
#[derive(Debug, Deserialize)]
struct ServerMessage<'a> {
    #[serde(rename = "type")]
    message_type: &'a str,
    re: Option<u64>,
    #[serde(rename = "match")]
    match_id: Option<&'a str>,
    seq: Option<u64>,
    ply: Option<u64>,
    seat: Option<u64>,
    #[serde(rename = "move")]
    m: Option<&'a str>,
    position: Option<&'a str>,
    turn: Option<u64>,
    legal: Option<Vec<&'a str>>,
}

impl Load {
    /// Connects all pairs and lets them play. If `rate` is set, all pairs together play `rate`
    /// moves per second. Otherwise, they play as fast as possible.
    pub(crate) async fn start(
        address: SocketAddr,
        matches: usize,
        server: ServerKind,
        script: &Arc<GameScript>,
        rate: Option<f64>,
    ) -> anyhow::Result<Self> {
        let counters = Arc::new(Counters::default());
        // All pairs connect before any of them plays, because connecting to a busy server is slow.
        let mut connected = Vec::new();
        for _ in 0..matches {
            connected.push(PlayerPair::connect(address, server, script, &counters).await?);
        }
        Ok(Self::spawn_pairs(connected, counters, rate))
    }

    /// Connects all pairs to the first of two servers and lets them play matches that are created
    /// on the second server.
    pub(crate) async fn start_relayed(
        (address, creating_address): (SocketAddr, SocketAddr),
        matches: usize,
        script: &Arc<GameScript>,
        rate: f64,
    ) -> anyhow::Result<Self> {
        let counters = Arc::new(Counters::default());
        let mut connected = Vec::new();
        for _ in 0..matches {
            let mut pair =
                PlayerPair::connect(address, ServerKind::Real, script, &counters).await?;
            // Messages to the client that creates the matches are not included in the load counts.
            let ignored_counters = Arc::default();
            pair.creator = Some(
                LoadClient::connect(creating_address, ServerKind::Real, &ignored_counters).await?,
            );
            connected.push(pair);
        }
        Ok(Self::spawn_pairs(connected, counters, Some(rate)))
    }

    fn spawn_pairs(connected: Vec<PlayerPair>, counters: Arc<Counters>, rate: Option<f64>) -> Self {
        let matches = connected.len();
        let period = rate.map(|rate| Duration::from_secs_f64(matches as f64 / rate));
        let mut pairs = JoinSet::new();
        for (number, mut pair) in connected.into_iter().enumerate() {
            if let Some(period) = period {
                // The first moves of the pairs are spread evenly over one period.
                let after = period.mul_f64(number as f64 / matches as f64);
                pair.set_pace(Instant::now() + after, period);
            }
            pairs.spawn(pair.play_matches());
        }
        Self { pairs, counters }
    }

    /// Lets the pairs play until the future `end` completes. Returns an error if a pair stops
    /// earlier.
    pub(crate) async fn run_until(&mut self, end: impl Future<Output = ()>) -> anyhow::Result<()> {
        tokio::select! {
            () = end => Ok(()),
            Some(stopped) = self.pairs.join_next() => {
                stopped.context("a pair panicked")?.context("a pair failed")?;
                bail!("a pair stopped playing")
            }
        }
    }

    /// Lets all pairs finish their matches. Returns an error if a match does not end in time, for
    /// example because the server has lost it.
    pub(crate) async fn finish(mut self) -> anyhow::Result<()> {
        self.counters.is_stopping.store(true, Ordering::Relaxed);
        let finish = async {
            while let Some(finished) = self.pairs.join_next().await {
                finished
                    .context("a pair panicked")?
                    .context("a pair failed")?;
            }
            Ok(())
        };
        timeout(FINISH_TIMEOUT, finish)
            .await
            .context("a pair did not finish in time")?
    }

    /// Returns the latencies of the moves since the last call, in ascending order.
    pub(crate) fn take_latencies(&self) -> Vec<Duration> {
        let mut latencies = std::mem::take(&mut *self.counters.latencies.lock());
        latencies.sort_unstable();
        latencies
    }

    /// Returns the counts of moves and messages so far.
    pub(crate) fn counts(&self) -> LoadCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        LoadCounts {
            moves: read(&self.counters.moves),
            matches: read(&self.counters.matches),
            frames: read(&self.counters.frames),
            bytes: read(&self.counters.bytes),
        }
    }
}

impl Sub for LoadCounts {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            moves: self.moves - before.moves,
            matches: self.matches - before.matches,
            frames: self.frames - before.frames,
            bytes: self.bytes - before.bytes,
        }
    }
}

/// Returns the settings of a Fischer clock as JSON.
fn fischer_clock_json(main: Duration, increment: Duration) -> String {
    let (main, increment) = (main.as_millis(), increment.as_millis());
    format!(r#"{{"kind":"fischer","main_ms":{main},"increment_ms":{increment}}}"#)
}

impl PlayerPair {
    /// Connects two players.
    pub(crate) async fn connect(
        address: SocketAddr,
        server: ServerKind,
        script: &Arc<GameScript>,
        counters: &Arc<Counters>,
    ) -> anyhow::Result<Self> {
        let first = LoadClient::connect(address, server, counters).await?;
        let second = LoadClient::connect(address, server, counters).await?;
        Ok(Self {
            clients: [first, second],
            creator: None,
            script: Arc::clone(script),
            counters: Arc::clone(counters),
            move_timer: None,
            clock_json: match server {
                ServerKind::WithClock => {
                    fischer_clock_json(Duration::from_mins(5), Duration::from_secs(3))
                }
                ServerKind::Real | ServerKind::Baseline | ServerKind::Floor(_) => "null".to_owned(),
            },
        })
    }

    /// Sets the clock of new matches to `main` without an increment.
    pub(crate) fn set_clock_time(&mut self, main: Duration) {
        self.clock_json = fischer_clock_json(main, Duration::ZERO);
    }

    /// Sets the pace of the pair to one move per `period`. The first move is due at the time
    /// `first`.
    pub(crate) fn set_pace(&mut self, first: Instant, period: Duration) {
        self.move_timer = Some(interval_at(first, period));
    }

    /// Waits until the next move is due. Returns the start time for the latency measurement of the
    /// move. If slow answers delayed the player, the start time is the time when the move was due.
    /// Measuring from a later time would hide the delay that an earlier slow move caused
    /// (coordinated omission).
    async fn next_move_time(&mut self) -> Instant {
        let ready = Instant::now();
        match &mut self.move_timer {
            Some(pace) if !self.counters.is_stopping.load(Ordering::Relaxed) => {
                let deadline = pace.tick().await;
                if deadline < ready {
                    deadline
                } else {
                    Instant::now()
                }
            }
            Some(_) | None => ready,
        }
    }

    async fn play_matches(mut self) -> anyhow::Result<()> {
        self.next_move_time().await;
        while !self.counters.is_stopping.load(Ordering::Relaxed) {
            let id = self.create().await?;
            self.join(&id).await?;
            self.play_match(&id).await?;
        }
        Ok(())
    }

    /// Plays a match from its first move to its end. Both players have already joined it.
    pub(crate) async fn play_match(&mut self, id: &str) -> anyhow::Result<()> {
        let script = Arc::clone(&self.script);
        let plies = &script.plies;
        let mut seq = None;
        let mut sent_at = self.next_move_time().await;
        let mut request = self.clients[0].send_move(id, 0, plies[0].m).await?;
        for ply in 0..plies.len() {
            let (mover, other) = (ply % 2, (ply + 1) % 2);
            let seen_by_other = self.clients[other].receive_moved(&script, id, ply).await?;
            self.counters.latencies.lock().push(sent_at.elapsed());
            ensure!(
                seq.is_none_or(|seq| seen_by_other == seq + 1),
                "event {seen_by_other} follows event {seq:?}"
            );
            seq = Some(seen_by_other);
            // Sends the opponent's next move first, so that reading the mover's messages does not
            // delay it.
            let mut next_request = 0;
            if let Some(next) = plies.get(ply + 1) {
                sent_at = self.next_move_time().await;
                next_request = self.clients[other].send_move(id, ply + 1, next.m).await?;
            }
            let mover = &mut self.clients[mover];
            let seen_by_mover = mover.receive_moved(&script, id, ply).await?;
            ensure!(
                seen_by_mover == seen_by_other,
                "the players received different sequence numbers for one event"
            );
            mover.receive_ok(request, seen_by_mover).await?;
            self.counters.moves.fetch_add(1, Ordering::Relaxed);
            request = next_request;
        }
        self.counters.matches.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Creates a match and returns its id.
    pub(crate) async fn create(&mut self) -> anyhow::Result<String> {
        let ([first, _], clock) = (&mut self.clients, &self.clock_json);
        let (creator, seat) = match &mut self.creator {
            Some(creator) => (creator, "open"),
            None => (first, "me"),
        };
        let request = creator
            .send(|id| {
                format!(
                    r#"{{"type":"create","id":{id},"game":"tic-tac-toe","seats":["{seat}","open"],"clock":{clock}}}"#
                )
            })
            .await?;
        creator.receive_snapshot(request).await
    }

    /// Plays the first ply of each player, which uses no clock time. Returns the time when the
    /// third turn began.
    pub(crate) async fn play_free_plies(&mut self, id: &str) -> anyhow::Result<Instant> {
        let script = Arc::clone(&self.script);
        for ply in 0..2 {
            let m = script.plies[ply].m;
            let request = self.clients[ply].send_move(id, ply, m).await?;
            let seq = self.clients[ply].receive_moved(&script, id, ply).await?;
            self.clients[ply].receive_ok(request, seq).await?;
            self.clients[1 - ply]
                .receive_moved(&script, id, ply)
                .await?;
        }
        Ok(Instant::now())
    }

    /// Splits the pair into its two clients.
    pub(crate) fn into_clients(self) -> [LoadClient; 2] {
        self.clients
    }

    /// Lets the players of the pair take the open seats of a match.
    pub(crate) async fn join(&mut self, id: &str) -> anyhow::Result<()> {
        let first_joining = usize::from(self.creator.is_none());
        for player in &mut self.clients[first_joining..] {
            let request = player
                .send(|n| format!(r#"{{"type":"join","id":{n},"match":"{id}"}}"#))
                .await?;
            let joined = player.receive_snapshot(request).await?;
            ensure!(joined == id, "joined the wrong match");
        }
        match &mut self.creator {
            Some(creator) => creator.unwatch(id).await,
            None => Ok(()),
        }
    }
}

impl LoadClient {
    pub(crate) async fn connect(
        address: SocketAddr,
        server: ServerKind,
        counters: &Arc<Counters>,
    ) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)
            .await
            .context("cannot connect")?;
        stream.set_nodelay(true)?;
        let config = WebSocketConfig::default().read_buffer_size(READ_BUFFER_BYTES);
        let url = format!("ws://{address}/ws");
        let (socket, _) = client_async_with_config(url, stream, Some(config)).await?;
        let mut player = Self {
            socket,
            request_count: 0,
            counters: Arc::clone(counters),
        };
        if matches!(
            server,
            ServerKind::Real | ServerKind::Baseline | ServerKind::WithClock
        ) {
            let hello = |id| format!(r#"{{"type":"hello","id":{id}}}"#);
            let request = player.send(hello).await?;
            let is_answer = |message: &ServerMessage<'_>| Ok(message.re == Some(request));
            ensure!(
                player.receive("welcome", is_answer).await?,
                "unexpected reply to `hello`"
            );
        }
        Ok(player)
    }

    /// Sends a request and returns its id.
    async fn send(&mut self, request: impl FnOnce(u64) -> String) -> anyhow::Result<u64> {
        self.request_count += 1;
        let text = request(self.request_count);
        self.socket.send(Message::text(text)).await?;
        Ok(self.request_count)
    }

    async fn send_move(&mut self, id: &str, ply: usize, move_text: &str) -> anyhow::Result<u64> {
        self.send(|n| {
            format!(r#"{{"type":"move","id":{n},"match":"{id}","ply":{ply},"move":"{move_text}"}}"#)
        })
        .await
    }

    /// Waits for a message of type `kind`. Skips match messages that the load generator does not
    /// need, such as `presence`. A message of any other type is an error.
    async fn receive<T>(
        &mut self,
        kind: &str,
        read: impl FnOnce(&ServerMessage<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        loop {
            let message = self
                .socket
                .next()
                .await
                .context("the server closed the connection")??;
            let text = match message {
                Message::Text(text) => text,
                // The server pings clients in matches with a clock to measure the round-trip time.
                // The WebSocket library answers the pings, so the client skips them here.
                Message::Ping(_) => continue,
                other => bail!("not a text message: {other}"),
            };
            self.counters.frames.fetch_add(1, Ordering::Relaxed);
            self.counters
                .bytes
                .fetch_add(text.len() as u64, Ordering::Relaxed);
            let server_message: ServerMessage<'_> =
                serde_json::from_str(&text).with_context(|| text.to_string())?;
            if server_message.message_type == kind {
                return read(&server_message).with_context(|| text.to_string());
            }
            let ignored_types = ["seated", "started", "ended", "presence", "rematch"];
            let is_ignored = ignored_types.contains(&server_message.message_type);
            ensure!(is_ignored, "unexpected message instead of `{kind}`: {text}");
        }
    }

    /// Waits for the `match` reply to a request and returns the match id.
    async fn receive_snapshot(&mut self, request: u64) -> anyhow::Result<String> {
        self.receive("match", |message| {
            ensure!(
                message.re == Some(request),
                "not the reply to request {request}"
            );
            message.match_id.map(str::to_owned).context("no match id")
        })
        .await
    }

    /// Starts to watch a match.
    pub(crate) async fn watch(&mut self, id: &str) -> anyhow::Result<()> {
        let request = self
            .send(|n| format!(r#"{{"type":"watch","id":{n},"match":"{id}"}}"#))
            .await?;
        let watched = self.receive_snapshot(request).await?;
        ensure!(watched == id, "watched the wrong match");
        Ok(())
    }

    /// Stops watching a match.
    async fn unwatch(&mut self, id: &str) -> anyhow::Result<()> {
        let request = self
            .send(|n| format!(r#"{{"type":"leave","id":{n},"match":"{id}"}}"#))
            .await?;
        let is_answer = |message: &ServerMessage<'_>| Ok(message.re == Some(request));
        ensure!(
            self.receive("ok", is_answer).await?,
            "the server did not confirm `leave`"
        );
        Ok(())
    }

    /// Waits for the `moved` event of a ply, checks it and returns its sequence number.
    pub(crate) async fn receive_moved(
        &mut self,
        script: &GameScript,
        id: &str,
        ply: usize,
    ) -> anyhow::Result<u64> {
        self.receive("moved", |message| {
            let expected = &script.plies[ply];
            ensure!(message.match_id == Some(id), "not an event of match {id}");
            ensure!(message.ply == Some(ply as u64), "not ply {ply}");
            ensure!(message.seat == Some(ply as u64 % 2), "wrong seat");
            ensure!(message.m == Some(expected.m), "move is not {}", expected.m);
            ensure!(
                message.position == Some(&expected.position),
                "position is not {}",
                expected.position
            );
            ensure!(
                message.turn == expected.turn,
                "seat to move is not {:?}",
                expected.turn
            );
            let legal = message.legal.as_ref().map(Vec::len);
            ensure!(
                legal == Some(expected.legal_move_count),
                "number of legal moves is not {}",
                expected.legal_move_count
            );
            message.seq.context("no sequence number")
        })
        .await
    }

    /// Waits for the end of any match and returns its id.
    pub(crate) async fn receive_ended(&mut self) -> anyhow::Result<String> {
        self.receive("ended", |message| {
            message.match_id.map(str::to_owned).context("no match id")
        })
        .await
    }

    /// Waits for the `ok` reply to a move.
    async fn receive_ok(&mut self, request: u64, seq: u64) -> anyhow::Result<()> {
        self.receive("ok", |message| {
            ensure!(
                message.re == Some(request),
                "not the reply to request {request}"
            );
            ensure!(message.seq == Some(seq), "sequence number is not {seq}");
            Ok(())
        })
        .await
    }
}
