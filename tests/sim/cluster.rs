//! Worlds of three servers over one store: servers are frozen, killed, stopped and cut off, from each other
//! and from the store, and the bus between them loses, delays, doubles and reorders what is sent. Their
//! clients are those of worlds of one server, and so is the checker, which looks beside at what was
//! written by whom, and whether all were told all of it in the end. It does not look at clocks, which
//! stand for whatever befalls a server, nor at lists, which servers tell each other of in their time.
//!
//! `SIM_CLUSTER_SEEDS` sets how many there are; `SIM_CLUSTER_SEED` runs that one world and prints
//! all that happens in it, and all that is written.

mod bus;
mod fault_plan;
mod history_mutations;
mod network;
mod node;
mod store;
mod world;

pub(crate) use self::store::{Journal, JournalEntry, JournalWrite};

use self::fault_plan::Plan;
use self::world::run;
use super::checker::{Tally, ViolationKind, check};
use super::env_u64;
use super::world::RunResult;

/// Number of worlds, unless `SIM_CLUSTER_SEEDS` says otherwise. `tests/run --all` runs more.
const SEED_COUNT: u64 = 400;

/// Into how many tests they are divided, so that every core has something to do.
const SHARD_COUNT: usize = 8;

/// How many worlds have a store that does not compare.
const UNFENCED_SEEDS_MAX: u64 = 200;

/// What there was in many worlds.
#[derive(Debug, Default)]
struct Totals {
    world_count: usize,
    fault_count: usize,
    /// How often a match was taken over.
    takeovers: usize,
    /// How often the store refused what a former owner was about to write.
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

    /// Worlds in which nothing happens would be checked in vain.
    fn assert_coverage(&self) {
        let Self {
            world_count: worlds,
            fault_count: troubles,
            takeovers: taken,
            fenced_writes: refused,
            tally,
        } = *self;
        // Few worlds may happen to be quiet.
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

/// What is wrong with a world, and how to see it again.
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

/// Looks at every so many worlds, from this one on.
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

/// In how many of the first worlds, up to so many, one of these is found if the store does not compare.
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

/// What the servers do beside is not what keeps two owners of a match apart.
#[test]
fn without_fencing_former_owner_write_is_detected() {
    assert_eq!(
        count_unfenced_violations(5, &[ViolationKind::UnfencedWrite]),
        5
    );
}

/// And that is seen by what people were told, too.
#[test]
fn without_fencing_clients_observe_violation() {
    let observable = [
        ViolationKind::LostWrite,
        ViolationKind::Contradiction,
        ViolationKind::ConflictingResults,
    ];
    assert_eq!(count_unfenced_violations(1, &observable), 1);
}

/// What a failing seed is worth.
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

/// One world, with all that happens in it.
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
