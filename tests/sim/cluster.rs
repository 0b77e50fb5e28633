//! Simulated worlds with three servers that share one store.
//!
//! Servers are frozen, killed, stopped, and disconnected from each other and from the store. The
//! bus loses, delays, duplicates and reorders messages. The clients and the checker are the same as
//! in worlds with one server.
//!
//! For clusters, the checker also verifies which server wrote each event, and that all clients
//! eventually received every event. It does not check clocks, because a fault of any server can
//! pause them. It does not check match lists, because servers exchange them with a delay. Turn
//! notifications, ratings and spectator delays are checked only with one server.
//!
//! `SIM_CLUSTER_SEEDS` sets the number of worlds. `SIM_CLUSTER_SEED` runs the world of one seed and
//! prints its history and its journal.

mod bus;
mod event_queue;
mod fault_plan;
mod history_mutations;
mod node;
mod store;
mod world;

pub(crate) use self::store::{Journal, JournalEntry, JournalWrite};

use self::fault_plan::Plan;
use self::world::run;
use super::checker::{Tally, ViolationKind, check};
use super::env_u64;
use super::world::RunResult;

/// Default number of worlds. `SIM_CLUSTER_SEEDS` overrides it. `tests/run --all` runs more.
const SEED_COUNT: u64 = 400;

/// Number of tests that the worlds are divided into, so that they run on several cores.
const SHARD_COUNT: usize = 8;

/// Maximum number of worlds that a test runs with a store without fencing.
const UNFENCED_SEEDS_MAX: u64 = 200;

/// Totals over all worlds that a test runs.
#[derive(Debug, Default)]
struct Totals {
    world_count: usize,
    fault_count: usize,
    /// Number of times that a server took over a match.
    takeovers: usize,
    /// Number of appends that the store refused with a conflict.
    fenced_writes: usize,
    tally: Tally,
}

impl Totals {
    fn add(&mut self, result: &RunResult, tally: Tally) {
        self.world_count += 1;
        self.fault_count += result.crashes_with_live_matches;
        self.tally.add(tally);
        let journal = result
            .final_state
            .cluster
            .iter()
            .map(|cluster| &cluster.journal);
        for journal in journal {
            self.fenced_writes += journal.fenced_writes;
            let is_takeover =
                |entry: &&JournalEntry| matches!(entry.write, JournalWrite::TakenOver { .. });
            self.takeovers += journal.entries.iter().filter(is_takeover).count();
        }
    }

    /// Panics if too little happened in the worlds for the checker to verify anything meaningful.
    fn assert_coverage(&self) {
        let Self {
            world_count: worlds,
            fault_count: troubles,
            takeovers: taken,
            fenced_writes: refused,
            tally,
        } = *self;
        // Small samples are exempt, because a few worlds can be quiet by chance.
        let is_large_sample = worlds >= 50;
        let has_activity = troubles >= 5 * worlds
            && taken >= worlds
            && refused >= worlds / 20
            && tally.moves >= 4 * worlds
            && tally.repeated_moves >= worlds
            && tally.resumed_matches >= worlds
            && tally.refusals >= 8 * worlds
            && tally.ended_matches >= worlds
            && tally.takebacks >= worlds / 10
            && tally.rematches >= worlds / 20
            && tally.stand_ins >= worlds / 40
            && tally.accepted_challenges >= worlds / 20;
        assert!(
            has_activity || !is_large_sample,
            "too little coverage: {self:?}"
        );
    }
}

/// Checks a run. The error lists the violations and the command that reproduces them.
fn check_run(seed: u64, result: &RunResult) -> Result<Tally, String> {
    let (violations, tally) = check(&result.history, &result.final_state);
    let violations = violations.iter().map(ToString::to_string);
    let failures: Vec<String> = result.run_error.iter().cloned().chain(violations).collect();
    if failures.is_empty() {
        return Ok(tally);
    }
    Err(format!(
        "world {seed}: {}\nto reproduce: SIM_CLUSTER_SEED={seed} cargo test --test sim \
         cluster::single_seed_has_no_violations -- --nocapture",
        failures.join("\n")
    ))
}

/// Runs and checks every [`SHARD_COUNT`]th seed, starting with `first_seed`.
fn run_shard(first_seed: u64) -> Totals {
    let mut totals = Totals::default();
    let mut failures = Vec::new();
    let seed_count = env_u64("SIM_CLUSTER_SEEDS").unwrap_or(SEED_COUNT);
    for seed in (first_seed..seed_count).step_by(SHARD_COUNT) {
        let result = run(Plan::new(seed), true);
        match check_run(seed, &result) {
            Ok(tally) => totals.add(&result, tally),
            Err(failure) => failures.push(failure),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    totals.assert_coverage();
    totals
}

shard_tests!(run_shard);

/// Runs worlds without fencing and counts the worlds with a violation of one of the given kinds.
/// Stops when the count reaches `limit`.
fn count_unfenced_violations(limit: usize, kinds: &[ViolationKind]) -> usize {
    let has_violation = |seed: &u64| {
        let result = run(Plan::new(*seed), false);
        let (violations, _) = check(&result.history, &result.final_state);
        violations.iter().any(|fault| kinds.contains(&fault.kind))
    };
    (0..UNFENCED_SEEDS_MAX)
        .filter(has_violation)
        .take(limit)
        .count()
}

/// Only the fencing of the store prevents a former owner of a match from writing to it.
#[test]
fn without_fencing_former_owner_write_is_detected() {
    assert_eq!(
        count_unfenced_violations(5, &[ViolationKind::UnfencedWrite]),
        5
    );
}

/// Without fencing, clients can observe violations such as lost writes or conflicting results.
#[test]
fn without_fencing_clients_observe_violation() {
    let observable = [
        ViolationKind::LostWrite,
        ViolationKind::Contradiction,
        ViolationKind::ConflictingResults,
    ];
    assert_eq!(count_unfenced_violations(1, &observable), 1);
}

/// Failures can be reproduced only if a seed always gives the same history.
#[test]
fn same_seed_gives_identical_history() {
    for seed in 0..10 {
        let history_and_journal = || {
            let result = run(Plan::new(seed), true);
            let journal = result
                .final_state
                .cluster
                .expect("a cluster run has a journal")
                .journal;
            format!("{}{journal}", result.history)
        };
        let (first, second) = (history_and_journal(), history_and_journal());
        for (first, second) in first.lines().zip(second.lines()) {
            assert_eq!(first, second, "world {seed}");
        }
        assert_eq!(first.len(), second.len());
    }
}

/// Runs one world and prints its plan, history and journal.
#[test]
fn single_seed_has_no_violations() {
    let seed = env_u64("SIM_CLUSTER_SEED").unwrap_or(1);
    let plan = Plan::new(seed);
    println!("{plan:#?}");
    let result = run(plan, true);
    println!("{}", result.history);
    if let Some(cluster) = &result.final_state.cluster {
        println!("{}", cluster.journal);
    }
    if let Err(failure) = check_run(seed, &result) {
        panic!("{failure}");
    }
}
