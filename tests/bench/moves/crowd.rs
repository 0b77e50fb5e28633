//! A crowd that watches one match: what it costs to tell a move to everybody.
//!
//! Only the moves are measured: how the crowd comes to the match is not, nor is what it is told of
//! those who come. Nobody in the crowd reads before the match is over, so that both servers meet the
//! same clients; what they are told finds room in their sockets.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::Server;
use crate::players::{Counters, Pair, Player};
use crate::process::Process;
use crate::script::Script;

/// Longer than the real server lets those gather who come, before it tells everybody how many they are.
const SETTLED: Duration = Duration::from_millis(500);

/// How long a move has to reach everybody before the next: what comes together is written together,
/// and costs less.
const PACE: Duration = Duration::from_millis(50);

/// What was measured.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    /// How many moves were told, each time to one who watches.
    pub(crate) messages: u64,
    /// What the server spent on them, and on the two who played.
    pub(crate) cpu: Duration,
}

/// Has so many watch match after match, for about so long, spread over the servers. The first has the match.
pub(crate) async fn measure(
    servers: &[Process],
    server: Server,
    script: &Arc<Script>,
    spectators: usize,
    time: Duration,
) -> anyhow::Result<Told> {
    let counters = Arc::<Counters>::default();
    let address = |number: usize| servers[number % servers.len()].address();
    let cpu = || -> anyhow::Result<Duration> { servers.iter().map(Process::cpu).sum() };
    let mut pair = Pair::connect(address(0), server, script, &counters).await?;
    let mut crowd = Vec::new();
    for number in 0..spectators {
        crowd.push(Player::connect(address(number), server, &counters).await?);
    }
    let mut told = Told::default();
    let begin = Instant::now();
    while told.messages == 0 || begin.elapsed() < time {
        let id = pair.create().await?;
        for spectator in &mut crowd {
            spectator.watch(&id).await?;
        }
        pair.join(&id).await?;
        sleep(SETTLED).await;
        let before = cpu()?;
        pair.pace(Instant::now(), PACE);
        pair.play_match(&id).await?;
        for spectator in &mut crowd {
            for ply in 0..script.plies.len() {
                spectator.moved(script, &id, ply).await?;
                told.messages += 1;
            }
        }
        told.cpu += cpu()?.saturating_sub(before);
    }
    Ok(told)
}

impl Told {
    /// Microseconds of CPU a message.
    pub(crate) fn cpu_us(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.messages as f64
    }
}
