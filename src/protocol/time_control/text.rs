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

impl FromStr for ClockControl {
    type Err = ParseClockError;

    fn from_str(text: &str) -> Result<Self, ParseClockError> {
        parse_clock(&text.trim().to_ascii_lowercase())
            .filter(Self::is_within_bounds)
            .ok_or(ParseClockError)
    }
}

fn parse_clock(text: &str) -> Option<ClockControl> {
    if let Some((before, period)) = text.split_once('x') {
        let (main_ms, periods) = match before.split_once('+') {
            Some((main, periods)) => (parse_duration_ms(main)?, periods),
            None => (0, before),
        };
        return Some(ClockControl::ByoYomi {
            main_ms,
            period_ms: parse_duration_ms(period)?,
            periods: periods.parse().ok()?,
        });
    }
    if let Some((minutes, seconds)) = text.split_once('+') {
        return Some(ClockControl::Fischer {
            main_ms: parse_decimal_ms(minutes, MINUTE_MS)?,
            increment_ms: parse_decimal_ms(seconds, SECOND_MS)?,
        });
    }
    match text.split_once('d') {
        Some((minutes, seconds)) if !seconds.is_empty() => Some(ClockControl::Delay {
            main_ms: parse_decimal_ms(minutes, MINUTE_MS)?,
            delay_ms: parse_decimal_ms(seconds, SECOND_MS)?,
        }),
        Some(_) | None => Some(ClockControl::Move {
            move_ms: parse_duration_ms(text)?,
        }),
    }
}

/// Parses a number with a unit (`s`, `m`, `h` or `d`) and returns milliseconds.
fn parse_duration_ms(text: &str) -> Option<u64> {
    let (at, unit) = text.char_indices().next_back()?;
    let unit = match unit {
        's' => SECOND_MS,
        'm' => MINUTE_MS,
        'h' => HOUR_MS,
        'd' => DAY_MS,
        _ => return None,
    };
    parse_decimal_ms(&text[..at], unit)
}

/// Parses a number with up to three decimal places and converts it to milliseconds. `unit` is the
/// length of the unit in milliseconds.
fn parse_decimal_ms(number: &str, unit: u64) -> Option<u64> {
    let (integer, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let digits = [integer, decimals].concat();
    let has_valid_length =
        !integer.is_empty() && (1..=3).contains(&decimals.len()) && digits.len() <= 10;
    if !has_valid_length || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let thousandths: u64 = format!("{integer}{decimals:0<3}").parse().ok()?;
    Some(thousandths * unit / 1000)
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
    fn invalid_clock_text_is_rejected() {
        for text in [
            "",
            "5",
            "+",
            "5+",
            "+3",
            "-5+3",
            "5+3s",
            "0+0",
            "181+0",
            "d",
            "5d",
            "15d",
            "4s",
            "3y",
            "x",
            "3x",
            "3x30",
            "26x30s",
            "10+3x30s",
            "5.1234+0",
            "5.+0",
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
