//! Arguments that several commands have.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use plyhouse_engine::catalog::{self, CATALOG, Entry};
use plyhouse_engine::search::{Level, ParseLevelError};

/// Reads the id of a game.
pub fn game() -> impl TypedValueParser<Value = &'static Entry> {
    let ids: Vec<&str> = CATALOG.iter().map(|game| game.info.id).collect();
    PossibleValuesParser::new(ids).map(|id| catalog::find(&id).expect("clap has found it"))
}

/// Reads the id of a level.
pub fn level() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(Level::ALL.map(Level::id))
        .try_map(|id| -> Result<Level, ParseLevelError> { id.parse() })
}

/// Ends the process as clap does, with status 2: the options are well-formed, but what they say
/// cannot be.
pub fn refuse(error: impl std::fmt::Display) -> ! {
    clap::Error::raw(ErrorKind::ValueValidation, format!("{error}\n")).exit()
}
