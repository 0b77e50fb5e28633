//! What a seed makes of a world: who lives in it, and what befalls it when.

use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use super::rng::SimRng;

/// The owners of the dice of a world. Clients come after these.
pub(crate) const PLAN_RNG_STREAM: u64 = 0;
pub(crate) const DISK_RNG_STREAM: u64 = 1;
pub(crate) const FIRST_CLIENT_RNG_STREAM: u64 = 2;

/// The time for a move where a match is played over days: the least there is.
pub(crate) const CORRESPONDENCE_MOVE_TIME: Duration = Duration::from_hours(1);

/// A world before it begins.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) clients: Vec<Role>,
    /// Whether they have accounts, and so may play for ratings.
    pub(crate) has_accounts: bool,
    pub(crate) latency_max: Duration,
    /// What the server gives back for the network, at most, for each move.
    pub(crate) lag_compensation: Duration,
    pub(crate) disk: DiskPlan,
    /// In the order of time.
    pub(crate) faults: Vec<(Duration, FaultPlan)>,
    /// When nothing bad happens any more, and everybody comes back for a last look.
    pub(crate) faults_end: Duration,
}

/// What a client is mostly there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Player,
    Spectator,
}

/// How the disk behaves.
#[derive(Clone, Debug)]
pub(crate) struct DiskPlan {
    /// How long a sync takes.
    pub(crate) sync_ms: RangeInclusive<u64>,
    /// How many writes out of a hundred are turned down.
    pub(crate) unavailable_percent: u64,
    /// How many writes out of a hundred end without the store knowing whether they have happened.
    pub(crate) unknown_percent: u64,
    /// How many reads out of a hundred fail.
    pub(crate) unreadable_percent: u64,
    /// When every write is turned down.
    pub(crate) outage: Option<Range<Duration>>,
}

/// What befalls a world. A client is meant by its place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FaultPlan {
    /// The server's process is killed: its peers are told so by its operating system.
    Kill,
    /// The server's host loses its power: nobody is told anything.
    PowerLoss,
    /// The server runs again. For so long nobody was there: by so much more has the wall clock gone on.
    Restart(Duration),
    /// What is sent between a client and the server waits, and then comes all at once.
    Hold(usize),
    Release(usize),
    /// What is sent between a client and the server is lost.
    Partition(usize),
    Heal(usize),
    /// From now on messages between a client and the server take so long.
    SetLatency(usize, Duration),
}

impl DiskPlan {
    /// Whether every write is turned down now.
    pub(crate) fn is_unavailable(&self, now: Duration) -> bool {
        self.outage
            .as_ref()
            .is_some_and(|outage| outage.contains(&now))
    }

    fn new(rng: &mut SimRng, faults_end: Duration) -> Self {
        let slowest_sync_ms = [2, 10, 40, 150][random_index(rng, 4)];
        let is_unreliable = rng.chance(30);
        let outage_start_ms = rng.between(0..=as_ms(faults_end));
        let outage_end_ms = (outage_start_ms + rng.between(100..=1000)).min(as_ms(faults_end));
        Self {
            sync_ms: 1..=slowest_sync_ms,
            unavailable_percent: if is_unreliable { rng.between(0..=5) } else { 0 },
            unknown_percent: if is_unreliable { rng.between(0..=5) } else { 0 },
            unreadable_percent: if is_unreliable {
                rng.between(0..=20)
            } else {
                0
            },
            outage: rng.chance(15).then(|| {
                Duration::from_millis(outage_start_ms)..Duration::from_millis(outage_end_ms)
            }),
        }
    }
}

