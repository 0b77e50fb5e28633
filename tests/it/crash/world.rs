//! Everything that outlives a server: what was told, and when the server dies.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use plyhouse_connection::Connection;
use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::time::timeout;

use super::ledger::{Counts, Ledger};

/// How long anybody waits for a message, however busy the machine is: more is a match that hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is counted until a server dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Somebody has come or come back.
    Welcomed,
    /// A move was sent; its answer is not waited for.
    Sent,
    /// A request was answered.
    Answered,
    /// Somebody was told of an event.
    Told,
}

/// When a server dies.
#[derive(Debug)]
pub(super) struct Doom {
    kind: Kind,
    left: Option<usize>,
    process: Child,
}

impl Doom {
    /// After so many of these; at once if none.
    pub(super) const fn new(kind: Kind, count: usize, process: Child) -> Self {
        Self {
            kind,
            left: Some(count),
            process,
        }
    }

    pub(super) const fn never(process: Child) -> Self {
        Self {
            kind: Kind::Told,
            left: None,
            process,
        }
    }
}

/// The server is gone.
#[derive(Debug)]
pub(super) struct Gone;

#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) ledger: RefCell<Ledger>,
    doom: RefCell<Option<Doom>>,
    is_dead: Cell<bool>,
    is_closing: Cell<bool>,
}

impl World {
    /// A server begins to live.
    pub(super) fn begin(&self, doom: Doom) {
        let at_once = doom.left == Some(0);
        self.is_dead.set(false);
        *self.doom.borrow_mut() = Some(doom);
        if at_once {
            self.kill();
        }
    }

    pub(super) fn kill(&self) {
        let mut doom = self.doom.borrow_mut();
        let process = &mut doom.as_mut().expect("a server lives").process;
        process.start_kill().expect("it runs");
        self.is_dead.set(true);
    }

    /// Waits for the end of the server. What was told until now must be known to the next.
    pub(super) async fn end(&self) {
        let doom = self.doom.take();
        let status = doom.expect("a server lives").process.wait().await;
        let status = status.expect("waited for");
        assert_eq!(status.code(), None, "it was not killed but ended: {status}");
        self.ledger.borrow_mut().server_died();
    }

    /// Nobody begins a match any more.
    pub(super) fn close(&self) {
        self.is_closing.set(true);
    }

    pub(super) fn is_closing(&self) -> bool {
        self.is_closing.get()
    }

    pub(super) fn check(&self, exported: &str) -> Counts {
        self.ledger.borrow().check(exported)
    }

    fn note(&self, kind: Kind) {
        let is_time = match &mut *self.doom.borrow_mut() {
            Some(Doom {
                kind: counted,
                left: Some(left),
                ..
            }) if *counted == kind => {
                *left = left.saturating_sub(1);
                *left == 0 && !self.is_dead.get()
            }
            _ => false,
        };
        if is_time {
            self.kill();
        }
    }

    /// Somebody who watches one match after the other, asks for what has been, and never sits down.
    pub(super) async fn watch(&self, url: &str, mut rng: StdRng) -> Result<(), Gone> {
        let mut line = Line::open(self, url).await?;
        loop {
            let id = self.ledger.borrow().some_match(&mut rng);
            if let Some(id) = &id {
                let seen = line.ask(json!({"type": "watch", "match": id})).await?;
                assert_eq!(seen["type"], "match", "{seen}");
                let since = rng.random_range(0..=seen["seq"].as_u64().expect("a number"));
                line.ask(json!({"type": "resync", "match": id, "since": since}))
                    .await?;
            }
            // Whatever is told meanwhile is heard.
            for _ in 0..rng.random_range(1..20) {
                line.ask(json!({"type": "ping"})).await?;
            }
            if let Some(id) = id {
                line.ask(json!({"type": "leave", "match": id})).await?;
            }
        }
    }
}

/// A connection of which everything that comes is written into the ledger.
pub(super) struct Line<'a> {
    connection: Connection,
    pub(super) world: &'a World,
    last_request: u64,
}

impl<'a> Line<'a> {
    pub(super) async fn open(world: &'a World, url: &str) -> Result<Self, Gone> {
        match Connection::open(url).await {
            Ok(connection) => Ok(Self {
                connection,
                world,
                last_request: 0,
            }),
            Err(error) => Err(world.gone(&error)),
        }
    }

    /// Sends a request, and gives its number.
    pub(super) async fn send(&mut self, mut request: Value) -> Result<u64, Gone> {
        self.last_request += 1;
        request["id"] = self.last_request.into();
        let sent = self.connection.send_text(request.to_string()).await;
        sent.map_err(|error| self.world.gone(&error))?;
        if request["type"] == "move" {
            self.world.note(Kind::Sent);
        }
        Ok(self.last_request)
    }

    /// The next message. The server may be dead by then: what it has said still counts.
    pub(super) async fn receive(&mut self) -> Result<Value, Gone> {
        let received = timeout(PATIENCE, self.connection.receive_text()).await;
        let text = received.expect("somebody waits in vain");
        let text = text.map_err(|error| self.world.gone(&error))?;
        let message: Value = serde_json::from_str(&text).expect("JSON");
        self.world.ledger.borrow_mut().hear(&message);
        match message["type"].as_str() {
            Some("welcome") => self.world.note(Kind::Welcomed),
            Some("seated" | "started" | "moved" | "ended") => self.world.note(Kind::Told),
            _ if message["re"].is_u64() => self.world.note(Kind::Answered),
            _ => {}
        }
        Ok(message)
    }

    /// Asks, and gives the answer. For those who need not act on anything else.
    async fn ask(&mut self, request: Value) -> Result<Value, Gone> {
        let number = self.send(request).await?;
        loop {
            let message = self.receive().await?;
            if message["re"] == number {
                assert_ne!(message["type"], "error", "{message}");
                return Ok(message);
            }
        }
    }
}

impl World {
    /// Nobody is cut off but by the server's death.
    fn gone(&self, error: &dyn std::error::Error) -> Gone {
        assert!(self.is_dead.get(), "cut off by a living server: {error}");
        Gone
    }
}
