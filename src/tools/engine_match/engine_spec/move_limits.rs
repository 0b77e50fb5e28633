//! Limits on the search for a move, with the settings `tc=`, `st=`, `nodes=`, `depth=` and
//! `timemargin=`.

use std::time::Duration;

/// Default tolerance for a move that exceeds its time limit. The tolerance allows for delays on a
/// busy machine.
const TIME_MARGIN_DEFAULT: Duration = Duration::from_millis(100);

/// Limits on the search for a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MoveLimits {
    pub(crate) time: TimeLimit,
    pub(crate) nodes: Option<u64>,
    pub(crate) depth: Option<u32>,
    /// Tolerance for a move that exceeds its time limit.
    pub(crate) time_margin: Duration,
}

impl Default for MoveLimits {
    fn default() -> Self {
        Self {
            time: TimeLimit::Unlimited,
            nodes: None,
            depth: None,
            time_margin: TIME_MARGIN_DEFAULT,
        }
    }
}

/// Time limit for a move or for an entire game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeLimit {
    /// No time limit.
    Unlimited,
    /// Fixed time for each move.
    PerMove(Duration),
    /// Clock that runs throughout the game.
    Clock(TimeControl),
}

/// Time control as defined by cutechess-cli.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeControl {
    /// Time for the entire game, or for each period of `moves` moves.
    pub(crate) base: Duration,
    /// Time added before each move, including the first.
    pub(crate) increment: Duration,
    /// Number of moves that the engine makes in a period. At the start of each period, `base` is
    /// added to the clock. `None` if `base` is for the entire game.
    pub(crate) moves: Option<u32>,
}

impl TimeLimit {
    /// Returns the clock, or `None` for other limits.
    pub(crate) const fn clock(self) -> Option<TimeControl> {
        match self {
            Self::Unlimited | Self::PerMove(_) => None,
            Self::Clock(control) => Some(control),
        }
    }
}

impl TimeControl {
    /// Returns the time on the clock before the first move of the game.
    pub(crate) const fn initial_time(&self) -> Duration {
        self.base.saturating_add(self.increment)
    }
}

/// Maximum number of moves in a period of a time control.
const PERIOD_MOVES_MAX: u32 = 10_000;

/// Parses `[MOVES/]TIME[+INCREMENT]`, where TIME is in seconds or `minutes:seconds`. `inf` means no
/// limit.
pub(crate) fn parse_time_control(text: &str) -> Result<TimeLimit, String> {
    if text == "inf" {
        return Ok(TimeLimit::Unlimited);
    }
    let error = |why: &str| format!("invalid tc={text}: {why}");
    let (moves, rest) = match text.split_once('/') {
        None => (None, text),
        Some((moves, rest)) => {
            let moves = moves.parse().ok();
            let moves = moves.filter(|moves| *moves <= PERIOD_MOVES_MAX);
            let expected = "expected a number of moves up to";
            let moves =
                moves.ok_or_else(|| error(&format!("{expected} {PERIOD_MOVES_MAX} before '/'")))?;
            // As in cutechess-cli, if MOVES is zero, TIME is for the entire game.
            (Some(moves).filter(|moves| *moves > 0), rest)
        }
    };
    let (base, increment) = rest.split_once('+').unwrap_or((rest, "0"));
    let (minutes, seconds) = base.split_once(':').unwrap_or(("0", base));
    let base = parse_minutes(minutes).zip(parse_seconds(seconds));
    let base = base.map(|(minutes, seconds)| minutes + seconds);
    let base = base.ok_or_else(|| error("expected the time in seconds or minutes:seconds"))?;
    let increment =
        parse_seconds(increment).ok_or_else(|| error("expected the increment in seconds"))?;
    let control = TimeControl {
        base,
        increment,
        moves,
    };
    let start = control.initial_time();
    if start < TIME_MIN {
        return Err(error("the time must be at least 1 ms"));
    }
    if start >= DAY {
        return Err(error("the time must be less than a day"));
    }
    Ok(TimeLimit::Clock(control))
}

