//! What it costs to be several servers, beside one: PostgreSQL beside SQLite, a match that is decided on
//! another server than that of its players, and a crowd that is spread over three servers.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use crate::crowd;
use crate::players::Load;
use crate::process::Process;
use crate::script::Script;
use crate::{Args, Server, measure_load, real_args, say, tell_ratio};

/// How many matches are played at a pace, and how many moves a second in all, to tell how long a move takes.
const PACED: (usize, f64) = (64, 300.0);

/// How many servers carry the crowd.
const NODES: usize = 3;

/// Compares all three, on the database and the NATS that are given.
pub(crate) async fn compare(args: &Args, script: &Arc<Script>) -> anyhow::Result<()> {
    compare_stores(args, script).await?;
    compare_relays(args, script).await?;
    match args.spectators {
        Some(spectators) => compare_crowds(args, script, spectators).await,
        None => Ok(()),
    }
}

/// A server of a cluster.
fn node(args: &Args) -> anyhow::Result<Process> {
    let mut flags = real_args(args);
    // Neither of these is for a server of a cluster.
    flags.drain(..2);
    let database = args.database.as_deref().context("--database is needed")?;
    let nats = args.nats.as_deref().context("--nats is needed")?;
    flags.extend(["--cluster", "--database", database, "--nats", nats]);
    Process::start(env!("CARGO_BIN_EXE_plyhouse"), &flags)
}

/// How many moves a second one server carries that keeps them in PostgreSQL, by one with SQLite.
async fn compare_stores(args: &Args, script: &Arc<Script>) -> anyhow::Result<()> {
    say(&format!("{} matches, as fast as can be", args.matches))?;
    let mut ratios = Vec::new();
    for round in 1..=args.rounds {
        let mut speeds = Vec::new();
        for name in ["sqlite", "postgres"] {
            let process = match name {
                "sqlite" => Process::start(env!("CARGO_BIN_EXE_plyhouse"), &real_args(args))?,
                _ => node(args)?,
            };
            let address = process.address();
            let load = Load::start(address, args.matches, Server::Real, script, args.rate).await?;
            let figures = measure_load(load, &process, args).await?;
            say(&format!("round {round}  {name:8}  {figures}"))?;
            speeds.push(figures.moves_per_second());
        }
        ratios.push(speeds[1] / speeds[0]);
    }
    tell_ratio("moves a second, PostgreSQL by SQLite", ratios)
}

/// How long a move takes that is handed on to another server, and whose event comes back from there, by one
/// that is decided where its players are.
async fn compare_relays(args: &Args, script: &Arc<Script>) -> anyhow::Result<()> {
    let (matches, rate) = PACED;
    say(&format!("{matches} matches, {rate} moves a second"))?;
    let (here, there) = (node(args)?, node(args)?);
    let mut ratios = Vec::new();
    for round in 1..=args.rounds {
        let mut waits = Vec::new();
        for (name, owner) in [("direct", &here), ("relayed", &there)] {
            let addresses = (here.address(), owner.address());
            let load = Load::start_apart(addresses, matches, script, rate).await?;
            let figures = measure_load(load, &here, args).await?;
            say(&format!("round {round}  {name:7}  {figures}"))?;
            waits.push(figures.waits[0].as_secs_f64());
        }
        ratios.push(waits[1] / waits[0]);
    }
    tell_ratio("the median wait, relayed by direct", ratios)
}

/// What a message to one of a crowd costs on three servers together, by one.
async fn compare_crowds(
    args: &Args,
    script: &Arc<Script>,
    spectators: usize,
) -> anyhow::Result<()> {
    say(&format!("{spectators} watch, on one server and on {NODES}"))?;
    let time = Duration::from_secs_f64(args.seconds);
    let mut ratios = Vec::new();
    for round in 1..=args.rounds {
        let mut costs = Vec::new();
        for count in [1, NODES] {
            let nodes: Vec<Process> = (0..count).map(|_| node(args)).collect::<Result<_, _>>()?;
            let told = crowd::measure(&nodes, Server::Real, script, spectators, time).await?;
            let (messages, cpu) = (told.messages, told.cpu_us());
            say(&format!(
                "round {round}  {count} servers  {messages} messages, {cpu:.2} us CPU each"
            ))?;
            costs.push(cpu);
        }
        ratios.push(costs[1] / costs[0]);
    }
    tell_ratio("CPU a message, three servers by one", ratios)
}
