//! Simulated world with one server. The server from `plyhouse_server` runs on a simulated host, and
//! the clients run on other hosts. The network and the clock are simulated too. The seed of the
//! world determines everything in it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use plyhouse_server::{SearchMode, Server, Settings};
use plyhouse_transport::Transport;
use turmoil::Sim;
use turmoil::net::TcpListener;

use super::client::Client;
use super::fault_plan::{DISK_RNG_STREAM, FaultPlan, Plan};
use super::history::{History, HistoryEvent};
use super::killable_socket::{KillSwitch, KillableSocket};
use super::rng::SimRng;
use super::shared_client_state::SimContext;
use super::store::{FinalState, SimStore};
use super::store_faults::StoreFault;

pub(crate) const SERVER_HOST: &str = "server";
pub(crate) const SERVER_PORT: u16 = 7878;

/// Step of simulated time. Messages are delivered and faults are injected only between steps.
/// Timers within a host have tokio's resolution.
const TICK: Duration = Duration::from_millis(5);

/// How long correspondence matches with an expired deadline continue after a restart of the server.
pub(crate) const RESTART_GRACE: Duration = Duration::from_millis(300);

/// Games that the clients play.
pub(crate) const GAMES: [&str; 2] = ["tic-tac-toe", "connect-four"];

/// Custom start positions, as pairs of game and position. Each game has one position for each side
/// to move.
pub(crate) const CUSTOM_POSITIONS: [(&str, &str); 4] = [
    ("tic-tac-toe", ".../.x./..."),
    ("tic-tac-toe", "x../.o./..."),
    (
        "connect-four",
        "......./......./......./......./......./...r...",
    ),
    (
        "connect-four",
        "......./......./......./......./...y.../...r...",
    ),
];

/// Minimum latency of a message.
pub(crate) const LATENCY_MIN: Duration = Duration::from_millis(1);

/// Maximum simulated duration of a run. A run that exceeds it counts as stuck.
pub(crate) const SIMULATION_TIME_MAX: Duration = Duration::from_secs(60);

/// Wall-clock time at the start of every run: 1 January 2026, in milliseconds since 1970.
pub(crate) const START_MS: u64 = 1_767_225_600_000;

