//! What a player may spend on a move: `tc=`, `st=`, `nodes=`, `depth=` and `timemargin=`.

use std::time::Duration;

use plyhouse_engine::search::Limits;

/// How much later than allowed an answer may come, where nothing is said: what a busy machine needs.
pub(crate) const TIME_MARGIN_DEFAULT: Duration = Duration::from_millis(100);

/// What may be spent on a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MoveLimits {
    pub(crate) time: TimeLimit,
    pub(crate) nodes: Option<u64>,
    pub(crate) depth: Option<u32>,
    /// How much later an answer may come.
    pub(crate) time_margin: Duration,
}

/// How time is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeLimit {
    /// It is not.
    Unlimited,
    /// So much for each move.
    PerMove(Duration),
    /// A clock that runs through the game.
    Clock(TimeControl),
}

/// A time control as cutechess has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeControl {
    /// Time for the game, or for each period of `moves`.
    pub(crate) base: Duration,
    /// Time added before each move, the first included.
    pub(crate) increment: Duration,
    /// Number of own moves after which `main` is added again. `None` if it is for the whole game.
    pub(crate) moves: Option<u32>,
}

impl TimeControl {
    /// Time on the clock before the first move.
    pub(crate) const fn initial_time(&self) -> Duration {
        self.base.saturating_add(self.increment)
    }
}

impl MoveLimits {
    /// What a search that has so much time may spend.
    pub(crate) fn to_search_limits(self, time: Option<Duration>) -> Limits {
        Limits {
            depth: self.depth,
            nodes: self.nodes,
            time,
            threads: None,
        }
    }
}

/// Most moves of a period.
const PERIOD_MOVES_MAX: u32 = 10_000;

/// Reads `[MOVES/]TIME[+INCREMENT]`, where TIME is in seconds or `minutes:seconds`, or `inf`.
pub(crate) fn parse_time_control(text: &str) -> Result<TimeLimit, String> {
    if text == "inf" {
        return Ok(TimeLimit::Unlimited);
    }
    let error = |why: &str| format!("tc={text}: {why}");
    let (moves, rest) = match text.split_once('/') {
        None => (None, text),
        Some((moves, rest)) => {
            let moves = moves
                .parse()
                .ok()
                .filter(|moves| *moves <= PERIOD_MOVES_MAX);
            let moves = moves.ok_or_else(|| {
                error(&format!(
                    "before / stands a number of moves, up to {PERIOD_MOVES_MAX}"
                ))
            })?;
            // As in cutechess: no moves is the whole game.
            (Some(moves).filter(|moves| *moves > 0), rest)
        }
    };
    let (main, increment) = rest.split_once('+').unwrap_or((rest, "0"));
    let main = match main.split_once(':') {
        None => parse_seconds(main),
        Some((minutes, seconds)) => parse_minutes(minutes)
            .zip(parse_seconds(seconds))
            .map(|(minutes, seconds)| minutes + seconds),
    };
    let main = main.ok_or_else(|| error("the time is in seconds, or minutes:seconds"))?;
    let increment = parse_seconds(increment).ok_or_else(|| error("the increment is in seconds"))?;
    let control = TimeControl {
        base: main,
        increment,
        moves,
    };
    let start = control.initial_time();
    if start < TIME_MIN {
        return Err(error("there is no time"));
    }
    if start >= DAY {
        return Err(error("the time is to be less than a day"));
    }
    Ok(TimeLimit::Clock(control))
}

/// Shortest time that can be given.
const TIME_MIN: Duration = Duration::from_millis(1);

const DAY: Duration = Duration::from_secs(86_400);

/// Seconds from 0 on, of up to a day.
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

/// Seconds above 0, of less than a day.
pub(crate) fn parse_move_time(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse()
        .ok()
        .filter(|found| (0.001..86_400.0).contains(found));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or(format!("{text} are no seconds"))
}

pub(crate) fn parse_positive_count(text: &str) -> Result<u64, String> {
    let count = text.parse().ok().filter(|found| *found > 0);
    count.ok_or(format!("{text} is no number above 0"))
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
            ("", "the time is in seconds"),
            ("0", "there is no time"),
            ("0+0", "there is no time"),
            ("40/0:00+0.0", "there is no time"),
            ("0.0001", "there is no time"),
            ("86400", "less than a day"),
            ("1440:00", "the time is in seconds"),
            ("99999999999999999999", "the time is in seconds"),
            ("60+", "the increment is in seconds"),
            ("60+x", "the increment is in seconds"),
            ("60++1", "the increment is in seconds"),
            ("60+-1", "the increment is in seconds"),
            ("60+0:01", "the increment is in seconds"),
            ("-5", "the time is in seconds"),
            ("nan", "the time is in seconds"),
            ("1.5:00", "the time is in seconds"),
            ("1:2:3", "the time is in seconds"),
            ("10+0.1s", "the increment is in seconds"),
            ("inf+1", "the time is in seconds"),
            ("x/60", "a number of moves"),
            ("-40/60", "a number of moves"),
            ("4294967296/60", "a number of moves"),
            ("40/20/60", "the time is in seconds"),
        ] {
            let error = parse_time_control(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
            assert!(error.contains(&format!("tc={text}")), "{error}");
        }
    }
}
