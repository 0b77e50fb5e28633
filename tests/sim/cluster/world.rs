//! One world of several servers: each on a simulated host, over one store, with a bus between them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, UNIX_EPOCH};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use plyhouse_store::NodeId;
use tokio::io::{copy_bidirectional, duplex};
use turmoil::Sim;
use turmoil::net::TcpListener;
use uuid::Uuid;

use super::bus::Hub;
use super::ground::{Ground, Way};
use super::node::{Gate, Node};
use super::plan::{BUS, FIRST_RUN, FaultPlan, Plan, SERVERS};
use super::store::Shared;
use crate::client::Client;
use crate::context::SimContext;
use crate::history::HistoryEvent;
use crate::rng::SimRng;
use crate::store::{ClusterState, FinalState};
use crate::world::{
    LATENCY_MIN, RunResult, SERVER_PORT, SIMULATION_TIME_MAX, START_MS, client_name,
    settings_with_short_timeouts,
};

/// How far the world goes at a time.
const STEP: Duration = Duration::from_millis(10);

/// For how long after the last trouble everybody still listens: longer than a lease, and than a copy waits
/// before it asks its owner anew.
const STAYS: Duration = Duration::from_secs(7);

/// How much is on its way in a socket.
const SOCKET: usize = 1 << 16;

#[derive(Debug)]
struct World {
    base: Rc<SimContext>,
    plan: Plan,
    way: Way,
    hub: Hub,
    shared: Shared,
    nodes: [RefCell<Option<Node>>; SERVERS],
    gates: [Rc<RefCell<Option<Gate>>>; SERVERS],
    runs: Cell<u64>,
    troubles: Cell<usize>,
    panics: Cell<u64>,
}

/// Lets the world of a plan run to its end. If the store does not compare, several owners of a match may
/// write to it.
pub(crate) fn run(plan: Plan, compares: bool) -> RunResult {
    let way = Way::default();
    let ground = Ground::new(way.clone());
    let names = (0..SERVERS).map(server_name).collect();
    let base = Rc::new(SimContext::new(plan.seed, (plan.calm_at, STAYS), names));
    let world = World {
        hub: Hub::new(way.clone(), plan.bus.clone(), SimRng::new(plan.seed, BUS)),
        shared: Shared::new(way.clone(), compares),
        way,
        base: Rc::clone(&base),
        nodes: Default::default(),
        gates: Default::default(),
        runs: Cell::default(),
        troubles: Cell::default(),
        panics: Cell::default(),
        plan,
    };
    let plan = &world.plan;
    let mut sim = turmoil::Builder::new()
        .rng_seed(plan.seed)
        .epoch(UNIX_EPOCH + Duration::from_millis(START_MS))
        .tick_duration(STEP)
        .simulation_duration(SIMULATION_TIME_MAX)
        .min_message_latency(LATENCY_MIN)
        .max_message_latency(plan.latency_max)
        .enable_random_order()
        .build();
    for (server, gate) in world.gates.iter().enumerate() {
        let gate = Rc::clone(gate);
        sim.host(server_name(server), move || let_in(Rc::clone(&gate)));
        world.start(server);
    }
    for (place, role) in plan.clients.iter().enumerate() {
        let client = Client::new(Rc::clone(&base), place, *role);
        sim.client(client_name(place), client.run());
    }
    let stuck = world.pass(&mut sim, &ground).err();
    drop(sim);
    for node in &world.nodes {
        world.end(node.take());
    }
    let panics = world.panics.get();
    let panicked = (panics > 0).then(|| format!("{panics} panics"));
    RunResult {
        history: base.history.take(),
        final_state: FinalState {
            matches: world.shared.matches(),
            cluster: Some(ClusterState {
                journal: world.shared.journal.lock().clone(),
                settled_at: plan.calm_at + STAYS,
            }),
            ..FinalState::default()
        },
        crashes_with_live_matches: world.troubles.get(),
        run_error: stuck.or(panicked),
    }
}

fn server_name(server: usize) -> String {
    format!("node{server}")
}

/// The host of a server: hands connections to the process, if there is one.
async fn let_in(gate: Rc<RefCell<Option<Gate>>>) -> turmoil::Result {
    let listener = TcpListener::bind(("0.0.0.0", SERVER_PORT)).await?;
    let mut open = FuturesUnordered::new();
    loop {
        tokio::select! {
            biased; // Nothing is left to a chance that no seed governs.
            accepted = listener.accept() => {
                let (mut socket, _) = accepted?;
                let (mut near, far) = duplex(SOCKET);
                let gate = gate.borrow().clone();
                if gate.is_some_and(|gate| gate.try_send(far).is_ok()) {
                    open.push(async move {
                        // However it ends, it has ended.
                        let _ = copy_bidirectional(&mut socket, &mut near).await;
                    });
                }
            }
            Some(()) = open.next() => {}
        }
    }
}

