//! Times as formats write them: seconds, with as many decimals as they need.

use crate::Match;

/// Seconds: `300`, `0.5`.
pub(super) fn seconds(ms: u64) -> String {
    let whole = format!("{}.{:03}", ms / 1000, ms % 1000);
    let shortest = whole.trim_end_matches('0').trim_end_matches('.');
    shortest.to_owned()
}

/// Hours, minutes and seconds: `0:05:00`, `1:00:59.5`.
pub(super) fn hours(ms: u64) -> String {
    let (hours, minutes, rest) = (ms / 3_600_000, ms / 60_000 % 60, ms % 60_000);
    let seconds = seconds(rest);
    let zero = if rest < 10_000 { "0" } else { "" };
    format!("{hours}:{minutes:02}:{zero}{seconds}")
}

/// What a seat has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) ms: u64,
    /// How many periods, in byo-yomi.
    pub(super) periods: Option<u64>,
}

/// What the mover of each ply had after it. `None` without a clock.
pub(super) fn after_moves(state: &Match) -> Option<Vec<Left>> {
    let last = state.left()?;
    let plies = state.played.iter();
    let after = plies.clone().skip(1).map(|next| next.left).chain([last]);
    let left = plies.zip(after).map(|(played, left)| {
        let seat = played.seat.index();
        Left {
            ms: left.left_ms()[seat],
            periods: left.periods().map(|periods| periods[seat]),
        }
    });
    Some(left.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_with_the_decimals_they_need() {
        for (ms, in_seconds, in_hours) in [
            (0, "0", "0:00:00"),
            (500, "0.5", "0:00:00.5"),
            (9_999, "9.999", "0:00:09.999"),
            (10_000, "10", "0:00:10"),
            (300_000, "300", "0:05:00"),
            (3_659_050, "3659.05", "1:00:59.05"),
        ] {
            assert_eq!(seconds(ms), in_seconds);
            assert_eq!(hours(ms), in_hours);
        }
    }
}
