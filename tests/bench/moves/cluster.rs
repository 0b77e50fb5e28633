//! Measures the overhead of a cluster compared with a single server. The benchmark compares
//! PostgreSQL with SQLite, and relayed moves with direct moves. It also compares spectators on
//! three servers with spectators on one server.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use crate::game_script::GameScript;
use crate::load_generator::Load;
use crate::server_process::ServerProcess;
use crate::spectators;
use crate::{Args, ServerKind, measure_load, print_line, print_ratio, server_args};

/// Load on the servers during the latency measurement of relayed moves. The first value is the
/// number of concurrent matches, the second the total number of moves per second.
const RELAY_LOAD: (usize, f64) = (64, 300.0);

/// Number of servers that share the spectators.
const NODES: usize = 3;

/// Runs all comparisons on the given database and NATS server. The comparison of spectator messages
/// runs only with the option `--spectators`.
pub(crate) async fn compare(args: &Args, script: &Arc<GameScript>) -> anyhow::Result<()> {
    compare_stores(args, script).await?;
    compare_relay_latency(args, script).await?;
    match args.spectators {
        Some(spectators) => compare_broadcasts(args, script, spectators).await,
        None => Ok(()),
    }
}

/// Starts a server as a node of a cluster.
fn start_node(args: &Args) -> anyhow::Result<ServerProcess> {
    let mut server_args = server_args(args);
    // A node stores its matches in PostgreSQL, so the first two arguments, `--data` and its value,
    // are removed.
    server_args.drain(..2);
    let database = args.database.as_deref().context("--database is required")?;
    let nats = args.nats.as_deref().context("--nats is required")?;
    server_args.extend(["--cluster", "--database", database, "--nats", nats]);
    ServerProcess::start(env!("CARGO_BIN_EXE_plyhouse"), &server_args)
}

/// Compares the throughput of a server that uses PostgreSQL with the throughput of a server that
/// uses SQLite.
async fn compare_stores(args: &Args, script: &Arc<GameScript>) -> anyhow::Result<()> {
    print_line(&format!(
        "{} concurrent matches, unlimited rate",
        args.matches
    ))?;
    let mut ratios = Vec::new();
    for round in 1..=args.rounds {
        let mut speeds = Vec::new();
        for name in ["sqlite", "postgres"] {
            let process = match name {
                "sqlite" => {
                    ServerProcess::start(env!("CARGO_BIN_EXE_plyhouse"), &server_args(args))?
                }
                _ => start_node(args)?,
            };
            let address = process.address();
            let load =
                Load::start(address, args.matches, ServerKind::Real, script, args.rate).await?;
            let figures = measure_load(load, &process, args).await?;
            print_line(&format!("round {round}  {name:8}  {figures}"))?;
            speeds.push(figures.moves_per_second());
        }
        ratios.push(speeds[1] / speeds[0]);
    }
    print_ratio("moves per second, PostgreSQL / SQLite", ratios)
}

/// Compares the latency of relayed moves with the latency of direct moves. A move is direct if its
/// players are connected to the server that owns the match. Otherwise, it is relayed to that
/// server.
async fn compare_relay_latency(args: &Args, script: &Arc<GameScript>) -> anyhow::Result<()> {
    let (matches, rate) = RELAY_LOAD;
    print_line(&format!(
        "{matches} concurrent matches, {rate} moves per second"
    ))?;
    let (here, there) = (start_node(args)?, start_node(args)?);
    let mut ratios = Vec::new();
    for round in 1..=args.rounds {
        let mut latencies = Vec::new();
        for (name, owner) in [("direct", &here), ("relayed", &there)] {
            let addresses = (here.address(), owner.address());
            let load = Load::start_relayed(addresses, matches, script, rate).await?;
            let figures = measure_load(load, &here, args).await?;
            print_line(&format!("round {round}  {name:7}  {figures}"))?;
            latencies.push(figures.latencies[0].as_secs_f64());
        }
        ratios.push(latencies[1] / latencies[0]);
    }
    print_ratio("median latency, relayed / direct", ratios)
}

/// Compares the CPU time per spectator message on one server and on [`NODES`] servers. The CPU
/// times of all servers are added up.
async fn compare_broadcasts(
    args: &Args,
    script: &Arc<GameScript>,
    spectators: usize,
) -> anyhow::Result<()> {
    print_line(&format!(
        "spectators: {spectators}, on 1 server and on {NODES} servers"
    ))?;
    let time = Duration::from_secs_f64(args.seconds);
    let mut ratios = Vec::new();
    for round in 1..=args.rounds {
        let mut costs = Vec::new();
        for count in [1, NODES] {
            let nodes: Vec<ServerProcess> = (0..count)
                .map(|_| start_node(args))
                .collect::<Result<_, _>>()?;
            let broadcast =
                spectators::measure_broadcasts(&nodes, ServerKind::Real, script, spectators, time)
                    .await?;
            let (messages, cpu) = (broadcast.messages, broadcast.cpu_us());
            print_line(&format!(
                "round {round}  servers: {count}  {messages} messages, {cpu:.2} us CPU each"
            ))?;
            costs.push(cpu);
        }
        ratios.push(costs[1] / costs[0]);
    }
    print_ratio("CPU per message, three servers / one server", ratios)
}
