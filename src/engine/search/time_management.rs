//! Time management: computes how long to search for a move, based on the state of the clock.

use std::time::Duration;

/// Time reserved for communication between two programs and for delays on a busy machine.
const LAG_RESERVE: Duration = Duration::from_millis(30);

/// Assumed number of moves in the remaining time, if the clock does not specify one.
const MOVES_TO_GO_DEFAULT: u32 = 30;

/// Minimum search time, so that the search has time to find a move.
const SEARCH_TIME_MIN: Duration = Duration::from_millis(1);

/// State of a game clock before a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Remaining time.
    pub remaining: Duration,
    /// Time that the clock adds after the move.
    pub increment: Duration,
    /// Number of moves that the player must make in the remaining time, including this move. `None`
    /// if the number is unknown.
    pub moves_to_go: Option<u32>,
}

impl Clock {
    /// Returns the search time for the move. This time consists of an even share of the remaining
    /// time and three quarters of the increment. The search time is at most three quarters of the
    /// remaining time.
    ///
    /// Before this calculation, a reserve of 30 ms is subtracted from the remaining time. The
    /// search time is at least 1 ms.
    #[must_use]
    pub fn time_for_move(&self) -> Duration {
        let usable = self.remaining.saturating_sub(LAG_RESERVE);
        let moves = self.moves_to_go.unwrap_or(MOVES_TO_GO_DEFAULT).max(1);
        let share = usable / moves + self.increment * 3 / 4;
        share.min(usable * 3 / 4).max(SEARCH_TIME_MIN)
    }

    /// Returns the search time for a move with a fixed time limit, after subtracting the reserve.
    #[must_use]
    pub fn time_for_fixed_move(time: Duration) -> Duration {
        time.saturating_sub(LAG_RESERVE).max(SEARCH_TIME_MIN)
    }
}

/// Time reserved on a bot's clock for delays before and after the search.
const BOT_TIME_RESERVE: Duration = Duration::from_millis(100);

/// Assumed number of moves in a bot's remaining time.
const BOT_MOVES_TO_GO: u32 = 25;

/// State of the match clock before a bot's move. Only the search counts against the bot's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BotClock {
    /// Remaining main time.
    pub remaining: Duration,
    /// Time that the clock adds after the move.
    pub increment: Duration,
    /// Time for this move in addition to `remaining`: a delay, a byo-yomi period or a fixed time
    /// per move. The bot gets this time again for every move.
    pub free_time: Duration,
}

impl BotClock {
    /// Returns how long the bot may search. The search time is an even share of the remaining time
    /// plus four fifths of the increment and of `free_time`. The result is at most
    /// `search_time_max`. A reserve of 100 ms ensures that the time does not run out.
    ///
    /// If the search time is zero, the bot still gets a move, because a search always completes the
    /// first ply.
    #[must_use]
    pub fn search_time(&self, search_time_max: Duration) -> Duration {
        let share = self.remaining / BOT_MOVES_TO_GO + (self.increment + self.free_time) * 4 / 5;
        let available = (self.remaining + self.free_time).saturating_sub(BOT_TIME_RESERVE);
        search_time_max.min(share).min(available)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search_time_ms(search_time: u64, [left, increment, free]: [u64; 3]) -> u128 {
        let [left, increment, free] = [left, increment, free].map(Duration::from_millis);
        let clock = BotClock {
            remaining: left,
            increment,
            free_time: free,
        };
        clock
            .search_time(Duration::from_millis(search_time))
            .as_millis()
    }

    #[test]
    fn search_time_is_a_share_of_the_clock_minus_the_reserve() {
        // The result never exceeds the maximum search time.
        assert_eq!(search_time_ms(2000, [3_600_000, 0, 0]), 2000);
        assert_eq!(search_time_ms(2000, [25_000, 0, 0]), 1000);
        assert_eq!(search_time_ms(2000, [25_000, 1000, 0]), 1800);
        // The clock adds the increment only after the move, so the increment does not help a bot
        // that has little time left.
        assert_eq!(search_time_ms(2000, [1000, 10_000, 0]), 900);
        assert_eq!(search_time_ms(2000, [60, 10_000, 0]), 0);
        assert_eq!(search_time_ms(2000, [0, 10_000, 0]), 0);
        // The time of a delay or a byo-yomi period is available immediately.
        assert_eq!(search_time_ms(9000, [25_000, 0, 5000]), 5000);
        assert_eq!(search_time_ms(9000, [0, 0, 5000]), 4000);
        assert_eq!(search_time_ms(9000, [0, 0, 400]), 300);
        assert_eq!(search_time_ms(9000, [0, 0, 100]), 0);
    }

    #[test]
    fn bot_using_its_full_search_time_never_flags() {
        for [main, increment, free] in [
            [1000, 0, 0],
            [60_000, 0, 0],
            [60_000, 1000, 0],
            [3000, 0, 500],
            [0, 0, 1000],
        ] {
            let mut left = main;
            for ply in 0..300 {
                let spent = u64::try_from(search_time_ms(2000, [left, increment, free]))
                    .expect("the number is small");
                assert!(
                    spent <= (left + free).saturating_sub(100),
                    "ply {ply}: {left}"
                );
                left = left - spent.saturating_sub(free) + increment;
                assert!(left > 0 || free > 0, "ply {ply}");
            }
        }
    }

    fn time_for_move_ms(left: u64, increment: u64, moves: Option<u32>) -> u128 {
        let clock = Clock {
            remaining: Duration::from_millis(left),
            increment: Duration::from_millis(increment),
            moves_to_go: moves,
        };
        clock.time_for_move().as_millis()
    }

    #[test]
    fn time_for_move_is_an_even_share_and_never_the_whole_clock() {
        assert_eq!(time_for_move_ms(60_030, 0, None), 2000);
        assert_eq!(time_for_move_ms(60_030, 1000, None), 2750);
        assert_eq!(time_for_move_ms(60_030, 0, Some(10)), 6000);
        assert_eq!(time_for_move_ms(1030, 0, Some(1)), 750);
        assert_eq!(time_for_move_ms(1030, 60_000, None), 750);
        assert_eq!(time_for_move_ms(20, 0, None), 1);
        assert_eq!(time_for_move_ms(0, 0, Some(0)), 1);
    }
}
