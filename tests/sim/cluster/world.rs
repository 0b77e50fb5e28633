//! Simulated world with several servers on their own hosts, which share a store and a bus.

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

use super::bus::BusHub;
use super::event_queue::{EventQueue, Network};
use super::fault_plan::{BUS_RNG_STREAM, FIRST_RUN_RNG_STREAM, FaultPlan, Plan, SERVER_COUNT};
use super::node::{ConnectionSender, Node};
use super::store::SharedStore;
use crate::client::Client;
use crate::history::HistoryEvent;
use crate::rng::SimRng;
use crate::shared_client_state::SimContext;
use crate::store::{ClusterState, FinalState};
use crate::world::{
    LATENCY_MIN, RunResult, SERVER_PORT, SIMULATION_TIME_MAX, START_MS, client_name,
    settings_with_short_timeouts,
};

/// Step of simulated time.
const TICK: Duration = Duration::from_millis(10);

/// How long clients keep receiving after the last fault. This is longer than a lease, and longer
/// than a replica waits before it repeats a request to the owner of the match.
const OBSERVATION_TIME: Duration = Duration::from_secs(7);

/// Buffer size of a connection between a host and its server process, in bytes.
const SOCKET_BUFFER_SIZE: usize = 1 << 16;

#[derive(Debug)]
struct World {
    context: Rc<SimContext>,
    plan: Plan,
    queue: EventQueue,
    hub: BusHub,
    shared_store: SharedStore,
    nodes: [RefCell<Option<Node>>; SERVER_COUNT],
    connection_senders: [Rc<RefCell<Option<ConnectionSender>>>; SERVER_COUNT],
    run_count: Cell<u64>,
    fault_count: Cell<usize>,
    panic_count: Cell<u64>,
}

/// Runs the world of a plan until all clients have finished. Without fencing, former owners of a
/// match can still write to it.
pub(crate) fn run(plan: Plan, has_fencing: bool) -> RunResult {
    let queue = EventQueue::default();
    let network = Network::new(queue.clone());
    let names = (0..SERVER_COUNT).map(server_name).collect();
    let context = Rc::new(SimContext::new(
        plan.seed,
        (plan.faults_end, OBSERVATION_TIME),
        names,
    ));
    let world = World {
        hub: BusHub::new(
            queue.clone(),
            plan.bus.clone(),
            SimRng::new(plan.seed, BUS_RNG_STREAM),
        ),
        shared_store: SharedStore::new(queue.clone(), has_fencing),
        queue,
        context: Rc::clone(&context),
        nodes: Default::default(),
        connection_senders: Default::default(),
        run_count: Cell::default(),
        fault_count: Cell::default(),
        panic_count: Cell::default(),
        plan,
    };
    let plan = &world.plan;
    let mut sim = turmoil::Builder::new()
        .rng_seed(plan.seed)
        .epoch(UNIX_EPOCH + Duration::from_millis(START_MS))
        .tick_duration(TICK)
        .simulation_duration(SIMULATION_TIME_MAX)
        .min_message_latency(LATENCY_MIN)
        .max_message_latency(plan.latency_max)
        .enable_random_order()
        .build();
    for (server, connection_sender) in world.connection_senders.iter().enumerate() {
        let connection_sender = Rc::clone(connection_sender);
        sim.host(server_name(server), move || {
            forward_connections(Rc::clone(&connection_sender))
        });
        world.start_server(server);
    }
    for (index, role) in plan.clients.iter().enumerate() {
        let client = Client::new(Rc::clone(&context), index, *role);
        sim.client(client_name(index), client.run());
    }
    let run_error = world.run_to_end(&mut sim, &network).err();
    drop(sim);
    for node in &world.nodes {
        world.kill_node(node.take());
    }
    let panic_count = world.panic_count.get();
    let panic_error = (panic_count > 0).then(|| format!("{panic_count} panics"));
    RunResult {
        history: context.history.take(),
        final_state: FinalState {
            matches: world.shared_store.load_matches(),
            cluster: Some(ClusterState {
                journal: world.shared_store.journal.lock().clone(),
                settled_at: plan.faults_end + OBSERVATION_TIME,
            }),
            ..FinalState::default()
        },
        crashes_with_live_matches: world.fault_count.get(),
        run_error: run_error.or(panic_error),
    }
}

fn server_name(server: usize) -> String {
    format!("node{server}")
}

/// Runs the host of a server: forwards connections to the server process, if it is running.
async fn forward_connections(
    connection_sender: Rc<RefCell<Option<ConnectionSender>>>,
) -> turmoil::Result {
    let listener = TcpListener::bind(("0.0.0.0", SERVER_PORT)).await?;
    let mut open_connections = FuturesUnordered::new();
    loop {
        tokio::select! {
            biased; // Without `biased`, the branch order would not depend on the seed.
            accepted = listener.accept() => {
                let (mut socket, _) = accepted?;
                let (mut near, far) = duplex(SOCKET_BUFFER_SIZE);
                let connection_sender = connection_sender.borrow().clone();
                if connection_sender.is_some_and(|gate| gate.try_send(far).is_ok()) {
                    open_connections.push(async move {
                        // An error ends the connection like a normal close.
                        let _ = copy_bidirectional(&mut socket, &mut near).await;
                    });
                }
            }
            Some(()) = open_connections.next() => {}
        }
    }
}

