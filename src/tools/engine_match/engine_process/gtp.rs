//! Player that controls an engine through version 2 of the Go Text Protocol (GTP). The first seat
//! plays Black.

use anyhow::Context;
use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Stop;
use tokio::time::Instant;

use super::super::engine_spec;
use super::super::engine_spec::TimeLimit;
use super::super::forfeit_reason::ForfeitReason;
use super::super::player::{GameStart, Player, PlayerAction, Turn};
use super::{EngineProcess, RESPONSE_TIMEOUT};

/// Engine that speaks GTP.
#[derive(Debug)]
pub(crate) struct GtpPlayer {
    program: EngineProcess,
    board_size: u8,
    komi: u32,
    /// Number of moves in the current game that the program knows. The program knows the moves that
    /// were sent to it and the moves that it chose.
    moves_sent: usize,
}

impl GtpPlayer {
    pub(crate) fn start(
        program: &engine_spec::ProgramSpec,
        game: &'static GameEntry,
        komi: u32,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            program: EngineProcess::start(&program.command, "quit")
                .with_context(|| format!("cannot start {}", program.command.words[0]))?,
            board_size: game.info.files,
            komi,
            moves_sent: 0,
        })
    }

    /// Sends a command and returns the content of its response.
    fn query(
        &mut self,
        line: &str,
        deadline: Instant,
        stop: &Stop,
    ) -> Result<String, ForfeitReason> {
        self.program.write_line(line)?;
        loop {
            let reply = self.program.read_line(deadline, stop)?;
            if let Some(answer) = reply.strip_prefix('=') {
                return Ok(answer.trim().to_owned());
            }
            if let Some(reason) = reply.strip_prefix('?') {
                return Err(ForfeitReason::CommandRefused(format!(
                    "{line}: {}",
                    reason.trim()
                )));
            }
        }
    }

    fn send_command(&mut self, line: &str, stop: &Stop) -> Result<(), ForfeitReason> {
        self.query(line, Instant::now() + RESPONSE_TIMEOUT, stop)
            .map(|_| ())
    }

    /// Sends a command that is optional in GTP 2. If the program refuses the command, the error is
    /// ignored.
    fn send_optional_command(&mut self, line: &str, stop: &Stop) -> Result<(), ForfeitReason> {
        match self.send_command(line, stop) {
            Err(ForfeitReason::CommandRefused(_)) => Ok(()),
            result => result,
        }
    }

    /// Sends the time control and the time left to the program. The player calls this method before
    /// each of its moves.
    fn send_time(&mut self, turn: &Turn<'_>) -> Result<(), ForfeitReason> {
        for line in time_commands(turn) {
            self.send_optional_command(&line, turn.stop)?;
        }
        Ok(())
    }
}

/// Returns the GTP commands that set the program's time control and its remaining time. GTP counts
/// whole seconds.
fn time_commands(turn: &Turn<'_>) -> Vec<String> {
    match turn.limits.time {
        TimeLimit::PerMove(time) if time.subsec_nanos() == 0 => {
            vec![format!("time_settings 0 {} 1", time.as_secs())]
        }
        TimeLimit::Unlimited | TimeLimit::PerMove(_) => Vec::new(),
        TimeLimit::Clock(clock) => {
            let start = clock.initial_time().as_secs();
            let left = turn.time_allowed().unwrap_or_default().as_secs();
            // GTP has no time control in which a period of moves repeats from the start of the
            // game. Canadian byo-yomi with a main time of 0 has the same effect.
            let settings = match clock.moves {
                None => format!("time_settings {start} 0 0"),
                Some(moves) => format!("time_settings 0 {start} {moves}"),
            };
            let color = gtp_color(turn.seat);
            let moves = turn.moves_to_go.unwrap_or_default();
            vec![settings, format!("time_left {color} {left} {moves}")]
        }
    }
}

impl Player for GtpPlayer {
    fn begin_game(&mut self, game_start: &GameStart<'_>) -> Result<(), ForfeitReason> {
        self.moves_sent = 0;
        let (size, komi) = (self.board_size, self.komi);
        self.send_command(&format!("boardsize {size}"), game_start.stop)?;
        self.send_command("clear_board", game_start.stop)?;
        self.send_command(&format!("komi {komi}"), game_start.stop)
    }

    fn choose_move(&mut self, turn: &Turn<'_>) -> Result<PlayerAction, ForfeitReason> {
        for (ply, m) in turn.moves.iter().enumerate().skip(self.moves_sent) {
            let color = gtp_color(if ply.is_multiple_of(2) {
                Seat::First
            } else {
                Seat::Second
            });
            self.send_command(&format!("play {color} {m}"), turn.stop)?;
        }
        self.moves_sent = turn.moves.len() + 1;
        self.send_time(turn)?;
        let m = self.query(
            &format!("genmove {}", gtp_color(turn.seat)),
            turn.deadline(),
            turn.stop,
        )?;
        if m.eq_ignore_ascii_case("resign") {
            return Ok(PlayerAction::Resign);
        }
        Ok(PlayerAction::Move {
            text: m,
            score: None,
        })
    }
}

const fn gtp_color(seat: Seat) -> &'static str {
    match seat {
        Seat::First => "b",
        Seat::Second => "w",
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::player::tests::with_turn;
    use super::time_commands;

    #[test]
    fn time_commands_use_whole_seconds() {
        for (pace, left, to_go, lines) in [
            (
                "tc=60+0.0",
                59.9,
                None,
                &["time_settings 60 0 0", "time_left b 59 0"][..],
            ),
            (
                "tc=0+5",
                5.0,
                None,
                &["time_settings 5 0 0", "time_left b 5 0"],
            ),
            (
                "tc=40/60",
                31.0,
                Some(7),
                &["time_settings 0 60 40", "time_left b 31 7"],
            ),
            (
                "tc=25/10:00+1",
                9.0,
                Some(25),
                &["time_settings 0 601 25", "time_left b 9 25"],
            ),
            ("st=3", 0.0, None, &["time_settings 0 3 1"]),
            ("st=0.5", 0.0, None, &[]),
            ("tc=inf", 0.0, None, &[]),
        ] {
            assert_eq!(with_turn(pace, left, to_go, time_commands), lines, "{pace}");
        }
    }
}
