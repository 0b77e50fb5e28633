//! What a seed makes of a world: who lives in it, and what befalls it when.

use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use super::dice::Dice;

/// The owners of the dice of a world. Clients come after these.
pub(crate) const PLAN: u64 = 0;
pub(crate) const DISK: u64 = 1;
pub(crate) const FIRST_CLIENT: u64 = 2;

/// The time for a move where a match is played over days: the least there is.
pub(crate) const DAYS_MOVE: Duration = Duration::from_hours(1);

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
    pub(crate) fates: Vec<(Duration, FaultPlan)>,
    /// When nothing bad happens any more, and everybody comes back for a last look.
    pub(crate) calm_at: Duration,
}

/// What a client is mostly there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Player,
    Watcher,
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
    pub(crate) sick: Option<Range<Duration>>,
}

/// What befalls a world. A client is meant by its place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FaultPlan {
    /// The server's process is killed: its peers are told so by its operating system.
    Kill,
    /// The server's host loses its power: nobody is told anything.
    CutPower,
    /// The server runs again. For so long nobody was there: by so much more has the wall clock gone on.
    Restart(Duration),
    /// What is sent between a client and the server waits, and then comes all at once.
    Hold(usize),
    Release(usize),
    /// What is sent between a client and the server is lost.
    Part(usize),
    Join(usize),
    /// From now on messages between a client and the server take so long.
    Slow(usize, Duration),
}

impl DiskPlan {
    /// Whether every write is turned down now.
    pub(crate) fn is_sick(&self, now: Duration) -> bool {
        self.sick.as_ref().is_some_and(|sick| sick.contains(&now))
    }

    fn new(dice: &mut Dice, calm_at: Duration) -> Self {
        let slowest = [2, 10, 40, 150][index(dice, 4)];
        let is_bad = dice.percent(30);
        let sick_at = dice.between(0..=as_ms(calm_at));
        let sick_until = (sick_at + dice.between(100..=1000)).min(as_ms(calm_at));
        Self {
            sync_ms: 1..=slowest,
            unavailable_percent: if is_bad { dice.between(0..=5) } else { 0 },
            unknown_percent: if is_bad { dice.between(0..=5) } else { 0 },
            unreadable_percent: if is_bad { dice.between(0..=20) } else { 0 },
            sick: dice
                .percent(15)
                .then(|| Duration::from_millis(sick_at)..Duration::from_millis(sick_until)),
        }
    }
}

impl Plan {
    /// The world of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        let dice = &mut Dice::new(seed, PLAN);
        let calm_at = dice.ms(2500..=5000);
        let mut clients = vec![Role::Player; 2 + index(dice, 2)];
        if dice.percent(60) {
            clients.push(Role::Watcher);
        }
        let mut fates = Vec::new();
        crashes(dice, calm_at, &mut fates);
        for client in 0..clients.len() {
            troubles(dice, client, calm_at, &mut fates);
        }
        fates.sort_by_key(|(at, _)| *at);
        Self {
            seed,
            latency_max: Duration::from_millis([2, 10, 30][index(dice, 3)]),
            lag_compensation: Duration::from_millis([0, 100, 300][index(dice, 3)]),
            disk: DiskPlan::new(dice, calm_at),
            has_accounts: dice.percent(50),
            clients,
            fates,
            calm_at,
        }
    }

    /// The plan of this seed without anything bad.
    pub(crate) fn calm(seed: u64) -> Self {
        let plan = Self::with_outages(seed);
        Self {
            fates: Vec::new(),
            ..plan
        }
    }

    /// The plan of this seed without anything bad but that the server dies and comes back.
    pub(crate) fn with_outages(seed: u64) -> Self {
        let mut plan = Self::new(seed);
        let is_outage = |fate: &FaultPlan| {
            matches!(
                fate,
                FaultPlan::Kill | FaultPlan::CutPower | FaultPlan::Restart(_)
            )
        };
        plan.fates.retain(|(_, fate)| is_outage(fate));
        Self {
            disk: DiskPlan {
                unavailable_percent: 0,
                unknown_percent: 0,
                unreadable_percent: 0,
                sick: None,
                ..plan.disk
            },
            ..plan
        }
    }

    /// This plan, but in the end nobody can reach the server, and all is due that is played over days.
    pub(crate) fn deserted(self) -> Self {
        let (at, calm_at) = (self.calm_at, self.calm_at + Duration::from_secs(2));
        let mut fates = vec![(at, FaultPlan::Kill), (at, FaultPlan::Restart(DAYS_MOVE))];
        let clients = 0..self.clients.len();
        fates.extend(clients.clone().map(|client| (at, FaultPlan::Part(client))));
        fates.extend(clients.map(|client| (calm_at, FaultPlan::Join(client))));
        Self {
            fates,
            calm_at,
            ..self
        }
    }
}

/// One world in six has no crash; the others have up to three.
fn crashes(dice: &mut Dice, calm_at: Duration, fates: &mut Vec<(Duration, FaultPlan)>) {
    let crashes = [0, 1, 1, 1, 2, 3][index(dice, 6)];
    let mut at = Duration::ZERO;
    for _ in 0..crashes {
        at += dice.ms(200..=as_ms(calm_at) / crashes);
        let how = if dice.percent(60) {
            FaultPlan::Kill
        } else {
            FaultPlan::CutPower
        };
        fates.push((at, how));
        at += dice.ms(10..=600);
        let away = if dice.percent(60) {
            // What began by now and is played over days falls due before this, or soon after.
            DAYS_MOVE - dice.ms(0..=as_ms(at))
        } else {
            Duration::ZERO
        };
        fates.push((at, FaultPlan::Restart(away)));
    }
}

/// What happens between one client and the server: one thing after the other.
fn troubles(
    dice: &mut Dice,
    client: usize,
    calm_at: Duration,
    fates: &mut Vec<(Duration, FaultPlan)>,
) {
    let mut at = dice.ms(0..=as_ms(calm_at));
    while at < calm_at && dice.percent(70) {
        let until = (at + dice.ms(20..=1500)).min(calm_at);
        match dice.between(0..=2) {
            0 => fates.extend([
                (at, FaultPlan::Hold(client)),
                (until, FaultPlan::Release(client)),
            ]),
            1 => fates.extend([
                (at, FaultPlan::Part(client)),
                (until, FaultPlan::Join(client)),
            ]),
            _ => fates.push((at, FaultPlan::Slow(client, dice.ms(1..=200)))),
        }
        at = until + dice.ms(0..=1500);
    }
}

fn index(dice: &mut Dice, below: usize) -> usize {
    usize::try_from(dice.number() % below as u64).expect("less than the bound")
}

pub(crate) fn as_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).expect("a few seconds")
}
