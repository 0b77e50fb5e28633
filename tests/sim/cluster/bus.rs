//! Simulated bus that loses, delays, duplicates and reorders messages. Servers can be disconnected
//! from it.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use plyhouse_bus::{Bus, Incoming, Listener, RequestError, Responder};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use uuid::Uuid;

use super::event_queue::EventQueue;
use super::fault_plan::BusPlan;
use crate::rng::SimRng;

/// Number of messages that fit into a server's inbox. A frozen server loses further messages.
const INBOX_CAPACITY: usize = 4096;

/// Hub that connects the servers of a world. Clones share their state.
#[derive(Clone, Debug)]
pub(super) struct BusHub {
    queue: EventQueue,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    rng: SimRng,
    plan: BusPlan,
    is_past_faults: bool,
    endpoints: BTreeMap<Uuid, Endpoint>,
    /// Arrival time of the latest message between two servers, keyed by sender and receiver.
    last_arrivals: BTreeMap<(Uuid, Uuid), Duration>,
}

/// Connection of a server to the hub.
#[derive(Debug)]
struct Endpoint {
    inbox: mpsc::Sender<Incoming>,
    /// Whether the server is connected to the bus. All servers can detect a disconnection.
    is_up: bool,
    /// Whether the hub silently drops all messages from and to the server.
    is_partitioned: bool,
}

#[derive(Clone, Debug)]
enum Envelope {
    Message(Vec<u8>),
    Request(Vec<u8>, ReplySender),
}

/// Reply channel of a request. Only the first reply is delivered.
#[derive(Clone, Debug)]
struct ReplySender(Arc<Mutex<Option<oneshot::Sender<ReplyResult>>>>);

type ReplyResult = Result<Vec<u8>, RequestError>;

/// Bus client of one server.
#[derive(Debug)]
pub(super) struct SimBus {
    hub: BusHub,
    node_id: Uuid,
}

impl State {
    fn is_reachable(&self, node_id: Uuid) -> bool {
        let endpoint = self.endpoints.get(&node_id);
        endpoint.is_some_and(|end| end.is_up && !end.is_partitioned)
    }

    fn random_latency(&mut self) -> Duration {
        Duration::from_micros(self.rng.between(self.plan.latency_us.clone()))
    }

    /// Returns the arrival times of a message that is sent now. A lost message has no arrival time,
    /// and a duplicated message has two.
    fn arrival_times(&mut self, from: Uuid, to: Uuid, now: Duration) -> Vec<Duration> {
        let (lost, doubled) = (self.plan.loss_percent, self.plan.duplicate_percent);
        let is_dropped = self.rng.chance(lost) && !self.is_past_faults;
        let is_duplicated = self.rng.chance(doubled) && !self.is_past_faults;
        let count = if is_dropped {
            0
        } else {
            1 + u8::from(is_duplicated)
        };
        let mut arrivals = Vec::new();
        for _ in 0..count {
            let mut at = now + self.random_latency();
            if !self.plan.can_reorder || self.is_past_faults {
                let last = self.last_arrivals.entry((from, to)).or_default();
                at = at.max(*last);
                *last = at;
            }
            arrivals.push(at);
        }
        arrivals
    }
}

