//! Measures the cost of broadcasting the moves of one match to many spectators.
//!
//! Only the moves are measured, not the spectators' connections or presence messages. Spectators
//! read nothing until the match is over, so that they behave the same with every server. Unread
//! messages wait in the socket buffers, which are large enough for all messages of a match.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::ServerKind;
use crate::game_script::GameScript;
use crate::load_generator::{Counters, LoadClient, PlayerPair};
use crate::server_process::ServerProcess;

/// Time between the last join and the measurement. The real server collects presence changes for
/// 250 ms before it broadcasts them, so the pause must be longer than that.
const SETTLE_TIME: Duration = Duration::from_millis(500);

/// Time between two moves. The interval is long enough for a move to reach all spectators. With a
/// shorter interval, messages would queue up, and the server would write several messages at once
/// at a lower cost.
const MOVE_INTERVAL: Duration = Duration::from_millis(50);

/// Result of a measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BroadcastCost {
    /// Number of `moved` events that all spectators together received.
    pub(crate) messages: u64,
    /// CPU time of the servers during the moves, including the messages to the two players.
    pub(crate) cpu: Duration,
}

/// Plays matches for about the duration `time` and measures the CPU time of the broadcasts. The
/// spectators are spread over all servers. The first server owns the matches.
pub(crate) async fn measure_broadcasts(
    servers: &[ServerProcess],
    server: ServerKind,
    script: &Arc<GameScript>,
    spectator_count: usize,
    time: Duration,
) -> anyhow::Result<BroadcastCost> {
    let counters = Arc::<Counters>::default();
    let address = |number: usize| servers[number % servers.len()].address();
    let cpu = || -> anyhow::Result<Duration> { servers.iter().map(ServerProcess::cpu_time).sum() };
    let mut pair = PlayerPair::connect(address(0), server, script, &counters).await?;
    let mut spectator_clients = Vec::new();
    for number in 0..spectator_count {
        spectator_clients.push(LoadClient::connect(address(number), server, &counters).await?);
    }
    let mut cost = BroadcastCost::default();
    let begin = Instant::now();
    while cost.messages == 0 || begin.elapsed() < time {
        let id = pair.create().await?;
        for spectator in &mut spectator_clients {
            spectator.watch(&id).await?;
        }
        pair.join(&id).await?;
        sleep(SETTLE_TIME).await;
        let before = cpu()?;
        pair.set_pace(Instant::now(), MOVE_INTERVAL);
        pair.play_match(&id).await?;
        for spectator in &mut spectator_clients {
            for ply in 0..script.plies.len() {
                spectator.receive_moved(script, &id, ply).await?;
                cost.messages += 1;
            }
        }
        cost.cpu += cpu()?.saturating_sub(before);
    }
    Ok(cost)
}

impl BroadcastCost {
    /// Returns the CPU time per message, in microseconds.
    pub(crate) fn cpu_us(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.messages as f64
    }
}
