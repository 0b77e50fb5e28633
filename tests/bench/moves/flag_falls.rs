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

use crate::ServerKind;
use crate::game_script::GameScript;
use crate::load::{Counters, Load, LoadClient, PlayerPair};

/// How many matches a pair has.
const MATCHES_PER_PAIR: usize = 100;

/// How many matches are opened in a second; about a third of what can be.
const MATCHES_OPENED_PER_SECOND: usize = 1500;

/// How long nothing happens but what others play, before the clocks run out.
const QUIET_PERIOD: Duration = Duration::from_secs(4);

/// The others: so many matches, and so many moves a second in all.
const BACKGROUND_LOAD: (usize, f64) = (50, 500.0);

/// How late ends were told, and how long the moves of others took.
#[derive(Debug)]
pub(crate) struct FlagFallReport {
    /// Of each end to each of the two, the shortest first.
    lateness: Vec<Duration>,
    /// The waits of others before and meanwhile, the shortest first.
    quiet_latencies: Vec<Duration>,
    busy_latencies: Vec<Duration>,
}

/// Has the clocks of so many matches run out.
pub(crate) async fn measure_flag_falls(
    address: SocketAddr,
    script: &Arc<GameScript>,
    flag_falls: usize,
) -> anyhow::Result<FlagFallReport> {
    let (matches, rate) = BACKGROUND_LOAD;
    let mut background =
        Load::start(address, matches, ServerKind::Real, script, Some(rate)).await?;
    let opening = Duration::from_secs(2 + flag_falls.div_ceil(MATCHES_OPENED_PER_SECOND) as u64);
    let first_deadline = Instant::now() + opening + QUIET_PERIOD;
    let mut pairs = JoinSet::new();
    for first in (0..flag_falls).step_by(MATCHES_PER_PAIR) {
        let counters = Arc::<Counters>::default();
        let pair = PlayerPair::connect(address, ServerKind::WithClock, script, &counters).await?;
        let deadlines = (first..flag_falls.min(first + MATCHES_PER_PAIR))
            .map(|number| {
                first_deadline + Duration::from_secs(1).mul_f64(number as f64 / flag_falls as f64)
            })
            .collect();
        pairs.spawn(wait_for_flags(pair, deadlines));
    }
    let quiet_from = first_deadline - QUIET_PERIOD;
    background.run_until(sleep_until(quiet_from)).await?;
    background.take_latencies();
    background.run_until(sleep_until(first_deadline)).await?;
    let quiet = background.take_latencies();
    let mut lateness = Vec::new();
    let ends = async {
        while let Some(pair_lateness) = pairs.join_next().await {
            lateness.extend(pair_lateness.context("a pair panicked")??);
        }
        anyhow::Ok(())
    };
    let mut ended = Ok(());
    background.run_until(async { ended = ends.await }).await?;
    ended?;
    let busy = background.take_latencies();
    background.finish().await?;
    lateness.sort_unstable();
    ensure!(
        lateness.len() == 2 * flag_falls,
        "not every end was received"
    );
    Ok(FlagFallReport {
        lateness,
        quiet_latencies: quiet,
        busy_latencies: busy,
    })
}

/// Opens a match for each of these instants, at which its clock runs out, and waits for the ends. Gives
/// how late each was told to each of the two.
async fn wait_for_flags(
    mut pair: PlayerPair,
    deadlines: Vec<Instant>,
) -> anyhow::Result<Vec<Duration>> {
    let mut deadline_by_match = HashMap::new();
    for deadline in deadlines {
        let main = deadline.saturating_duration_since(Instant::now());
        ensure!(
            main > Duration::from_secs(1),
            "too slow to open that many matches"
        );
        pair.set_clock_time(main);
        let id = pair.create().await?;
        pair.join(&id).await?;
        let turn_started_at = pair.play_free_plies(&id).await?;
        deadline_by_match.insert(id, turn_started_at + main);
    }
    let deadline_by_match = Arc::new(deadline_by_match);
    let players = pair.into_clients();
    let lateness = players.map(|player| receive_match_ends(player, Arc::clone(&deadline_by_match)));
    let lateness = futures::future::try_join_all(lateness).await?;
    Ok(lateness.concat())
}

/// Hears the ends of these matches, and gives how late each was told.
async fn receive_match_ends(
    mut player: LoadClient,
    deadline_by_match: Arc<HashMap<String, Instant>>,
) -> anyhow::Result<Vec<Duration>> {
    let mut lateness = Vec::new();
    while lateness.len() < deadline_by_match.len() {
        let id = player.receive_ended().await?;
        let now = Instant::now();
        let deadline = deadline_by_match
            .get(&id)
            .context("end of an unknown match")?;
        // The turn was told before it was seen here, so its flag may come a moment before that.
        lateness.push(now.saturating_duration_since(*deadline));
    }
    Ok(lateness)
}

impl fmt::Display for FlagFallReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percentile_ms = |waits: &[Duration], permille: usize| {
            let latency = waits.get(waits.len().saturating_sub(1) * permille / 1000);
            latency.copied().unwrap_or_default().as_secs_f64() * 1e3
        };
        let (quiet, busy) = (
            percentile_ms(&self.quiet_latencies, 500),
            percentile_ms(&self.busy_latencies, 500),
        );
        write!(
            f,
            "{} ends told, late by median {:.1} ms, 99 of 100 {:.1} ms, most {:.1} ms; a move of others \
             {quiet:.2} ms before and {busy:.2} ms meanwhile, ratio {:.2}",
            self.lateness.len(),
            percentile_ms(&self.lateness, 500),
            percentile_ms(&self.lateness, 990),
            percentile_ms(&self.lateness, 1000),
            busy / quiet,
        )
    }
}
