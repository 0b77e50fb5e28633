//! What the commands have in common that look at a store from outside.

use anyhow::bail;
use plyhouse_store::StoreInspector;

use crate::data::StoreLocation;

/// Where the store lies that is looked at.
#[derive(Debug, clap::Args)]
pub(super) struct Source {
    #[command(flatten)]
    location: StoreLocation,
}

impl Source {
    /// Opens the store.
    pub(super) fn open(self) -> anyhow::Result<Box<dyn StoreInspector>> {
        self.location.data()?.inspect()
    }
}

/// Ends a command that has told of so many faults.
pub(super) fn close(faults: u64, what: &str) -> anyhow::Result<()> {
    match faults {
        0 => Ok(()),
        faults => bail!("{what}: {faults}"),
    }
}
