//! Time as GTP tells it: a main time, and after it Canadian byo-yomi, so much for so many stones. The
//! servers of KGS tell more: also Japanese byo-yomi, a period for each stone, several of which may be
//! lost.

use std::time::Duration;

use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Clock;

/// How both sides' time is kept, and what is left of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TimeSystem {
    /// A time, and for how many stones. No stones: there is none.
    byo_yomi: (Duration, u32),
    /// Whether that is a period for each stone, and how many of them there are.
    is_japanese: bool,
    /// By seat. `None` is as long as one likes.
    time_left: Option<[TimeLeft; 2]>,
}

/// What a side has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TimeLeft {
    time: Duration,
    /// For how many stones, or how many periods are left; in the main time 0.
    stones_or_periods: u32,
}

impl TimeSystem {
    /// Reads `time_settings`: the main time, that of a byo-yomi in seconds, and its stones.
    pub(super) fn parse(words: &[&str]) -> Option<Self> {
        let [main, byo_yomi, stones] = words else {
            return None;
        };
        let (main, byo_yomi) = (parse_seconds(main)?, parse_seconds(byo_yomi)?);
        let stones = stones.parse().ok()?;
        // How the protocol says that there is no limit.
        if stones == 0 && !byo_yomi.is_zero() {
            return Some(Self::default());
        }
        Some(Self::with_main_time(main, (byo_yomi, stones), false))
    }

    /// Reads `kgs-time_settings`: the kind, and what belongs to it.
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

    /// Reads `time_left` after its colour: a time in seconds, and for how many stones.
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

    /// How long to think about a move; `None` without a limit.
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

    /// Takes off what a move has cost, for controllers that do not tell what is left.
    pub(super) fn spend(&mut self, seat: Seat, time: Duration) {
        let Some(both) = self.time_left else {
            return;
        };
        let left = both[seat.index()];
        if self.is_japanese && left.stones_or_periods > 0 {
            return;
        }
        let remaining = TimeLeft {
            time: left.time.saturating_sub(time),
            stones_or_periods: left.stones_or_periods.saturating_sub(1),
        };
        // The last stone of a byo-yomi begins a new one.
        let remaining = if left.stones_or_periods == 1 {
            TimeLeft {
                time: Duration::ZERO,
                stones_or_periods: 0,
            }
        } else {
            remaining
        };
        let mut both = both;
        both[seat.index()] = self.start_byo_yomi_if_empty(remaining);
        self.time_left = Some(both);
    }

    /// Where nothing is left, a byo-yomi begins, if there is one.
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

/// No clock of Go runs for longer than a year.
const SECONDS_MAX: u64 = 366 * 24 * 3600;

fn parse_seconds(text: &str) -> Option<Duration> {
    let seconds: u64 = text.parse().ok()?;
    (seconds <= SECONDS_MAX).then(|| Duration::from_secs(seconds))
}
