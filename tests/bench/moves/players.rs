//! The load: pairs of connections that play one scripted game after the other.
//!
//! The first of a pair creates a match and the second joins it; then each sends its move as soon
//! as it has seen the other's. Whatever they are told is checked against the script, and anything
//! that does not fit ends the benchmark.
//!
//! With a pace, each pair has a time of its own for every move, and a match that has ended is followed by
//! the next at once. All matches last equally long, so within one period all of them end and begin.

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

use crate::Server;
use crate::script::Script;

/// What a client takes from its socket at a time; the library's default is mostly air.
const READ_BUFFER_BYTES: usize = 4 * 1024;

/// How long a match may take to its end; it is a matter of milliseconds.
const FINISH_TIMEOUT: Duration = Duration::from_secs(5);

/// Everybody who plays against one server.
#[derive(Debug)]
pub(crate) struct Load {
    pairs: JoinSet<anyhow::Result<()>>,
    counters: Arc<Counters>,
}

/// What has been played and told so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Moves whose event both have and whose `ok` the mover has.
    pub(crate) moves: u64,
    /// Matches played to their end.
    pub(crate) matches: u64,
    /// Messages that the server has sent.
    pub(crate) frames: u64,
    /// The bytes of their texts.
    pub(crate) bytes: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    moves: AtomicU64,
    matches: AtomicU64,
    frames: AtomicU64,
    bytes: AtomicU64,
    /// Nobody begins another match.
    is_over: AtomicBool,
    /// How long each move took to its opponent, since they were taken last.
    waits: Mutex<Vec<Duration>>,
}

/// Two connections that play each other.
pub(crate) struct Pair {
    players: [Player; 2],
    /// Who creates their matches, if neither of them does.
    creator: Option<Player>,
    script: Arc<Script>,
    counters: Arc<Counters>,
    pace: Option<Interval>,
    /// The clock of the matches that are created, as the protocol writes it.
    clock: String,
}

/// One connection.
pub(crate) struct Player {
    socket: WebSocketStream<TcpStream>,
    requests: u64,
    counters: Arc<Counters>,
}

/// What is looked at of a message of the server.
#[derive(Debug, Deserialize)]
struct Told<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
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
    /// Connects everybody and lets them play: so many moves a second in all, or as fast as they can.
    pub(crate) async fn start(
        address: SocketAddr,
        matches: usize,
        server: Server,
        script: &Arc<Script>,
        rate: Option<f64>,
    ) -> anyhow::Result<Self> {
        let counters = Arc::new(Counters::default());
        // All before the first plays: who connects to a busy server waits at every step.
        let mut connected = Vec::new();
        for _ in 0..matches {
            connected.push(Pair::connect(address, server, script, &counters).await?);
        }
        Ok(Self::begin(connected, counters, rate))
    }

    /// Connects everybody to the first of two servers and lets them play matches that are created on the
    /// second.
    pub(crate) async fn start_apart(
        (address, creating): (SocketAddr, SocketAddr),
        matches: usize,
        script: &Arc<Script>,
        rate: f64,
    ) -> anyhow::Result<Self> {
        let counters = Arc::new(Counters::default());
        let mut connected = Vec::new();
        for _ in 0..matches {
            let mut pair = Pair::connect(address, Server::Real, script, &counters).await?;
            // What the creator is told does not count, and is not read.
            let aside = Arc::default();
            pair.creator = Some(Player::connect(creating, Server::Real, &aside).await?);
            connected.push(pair);
        }
        Ok(Self::begin(connected, counters, Some(rate)))
    }

    fn begin(connected: Vec<Pair>, counters: Arc<Counters>, rate: Option<f64>) -> Self {
        let matches = connected.len();
        let period = rate.map(|rate| Duration::from_secs_f64(matches as f64 / rate));
        let mut pairs = JoinSet::new();
        for (number, mut pair) in connected.into_iter().enumerate() {
            if let Some(period) = period {
                // One pair after the other, evenly.
                let after = period.mul_f64(number as f64 / matches as f64);
                pair.pace(Instant::now() + after, period);
            }
            pairs.spawn(pair.play());
        }
        Self { pairs, counters }
    }

    /// Waits while they play; an error if somebody stopped.
    pub(crate) async fn run_until(&mut self, end: impl Future<Output = ()>) -> anyhow::Result<()> {
        tokio::select! {
            () = end => Ok(()),
            Some(stopped) = self.pairs.join_next() => {
                stopped.context("a pair panicked")?.context("a pair failed")?;
                bail!("a pair stopped playing")
            }
        }
    }

    /// Lets everybody play to the end of their match: whoever was forgotten by the server in the
    /// middle of one shows here.
    pub(crate) async fn finish(mut self) -> anyhow::Result<()> {
        self.counters.is_over.store(true, Ordering::Relaxed);
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
            .context("a pair waits in vain")?
    }

    /// How long the moves took that were played since this was asked last, the shortest first.
    pub(crate) fn take_waits(&self) -> Vec<Duration> {
        let mut waits = std::mem::take(&mut *self.counters.waits.lock());
        waits.sort_unstable();
        waits
    }

    /// What has been played and told so far.
    pub(crate) fn tally(&self) -> Tally {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Tally {
            moves: read(&self.counters.moves),
            matches: read(&self.counters.matches),
            frames: read(&self.counters.frames),
            bytes: read(&self.counters.bytes),
        }
    }
}

