//! UCI, as whoever uses an engine speaks it. Moves are written as on the wire.

use std::time::Duration;

use super::Answer;
use crate::bot::program::{Deadline, Fault, Program};

/// Introduces both sides, and sets the options.
pub(super) async fn greet(
    program: &mut Program,
    options: &[(String, String)],
    deadline: &Deadline,
) -> Result<(), Fault> {
    program.say("uci").await?;
    program
        .hear(deadline, |line| (line == "uciok").then_some(()))
        .await?;
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

/// The engine's move after these.
pub(super) async fn choose(
    program: &mut Program,
    moves: &[String],
    think: Duration,
    deadline: &Deadline,
) -> Result<Answer, Fault> {
    let mut position = "position startpos".to_owned();
    if !moves.is_empty() {
        position += " moves ";
        position += &moves.join(" ");
    }
    program
        .say(&format!("{position}\ngo movetime {}", think.as_millis()))
        .await?;
    let best = program.hear(deadline, best_move).await?;
    match best.as_str() {
        "" | "(none)" | "0000" => Err(Fault::Nonsense(format!("bestmove {best}"))),
        _ => Ok(Answer::Move(best)),
    }
}

/// The move of `bestmove MOVE`; other lines tell how far the thinking has come.
fn best_move(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    (words.next() == Some("bestmove")).then(|| words.next().unwrap_or_default().to_owned())
}
