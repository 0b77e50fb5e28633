//! Plan of one simulated cluster: the clients, the faults and the time of each fault. A seed
//! determines the plan.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::fault_plan::{Role, as_ms};
use crate::rng::SimRng;

/// Number of servers in a world.
pub(super) const SERVER_COUNT: usize = 3;

/// RNG stream numbers of a cluster world. Clients use the same streams as in worlds with one
/// server. Each start of a server uses a new stream.
const PLAN_RNG_STREAM: u64 = 1 << 32;
pub(super) const BUS_RNG_STREAM: u64 = PLAN_RNG_STREAM + 1;
pub(super) const FIRST_RUN_RNG_STREAM: u64 = PLAN_RNG_STREAM + 2;

/// Plan of one simulated cluster.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(super) clients: Vec<Role>,
    pub(super) latency_max: Duration,
    pub(super) bus: BusPlan,
    pub(super) store: StorePlan,
    /// Faults in the order of their times.
    pub(super) faults: Vec<(Duration, FaultPlan)>,
    /// End of fault injection, in simulated time.
    pub(super) faults_end: Duration,
}

/// Behaviour of the bus.
#[derive(Clone, Debug)]
pub(super) struct BusPlan {
    pub(super) latency_us: RangeInclusive<u64>,
    pub(super) loss_percent: u64,
    pub(super) duplicate_percent: u64,
    /// Whether messages from one server to another may arrive out of order.
    pub(super) can_reorder: bool,
}

/// Behaviour of the store and of the connections to it.
#[derive(Clone, Debug)]
pub(super) struct StorePlan {
    /// Latency of the connection in each direction, in microseconds.
    pub(super) latency_us: RangeInclusive<u64>,
    /// Percentage of writes that the store rejects.
    pub(super) rejected_percent: u64,
    /// Percentage of writes that fail with an unknown outcome.
    pub(super) unknown_outcome_percent: u64,
    /// Percentage of reads that fail.
    pub(super) read_failure_percent: u64,
}

/// Fault in a cluster world. A `usize` is the index of a server or a client.
#[derive(Clone, Copy, Debug)]
pub(super) enum FaultPlan {
    /// Kills the process of a server. The operating system closes its sockets, so the clients
    /// notice.
    Kill(usize),
    /// Cuts the power of a server's host. The clients receive no notification.
    PowerLoss(usize),
    /// Starts a graceful shutdown of a server. The server is killed up to 500 ms later.
    Stop(usize),
    /// Starts a server again under a new node id.
    Restart(usize),
    /// Suspends all tasks of a server until `Thaw`. The server's clock then advances by the
    /// duration of the suspension.
    Freeze(usize),
    Thaw(usize),
    /// Disconnects a server from the bus. All servers can detect the disconnection.
    DisconnectBus(usize),
    ReconnectBus(usize),
    /// Drops all bus messages from and to a server. No server can detect the partition.
    Partition(usize),
    Heal(usize),
    /// Disconnects a server from the store.
    DisconnectStore(usize),
    ReconnectStore(usize),
    /// Delays all messages between a client and the servers until `Release` delivers them.
    Hold(usize),
    Release(usize),
}

impl Plan {
    /// Derives the plan of a world from its seed.
    pub(crate) fn new(seed: u64) -> Self {
        let rng = &mut SimRng::new(seed, PLAN_RNG_STREAM);
        let faults_end = rng.duration_ms(3000..=8000);
        let mut clients = vec![Role::Player; 3];
        if rng.chance(60) {
            clients.push(Role::Spectator);
        }
        let mut faults = Vec::new();
        for server in 0..SERVER_COUNT {
            add_server_faults(rng, server, faults_end, &mut faults);
        }
        for client in 0..clients.len() {
            add_client_holds(rng, client, faults_end, &mut faults);
        }
        faults.sort_by_key(|(at, _)| *at);
        Self {
            seed,
            latency_max: Duration::from_millis(pick_one(rng, [2, 10, 30])),
            bus: BusPlan::new(rng),
            store: StorePlan::new(rng),
            clients,
            faults,
            faults_end,
        }
    }
}

impl BusPlan {
    fn new(rng: &mut SimRng) -> Self {
        Self {
            latency_us: 100..=pick_one(rng, [1000, 5000, 30_000]),
            loss_percent: pick_one(rng, [0, 0, 1, 10]),
            duplicate_percent: pick_one(rng, [0, 0, 1, 10]),
            can_reorder: rng.chance(40),
        }
    }
}

impl StorePlan {
    fn new(rng: &mut SimRng) -> Self {
        let is_unreliable = rng.chance(30);
        let mut percent = |max| {
            if is_unreliable {
                rng.between(0..=max)
            } else {
                0
            }
        };
        Self {
            rejected_percent: percent(5),
            unknown_outcome_percent: percent(5),
            read_failure_percent: percent(10),
            latency_us: 100..=pick_one(rng, [1000, 5000, 30_000]),
        }
    }
}

impl StorePlan {
    /// Returns this plan with all faults removed.
    pub(super) fn without_faults(self) -> Self {
        Self {
            rejected_percent: 0,
            unknown_outcome_percent: 0,
            read_failure_percent: 0,
            ..self
        }
    }
}

/// Adds the faults of one server. Each fault starts after the end of the previous fault.
fn add_server_faults(
    rng: &mut SimRng,
    server: usize,
    faults_end: Duration,
    faults: &mut Vec<(Duration, FaultPlan)>,
) {
    let mut at = rng.duration_ms(0..=as_ms(faults_end));
    while at < faults_end {
        // Some faults end before any server can notice them. Others last longer than a lease.
        let duration = match rng.between(0..=9) {
            0..=3 => rng.duration_ms(20..=900),
            4..=8 => rng.duration_ms(900..=3000),
            _ => rng.duration_ms(5000..=7000),
        };
        let until = (at + duration).min(faults_end);
        let (start, end) = match rng.between(0..=12) {
            0..=1 => (FaultPlan::Kill(server), FaultPlan::Restart(server)),
            2 => (FaultPlan::PowerLoss(server), FaultPlan::Restart(server)),
            3..=5 => (FaultPlan::Freeze(server), FaultPlan::Thaw(server)),
            6..=8 => (
                FaultPlan::DisconnectBus(server),
                FaultPlan::ReconnectBus(server),
            ),
            9..=10 => (FaultPlan::Partition(server), FaultPlan::Heal(server)),
            11 => (
                FaultPlan::DisconnectStore(server),
                FaultPlan::ReconnectStore(server),
            ),
            _ => {
                faults.push((at, FaultPlan::Stop(server)));
                at = (at + Duration::from_millis(500)).min(until);
                (FaultPlan::Kill(server), FaultPlan::Restart(server))
            }
        };
        faults.extend([(at, start), (until, end)]);
        at = until + rng.duration_ms(0..=2500);
    }
}

/// Adds at most one hold of the messages between a client and the servers.
fn add_client_holds(
    rng: &mut SimRng,
    client: usize,
    faults_end: Duration,
    faults: &mut Vec<(Duration, FaultPlan)>,
) {
    if rng.chance(40) {
        let at = rng.duration_ms(0..=as_ms(faults_end));
        let until = (at + rng.duration_ms(20..=1500)).min(faults_end);
        faults.extend([
            (at, FaultPlan::Hold(client)),
            (until, FaultPlan::Release(client)),
        ]);
    }
}

fn pick_one<const N: usize>(rng: &mut SimRng, choices: [u64; N]) -> u64 {
    *rng.pick(&choices).expect("the list is not empty")
}
