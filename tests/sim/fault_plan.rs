//! Plan of a simulated world, derived from its seed: its clients and the faults with their times.

use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use super::rng::SimRng;

/// RNG stream numbers of a world. The clients have consecutive streams, starting with
/// [`FIRST_CLIENT_RNG_STREAM`].
pub(crate) const PLAN_RNG_STREAM: u64 = 0;
pub(crate) const DISK_RNG_STREAM: u64 = 1;
pub(crate) const FIRST_CLIENT_RNG_STREAM: u64 = 2;

/// Time per move in correspondence matches: one hour, the minimum.
pub(crate) const CORRESPONDENCE_MOVE_TIME: Duration = Duration::from_hours(1);

/// Plan of a simulated world.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) clients: Vec<Role>,
    /// Whether the clients have accounts and may therefore play rated matches.
    pub(crate) has_accounts: bool,
    pub(crate) latency_max: Duration,
    /// Lag compensation setting of the server.
    pub(crate) lag_compensation: Duration,
    pub(crate) disk: DiskPlan,
    /// Faults in the order of their times.
    pub(crate) faults: Vec<(Duration, FaultPlan)>,
    /// End of fault injection, in simulated time. The clients then start the final check.
    pub(crate) faults_end: Duration,
}

/// Main activity of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Player,
    Spectator,
}

/// Behaviour of the simulated disk.
#[derive(Clone, Debug)]
pub(crate) struct DiskPlan {
    /// Duration of a sync.
    pub(crate) sync_ms: RangeInclusive<u64>,
    /// Percentage of writes that the store rejects.
    pub(crate) unavailable_percent: u64,
    /// Percentage of writes that fail with an unknown outcome.
    pub(crate) unknown_percent: u64,
    /// Percentage of reads that fail.
    pub(crate) unreadable_percent: u64,
    /// Period of a complete outage. The store rejects every write during an outage.
    pub(crate) outage: Option<Range<Duration>>,
}

/// Fault in a world with one server. A `usize` is the index of a client.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FaultPlan {
    /// Kills the server process. The operating system closes its sockets, so the clients notice.
    Kill,
    /// Cuts the power of the server's host. The clients receive no notification.
    PowerLoss,
    /// Restarts the server after it was down for this duration. The downtime advances the wall
    /// clock, but not the simulated time.
    Restart(Duration),
    /// Delays all messages between a client and the server until `Release` delivers them.
    Hold(usize),
    Release(usize),
    /// Drops all messages between a client and the server until `Heal`.
    Partition(usize),
    Heal(usize),
    /// Sets the latency between a client and the server.
    SetLatency(usize, Duration),
}

impl DiskPlan {
    /// Returns whether the store rejects every write at this time.
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
    /// Derives the plan of a world from its seed.
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

    /// Returns the plan for the given seed with all faults removed.
    pub(crate) fn without_faults(seed: u64) -> Self {
        let plan = Self::with_restarts_only(seed);
        Self {
            faults: Vec::new(),
            ..plan
        }
    }

    /// Returns the plan for the given seed with only the crashes and restarts of the server as
    /// faults.
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

    /// Replaces all faults of the plan with one restart of the server at the end of fault
    /// injection. For two seconds after the restart, no client can reach the server. The downtime
    /// before the restart makes all correspondence turns overdue.
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

/// Adds up to three crashes. One plan in six has none.
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
            // The downtime is slightly shorter than the time per move. Running correspondence turns
            // therefore expire shortly before or shortly after this restart.
            CORRESPONDENCE_MOVE_TIME - rng.duration_ms(0..=as_ms(at))
        } else {
            Duration::ZERO
        };
        faults.push((at, FaultPlan::Restart(downtime)));
    }
}

/// Adds network faults between one client and the server. A fault starts after the end of the
/// previous fault; a changed latency stays in force.
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
