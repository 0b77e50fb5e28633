//! `position` and what follows it.

use plyhouse_engine::catalog::{Analyst, SetUpError};

/// A position as UCI tells it: one that is written down, and moves from there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Placement {
    /// FEN; empty for the start of the game.
    from: String,
    moves: Vec<String>,
}

/// FEN's fields, and those that old programs leave out: the plies since a pawn was moved or a piece
/// captured, and the number of the move.
const FIELDS: usize = 6;
const LATE_FIELDS: [&str; 2] = ["0", "1"];

impl Placement {
    /// Reads `startpos` or `fen FEN`, and perhaps `moves` and moves.
    pub(super) fn read(words: &[&str]) -> Result<Self, &'static str> {
        let end = words.iter().position(|word| *word == "moves");
        let (from, moves) = words.split_at(end.unwrap_or(words.len()));
        let from = match from {
            ["startpos"] => String::new(),
            ["fen", fields @ ..] if !fields.is_empty() => {
                let missing = FIELDS.saturating_sub(fields.len()).min(LATE_FIELDS.len());
                let added = &LATE_FIELDS[LATE_FIELDS.len() - missing..];
                let mut fields = [fields, added].concat();
                // Some programs count moves from 0.
                if let [_, _, _, _, _, number @ "0"] = fields.as_mut_slice() {
                    *number = "1";
                }
                fields.join(" ")
            }
            _ => return Err("a position is startpos or fen FEN, and then moves"),
        };
        Ok(Self {
            from,
            moves: moves.iter().skip(1).map(|m| (*m).to_owned()).collect(),
        })
    }

    /// Sets it up.
    ///
    /// A draw that players need not claim does not end the game here, since a move is asked for. The
    /// past is forgotten then.
    pub(super) fn set_up(&self, analyst: &mut dyn Analyst) -> Result<(), SetUpError> {
        analyst.set_up(&self.from)?;
        analyst.resume();
        for m in &self.moves {
            analyst.play(m)?;
            analyst.resume();
        }
        Ok(())
    }
}
