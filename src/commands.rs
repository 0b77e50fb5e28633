//! What the binary does beside serving: a file for each command.

mod analyse;
mod archive;
mod engine;
mod export;
mod health;
mod interrupt;
mod perft;
mod tournament;
mod verify;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use plyhouse::catalog::{self, CATALOG, Entry};
use plyhouse::search::{Level, ParseLevelError};

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

/// Reads the id of a game.
fn game() -> impl TypedValueParser<Value = &'static Entry> {
    let ids = CATALOG.each_ref().map(|entry| entry.info.id);
    PossibleValuesParser::new(ids).map(|id| catalog::find(&id).expect("clap has found it"))
}

/// Reads the id of a level.
fn level() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(Level::ALL.map(Level::id))
        .try_map(|id| -> Result<Level, ParseLevelError> { id.parse() })
}

/// Ends the process as clap does, with status 2: the options are well-formed, but what they say
/// cannot be.
fn refuse(error: impl std::fmt::Display) -> ! {
    clap::Error::raw(ErrorKind::ValueValidation, format!("{error}\n")).exit()
}
