//! `plyhouse move-store`: copies the contents of one store to another.

use std::io::{self, Write};

use anyhow::{Context, bail};
use plyhouse_store::{CopyError, CopySide, copy_store};
use tokio::runtime::Runtime;

use super::{contents, current_thread_runtime};
use crate::store_location::{Data, Secret};

/// Copy all matches and players to an empty store
///
/// Matches keep their ids, codes, histories and times, and players stay logged in. No server may
/// use either store. The source is checked first, as by `plyhouse verify`; nothing is written if it
/// is corrupt. After copying, the target is checked and compared with the source. The source is not
/// changed.
///
/// An interrupted copy cannot be resumed. Delete the target directory, or drop the target database
/// and create it again, and start over.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Store to copy: sqlite:DIR or postgres://user:password@host/database
    #[arg(
        long,
        env = "PLYHOUSE_FROM",
        value_name = "STORE",
        value_parser = Secret(Data::from_url),
        hide_env_values = true
    )]
    from: Data,

    /// Store to copy to: an empty or missing directory, or an empty database
    #[arg(
        long,
        env = "PLYHOUSE_TO",
        value_name = "STORE",
        value_parser = Secret(Data::from_url),
        hide_env_values = true
    )]
    to: Data,
}

const EXAMPLES: &str = "\
Examples:
  plyhouse move-store --from sqlite:/var/lib/plyhouse --to postgres://plyhouse@db.example/plyhouse
  plyhouse move-store --from postgres://plyhouse@db.example/plyhouse --to sqlite:/var/lib/plyhouse";

impl Args {
    /// Copies the store. Prints how many matches, events and players the source and the copy
    /// contain.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let Self { from, to } = self;
        let runtime = current_thread_runtime()?;
        // Checks that the source exists, because opening a missing store would create it.
        from.inspect()?;
        let source = open(&runtime, &from)?;
        let target = open(&runtime, &to)?;
        let summaries = match copy_store(&runtime, &source, &target) {
            Ok(summaries) => summaries,
            Err(error @ (CopyError::NotEmpty { .. } | CopyError::SourceCorrupt { .. })) => {
                bail!("nothing was written to {to}: {error}");
            }
            Err(error) => {
                let why =
                    format!("copy failed; {to} may be incomplete, so delete it and start over");
                return Err(error).context(why);
            }
        };
        let mut out = io::stdout().lock();
        for (place, summary) in [&from, &to].into_iter().zip(summaries) {
            writeln!(out, "{place}: {}", contents(&summary)).context("cannot write to stdout")?;
        }
        writeln!(out, "all data was copied and verified").context("cannot write to stdout")
    }
}

fn open(runtime: &Runtime, data: &Data) -> anyhow::Result<CopySide> {
    Ok(CopySide {
        store: runtime.block_on(data.open_exclusive())?,
        inspector: data.inspect()?,
    })
}
