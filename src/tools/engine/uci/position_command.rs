//! The `position` command and its arguments.

use plyhouse_engine::catalog::{AnalysisBoard, SetUpError};

/// Arguments of `position`: a start position, and moves from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PositionCommand {
    /// Fields of the FEN after the keyword `fen`. Empty for the initial position.
    fen_fields: Vec<String>,
    moves: Vec<String>,
}

impl PositionCommand {
    /// Parses `startpos` or `fen FEN`, optionally followed by `moves` and the moves.
    pub(super) fn parse(words: &[&str]) -> Result<Self, &'static str> {
        let end = words.iter().position(|word| *word == "moves");
        let (start, moves) = words.split_at(end.unwrap_or(words.len()));
        let fen_fields = match start {
            ["startpos"] => &[],
            ["fen", fields @ ..] if !fields.is_empty() => fields,
            _ => return Err("expected startpos or fen FEN, optionally followed by moves"),
        };
        Ok(Self {
            fen_fields: fen_fields.iter().map(|&field| field.to_owned()).collect(),
            moves: moves.iter().skip(1).map(|m| (*m).to_owned()).collect(),
        })
    }

    /// Sets up the position.
    ///
    /// A draw that players must claim does not end the game here, because the GUI still requests a
    /// move. After such a draw, the method clears the history of the board.
    pub(super) fn set_up(&self, analysis_board: &mut dyn AnalysisBoard) -> Result<(), String> {
        analysis_board
            .set_up(&self.fen_fields.join(" "))
            .map_err(|error| match error {
                // `position_error` says why the text is not a position. The error also says why the
                // text is not a list of moves, but the argument of `fen` must be a position.
                SetUpError::Unreadable { position_error, .. } => position_error.to_string(),
                SetUpError::UnreadableMove { .. } | SetUpError::Illegal { .. } => error.to_string(),
            })?;
        analysis_board.resume();
        for (ply, m) in self.moves.iter().enumerate() {
            let number = ply + 1;
            let result = analysis_board.play_moves(m);
            result.map_err(|error| match error {
                SetUpError::UnreadableMove { text, reason, .. }
                | SetUpError::Unreadable {
                    text,
                    move_error: reason,
                    ..
                } => format!("move {number} {text:?}: {reason}"),
                SetUpError::Illegal { reason, .. } => format!("move {number}: {reason}"),
            })?;
            analysis_board.resume();
        }
        Ok(())
    }
}
