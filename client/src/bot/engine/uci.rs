//! Client side of UCI (Universal Chess Interface). UCI uses the same move notation as the wire
//! protocol.

use std::time::Duration;

use plyhouse_protocol::ClockControl;

use super::uci_options;
use super::uci_options::EngineOption;
use super::{DEFAULT_THINK_TIME, EngineDecision};
use crate::bot::bot_clock::ClockTimes;
use crate::bot::engine_process::{Deadline, EngineError, EngineProcess};

/// Maximum number of options read from an engine. Further options are ignored.
const OPTIONS_MAX: usize = 1000;

/// Performs the UCI handshake and sets the options. If any option is invalid, no option is set.
pub(super) async fn initialize(
    process: &mut EngineProcess,
    options: &[(String, String)],
    deadline: &Deadline,
) -> Result<(), EngineError> {
    process.send_lines("uci").await?;
    let mut engine_options = Vec::new();
    process
        .wait_for_line(deadline, |line| {
            if engine_options.len() < OPTIONS_MAX {
                engine_options.extend(EngineOption::parse(line));
            }
            (line == "uciok").then_some(())
        })
        .await?;
    uci_options::check_options(options, &engine_options)?;
    for (name, value) in options {
        process
            .send_lines(&format!("setoption name {name} value {value}"))
            .await?;
    }
    process.send_lines("ucinewgame\nisready").await?;
    process
        .wait_for_line(deadline, |line| (line == "readyok").then_some(()))
        .await
}

/// Returns the `go` command. For a clock with an increment or a delay, the command contains the
/// remaining times of both sides. In all other cases, and for a player's first move, the command
/// contains only a thinking time.
pub(super) fn go_command(times: Option<&ClockTimes>, think: Option<Duration>) -> String {
    let Some(times) = times else {
        return format!(
            "go movetime {}",
            think.unwrap_or(DEFAULT_THINK_TIME).as_millis()
        );
    };
    let think = think.map(|think| think.as_millis());
    let (delay_ms, increment) = match times.control {
        ClockControl::Fischer { increment_ms, .. } => (0, increment_ms),
        // UCI has no command for delay clocks, so the delay is sent as an increment. An increment
        // is credited only after the move, but a delay is available during the move. The delay is
        // therefore also added to the remaining times.
        ClockControl::Delay { delay_ms, .. } => (delay_ms, delay_ms),
        ClockControl::ByoYomi { .. } | ClockControl::Move { .. } => {
            return go_movetime_command(times, think);
        }
    };
    if times.first_move_limit_ms.is_some() {
        return go_movetime_command(times, think);
    }
    let [white, black] = times.remaining_ms.map(|left| left + delay_ms);
    let think = think.map_or_else(String::new, |ms| format!(" movetime {ms}"));
    format!("go wtime {white} btime {black} winc {increment} binc {increment}{think}")
}

fn go_movetime_command(times: &ClockTimes, think: Option<u128>) -> String {
    let budget = u128::from(times.think_budget_ms());
    // A fixed time per move may last hours or days, so the default thinking time is used instead.
    let think = think.unwrap_or(match times.control {
        ClockControl::Move { .. } => DEFAULT_THINK_TIME.as_millis(),
        _ => u128::MAX,
    });
    format!("go movetime {}", budget.min(think))
}

/// Sends the position and the `go` command, and returns the engine's move. Stores in `evaluation`
/// the last score that the engine reported.
pub(super) async fn choose_move(
    process: &mut EngineProcess,
    (start, moves): (Option<&str>, &[String]),
    go_command: &str,
    evaluation: &mut Option<i64>,
    deadline: &Deadline,
) -> Result<EngineDecision, EngineError> {
    let mut position = match start {
        None => "position startpos".to_owned(),
        Some(start) => format!("position fen {start}"),
    };
    if !moves.is_empty() {
        position += " moves ";
        position += &moves.join(" ");
    }
    process
        .send_lines(&format!("{position}\n{go_command}"))
        .await?;
    *evaluation = None;
    let parse_line = |line: &str| {
        *evaluation = parse_score(line).or(*evaluation);
        parse_best_move(line)
    };
    let best_move = process.wait_for_line(deadline, parse_line).await?;
    match best_move.as_str() {
        "" | "(none)" | "0000" => Err(EngineError::InvalidReply(format!("bestmove {best_move}"))),
        _ => Ok(EngineDecision::Move(best_move)),
    }
}

/// Parses the score of `info … score cp N …`, in centipawns. A mate score becomes ±100,000.
fn parse_score(line: &str) -> Option<i64> {
    const MATE_SCORE: i64 = 100_000;
    let mut words = line.strip_prefix("info ")?.split_whitespace();
    words.find(|word| *word == "score")?;
    let (kind, number) = (words.next()?, words.next()?.parse::<i64>().ok()?);
    match kind {
        "cp" => Some(number),
        "mate" if number > 0 => Some(MATE_SCORE),
        "mate" => Some(-MATE_SCORE),
        _ => None,
    }
}

/// Returns the move of a `bestmove` line, or `None` for other lines.
fn parse_best_move(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    (words.next() == Some("bestmove")).then(|| words.next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_command_matches_clock_control() {
        let fischer = ClockControl::Fischer {
            main_ms: 300_000,
            increment_ms: 3000,
        };
        let times = |clock| ClockTimes {
            control: clock,
            remaining_ms: [200_000, 100_000],
            in_period: [false, false],
            seat: 1,
            first_move_limit_ms: None,
        };
        let go = |times: &ClockTimes, think| go_command(Some(times), think);
        let clock_command = "go wtime 200000 btime 100000 winc 3000 binc 3000";
        assert_eq!(go(&times(fischer), None), clock_command);
        let think = Some(Duration::from_millis(700));
        assert_eq!(
            go(&times(fischer), think),
            format!("{clock_command} movetime 700")
        );
        let delay = ClockControl::Delay {
            main_ms: 300_000,
            delay_ms: 5000,
        };
        let delayed = "go wtime 205000 btime 105000 winc 5000 binc 5000";
        assert_eq!(go(&times(delay), None), delayed);
        let byo_yomi = ClockControl::ByoYomi {
            main_ms: 300_000,
            period_ms: 10_000,
            periods: 3,
        };
        assert_eq!(go(&times(byo_yomi), None), "go movetime 12000");
        let daily = ClockControl::Move {
            move_ms: 86_400_000,
        };
        assert_eq!(go(&times(daily), None), "go movetime 1000");
        let first = ClockTimes {
            first_move_limit_ms: Some(2000),
            ..times(fischer)
        };
        assert_eq!(go(&first, None), "go movetime 1000");
        assert_eq!(go_command(None, None), "go movetime 1000");
        assert_eq!(go_command(None, think), "go movetime 700");
    }

    #[test]
    fn score_is_parsed_from_info_lines() {
        assert_eq!(
            parse_score("info depth 3 score cp -35 nodes 20 pv e2e4"),
            Some(-35)
        );
        assert_eq!(parse_score("info score mate -2"), Some(-100_000));
        assert_eq!(parse_score("info score mate 1"), Some(100_000));
        assert_eq!(parse_score("info string score cp much"), None);
        assert_eq!(parse_score("bestmove e2e4"), None);
    }
}
