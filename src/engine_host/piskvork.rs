//! Driver for engines that speak the Gomocup protocol (Piskvork). The protocol writes a point as
//! `x,y`, counted from the upper left corner. The wire protocol instead numbers the rows from the
//! bottom of the board.

use std::time::Duration;

use crate::Decision;
use crate::engine_error::EngineError;
use crate::engine_process::EngineProcess;
use crate::search_input::{GamePosition, SearchLimits};

/// Numbers that mark the owners of stones in a `BOARD` command.
const OWN_STONE: u8 = 1;
const OPPONENT_STONE: u8 = 2;

/// Maximum number of errors with which an engine answers an `INFO` line. Most engines do not answer
/// these lines, or send `UNKNOWN` once. Rapfi drops the first word of a line that arrives just after
/// its move. It then takes the other two words for commands, and answers `ERROR Unknown command:
/// TIMEOUT_TURN` and `ERROR Unknown command: 200`.
const ERRORS_PER_INFO: u32 = 2;

/// Engine that speaks the Piskvork protocol.
#[derive(Debug)]
pub(crate) struct PiskvorkDriver {
    pub(crate) process: EngineProcess,
    /// Number of rows and columns. Zero before the first game.
    board_size: u64,
    /// Moves on the engine's board, or `None` if the board has not been used since it was cleared.
    known_moves: Option<Vec<String>>,
    /// Number of errors that the engine may still send about the `INFO` lines since the last reply.
    info_errors_left: u32,
}

impl PiskvorkDriver {
    pub(crate) const fn new(process: EngineProcess) -> Self {
        Self {
            process,
            board_size: 0,
            known_moves: None,
            info_errors_left: 0,
        }
    }

    pub(crate) async fn new_game(&mut self, board_size: u64) -> Result<(), EngineError> {
        if self.board_size == board_size {
            return self.clear_board().await;
        }
        self.board_size = board_size;
        self.start_board().await
    }

    /// Sends the position to the engine and returns the engine's decision. If the engine knows all
    /// moves except the last one, only the last move is sent.
    pub(crate) async fn choose_move(
        &mut self,
        position: GamePosition<'_>,
        limits: &SearchLimits,
    ) -> Result<Decision, EngineError> {
        let GamePosition { moves, initial, .. } = position;
        let next_move = match (moves.split_last(), &self.known_moves) {
            (Some((last, before)), Some(known)) if before == known => Some(last),
            (Some((first, [])), None) if initial.is_none() => Some(first),
            _ => None,
        };
        if next_move.is_none() {
            self.clear_board().await?;
        }
        for info in time_infos(limits, position.seat) {
            self.send_info(&info).await?;
        }
        let command = match next_move {
            Some(last) => format!("TURN {}", self.to_point(last)?),
            None if moves.is_empty() && initial.is_none() => "BEGIN".to_owned(),
            None => self.board_command(position)?,
        };
        self.process.send_lines(&command).await?;
        let name = command.lines().next().unwrap_or_default();
        let reply = self.read_reply(name).await?;
        let Some(square) = to_square(&reply, self.board_size) else {
            return Err(EngineError::InvalidReply(reply));
        };
        let known_moves = moves.iter().chain([&square]).cloned().collect();
        self.known_moves = Some(known_moves);
        Ok(Decision::Move {
            text: square,
            score: None,
        })
    }

    /// Returns the lines that replace the engine's board with the position.
    fn board_command(&self, position: GamePosition<'_>) -> Result<String, EngineError> {
        let stones = position.initial_stones()?.iter();
        let stones = stones.map(|(owner, square)| (*owner, square));
        let mut lines = "BOARD\n".to_owned();
        for (owner, square) in stones.chain(position.moves_with_seats()) {
            let mark = match owner == position.seat {
                true => OWN_STONE,
                false => OPPONENT_STONE,
            };
            lines += &format!("{},{mark}\n", self.to_point(square)?);
        }
        Ok(lines + "DONE")
    }

    fn to_point(&self, square: &str) -> Result<String, EngineError> {
        let point = to_point(square, self.board_size);
        point.ok_or_else(|| EngineError::UnsupportedNotation(square.to_owned()))
    }

    /// Clears the engine's board if it has been used. `RESTART` is optional in the protocol, so an
    /// engine that rejects it receives `START` instead.
    async fn clear_board(&mut self) -> Result<(), EngineError> {
        if self.known_moves.is_none() {
            return Ok(());
        }
        self.process.send_lines("RESTART").await?;
        match self.read_ok("RESTART").await {
            Err(EngineError::CommandRejected { .. }) => self.start_board().await,
            result => {
                self.known_moves = None;
                result
            }
        }
    }

    /// Makes the engine set up an empty board, and sends the number of the rule set.
    async fn start_board(&mut self) -> Result<(), EngineError> {
        self.known_moves = None;
        let command = format!("START {}", self.board_size);
        self.process.send_lines(&command).await?;
        self.read_ok(&command).await?;
        self.send_info("INFO rule 0").await
    }

