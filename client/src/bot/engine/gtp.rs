//! GTP 2, from the side that uses an engine. Moves are written as on the wire.

use std::time::Duration;

use plyhouse_protocol::GameSummary;

use super::Answer;
use crate::bot::program::{Deadline, Fault, Program};
use crate::customs::KOMI;

/// The colours of the seats.
const COLORS: [&str; 2] = ["black", "white"];

/// Sets up an empty board.
pub(super) async fn greet(
    program: &mut Program,
    game: &GameSummary,
    think: Duration,
    deadline: &Deadline,
) -> Result<(), Fault> {
    for command in [
        format!("boardsize {}", game.files),
        "clear_board".to_owned(),
        format!("komi {KOMI}"),
    ] {
        ask(program, &command, deadline).await?;
    }
    // The time for each move. An engine that keeps no clock answers `?`, which is no fault.
    let seconds = think.as_millis().div_ceil(1000);
    match ask(program, &format!("time_settings 0 {seconds} 1"), deadline).await {
        Ok(_) | Err(Fault::Nonsense(_)) => Ok(()),
        Err(fault) => Err(fault),
    }
}

/// The engine's move after these. It is told those that it does not know yet, and begins anew if
/// others have come before.
pub(super) async fn choose(
    program: &mut Program,
    told: &mut Vec<String>,
    moves: &[String],
    deadline: &Deadline,
) -> Result<Answer, Fault> {
    if !moves.starts_with(told) {
        ask(program, "clear_board", deadline).await?;
        told.clear();
    }
    for m in &moves[told.len()..] {
        let color = COLORS[told.len() % 2];
        ask(program, &format!("play {color} {m}"), deadline).await?;
        told.push(m.clone());
    }
    let color = COLORS[told.len() % 2];
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

/// What a command is answered with; an answer that begins with `?` is a fault.
async fn ask(program: &mut Program, command: &str, deadline: &Deadline) -> Result<String, Fault> {
    program.say(command).await?;
    let answer = |line: &str| line.starts_with(['=', '?']).then(|| line.to_owned());
    let line = program.hear(deadline, answer).await?;
    match line.strip_prefix('=') {
        Some(text) => Ok(text.trim().to_owned()),
        None => Err(Fault::Nonsense(line)),
    }
}