impl Plan {
    /// The world of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        let rng = &mut SimRng::new(seed, PLAN_RNG_STREAM);
        let faults_end = rng.duration_ms(2500..=5000);
        let mut clients = vec![Role::Player; 2 + random_index(rng, 2)];
        if rng.chance(60) {
            clients.push(Role::Spectator);
        }
        let mut faults = Vec::new();
        add_crashes(rng, faults_end, &mut faults);
        for client in 0..clients.len() {
            add_network_faults(rng, client, faults_end, &mut faults);
        }
        faults.sort_by_key(|(at, _)| *at);
        Self {
            seed,
            latency_max: Duration::from_millis([2, 10, 30][random_index(rng, 3)]),
            lag_compensation: Duration::from_millis([0, 100, 300][random_index(rng, 3)]),
            disk: DiskPlan::new(rng, faults_end),
            has_accounts: rng.chance(50),
            clients,
            faults,
            faults_end,
        }
    }

    /// The plan of this seed without anything bad.
    pub(crate) fn without_faults(seed: u64) -> Self {
        let plan = Self::with_restarts_only(seed);
        Self {
            faults: Vec::new(),
            ..plan
        }
    }

    /// The plan of this seed without anything bad but that the server dies and comes back.
    pub(crate) fn with_restarts_only(seed: u64) -> Self {
        let mut plan = Self::new(seed);
        let is_restart_fault = |fault: &FaultPlan| {
            matches!(
                fault,
                FaultPlan::Kill | FaultPlan::PowerLoss | FaultPlan::Restart(_)
            )
        };
        plan.faults.retain(|(_, fault)| is_restart_fault(fault));
        Self {
            disk: DiskPlan {
                unavailable_percent: 0,
                unknown_percent: 0,
                unreadable_percent: 0,
                outage: None,
                ..plan.disk
            },
            ..plan
        }
    }

    /// This plan, but in the end nobody can reach the server, and all is due that is played over days.
    pub(crate) fn ending_in_partition(self) -> Self {
        let (at, faults_end) = (self.faults_end, self.faults_end + Duration::from_secs(2));
        let mut faults = vec![
            (at, FaultPlan::Kill),
            (at, FaultPlan::Restart(CORRESPONDENCE_MOVE_TIME)),
        ];
        let clients = 0..self.clients.len();
        faults.extend(
            clients
                .clone()
                .map(|client| (at, FaultPlan::Partition(client))),
        );
        faults.extend(clients.map(|client| (faults_end, FaultPlan::Heal(client))));
        Self {
            faults,
            faults_end,
            ..self
        }
    }
}

/// One world in six has no crash; the others have up to three.
fn add_crashes(rng: &mut SimRng, faults_end: Duration, faults: &mut Vec<(Duration, FaultPlan)>) {
    let crash_count = [0, 1, 1, 1, 2, 3][random_index(rng, 6)];
    let mut at = Duration::ZERO;
    for _ in 0..crash_count {
        at += rng.duration_ms(200..=as_ms(faults_end) / crash_count);
        let fault = if rng.chance(60) {
            FaultPlan::Kill
        } else {
            FaultPlan::PowerLoss
        };
        faults.push((at, fault));
        at += rng.duration_ms(10..=600);
        let downtime = if rng.chance(60) {
            // What began by now and is played over days falls due before this, or soon after.
            CORRESPONDENCE_MOVE_TIME - rng.duration_ms(0..=as_ms(at))
        } else {
            Duration::ZERO
        };
        faults.push((at, FaultPlan::Restart(downtime)));
    }
}

/// What happens between one client and the server: one thing after the other.
fn add_network_faults(
    rng: &mut SimRng,
    client: usize,
    faults_end: Duration,
    faults: &mut Vec<(Duration, FaultPlan)>,
) {
    let mut at = rng.duration_ms(0..=as_ms(faults_end));
    while at < faults_end && rng.chance(70) {
        let until = (at + rng.duration_ms(20..=1500)).min(faults_end);
        match rng.between(0..=2) {
            0 => faults.extend([
                (at, FaultPlan::Hold(client)),
                (until, FaultPlan::Release(client)),
            ]),
            1 => faults.extend([
                (at, FaultPlan::Partition(client)),
                (until, FaultPlan::Heal(client)),
            ]),
            _ => faults.push((at, FaultPlan::SetLatency(client, rng.duration_ms(1..=200)))),
        }
        at = until + rng.duration_ms(0..=1500);
    }
}

fn random_index(rng: &mut SimRng, bound: usize) -> usize {
    usize::try_from(rng.next_u64() % bound as u64).expect("remainder is below the bound")
}

pub(crate) fn as_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).expect("duration fits u64 milliseconds")
}