impl World {
    /// Injects the planned faults and advances simulated time until every client has finished its
    /// final check.
    fn run_to_end(&self, sim: &mut Sim<'_>, network: &Network) -> Result<(), String> {
        let mut faults = self.plan.faults.iter().peekable();
        let mut is_past_faults = false;
        loop {
            while let Some((_, fault)) = faults.next_if(|(at, _)| *at <= sim.elapsed()) {
                self.inject_fault(sim, *fault);
            }
            if sim.elapsed() >= self.plan.faults_end && !is_past_faults {
                is_past_faults = true;
                self.stop_faults();
            }
            network.advance(TICK);
            for node in &self.nodes {
                if let Some(node) = &*node.borrow() {
                    node.advance(TICK);
                }
            }
            if sim.step().map_err(|error| error.to_string())? {
                return Ok(());
            }
        }
    }

    /// Starts a server with a new node id.
    fn start_server(&self, server: usize) {
        let run_number = self.run_count.get() + 1;
        self.run_count.set(run_number);
        let id = NodeId(Uuid::from_u128(run_number.into()));
        let rng = SimRng::new(self.plan.seed, FIRST_RUN_RNG_STREAM + run_number);
        let mut plan = self.plan.store.clone();
        let now = self.queue.now();
        if now >= self.plan.faults_end {
            plan = plan.without_faults();
        }
        let settings = settings_with_short_timeouts(self.plan.seed ^ run_number << 48, now);
        let (node, connection_sender) =
            Node::start(id, &self.hub, &self.shared_store, (plan, rng), settings);
        self.connection_senders[server].replace(Some(connection_sender));
        self.nodes[server].replace(Some(node));
    }

    fn stop_faults(&self) {
        self.hub.stop_faults();
        for node in &self.nodes {
            if let Some(node) = &*node.borrow() {
                node.store_connection.stop_faults();
            }
        }
    }

    /// Applies a fault of the plan and records it.
    fn inject_fault(&self, sim: &mut Sim<'_>, fault: FaultPlan) {
        let now = sim.elapsed();
        self.fault_count.set(self.fault_count.get() + 1);
        match fault {
            FaultPlan::Kill(server) => self.kill_server(sim, server),
            FaultPlan::PowerLoss(server) => {
                self.client_names()
                    .for_each(|client| sim.partition(server_name(server), client));
                self.kill_server(sim, server);
            }
            FaultPlan::Restart(server) => {
                self.start_server(server);
                sim.bounce(server_name(server));
                self.client_names()
                    .for_each(|client| sim.release(server_name(server), client));
            }
            FaultPlan::Stop(server) => self.with_node(server, |node| node.stop()),
            FaultPlan::Freeze(server) => self.with_node(server, |node| node.freeze(now)),
            FaultPlan::Thaw(server) => self.with_node(server, |node| node.thaw(now)),
            FaultPlan::DisconnectBus(server) => {
                self.with_node(server, |node| self.hub.set_connected(node.id.0, false))
            }
            FaultPlan::ReconnectBus(server) => {
                self.with_node(server, |node| self.hub.set_connected(node.id.0, true))
            }
            FaultPlan::Partition(server) => {
                self.with_node(server, |node| self.hub.set_partitioned(node.id.0, true))
            }
            FaultPlan::Heal(server) => {
                self.with_node(server, |node| self.hub.set_partitioned(node.id.0, false))
            }
            FaultPlan::DisconnectStore(server) => {
                self.with_node(server, |node| node.store_connection.set_cut_off(true))
            }
            FaultPlan::ReconnectStore(server) => {
                self.with_node(server, |node| node.store_connection.set_cut_off(false))
            }
            FaultPlan::Hold(client) => {
                (0..SERVER_COUNT)
                    .for_each(|server| sim.hold(server_name(server), client_name(client)));
            }
            FaultPlan::Release(client) => {
                (0..SERVER_COUNT)
                    .for_each(|server| sim.release(server_name(server), client_name(client)));
            }
        }
        let description = format!("{fault:?}");
        self.context.record_at(
            now,
            match fault {
                FaultPlan::Kill(_) | FaultPlan::PowerLoss(_) => HistoryEvent::Crash(description),
                _ => HistoryEvent::Fault(description),
            },
        );
    }

    fn with_node(&self, server: usize, action: impl FnOnce(&mut Node)) {
        if let Some(node) = &mut *self.nodes[server].borrow_mut() {
            action(node);
        }
    }

    fn client_names(&self) -> impl Iterator<Item = String> {
        (0..self.plan.clients.len()).map(client_name)
    }

    fn kill_server(&self, sim: &mut Sim<'_>, server: usize) {
        self.context.record_crash(server);
        self.connection_senders[server].take();
        // The server's sockets close in the iteration order of a hash map. A fixed latency makes
        // the delivery times of the last messages independent of that order.
        for client in self.client_names() {
            sim.set_link_latency(server_name(server), client, LATENCY_MIN);
        }
        sim.crash(server_name(server));
        for client in self.client_names() {
            let latency = self.plan.latency_max;
            sim.set_link_max_message_latency(server_name(server), client, latency);
        }
        self.kill_node(self.nodes[server].take());
    }

    fn kill_node(&self, node: Option<Node>) {
        if let Some(node) = node {
            self.panic_count
                .set(self.panic_count.get() + node.panic_count());
            node.kill();
        }
    }
}
