//! Clocks as they are shown, counted down from what the server told last.

use std::time::Duration;

use plyhouse_protocol::{ClockControl, MatchStatus, SeatNumber, Snapshot};

use super::words::occupant;
use super::{FAINT, STRONG, paint, width};

/// Below this tenths of seconds are shown.
const TENTHS_BELOW: u64 = 10_000;

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// What a seat has left now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// Of the main time, or of the period that runs.
    pub(crate) ms: u64,
    /// The periods, in byo-yomi, and whether one of them runs.
    pub(crate) periods: Option<(u64, bool)>,
    /// Whether it is counted down.
    pub(crate) runs: bool,
}

/// What both seats have left, this long after the match was told so; nothing in an untimed match.
pub(crate) fn left(now: &Snapshot, since: Duration) -> Option<[Left; 2]> {
    let (clock, told) = (now.clock?, now.time_left?);
    let since = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let runs =
        |seat| now.turn == Some(seat) && now.paused != Some(true) && now.first_move_ms.is_none();
    Some([0, 1].map(|seat| {
        let runs = now.status == MatchStatus::Running && runs(SeatNumber(seat));
        let told_ms = now.turn_ms.unwrap_or(0);
        let stands_ms = if now.turn == Some(SeatNumber(seat)) {
            told_ms
        } else {
            0
        };
        let spent = if runs {
            told_ms.saturating_add(since)
        } else {
            stands_ms
        };
        let seat = usize::from(seat);
        let periods = told.periods.map(|periods| periods[seat]);
        Left {
            runs,
            ..after(&clock, told.left_ms[seat], periods, spent)
        }
    }))
}

/// What is left after so much of a turn.
fn after(clock: &ClockControl, left: u64, periods: Option<u64>, spent: u64) -> Left {
    let of_main = |ms| Left {
        ms,
        periods: periods.map(|periods| (periods, false)),
        runs: false,
    };
    match *clock {
        ClockControl::Fischer { .. } | ClockControl::Move { .. } => {
            of_main(left.saturating_sub(spent))
        }
        ClockControl::Delay { delay_ms, .. } => {
            of_main(left.saturating_sub(spent.saturating_sub(delay_ms)))
        }
        ClockControl::ByoYomi { .. } if spent < left => of_main(left - spent),
        ClockControl::ByoYomi { period_ms, .. } => {
            let (over, period) = (spent - left, period_ms.max(1));
            let rest = periods.unwrap_or(0).saturating_sub(over / period);
            Left {
                ms: if rest == 0 { 0 } else { period - over % period },
                periods: Some((rest, true)),
                runs: false,
            }
        }
    }
}

/// A time of a clock: never nothing, since only the server says that time is up.
pub(crate) fn clock_time(ms: u64) -> String {
    let seconds = ms / SECOND;
    match ms {
        DAY.. => format!("{} d {:02} h", ms / DAY, ms % DAY / HOUR),
        HOUR.. => format!(
            "{}:{:02}:{:02}",
            ms / HOUR,
            ms % HOUR / MINUTE,
            seconds % 60
        ),
        TENTHS_BELOW.. => format!("{}:{:02}", ms / MINUTE, seconds % 60),
        _ => {
            let tenths = (ms / 100).max(1);
            format!("{}.{}", tenths / 10, tenths % 10)
        }
    }
}

impl Left {
    /// As it stands beside a seat: `4:32`, `0:30 (3 periods)`.
    pub(crate) fn text(self) -> String {
        let time = clock_time(self.ms);
        match self.periods {
            None => time,
            Some((1, true)) => format!("{time} (last period)"),
            Some((periods, true)) => format!("{time} ({periods} periods)"),
            Some((periods, false)) => format!("{time} + {periods}"),
        }
    }

    /// When it looks otherwise than now, if nobody moves.
    fn changes_in(self) -> Duration {
        let step = match self.ms {
            DAY.. => MINUTE,
            TENTHS_BELOW.. => SECOND,
            _ => 100,
        };
        Duration::from_millis(self.ms % step + 1)
    }
}

