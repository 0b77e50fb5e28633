//! Formats clock times for game records, with no more decimals than necessary.

use crate::Match;

/// Formats a time in seconds, such as `300` or `0.5`.
pub(crate) fn format_seconds(ms: u64) -> String {
    let padded = format!("{}.{:03}", ms / 1000, ms % 1000);
    let shortest = padded.trim_end_matches('0').trim_end_matches('.');
    shortest.to_owned()
}

/// Formats a time in hours, minutes and seconds, such as `0:05:00` or `1:00:59.5`.
pub(crate) fn format_hours(ms: u64) -> String {
    let (hours, minutes, rest) = (ms / 3_600_000, ms / 60_000 % 60, ms % 60_000);
    let seconds = format_seconds(rest);
    let zero = if rest < 10_000 { "0" } else { "" };
    format!("{hours}:{minutes:02}:{zero}{seconds}")
}

/// Remaining time of one player: milliseconds and, in byo-yomi, the number of periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockReading {
    pub(crate) ms: u64,
    /// Remaining byo-yomi periods; `None` if the clock does not use byo-yomi.
    pub(crate) periods: Option<u64>,
}

/// Returns the remaining time of the player who moved, after each ply. Returns `None` without a
/// clock.
pub(crate) fn clock_readings_after_moves(state: &Match) -> Option<Vec<ClockReading>> {
    let last = state.remaining_time()?;
    let plies = state.played_moves.iter();
    let after = plies
        .clone()
        .skip(1)
        .map(|next_move| next_move.remaining)
        .chain([last]);
    let readings = plies.zip(after).map(|(played, left)| {
        let seat = played.seat.index();
        ClockReading {
            ms: left.remaining_ms()[seat],
            periods: left.periods().map(|periods| periods[seat]),
        }
    });
    Some(readings.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_no_trailing_zeros() {
        for (ms, in_seconds, in_hours) in [
            (0, "0", "0:00:00"),
            (500, "0.5", "0:00:00.5"),
            (9_999, "9.999", "0:00:09.999"),
            (10_000, "10", "0:00:10"),
            (300_000, "300", "0:05:00"),
            (3_659_050, "3659.05", "1:00:59.05"),
        ] {
            assert_eq!(format_seconds(ms), in_seconds);
            assert_eq!(format_hours(ms), in_hours);
        }
    }
}
