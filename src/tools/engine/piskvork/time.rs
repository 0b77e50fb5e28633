//! Time as `INFO` tells it.

use std::time::Duration;

use plyhouse_engine::search::Clock;

/// What may be thought, in a turn and in a match. Where nothing was told, there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Timing {
    turn: Option<Duration>,
    /// What a match begins with.
    whole: Option<Duration>,
    left: Option<Duration>,
}

impl Timing {
    /// Takes over what `INFO KEY VALUE` tells. Other keys, and values that are none, mean nothing
    /// here.
    pub(super) fn tell(&mut self, key: &str, ms: Option<u64>) {
        let Some(ms) = ms else {
            return;
        };
        let time = Duration::from_millis(ms);
        match key {
            // 0: as fast as possible.
            "timeout_turn" => self.turn = Some(time),
            // 0: no limit.
            "timeout_match" => {
                self.whole = (ms > 0).then_some(time);
                self.left = self.whole;
            }
            "time_left" => self.left = Some(time),
            _ => {}
        }
    }

    /// A match begins.
    pub(super) const fn begin_match(&mut self) {
        self.left = self.whole;
    }

    /// Takes off what a move has cost, for managers that do not tell what is left.
    pub(super) fn spend(&mut self, time: Duration) {
        self.left = self.left.map(|left| left.saturating_sub(time));
    }

    /// How long to think about a move; `None` without a limit.
    pub(super) fn share(&self) -> Option<Duration> {
        // Managers tell some time left even where a match has no limit.
        let left = self.left.filter(|_| self.whole.is_some());
        let by_match = left.map(|left| {
            let clock = Clock {
                remaining: left,
                increment: Duration::ZERO,
                moves_to_go: None,
            };
            clock.time_for_move()
        });
        let times = [self.turn.map(Clock::time_for_fixed_move), by_match];
        times.into_iter().flatten().min()
    }
}
