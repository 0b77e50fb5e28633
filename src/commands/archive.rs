//! What the commands have in common that look at a store from outside.

use anyhow::bail;
use plyhouse_store::{Archive, SqliteArchive};

use crate::data::Data;
use plyhouse_lab::arguments::refuse;

/// Where the store lies that is looked at.
#[derive(Debug, clap::Args)]
pub(super) struct Source {
    /// Where matches and players are kept, as the server was told. Without it:
    /// `$XDG_DATA_HOME/plyhouse`, or `~/.local/share/plyhouse`
    #[arg(long, env = "PLYHOUSE_DATA", value_name = "DIR")]
    data: Option<Data>,
}

impl Source {
    /// Opens the store.
    pub(super) fn open(self) -> anyhow::Result<Box<dyn Archive>> {
        let data = match self.data {
            Some(data) => data,
            None => Data::default_directory()?,
        };
        match data {
            Data::Directory(directory) => Ok(Box::new(SqliteArchive::open(&directory)?)),
            Data::Memory => refuse("what is kept in memory cannot be looked at from outside"),
        }
    }
}

/// Ends a command that has told of so many faults.
pub(super) fn end(faults: u64, what: &str) -> anyhow::Result<()> {
    match faults {
        0 => Ok(()),
        faults => bail!("{what}: {faults}"),
    }
}
