//! Loads hibernating matches, which are stored but not in memory, at their wake times.
//!
//! One task reads the due matches from the store in batches, using an index. The task checks the
//! matches one after another, in the order of their wake times. The task starts at the end of the
//! restart grace period. If a player's time in a correspondence match ran out while the server was
//! down, the player loses the match when the grace period ends.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use uuid::Uuid;

use crate::context::infrastructure::Infrastructure;
use crate::context::server_context::ServerContext;
use crate::match_handle::command::Control;
use crate::matchmaking::match_loading;
use plyhouse_protocol::{MatchId, MatchRef};

/// Maximum number of due matches that one query reads from the store.
const BATCH_SIZE: usize = 256;

/// Delay before a failed operation is retried, in milliseconds.
const RETRY_DELAY_MS: u64 = 5000;

/// Longest single sleep. If the next wake time is further away, the task sleeps several times.
const SLEEP_MAX: Duration = Duration::from_hours(24);

/// Wakes due matches until the server stops.
pub(crate) async fn run(server: Arc<ServerContext>) {
    let mut next_ms = server.matches.grace_ends_ms;
    loop {
        let is_time = tokio::select! {
            biased; // The fixed branch order makes seeded runs reproducible.
            () = server.infra.tasks.shutdown.cancelled() => return,
            () = server.matches.wake_times.wait_for_change() => false,
            () = sleep(time_until(&server.infra, next_ms)) => server.infra.clock.now_ms() >= next_ms,
        };
        if is_time {
            server.matches.wake_times.reset();
            next_ms = wake_due_matches(&server).await;
        }
        next_ms = next_ms.min(server.matches.wake_times.earliest_ms());
        next_ms = next_ms.max(server.matches.grace_ends_ms);
    }
}

fn time_until(infra: &Infrastructure, at_ms: u64) -> Duration {
    let wait = Duration::from_millis(at_ms.saturating_sub(infra.clock.now_ms()));
    wait.min(SLEEP_MAX)
}

/// Wakes all due matches in order. Returns the time of the next wake-up, in milliseconds since
/// 1970.
async fn wake_due_matches(server: &Arc<ServerContext>) -> u64 {
    let (mut after, mut all_woken) = ((0, MatchId(Uuid::nil())), true);
    let next_ms = 'due: loop {
        let reminders = match server.infra.store.due_reminders(after, BATCH_SIZE).await {
            Ok(due) => due,
            Err(error) => {
                tracing::error!(%error, "cannot read due matches");
                break server.infra.clock.now_ms() + RETRY_DELAY_MS;
            }
        };
        let is_last = reminders.len() < BATCH_SIZE;
        for (wake_ms, id) in reminders {
            let now_ms = server.infra.clock.now_ms();
            if now_ms < wake_ms || server.infra.tasks.is_stopping() {
                break 'due wake_ms;
            }
            let late_ms = now_ms - wake_ms.max(server.matches.grace_ends_ms);
            let lateness = &server.infra.metrics.wake_lateness;
            lateness.observe(Duration::from_millis(late_ms).as_secs_f64());
            all_woken &= wake_match(server, id).await;
            after = (wake_ms, id);
        }
        if is_last {
            break u64::MAX;
        }
    };
    match all_woken {
        true => next_ms,
        false => next_ms.min(server.infra.clock.now_ms() + RETRY_DELAY_MS),
    }
}

/// Loads a match and requests that the match checks its timers. Returns false if the load failed
/// and must be retried.
async fn wake_match(server: &Arc<ServerContext>, id: MatchId) -> bool {
    match match_loading::find_match(server, MatchRef::Id(id)).await {
        Ok(handle) => {
            let metrics = &server.infra.metrics;
            handle.notify(Control::CheckTimers, metrics).await;
            true
        }
        Err(error) => {
            tracing::warn!(match_id = %id, error = error.message, "cannot wake a due match");
            false
        }
    }
}
