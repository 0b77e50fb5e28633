//! Formats the clocks of a match. The remaining times are computed from the last clock update of
//! the server.

use std::time::Duration;

use plyhouse_protocol::{ClockControl, MatchStatus, SeatNumber, Snapshot};

use super::match_text::occupant_text;
use super::{FAINT, STRONG, paint, text_width};

/// Remaining times below this limit are shown with tenths of seconds.
const TENTHS_BELOW_MS: u64 = 10_000;

const SECOND_MS: u64 = 1000;
const MINUTE_MS: u64 = 60 * SECOND_MS;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;

/// Remaining time of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RemainingTime {
    /// Remaining main time in milliseconds. During a byo-yomi period, this field holds the
    /// remaining time of the period instead.
    pub(crate) ms: u64,
    /// Number of remaining byo-yomi periods, paired with a flag that is true if a period is
    /// running. `None` if the clock has no periods.
    pub(crate) periods: Option<(u64, bool)>,
    /// Whether the clock is running.
    pub(crate) is_running: bool,
}

/// Returns the remaining times of both players. `elapsed` is the time since the last clock update.
/// Returns `None` if the match has no clock.
pub(crate) fn remaining_times(
    snapshot: &Snapshot,
    elapsed: Duration,
) -> Option<[RemainingTime; 2]> {
    let (clock, reported) = (snapshot.clock?, snapshot.time_left?);
    let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let is_counting = snapshot.status == MatchStatus::Running
        && snapshot.paused != Some(true)
        && snapshot.first_move_ms.is_none();
    Some([0, 1].map(|seat| {
        let is_turn = snapshot.turn == Some(SeatNumber(seat));
        let is_running = is_turn && is_counting;
        let reported_ms = snapshot.turn_ms.unwrap_or(0);
        let spent = match (is_turn, is_running) {
            (_, true) => reported_ms.saturating_add(elapsed_ms),
            (true, false) => reported_ms,
            (false, false) => 0,
        };
        let seat = usize::from(seat);
        let periods = reported.periods.map(|periods| periods[seat]);
        RemainingTime {
            is_running,
            ..subtract_spent(&clock, reported.left_ms[seat], periods, spent)
        }
    }))
}

/// Computes the remaining time of a player. `left` is the time that remained at the start of the
/// turn, and `spent` is the time used since then.
fn subtract_spent(
    clock: &ClockControl,
    left: u64,
    periods: Option<u64>,
    spent: u64,
) -> RemainingTime {
    let main_time = |ms| RemainingTime {
        ms,
        periods: periods.map(|periods| (periods, false)),
        is_running: false,
    };
    match *clock {
        ClockControl::Fischer { .. } | ClockControl::Move { .. } => {
            main_time(left.saturating_sub(spent))
        }
        ClockControl::Delay { delay_ms, .. } => {
            main_time(left.saturating_sub(spent.saturating_sub(delay_ms)))
        }
        ClockControl::ByoYomi { .. } if spent < left => main_time(left - spent),
        ClockControl::ByoYomi { period_ms, .. } => {
            let (over, period) = (spent - left, period_ms.max(1));
            let rest = periods.unwrap_or(0).saturating_sub(over / period);
            RemainingTime {
                ms: if rest == 0 { 0 } else { period - over % period },
                periods: Some((rest, true)),
                is_running: false,
            }
        }
    }
}

/// Formats a remaining time. The result is never zero, because only the server decides whether a
/// player has run out of time.
pub(crate) fn format_clock_time(ms: u64) -> String {
    let seconds = ms / SECOND_MS;
    match ms {
        DAY_MS.. => format!("{} d {:02} h", ms / DAY_MS, ms % DAY_MS / HOUR_MS),
        HOUR_MS.. => format!(
            "{}:{:02}:{:02}",
            ms / HOUR_MS,
            ms % HOUR_MS / MINUTE_MS,
            seconds % 60
        ),
        TENTHS_BELOW_MS.. => format!("{}:{:02}", ms / MINUTE_MS, seconds % 60),
        _ => {
            let tenths = (ms / 100).max(1);
            format!("{}.{}", tenths / 10, tenths % 10)
        }
    }
}

impl RemainingTime {
    /// Formats the remaining time for display beside a seat, for example `4:32` or `0:30 (3
    /// periods)`.
    pub(crate) fn to_text(self) -> String {
        let time = format_clock_time(self.ms);
        match self.periods {
            None => time,
            Some((1, true)) => format!("{time} (last period)"),
            Some((periods, true)) => format!("{time} ({periods} periods)"),
            Some((periods, false)) => format!("{time} + {periods}"),
        }
    }

