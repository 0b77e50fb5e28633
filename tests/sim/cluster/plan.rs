//! What a seed makes of a world of several servers: who lives in it, and what befalls it when.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::fault_plan::{Role, as_ms};
use crate::rng::SimRng;

/// How many servers there are.
pub(super) const SERVERS: usize = 3;

/// The owners of the dice of a world. Clients have those that they have with one server; each run of a
/// server has one more.
const PLAN: u64 = 1 << 32;
pub(super) const BUS: u64 = PLAN + 1;
pub(super) const FIRST_RUN: u64 = PLAN + 2;

/// A world before it begins.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(super) clients: Vec<Role>,
    pub(super) latency_max: Duration,
    pub(super) bus: BusPlan,
    pub(super) store: StorePlan,
    /// In the order of time.
    pub(super) fates: Vec<(Duration, FaultPlan)>,
    /// When nothing bad happens any more.
    pub(super) calm_at: Duration,
}

/// How the bus behaves.
#[derive(Clone, Debug)]
pub(super) struct BusPlan {
    pub(super) latency_us: RangeInclusive<u64>,
    pub(super) lost_percent: u64,
    pub(super) doubled_percent: u64,
    /// Whether what one server sends another may come in another order.
    pub(super) reorders: bool,
}

/// How the store behaves, or the way to it.
#[derive(Clone, Debug)]
pub(super) struct StorePlan {
    /// How long it takes to get there, and back again.
    pub(super) takes_us: RangeInclusive<u64>,
    /// How many writes out of a hundred are turned down.
    pub(super) refused_percent: u64,
    /// How many writes out of a hundred end without anybody knowing whether they were made.
    pub(super) unknown_percent: u64,
    /// How many reads out of a hundred fail.
    pub(super) unreadable_percent: u64,
}

/// What befalls a world. A server or a client is meant by its place.
#[derive(Clone, Copy, Debug)]
pub(super) enum FaultPlan {
    /// A server's process is killed: its peers are told so by its operating system.
    Kill(usize),
    /// A server's host loses its power: its clients are told nothing.
    CutPower(usize),
    /// A server is told to stop. It is killed a while later.
    Stop(usize),
    /// A server runs again, as another one.
    Restart(usize),
    /// All tasks of a server stand still, and then go on as if no time had passed.
    Freeze(usize),
    Thaw(usize),
    /// A server is cut off from the others, as all know.
    Part(usize),
    Join(usize),
    /// A server hears nothing and is not heard, as nobody knows.
    Deafen(usize),
    Hear(usize),
    /// A server does not reach the store.
    Starve(usize),
    Feed(usize),
    /// What is sent between a client and all servers waits, and then comes all at once.
    Hold(usize),
    Release(usize),
}

impl Plan {
    /// The world of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        let dice = &mut SimRng::new(seed, PLAN);
        let calm_at = dice.duration_ms(3000..=8000);
        let mut clients = vec![Role::Player; 3];
        if dice.chance(60) {
            clients.push(Role::Spectator);
        }
        let mut fates = Vec::new();
        for server in 0..SERVERS {
            troubles(dice, server, calm_at, &mut fates);
        }
        for client in 0..clients.len() {
            holds(dice, client, calm_at, &mut fates);
        }
        fates.sort_by_key(|(at, _)| *at);
        Self {
            seed,
            latency_max: Duration::from_millis(one_of(dice, [2, 10, 30])),
            bus: BusPlan::new(dice),
            store: StorePlan::new(dice),
            clients,
            fates,
            calm_at,
        }
    }
}

impl BusPlan {
    fn new(dice: &mut SimRng) -> Self {
        Self {
            latency_us: 100..=one_of(dice, [1000, 5000, 30_000]),
            lost_percent: one_of(dice, [0, 0, 1, 10]),
            doubled_percent: one_of(dice, [0, 0, 1, 10]),
            reorders: dice.chance(40),
        }
    }
}

impl StorePlan {
    fn new(dice: &mut SimRng) -> Self {
        let is_bad = dice.chance(30);
        let mut percent = |most| if is_bad { dice.between(0..=most) } else { 0 };
        Self {
            refused_percent: percent(5),
            unknown_percent: percent(5),
            unreadable_percent: percent(10),
            takes_us: 100..=one_of(dice, [1000, 5000, 30_000]),
        }
    }
}

impl StorePlan {
    /// This plan without anything bad.
    pub(super) fn calm(self) -> Self {
        Self {
            refused_percent: 0,
            unknown_percent: 0,
            unreadable_percent: 0,
            ..self
        }
    }
}

/// What befalls one server: one thing after the other.
fn troubles(
    dice: &mut SimRng,
    server: usize,
    calm_at: Duration,
    fates: &mut Vec<(Duration, FaultPlan)>,
) {
    let mut at = dice.duration_ms(0..=as_ms(calm_at));
    while at < calm_at {
        // Some are over before anybody notices; others outlast a lease.
        let lasts = match dice.between(0..=9) {
            0..=3 => dice.duration_ms(20..=900),
            4..=8 => dice.duration_ms(900..=3000),
            _ => dice.duration_ms(5000..=7000),
        };
        let until = (at + lasts).min(calm_at);
        let (begins, ends) = match dice.between(0..=12) {
            0..=1 => (FaultPlan::Kill(server), FaultPlan::Restart(server)),
            2 => (FaultPlan::CutPower(server), FaultPlan::Restart(server)),
            3..=5 => (FaultPlan::Freeze(server), FaultPlan::Thaw(server)),
            6..=8 => (FaultPlan::Part(server), FaultPlan::Join(server)),
            9..=10 => (FaultPlan::Deafen(server), FaultPlan::Hear(server)),
            11 => (FaultPlan::Starve(server), FaultPlan::Feed(server)),
            _ => {
                fates.push((at, FaultPlan::Stop(server)));
                at = (at + Duration::from_millis(500)).min(until);
                (FaultPlan::Kill(server), FaultPlan::Restart(server))
            }
        };
        fates.extend([(at, begins), (until, ends)]);
        at = until + dice.duration_ms(0..=2500);
    }
}

/// What happens between one client and the servers.
fn holds(
    dice: &mut SimRng,
    client: usize,
    calm_at: Duration,
    fates: &mut Vec<(Duration, FaultPlan)>,
) {
    if dice.chance(40) {
        let at = dice.duration_ms(0..=as_ms(calm_at));
        let until = (at + dice.duration_ms(20..=1500)).min(calm_at);
        fates.extend([
            (at, FaultPlan::Hold(client)),
            (until, FaultPlan::Release(client)),
        ]);
    }
}

fn one_of<const N: usize>(dice: &mut SimRng, choices: [u64; N]) -> u64 {
    *dice.pick(&choices).expect("there are some")
}
