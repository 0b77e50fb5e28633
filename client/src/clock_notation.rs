//! Text notation of clocks, such as `5+3`, `5d3`, `10m+3x30s` and `3d`.

use std::fmt::Write as _;

use plyhouse_protocol::ClockControl;

/// Error message that explains the notation.
const SYNTAX_HELP: &str = "expected a clock such as 5+3 (minutes and increment in seconds), \
                           5d3 (minutes and delay), 10m+3x30s (byo-yomi) or 3d (time per move)";

/// Time units and their lengths in milliseconds, sorted from longest to shortest.
const UNITS_MS: [(char, u64); 4] = [
    ('d', 86_400_000),
    ('h', 3_600_000),
    ('m', 60_000),
    ('s', 1000),
];

const MINUTE_MS: u64 = 60_000;
const SECOND_MS: u64 = 1000;

/// Parses a clock.
///
/// # Errors
///
/// Returns an error message if the text is not a clock, or if the clock is outside the bounds of
/// the protocol.
pub(crate) fn parse_clock(text: &str) -> Result<ClockControl, String> {
    let text = text.trim().to_ascii_lowercase();
    let clock = parse_byo_yomi(&text)
        .or_else(|| parse_fischer(&text))
        .or_else(|| parse_delay(&text))
        .or_else(|| parse_duration_ms(&text).map(|move_ms| ClockControl::Move { move_ms }));
    match clock {
        None => Err(SYNTAX_HELP.to_owned()),
        Some(clock) if clock.is_within_bounds() => Ok(clock),
        Some(_) => Err("clock out of range: too little or too much time".to_owned()),
    }
}

/// Parses a byo-yomi clock such as `10m+3x30s`: main time, number of periods, length of a period.
fn parse_byo_yomi(text: &str) -> Option<ClockControl> {
    let (main, periods) = text.split_once('+')?;
    let (periods, period) = periods.split_once('x')?;
    Some(ClockControl::ByoYomi {
        main_ms: parse_duration_ms(main).or_else(|| parse_decimal_ms(main, MINUTE_MS))?,
        period_ms: parse_duration_ms(period).or_else(|| parse_decimal_ms(period, SECOND_MS))?,
        periods: periods.parse().ok()?,
    })
}

/// Parses a Fischer clock such as `5+3`: main time in minutes, increment in seconds.
fn parse_fischer(text: &str) -> Option<ClockControl> {
    let (main, increment) = text.split_once('+')?;
    Some(ClockControl::Fischer {
        main_ms: parse_duration_ms(main).or_else(|| parse_decimal_ms(main, MINUTE_MS))?,
        increment_ms: parse_duration_ms(increment)
            .or_else(|| parse_decimal_ms(increment, SECOND_MS))?,
    })
}

/// Parses a clock with a delay, such as `5d3`: main time in minutes, delay in seconds.
fn parse_delay(text: &str) -> Option<ClockControl> {
    let (main, delay) = text.split_once('d')?;
    Some(ClockControl::Delay {
        main_ms: parse_duration_ms(main).or_else(|| parse_decimal_ms(main, MINUTE_MS))?,
        delay_ms: parse_decimal_ms(delay, SECOND_MS)?,
    })
}

/// Parses a time with a unit, such as `90s`, and returns milliseconds.
fn parse_duration_ms(text: &str) -> Option<u64> {
    let (unit, factor) = UNITS_MS
        .into_iter()
        .find(|(unit, _)| text.ends_with(*unit))?;
    parse_decimal_ms(text.strip_suffix(unit)?, factor)
}

/// Parses a decimal number of time units, with at most three decimal places, and converts it to
/// milliseconds. `unit_ms` is the length of the unit in milliseconds.
fn parse_decimal_ms(text: &str, unit_ms: u64) -> Option<u64> {
    let (integer, part) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if integer.is_empty() || !is_digits(integer) || !is_digits(part) || part.len() > 3 {
        return None;
    }
    let thousandths: u64 = format!("{part:0<3}").parse().ok()?;
    let integer_ms = integer.parse::<u64>().ok()?.checked_mul(unit_ms)?;
    integer_ms.checked_add(thousandths * unit_ms / 1000)
}

