//! What the binary does beside serving: a file for each command.

mod tournament;

use clap::Subcommand;

/// What can be asked for beside serving. A command's help stands at its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Tournament(tournament::Args),
}

impl Command {
    /// Does it, and prints to stdout what came of it. Ends the process where arguments do not fit
    /// together.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Tournament(args) => args.run(),
        }
    }
}
