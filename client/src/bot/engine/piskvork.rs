//! Manager side of the Gomocup protocol (Piskvork). The protocol writes a point as `x,y`, counted
//! from the upper left corner. Plyhouse's own notation instead numbers the ranks from the bottom of
//! the board.

use std::time::Duration;

use plyhouse_protocol::{ClockControl, GameSummary};

use super::{DEFAULT_THINK_TIME, EngineDecision};
use crate::bot::bot_clock::ClockTimes;
use crate::bot::engine_process::{Deadline, EngineError, EngineProcess};
use crate::bot::initial_stones::InitialStones;

/// Dimensions of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BoardSize {
    files: u64,
    ranks: u64,
}

impl BoardSize {
    pub(super) const fn from_game(game: &GameSummary) -> Self {
        Self {
            files: game.files,
            ranks: game.ranks,
        }
    }

    /// Converts a square such as `h8` to a point. Returns `None` if the square is malformed or its
    /// rank exceeds the number of ranks.
    pub(super) fn to_point(self, square: &str) -> Option<String> {
        let file = square
            .bytes()
            .next()?
            .to_ascii_lowercase()
            .checked_sub(b'a')?;
        let rank: u64 = square.get(1..)?.parse().ok()?;
        let y = self.ranks.checked_sub(rank)?;
        Some(format!("{file},{y}"))
    }

    /// Converts a point such as `7,7` to a square. Returns `None` if the point is malformed or
    /// outside the board.
    pub(super) fn to_square(self, point: &str) -> Option<String> {
        let (x, y) = point.split_once(',')?;
        let (x, y): (u64, u64) = (x.trim().parse().ok()?, y.trim().parse().ok()?);
        let file = char::from(b'a'.checked_add(u8::try_from(x).ok()?)?);
        (x < self.files && y < self.ranks).then(|| format!("{file}{}", self.ranks - y))
    }
}

/// Sets up an empty board and sends the time limits and the number of the rule set.
pub(super) async fn initialize(
    process: &mut EngineProcess,
    game: &GameSummary,
    think: Duration,
    main_time_ms: Option<u64>,
    deadline: &Deadline,
) -> Result<(), EngineError> {
    process.send_lines(&format!("START {}", game.files)).await?;
    read_reply(process, deadline, parse_ok).await?;
    let ms = think.as_millis();
    process
        .send_lines(&format!(
            "INFO timeout_turn {ms}\nINFO timeout_match {}\nINFO rule 0",
            main_time_ms.unwrap_or(0)
        ))
        .await
}

/// Sends the time limit for the move and the engine's remaining time in the match.
pub(super) async fn send_time_left(
    process: &mut EngineProcess,
    times: &ClockTimes,
    think: Option<Duration>,
) -> Result<(), EngineError> {
    process.send_lines(&time_commands(times, think)).await
}

fn time_commands(times: &ClockTimes, think: Option<Duration>) -> String {
    let budget = u128::from(times.think_budget_ms());
    let think = match (think, times.control) {
        (Some(think), _) => think.as_millis(),
        // A fixed time per move may last hours or days, so the default thinking time is used
        // instead.
        (None, ClockControl::Move { .. }) => DEFAULT_THINK_TIME.as_millis(),
        (None, _) => u128::MAX,
    };
    let remaining_ms = times.remaining_ms[times.seat];
    format!(
        "INFO timeout_turn {}\nINFO time_left {remaining_ms}",
        budget.min(think)
    )
}

