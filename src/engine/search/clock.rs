//! How long to think about a move, by a clock that somebody else keeps.

use std::time::Duration;

/// What is lost on the way between two programs, and by a machine that is busy.
const LAG: Duration = Duration::from_millis(30);

/// For how many moves the time is to last where nobody says.
const MOVES_LEFT: u32 = 30;

/// The least that is thought, so that there is a move.
const LEAST: Duration = Duration::from_millis(1);

/// A clock before a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// What is left.
    pub left: Duration,
    /// What is added after the move.
    pub increment: Duration,
    /// How many moves are to be made with what is left, this one included.
    pub moves: Option<u32>,
}

impl Clock {
    /// What may be spent on the move: an even share of what is left and three quarters of the
    /// increment, and at most three quarters of what is left.
    #[must_use]
    pub fn share(&self) -> Duration {
        let left = self.left.saturating_sub(LAG);
        let moves = self.moves.unwrap_or(MOVES_LEFT).max(1);
        let share = left / moves + self.increment * 3 / 4;
        share.min(left * 3 / 4).max(LEAST)
    }

    /// What may be spent of a time that is given for one move.
    #[must_use]
    pub fn within(time: Duration) -> Duration {
        time.saturating_sub(LAG).max(LEAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(left: u64, increment: u64, moves: Option<u32>) -> u128 {
        let clock = Clock {
            left: Duration::from_millis(left),
            increment: Duration::from_millis(increment),
            moves,
        };
        clock.share().as_millis()
    }

    #[test]
    fn time_is_shared_among_the_moves_and_never_used_up() {
        assert_eq!(share(60_030, 0, None), 2000);
        assert_eq!(share(60_030, 1000, None), 2750);
        assert_eq!(share(60_030, 0, Some(10)), 6000);
        assert_eq!(share(1030, 0, Some(1)), 750);
        assert_eq!(share(1030, 60_000, None), 750);
        assert_eq!(share(20, 0, None), 1);
        assert_eq!(share(0, 0, Some(0)), 1);
    }
}