/// Simulated world with one server.
#[derive(Debug)]
struct World {
    context: Rc<SimContext>,
    plan: Plan,
    store: SimStore,
    boot_count: Cell<u64>,
    /// Total downtime of the server. This is the lead of the wall clock over simulated time.
    total_downtime: Cell<Duration>,
    kill_switch: RefCell<KillSwitch>,
    /// Latency overrides that the plan has set for clients, keyed by client index.
    latency_overrides: RefCell<BTreeMap<usize, Duration>>,
    crashes_with_live_matches: Cell<usize>,
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct RunResult {
    pub(crate) history: History,
    pub(crate) final_state: FinalState,
    /// Number of server crashes while at least one match was live.
    pub(crate) crashes_with_live_matches: usize,
    /// Error of the run, if any: the run did not finish, or a server of a cluster panicked.
    pub(crate) run_error: Option<String>,
}

/// Runs the world of a plan until all clients have finished.
pub(crate) fn run(plan: Plan, store_fault: Option<StoreFault>) -> RunResult {
    let context = Rc::new(SimContext::new(
        plan.seed,
        (plan.faults_end, Duration::ZERO),
        vec![SERVER_HOST.to_owned()],
    ));
    let world = Rc::new(World {
        store: SimStore::new(
            plan.disk.clone(),
            SimRng::new(plan.seed, DISK_RNG_STREAM),
            store_fault,
        ),
        context: Rc::clone(&context),
        boot_count: Cell::default(),
        total_downtime: Cell::default(),
        kill_switch: RefCell::default(),
        latency_overrides: RefCell::default(),
        crashes_with_live_matches: Cell::default(),
        plan,
    });
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
    let server_world = Rc::clone(&world);
    sim.host(SERVER_HOST, move || run_server(Rc::clone(&server_world)));
    for (index, role) in plan.clients.iter().enumerate() {
        let mut client = Client::new(Rc::clone(&context), index, *role);
        if plan.has_accounts {
            client = client.with_account(world.store.add_account(index));
        }
        sim.client(client_name(index), client.run());
    }
    let run_error = run_to_end(&mut sim, &world).err();
    let final_state = world
        .store
        .final_state(sim.elapsed(), plan.lag_compensation);
    drop(sim);
    RunResult {
        history: context.history.take(),
        final_state,
        crashes_with_live_matches: world.crashes_with_live_matches.get(),
        run_error,
    }
}

/// Returns the name of the client with this index.
pub(crate) fn client_name(index: usize) -> String {
    ["ann", "bob", "cat", "dan", "eve"][index].to_owned()
}

/// Injects the planned faults and advances simulated time until every client has finished its final
/// check.
fn run_to_end(sim: &mut Sim<'_>, world: &World) -> Result<(), String> {
    let mut faults = world.plan.faults.iter().peekable();
    loop {
        while let Some((_, fault)) = faults.next_if(|(at, _)| *at <= sim.elapsed()) {
            world.inject_fault(sim, *fault);
        }
        if sim.step().map_err(|error| error.to_string())? {
            return Ok(());
        }
    }
}

async fn run_server(world: Rc<World>) -> turmoil::Result {
    world.boot_count.set(world.boot_count.get() + 1);
    let kill_switch = KillSwitch::default();
    world.kill_switch.replace(kill_switch.clone());
    let server = Server::start(
        server_settings(&world),
        Arc::new(world.store.clone()),
        &plyhouse_store::StoreMetrics::default(),
    )?;
    server.recover().await?;
    let listener = TcpListener::bind(("0.0.0.0", SERVER_PORT)).await?;
    let transport = Transport::new(server.clone());
    loop {
        let (stream, _) = listener.accept().await?;
        let stream = KillableSocket::new(stream, kill_switch.clone());
        let transport = transport.clone();
        server.spawn(async move { transport.serve_stream(stream, None).await });
    }
}

/// Returns the settings for the next start of the server.
fn server_settings(world: &World) -> Settings {
    let now = turmoil::sim_elapsed().expect("must be called within a simulated host");
    // Each start uses another seed, so that the server never issues the same token twice.
    let seed = world.plan.seed ^ world.boot_count.get() << 48;
    Settings {
        lag_compensation: world.plan.lag_compensation,
        ..settings_with_short_timeouts(seed, now + world.total_downtime.get())
    }
}

/// Returns settings with timeouts that are short enough to expire within a run. `wall_elapsed` is
/// the wall-clock time since the start of the run.
pub(crate) fn settings_with_short_timeouts(seed: u64, wall_elapsed: Duration) -> Settings {
    Settings {
        abandon_after: Some(Duration::from_millis(1500)),
        linger: Duration::from_millis(400),
        restart_grace: RESTART_GRACE,
        ping_interval: Duration::from_millis(400),
        idle_timeout: Duration::from_millis(1200),
        handshake_timeout: Duration::from_millis(800),
        close_timeout: Duration::from_millis(200),
        search: SearchMode::Inline,
        search_table: 1 << 16,
        seed: Some(seed),
        started_ms: u64::try_from(wall_elapsed.as_millis())
            .ok()
            .map(|ms| START_MS + ms),
        ..Settings::default()
    }
}

impl World {
    /// Applies a fault of the plan and records it.
    fn inject_fault(&self, sim: &mut Sim<'_>, fault: FaultPlan) {
        let clients = || (0..self.plan.clients.len()).map(client_name);
        match fault {
            FaultPlan::Kill => return self.crash(sim, fault),
            FaultPlan::PowerLoss => {
                clients().for_each(|client| sim.partition(SERVER_HOST, client));
                return self.crash(sim, fault);
            }
            FaultPlan::Restart(downtime) => {
                self.total_downtime
                    .set(self.total_downtime.get() + downtime);
                self.context
                    .record_at(sim.elapsed(), HistoryEvent::Downtime(downtime));
                sim.bounce(SERVER_HOST);
                clients().for_each(|client| sim.release(SERVER_HOST, client));
                return self.context.record_at(sim.elapsed(), HistoryEvent::Restart);
            }
            FaultPlan::Hold(place) => sim.hold(SERVER_HOST, client_name(place)),
            FaultPlan::Partition(place) => sim.partition(SERVER_HOST, client_name(place)),
            FaultPlan::Release(place) | FaultPlan::Heal(place) => {
                sim.release(SERVER_HOST, client_name(place))
            }
            FaultPlan::SetLatency(place, latency) => {
                self.latency_overrides.borrow_mut().insert(place, latency);
                sim.set_link_latency(SERVER_HOST, client_name(place), latency);
            }
        }
        self.context
            .record_at(sim.elapsed(), HistoryEvent::Fault(format!("{fault:?}")));
    }

    fn crash(&self, sim: &mut Sim<'_>, fault: FaultPlan) {
        self.kill_switch.borrow().trigger();
        let live = self.store.live_matches();
        let lost_writes = self.store.crash(sim.elapsed());
        // The server's sockets close in the iteration order of a hash map. A fixed latency makes
        // the delivery times of the last messages independent of that order.
        for index in 0..self.plan.clients.len() {
            sim.set_link_latency(SERVER_HOST, client_name(index), LATENCY_MIN);
        }
        sim.crash(SERVER_HOST);
        for index in 0..self.plan.clients.len() {
            match self.latency_overrides.borrow().get(&index) {
                Some(latency) => sim.set_link_latency(SERVER_HOST, client_name(index), *latency),
                None => {
                    let latency = self.plan.latency_max;
                    sim.set_link_max_message_latency(SERVER_HOST, client_name(index), latency);
                }
            }
        }
        if live > 0 {
            self.crashes_with_live_matches
                .set(self.crashes_with_live_matches.get() + 1);
        }
        let what = format!("{fault:?}: {live} matches are live, {lost_writes} writes are lost");
        self.context
            .record_at(sim.elapsed(), HistoryEvent::Crash(what));
    }
}
