//! UCI, from the side that uses an engine. Moves are written as on the wire.

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
    let mut missing: Vec<&str> = options.iter().map(|(name, _)| name.as_str()).collect();
    program
        .hear(deadline, |line| {
            if let Some(option) = offered(line) {
                missing.retain(|name| !name.eq_ignore_ascii_case(option));
            }
            (line == "uciok").then_some(())
        })
        .await?;
    // Unsaid, the program would play as if nothing had been wished for.
    if let Some(name) = missing.first() {
        return Err(Fault::NoOption((*name).to_owned()));
    }
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

/// The name that `option name NAME type TYPE …` tells.
fn offered(line: &str) -> Option<&str> {
    let option = line.strip_prefix("option name ")?;
    let (name, _) = option.split_once(" type ")?;
    Some(name.trim())
}

/// The move of `bestmove MOVE`; other lines tell how far the thinking has come.
fn best_move(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    (words.next() == Some("bestmove")).then(|| words.next().unwrap_or_default().to_owned())
}
