//! How long to think about a move, by a clock that somebody else keeps.

use std::time::Duration;

/// What is lost on the way between two programs, and by a machine that is busy.
const LAG_RESERVE: Duration = Duration::from_millis(30);

/// For how many moves the time is to last where nobody says.
const MOVES_TO_GO_DEFAULT: u32 = 30;

/// The least that is thought, so that there is a move.
const SEARCH_TIME_MIN: Duration = Duration::from_millis(1);

/// A clock before a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// What is left.
    pub remaining: Duration,
    /// What is added after the move.
    pub increment: Duration,
    /// How many moves are to be made with what is left, this one included.
    pub moves_to_go: Option<u32>,
}

impl Clock {
    /// What may be spent on the move: an even share of what is left and three quarters of the
    /// increment, and at most three quarters of what is left.
    #[must_use]
    pub fn time_for_move(&self) -> Duration {
        let usable = self.remaining.saturating_sub(LAG_RESERVE);
        let moves = self.moves_to_go.unwrap_or(MOVES_TO_GO_DEFAULT).max(1);
        let share = usable / moves + self.increment * 3 / 4;
        share.min(usable * 3 / 4).max(SEARCH_TIME_MIN)
    }

    /// What may be spent of a time that is given for one move.
    #[must_use]
    pub fn time_for_fixed_move(time: Duration) -> Duration {
        time.saturating_sub(LAG_RESERVE).max(SEARCH_TIME_MIN)
    }
}

/// What a bot keeps of its clock, for whatever comes between a search and its end.
const BOT_TIME_RESERVE: Duration = Duration::from_millis(100);

/// For how many moves a bot's time is to last.
const BOT_MOVES_TO_GO: u32 = 25;

/// The clock of a match, before a move of a bot that is charged for its search alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BotClock {
    /// What is left of the main time.
    pub remaining: Duration,
    /// What is added after the move.
    pub increment: Duration,
    /// What the move may take beside what is left, and which is there again for the next: a delay, a
    /// period of a byo-yomi, or the time that each move is given.
    pub free_time: Duration,
}

impl BotClock {
    /// How long to search, who may at most search for so long: an even share of what is left and four
    /// fifths of what the move brings with it, and never so much that the time runs out.
    ///
    /// Nothing at all is enough for a move: of a search without time the first ply is looked at in full.
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
        // Never more than it may search anyway.
        assert_eq!(search_time_ms(2000, [3_600_000, 0, 0]), 2000);
        assert_eq!(search_time_ms(2000, [25_000, 0, 0]), 1000);
        assert_eq!(search_time_ms(2000, [25_000, 1000, 0]), 1800);
        // An increment comes after the move only: it does not help who has little left.
        assert_eq!(search_time_ms(2000, [1000, 10_000, 0]), 900);
        assert_eq!(search_time_ms(2000, [60, 10_000, 0]), 0);
        assert_eq!(search_time_ms(2000, [0, 10_000, 0]), 0);
        // A delay or a period helps at once.
        assert_eq!(search_time_ms(9000, [25_000, 0, 5000]), 5000);
        assert_eq!(search_time_ms(9000, [0, 0, 5000]), 4000);
        assert_eq!(search_time_ms(9000, [0, 0, 400]), 300);
        assert_eq!(search_time_ms(9000, [0, 0, 100]), 0);
    }

    /// A bot that takes what it is given never runs out of time, and thinks in every move it can.
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
