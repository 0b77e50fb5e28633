//! Client side of GTP 2 (Go Text Protocol). GTP uses the same move notation as the wire protocol.

use std::time::Duration;

use plyhouse_protocol::{ClockControl, GameSummary};

use super::{DEFAULT_THINK_TIME, EngineDecision};
use crate::bot::bot_clock::ClockTimes;
use crate::bot::engine_process::{Deadline, EngineError, EngineProcess};
use crate::bot::initial_stones::InitialStones;
use crate::conventions::KOMI;

/// GTP colour of each seat.
const COLORS: [&str; 2] = ["black", "white"];

/// Returns the `time_settings` command for a match with this clock. If the match has no clock or a
/// fixed time per move, the command contains `think`, the thinking time per move. The
/// `time_settings` command cannot express every clock, so [`send_time_left`] also sends the
/// remaining times before each move.
pub(super) fn time_settings_command(
    clock: Option<&ClockControl>,
    think: Option<Duration>,
) -> String {
    let seconds = |ms: u64| ms.div_ceil(1000);
    match clock {
        None => {
            let think = think
                .unwrap_or(DEFAULT_THINK_TIME)
                .as_millis()
                .div_ceil(1000);
            format!("time_settings 0 {think} 1")
        }
        Some(ClockControl::Move { move_ms }) => {
            let think = think
                .unwrap_or(DEFAULT_THINK_TIME)
                .as_millis()
                .div_ceil(1000);
            format!(
                "time_settings 0 {} 1",
                think.min(u128::from(move_ms / 1000)).max(1)
            )
        }
        Some(ClockControl::ByoYomi {
            main_ms, period_ms, ..
        }) => {
            let (main, period) = (seconds(*main_ms), (period_ms / 1000).max(1));
            format!("time_settings {main} {period} 1")
        }
        Some(clock) => format!(
            "time_settings {} 0 0",
            seconds(ClockTimes::initial_ms(clock))
        ),
    }
}

/// Sends the remaining time of both sides, in whole seconds, in `time_left` commands. An engine
/// that does not support `time_left` replies with `?`, and this function ignores that reply. With a
/// fixed time per move, this function sends no command.
pub(super) async fn send_time_left(
    process: &mut EngineProcess,
    times: &ClockTimes,
    deadline: &Deadline,
) -> Result<(), EngineError> {
    if matches!(times.control, ClockControl::Move { .. }) {
        return Ok(());
    }
    for command in time_left_commands(times) {
        send_optional_command(process, &command, deadline).await?;
    }
    Ok(())
}

fn time_left_commands(times: &ClockTimes) -> [String; 2] {
    let delay_ms = match times.control {
        ClockControl::Delay { delay_ms, .. } => delay_ms,
        _ => 0,
    };
    [0, 1].map(|seat: usize| {
        let seconds = ((times.remaining_ms[seat] + delay_ms) / 1000).max(1);
        let stones = u8::from(times.in_period[seat]);
        format!("time_left {} {seconds} {stones}", COLORS[seat])
    })
}

/// Sets up an empty board and sends the time settings.
pub(super) async fn initialize(
    process: &mut EngineProcess,
    game: &GameSummary,
    time_settings: &str,
    deadline: &Deadline,
) -> Result<(), EngineError> {
    for command in [
        format!("boardsize {}", game.files),
        "clear_board".to_owned(),
        format!("komi {KOMI}"),
    ] {
        send_command(process, &command, deadline).await?;
    }
    send_optional_command(process, time_settings, deadline).await
}

/// Sends a command that engines may not support. Ignores a reply that begins with `?`.
async fn send_optional_command(
    process: &mut EngineProcess,
    command: &str,
    deadline: &Deadline,
) -> Result<(), EngineError> {
    match send_command(process, command, deadline).await {
        Ok(_) | Err(EngineError::CommandRejected { .. }) => Ok(()),
        Err(fault) => Err(fault),
    }
}

