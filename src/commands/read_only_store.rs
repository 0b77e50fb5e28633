//! Code shared by the commands that inspect a store without changing it.

use anyhow::bail;
use plyhouse_cli::count_text;
use plyhouse_store::{StoreInspector, VerificationReport};

use crate::store_location::StoreLocation;

/// Options that select the store to inspect.
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
/// The error message consists of the number of faults and the noun, given as singular and plural.
pub(super) fn close(faults: u64, noun: [&str; 2]) -> anyhow::Result<()> {
    match faults {
        0 => Ok(()),
        faults => bail!("{}", count_text(faults, noun)),
    }
}

/// Summarizes the contents of a store, such as "2 matches (1 live, 1 ended), 9 events, 3 players".
pub(super) fn contents(report: &VerificationReport) -> String {
    let matches = count_text(report.matches, ["match", "matches"]);
    let (live, ended) = (report.live, report.ended);
    let events = count_text(report.events, ["event", "events"]);
    let players = count_text(report.players, ["player", "players"]);
    format!("{matches} ({live} live, {ended} ended), {events}, {players}")
}
