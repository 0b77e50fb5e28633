//! `plyhouse verify`: checks the whole store for faults.

use std::io::{self, Write};

use anyhow::Context;
use plyhouse_store::VerificationReport;

use super::is_broken_pipe;
use super::read_only_store::{Source, close};

/// Checks a store from end to end, and prints what is wrong with it.
///
/// It looks at the store from outside: a server may run on it or not. It checks the database as
/// such, that every event can be read and none is missing, that every match can have gone that way,
/// that it ended as and when the rules say, and that everybody in it is known. The last line counts
/// what was checked. The exit status is 1 if there is any damage.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: Source,
}

impl Args {
    /// Checks the store and prints its faults. After the check, returns an error if the store has
    /// any faults.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let archive = self.source.open()?;
        let mut out = io::stdout().lock();
        let mut written = Ok(());
        let summary = plyhouse_store::verify(&*archive, &mut |fault| {
            if written.is_ok() {
                written = writeln!(out, "{fault}");
            }
        });
        let VerificationReport {
            matches,
            live,
            ended,
            events,
            players,
            faults,
        } = summary.context("cannot list the matches")?;
        let written = written.and_then(|()| {
            writeln!(
                out,
                "{matches} matches ({live} live, {ended} ended), {events} events, \
                 {players} players, {faults} damages"
            )
        });
        match written.context("cannot write to stdout") {
            Err(error) if !is_broken_pipe(&error) => Err(error),
            Ok(()) | Err(_) => close(faults, "damages that were found"),
        }
    }
}
