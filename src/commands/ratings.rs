//! `plyhouse ratings`: recomputes the ratings from the ledger of rated matches, or compares the
//! stored ratings with a recomputation.

use std::io::{self, Write};

use anyhow::Context;
use clap::Subcommand;
use plyhouse_cli::count_text;
use plyhouse_store::{Store, rebuild_ratings, verify_ratings};

use super::{current_thread_runtime, fail_if_any};
use crate::store_location::StoreLocation;

/// Verify or recompute the ratings
///
/// Ratings are computed from the ledger, the numbered list of ended rated matches. The same ledger
/// always gives identical ratings. If the store is a directory, stop its server first. With a
/// PostgreSQL database, the servers of a cluster may keep running.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Recompute all ratings and replace the stored ones
    ///
    /// Needed if a newer version computes ratings differently, or if `ratings verify` has found
    /// differences. Correct ratings do not change.
    Rebuild {
        #[command(flatten)]
        place: StoreLocation,
    },
    /// Check that the stored ratings match recomputed ones
    ///
    /// Prints up to 100 differences. The exit status is 1 if there are any.
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
        current_thread_runtime()?.block_on(async {
            let store = data.open_for_maintenance().await?;
            match self.action {
                Action::Rebuild { .. } => rebuild(&*store).await,
                Action::Verify { .. } => verify(&*store).await,
            }
        })
    }
}

/// Singular and plural of the noun for rows of the ratings ledger.
const LEDGER_ROWS: [&str; 2] = ["ledger row", "ledger rows"];

async fn rebuild(store: &dyn Store) -> anyhow::Result<()> {
    let rows = rebuild_ratings(store).await?;
    let rows = count_text(rows, LEDGER_ROWS);
    let written = writeln!(io::stdout(), "ratings recomputed from {rows}");
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
        let rows = count_text(rows, LEDGER_ROWS);
        let ratings = count_text(ratings, ["rating", "ratings"]);
        let differences = count_text(count, ["difference", "differences"]);
        writeln!(out, "{rows}, {ratings}, {differences}")
    });
    written.context("cannot write to stdout")?;
    fail_if_any(count, ["difference found", "differences found"])
}
