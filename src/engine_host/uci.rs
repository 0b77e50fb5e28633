//! Driver for engines that speak the Universal Chess Interface (UCI).

mod options;
mod score;

use std::fmt::{Display, Write as _};
use std::time::Duration;

use self::options::UciOption;
pub use self::score::MATE_SCORE;
use self::score::parse_score;
use crate::Decision;
use crate::engine_error::EngineError;
use crate::engine_process::EngineProcess;
use crate::search_input::{GamePosition, SearchLimits};

/// Maximum number of options read from an engine. Further options are ignored.
const OPTIONS_MAX: usize = 1000;

/// Engine that speaks UCI.
#[derive(Debug)]
pub(crate) struct UciDriver {
    pub(crate) process: EngineProcess,
}

impl UciDriver {
    /// Performs the handshake and sets the options. If any option is invalid, no option is set.
    pub(crate) async fn start(
        mut process: EngineProcess,
        options: &[(String, String)],
    ) -> Result<Self, EngineError> {
        process.send_lines("uci").await?;
        let mut declared_options = Vec::new();
        process
            .find_line(|line| {
                if declared_options.len() < OPTIONS_MAX {
                    declared_options.extend(UciOption::parse(line));
                }
                is_command(line, "uciok")
            })
            .await?;
        options::check_options(options, &declared_options)?;
        for (name, value) in options {
            let command = format!("setoption name {name} value {value}");
            process.send_lines(&command).await?;
        }
        let mut driver = Self { process };
        driver.wait_until_ready().await?;
        Ok(driver)
    }

    pub(crate) async fn new_game(&mut self) -> Result<(), EngineError> {
        self.process.send_lines("ucinewgame").await?;
        self.wait_until_ready().await
    }

    async fn wait_until_ready(&mut self) -> Result<(), EngineError> {
        self.process.send_lines("isready").await?;
        let is_ready = |line: &str| is_command(line, "readyok");
        self.process.find_line(is_ready).await
    }

    /// Sends the position and the limits, and returns the engine's move.
    pub(crate) async fn choose_move(
        &mut self,
        position: GamePosition<'_>,
        limits: &SearchLimits,
    ) -> Result<Decision, EngineError> {
        let (position_line, go_line) = (position_command(position), go_command(position, limits));
        self.process
            .send_lines(&format!("{position_line}\n{go_line}"))
            .await?;
        let mut score = None;
        let parse_line = |line: &str| {
            score = parse_score(line).or(score);
            let mut words = line.split_whitespace();
            (words.next() == Some("bestmove")).then(|| words.next().unwrap_or_default().to_owned())
        };
        let text = self.process.find_line(parse_line).await?;
        match text.as_str() {
            "" | "(none)" | "0000" => Err(EngineError::InvalidReply(format!("bestmove {text}"))),
            _ => Ok(Decision::Move { text, score }),
        }
    }
}

/// Returns `Some` if `word` is the first word of a line.
fn is_command(line: &str, word: &str) -> Option<()> {
    (line.split_whitespace().next() == Some(word)).then_some(())
}

fn position_command(position: GamePosition<'_>) -> String {
    let mut line = match position.initial {
        None => "position startpos".to_owned(),
        Some(initial) => format!("position fen {}", initial.text),
    };
    if !position.moves.is_empty() {
        line += " moves ";
        line += &position.moves.join(" ");
    }
    line
}

fn go_command(position: GamePosition<'_>, limits: &SearchLimits) -> String {
    let mut line = "go".to_owned();
    let mut push = |word: &str, number: &dyn Display| {
        write!(line, " {word} {number}").expect("writing to a String succeeds");
    };
    if let Some(clock) = limits.clock {
        for (word, left) in ["wtime", "btime"].into_iter().zip(clock.remaining) {
            push(word, &left.max(Duration::from_millis(1)).as_millis());
        }
        for (word, increment) in ["winc", "binc"].into_iter().zip(clock.increments) {
            push(word, &increment.as_millis());
        }
        if let Some(moves) = clock.moves_to_go[position.seat] {
            push("movestogo", &moves);
        }
    }
    if let Some(time) = limits.move_time {
        push("movetime", &time.as_millis());
    }
    if let Some(nodes) = limits.nodes {
        push("nodes", &nodes);
    }
    if let Some(depth) = limits.depth {
        push("depth", &depth);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_input::Clock;

    #[test]
    fn go_command_uses_milliseconds() {
        let ms = Duration::from_millis;
        let clock = Clock {
            main_time: Duration::ZERO,
            period: None,
            remaining: [ms(90_500), ms(0)],
            increments: [ms(500), ms(0)],
            moves_to_go: [Some(40), None],
        };
        let clock_command = "go wtime 90500 btime 1 winc 500 binc 0";
        for (seat, clock, move_time, depth, expected) in [
            (1, Some(clock), None, None, clock_command),
            (1, None, Some(ms(250)), None, "go movetime 250"),
            (1, None, None, Some(8), "go nodes 9 depth 8"),
            (
                0,
                Some(clock),
                Some(ms(700)),
                None,
                &format!("{clock_command} movestogo 40 movetime 700"),
            ),
        ] {
            let position = GamePosition {
                initial: None,
                moves: &[],
                seat,
            };
            let limits = SearchLimits {
                clock,
                move_time,
                depth,
                nodes: depth.map(|_| 9),
            };
            assert_eq!(go_command(position, &limits), expected);
        }
    }
}
