//! Parses clocks such as `5+3`, `5d3`, `10m+3x30s` and `3d` on the command line.

use plyhouse_protocol::ClockControl;

/// Error message that explains the notation.
const SYNTAX_HELP: &str = "expected a clock such as 5+3 (minutes and increment in seconds), \
                           5d3 (minutes and delay), 10m+3x30s (byo-yomi) or 3d (time per move)";

/// Parses a clock.
///
/// # Errors
///
/// Returns an error message if the text is not a clock, or if the clock is outside the bounds of
/// the protocol.
pub(crate) fn parse_clock(text: &str) -> Result<ClockControl, String> {
    match ClockControl::from_notation(text) {
        None => Err(SYNTAX_HELP.to_owned()),
        Some(clock) if clock.is_within_bounds() => Ok(clock),
        Some(_) => Err("clock out of range: too little or too much time".to_owned()),
    }
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
            assert_eq!(clock.to_notation(), text);
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
