//! Text form of clocks, such as `5+3`, `10m+3x30s` and `3d`.

use std::fmt;
use std::str::FromStr;

use super::{ClockControl, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS};

/// Error for text that is not a clock, or for a clock that is out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid or out-of-range clock: expected minutes and increment in seconds (5+3), minutes and \
     delay in seconds (5d3), byo-yomi (10m+3x30s) or time per move (3d, 12h or 45s)"
)]
pub struct ParseClockError;

/// Time units and their lengths in milliseconds, from longest to shortest.
const UNITS_MS: [(char, u64); 4] = [
    ('d', DAY_MS),
    ('h', HOUR_MS),
    ('m', MINUTE_MS),
    ('s', SECOND_MS),
];

impl FromStr for ClockControl {
    type Err = ParseClockError;

    fn from_str(text: &str) -> Result<Self, ParseClockError> {
        Self::from_notation(text)
            .filter(Self::is_within_bounds)
            .ok_or(ParseClockError)
    }
}

impl ClockControl {
    /// Parses a clock such as `5+3`, `5d3`, `10m+3x30s` or `3d`. The result may be out of bounds.
    /// Returns `None` if the text is not a clock.
    ///
    /// A main time without a unit is in minutes, and an increment, delay or period without a unit
    /// is in seconds.
    #[must_use]
    pub fn from_notation(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if let Some((before, period)) = text.split_once('x') {
            let (main, periods) = before.split_once('+').unwrap_or(("0", before));
            return Some(Self::ByoYomi {
                main_ms: parse_time_ms(main, MINUTE_MS)?,
                period_ms: parse_time_ms(period, SECOND_MS)?,
                periods: periods.parse().ok()?,
            });
        }
        if let Some((main, increment)) = text.split_once('+') {
            return Some(Self::Fischer {
                main_ms: parse_time_ms(main, MINUTE_MS)?,
                increment_ms: parse_time_ms(increment, SECOND_MS)?,
            });
        }
        match text.split_once('d') {
            Some((main, delay)) if !delay.is_empty() => Some(Self::Delay {
                main_ms: parse_time_ms(main, MINUTE_MS)?,
                delay_ms: parse_decimal_ms(delay, SECOND_MS)?,
            }),
            Some(_) | None => Some(Self::Move {
                move_ms: parse_duration_ms(&text)?,
            }),
        }
    }

    /// Formats the clock in the notation that [`from_notation`](Self::from_notation) parses.
    #[must_use]
    pub fn to_notation(&self) -> String {
        let seconds = |ms| DecimalUnits(ms, SECOND_MS);
        match *self {
            Self::Fischer {
                main_ms,
                increment_ms,
            } => format!("{}+{}", format_minutes(main_ms), seconds(increment_ms)),
            Self::Delay { main_ms, delay_ms } => {
                format!("{}d{}", format_minutes(main_ms), seconds(delay_ms))
            }
            Self::ByoYomi {
                main_ms,
                period_ms,
                periods,
            } => {
                let (main, period) = (format_with_unit(main_ms), format_with_unit(period_ms));
                format!("{main}+{periods}x{period}")
            }
            Self::Move { move_ms } => format_with_unit(move_ms),
        }
    }
}

/// Parses a time with a unit, such as `90s`, or a number of `default_unit` milliseconds.
fn parse_time_ms(text: &str, default_unit: u64) -> Option<u64> {
    parse_duration_ms(text).or_else(|| parse_decimal_ms(text, default_unit))
}

/// Parses a number with a unit (`s`, `m`, `h` or `d`) and returns milliseconds.
fn parse_duration_ms(text: &str) -> Option<u64> {
    let with_unit = |(unit, ms)| Some((text.strip_suffix(unit)?, ms));
    let (number, unit_ms) = UNITS_MS.into_iter().find_map(with_unit)?;
    parse_decimal_ms(number, unit_ms)
}

/// Parses a number with up to three decimal places and converts it to milliseconds. `unit` is the
/// length of the unit in milliseconds.
fn parse_decimal_ms(number: &str, unit: u64) -> Option<u64> {
    let (integer, decimals) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(integer) || !is_digits(decimals) || decimals.len() > 3 {
        return None;
    }
    let integer_ms = integer.parse::<u64>().ok()?.checked_mul(unit)?;
    let thousandths: u64 = format!("{decimals:0<3}").parse().ok()?;
    integer_ms.checked_add(thousandths * unit / 1000)
}

/// Formats a time in minutes if the number of minutes needs at most one decimal place. Otherwise,
/// formats the time with a unit, such as `10s`.
fn format_minutes(ms: u64) -> String {
    match ms.is_multiple_of(MINUTE_MS / 10) {
        true => DecimalUnits(ms, MINUTE_MS).to_string(),
        false => format_with_unit(ms),
    }
}

/// Formats a time in the largest unit that gives a whole number, such as `90s`. If there is no such
/// unit, formats the time in seconds with decimal places.
fn format_with_unit(ms: u64) -> String {
    let is_exact = |(_, unit_ms): &(char, u64)| ms.is_multiple_of(*unit_ms);
    match UNITS_MS.into_iter().find(is_exact) {
        _ if ms == 0 => "0m".to_owned(),
        Some((unit, unit_ms)) => format!("{}{unit}", ms / unit_ms),
        None => format!("{}s", DecimalUnits(ms, SECOND_MS)),
    }
}

