//! Everything that outlives a server: what was told, and when the server dies.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use plyhouse_connection::Connection;
use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::time::timeout;

use super::observed_history::{HistoryCounts, ObservedHistory};

/// How long anybody waits for a message, however busy the machine is: more is a match that hangs.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What is counted until a server dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KillTrigger {
    /// Somebody has come or come back.
    WelcomeReceived,
    /// A move was sent; its answer is not waited for.
    MoveSent,
    /// A request was answered.
    AnswerReceived,
    /// Somebody was told of an event.
    EventReceived,
}

/// When a server dies.
#[derive(Debug)]
pub(super) struct KillPlan {
    trigger: KillTrigger,
    remaining: Option<usize>,
    process: Child,
}

impl KillPlan {
    /// After so many of these; at once if none.
    pub(super) const fn new(trigger: KillTrigger, count: usize, process: Child) -> Self {
        Self {
            trigger,
            remaining: Some(count),
            process,
        }
    }

    pub(super) const fn never(process: Child) -> Self {
        Self {
            trigger: KillTrigger::EventReceived,
            remaining: None,
            process,
        }
    }
}

/// The server is gone.
#[derive(Debug)]
pub(super) struct ServerKilled;

#[derive(Debug, Default)]
pub(super) struct CrashHarness {
    pub(super) history: RefCell<ObservedHistory>,
    kill_plan: RefCell<Option<KillPlan>>,
    is_killed: Cell<bool>,
    is_closing: Cell<bool>,
}

impl CrashHarness {
    /// A server begins to live.
    pub(super) fn attach_server(&self, kill_plan: KillPlan) {
        let is_immediate = kill_plan.remaining == Some(0);
        self.is_killed.set(false);
        *self.kill_plan.borrow_mut() = Some(kill_plan);
        if is_immediate {
            self.kill_server();
        }
    }

    pub(super) fn kill_server(&self) {
        let mut kill_plan = self.kill_plan.borrow_mut();
        let process = &mut kill_plan.as_mut().expect("a server is running").process;
        process.start_kill().expect("the process is running");
        self.is_killed.set(true);
    }

    /// Waits for the end of the server. What was told until now must be known to the next.
    pub(super) async fn wait_for_exit(&self) {
        let kill_plan = self.kill_plan.take();
        let status = kill_plan.expect("a server is running").process.wait().await;
        let status = status.expect("the process exits");
        assert_eq!(
            status.code(),
            None,
            "the server exited instead of being killed: {status}"
        );
        self.history.borrow_mut().mark_server_killed();
    }

    /// Nobody begins a match any more.
    pub(super) fn stop_new_matches(&self) {
        self.is_closing.set(true);
    }

    pub(super) fn is_closing(&self) -> bool {
        self.is_closing.get()
    }

    pub(super) fn check_stored_matches(&self, exported: &str) -> HistoryCounts {
        self.history.borrow().check_stored_matches(exported)
    }

    fn count_trigger(&self, trigger: KillTrigger) {
        let is_reached = match &mut *self.kill_plan.borrow_mut() {
            Some(KillPlan {
                trigger: awaited,
                remaining: Some(left),
                ..
            }) if *awaited == trigger => {
                *left = left.saturating_sub(1);
                *left == 0 && !self.is_killed.get()
            }
            _ => false,
        };
        if is_reached {
            self.kill_server();
        }
    }

    /// Somebody who watches one match after the other, asks for what has been, and never sits down.
    pub(super) async fn run_spectator(
        &self,
        url: &str,
        mut rng: StdRng,
    ) -> Result<(), ServerKilled> {
        let mut connection = RecordedConnection::open(self, url).await?;
        loop {
            let id = self.history.borrow().random_recent_match(&mut rng);
            if let Some(id) = &id {
                let snapshot = connection
                    .request(json!({"type": "watch", "match": id}))
                    .await?;
                assert_eq!(snapshot["type"], "match", "{snapshot}");
                let since = rng.random_range(0..=snapshot["seq"].as_u64().expect("a number"));
                connection
                    .request(json!({"type": "resync", "match": id, "since": since}))
                    .await?;
            }
            // Whatever is told meanwhile is heard.
            for _ in 0..rng.random_range(1..20) {
                connection.request(json!({"type": "ping"})).await?;
            }
            if let Some(id) = id {
                connection
                    .request(json!({"type": "leave", "match": id}))
                    .await?;
            }
        }
    }
}

/// A connection of which everything that comes is written into the ledger.
pub(super) struct RecordedConnection<'a> {
    connection: Connection,
    pub(super) harness: &'a CrashHarness,
    last_request_id: u64,
}

impl<'a> RecordedConnection<'a> {
    pub(super) async fn open(harness: &'a CrashHarness, url: &str) -> Result<Self, ServerKilled> {
        match Connection::open(url).await {
            Ok(connection) => Ok(Self {
                connection,
                harness,
                last_request_id: 0,
            }),
            Err(error) => Err(harness.expect_killed(&error)),
        }
    }

    /// Sends a request, and gives its number.
    pub(super) async fn send(&mut self, mut request: Value) -> Result<u64, ServerKilled> {
        self.last_request_id += 1;
        request["id"] = self.last_request_id.into();
        let sent = self.connection.send_text(request.to_string()).await;
        sent.map_err(|error| self.harness.expect_killed(&error))?;
        if request["type"] == "move" {
            self.harness.count_trigger(KillTrigger::MoveSent);
        }
        Ok(self.last_request_id)
    }

    /// The next message. The server may be dead by then: what it has said still counts.
    pub(super) async fn receive(&mut self) -> Result<Value, ServerKilled> {
        let received = timeout(TIMEOUT, self.connection.receive_text()).await;
        let text = received.expect("no message in time");
        let text = text.map_err(|error| self.harness.expect_killed(&error))?;
        let message: Value = serde_json::from_str(&text).expect("JSON");
        self.harness.history.borrow_mut().record_message(&message);
        match message["type"].as_str() {
            Some("welcome") => self.harness.count_trigger(KillTrigger::WelcomeReceived),
            Some("seated" | "started" | "moved" | "ended") => {
                self.harness.count_trigger(KillTrigger::EventReceived)
            }
            _ if message["re"].is_u64() => self.harness.count_trigger(KillTrigger::AnswerReceived),
            _ => {}
        }
        Ok(message)
    }

    /// Asks, and gives the answer. For those who need not act on anything else.
    async fn request(&mut self, request: Value) -> Result<Value, ServerKilled> {
        let request_id = self.send(request).await?;
        loop {
            let message = self.receive().await?;
            if message["re"] == request_id {
                assert_ne!(message["type"], "error", "{message}");
                return Ok(message);
            }
        }
    }
}

impl CrashHarness {
    /// Nobody is cut off but by the server's death.
    fn expect_killed(&self, error: &dyn std::error::Error) -> ServerKilled {
        assert!(
            self.is_killed.get(),
            "connection lost while the server is running: {error}"
        );
        ServerKilled
    }
}
