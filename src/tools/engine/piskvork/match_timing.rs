//! Time limits from `INFO` commands.

use std::time::Duration;

use plyhouse_engine::search::Clock;

/// Time limits for a turn and for a match. `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MatchTiming {
    turn_limit: Option<Duration>,
    /// Total time that the engine may use in a match.
    match_limit: Option<Duration>,
    time_left: Option<Duration>,
}

impl MatchTiming {
    /// Applies an `INFO KEY VALUE` command if the key is a time setting. Ignores other keys and
    /// invalid values.
    pub(super) fn apply_info(&mut self, key: &str, ms: Option<u64>) {
        let Some(ms) = ms else {
            return;
        };
        let time = Duration::from_millis(ms);
        match key {
            // A turn limit of 0 asks the engine to move as fast as possible.
            "timeout_turn" => self.turn_limit = Some(time),
            // A match limit of 0 means no limit.
            "timeout_match" => {
                self.match_limit = (ms > 0).then_some(time);
                self.time_left = self.match_limit;
            }
            "time_left" => self.time_left = Some(time),
            _ => {}
        }
    }

    /// Resets the remaining time at the start of a match.
    pub(super) const fn begin_match(&mut self) {
        self.time_left = self.match_limit;
    }

    /// Subtracts the time of a move from the remaining time, because some managers do not send
    /// `time_left`.
    pub(super) fn charge_move(&mut self, time: Duration) {
        self.time_left = self.time_left.map(|left| left.saturating_sub(time));
    }

    /// Returns the time to spend on a move, or `None` if there is no limit.
    pub(super) fn time_for_move(&self) -> Option<Duration> {
        // If the match has no time limit, `time_left` is ignored, because some managers send it
        // even then.
        let left = self.time_left.filter(|_| self.match_limit.is_some());
        let clock = left.map(|remaining| Clock {
            remaining,
            increment: Duration::ZERO,
            moves_to_go: None,
        });
        let match_share = clock.map(|clock| clock.time_for_move());
        let times = [self.turn_limit.map(Clock::time_for_fixed_move), match_share];
        times.into_iter().flatten().min()
    }
}