    /// Returns the time until the displayed text may change, provided that no move is played.
    fn time_to_next_change(self) -> Duration {
        let step = match self.ms {
            DAY_MS.. => MINUTE_MS,
            TENTHS_BELOW_MS.. => SECOND_MS,
            _ => 100,
        };
        Duration::from_millis(self.ms % step + 1)
    }
}

/// Line with clocks and countdowns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClockLine {
    pub(crate) text: String,
    /// Time until the text of the line changes, provided that no event arrives. `None` if nothing
    /// is counting down.
    pub(crate) next_change: Option<Duration>,
}

/// Renders the clocks and other countdowns of a running match. The other countdowns show the time
/// left for a first move and the time that absent players have left to return. `elapsed` is the
/// time since the last clock update. Returns `None` if there is nothing to show.
pub(crate) fn clock_line(
    snapshot: &Snapshot,
    elapsed: Duration,
    absences: [Option<Duration>; 2],
) -> Option<ClockLine> {
    if snapshot.status != MatchStatus::Running {
        return None;
    }
    let (countdowns, mut changes) = countdowns(snapshot, elapsed, absences);
    let mut parts = Vec::new();
    if let Some(both) = remaining_times(snapshot, elapsed) {
        for (seat, left) in (0..).map(SeatNumber).zip(both) {
            let (mark, style) = if snapshot.turn == Some(seat) {
                ("▸ ", STRONG)
            } else {
                ("", FAINT)
            };
            let text = format!("{mark}{} {}", occupant_name(snapshot, seat), left.to_text());
            parts.push(paint(style, &text));
            if left.is_running {
                changes.push(left.time_to_next_change());
            }
        }
        if snapshot.paused == Some(true) {
            parts.push(paint(FAINT, "clock paused"));
        }
    }
    parts.extend(countdowns);
    (!parts.is_empty()).then(|| ClockLine {
        text: format!("  {}", parts.join("   ")),
        next_change: changes.into_iter().min(),
    })
}

/// Renders the countdowns that are not clocks. For each countdown, also returns the time until its
/// text changes.
pub(super) fn countdowns(
    snapshot: &Snapshot,
    elapsed: Duration,
    absences: [Option<Duration>; 2],
) -> (Vec<String>, Vec<Duration>) {
    let (mut parts, mut changes) = (Vec::new(), Vec::new());
    if let Some(limit) = snapshot.first_move_ms {
        let passed = match snapshot.paused {
            Some(true) => Duration::ZERO,
            _ => elapsed,
        };
        let rest = Duration::from_millis(limit).saturating_sub(passed);
        parts.push(format!("first move within {} s", rest.as_secs()));
        changes.push(time_to_next_second(rest));
    }
    for (seat, absence) in (0..).map(SeatNumber).zip(absences) {
        if let Some(rest) = absence {
            let who = occupant_name(snapshot, seat);
            parts.push(format!("{who} is away: {}", super::duration_text(rest)));
            changes.push(time_to_next_second(rest));
        }
    }
    (parts, changes)
}

fn time_to_next_second(rest: Duration) -> Duration {
    Duration::from_millis(u64::from(rest.subsec_millis()) + 1)
}

fn occupant_name(snapshot: &Snapshot, seat: SeatNumber) -> String {
    let state = snapshot.seats.get(seat.index());
    state.map_or_else(String::new, |state| occupant_text(&state.occupant))
}

/// Truncates text to fit on one line of the terminal. Truncated text loses its styles.
pub(crate) fn truncate_to_width(text: &str, columns: Option<usize>) -> String {
    let Some(max_width) = columns.filter(|columns| text_width(text) >= *columns) else {
        return text.to_owned();
    };
    let plain = anstream::adapter::strip_str(text).to_string();
    let mut cut = String::new();
    for letter in plain.chars() {
        if text_width(&cut) + 3 >= max_width {
            break;
        }
        cut.push(letter);
    }
    cut + "…"
}

#[cfg(test)]
mod tests {
    use plyhouse_protocol::TimeLeft;

    use super::super::tests::{snapshot, strip_style};
    use super::*;

    fn timed_snapshot(
        clock: ClockControl,
        left_ms: [u64; 2],
        periods: Option<[u64; 2]>,
    ) -> Snapshot {
        let mut now = snapshot("x../.o./...");
        now.clock = Some(clock);
        now.time_left = Some(TimeLeft { left_ms, periods });
        now.turn_ms = Some(1000);
        now.paused = Some(false);
        now
    }

    fn remaining_texts(now: &Snapshot, since_ms: u64) -> [String; 2] {
        let both =
            remaining_times(now, Duration::from_millis(since_ms)).expect("match has a clock");
        both.map(RemainingTime::to_text)
    }

    const FISCHER: ClockControl = ClockControl::Fischer {
        main_ms: 300_000,
        increment_ms: 3000,
    };

