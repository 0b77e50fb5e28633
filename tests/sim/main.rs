//! Deterministic simulator: runs the whole server and several clients in a simulated world, under
//! simulated time and seeded randomness.
//!
//! The network delays and drops messages, hosts crash, and the disk loses writes that were not
//! synced. A seed determines everything in a world. A checker verifies the recorded history against
//! the guarantees of the protocol. `cluster.rs` runs several servers that share one store.
//!
//! `SIM_SEEDS` sets the number of worlds, whose seeds count up from 0. `SIM_SEED` runs the world of
//! one seed and prints its history.

/// Defines one test per shard of the seeds. Each test calls the given function with its shard
/// number.
macro_rules! shard_tests {
    ($share:ident) => {
        shard_tests! { $share:
            worlds_0 = 0;
            worlds_1 = 1;
            worlds_2 = 2;
            worlds_3 = 3;
            worlds_4 = 4;
            worlds_5 = 5;
            worlds_6 = 6;
            worlds_7 = 7;
        }
    };
    ($share:ident: $($name:ident = $number:literal;)*) => {
        $(
            #[test]
            fn $name() {
                println!("{:?}", $share($number));
            }
        )*
    };
}

mod checker;
mod client;
mod cluster;
mod fault_plan;
mod history;
mod history_mutations;
mod killable_socket;
mod match_view;
mod recorded_connection;
mod rng;
mod shared_client_state;
mod store;
mod store_fault_detection;
mod store_faults;
mod world;

use std::env;

use self::checker::Tally;
use self::fault_plan::Plan;
use self::world::RunResult;

/// Default number of worlds. `SIM_SEEDS` overrides it. `tests/run --all` runs more.
const SEED_COUNT: u64 = 400;

/// Number of tests that the worlds are divided into, so that they run on several cores.
const SHARD_COUNT: usize = 8;

/// Totals over all worlds that a test runs.
#[derive(Debug, Default)]
struct Totals {
    world_count: usize,
    crash_count: usize,
    tally: Tally,
}

impl Totals {
    fn add(&mut self, tally: Tally, crashes: usize) {
        self.world_count += 1;
        self.crash_count += crashes;
        self.tally.add(tally);
    }

    /// Panics if too little happened in the worlds for the checker to verify anything meaningful.
    fn assert_coverage(&self) {
        let Self {
            world_count: worlds,
            crash_count: crashes,
            tally,
        } = *self;
        let has_common_activity = crashes >= worlds / 2
            && tally.moves >= 5 * worlds
            && tally.repeated_moves >= worlds
            && tally.resumed_matches >= worlds
            && tally.refusals >= 5 * worlds
            && tally.ended_matches >= worlds
            && tally.charged_moves >= 2 * worlds
            && tally.flags >= worlds / 10
            && tally.takebacks >= worlds / 10
            && tally.received_chat >= worlds / 2
            && tally.delayed_updates >= 2 * worlds
            && tally.access_denials >= worlds / 2
            && tally.custom_positions >= worlds / 2
            && tally.displayed_ratings >= worlds / 4
            && tally.thinking_plies >= worlds / 10;
        let has_rare_activity = tally.correspondence_flags >= worlds / 100
            && tally.agreed_draws >= worlds / 40
            && tally.rematches >= worlds / 15
            && tally.stand_ins >= worlds / 40
            && tally.accepted_challenges >= worlds / 15
            && tally.turn_notifications >= worlds / 10
            && tally.list_comparisons >= worlds / 4
            && tally.rated_matches >= worlds / 20
            && tally.rating_notifications >= worlds / 20
            && tally.confirmed_blocks >= worlds / 20
            && tally.delayed_ratings >= worlds / 40
            && tally.received_hints >= worlds / 40
            && tally.analysis_updates >= worlds / 20;
        // Small samples are exempt, because a few worlds can be quiet by chance.
        assert!(
            has_common_activity || worlds < 50,
            "too little coverage: {self:?}"
        );
        assert!(
            has_rare_activity || worlds < 200,
            "too little coverage: {self:?}"
        );
    }
}

fn env_u64(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is not a number: {text}")),
    )
}

/// Checks a run. The error lists the violations and the command that reproduces them.
fn check_run(seed: u64, result: &RunResult) -> Result<Tally, String> {
    let (violations, tally) = checker::check(&result.history, &result.final_state);
    let violations = violations.iter().map(ToString::to_string);
    let failures: Vec<String> = result.run_error.iter().cloned().chain(violations).collect();
    if failures.is_empty() {
        return Ok(tally);
    }
    Err(format!(
        "world {seed}: {}\nto reproduce: SIM_SEED={seed} cargo test --test sim \
         single_seed_has_no_violations -- --nocapture",
        failures.join("\n")
    ))
}

/// Runs and checks every [`SHARD_COUNT`]th seed, starting with `first_seed`.
fn run_shard(first_seed: u64) -> Totals {
    let mut totals = Totals::default();
    let mut failures = Vec::new();
    let seed_count = env_u64("SIM_SEEDS").unwrap_or(SEED_COUNT);
    for seed in (first_seed..seed_count).step_by(SHARD_COUNT) {
        let result = world::run(Plan::new(seed), None);
        match check_run(seed, &result) {
            Ok(tally) => totals.add(tally, result.crashes_with_live_matches),
            Err(failure) => failures.push(failure),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    totals.assert_coverage();
    totals
}

shard_tests!(run_shard);

/// Failures can be reproduced only if a seed always gives the same history.
#[test]
fn same_seed_gives_identical_history() {
    for seed in 0..env_u64("SIM_TWICE").unwrap_or(20) {
        let history = || world::run(Plan::new(seed), None).history.to_string();
        let (first, second) = (history(), history());
        for (first, second) in first.lines().zip(second.lines()) {
            assert_eq!(first, second, "world {seed}");
        }
        assert_eq!(first.len(), second.len());
    }
}

/// Runs one world and prints its plan and history.
#[test]
fn single_seed_has_no_violations() {
    let seed = env_u64("SIM_SEED").unwrap_or(1);
    let plan = Plan::new(seed);
    println!("{plan:#?}");
    let result = world::run(plan, None);
    println!("{}", result.history);
    if let Err(failure) = check_run(seed, &result) {
        panic!("{failure}");
    }
}