impl World {
    /// Lets time pass until every client has had its last look.
    fn pass(&self, sim: &mut Sim<'_>, ground: &Ground) -> Result<(), String> {
        let mut fates = self.plan.fates.iter().peekable();
        let mut is_calm = false;
        loop {
            while let Some((_, fate)) = fates.next_if(|(at, _)| *at <= sim.elapsed()) {
                self.befall(sim, *fate);
            }
            if sim.elapsed() >= self.plan.calm_at && !is_calm {
                is_calm = true;
                self.calm();
            }
            ground.pass(STEP);
            for node in &self.nodes {
                if let Some(node) = &*node.borrow() {
                    node.pass(STEP);
                }
            }
            if sim.step().map_err(|error| error.to_string())? {
                return Ok(());
            }
        }
    }

    /// Starts a server, which is another one each time.
    fn start(&self, server: usize) {
        let run = self.runs.get() + 1;
        self.runs.set(run);
        let id = NodeId(Uuid::from_u128(run.into()));
        let dice = SimRng::new(self.plan.seed, FIRST_RUN + run);
        let mut plan = self.plan.store.clone();
        let now = self.way.now();
        if now >= self.plan.calm_at {
            plan = plan.calm();
        }
        let settings = settings_with_short_timeouts(self.plan.seed ^ run << 48, now);
        let (node, gate) = Node::start(id, &self.hub, &self.shared, (plan, dice), settings);
        self.gates[server].replace(Some(gate));
        self.nodes[server].replace(Some(node));
    }

    fn calm(&self) {
        self.hub.calm();
        for node in &self.nodes {
            if let Some(node) = &*node.borrow() {
                node.wire.calm();
            }
        }
    }

    /// Lets the world suffer what the plan has in store for it.
    fn befall(&self, sim: &mut Sim<'_>, fate: FaultPlan) {
        let now = sim.elapsed();
        self.troubles.set(self.troubles.get() + 1);
        match fate {
            FaultPlan::Kill(server) => self.kill(sim, server),
            FaultPlan::CutPower(server) => {
                self.clients()
                    .for_each(|client| sim.partition(server_name(server), client));
                self.kill(sim, server);
            }
            FaultPlan::Restart(server) => {
                self.start(server);
                sim.bounce(server_name(server));
                self.clients()
                    .for_each(|client| sim.release(server_name(server), client));
            }
            FaultPlan::Stop(server) => self.with(server, |node| node.stop()),
            FaultPlan::Freeze(server) => self.with(server, |node| node.freeze(now)),
            FaultPlan::Thaw(server) => self.with(server, |node| node.thaw(now)),
            FaultPlan::Part(server) => self.with(server, |node| self.hub.join(node.id.0, false)),
            FaultPlan::Join(server) => self.with(server, |node| self.hub.join(node.id.0, true)),
            FaultPlan::Deafen(server) => self.with(server, |node| self.hub.deafen(node.id.0, true)),
            FaultPlan::Hear(server) => self.with(server, |node| self.hub.deafen(node.id.0, false)),
            FaultPlan::Starve(server) => self.with(server, |node| node.wire.cut(true)),
            FaultPlan::Feed(server) => self.with(server, |node| node.wire.cut(false)),
            FaultPlan::Hold(client) => {
                (0..SERVERS).for_each(|server| sim.hold(server_name(server), client_name(client)));
            }
            FaultPlan::Release(client) => {
                (0..SERVERS)
                    .for_each(|server| sim.release(server_name(server), client_name(client)));
            }
        }
        let what = format!("{fate:?}");
        self.base.record_at(
            now,
            match fate {
                FaultPlan::Kill(_) | FaultPlan::CutPower(_) => HistoryEvent::Crash(what),
                _ => HistoryEvent::Fault(what),
            },
        );
    }

    fn with(&self, server: usize, what: impl FnOnce(&mut Node)) {
        if let Some(node) = &mut *self.nodes[server].borrow_mut() {
            what(node);
        }
    }

    fn clients(&self) -> impl Iterator<Item = String> {
        (0..self.plan.clients.len()).map(client_name)
    }

    fn kill(&self, sim: &mut Sim<'_>, server: usize) {
        self.base.record_crash(server);
        self.gates[server].take();
        // The server's sockets close in the order of a hash map. What they say must not take a time
        // that depends on the order.
        for client in self.clients() {
            sim.set_link_latency(server_name(server), client, LATENCY_MIN);
        }
        sim.crash(server_name(server));
        for client in self.clients() {
            let latency = self.plan.latency_max;
            sim.set_link_max_message_latency(server_name(server), client, latency);
        }
        self.end(self.nodes[server].take());
    }

    fn end(&self, node: Option<Node>) {
        if let Some(node) = node {
            self.panics.set(self.panics.get() + node.panics());
            node.kill();
        }
    }
}