/// Sends the position to the engine and returns the engine's decision.
///
/// `setup` contains the stones that are on the board before the first move. If `setup` is `None`,
/// the match begins with an empty board. If there are no moves and no setup stones, the engine
/// receives `BEGIN`. If the engine knows all moves except the last one, only the last move is sent.
/// Otherwise the complete board is sent.
pub(super) async fn choose_move(
    process: &mut EngineProcess,
    board: BoardSize,
    sent_moves: &mut Vec<String>,
    (setup, moves): (Option<&InitialStones>, &[String]),
    deadline: &Deadline,
) -> Result<EngineDecision, EngineError> {
    let to_point = |m: &String| {
        board
            .to_point(m)
            .ok_or_else(|| EngineError::InvalidReply(m.clone()))
    };
    // The engine receives the setup stones before its first move. The setup stones are therefore
    // still unsent while `sent_moves` is empty.
    let is_setup_unsent = setup.is_some() && sent_moves.is_empty();
    match moves.split_last() {
        None if setup.is_none() => {
            // After a takeback of all moves, the engine's board still has stones and must be
            // cleared.
            if !sent_moves.is_empty() {
                clear_board(process, board, deadline).await?;
            }
            process.send_lines("BEGIN").await?;
        }
        Some((last, before)) if before == sent_moves.as_slice() && !is_setup_unsent => {
            process
                .send_lines(&format!("TURN {}", to_point(last)?))
                .await?;
        }
        None | Some(_) => {
            clear_board(process, board, deadline).await?;
            let mut lines = "BOARD\n".to_owned();
            let first_seat = setup.map_or(0, |setup| setup.first_seat);
            let setup_stones = setup.map_or(&[][..], |setup| setup.stones.as_slice());
            let setup_stones = setup_stones.iter().map(|(seat, m)| (*seat, m));
            let played = moves
                .iter()
                .zip(first_seat..)
                .map(|(m, seat)| (seat % 2, m));
            let own = (first_seat + moves.len()) % 2;
            for (seat, m) in setup_stones.chain(played) {
                let owner = if seat == own { 1 } else { 2 };
                lines += &format!("{},{owner}\n", to_point(m)?);
            }
            process.send_lines(&(lines + "DONE")).await?;
        }
    }
    let square = loop {
        // A slow engine may reply `UNKNOWN` to an earlier `INFO` command when this client has
        // already sent `RESTART`. `clear_board` then mistakes this reply for the reply to
        // `RESTART`. This loop skips the extra `OK` that the engine sends in this case.
        let parse_answer = |line: &str| {
            board
                .to_square(line)
                .map(Some)
                .or(parse_ok(line).map(|()| None))
        };
        if let Some(square) = read_reply(process, deadline, parse_answer).await? {
            break square;
        }
    };
    moves.clone_into(sent_moves);
    sent_moves.push(square.clone());
    Ok(EngineDecision::Move(square))
}

/// Clears the engine's board. `RESTART` is optional in the protocol, so an engine that replies
/// `UNKNOWN` receives `START` instead.
async fn clear_board(
    process: &mut EngineProcess,
    board: BoardSize,
    deadline: &Deadline,
) -> Result<(), EngineError> {
    process.send_lines("RESTART").await?;
    let parse_line = |line: &str| match first_word(line).as_str() {
        "" | "MESSAGE" | "DEBUG" => None,
        "UNKNOWN" => Some(Ok(false)),
        _ => Some(parse_reply(line, parse_ok).map(|()| true)),
    };
    if process.wait_for_line(deadline, parse_line).await?? {
        return Ok(());
    }
    process
        .send_lines(&format!("START {}", board.files))
        .await?;
    read_reply(process, deadline, parse_ok).await
}

/// Parses the reply that confirms a command. Text may follow `OK`, as in `OK - everything is good`.
fn parse_ok(line: &str) -> Option<()> {
    line.get(..2)?.eq_ignore_ascii_case("OK").then_some(())
}

/// Returns the first word of a line in upper case, so that the comparison with keywords ignores
/// letter case.
fn first_word(line: &str) -> String {
    let word = line.split_whitespace().next().unwrap_or_default();
    word.to_ascii_uppercase()
}

/// Waits for a reply and parses it. Skips empty lines and lines that begin with `MESSAGE` or
/// `DEBUG`. Also skips `UNKNOWN`, the reply to an unsupported `INFO`.
async fn read_reply<T>(
    process: &mut EngineProcess,
    deadline: &Deadline,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, EngineError> {
    let parse_line = |line: &str| match first_word(line).as_str() {
        "" | "MESSAGE" | "DEBUG" | "UNKNOWN" => None,
        _ => Some(parse_reply(line, &parse)),
    };
    process.wait_for_line(deadline, parse_line).await?
}

fn parse_reply<T>(line: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, EngineError> {
    parse(line).ok_or_else(|| EngineError::InvalidReply(line.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn point_rows_start_at_top_and_square_ranks_at_bottom() {
        let board = BoardSize {
            files: 15,
            ranks: 15,
        };
        for (square, point) in [
            ("a15", "0,0"),
            ("h8", "7,7"),
            ("o1", "14,14"),
            ("c4", "2,11"),
        ] {
            assert_eq!(board.to_point(square).as_deref(), Some(point));
            assert_eq!(board.to_square(point).as_deref(), Some(square));
        }
        for point in ["15,0", "0,15", "7", "7,", "-1,3", "OK", ""] {
            assert_eq!(board.to_square(point), None, "{point}");
        }
        for square in ["a16", "", "h", "7"] {
            assert_eq!(board.to_point(square), None, "{square}");
        }
    }

    #[test]
    fn time_commands_limit_move_by_budget_or_think_time() {
        let times = ClockTimes {
            control: ClockControl::Fischer {
                main_ms: 300_000,
                increment_ms: 0,
            },
            remaining_ms: [250_000, 1],
            in_period: [false, false],
            seat: 0,
            first_move_limit_ms: None,
        };
        let expected = "INFO timeout_turn 10000\nINFO time_left 250000";
        assert_eq!(time_commands(&times, None), expected);
        let expected = "INFO timeout_turn 700\nINFO time_left 250000";
        assert_eq!(
            time_commands(&times, Some(Duration::from_millis(700))),
            expected
        );
    }
}