impl Sub for Tally {
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

/// Fischer's clock, as the protocol writes it.
fn fischer_clock(main: Duration, increment: Duration) -> String {
    let (main, increment) = (main.as_millis(), increment.as_millis());
    format!(r#"{{"kind":"fischer","main_ms":{main},"increment_ms":{increment}}}"#)
}

impl Pair {
    /// Two players who have not met.
    pub(crate) async fn connect(
        address: SocketAddr,
        server: Server,
        script: &Arc<Script>,
        counters: &Arc<Counters>,
    ) -> anyhow::Result<Self> {
        let first = Player::connect(address, server, counters).await?;
        let second = Player::connect(address, server, counters).await?;
        Ok(Self {
            players: [first, second],
            creator: None,
            script: Arc::clone(script),
            counters: Arc::clone(counters),
            pace: None,
            clock: match server {
                Server::Timed => fischer_clock(Duration::from_mins(5), Duration::from_secs(3)),
                Server::Real | Server::Other | Server::Floor(_) => "null".to_owned(),
            },
        })
    }

    /// Creates the matches that come by a clock that runs out after so long.
    pub(crate) fn clock_runs_out_after(&mut self, main: Duration) {
        self.clock = fischer_clock(main, Duration::ZERO);
    }

    /// Has them play a move in each such period, and no faster.
    pub(crate) fn pace(&mut self, first: Instant, period: Duration) {
        self.pace = Some(interval_at(first, period));
    }

    /// Waits until the next move is due, and tells from when on its wait counts: from when it was due, if
    /// the server has kept its player from being in time. Else moves that a slow one holds up would count
    /// as fast (coordinated omission).
    async fn due(&mut self) -> Instant {
        let ready = Instant::now();
        match &mut self.pace {
            Some(pace) if !self.counters.is_over.load(Ordering::Relaxed) => {
                let due = pace.tick().await;
                if due < ready { due } else { Instant::now() }
            }
            Some(_) | None => ready,
        }
    }

    async fn play(mut self) -> anyhow::Result<()> {
        self.due().await;
        while !self.counters.is_over.load(Ordering::Relaxed) {
            let id = self.create().await?;
            self.join(&id).await?;
            self.play_match(&id).await?;
        }
        Ok(())
    }

    /// Plays a match in which both sit, to its end.
    pub(crate) async fn play_match(&mut self, id: &str) -> anyhow::Result<()> {
        let script = Arc::clone(&self.script);
        let plies = &script.plies;
        let mut seq = None;
        let mut sent_at = self.due().await;
        let mut request = self.players[0].send_move(id, 0, plies[0].m).await?;
        for ply in 0..plies.len() {
            let (mover, other) = (ply % 2, (ply + 1) % 2);
            let seen_by_other = self.players[other].moved(&script, id, ply).await?;
            self.counters.waits.lock().push(sent_at.elapsed());
            ensure!(
                seq.is_none_or(|seq| seen_by_other == seq + 1),
                "event {seen_by_other} after {seq:?}"
            );
            seq = Some(seen_by_other);
            // The answer to a move does not wait until its mover has read what it was told.
            let mut reply = 0;
            if let Some(next) = plies.get(ply + 1) {
                sent_at = self.due().await;
                reply = self.players[other].send_move(id, ply + 1, next.m).await?;
            }
            let mover = &mut self.players[mover];
            let seen_by_mover = mover.moved(&script, id, ply).await?;
            ensure!(seen_by_mover == seen_by_other, "two numbers for one event");
            mover.ok(request, seen_by_mover).await?;
            self.counters.moves.fetch_add(1, Ordering::Relaxed);
            request = reply;
        }
        self.counters.matches.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Opens a match, and gives its id.
    pub(crate) async fn create(&mut self) -> anyhow::Result<String> {
        let ([first, _], clock) = (&mut self.players, &self.clock);
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
        creator.snapshot(request).await
    }

    /// Plays the first ply of each seat, which are free. Gives when the first turn began that is not.
    pub(crate) async fn play_free_plies(&mut self, id: &str) -> anyhow::Result<Instant> {
        let script = Arc::clone(&self.script);
        for ply in 0..2 {
            let m = script.plies[ply].m;
            let request = self.players[ply].send_move(id, ply, m).await?;
            let seq = self.players[ply].moved(&script, id, ply).await?;
            self.players[ply].ok(request, seq).await?;
            self.players[1 - ply].moved(&script, id, ply).await?;
        }
        Ok(Instant::now())
    }

    /// The two, each for itself.
    pub(crate) fn into_players(self) -> [Player; 2] {
        self.players
    }

    /// Fills it.
    pub(crate) async fn join(&mut self, id: &str) -> anyhow::Result<()> {
        let seated = usize::from(self.creator.is_none());
        for player in &mut self.players[seated..] {
            let request = player
                .send(|n| format!(r#"{{"type":"join","id":{n},"match":"{id}"}}"#))
                .await?;
            let joined = player.snapshot(request).await?;
            ensure!(joined == id, "joined another match");
        }
        match &mut self.creator {
            Some(creator) => creator.leave(id).await,
            None => Ok(()),
        }
    }
}

impl Player {
    pub(crate) async fn connect(
        address: SocketAddr,
        server: Server,
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
            requests: 0,
            counters: Arc::clone(counters),
        };
        if matches!(server, Server::Real | Server::Other | Server::Timed) {
            let hello = |id| format!(r#"{{"type":"hello","id":{id}}}"#);
            let request = player.send(hello).await?;
            let is_answer = |told: &Told<'_>| Ok(told.re == Some(request));
            ensure!(player.receive("welcome", is_answer).await?, "not welcome");
        }
        Ok(player)
    }

    /// Sends a request and gives its number.
    async fn send(&mut self, request: impl FnOnce(u64) -> String) -> anyhow::Result<u64> {
        self.requests += 1;
        let text = request(self.requests);
        self.socket.send(Message::text(text)).await?;
        Ok(self.requests)
    }

    async fn send_move(&mut self, id: &str, ply: usize, m: &str) -> anyhow::Result<u64> {
        self.send(|n| {
            format!(r#"{{"type":"move","id":{n},"match":"{id}","ply":{ply},"move":"{m}"}}"#)
        })
        .await
    }

    /// Waits for a message of this kind. What else is told of a match is left alone; an error, or
    /// anything that is not in the protocol's section on events, is none of it.
    async fn receive<T>(
        &mut self,
        kind: &str,
        read: impl FnOnce(&Told<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        loop {
            let message = self.socket.next().await.context("the server hung up")??;
            let text = match message {
                Message::Text(text) => text,
                // By a clock it is measured how far away a player is.
                Message::Ping(_) => continue,
                other => bail!("not a text: {other}"),
            };
            self.counters.frames.fetch_add(1, Ordering::Relaxed);
            self.counters
                .bytes
                .fetch_add(text.len() as u64, Ordering::Relaxed);
            let told: Told<'_> = serde_json::from_str(&text).with_context(|| text.to_string())?;
            if told.kind == kind {
                return read(&told).with_context(|| text.to_string());
            }
            let aside = ["seated", "started", "ended", "presence", "rematch"];
            let is_aside = aside.contains(&told.kind);
            ensure!(is_aside, "waiting for {kind}: {text}");
        }
    }

    /// Waits for the answer that shows a match, and gives its id.
    async fn snapshot(&mut self, request: u64) -> anyhow::Result<String> {
        self.receive("match", |told| {
            ensure!(told.re == Some(request), "not the answer to {request}");
            told.match_id.map(str::to_owned).context("no id")
        })
        .await
    }

    /// Watches a match.
    pub(crate) async fn watch(&mut self, id: &str) -> anyhow::Result<()> {
        let request = self
            .send(|n| format!(r#"{{"type":"watch","id":{n},"match":"{id}"}}"#))
            .await?;
        let watched = self.snapshot(request).await?;
        ensure!(watched == id, "watches another match");
        Ok(())
    }

    /// Stops following a match.
    async fn leave(&mut self, id: &str) -> anyhow::Result<()> {
        let request = self
            .send(|n| format!(r#"{{"type":"leave","id":{n},"match":"{id}"}}"#))
            .await?;
        let is_answer = |told: &Told<'_>| Ok(told.re == Some(request));
        ensure!(self.receive("ok", is_answer).await?, "not left");
        Ok(())
    }

    /// Waits for the event of a ply, and gives its number.
    pub(crate) async fn moved(
        &mut self,
        script: &Script,
        id: &str,
        ply: usize,
    ) -> anyhow::Result<u64> {
        self.receive("moved", |told| {
            let expected = &script.plies[ply];
            ensure!(told.match_id == Some(id), "not of match {id}");
            ensure!(told.ply == Some(ply as u64), "not of ply {ply}");
            ensure!(told.seat == Some(ply as u64 % 2), "not of its seat");
            ensure!(told.m == Some(expected.m), "not {}", expected.m);
            ensure!(
                told.position == Some(&expected.position),
                "not {}",
                expected.position
            );
            ensure!(
                told.turn == expected.turn,
                "not {:?} to move",
                expected.turn
            );
            let legal = told.legal.as_ref().map(Vec::len);
            ensure!(
                legal == Some(expected.legal),
                "not {} moves",
                expected.legal
            );
            told.seq.context("no number")
        })
        .await
    }

    /// Waits for the end of any match, and gives its id.
    pub(crate) async fn ended(&mut self) -> anyhow::Result<String> {
        self.receive("ended", |told| {
            told.match_id.map(str::to_owned).context("no id")
        })
        .await
    }

    /// Waits for the answer to a move.
    async fn ok(&mut self, request: u64, seq: u64) -> anyhow::Result<()> {
        self.receive("ok", |told| {
            ensure!(told.re == Some(request), "not the answer to {request}");
            ensure!(told.seq == Some(seq), "not of event {seq}");
            Ok(())
        })
        .await
    }
}
