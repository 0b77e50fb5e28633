//! A bus that loses, delays, doubles and reorders what is sent, and from which a server may be cut off.

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

use super::ground::Way;
use super::plan::BusPlan;
use crate::rng::SimRng;

/// How many messages wait for a server: one that is frozen loses the others.
const WAITING_MAX: usize = 4096;

/// What joins the servers of a world. Clones are the same hub.
#[derive(Clone, Debug)]
pub(super) struct Hub {
    way: Way,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    dice: SimRng,
    plan: BusPlan,
    is_calm: bool,
    ends: BTreeMap<Uuid, End>,
    /// When the last message from one to another comes.
    last: BTreeMap<(Uuid, Uuid), Duration>,
}

/// How a server is joined to the others.
#[derive(Debug)]
struct End {
    heard: mpsc::Sender<Incoming>,
    /// Whether it is joined to them, as all know.
    is_up: bool,
    /// Nothing comes from it or to it, as nobody knows.
    is_deaf: bool,
}

/// What is sent.
#[derive(Clone, Debug)]
enum Letter {
    Message(Vec<u8>),
    Request(Vec<u8>, Asker),
}

/// Where an answer goes. The first one counts.
#[derive(Clone, Debug)]
struct Asker(Arc<Mutex<Option<oneshot::Sender<Answered>>>>);

type Answered = Result<Vec<u8>, RequestError>;

/// One server's end of the bus.
#[derive(Debug)]
pub(super) struct SimBus {
    hub: Hub,
    own: Uuid,
}

impl State {
    fn can_hear(&self, own: Uuid) -> bool {
        let end = self.ends.get(&own);
        end.is_some_and(|end| end.is_up && !end.is_deaf)
    }

    fn delay(&mut self) -> Duration {
        Duration::from_micros(self.dice.between(self.plan.latency_us.clone()))
    }

    /// When a message comes that is sent now: not at all, once or twice.
    fn arrivals(&mut self, from: Uuid, to: Uuid, now: Duration) -> Vec<Duration> {
        let (lost, doubled) = (self.plan.lost_percent, self.plan.doubled_percent);
        let is_lost = self.dice.chance(lost) && !self.is_calm;
        let is_doubled = self.dice.chance(doubled) && !self.is_calm;
        let count = if is_lost { 0 } else { 1 + u8::from(is_doubled) };
        let mut arrivals = Vec::new();
        for _ in 0..count {
            let mut at = now + self.delay();
            if !self.plan.reorders || self.is_calm {
                let last = self.last.entry((from, to)).or_default();
                at = at.max(*last);
                *last = at;
            }
            arrivals.push(at);
        }
        arrivals
    }
}

impl Hub {
    pub(super) fn new(way: Way, plan: BusPlan, dice: SimRng) -> Self {
        let state = State {
            dice,
            plan,
            is_calm: false,
            ends: BTreeMap::new(),
            last: BTreeMap::new(),
        };
        Self {
            way,
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Lets a server in.
    pub(super) fn enter(&self, own: Uuid) -> (SimBus, Listener) {
        let (heard, listener) = mpsc::channel(WAITING_MAX);
        let end = End {
            heard,
            is_up: true,
            is_deaf: false,
        };
        self.state.lock().ends.insert(own, end);
        let hub = self.clone();
        (SimBus { hub, own }, listener)
    }

    /// A server is no more.
    pub(super) fn leave(&self, own: Uuid) {
        self.state.lock().ends.remove(&own);
    }

    /// From now on nothing is lost, doubled or reordered, unless somebody is cut off.
    pub(super) fn calm(&self) {
        self.state.lock().is_calm = true;
    }

    /// Cuts a server off as all know, or joins it again, which knows that it may have missed something.
    pub(super) fn join(&self, own: Uuid, is_up: bool) {
        if let Some(end) = self.state.lock().ends.get_mut(&own) {
            end.is_up = is_up;
            if is_up {
                // One that does not take it has enough to hear.
                let _ = end.heard.try_send(Incoming::Gap);
            }
        }
    }

    /// Cuts a server off as nobody knows, or not any more.
    pub(super) fn deafen(&self, own: Uuid, is_deaf: bool) {
        if let Some(end) = self.state.lock().ends.get_mut(&own) {
            end.is_deaf = is_deaf;
        }
    }

    fn is_up(&self, own: Uuid) -> bool {
        let state = self.state.lock();
        state.ends.get(&own).is_some_and(|end| end.is_up)
    }

    fn carry(&self, from: Uuid, to: Uuid, letter: &Letter) {
        let now = self.way.now();
        let arrivals = {
            let mut state = self.state.lock();
            if !state.can_hear(from) {
                return;
            }
            state.arrivals(from, to, now)
        };
        for at in arrivals {
            let (hub, letter) = (self.clone(), letter.clone());
            self.way.post(at, move || hub.deliver(to, letter));
        }
    }

    fn deliver(&self, to: Uuid, letter: Letter) {
        let heard = match letter {
            Letter::Message(message) => Incoming::Message(message),
            Letter::Request(request, asker) => {
                let hub = self.clone();
                let answer = move |answer| hub.answer(to, asker, answer);
                Incoming::Request(request, Responder::new(answer))
            }
        };
        let state = self.state.lock();
        if state.can_hear(to)
            && let Some(end) = state.ends.get(&to)
        {
            // What does not come is lost, as on any bus.
            let _ = end.heard.try_send(heard);
        }
    }

    /// Carries an answer back.
    fn answer(&self, from: Uuid, asker: Asker, answer: Vec<u8>) {
        let at = {
            let mut state = self.state.lock();
            let lost = state.plan.lost_percent;
            let is_lost = state.dice.chance(lost) && !state.is_calm;
            if is_lost || !state.can_hear(from) {
                return;
            }
            self.way.now() + state.delay()
        };
        self.way.post(at, move || asker.give(Ok(answer)));
    }
}

impl Asker {
    fn give(&self, answered: Answered) {
        if let Some(sender) = self.0.lock().take() {
            // Whoever asked may have given up.
            let _ = sender.send(answered);
        }
    }
}

impl Bus for SimBus {
    fn send(&self, to: Uuid, message: Vec<u8>) {
        self.hub.carry(self.own, to, &Letter::Message(message));
    }

    fn send_all(&self, message: Vec<u8>) {
        let others: Vec<Uuid> = self.hub.state.lock().ends.keys().copied().collect();
        for other in others.into_iter().filter(|other| *other != self.own) {
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
        let (sender, answered) = oneshot::channel();
        let asker = Asker(Arc::new(Mutex::new(Some(sender))));
        if self.hub.is_up(to) {
            self.hub
                .carry(self.own, to, &Letter::Request(request, asker));
        } else {
            let at = self.hub.way.now() + self.hub.state.lock().delay();
            let nobody = move || asker.give(Err(RequestError::NoReceiver));
            self.hub.way.post(at, nobody);
        }
        let answered = async move {
            match answered.await {
                Ok(answered) => answered,
                // It has been lost, which nobody knows before the time is up.
                Err(_) => pending().await,
            }
        };
        let answered = timeout(within, answered);
        answered
            .map(|answered| answered.unwrap_or(Err(RequestError::Timeout)))
            .boxed()
    }

    fn is_up(&self) -> bool {
        self.hub.is_up(self.own)
    }

    fn close(&self) {
        self.hub.leave(self.own);
    }
}
