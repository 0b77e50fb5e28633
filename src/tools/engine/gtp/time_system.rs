//! GTP time settings: a main time, followed by Canadian byo-yomi. In Canadian byo-yomi, a player
//! must play a given number of stones within a given time.
//!
//! The KGS extension also supports Japanese byo-yomi, which consists of a number of periods. A
//! player who spends more than a period on a move loses that period.

use std::time::Duration;

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Clock;

/// Time system of a game. It also tracks the remaining time of each side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TimeSystem {
    /// Byo-yomi time, and the number of stones (Canadian) or periods (Japanese). If the number is
    /// 0, the game has no byo-yomi.
    byo_yomi: (Duration, u32),
    /// Whether the byo-yomi is Japanese. In Japanese byo-yomi, the byo-yomi time is the length of a
    /// period.
    is_japanese: bool,
    /// Remaining time of each side, indexed by seat. `None` means no limit.
    time_left: Option<[TimeLeft; 2]>,
}

/// Remaining time of a side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TimeLeft {
    time: Duration,
    /// During byo-yomi, the number of stones still to play (Canadian) or the number of periods left
    /// (Japanese). The value is 0 during the main time.
    stones_or_periods: u32,
}

impl TimeSystem {
    /// Parses the arguments of `time_settings`. These are the main time in seconds, the byo-yomi
    /// time in seconds, and the number of stones.
    pub(super) fn parse(words: &[&str]) -> Option<Self> {
        let [main, byo_yomi, stones] = words else {
            return None;
        };
        let (main, byo_yomi) = (parse_seconds(main)?, parse_seconds(byo_yomi)?);
        let stones = stones.parse().ok()?;
        // According to the GTP specification, a positive byo-yomi time with 0 stones means that
        // there is no time limit.
        if stones == 0 && !byo_yomi.is_zero() {
            return Some(Self::default());
        }
        Some(Self::with_main_time(main, (byo_yomi, stones), false))
    }

    /// Parses `kgs-time_settings`: the kind of time system and its parameters.
    pub(super) fn parse_kgs(words: &[&str]) -> Option<Self> {
        match words {
            ["none"] => Some(Self::default()),
            ["absolute", main] => Self::parse(&[main, "0", "0"]),
            ["canadian", rest @ ..] => Self::parse(rest),
            ["byoyomi", main, period, periods] => {
                let byo_yomi = (parse_seconds(period)?, periods.parse().ok()?);
                Some(Self::with_main_time(parse_seconds(main)?, byo_yomi, true))
            }
            _ => None,
        }
    }

    fn with_main_time(main: Duration, byo_yomi: (Duration, u32), is_japanese: bool) -> Self {
        let mut system = Self {
            byo_yomi,
            is_japanese,
            time_left: None,
        };
        let left = TimeLeft {
            time: main,
            stones_or_periods: 0,
        };
        system.time_left = Some([system.start_byo_yomi_if_empty(left); 2]);
        system
    }

    /// Stores the remaining time for `seat`. `words` are the arguments of `time_left` after the
    /// colour: the remaining time in seconds, and the number of remaining stones. In Japanese
    /// byo-yomi, the second number counts periods.
    pub(super) fn set_time_left(&mut self, seat: Seat, words: &[&str]) -> Option<()> {
        let [time, stones] = words else {
            return None;
        };
        let left = TimeLeft {
            time: parse_seconds(time)?,
            stones_or_periods: stones.parse().ok()?,
        };
        let mut both = self.time_left.unwrap_or([left; 2]);
        both[seat.index()] = left;
        self.time_left = Some(both);
        Some(())
    }

    /// Returns the time to spend on a move, or `None` if there is no limit.
    pub(super) fn time_for_move(&self, seat: Seat) -> Option<Duration> {
        let left = self.time_left?[seat.index()];
        if self.is_japanese && left.stones_or_periods > 0 {
            return Some(Clock::time_for_fixed_move(left.time));
        }
        let clock = Clock {
            remaining: left.time,
            increment: Duration::ZERO,
            moves_to_go: (left.stones_or_periods > 0).then_some(left.stones_or_periods),
        };
        Some(clock.time_for_move())
    }

    /// Subtracts the time of a move from the remaining time, because some controllers do not send
    /// `time_left`. Has no effect during Japanese byo-yomi.
    pub(super) fn spend(&mut self, seat: Seat, time: Duration) {
        let Some(mut both) = self.time_left else {
            return;
        };
        let left = both[seat.index()];
        if self.is_japanese && left.stones_or_periods > 0 {
            return;
        }
        // A new byo-yomi period starts after the last stone of a period.
        let remaining = match left.stones_or_periods {
            1 => TimeLeft::default(),
            stones => TimeLeft {
                time: left.time.saturating_sub(time),
                stones_or_periods: stones.saturating_sub(1),
            },
        };
        both[seat.index()] = self.start_byo_yomi_if_empty(remaining);
        self.time_left = Some(both);
    }

    /// Starts a new byo-yomi period if a player's remaining time and stone count are both 0.
    /// Without byo-yomi, returns `left` unchanged.
    const fn start_byo_yomi_if_empty(&self, left: TimeLeft) -> TimeLeft {
        let (time, stones) = self.byo_yomi;
        if left.time.is_zero() && left.stones_or_periods == 0 && stones > 0 {
            return TimeLeft {
                time,
                stones_or_periods: stones,
            };
        }
        left
    }
}

/// Maximum time setting in seconds: one year.
const SECONDS_MAX: u64 = 366 * 24 * 3600;

fn parse_seconds(text: &str) -> Option<Duration> {
    let seconds: u64 = text.parse().ok()?;
    (seconds <= SECONDS_MAX).then(|| Duration::from_secs(seconds))
}