/// Minimum initial time on the clock. The parser rejects time controls with less time.
const TIME_MIN: Duration = Duration::from_millis(1);

const DAY: Duration = Duration::from_secs(86_400);

/// Parses a number of seconds from 0 to a day.
fn parse_seconds(text: &str) -> Option<Duration> {
    let is_number = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds = text.parse::<f64>().ok().filter(|_| is_number)?;
    (seconds <= DAY.as_secs_f64()).then(|| Duration::from_secs_f64(seconds))
}

fn parse_minutes(text: &str) -> Option<Duration> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let minutes: u64 = text.parse().ok().filter(|_| is_number)?;
    (minutes < 24 * 60).then(|| Duration::from_secs(60 * minutes))
}

/// Parses a number of seconds that is at least a millisecond and less than a day.
pub(crate) fn parse_move_time(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse()
        .ok()
        .filter(|found| (0.001..86_400.0).contains(found));
    seconds.map(Duration::from_secs_f64).ok_or(format!(
        "invalid st={text}: expected seconds, from 0.001 to less than 86400"
    ))
}

pub(crate) fn parse_positive_count(text: &str) -> Result<u64, String> {
    let count = text.parse().ok().filter(|found| *found > 0);
    count.ok_or(format!(
        "invalid number '{text}': nodes= and depth= must be at least 1"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(main_ms: u64, increment_ms: u64, moves: Option<u32>) -> Result<TimeLimit, String> {
        Ok(TimeLimit::Clock(TimeControl {
            base: Duration::from_millis(main_ms),
            increment: Duration::from_millis(increment_ms),
            moves,
        }))
    }

    #[test]
    fn time_controls_are_parsed_like_cutechess() {
        for (text, expected) in [
            ("0+0.1", clock(0, 100, None)),
            ("60+0.0", clock(60_000, 0, None)),
            ("40/60", clock(60_000, 0, Some(40))),
            ("40/5", clock(5000, 0, Some(40))),
            ("1:00+1", clock(60_000, 1000, None)),
            ("40/1:30+0.5", clock(90_000, 500, Some(40))),
            ("inf", Ok(TimeLimit::Unlimited)),
            ("10", clock(10_000, 0, None)),
            (".5+.25", clock(500, 250, None)),
            ("0:03.5", clock(3500, 0, None)),
            ("15/0:10+0", clock(10_000, 0, Some(15))),
            ("1/2", clock(2000, 0, Some(1))),
            ("0/60+1", clock(60_000, 1000, None)),
            ("120:0+00.0", clock(7_200_000, 0, None)),
            ("20/0+2", clock(0, 2000, Some(20))),
        ] {
            assert_eq!(parse_time_control(text), expected, "{text}");
        }
    }

    #[test]
    fn invalid_time_control_is_refused_with_the_reason() {
        for (text, expected) in [
            ("", "expected the time in seconds"),
            ("0", "at least 1 ms"),
            ("0+0", "at least 1 ms"),
            ("40/0:00+0.0", "at least 1 ms"),
            ("0.0001", "at least 1 ms"),
            ("86400", "less than a day"),
            ("1440:00", "expected the time in seconds"),
            ("99999999999999999999", "expected the time in seconds"),
            ("60+", "expected the increment in seconds"),
            ("60+x", "expected the increment in seconds"),
            ("60++1", "expected the increment in seconds"),
            ("60+-1", "expected the increment in seconds"),
            ("60+0:01", "expected the increment in seconds"),
            ("-5", "expected the time in seconds"),
            ("nan", "expected the time in seconds"),
            ("1.5:00", "expected the time in seconds"),
            ("1:2:3", "expected the time in seconds"),
            ("10+0.1s", "expected the increment in seconds"),
            ("inf+1", "expected the time in seconds"),
            ("x/60", "a number of moves"),
            ("-40/60", "a number of moves"),
            ("4294967296/60", "a number of moves"),
            ("40/20/60", "expected the time in seconds"),
        ] {
            let error = parse_time_control(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
            assert!(error.contains(&format!("tc={text}")), "{error}");
        }
    }
}
