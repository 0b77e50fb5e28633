//! Clocks that run out within one second: how late each end is told, and what other people notice.
//!
//! Pairs of connections open the matches one after the other, play the two free plies of each, and let
//! the clock of the first seat run. It is set so that all of them run out in one second, evenly. How late
//! an end is told counts from when the first seat was told of its turn, as that seat sees it. Beside them
//! others play on, at a pace that leaves the server time, before and in that second.

use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::Server;
use crate::players::{Counters, Load, Pair, Player};
use crate::script::Script;

/// How many matches a pair has.
const MATCHES_OF_PAIR: usize = 100;

/// How many matches are opened in a second; about a third of what can be.
const OPENED_PER_SECOND: usize = 1500;

/// How long nothing happens but what others play, before the clocks run out.
const QUIET: Duration = Duration::from_secs(4);

/// The others: so many matches, and so many moves a second in all.
const OTHERS: (usize, f64) = (50, 500.0);

/// How late ends were told, and how long the moves of others took.
#[derive(Debug)]
pub(crate) struct Found {
    /// Of each end to each of the two, the shortest first.
    lateness: Vec<Duration>,
    /// The waits of others before and meanwhile, the shortest first.
    quiet: Vec<Duration>,
    busy: Vec<Duration>,
}

/// Has the clocks of so many matches run out.
pub(crate) async fn measure(
    address: SocketAddr,
    script: &Arc<Script>,
    flags: usize,
) -> anyhow::Result<Found> {
    let (matches, rate) = OTHERS;
    let mut others = Load::start(address, matches, Server::Real, script, Some(rate)).await?;
    let opening = Duration::from_secs(2 + flags.div_ceil(OPENED_PER_SECOND) as u64);
    let first_due = Instant::now() + opening + QUIET;
    let mut pairs = JoinSet::new();
    for first in (0..flags).step_by(MATCHES_OF_PAIR) {
        let counters = Arc::<Counters>::default();
        let pair = Pair::connect(address, Server::Timed, script, &counters).await?;
        let due = (first..flags.min(first + MATCHES_OF_PAIR))
            .map(|number| first_due + Duration::from_secs(1).mul_f64(number as f64 / flags as f64))
            .collect();
        pairs.spawn(wait_for_flags(pair, due));
    }
    let quiet_from = first_due - QUIET;
    others.run_until(sleep_until(quiet_from)).await?;
    others.take_waits();
    others.run_until(sleep_until(first_due)).await?;
    let quiet = others.take_waits();
    let mut lateness = Vec::new();
    let ends = async {
        while let Some(told) = pairs.join_next().await {
            lateness.extend(told.context("a pair panicked")??);
        }
        anyhow::Ok(())
    };
    let mut ended = Ok(());
    others.run_until(async { ended = ends.await }).await?;
    ended?;
    let busy = others.take_waits();
    others.finish().await?;
    lateness.sort_unstable();
    ensure!(lateness.len() == 2 * flags, "not every end was told");
    Ok(Found {
        lateness,
        quiet,
        busy,
    })
}

/// Opens a match for each of these instants, at which its clock runs out, and waits for the ends. Gives
/// how late each was told to each of the two.
async fn wait_for_flags(mut pair: Pair, due: Vec<Instant>) -> anyhow::Result<Vec<Duration>> {
    let mut runs_out = HashMap::new();
    for due in due {
        let main = due.saturating_duration_since(Instant::now());
        ensure!(main > Duration::from_secs(1), "too slow to open so many");
        pair.clock_runs_out_after(main);
        let id = pair.create().await?;
        pair.join(&id).await?;
        let told_at = pair.play_free_plies(&id).await?;
        runs_out.insert(id, told_at + main);
    }
    let runs_out = Arc::new(runs_out);
    let players = pair.into_players();
    let told = players.map(|player| hear_ends(player, Arc::clone(&runs_out)));
    let told = futures::future::try_join_all(told).await?;
    Ok(told.concat())
}

/// Hears the ends of these matches, and gives how late each was told.
async fn hear_ends(
    mut player: Player,
    runs_out: Arc<HashMap<String, Instant>>,
) -> anyhow::Result<Vec<Duration>> {
    let mut lateness = Vec::new();
    while lateness.len() < runs_out.len() {
        let id = player.ended().await?;
        let now = Instant::now();
        let due = runs_out.get(&id).context("an end of another match")?;
        // The turn was told before it was seen here, so its flag may come a moment before that.
        lateness.push(now.saturating_duration_since(*due));
    }
    Ok(lateness)
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |waits: &[Duration], permille: usize| {
            let wait = waits.get(waits.len().saturating_sub(1) * permille / 1000);
            wait.copied().unwrap_or_default().as_secs_f64() * 1e3
        };
        let (quiet, busy) = (of(&self.quiet, 500), of(&self.busy, 500));
        write!(
            f,
            "{} ends told, late by median {:.1} ms, 99 of 100 {:.1} ms, most {:.1} ms; a move of others \
             {quiet:.2} ms before and {busy:.2} ms meanwhile, ratio {:.2}",
            self.lateness.len(),
            of(&self.lateness, 500),
            of(&self.lateness, 990),
            of(&self.lateness, 1000),
            busy / quiet,
        )
    }
}
