//! Simulated worlds: the whole server under a clock and a chance of its own, with a network that
//! delays and cuts, a host that dies, and a disk that forgets what was not synced. Each is made
//! by a number, its seed, and checked against what the protocol promises. Those of several servers over
//! one store are in `cluster.rs`.
//!
//! `SIM_SEEDS` sets how many worlds run, with the seeds from 0 on; `SIM_SEED` runs that one world and
//! prints all that happens in it.

/// Tests that look at a share of the worlds each, by this function.
macro_rules! shares {
    ($share:ident) => {
        shares! { $share:
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

mod base;
mod checker;
mod client;
mod cluster;
mod dice;
mod edited;
mod flaw;
mod history;
mod line;
mod plan;
mod planted;
mod plug;
mod store;
mod view;
mod world;

use std::env;

use self::checker::Tally;
use self::plan::Plan;
use self::world::Ended;

/// Number of worlds, unless `SIM_SEEDS` says otherwise. `tests/run --all` runs more.
const SEEDS: u64 = 400;

/// Into how many tests they are divided, so that every core has something to do.
const SHARES: usize = 8;

/// What there was in many worlds.
#[derive(Debug, Default)]
struct Sum {
    worlds: usize,
    crashes: usize,
    tally: Tally,
}

impl Sum {
    fn add(&mut self, tally: Tally, crashes: usize) {
        self.worlds += 1;
        self.crashes += crashes;
        self.tally.add(tally);
    }

    /// Worlds in which nothing happens would be checked in vain.
    fn is_enough(&self) {
        let Self {
            worlds,
            crashes,
            tally,
        } = *self;
        let is_frequent = crashes >= worlds / 2
            && tally.moves >= 5 * worlds
            && tally.repeats >= worlds
            && tally.resumed >= worlds
            && tally.refusals >= 5 * worlds
            && tally.ended >= worlds
            && tally.charged >= 2 * worlds
            && tally.flags >= worlds / 10
            && tally.takebacks >= worlds / 10
            && tally.heard >= worlds / 2
            && tally.delayed >= 2 * worlds
            && tally.kept_out >= worlds / 2
            && tally.apart >= worlds / 2
            && tally.ratings_shown >= worlds / 4
            && tally.thoughts >= worlds / 10;
        let is_rare = tally.days_flags >= worlds / 100
            && tally.agreed >= worlds / 40
            && tally.rematches >= worlds / 15
            && tally.stand_ins >= worlds / 40
            && tally.challenges >= worlds / 15
            && tally.turns_told >= worlds / 10
            && tally.lists >= worlds / 4
            && tally.rated >= worlds / 20
            && tally.ratings_told >= worlds / 20
            && tally.blocked >= worlds / 20
            && tally.rated_late >= worlds / 40
            && tally.hints >= worlds / 40
            && tally.analyses >= worlds / 20;
        // A few worlds can be quiet by chance.
        assert!(is_frequent || worlds < 50, "too little happens: {self:?}");
        assert!(is_rare || worlds < 200, "too little happens: {self:?}");
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is no number: {text}")),
    )
}

/// What is wrong with a world, and how to see it again.
fn wrong(seed: u64, ended: &Ended) -> Result<Tally, String> {
    let (faults, tally) = checker::check(&ended.history, &ended.kept);
    let faults = faults.iter().map(ToString::to_string);
    let wrong: Vec<String> = ended.stuck.iter().cloned().chain(faults).collect();
    if wrong.is_empty() {
        return Ok(tally);
    }
    Err(format!(
        "world {seed}: {}\nto see it again: SIM_SEED={seed} cargo test --test sim \
         one_world -- --nocapture",
        wrong.join("\n")
    ))
}

/// Looks at every so many worlds, from this one on.
fn share(first: u64) -> Sum {
    let mut sum = Sum::default();
    let mut wrongs = Vec::new();
    let seeds = number("SIM_SEEDS").unwrap_or(SEEDS);
    for seed in (first..seeds).step_by(SHARES) {
        let ended = world::run(Plan::new(seed), None);
        match wrong(seed, &ended) {
            Ok(tally) => sum.add(tally, ended.crashes_in_play),
            Err(what) => wrongs.push(what),
        }
    }
    assert!(wrongs.is_empty(), "{}", wrongs.join("\n\n"));
    sum.is_enough();
    sum
}

shares!(share);

/// What a failing seed is worth.
#[test]
fn the_same_seed_gives_the_same_world() {
    for seed in 0..number("SIM_TWICE").unwrap_or(20) {
        let history = || world::run(Plan::new(seed), None).history.to_string();
        let (first, second) = (history(), history());
        for (first, second) in first.lines().zip(second.lines()) {
            assert_eq!(first, second, "world {seed}");
        }
        assert_eq!(first.len(), second.len());
    }
}

/// One world, with all that happens in it.
#[test]
fn one_world() {
    let seed = number("SIM_SEED").unwrap_or(1);
    let plan = Plan::new(seed);
    println!("{plan:#?}");
    let ended = world::run(plan, None);
    println!("{}", ended.history);
    if let Err(wrong) = wrong(seed, &ended) {
        panic!("{wrong}");
    }
}
