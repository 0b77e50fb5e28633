//! UCI, from the side that uses an engine. Moves are written as on the wire.

use std::time::Duration;

use plyhouse_protocol::ClockControl;

use super::options::{self, Offered};
use super::{Answer, THINK};
use crate::bot::program::{Deadline, Fault, Program};
use crate::bot::turn::Times;

/// Most options of an engine. Further ones are not known.
const OPTIONS_MAX: usize = 1000;

/// Introduces both sides, and sets the options. It sets none if the engine does not take all of them.
pub(super) async fn greet(
    program: &mut Program,
    options: &[(String, String)],
    deadline: &Deadline,
) -> Result<(), Fault> {
    program.say("uci").await?;
    let mut offered = Vec::new();
    program
        .hear(deadline, |line| {
            if offered.len() < OPTIONS_MAX {
                offered.extend(Offered::read(line));
            }
            (line == "uciok").then_some(())
        })
        .await?;
    options::check(options, &offered)?;
    for (name, value) in options {
        program
            .say(&format!("setoption name {name} value {value}"))
            .await?;
    }
    program.say("ucinewgame\nisready").await?;
    program
        .hear(deadline, |line| (line == "readyok").then_some(()))
        .await
}

/// How the engine is asked to think: by the clock where UCI has words for it, else for so long.
pub(super) fn go(times: Option<&Times>, think: Option<Duration>) -> String {
    let Some(times) = times else {
        return format!("go movetime {}", think.unwrap_or(THINK).as_millis());
    };
    let think = think.map(|think| think.as_millis());
    let (free, increment) = match times.clock {
        ClockControl::Fischer { increment_ms, .. } => (0, increment_ms),
        // UCI knows no delay; what each move has for nothing is much as if it were added before.
        ClockControl::Delay { delay_ms, .. } => (delay_ms, delay_ms),
        ClockControl::ByoYomi { .. } | ClockControl::Move { .. } => {
            return by_budget(times, think);
        }
    };
    if times.first_move_ms.is_some() {
        return by_budget(times, think);
    }
    let [white, black] = times.left_ms.map(|left| left + free);
    let think = think.map_or_else(String::new, |ms| format!(" movetime {ms}"));
    format!("go wtime {white} btime {black} winc {increment} binc {increment}{think}")
}

fn by_budget(times: &Times, think: Option<u128>) -> String {
    let budget = u128::from(times.budget_ms());
    // Nobody wants to wait for hours because there are days.
    let think = think.unwrap_or(match times.clock {
        ClockControl::Move { .. } => THINK.as_millis(),
        _ => u128::MAX,
    });
    format!("go movetime {}", budget.min(think))
}

/// The engine's move after these, asked for so; and what it thinks of its position.
pub(super) async fn choose(
    program: &mut Program,
    (start, moves): (Option<&str>, &[String]),
    go: &str,
    worth: &mut Option<i64>,
    deadline: &Deadline,
) -> Result<Answer, Fault> {
    let mut position = match start {
        None => "position startpos".to_owned(),
        Some(start) => format!("position fen {start}"),
    };
    if !moves.is_empty() {
        position += " moves ";
        position += &moves.join(" ");
    }
    program.say(&format!("{position}\n{go}")).await?;
    *worth = None;
    let heard = |line: &str| {
        *worth = score(line).or(*worth);
        best_move(line)
    };
    let best = program.hear(deadline, heard).await?;
    match best.as_str() {
        "" | "(none)" | "0000" => Err(Fault::Nonsense(format!("bestmove {best}"))),
        _ => Ok(Answer::Move(best)),
    }
}

/// The value that `info … score cp N …` tells, or far more than any such for a mate.
fn score(line: &str) -> Option<i64> {
    const MATE: i64 = 100_000;
    let mut words = line.strip_prefix("info ")?.split_whitespace();
    words.find(|word| *word == "score")?;
    let (kind, number) = (words.next()?, words.next()?.parse::<i64>().ok()?);
    match kind {
        "cp" => Some(number),
        "mate" if number > 0 => Some(MATE),
        "mate" => Some(-MATE),
        _ => None,
    }
}

/// The move of `bestmove MOVE`; other lines tell how far the thinking has come.
fn best_move(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    (words.next() == Some("bestmove")).then(|| words.next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_passed_on() {
        let fischer = ClockControl::Fischer {
            main_ms: 300_000,
            increment_ms: 3000,
        };
        let times = |clock| Times {
            clock,
            left_ms: [200_000, 100_000],
            in_period: [false, false],
            seat: 1,
            first_move_ms: None,
        };
        let go = |times: &Times, think| go(Some(times), think);
        let by_clock = "go wtime 200000 btime 100000 winc 3000 binc 3000";
        assert_eq!(go(&times(fischer), None), by_clock);
        let think = Some(Duration::from_millis(700));
        assert_eq!(
            go(&times(fischer), think),
            format!("{by_clock} movetime 700")
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
        let first = Times {
            first_move_ms: Some(2000),
            ..times(fischer)
        };
        assert_eq!(go(&first, None), "go movetime 1000");
        assert_eq!(super::go(None, None), "go movetime 1000");
        assert_eq!(super::go(None, think), "go movetime 700");
    }

    #[test]
    fn values_are_heard() {
        assert_eq!(
            score("info depth 3 score cp -35 nodes 20 pv e2e4"),
            Some(-35)
        );
        assert_eq!(score("info score mate -2"), Some(-100_000));
        assert_eq!(score("info score mate 1"), Some(100_000));
        assert_eq!(score("info string score cp much"), None);
        assert_eq!(score("bestmove e2e4"), None);
    }
}
