//! The subcommands of the binary. Each subcommand is a module of this directory or of the
//! `plyhouse_tools` crate.

mod account;
mod completions_and_manual;
mod export;
mod health;
mod match_command;
mod move_store;
mod ratings;
pub(crate) mod single_dash_hints;
mod verify;

use anyhow::{Context, bail};
use clap::Subcommand;
use plyhouse_cli::count_text;
use plyhouse_store::VerificationReport;
use plyhouse_tools::{analyse, engine, engine_match, fit_win_probability, perft, tournament};
use tokio::runtime::{Builder, Runtime};

/// Subcommands of the binary. The doc comment of a subcommand's arguments is its help text.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Account(account::Args),
    Analyse(analyse::Args),
    Chances(fit_win_probability::Args),
    Completions(completions_and_manual::Completions),
    Engine(engine::Args),
    Export(export::Args),
    Health(health::Args),
    Manual(completions_and_manual::Manual),
    Match(engine_match::Args),
    MoveStore(move_store::Args),
    Perft(perft::Args),
    Ratings(ratings::Args),
    Tournament(tournament::Args),
    Verify(verify::Args),
}

impl Command {
    /// Runs the subcommand, which prints its result to stdout. May exit the process if the
    /// arguments contradict each other.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Account(args) => args.run(),
            Self::Analyse(args) => ignore_broken_pipe(args.run()),
            Self::Chances(args) => ignore_broken_pipe(args.run()),
            Self::Completions(args) => ignore_broken_pipe(args.run()),
            Self::Engine(args) => ignore_broken_pipe(args.run()),
            Self::Export(args) => args.run(),
            Self::Health(args) => args.run(),
            Self::Manual(args) => args.run(),
            Self::Match(args) => ignore_broken_pipe(match_command::run(args)),
            Self::MoveStore(args) => args.run(),
            Self::Perft(args) => ignore_broken_pipe(args.run()),
            Self::Ratings(args) => args.run(),
            Self::Tournament(args) => ignore_broken_pipe(args.run()),
            Self::Verify(args) => args.run(),
        }
    }
}

/// Starts an async runtime on the current thread.
fn current_thread_runtime() -> anyhow::Result<Runtime> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start the async runtime")
}

/// Returns an error if `faults`, the number of faults that a command found, is not 0. The error
/// message consists of the number of faults and the noun, given as singular and plural.
fn fail_if_any(faults: u64, noun: [&str; 2]) -> anyhow::Result<()> {
    match faults {
        0 => Ok(()),
        faults => bail!("{}", count_text(faults, noun)),
    }
}

/// Summarizes the contents of a store, such as "2 matches (1 live, 1 ended), 9 events, 3 players".
fn contents(report: &VerificationReport) -> String {
    let matches = count_text(report.matches, ["match", "matches"]);
    let (live, ended) = (report.live, report.ended);
    let events = count_text(report.events, ["event", "events"]);
    let players = count_text(report.players, ["player", "players"]);
    format!("{matches} ({live} live, {ended} ended), {events}, {players}")
}

/// Treats a broken pipe as success. The command must not write to any pipe other than stdout.
fn ignore_broken_pipe(done: anyhow::Result<()>) -> anyhow::Result<()> {
    match done {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        done => done,
    }
}

/// Returns whether the error is a broken pipe. A broken pipe occurs when the reader of stdout, such
/// as `head`, closes the pipe.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