/// One line with what runs down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Live {
    pub(crate) text: String,
    /// When it looks otherwise, if nothing happens; never where nothing runs.
    pub(crate) changes_in: Option<Duration>,
}

/// The clocks, how long a first move may take, and how long who has gone may be gone. `since` is for
/// how long the clocks have run since they were told, `gone` what is left of absences.
pub(crate) fn live(now: &Snapshot, since: Duration, gone: [Option<Duration>; 2]) -> Option<Live> {
    if now.status != MatchStatus::Running {
        return None;
    }
    let (asides, mut changes) = asides(now, since, gone);
    let mut parts = Vec::new();
    if let Some(both) = left(now, since) {
        for (seat, left) in (0..).map(SeatNumber).zip(both) {
            let (mark, style) = if now.turn == Some(seat) {
                ("▸ ", STRONG)
            } else {
                ("", FAINT)
            };
            let text = format!("{mark}{} {}", name(now, seat), left.text());
            parts.push(paint(style, &text));
            if left.runs {
                changes.push(left.changes_in());
            }
        }
        if now.paused == Some(true) {
            parts.push(paint(FAINT, "the clock stands"));
        }
    }
    parts.extend(asides);
    let text = format!("  {}", parts.join("   "));
    let changes_in = changes.into_iter().min();
    (!parts.is_empty()).then_some(Live { text, changes_in })
}

/// What runs down beside the clocks, and when each looks otherwise.
pub(super) fn asides(
    now: &Snapshot,
    since: Duration,
    gone: [Option<Duration>; 2],
) -> (Vec<String>, Vec<Duration>) {
    let (mut parts, mut changes) = (Vec::new(), Vec::new());
    if let Some(most) = now.first_move_ms {
        let most = Duration::from_millis(most);
        let rest = if now.paused == Some(true) {
            most
        } else {
            most.saturating_sub(since)
        };
        parts.push(format!("first move within {} s", rest.as_secs()));
        changes.push(to_the_next_second(rest));
    }
    for (seat, gone) in (0..).map(SeatNumber).zip(gone) {
        if let Some(rest) = gone {
            let who = name(now, seat);
            parts.push(format!("{who} is away: {}", super::span(rest)));
            changes.push(to_the_next_second(rest));
        }
    }
    (parts, changes)
}

fn to_the_next_second(rest: Duration) -> Duration {
    Duration::from_millis(u64::from(rest.subsec_millis()) + 1)
}

/// Who sits there, in a word.
fn name(now: &Snapshot, seat: SeatNumber) -> String {
    let state = now.seats.get(seat.index());
    state.map_or_else(String::new, |state| occupant(&state.occupant))
}

/// The text, cut to what a line of the terminal holds.
pub(crate) fn within(text: &str, columns: Option<usize>) -> String {
    let Some(most) = columns.filter(|columns| width(text) >= *columns) else {
        return text.to_owned();
    };
    let plain = anstream::adapter::strip_str(text).to_string();
    let mut cut = String::new();
    for letter in plain.chars() {
        if width(&cut) + 3 >= most {
            break;
        }
        cut.push(letter);
    }
    cut + "…"
}

#[cfg(test)]
mod tests {
    use plyhouse_protocol::TimeLeft;

    use super::super::tests::{plain, snapshot};
    use super::*;

    fn timed(clock: ClockControl, left_ms: [u64; 2], periods: Option<[u64; 2]>) -> Snapshot {
        let mut now = snapshot("x../.o./...");
        now.clock = Some(clock);
        now.time_left = Some(TimeLeft { left_ms, periods });
        now.turn_ms = Some(1000);
        now.paused = Some(false);
        now
    }

    fn texts(now: &Snapshot, since_ms: u64) -> [String; 2] {
        let both = left(now, Duration::from_millis(since_ms)).expect("it is timed");
        both.map(Left::text)
    }

    const FISCHER: ClockControl = ClockControl::Fischer {
        main_ms: 300_000,
        increment_ms: 3000,
    };

