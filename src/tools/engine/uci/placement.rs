//! `position` and what follows it.

use plyhouse_engine::catalog::{AnalysisBoard, SetUpError};

/// A position as UCI tells it: one that is written down, and moves from there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Placement {
    /// What stands behind `fen`; nothing for the start of the game.
    from: Vec<String>,
    moves: Vec<String>,
}

impl Placement {
    /// Reads `startpos` or `fen FEN`, and perhaps `moves` and moves.
    pub(super) fn read(words: &[&str]) -> Result<Self, &'static str> {
        let end = words.iter().position(|word| *word == "moves");
        let (from, moves) = words.split_at(end.unwrap_or(words.len()));
        let from = match from {
            ["startpos"] => &[],
            ["fen", fields @ ..] if !fields.is_empty() => fields,
            _ => return Err("a position is startpos or fen FEN, and then moves"),
        };
        Ok(Self {
            from: from.iter().map(|&field| field.to_owned()).collect(),
            moves: moves.iter().skip(1).map(|m| (*m).to_owned()).collect(),
        })
    }

    /// Sets it up.
    ///
    /// A draw that players need not claim does not end the game here, since a move is asked for. The
    /// past is forgotten then.
    pub(super) fn set_up(&self, analyst: &mut dyn AnalysisBoard) -> Result<(), String> {
        analyst
            .set_up(&self.from.join(" "))
            .map_err(|error| match error {
                // That it is no move either is no help to whoever wrote a position.
                SetUpError::Unreadable {
                    position_error: position,
                    ..
                } => position.to_string(),
                SetUpError::UnreadableMove { .. } | SetUpError::Illegal { .. } => error.to_string(),
            })?;
        analyst.resume();
        for (ply, m) in self.moves.iter().enumerate() {
            let played = analyst.play_moves(m);
            played.map_err(|error| match error {
                SetUpError::UnreadableMove {
                    text, reason: why, ..
                } => {
                    format!("move {}: {text:?} is {why}", ply + 1)
                }
                SetUpError::Illegal { reason: why, .. } => format!("move {}: {why}", ply + 1),
                SetUpError::Unreadable {
                    text,
                    move_error: m,
                    ..
                } => {
                    format!("move {}: {text:?} is {m}", ply + 1)
                }
            })?;
            analyst.resume();
        }
        Ok(())
    }
}
