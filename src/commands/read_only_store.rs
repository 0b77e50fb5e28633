//! Code shared by the commands that inspect a store without changing it.

use anyhow::bail;
use plyhouse_store::StoreInspector;

use crate::store_location::StoreLocation;

/// Where the store lies that is looked at.
#[derive(Debug, clap::Args)]
pub(super) struct Source {
    #[command(flatten)]
    location: StoreLocation,
}

impl Source {
    /// Opens the store for read-only inspection.
    pub(super) fn open(self) -> anyhow::Result<Box<dyn StoreInspector>> {
        self.location.data()?.inspect()
    }
}

/// Returns an error if `faults`, the number of faults that a command found in the store, is not 0.
/// The error message consists of the description `what` and the number of faults.
pub(super) fn close(faults: u64, what: &str) -> anyhow::Result<()> {
    match faults {
        0 => Ok(()),
        faults => bail!("{what}: {faults}"),
    }
}
