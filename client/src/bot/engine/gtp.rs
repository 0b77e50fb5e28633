//! GTP 2, from the side that uses an engine. Moves are written as on the wire.

use std::time::Duration;

use plyhouse_protocol::{ClockControl, GameSummary};

use super::{Answer, THINK};
use crate::bot::program::{Deadline, Fault, Program};
use crate::bot::setup::Setup;
use crate::bot::turn::Times;
use crate::conventions::KOMI;

/// The colours of the seats.
const COLORS: [&str; 2] = ["black", "white"];

/// The time that is settled for a match with this clock, or for each move without one: what GTP has no
/// words for is told before each move.
pub(super) fn time_settings(clock: Option<&ClockControl>, think: Option<Duration>) -> String {
    let seconds = |ms: u64| ms.div_ceil(1000);
    match clock {
        None => {
            let think = think.unwrap_or(THINK).as_millis().div_ceil(1000);
            format!("time_settings 0 {think} 1")
        }
        Some(ClockControl::Move { move_ms }) => {
            let think = think.unwrap_or(THINK).as_millis().div_ceil(1000);
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
        Some(clock) => format!("time_settings {} 0 0", seconds(Times::main_ms(clock))),
    }
}

/// Tells what both sides have left, in whole seconds. An engine that keeps no clock answers `?`, which is
/// no fault.
pub(super) async fn tell_times(
    program: &mut Program,
    times: &Times,
    deadline: &Deadline,
) -> Result<(), Fault> {
    if matches!(times.clock, ClockControl::Move { .. }) {
        return Ok(());
    }
    for command in time_left(times) {
        ask_if_known(program, &command, deadline).await?;
    }
    Ok(())
}

fn time_left(times: &Times) -> [String; 2] {
    let free = match times.clock {
        ClockControl::Delay { delay_ms, .. } => delay_ms,
        _ => 0,
    };
    [0, 1].map(|seat: usize| {
        let seconds = ((times.left_ms[seat] + free) / 1000).max(1);
        let stones = u8::from(times.in_period[seat]);
        format!("time_left {} {seconds} {stones}", COLORS[seat])
    })
}

/// Sets up an empty board.
pub(super) async fn greet(
    program: &mut Program,
    game: &GameSummary,
    time_settings: &str,
    deadline: &Deadline,
) -> Result<(), Fault> {
    for command in [
        format!("boardsize {}", game.files),
        "clear_board".to_owned(),
        format!("komi {KOMI}"),
    ] {
        ask(program, &command, deadline).await?;
    }
    ask_if_known(program, time_settings, deadline).await
}

/// Asks for what an engine may not know: an answer `?` is no fault.
async fn ask_if_known(
    program: &mut Program,
    command: &str,
    deadline: &Deadline,
) -> Result<(), Fault> {
    match ask(program, command, deadline).await {
        Ok(_) | Err(Fault::Refused { .. }) => Ok(()),
        Err(fault) => Err(fault),
    }
}

/// The engine's move after these, which were played from the empty board or with these stones on it. It is told
/// those that it does not know yet, and begins anew if others have come before.
pub(super) async fn choose(
    program: &mut Program,
    told: &mut Vec<String>,
    (setup, moves): (Option<&Setup>, &[String]),
    deadline: &Deadline,
) -> Result<Answer, Fault> {
    if !moves.starts_with(told) {
        ask(program, "clear_board", deadline).await?;
        told.clear();
    }
    if told.is_empty()
        && let Some(setup) = setup
    {
        ask(program, "clear_board", deadline).await?;
        for (seat, vertex) in &setup.stones {
            ask(
                program,
                &format!("play {} {vertex}", COLORS[*seat]),
                deadline,
            )
            .await?;
        }
    }
    let first = setup.map_or(0, |setup| setup.first);
    for m in &moves[told.len()..] {
        let color = COLORS[(first + told.len()) % 2];
        ask(program, &format!("play {color} {m}"), deadline).await?;
        told.push(m.clone());
    }
    let color = COLORS[(first + told.len()) % 2];
    let m = ask(program, &format!("genmove {color}"), deadline).await?;
    if m.eq_ignore_ascii_case("resign") {
        return Ok(Answer::Resign);
    }
    // On its own board it has played already. How the server writes the move is not known yet, and
    // all but the case of letters is settled.
    told.push(if m.eq_ignore_ascii_case("pass") {
        m.to_ascii_lowercase()
    } else {
        m.to_ascii_uppercase()
    });
    Ok(Answer::Move(m))
}

/// Returns the answer to a command. An answer that begins with `?` is a refusal.
async fn ask(program: &mut Program, command: &str, deadline: &Deadline) -> Result<String, Fault> {
    program.say(command).await?;
    let answer = |line: &str| line.starts_with(['=', '?']).then(|| line.to_owned());
    let line = program.hear(deadline, answer).await?;
    match line.strip_prefix('=') {
        Some(text) => Ok(text.trim().to_owned()),
        None => Err(Fault::Refused {
            command: command.to_owned(),
            words: line[1..].trim().to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_told_in_seconds() {
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
        let settings = |clock| time_settings(clock, None);
        assert_eq!(settings(None), "time_settings 0 1 1");
        assert_eq!(settings(Some(&fischer)), "time_settings 3 0 0");
        assert_eq!(settings(Some(&byo_yomi)), "time_settings 91 30 1");
        assert_eq!(settings(Some(&daily)), "time_settings 0 1 1");
        let think = Some(Duration::from_millis(2500));
        assert_eq!(time_settings(None, think), "time_settings 0 3 1");
        let times = Times {
            clock: byo_yomi,
            left_ms: [29_900, 90_500],
            in_period: [true, false],
            seat: 0,
            first_move_ms: None,
        };
        assert_eq!(
            time_left(&times),
            ["time_left black 29 1", "time_left white 90 0"]
        );
    }
}
