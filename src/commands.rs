//! What the binary does beside serving: a file for each command, or a module of the lab.

mod archive;
mod export;
mod health;
mod verify;

use clap::Subcommand;
use plyhouse_lab::{analyse, engine, perft, tournament};

/// What can be asked for beside serving. A command's help stands at its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Analyse(analyse::Args),
    Engine(engine::Args),
    Export(export::Args),
    Health(health::Args),
    Perft(perft::Args),
    Tournament(tournament::Args),
    Verify(verify::Args),
}

impl Command {
    /// Does it, and prints to stdout what came of it. Ends the process where arguments do not fit
    /// together.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Analyse(args) => args.run(),
            Self::Engine(args) => args.run(),
            Self::Export(args) => args.run(),
            Self::Health(args) => args.run(),
            Self::Perft(args) => args.run(),
            Self::Tournament(args) => args.run(),
            Self::Verify(args) => args.run(),
        }
    }
}
