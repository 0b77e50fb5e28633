//! Driver for engines that speak version 2 of the Go Text Protocol (GTP). GTP uses the same move
//! notation as the wire protocol.

use crate::Decision;
use crate::engine_error::EngineError;
use crate::engine_process::EngineProcess;
use crate::search_input::{GamePosition, SearchLimits};

/// GTP colour of each seat.
const COLORS: [&str; 2] = ["b", "w"];

/// Engine that speaks GTP.
#[derive(Debug)]
pub(crate) struct GtpDriver {
    pub(crate) process: EngineProcess,
    komi: u32,
    /// Moves on the engine's board: those sent to the engine and its own moves.
    known_moves: Vec<String>,
}

impl GtpDriver {
    pub(crate) const fn new(process: EngineProcess, komi: u32) -> Self {
        Self {
            process,
            komi,
            known_moves: Vec::new(),
        }
    }

    pub(crate) async fn new_game(&mut self, board_size: u64) -> Result<(), EngineError> {
        self.query(&format!("boardsize {board_size}")).await?;
        self.clear_board().await?;
        self.query(&format!("komi {}", self.komi)).await?;
        Ok(())
    }

    /// Sends the moves that the engine does not know yet, and returns the engine's decision. If the
    /// engine's moves are not the beginning of the game, as after a takeback, its board is cleared
    /// and receives all moves again.
    pub(crate) async fn choose_move(
        &mut self,
        position: GamePosition<'_>,
        limits: &SearchLimits,
    ) -> Result<Decision, EngineError> {
        let GamePosition { moves, seat, .. } = position;
        let lacks_stones = position.initial.is_some() && self.known_moves.is_empty();
        if lacks_stones || !moves.starts_with(&self.known_moves) {
            self.clear_board().await?;
            for (owner, vertex) in position.initial_stones()? {
                self.play(*owner, vertex).await?;
            }
        }
        for (owner, m) in position.moves_with_seats().skip(self.known_moves.len()) {
            self.play(owner, m).await?;
        }
        moves.clone_into(&mut self.known_moves);
        for command in time_commands(limits) {
            match self.query(&command).await {
                // The commands about time are optional in GTP.
                Ok(_) | Err(EngineError::CommandRejected { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let m = self.query(&format!("genmove {}", COLORS[seat])).await?;
        if m.eq_ignore_ascii_case("resign") {
            return Ok(Decision::Resign);
        }
        // The engine has already played its move on its own board. The next turn compares the move
        // with the wire notation.
        self.known_moves.push(if m.eq_ignore_ascii_case("pass") {
            m.to_ascii_lowercase()
        } else {
            m.to_ascii_uppercase()
        });
        Ok(Decision::Move {
            text: m,
            score: None,
        })
    }

    async fn clear_board(&mut self) -> Result<(), EngineError> {
        self.known_moves.clear();
        self.query("clear_board").await.map(|_| ())
    }

    async fn play(&mut self, seat: usize, vertex: &str) -> Result<(), EngineError> {
        let command = format!("play {} {vertex}", COLORS[seat]);
        self.query(&command).await.map(|_| ())
    }

    /// Sends a command and returns the content of the reply. A reply that begins with `?` is an
    /// error.
    async fn query(&mut self, command: &str) -> Result<String, EngineError> {
        self.process.send_lines(command).await?;
        let parse_reply = |line: &str| {
            let content = line.strip_prefix(['=', '?'])?.trim().to_owned();
            Some((line.starts_with('='), content))
        };
        match self.process.find_line(parse_reply).await? {
            (true, content) => Ok(content),
            (false, reply) => Err(EngineError::rejected(command, reply)),
        }
    }
}

/// Returns the commands that set the time control and the remaining times, in whole seconds.
fn time_commands(limits: &SearchLimits) -> Vec<String> {
    let Some(clock) = limits.clock else {
        let to_settings = |seconds: u128| format!("time_settings 0 {seconds} 1");
        let seconds = limits.move_time.map(|time| time.as_millis().div_ceil(1000));
        return seconds.map(to_settings).into_iter().collect();
    };
    let main_seconds = clock.main_time.as_secs();
    let settings = match clock.period {
        None => format!("time_settings {main_seconds} 0 0"),
        Some((period, moves)) => {
            let period_seconds = period.as_secs().max(1);
            format!("time_settings {main_seconds} {period_seconds} {moves}")
        }
    };
    let left_commands = [0, 1].map(|seat| {
        let seconds = clock.remaining[seat].as_secs().max(1);
        let moves = clock.moves_to_go[seat].unwrap_or_default();
        format!("time_left {} {seconds} {moves}", COLORS[seat])
    });
    [settings].into_iter().chain(left_commands).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::search_input::Clock;

    #[test]
    fn time_commands_use_whole_seconds() {
        let ms = Duration::from_millis;
        for (move_time, expected) in [
            (None, &[][..]),
            (Some(10), &["time_settings 0 1 1"]),
            (Some(2500), &["time_settings 0 3 1"]),
        ] {
            let limits = SearchLimits {
                move_time: move_time.map(ms),
                ..SearchLimits::default()
            };
            assert_eq!(time_commands(&limits), expected);
        }
        for (main_time, period, remaining, moves_to_go, expected) in [
            (
                60_000,
                None,
                [59_900, 300],
                [None, None],
                [
                    "time_settings 60 0 0",
                    "time_left b 59 0",
                    "time_left w 1 0",
                ],
            ),
            (
                90_500,
                Some((ms(30_000), 1)),
                [29_900, 90_500],
                [Some(1), None],
                [
                    "time_settings 90 30 1",
                    "time_left b 29 1",
                    "time_left w 90 0",
                ],
            ),
            (
                0,
                Some((ms(601_000), 25)),
                [9000, 31_000],
                [None, Some(7)],
                [
                    "time_settings 0 601 25",
                    "time_left b 9 0",
                    "time_left w 31 7",
                ],
            ),
        ] {
            let clock = Clock {
                main_time: ms(main_time),
                period,
                remaining: remaining.map(ms),
                increments: [ms(0); 2],
                moves_to_go,
            };
            let limits = SearchLimits {
                clock: Some(clock),
                move_time: Some(ms(5000)),
                ..SearchLimits::default()
            };
            assert_eq!(time_commands(&limits), expected);
        }
    }
}
