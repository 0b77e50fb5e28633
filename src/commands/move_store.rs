//! `plyhouse move-store`: copies the contents of one store to another.

use std::io::{self, Write};

use anyhow::{Context, bail};
use plyhouse_store::{CopyError, CopySide, VerificationReport, copy_store};
use tokio::runtime::{Builder, Runtime};

use crate::store_location::{Data, Secret};

/// Copies every match and every player from one store into an empty one.
///
/// Matches keep their ids, codes, histories and times, and players their tokens: whoever comes back finds
/// everything as it was. No server may run on either store. What is to be moved is checked first, as
/// `verify` does, and nothing is written if it is damaged; in the end what was written is checked, and
/// every match compared. The store that is copied from stays as it is.
///
/// A copy that was cut off is begun anew: remove the directory that was written, or drop the database and
/// create it again.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Where everything is: `sqlite:DIR`, or `postgres://user:password@host/database`
    #[arg(
        long,
        env = "PLYHOUSE_FROM",
        value_name = "STORE",
        value_parser = Secret(Data::from_url),
        hide_env_values = true
    )]
    from: Data,

    /// Where it is to be: an empty or missing directory, or an empty database
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
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot wait for the stores")?;
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
                let why = format!("{to} has a part of it at most: remove that, and begin anew");
                return Err(error).context(why);
            }
        };
        let mut out = io::stdout().lock();
        for (place, summary) in [&from, &to].into_iter().zip(summaries) {
            let VerificationReport {
                matches,
                live,
                ended,
                events,
                players,
                ..
            } = summary;
            writeln!(
                out,
                "{place}: {matches} matches ({live} live, {ended} ended), {events} events, \
                 {players} players"
            )
            .context("cannot write to stdout")?;
        }
        writeln!(out, "each is there as it was").context("cannot write to stdout")
    }
}

fn open(runtime: &Runtime, data: &Data) -> anyhow::Result<CopySide> {
    Ok(CopySide {
        store: runtime.block_on(data.open_exclusive())?,
        inspector: data.inspect()?,
    })
}