/// Formats the clock for users: `5+3`, `10 min + 3 x 30 s`, `3 days a move`.
impl fmt::Display for ClockControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Fischer {
                main_ms,
                increment_ms,
            } => write!(
                f,
                "{}+{}",
                DecimalUnits(main_ms, MINUTE_MS),
                DecimalUnits(increment_ms, SECOND_MS)
            ),
            Self::Delay { main_ms, delay_ms } => {
                write!(
                    f,
                    "{} d{}",
                    DecimalUnits(main_ms, MINUTE_MS),
                    DecimalUnits(delay_ms, SECOND_MS)
                )
            }
            Self::ByoYomi {
                main_ms,
                period_ms,
                periods,
            } => {
                if main_ms > 0 {
                    write!(f, "{} + ", DurationText(main_ms))?;
                }
                write!(f, "{periods} x {}", DurationText(period_ms))
            }
            Self::Move { move_ms } => write!(f, "{} a move", DurationText(move_ms)),
        }
    }
}

/// Formats a duration as a number of units, with up to three decimals and without trailing zeros.
/// The first field is the duration, and the second field is the length of the unit, both in
/// milliseconds.
struct DecimalUnits(u64, u64);

impl fmt::Display for DecimalUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(ms, unit) = *self;
        let thousandths = ms * 1000 / unit;
        let decimals = format!("{:03}", thousandths % 1000);
        match decimals.trim_end_matches('0') {
            "" => write!(f, "{}", thousandths / 1000),
            decimals => write!(f, "{}.{decimals}", thousandths / 1000),
        }
    }
}

/// Formats milliseconds in days, hours or minutes, choosing the largest unit that divides them
/// without a remainder. All other durations are formatted in seconds.
struct DurationText(u64);

impl fmt::Display for DurationText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(ms) = *self;
        match ms {
            DAY_MS => f.write_str("1 day"),
            _ if ms % DAY_MS == 0 => write!(f, "{} days", ms / DAY_MS),
            _ if ms % HOUR_MS == 0 => write!(f, "{} h", ms / HOUR_MS),
            _ if ms % MINUTE_MS == 0 => write!(f, "{} min", ms / MINUTE_MS),
            _ => write!(f, "{} s", DecimalUnits(ms, SECOND_MS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_text_is_parsed_and_formatted() {
        for (text, json, title) in [
            (
                "5+3",
                r#"{"kind":"fischer","main_ms":300000,"increment_ms":3000}"#,
                "5+3",
            ),
            (
                " 0.5+0 ",
                r#"{"kind":"fischer","main_ms":30000,"increment_ms":0}"#,
                "0.5+0",
            ),
            (
                "0+2.5",
                r#"{"kind":"fischer","main_ms":0,"increment_ms":2500}"#,
                "0+2.5",
            ),
            (
                "5d3",
                r#"{"kind":"delay","main_ms":300000,"delay_ms":3000}"#,
                "5 d3",
            ),
            (
                "10m+3x30s",
                r#"{"kind":"byo-yomi","main_ms":600000,"period_ms":30000,"periods":3}"#,
                "10 min + 3 x 30 s",
            ),
            (
                "1x10m",
                r#"{"kind":"byo-yomi","main_ms":0,"period_ms":600000,"periods":1}"#,
                "1 x 10 min",
            ),
            (
                "1D",
                r#"{"kind":"move","move_ms":86400000}"#,
                "1 day a move",
            ),
            (
                "3d",
                r#"{"kind":"move","move_ms":259200000}"#,
                "3 days a move",
            ),
            (
                "12h",
                r#"{"kind":"move","move_ms":43200000}"#,
                "12 h a move",
            ),
            ("90s", r#"{"kind":"move","move_ms":90000}"#, "90 s a move"),
        ] {
            let clock: ClockControl = text.parse().unwrap_or_else(|_| panic!("{text}"));
            assert_eq!(serde_json::to_string(&clock).unwrap(), json, "{text}");
            assert_eq!(clock.to_string(), title, "{text}");
        }
    }

    #[test]
    fn units_are_optional_except_for_a_time_per_move() {
        for (text, notation) in [
            ("5+3s", "5+3"),
            ("5.+3", "5+3"),
            ("90s+2s", "1.5+2"),
            ("20s+3", "20s+3"),
            ("3x30", "0m+3x30s"),
            (" 10+3X30 ", "10m+3x30s"),
            ("90S+5x1m", "90s+5x1m"),
            ("1440m", "1d"),
            ("1d0.5", "1d0.5"),
        ] {
            let clock: ClockControl = text.parse().unwrap_or_else(|_| panic!("{text}"));
            assert_eq!(clock.to_notation(), notation, "{text}");
            assert_eq!(notation.parse(), Ok(clock), "{text}");
        }
    }

    #[test]
    fn invalid_clock_text_is_rejected() {
        for text in [
            "",
            "5",
            "+",
            "5+",
            "+3",
            "-5+3",
            "0+0",
            "181+0",
            "d",
            "5d",
            "15d",
            "4s",
            "3y",
            "x",
            "3x",
            "26x30s",
            "5.1234+0",
            ".5+0",
            "1e9+0",
            "é",
            "99999999999+0",
        ] {
            let is_clock = text.parse::<ClockControl>().is_ok();
            assert_eq!(is_clock, text == "5d", "{text}");
        }
    }
}
