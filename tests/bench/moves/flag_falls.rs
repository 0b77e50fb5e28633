//! Measures the effect of many clocks that run out within one second. The benchmark reports how
//! late the players receive the `ended` events. It also reports the move latency in other matches.
//!
//! Pairs of connections open one match after another. In each match, both players play their first
//! ply, which uses no clock time. Then the first player lets the clock run. The clocks are set to
//! run out at regular intervals within one second. The benchmark computes each deadline from the
//! time when the first player's client receives the event that starts its turn. Other pairs play
//! before and during that second, at a pace that leaves the server idle time.

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
use crate::load_generator::{Counters, Load, LoadClient, PlayerPair};

/// Number of matches per pair of connections.
const MATCHES_PER_PAIR: usize = 100;

/// Number of matches opened per second. This rate is about a third of the server's maximum rate.
const MATCHES_OPENED_PER_SECOND: usize = 1500;

/// Time between the opening of the matches and the first flag fall. During this time, only the
/// background load runs.
const QUIET_PERIOD: Duration = Duration::from_secs(4);

/// Background load on the server. The first value is the number of concurrent matches. The second
/// value is the total number of moves per second in these matches.
const BACKGROUND_LOAD: (usize, f64) = (50, 500.0);

/// Result of a flag-fall measurement.
#[derive(Debug)]
pub(crate) struct FlagFallReport {
    /// Delays from a clock's deadline to the arrival of the match end, in ascending order. Each
    /// match adds one delay per player.
    lateness: Vec<Duration>,
    /// Move latencies of the background load before the flags fall, in ascending order. The field
    /// `busy_latencies` holds the move latencies of the background load while the flags fall.
    quiet_latencies: Vec<Duration>,
    busy_latencies: Vec<Duration>,
}

/// Lets the clocks of `flag_falls` matches run out and returns the measured delays and latencies.
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
        "some match ends were not received"
    );
    Ok(FlagFallReport {
        lateness,
        quiet_latencies: quiet,
        busy_latencies: busy,
    })
}

/// Opens one match per deadline, with a clock that runs out at the deadline. Waits until all
/// matches have ended and returns how late each player received each end.
async fn wait_for_flags(
    mut pair: PlayerPair,
    deadlines: Vec<Instant>,
) -> anyhow::Result<Vec<Duration>> {
    let mut deadline_by_match = HashMap::new();
    for deadline in deadlines {
        let main = deadline.saturating_duration_since(Instant::now());
        ensure!(
            main > Duration::from_secs(1),
            "opening this number of matches took too long"
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

/// Receives the `ended` events of all given matches and returns how late each event arrived.
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
            .context("received the end of an unknown match")?;
        // The server starts the clock before this client receives the event, so the flag may fall
        // slightly before the computed deadline.
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
            "{} match ends received, delay p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms; \
             move latency p50 {quiet:.2} ms before and {busy:.2} ms during the burst, ratio {:.2}",
            self.lateness.len(),
            percentile_ms(&self.lateness, 500),
            percentile_ms(&self.lateness, 990),
            percentile_ms(&self.lateness, 1000),
            busy / quiet,
        )
    }
}
