//! `plyhouse verify`: checks the whole store for faults.

use std::io::{self, Write};

use anyhow::Context;
use plyhouse_cli::count_text;

use super::{contents, fail_if_any, is_broken_pipe};
use crate::store_location::StoreLocation;

/// Check the whole store for faults
///
/// Works whether or not a server is running. Checks the database itself, that every event can be
/// read and none is missing, that every match follows the rules of its game and ended as they say,
/// and that all players of a match exist. Prints each fault, then a summary. The exit status is 1
/// if there is any fault.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    location: StoreLocation,
}

impl Args {
    /// Checks the store and prints its faults. After the check, returns an error if the store has
    /// any faults.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let archive = self.location.data()?.inspect()?;
        let mut out = io::stdout().lock();
        let mut written = Ok(());
        let summary = plyhouse_store::verify(&*archive, &mut |fault| {
            if written.is_ok() {
                written = writeln!(out, "{fault}");
            }
        });
        let report = summary.context("cannot read the store")?;
        let faults = count_text(report.faults, ["fault", "faults"]);
        let written = written.and_then(|()| writeln!(out, "{}, {faults}", contents(&report)));
        match written.context("cannot write to stdout") {
            Err(error) if !is_broken_pipe(&error) => Err(error),
            Ok(()) | Err(_) => fail_if_any(report.faults, ["fault found", "faults found"]),
        }
    }
}