    #[test]
    fn the_clock_of_who_is_to_move_runs() {
        let mut now = timed(FISCHER, [272_500, 300_000], None);
        assert_eq!(texts(&now, 0), ["4:31", "5:00"]);
        assert_eq!(texts(&now, 261_599), ["9.9", "5:00"]);
        // Only the server says that time is up.
        assert_eq!(texts(&now, 900_000), ["0.1", "5:00"]);
        now.paused = Some(true);
        assert_eq!(texts(&now, 261_599), ["4:31", "5:00"]);
        now.paused = Some(false);
        now.first_move_ms = Some(30_000);
        now.turn_ms = Some(0);
        assert_eq!(texts(&now, 20_000), ["4:32", "5:00"]);
        now.status = MatchStatus::Ended;
        now.turn = None;
        assert_eq!(texts(&now, 20_000), ["4:32", "5:00"]);
    }

    #[test]
    fn a_delay_is_for_nothing() {
        let delay = ClockControl::Delay {
            main_ms: 60_000,
            delay_ms: 5000,
        };
        let now = timed(delay, [60_000, 60_000], None);
        assert_eq!(texts(&now, 3900), ["1:00", "1:00"]);
        assert_eq!(texts(&now, 5000), ["0:59", "1:00"]);
    }

    #[test]
    fn periods_come_after_the_main_time() {
        let byo_yomi = ClockControl::ByoYomi {
            main_ms: 60_000,
            period_ms: 30_000,
            periods: 3,
        };
        let mut now = timed(byo_yomi, [60_000, 0], Some([3, 2]));
        assert_eq!(texts(&now, 0), ["0:59 + 3", "0:30 (2 periods)"]);
        assert_eq!(
            texts(&now, 59_000),
            ["0:30 (3 periods)", "0:30 (2 periods)"]
        );
        assert_eq!(
            texts(&now, 58_999 + 30_001 + 29_999),
            ["0.1 (2 periods)", "0:30 (2 periods)"]
        );
        assert_eq!(
            texts(&now, 59_000 + 60_000),
            ["0:30 (last period)", "0:30 (2 periods)"]
        );
        assert_eq!(texts(&now, 300_000)[0], "0.1 (0 periods)");
        now.time_left = Some(TimeLeft {
            left_ms: [0, 0],
            periods: Some([1, 1]),
        });
        assert_eq!(texts(&now, 24_000)[0], "5.0 (last period)");
    }

    #[test]
    fn long_times_are_told_in_hours_and_days() {
        assert_eq!(clock_time(3_600_000), "1:00:00");
        assert_eq!(clock_time(259_199_999), "2 d 23 h");
        assert_eq!(clock_time(10_000), "0:10");
        assert_eq!(clock_time(9999), "9.9");
        assert_eq!(clock_time(0), "0.1");
    }

    #[test]
    fn the_line_tells_what_runs_down_and_when_it_changes() {
        let now = timed(FISCHER, [272_500, 300_000], None);
        let line = live(&now, Duration::ZERO, [None, None]).expect("a clock runs");
        assert_eq!(plain(&line.text), "  ▸ ada 4:31   ⚙ medium bot 5:00");
        assert_eq!(line.changes_in, Some(Duration::from_millis(501)));
        let gone = [None, Some(Duration::from_millis(43_200))];
        let line = live(&now, Duration::from_millis(262_000), gone).expect("a clock runs");
        assert_eq!(
            plain(&line.text),
            "  ▸ ada 9.5   ⚙ medium bot 5:00   ⚙ medium bot is away: 43 s"
        );
        assert_eq!(line.changes_in, Some(Duration::from_millis(1)));
        let untimed = snapshot("x../.o./...");
        assert!(live(&untimed, Duration::ZERO, [None, None]).is_none());
        let line = live(&untimed, Duration::ZERO, gone).expect("somebody is away");
        assert_eq!(line.changes_in, Some(Duration::from_millis(201)));
    }

    #[test]
    fn a_line_is_cut_to_the_terminal() {
        assert_eq!(within("abcdef", Some(7)), "abcdef");
        assert_eq!(within("abcdef", Some(6)), "abc…");
        assert_eq!(within("abcdef", None), "abcdef");
    }
}
