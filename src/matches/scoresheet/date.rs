//! The day and the hour at which a match was created, which its id tells.

use plyhouse_protocol::MatchId;

/// A day and an hour, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) year: u64,
    pub(super) month: u64,
    pub(super) day: u64,
    pub(super) hour: u64,
    pub(super) minute: u64,
    pub(super) second: u64,
}

impl Date {
    /// When a match was created; `None` if its id does not tell.
    pub(super) fn of(id: MatchId) -> Option<Self> {
        let (seconds, _) = id.0.get_timestamp()?.to_unix();
        Some(Self::of_unix(seconds))
    }

    /// So many seconds after the beginning of 1970.
    ///
    /// Counted in eras of 400 years, which all have as many days, and in years that begin with March,
    /// so that leap days come last (Hinnant, "chrono-compatible low-level date algorithms", 2013).
    pub(super) const fn of_unix(seconds: u64) -> Self {
        const DAYS_TO_1970: u64 = 719_468; // From March 1st of the year 0.
        const ERA: u64 = 146_097;
        let day = seconds / 86_400 + DAYS_TO_1970;
        let (era, day) = (day / ERA, day % ERA);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153; // From March, 0.
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

/// A day counted from 1970, as `2026-11-22`.
#[must_use]
pub fn day_text(day: u64) -> String {
    let Date {
        year, month, day, ..
    } = Date::of_unix(day.saturating_mul(86_400));
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_calendars_do() {
        let text = |seconds| {
            let date = Date::of_unix(seconds);
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
}