    #[test]
    fn only_clock_of_seat_to_move_runs() {
        let mut now = timed_snapshot(FISCHER, [272_500, 300_000], None);
        assert_eq!(remaining_texts(&now, 0), ["4:31", "5:00"]);
        assert_eq!(remaining_texts(&now, 261_599), ["9.9", "5:00"]);
        // The displayed time does not fall below 0.1, because only the server decides whether a
        // player has run out of time.
        assert_eq!(remaining_texts(&now, 900_000), ["0.1", "5:00"]);
        now.paused = Some(true);
        assert_eq!(remaining_texts(&now, 261_599), ["4:31", "5:00"]);
        now.paused = Some(false);
        now.first_move_ms = Some(30_000);
        now.turn_ms = Some(0);
        assert_eq!(remaining_texts(&now, 20_000), ["4:32", "5:00"]);
        now.status = MatchStatus::Ended;
        now.turn = None;
        assert_eq!(remaining_texts(&now, 20_000), ["4:32", "5:00"]);
    }

    #[test]
    fn delay_is_not_deducted_from_main_time() {
        let delay = ClockControl::Delay {
            main_ms: 60_000,
            delay_ms: 5000,
        };
        let now = timed_snapshot(delay, [60_000, 60_000], None);
        assert_eq!(remaining_texts(&now, 3900), ["1:00", "1:00"]);
        assert_eq!(remaining_texts(&now, 5000), ["0:59", "1:00"]);
    }

    #[test]
    fn byo_yomi_periods_follow_main_time() {
        let byo_yomi = ClockControl::ByoYomi {
            main_ms: 60_000,
            period_ms: 30_000,
            periods: 3,
        };
        let mut now = timed_snapshot(byo_yomi, [60_000, 0], Some([3, 2]));
        assert_eq!(remaining_texts(&now, 0), ["0:59 + 3", "0:30 (2 periods)"]);
        assert_eq!(
            remaining_texts(&now, 59_000),
            ["0:30 (3 periods)", "0:30 (2 periods)"]
        );
        assert_eq!(
            remaining_texts(&now, 58_999 + 30_001 + 29_999),
            ["0.1 (2 periods)", "0:30 (2 periods)"]
        );
        assert_eq!(
            remaining_texts(&now, 59_000 + 60_000),
            ["0:30 (last period)", "0:30 (2 periods)"]
        );
        assert_eq!(remaining_texts(&now, 300_000)[0], "0.1 (0 periods)");
        now.time_left = Some(TimeLeft {
            left_ms: [0, 0],
            periods: Some([1, 1]),
        });
        assert_eq!(remaining_texts(&now, 24_000)[0], "5.0 (last period)");
    }

    #[test]
    fn long_times_are_formatted_in_hours_and_days() {
        assert_eq!(format_clock_time(3_600_000), "1:00:00");
        assert_eq!(format_clock_time(259_199_999), "2 d 23 h");
        assert_eq!(format_clock_time(10_000), "0:10");
        assert_eq!(format_clock_time(9999), "9.9");
        assert_eq!(format_clock_time(0), "0.1");
    }

    #[test]
    fn clock_line_shows_countdowns_and_time_of_next_change() {
        let now = timed_snapshot(FISCHER, [272_500, 300_000], None);
        let line = clock_line(&now, Duration::ZERO, [None, None])
            .expect("clock line is shown while a clock runs");
        assert_eq!(strip_style(&line.text), "  ▸ ada 4:31   ⚙ medium bot 5:00");
        assert_eq!(line.next_change, Some(Duration::from_millis(501)));
        let absences = [None, Some(Duration::from_millis(43_200))];
        let line = clock_line(&now, Duration::from_millis(262_000), absences)
            .expect("clock line is shown while a clock runs");
        assert_eq!(
            strip_style(&line.text),
            "  ▸ ada 9.5   ⚙ medium bot 5:00   ⚙ medium bot is away: 43 s"
        );
        assert_eq!(line.next_change, Some(Duration::from_millis(1)));
        let untimed = snapshot("x../.o./...");
        assert!(clock_line(&untimed, Duration::ZERO, [None, None]).is_none());
        let line = clock_line(&untimed, Duration::ZERO, absences)
            .expect("clock line is shown while a player is absent");
        assert_eq!(line.next_change, Some(Duration::from_millis(201)));
    }

    #[test]
    fn line_is_truncated_to_terminal_width() {
        assert_eq!(truncate_to_width("abcdef", Some(7)), "abcdef");
        assert_eq!(truncate_to_width("abcdef", Some(6)), "abc…");
        assert_eq!(truncate_to_width("abcdef", None), "abcdef");
    }
}
