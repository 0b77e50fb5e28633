//! `plyhouse export`: prints matches with their whole histories.

use std::io::{self, BufWriter, Write};

use anyhow::Context;
use plyhouse::protocol::{MatchId, MatchRef};
use plyhouse::store::SqliteArchive;

use super::archive::{Source, end, reader_is_gone};

/// Prints matches as JSON, one a line, each with its whole history.
///
/// It looks at the store from outside: a server may run on it or not. Without a match it prints all
/// there are, live and ended, in the order of their creation. A match that is damaged is told on
/// stderr, the others are printed, and the exit status is 1.
///
/// The fields: `id`, `code`, `game`, `host`, `listed`, `pace_ms`, `seed` (a text), `created_ms`,
/// `ended_ms` (null while it is live), `players` (`id` and `name` of the host and of all who ever sat
/// down), `events` (in order; `seq`, `at_ms`, `type`, and by type `seat`, `player`, `name`, `bot`,
/// `move`, `winner`, `reason`). Times are milliseconds since 1970.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Which matches: by id or by code. A code is that of the latest match that had it
    #[arg(value_name = "MATCH")]
    matches: Vec<String>,

    #[command(flatten)]
    source: Source,
}

const EXAMPLES: &str = "\
Examples:
  plyhouse export > matches.jsonl
  plyhouse export K7WQ2M | jq -r '.events[] | select(.type == \"moved\") | .move'";

/// Where matches are printed, and how many could not be.
struct Export<'a, W> {
    archive: &'a SqliteArchive,
    out: W,
    failed: u64,
}

impl Args {
    /// Prints, and fails in the end if a match could not be printed.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let archive = self.source.open()?;
        let mut export = Export {
            archive: &archive,
            out: BufWriter::new(io::stdout().lock()),
            failed: 0,
        };
        let printed = if self.matches.is_empty() {
            export.print_all()
        } else {
            export.print_these(&self.matches)
        };
        match printed.and_then(|()| export.out.flush().context(STDOUT)) {
            Err(error) if !reader_is_gone(&error) => Err(error),
            Ok(()) | Err(_) => end(export.failed, "matches that could not be printed"),
        }
    }
}

const STDOUT: &str = "cannot write to stdout";

impl<W: Write> Export<'_, W> {
    fn print_all(&mut self) -> anyhow::Result<()> {
        let mut last = None;
        while let Some(id) = self.archive.next(last).context("cannot list the matches")? {
            last = Some(id);
            self.print(id)?;
        }
        Ok(())
    }

    fn print_these(&mut self, names: &[String]) -> anyhow::Result<()> {
        for name in names {
            let found = self.archive.find(MatchRef::from(name.as_str()));
            match found.context("cannot look for a match")? {
                Some(id) => self.print(id)?,
                None => self.fail(format_args!("there is no match {name:?}")),
            }
        }
        Ok(())
    }

    fn print(&mut self, id: MatchId) -> anyhow::Result<()> {
        match self.archive.read(id) {
            Ok(Some(kept)) => {
                let line = serde_json::to_string(&kept).context("cannot write a match as JSON")?;
                writeln!(self.out, "{line}").context(STDOUT)?;
            }
            // It has been forgotten in the meantime.
            Ok(None) => {}
            Err(damage) => self.fail(damage),
        }
        Ok(())
    }

    fn fail(&mut self, why: impl std::fmt::Display) {
        self.failed += 1;
        // The exit status tells as well.
        let _ = writeln!(io::stderr(), "plyhouse: {why}");
    }
}