impl BusHub {
    pub(super) fn new(queue: EventQueue, plan: BusPlan, rng: SimRng) -> Self {
        let state = State {
            rng,
            plan,
            is_past_faults: false,
            endpoints: BTreeMap::new(),
            last_arrivals: BTreeMap::new(),
        };
        Self {
            queue,
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Connects a server to the hub.
    pub(super) fn add_node(&self, node_id: Uuid) -> (SimBus, Listener) {
        let (inbox, listener) = mpsc::channel(INBOX_CAPACITY);
        let endpoint = Endpoint {
            inbox,
            is_up: true,
            is_partitioned: false,
        };
        self.state.lock().endpoints.insert(node_id, endpoint);
        let hub = self.clone();
        (SimBus { hub, node_id }, listener)
    }

    /// Removes a server from the hub.
    pub(super) fn remove_node(&self, node_id: Uuid) {
        self.state.lock().endpoints.remove(&node_id);
    }

    /// Stops losing, duplicating and reordering messages. Disconnections and partitions remain.
    pub(super) fn stop_faults(&self) {
        self.state.lock().is_past_faults = true;
    }

    /// Disconnects or reconnects a server. All servers can detect a disconnection. A reconnected
    /// server receives `Gap`, because it may have missed messages.
    pub(super) fn set_connected(&self, node_id: Uuid, is_up: bool) {
        if let Some(end) = self.state.lock().endpoints.get_mut(&node_id) {
            end.is_up = is_up;
            if is_up {
                // A server with a full inbox does not receive the gap notification.
                let _ = end.inbox.try_send(Incoming::Gap);
            }
        }
    }

    /// Starts or ends a partition of a server. No server can detect a partition.
    pub(super) fn set_partitioned(&self, node_id: Uuid, is_partitioned: bool) {
        if let Some(end) = self.state.lock().endpoints.get_mut(&node_id) {
            end.is_partitioned = is_partitioned;
        }
    }

    fn is_up(&self, node_id: Uuid) -> bool {
        let state = self.state.lock();
        state.endpoints.get(&node_id).is_some_and(|end| end.is_up)
    }

    fn transmit(&self, from: Uuid, to: Uuid, envelope: &Envelope) {
        let now = self.queue.now();
        let arrivals = {
            let mut state = self.state.lock();
            if !state.is_reachable(from) {
                return;
            }
            state.arrival_times(from, to, now)
        };
        for at in arrivals {
            let (hub, letter) = (self.clone(), envelope.clone());
            self.queue.schedule(at, move || hub.deliver(to, letter));
        }
    }

    fn deliver(&self, to: Uuid, envelope: Envelope) {
        let incoming = match envelope {
            Envelope::Message(message) => Incoming::Message(message),
            Envelope::Request(request, reply_sender) => {
                let hub = self.clone();
                let answer = move |answer| hub.send_reply(to, reply_sender, answer);
                Incoming::Request(request, Responder::new(answer))
            }
        };
        let state = self.state.lock();
        if state.is_reachable(to)
            && let Some(end) = state.endpoints.get(&to)
        {
            // A message that does not fit into the inbox is lost, as on a real bus.
            let _ = end.inbox.try_send(incoming);
        }
    }

    /// Schedules the delivery of a reply, unless it is lost.
    fn send_reply(&self, from: Uuid, reply_sender: ReplySender, answer: Vec<u8>) {
        let at = {
            let mut state = self.state.lock();
            let lost = state.plan.loss_percent;
            let is_dropped = state.rng.chance(lost) && !state.is_past_faults;
            if is_dropped || !state.is_reachable(from) {
                return;
            }
            self.queue.now() + state.random_latency()
        };
        self.queue
            .schedule(at, move || reply_sender.send(Ok(answer)));
    }
}

impl ReplySender {
    fn send(&self, result: ReplyResult) {
        if let Some(sender) = self.0.lock().take() {
            // Sending fails if the requester has stopped waiting, which is not an error.
            let _ = sender.send(result);
        }
    }
}

impl Bus for SimBus {
    fn send(&self, to: Uuid, message: Vec<u8>) {
        self.hub
            .transmit(self.node_id, to, &Envelope::Message(message));
    }

    fn send_all(&self, message: Vec<u8>) {
        let others: Vec<Uuid> = self.hub.state.lock().endpoints.keys().copied().collect();
        for other in others.into_iter().filter(|other| *other != self.node_id) {
            self.send(other, message.clone());
        }
    }

    fn request(
        &self,
        to: Uuid,
        request: Vec<u8>,
        within: Duration,
    ) -> BoxFuture<'static, Result<Vec<u8>, RequestError>> {
        if !self.is_up() {
            return std::future::ready(Err(RequestError::Disconnected)).boxed();
        }
        let (sender, receiver) = oneshot::channel();
        let reply_sender = ReplySender(Arc::new(Mutex::new(Some(sender))));
        if self.hub.is_up(to) {
            self.hub
                .transmit(self.node_id, to, &Envelope::Request(request, reply_sender));
        } else {
            let at = self.hub.queue.now() + self.hub.state.lock().random_latency();
            let send_no_receiver = move || reply_sender.send(Err(RequestError::NoReceiver));
            self.hub.queue.schedule(at, send_no_receiver);
        }
        let reply = async move {
            match receiver.await {
                Ok(result) => result,
                // The request or its reply was lost. The requester detects the loss only by its
                // timeout.
                Err(_) => pending().await,
            }
        };
        let reply = timeout(within, reply);
        reply
            .map(|answered| answered.unwrap_or(Err(RequestError::Timeout)))
            .boxed()
    }

    fn is_up(&self) -> bool {
        self.hub.is_up(self.node_id)
    }

    fn close(&self) {
        self.hub.remove_node(self.node_id);
    }
}
