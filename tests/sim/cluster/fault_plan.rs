//! What a seed makes of a world of several servers: who lives in it, and what befalls it when.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::fault_plan::{Role, as_ms};
use crate::rng::SimRng;

/// How many servers there are.
pub(super) const SERVER_COUNT: usize = 3;

/// The owners of the dice of a world. Clients have those that they have with one server; each run of a
/// server has one more.
const PLAN_RNG_STREAM: u64 = 1 << 32;
pub(super) const BUS_RNG_STREAM: u64 = PLAN_RNG_STREAM + 1;
pub(super) const FIRST_RUN_RNG_STREAM: u64 = PLAN_RNG_STREAM + 2;

/// A world before it begins.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(super) clients: Vec<Role>,
    pub(super) latency_max: Duration,
    pub(super) bus: BusPlan,
    pub(super) store: StorePlan,
    /// In the order of time.
    pub(super) faults: Vec<(Duration, FaultPlan)>,
    /// When nothing bad happens any more.
    pub(super) faults_end: Duration,
}

/// How the bus behaves.
#[derive(Clone, Debug)]
pub(super) struct BusPlan {
    pub(super) latency_us: RangeInclusive<u64>,
    pub(super) loss_percent: u64,
    pub(super) duplicate_percent: u64,
    /// Whether what one server sends another may come in another order.
    pub(super) can_reorder: bool,
}

/// How the store behaves, or the way to it.
#[derive(Clone, Debug)]
pub(super) struct StorePlan {
    /// How long it takes to get there, and back again.
    pub(super) latency_us: RangeInclusive<u64>,
    /// How many writes out of a hundred are turned down.
    pub(super) rejected_percent: u64,
    /// How many writes out of a hundred end without anybody knowing whether they were made.
    pub(super) unknown_outcome_percent: u64,
    /// How many reads out of a hundred fail.
    pub(super) read_failure_percent: u64,
}

/// What befalls a world. A server or a client is meant by its place.
#[derive(Clone, Copy, Debug)]
pub(super) enum FaultPlan {
    /// A server's process is killed: its peers are told so by its operating system.
    Kill(usize),
    /// A server's host loses its power: its clients are told nothing.
    PowerLoss(usize),
    /// A server is told to stop. It is killed a while later.
    Stop(usize),
    /// A server runs again, as another one.
    Restart(usize),
    /// All tasks of a server stand still, and then go on as if no time had passed.
    Freeze(usize),
    Thaw(usize),
    /// A server is cut off from the others, as all know.
    DisconnectBus(usize),
    ReconnectBus(usize),
    /// A server hears nothing and is not heard, as nobody knows.
    Partition(usize),
    Heal(usize),
    /// A server does not reach the store.
    DisconnectStore(usize),
    ReconnectStore(usize),
    /// What is sent between a client and all servers waits, and then comes all at once.
    Hold(usize),
    Release(usize),
}

impl Plan {
    /// The world of this seed.
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
    /// This plan without anything bad.
    pub(super) fn without_faults(self) -> Self {
        Self {
            rejected_percent: 0,
            unknown_outcome_percent: 0,
            read_failure_percent: 0,
            ..self
        }
    }
}

/// What befalls one server: one thing after the other.
fn add_server_faults(
    rng: &mut SimRng,
    server: usize,
    faults_end: Duration,
    faults: &mut Vec<(Duration, FaultPlan)>,
) {
    let mut at = rng.duration_ms(0..=as_ms(faults_end));
    while at < faults_end {
        // Some are over before anybody notices; others outlast a lease.
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

/// What happens between one client and the servers.
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
