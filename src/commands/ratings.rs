//! `plyhouse ratings`: recomputes the ratings from the ledger of rated matches, or compares the
//! stored ratings with a recomputation.

use std::io::{self, Write};

use anyhow::Context;
use clap::Subcommand;
use plyhouse_store::{Store, rebuild_ratings, verify_ratings};
use tokio::runtime::Builder;

use super::read_only_store::close;
use crate::store_location::StoreLocation;

/// Reckons ratings anew from all rated matches that have ended, or compares with that.
///
/// Every rated match that ends gets a number, and its ratings follow from those before it: the same matches
/// always give the same ratings, bit for bit. A store in a directory is one process's alone, so its server has
/// to be stopped; beside servers that share a database this may run at any time.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Reckons all ratings anew, beside those that are told of, and puts them in their place
    ///
    /// To be done where a later version of the program rates otherwise, or where `verify` has found something. Nothing
    /// changes if the ratings were right.
    Rebuild {
        #[command(flatten)]
        place: StoreLocation,
    },
    /// Compares what is kept with what the matches give, bit for bit, and prints what differs
    ///
    /// The exit status is 1 if anything does.
    Verify {
        #[command(flatten)]
        place: StoreLocation,
    },
}

impl Args {
    /// Runs the action and prints its result.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let (Action::Rebuild { place } | Action::Verify { place }) = &self.action;
        let data = place.clone().data()?;
        // Checks that the store exists, because opening a missing store would create it.
        data.inspect()?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.context("cannot wait for the store")?;
        runtime.block_on(async {
            let store = data.open_for_maintenance().await?;
            match self.action {
                Action::Rebuild { .. } => rebuild(&*store).await,
                Action::Verify { .. } => verify(&*store).await,
            }
        })
    }
}

async fn rebuild(store: &dyn Store) -> anyhow::Result<()> {
    let rows = rebuild_ratings(store).await?;
    let written = writeln!(io::stdout(), "{rows} rows of the ledger were folded anew");
    written.context("cannot write to stdout")
}

async fn verify(store: &dyn Store) -> anyhow::Result<()> {
    let mut differences = Vec::new();
    let (mut count, printed_max) = (0_u64, 100);
    let (rows, ratings) = verify_ratings(store, &mut |difference| {
        count += 1;
        if differences.len() < printed_max {
            differences.push(difference.to_string());
        }
    })
    .await?;
    let mut out = io::stdout();
    let written = differences
        .iter()
        .try_for_each(|text| writeln!(out, "{text}"));
    let written = written.and_then(|()| {
        writeln!(
            out,
            "{rows} rows of the ledger, {ratings} ratings, {count} differences"
        )
    });
    written.context("cannot write to stdout")?;
    close(count, "differences that were found")
}
