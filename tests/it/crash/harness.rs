//! State of a crash test that is kept across restarts of the server. It consists of the observed
//! history and the plan for the next kill.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use plyhouse_connection::Connection;
use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::time::timeout;

use super::observed_history::{HistoryCounts, ObservedHistory};

/// Maximum wait for a message, even on a busy machine. A longer wait means that a match hangs.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Kind of message that counts towards the kill. The server is killed after a given number of
/// messages of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KillTrigger {
    /// A client received a `welcome`.
    WelcomeReceived,
    /// A client sent a move and has not yet received the answer.
    MoveSent,
    /// A client received an answer to a request.
    AnswerReceived,
    /// A client received an event of a match.
    EventReceived,
}

/// A server process and its kill condition.
#[derive(Debug)]
pub(super) struct KillPlan {
    trigger: KillTrigger,
    remaining: Option<usize>,
    process: Child,
}

impl KillPlan {
    /// Plans to kill the server after `count` messages of the kind `trigger`, or immediately if
    /// `count` is 0.
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

/// Error that a client gets when its server is killed.
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
    /// Sets the current server process and the plan to kill it.
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

    /// Waits until the killed server has exited. Then saves the sequence numbers observed so far.
    /// The restarted server must know all events up to these numbers.
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

    /// Tells the players not to start any more matches.
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

    /// Runs a spectator that watches one random recent match after another and requests past
    /// events. The spectator never takes a seat.
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
            // The pings make the client wait, so that it also receives events of the match.
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

/// Connection that records every received message in the observed history.
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

    /// Sends a request and returns its id.
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

    /// Receives and records the next message. The message may come from a server that has since
    /// been killed.
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

    /// Sends a request and returns its answer. Messages that arrive before the answer are recorded
    /// but not returned.
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
    /// Asserts that the connection was lost because the server was killed.
    fn expect_killed(&self, error: &dyn std::error::Error) -> ServerKilled {
        assert!(
            self.is_killed.get(),
            "connection lost while the server is running: {error}"
        );
        ServerKilled
    }
}