    async fn send_info(&mut self, info: &str) -> Result<(), EngineError> {
        self.info_errors_left += ERRORS_PER_INFO;
        self.process.send_lines(info).await
    }

    /// Reads the reply that confirms `command`. Text may follow `OK`, as in `OK - everything is
    /// good`.
    async fn read_ok(&mut self, command: &str) -> Result<(), EngineError> {
        let reply = self.read_reply(command).await?;
        let word = reply.get(..2);
        if word.is_some_and(|word| word.eq_ignore_ascii_case("OK")) {
            return Ok(());
        }
        Err(EngineError::rejected(command, reply))
    }

    /// Returns the reply to `command`. Skips empty lines, messages and debug output. Letter case is
    /// ignored.
    async fn read_reply(&mut self, command: &str) -> Result<String, EngineError> {
        loop {
            let line = self.process.read_line().await?;
            let word = line.split_whitespace().next().unwrap_or_default();
            match word.to_ascii_uppercase().as_str() {
                "" | "MESSAGE" | "DEBUG" => {}
                "UNKNOWN" | "ERROR"
                    if self.info_errors_left > 0 && is_about_unknown_command(&line) =>
                {
                    self.info_errors_left -= 1;
                }
                "ERROR" | "UNKNOWN" => return Err(EngineError::rejected(command, line)),
                _ => {
                    self.info_errors_left = 0;
                    return Ok(line);
                }
            }
        }
    }
}

fn is_about_unknown_command(error: &str) -> bool {
    error.to_ascii_uppercase().contains("UNKNOWN")
}

/// Returns the `INFO` lines that set the time limits of the engine, which has the given seat.
fn time_infos(limits: &SearchLimits, seat: usize) -> Vec<String> {
    let to_info = |key: &str, time: Duration| format!("INFO {key} {}", time.as_millis());
    let turn = limits.move_time.map(|time| to_info("timeout_turn", time));
    // A match time of 0 means no limit.
    let match_time = limits.clock.map_or(Duration::ZERO, |clock| clock.main_time);
    let clock = limits.clock;
    let left = clock.map(|clock| to_info("time_left", clock.remaining[seat]));
    let infos = [turn, Some(to_info("timeout_match", match_time)), left];
    infos.into_iter().flatten().collect()
}

/// Converts a square such as `h8` to a point. Returns `None` if the square is malformed or its rank
/// exceeds the number of ranks.
fn to_point(square: &str, board_size: u64) -> Option<String> {
    let file = square.bytes().next()?.to_ascii_lowercase();
    let x = file.checked_sub(b'a')?;
    let rank: u64 = square.get(1..)?.parse().ok()?;
    let y = board_size.checked_sub(rank)?;
    Some(format!("{x},{y}"))
}

/// Converts a point such as `7,7` to a square. Returns `None` if the point is malformed or outside
/// the board.
fn to_square(point: &str, board_size: u64) -> Option<String> {
    let (x, y) = point.split_once(',')?;
    let (x, y): (u8, u64) = (x.trim().parse().ok()?, y.trim().parse().ok()?);
    let file = char::from(b'a'.checked_add(x)?);
    (u64::from(x) < board_size && y < board_size).then(|| format!("{file}{}", board_size - y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_input::Clock;

    #[test]
    fn point_rows_start_at_top_and_square_ranks_at_bottom() {
        for (square, point) in [
            ("a15", "0,0"),
            ("h8", "7,7"),
            ("o1", "14,14"),
            ("c4", "2,11"),
        ] {
            assert_eq!(to_point(square, 15).as_deref(), Some(point));
            assert_eq!(to_square(point, 15).as_deref(), Some(square));
        }
        for point in ["15,0", "0,15", "7", "7,", "-1,3", "OK", ""] {
            assert_eq!(to_square(point, 15), None, "{point}");
        }
        for square in ["a16", "", "h", "7"] {
            assert_eq!(to_point(square, 15), None, "{square}");
        }
    }

    #[test]
    fn time_infos_use_milliseconds() {
        let ms = Duration::from_millis;
        let clock = Clock {
            main_time: ms(61_000),
            period: None,
            remaining: [ms(2000), ms(1500)],
            increments: [ms(1000); 2],
            moves_to_go: [None; 2],
        };
        let clock_infos = ["INFO timeout_match 61000", "INFO time_left 1500"];
        for (move_time, clock, expected) in [
            (None, None, &["INFO timeout_match 0"][..]),
            (
                Some(ms(250)),
                None,
                &["INFO timeout_turn 250", "INFO timeout_match 0"],
            ),
            (None, Some(clock), &clock_infos),
        ] {
            let limits = SearchLimits {
                move_time,
                clock,
                ..SearchLimits::default()
            };
            assert_eq!(time_infos(&limits, 1), expected);
        }
    }
}
