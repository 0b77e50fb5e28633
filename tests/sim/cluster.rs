//! Worlds of three servers over one store: servers are frozen, killed, stopped and cut off, from each other
//! and from the store, and the bus between them loses, delays, doubles and reorders what is sent. Their
//! clients are those of worlds of one server, and so is the checker, which looks beside at what was
//! written by whom, and whether all were told all of it in the end. It does not look at clocks, which
//! stand for whatever befalls a server, nor at lists, which servers tell each other of in their time.
//!
//! `SIM_CLUSTER_SEEDS` sets how many there are; `SIM_CLUSTER_SEED` runs that one world and prints
//! all that happens in it, and all that is written.

mod bus;
mod edited;
mod ground;
mod node;
mod plan;
mod store;
mod world;

pub(crate) use self::store::{Entry, Journal, Written};

use self::plan::Plan;
use self::world::run;
use super::checker::{Kind, Tally, check};
use super::number;
use super::world::Ended;

/// Number of worlds, unless `SIM_CLUSTER_SEEDS` says otherwise. `tests/run --all` runs more.
const SEEDS: u64 = 400;

/// Into how many tests they are divided, so that every core has something to do.
const SHARES: usize = 8;

/// How many worlds have a store that does not compare.
const BLIND: u64 = 200;

/// What there was in many worlds.
#[derive(Debug, Default)]
struct Sum {
    worlds: usize,
    troubles: usize,
    /// How often a match was taken over.
    taken: usize,
    /// How often the store refused what a former owner was about to write.
    refused: usize,
    tally: Tally,
}

impl Sum {
    fn add(&mut self, ended: &Ended, tally: Tally) {
        self.worlds += 1;
        self.troubles += ended.crashes_in_play;
        self.tally.add(tally);
        let journal = ended.kept.cluster.iter().map(|cluster| &cluster.journal);
        for journal in journal {
            self.refused += journal.refused;
            let is_taken = |entry: &&Entry| matches!(entry.written, Written::Taken { .. });
            self.taken += journal.entries.iter().filter(is_taken).count();
        }
    }

    /// Worlds in which nothing happens would be checked in vain.
    fn is_enough(&self) {
        let Self {
            worlds,
            troubles,
            taken,
            refused,
            tally,
        } = *self;
        // Few worlds may happen to be quiet.
        let is_many = worlds >= 50;
        let happens = troubles >= 5 * worlds
            && taken >= worlds
            && refused >= worlds / 20
            && tally.moves >= 4 * worlds
            && tally.repeats >= worlds
            && tally.resumed >= worlds
            && tally.refusals >= 8 * worlds
            && tally.ended >= worlds
            && tally.takebacks >= worlds / 10
            && tally.rematches >= worlds / 20
            && tally.stand_ins >= worlds / 40
            && tally.challenges >= worlds / 20;
        assert!(happens || !is_many, "too little happens: {self:?}");
    }
}

/// What is wrong with a world, and how to see it again.
fn wrong(seed: u64, ended: &Ended) -> Result<Tally, String> {
    let (faults, tally) = check(&ended.history, &ended.kept);
    let faults = faults.iter().map(ToString::to_string);
    let wrong: Vec<String> = ended.stuck.iter().cloned().chain(faults).collect();
    if wrong.is_empty() {
        return Ok(tally);
    }
    Err(format!(
        "world {seed}: {}\nto see it again: SIM_CLUSTER_SEED={seed} cargo test --test sim \
         cluster::one_world -- --nocapture",
        wrong.join("\n")
    ))
}

/// Looks at every so many worlds, from this one on.
fn share(first: u64) -> Sum {
    let mut sum = Sum::default();
    let mut wrongs = Vec::new();
    let seeds = number("SIM_CLUSTER_SEEDS").unwrap_or(SEEDS);
    for seed in (first..seeds).step_by(SHARES) {
        let ended = run(Plan::new(seed), true);
        match wrong(seed, &ended) {
            Ok(tally) => sum.add(&ended, tally),
            Err(what) => wrongs.push(what),
        }
    }
    assert!(wrongs.is_empty(), "{}", wrongs.join("\n\n"));
    sum.is_enough();
    sum
}

shares!(share);

/// In how many of the first worlds, up to so many, one of these is found if the store does not compare.
fn found_blind(most: usize, kinds: &[Kind]) -> usize {
    let is_found = |seed: &u64| {
        let ended = run(Plan::new(*seed), false);
        let (faults, _) = check(&ended.history, &ended.kept);
        faults.iter().any(|fault| kinds.contains(&fault.kind))
    };
    (0..BLIND).filter(is_found).take(most).count()
}

/// What the servers do beside is not what keeps two owners of a match apart.
#[test]
fn without_the_compare_a_former_owner_writes() {
    assert_eq!(found_blind(5, &[Kind::Fenced]), 5);
}

/// And that is seen by what people were told, too.
#[test]
fn without_the_compare_somebody_is_told_what_is_not_so() {
    let told = [Kind::Lost, Kind::Contradiction, Kind::TwoResults];
    assert_eq!(found_blind(1, &told), 1);
}

/// What a failing seed is worth.
#[test]
fn the_same_seed_gives_the_same_world() {
    for seed in 0..10 {
        let all = || {
            let ended = run(Plan::new(seed), true);
            let journal = ended.kept.cluster.expect("there are several").journal;
            format!("{}{journal}", ended.history)
        };
        let (first, second) = (all(), all());
        for (first, second) in first.lines().zip(second.lines()) {
            assert_eq!(first, second, "world {seed}");
        }
        assert_eq!(first.len(), second.len());
    }
}

/// One world, with all that happens in it.
#[test]
fn one_world() {
    let seed = number("SIM_CLUSTER_SEED").unwrap_or(1);
    let plan = Plan::new(seed);
    println!("{plan:#?}");
    let ended = run(plan, true);
    println!("{}", ended.history);
    if let Some(cluster) = &ended.kept.cluster {
        println!("{}", cluster.journal);
    }
    if let Err(wrong) = wrong(seed, &ended) {
        panic!("{wrong}");
    }
}