/// Formats a clock in the notation that [`parse_clock`] reads.
pub(crate) fn format_clock(clock: &ClockControl) -> String {
    match *clock {
        ClockControl::Fischer {
            main_ms,
            increment_ms,
        } => format!(
            "{}+{}",
            format_minutes(main_ms),
            format_decimal(increment_ms, SECOND_MS)
        ),
        ClockControl::Delay { main_ms, delay_ms } => {
            format!(
                "{}d{}",
                format_minutes(main_ms),
                format_decimal(delay_ms, SECOND_MS)
            )
        }
        ClockControl::ByoYomi {
            main_ms,
            period_ms,
            periods,
        } => format!(
            "{}+{periods}x{}",
            format_with_unit(main_ms),
            format_with_unit(period_ms)
        ),
        ClockControl::Move { move_ms } => format_with_unit(move_ms),
    }
}

/// Formats a time in minutes if the number of minutes needs at most one decimal place. Otherwise,
/// formats the time with a unit, such as `10s`.
fn format_minutes(ms: u64) -> String {
    if ms.is_multiple_of(MINUTE_MS / 10) {
        format_decimal(ms, MINUTE_MS)
    } else {
        format_with_unit(ms)
    }
}

/// Formats a time in the largest unit that gives a whole number, such as `90s`. If there is no such
/// unit, formats the time in seconds with decimal places.
fn format_with_unit(ms: u64) -> String {
    let exact_unit = UNITS_MS
        .into_iter()
        .find(|(_, factor)| ms > 0 && ms.is_multiple_of(*factor));
    match exact_unit {
        Some((unit, factor)) => format!("{}{unit}", ms / factor),
        None if ms == 0 => "0m".to_owned(),
        None => format!("{}s", format_decimal(ms, SECOND_MS)),
    }
}

/// Formats a time as a decimal number of time units, with at most three decimal places. `unit_ms`
/// is the length of the unit in milliseconds.
fn format_decimal(ms: u64, unit_ms: u64) -> String {
    let mut text = format!("{}", ms / unit_ms);
    let thousandths = ms % unit_ms * 1000 / unit_ms;
    if thousandths > 0 {
        let _ = write!(text, ".{thousandths:03}");
        text.truncate(text.trim_end_matches('0').len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_parsed_and_formatted() {
        let fischer = |main_ms, increment_ms| ClockControl::Fischer {
            main_ms,
            increment_ms,
        };
        let byo_yomi = |main_ms, period_ms, periods| ClockControl::ByoYomi {
            main_ms,
            period_ms,
            periods,
        };
        for (text, clock) in [
            ("5+3", fischer(300_000, 3000)),
            ("0+10", fischer(0, 10_000)),
            ("0.5+0", fischer(30_000, 0)),
            ("20s+3", fischer(20_000, 3000)),
            (
                "5d3",
                ClockControl::Delay {
                    main_ms: 300_000,
                    delay_ms: 3000,
                },
            ),
            (
                "1d0.5",
                ClockControl::Delay {
                    main_ms: 60_000,
                    delay_ms: 500,
                },
            ),
            ("10m+3x30s", byo_yomi(600_000, 30_000, 3)),
            ("0m+1x10s", byo_yomi(0, 10_000, 1)),
            ("90s+5x1m", byo_yomi(90_000, 60_000, 5)),
            (
                "3d",
                ClockControl::Move {
                    move_ms: 259_200_000,
                },
            ),
            ("1h", ClockControl::Move { move_ms: 3_600_000 }),
            ("30s", ClockControl::Move { move_ms: 30_000 }),
        ] {
            assert_eq!(parse_clock(text), Ok(clock), "{text}");
            assert_eq!(format_clock(&clock), text);
        }
        assert_eq!(parse_clock(" 10+3X30 "), Ok(byo_yomi(600_000, 30_000, 3)));
        assert_eq!(parse_clock("90s+2s"), Ok(fischer(90_000, 2000)));
        assert_eq!(parse_clock("1440m"), parse_clock("1d"));
    }

    #[test]
    fn invalid_clock_is_refused_with_reason() {
        for text in [
            "", "5", "5+", "+3", "5+3+1", "x", "d3", "3w", "-5+3", "5+3x", "1.2345+0",
        ] {
            let error = parse_clock(text).expect_err(text);
            assert!(error.contains("5+3"), "{text}: {error}");
        }
        for text in ["0+0", "200+0", "5+181", "0d3", "15d", "4s", "1m+26x30s"] {
            let error = parse_clock(text).expect_err(text);
            assert!(error.contains("out of range"), "{text}: {error}");
        }
        assert!(parse_clock("99999999999999999999+1").is_err());
    }
}
