//! A crowd that watches one match: what it costs to tell a move to everybody.
//!
//! Only the moves are measured: how the crowd comes to the match is not, nor is what it is told of
//! those who come. Nobody in the crowd reads before the match is over, so that both servers meet the
//! same clients; what they are told finds room in their sockets.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::ServerKind;
use crate::game_script::GameScript;
use crate::load::{Counters, LoadClient, PlayerPair};
use crate::server_process::ServerProcess;

/// Longer than the real server lets those gather who come, before it tells everybody how many they are.
const SETTLE_TIME: Duration = Duration::from_millis(500);

/// How long a move has to reach everybody before the next: what comes together is written together,
/// and costs less.
const MOVE_INTERVAL: Duration = Duration::from_millis(50);

/// What was measured.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BroadcastCost {
    /// How many moves were told, each time to one who watches.
    pub(crate) messages: u64,
    /// What the server spent on them, and on the two who played.
    pub(crate) cpu: Duration,
}

/// Has so many watch match after match, for about so long, spread over the servers. The first has the match.
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
    /// Microseconds of CPU a message.
    pub(crate) fn cpu_us(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.messages as f64
    }
}
