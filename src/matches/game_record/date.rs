//! Calendar dates and times in UTC.

use plyhouse_protocol::MatchId;

/// Date and time in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UtcDateTime {
    pub(crate) year: u64,
    pub(crate) month: u64,
    pub(crate) day: u64,
    pub(crate) hour: u64,
    pub(crate) minute: u64,
    pub(crate) second: u64,
}

impl UtcDateTime {
    /// Returns the creation time of a match, or `None` if its id contains no timestamp.
    pub(crate) fn from_match_id(id: MatchId) -> Option<Self> {
        let (seconds, _) = id.0.get_timestamp()?.to_unix();
        Some(Self::from_unix_seconds(seconds))
    }

    /// Converts a Unix time in seconds to a date and time in UTC.
    ///
    /// The algorithm counts in eras of 400 years, which all have the same number of days. Years
    /// begin in March, so that the leap day is the last day of a year (Hinnant, "chrono-compatible
    /// low-level date algorithms", 2013).
    pub(crate) const fn from_unix_seconds(seconds: u64) -> Self {
        const DAYS_FROM_YEAR_0_TO_1970: u64 = 719_468; // Day 0 is March 1 of year 0.
        const DAYS_PER_ERA: u64 = 146_097;
        let day = seconds / 86_400 + DAYS_FROM_YEAR_0_TO_1970;
        let (era, day) = (day / DAYS_PER_ERA, day % DAYS_PER_ERA);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153; // March is month 0.
        let rest = seconds % 86_400;
        Self {
            year: era * 400 + year + (month >= 10) as u64,
            month: if month < 10 { month + 3 } else { month - 9 },
            day: day - (153 * month + 2) / 5 + 1,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
        }
    }
}

/// Formats a date, such as `2026-11-22`. `day` is the number of days since January 1, 1970.
#[must_use]
pub fn day_text(day: u64) -> String {
    let UtcDateTime {
        year, month, day, ..
    } = UtcDateTime::from_unix_seconds(day.saturating_mul(86_400));
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unix_seconds_are_converted_to_calendar_dates() {
        let text = |seconds| {
            let date = UtcDateTime::from_unix_seconds(seconds);
            let day = format!("{}-{:02}-{:02}", date.year, date.month, date.day);
            format!(
                "{day} {:02}:{:02}:{:02}",
                date.hour, date.minute, date.second
            )
        };
        for (seconds, date) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (951_868_800, "2000-03-01 00:00:00"),
            (1_000_000_000, "2001-09-09 01:46:40"),
            (4_107_542_400, "2100-03-01 00:00:00"),
            (1_767_225_599, "2025-12-31 23:59:59"),
        ] {
            assert_eq!(text(seconds), date);
        }
    }

    #[test]
    fn day_text_formats_calendar_dates() {
        for (day, text) in [
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_779, "2026-11-22"),
        ] {
            assert_eq!(day_text(day), text);
        }
    }
}
