//! Time as `INFO` tells it.

use std::time::Duration;

use plyhouse_engine::search::Clock;

/// What may be thought, in a turn and in a match. Where nothing was told, there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MatchTiming {
    turn_limit: Option<Duration>,
    /// What a match begins with.
    match_limit: Option<Duration>,
    time_left: Option<Duration>,
}

impl MatchTiming {
    /// Takes over what `INFO KEY VALUE` tells. Other keys, and values that are none, mean nothing
    /// here.
    pub(super) fn apply_info(&mut self, key: &str, ms: Option<u64>) {
        let Some(ms) = ms else {
            return;
        };
        let time = Duration::from_millis(ms);
        match key {
            // 0: as fast as possible.
            "timeout_turn" => self.turn_limit = Some(time),
            // 0: no limit.
            "timeout_match" => {
                self.match_limit = (ms > 0).then_some(time);
                self.time_left = self.match_limit;
            }
            "time_left" => self.time_left = Some(time),
            _ => {}
        }
    }

    /// A match begins.
    pub(super) const fn begin_match(&mut self) {
        self.time_left = self.match_limit;
    }

    /// Takes off what a move has cost, for managers that do not tell what is left.
    pub(super) fn charge_move(&mut self, time: Duration) {
        self.time_left = self.time_left.map(|left| left.saturating_sub(time));
    }

    /// How long to think about a move; `None` without a limit.
    pub(super) fn time_for_move(&self) -> Option<Duration> {
        // Managers tell some time left even where a match has no limit.
        let left = self.time_left.filter(|_| self.match_limit.is_some());
        let match_share = left.map(|left| {
            let clock = Clock {
                remaining: left,
                increment: Duration::ZERO,
                moves_to_go: None,
            };
            clock.time_for_move()
        });
        let times = [self.turn_limit.map(Clock::time_for_fixed_move), match_share];
        times.into_iter().flatten().min()
    }
}
