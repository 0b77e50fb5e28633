//! Formats timestamps for users.

/// Formats milliseconds since the Unix epoch as a date and time in UTC, to the minute.
///
/// The calculation treats March as the first month of a year, so a leap day is the last day of a
/// year. It groups years into eras of 400 years, because all eras have the same number of days
/// (Hinnant, "chrono-compatible low-level date algorithms", 2013).
pub(crate) fn format_utc_minute(at_ms: u64) -> String {
    const DAYS_PER_ERA: u64 = 146_097;
    const DAYS_TO_1970: u64 = 719_468; // Days from March 1 of the year 0 to January 1, 1970.
    let minutes = at_ms / 60_000;
    let days = minutes / (24 * 60) + DAYS_TO_1970;
    let (era, day) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153; // Here, 0 is March and 11 is February.
    let day = day - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year + u64::from(month >= 10);
    let month = if month < 10 { month + 3 } else { month - 9 };
    let (hour, minute) = (minutes / 60 % 24, minutes % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_formatted_as_calendar_dates() {
        for (at_ms, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_399_999, "2000-02-28 23:59 UTC"),
            (951_868_799_000, "2000-02-29 23:59 UTC"),
            (1_700_000_000_000, "2023-11-14 22:13 UTC"),
            (4_107_542_400_000, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(format_utc_minute(at_ms), text);
        }
    }
}
