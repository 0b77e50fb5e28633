//! Player that controls an engine through the Gomocup protocol (Piskvork).

use std::time::Duration;

use anyhow::Context;
use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::search::Stop;
use tokio::time::Instant;

use super::super::engine_spec;
use super::super::engine_spec::TimeLimit;
use super::super::forfeit_reason::ForfeitReason;
use super::super::player::{GameStart, Player, PlayerAction, Turn};
use super::{EngineProcess, RESPONSE_TIMEOUT};
use crate::engine::Point;

/// Engine that speaks the Piskvork protocol.
#[derive(Debug)]
pub(crate) struct PiskvorkPlayer {
    program: EngineProcess,
    board_size: u8,
    /// Whether the program has received the current position of the board.
    has_sent_board: bool,
    /// Number of `INFO` lines sent since the program's last reply. The program may answer each
    /// `INFO` line with `UNKNOWN`.
    unanswered_infos: u32,
}

/// Number that marks the program's own stones in a `BOARD` command. The number 2 marks the
/// opponent's stones.
const OWN_STONE: u8 = 1;
const OPPONENT_STONE: u8 = 2;

impl PiskvorkPlayer {
    pub(crate) fn start(
        program: &engine_spec::ProgramSpec,
        game: &'static GameEntry,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            program: EngineProcess::start(&program.command, "END")
                .with_context(|| format!("cannot start {}", program.command.words[0]))?,
            board_size: game.info.files,
            has_sent_board: false,
            unanswered_infos: 0,
        })
    }

    /// Returns the program's reply to `command`. Messages and debug output of the program are
    /// skipped. The keywords of the program's output are case-insensitive.
    fn read_reply(
        &mut self,
        command: &str,
        deadline: Instant,
        stop: &Stop,
    ) -> Result<String, ForfeitReason> {
        loop {
            let line = self.program.read_line(deadline, stop)?;
            let word = line.split_whitespace().next().unwrap_or_default();
            match word.to_ascii_uppercase().as_str() {
                "" | "MESSAGE" | "DEBUG" => {}
                // A program does not reply to an `INFO` line that it understands. If `INFO` lines
                // are unanswered, an `UNKNOWN` reply refers to one of these lines and is ignored.
                "UNKNOWN" if self.unanswered_infos > 0 => self.unanswered_infos -= 1,
                "ERROR" | "UNKNOWN" => {
                    return Err(ForfeitReason::CommandRefused(format!("{command}: {line}")));
                }
                _ => {
                    self.unanswered_infos = 0;
                    return Ok(line);
                }
            }
        }
    }

    fn send_time(&mut self, turn: &Turn<'_>) -> Result<(), ForfeitReason> {
        for line in time_info_lines(turn) {
            self.unanswered_infos += 1;
            self.program.write_line(&line)?;
        }
        Ok(())
    }

    fn to_point(&self, m: &str) -> Point {
        Point::from_move(m, self.board_size)
    }

    /// Sends the command that requests a move. The command includes all moves that the program has
    /// not received yet. Returns the name of the command.
    fn send_moves(&mut self, moves: &[String]) -> Result<&'static str, ForfeitReason> {
        match moves {
            [] => {
                self.program.write_line("BEGIN")?;
                Ok("BEGIN")
            }
            [.., last] if self.has_sent_board => {
                let point = self.to_point(last);
                self.program.write_line(&format!("TURN {point}"))?;
                Ok("TURN")
            }
            moves => {
                self.program.write_line("BOARD")?;
                for (ply, m) in moves.iter().enumerate() {
                    let is_own = (moves.len() - ply).is_multiple_of(2);
                    let owner = if is_own { OWN_STONE } else { OPPONENT_STONE };
                    let point = self.to_point(m);
                    self.program.write_line(&format!("{point},{owner}"))?;
                }
                self.program.write_line("DONE")?;
                Ok("BOARD")
            }
        }
    }
}

/// Returns the `INFO` lines that set the program's time limits, in milliseconds.
fn time_info_lines(turn: &Turn<'_>) -> Vec<String> {
    let line = |key: &str, time: Duration| format!("INFO {key} {}", time.as_millis());
    match turn.limits.time {
        TimeLimit::Unlimited => Vec::new(),
        TimeLimit::PerMove(time) => vec![line("timeout_turn", time)],
        // `timeout_match` includes the increment of the first move. Without the increment, a base
        // time of 0 would be sent as 0, which means no limit in the Piskvork protocol.
        TimeLimit::Clock(clock) => vec![
            line("timeout_match", clock.initial_time()),
            line("time_left", turn.time_allowed().unwrap_or_default()),
        ],
    }
}

impl Player for PiskvorkPlayer {
    fn begin_game(&mut self, game_start: &GameStart<'_>) -> Result<(), ForfeitReason> {
        self.has_sent_board = false;
        self.program
            .write_line(&format!("START {}", self.board_size))?;
        let reply = self.read_reply("START", Instant::now() + RESPONSE_TIMEOUT, game_start.stop)?;
        // Only the beginning of the reply is checked, because the protocol allows replies such as
        // "OK - everything is good".
        if reply
            .get(..2)
            .is_some_and(|ok| ok.eq_ignore_ascii_case("OK"))
        {
            return Ok(());
        }
        Err(ForfeitReason::CommandRefused(format!("START: {reply}")))
    }

    fn choose_move(&mut self, turn: &Turn<'_>) -> Result<PlayerAction, ForfeitReason> {
        self.send_time(turn)?;
        let command = self.send_moves(turn.moves)?;
        self.has_sent_board = true;
        let reply = self.read_reply(command, turn.deadline(), turn.stop)?;
        let point =
            Point::parse(&reply, self.board_size).ok_or(ForfeitReason::IllegalMove(reply))?;
        Ok(PlayerAction::Move {
            text: point.to_move(self.board_size),
            score: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::player::tests::with_turn;
    use super::time_info_lines;

    #[test]
    fn time_info_lines_use_milliseconds() {
        for (pace, left, lines) in [
            (
                "tc=60",
                61.5,
                &["INFO timeout_match 60000", "INFO time_left 61500"][..],
            ),
            (
                "tc=0+0.1",
                0.1,
                &["INFO timeout_match 100", "INFO time_left 100"],
            ),
            (
                "tc=1:00+1",
                2.0,
                &["INFO timeout_match 61000", "INFO time_left 2000"],
            ),
            ("st=0.25", 0.0, &["INFO timeout_turn 250"]),
            ("tc=inf", 0.0, &[]),
        ] {
            assert_eq!(
                with_turn(pace, left, None, time_info_lines),
                lines,
                "{pace}"
            );
        }
    }
}