/// Sends the moves that the engine does not know yet, and returns the engine's decision.
///
/// `setup` contains the stones that are on the board before the first move. If `setup` is `None`,
/// the match begins with an empty board. After a takeback or in a rematch, `moves` can differ from
/// the moves that the engine knows. In that case, the engine's board is cleared and all moves are
/// sent again.
pub(super) async fn choose_move(
    process: &mut EngineProcess,
    sent_moves: &mut Vec<String>,
    (setup, moves): (Option<&InitialStones>, &[String]),
    deadline: &Deadline,
) -> Result<EngineDecision, EngineError> {
    if !moves.starts_with(sent_moves) {
        send_command(process, "clear_board", deadline).await?;
        sent_moves.clear();
    }
    if sent_moves.is_empty()
        && let Some(setup) = setup
    {
        send_command(process, "clear_board", deadline).await?;
        for (seat, vertex) in &setup.stones {
            send_command(
                process,
                &format!("play {} {vertex}", COLORS[*seat]),
                deadline,
            )
            .await?;
        }
    }
    let first_seat = setup.map_or(0, |setup| setup.first_seat);
    for m in &moves[sent_moves.len()..] {
        let color = COLORS[(first_seat + sent_moves.len()) % 2];
        send_command(process, &format!("play {color} {m}"), deadline).await?;
        sent_moves.push(m.clone());
    }
    let color = COLORS[(first_seat + sent_moves.len()) % 2];
    let m = send_command(process, &format!("genmove {color}"), deadline).await?;
    if m.eq_ignore_ascii_case("resign") {
        return Ok(EngineDecision::Resign);
    }
    // The engine has already played its move on its own board, so the move is added to
    // `sent_moves`. The move is stored with the server's letter case, because the next turn
    // compares it with the server's move list.
    sent_moves.push(if m.eq_ignore_ascii_case("pass") {
        m.to_ascii_lowercase()
    } else {
        m.to_ascii_uppercase()
    });
    Ok(EngineDecision::Move(m))
}

/// Sends a command and returns the reply. A reply that begins with `?` is an error.
async fn send_command(
    process: &mut EngineProcess,
    command: &str,
    deadline: &Deadline,
) -> Result<String, EngineError> {
    process.send_lines(command).await?;
    let parse_answer = |line: &str| line.starts_with(['=', '?']).then(|| line.to_owned());
    let line = process.wait_for_line(deadline, parse_answer).await?;
    match line.strip_prefix('=') {
        Some(text) => Ok(text.trim().to_owned()),
        None => Err(EngineError::CommandRejected {
            command: command.to_owned(),
            words: line[1..].trim().to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_commands_use_whole_seconds() {
        let fischer = ClockControl::Fischer {
            main_ms: 0,
            increment_ms: 2000,
        };
        let byo_yomi = ClockControl::ByoYomi {
            main_ms: 90_500,
            period_ms: 30_000,
            periods: 3,
        };
        let daily = ClockControl::Move {
            move_ms: 86_400_000,
        };
        let time_settings = |clock| time_settings_command(clock, None);
        assert_eq!(time_settings(None), "time_settings 0 1 1");
        assert_eq!(time_settings(Some(&fischer)), "time_settings 3 0 0");
        assert_eq!(time_settings(Some(&byo_yomi)), "time_settings 91 30 1");
        assert_eq!(time_settings(Some(&daily)), "time_settings 0 1 1");
        let think = Some(Duration::from_millis(2500));
        assert_eq!(time_settings_command(None, think), "time_settings 0 3 1");
        let times = ClockTimes {
            control: byo_yomi,
            remaining_ms: [29_900, 90_500],
            in_period: [true, false],
            seat: 0,
            first_move_limit_ms: None,
        };
        assert_eq!(
            time_left_commands(&times),
            ["time_left black 29 1", "time_left white 90 0"]
        );
    }
}
