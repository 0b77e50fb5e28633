//! The scoresheet of a match: what was played, by whom and how it ended, in the format in which the
//! game's players keep their games. It is written from the match's events alone, and never read.

mod date;
mod pgn;
mod sgf;
#[cfg(test)]
mod tests;
mod timing;

use crate::{Creation, Damaged, Event, Match, Occupant, Stage};
use plyhouse_engine::catalog::PlayError;
use plyhouse_engine::game::{RecordFormat, Seat};
use plyhouse_protocol::Reason;

/// A scoresheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scoresheet {
    /// Its format.
    pub format: RecordFormat,
    /// What stands on it; it ends with a line break.
    pub text: String,
}

/// There is no scoresheet of a match.
#[derive(Debug, thiserror::Error)]
pub enum NoScoresheet {
    /// The game's players have no format for one.
    #[error("games of {game} are not kept in any format")]
    NoFormat {
        /// The game.
        game: &'static str,
    },
    /// The events cannot have happened.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// A move cannot have been played.
    #[error(transparent)]
    NotPlayed(#[from] PlayError),
}

impl Scoresheet {
    /// The scoresheet of a match, as far as it has come.
    ///
    /// # Errors
    ///
    /// See [`NoScoresheet`].
    pub fn of(creation: Creation, events: &[Event]) -> Result<Self, NoScoresheet> {
        let game = creation.game;
        let format = game
            .record
            .ok_or(NoScoresheet::NoFormat { game: game.info.id })?;
        let state = Match::replay(creation, events)?;
        let moves = game.recorded(state.moves())?;
        let text = match format {
            RecordFormat::Pgn => pgn::text(&state, None, &moves),
            RecordFormat::Pdn { game_type } => pgn::text(&state, Some(game_type), &moves),
            RecordFormat::Sgf { game, rules } => sgf::text(&state, game, rules, &moves),
        };
        Ok(Self { format, text })
    }
}

/// A seat's colour, which formats know better than seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Color {
    Black,
    White,
}

/// The colour of a seat. All games that are kept are played by black and white.
fn color(state: &Match, seat: Seat) -> Color {
    match state.creation().game.info.sides[seat.index()] {
        "white" => Color::White,
        _ => Color::Black,
    }
}

/// The name of the occupant who has this colour; `None` while the seat is open.
fn name(state: &Match, wanted: Color) -> Option<String> {
    let has = |seat: &Seat| color(state, *seat) == wanted;
    let seat = Seat::ALL.into_iter().find(has)?;
    match state.occupant(seat) {
        Occupant::Open => None,
        Occupant::Player { name, .. } => Some(name.clone()),
        Occupant::Bot(level) => Some(format!("Plyhouse bot ({level})")),
        // The result is that of whoever sat there at the start.
        Occupant::StandIn { name, .. } => Some(name.clone()),
    }
}

/// How a match stands, as formats tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It goes on.
    Open,
    /// It ended without a result.
    Void,
    /// Nobody has won.
    Drawn,
    /// This colour has won, for this reason.
    Won(Color, Reason),
}

fn verdict(state: &Match) -> Verdict {
    match state.stage() {
        Stage::Open | Stage::Running => Verdict::Open,
        Stage::Ended {
            winner: Some(winner),
            reason,
            ..
        } => Verdict::Won(color(state, winner), reason),
        Stage::Ended {
            reason: Reason::Rules | Reason::Agreement | Reason::Timeout,
            ..
        } => Verdict::Drawn,
        Stage::Ended { .. } => Verdict::Void,
    }
}
