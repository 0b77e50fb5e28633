//! Record of a game: its players, moves and result, in the usual file format of the game. The
//! record of a match is computed from its events only. The server writes records but never parses
//! them. This module can also write records of games that programs played outside a server.

mod clock_times;
mod date;
mod pgn;
mod sgf;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use self::date::day_text;
use crate::ended_match_summary::is_draw;
use crate::{Creation, Event, EventKind, Match, Occupant, ReplayError, Stage};
use plyhouse_engine::catalog::{AnyPosition, GameEntry, InitialPositionError, PlayError};
use plyhouse_engine::game::{RecordFormat, Seat};
use plyhouse_protocol::{ClockControl, EndReason, Ply};

use self::clock_times::{ClockReading, clock_readings_after_moves};
use self::date::UtcDateTime;

/// Record of a game in a file format such as PGN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// Format of the text.
    pub format: RecordFormat,
    /// Text of the record, with a final line break.
    pub text: String,
}

/// Reason why a record cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum GameRecordError {
    /// The game has no record format.
    #[error("there is no game record format for {game}")]
    NoFormat {
        /// Id of the game.
        game: &'static str,
    },
    /// An event of the match is invalid.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The initial position is invalid.
    #[error(transparent)]
    InitialPosition(#[from] InitialPositionError),
    /// A move is unreadable or illegal.
    #[error(transparent)]
    InvalidMove(#[from] PlayError),
}

impl GameRecord {
    /// Writes the record of a match up to its last event.
    ///
    /// # Errors
    ///
    /// See [`GameRecordError`].
    pub fn from_match(creation: Creation, events: &[Event]) -> Result<Self, GameRecordError> {
        let state = Match::replay(creation, events)?;
        let scores = state.position().ending().and_then(|ending| ending.scores);
        Self::write(&RecordData {
            game: state.creation().game,
            event: format!("Plyhouse match {}", state.creation().code),
            date: UtcDateTime::from_match_id(state.id()),
            players: Seat::ALL.map(|seat| record_player(state.occupant(seat))),
            clock: state.clock(),
            initial_position: state.initial_position(),
            has_custom_start: state.custom_initial_position().is_some(),
            moves: state.moves().map(str::to_owned).collect(),
            clock_readings: clock_readings_after_moves(&state),
            hinted_plies: hinted_plies(events),
            is_adjudicated: false,
            result: record_result(&state),
            scores,
        })
    }

    /// Writes the record of a game that two programs played without a server.
    ///
    /// # Errors
    ///
    /// See [`GameRecordError`].
    pub fn from_program_game(game: ProgramGame) -> Result<Self, GameRecordError> {
        let first = game.game.initial_position();
        let start = match game.initial_position.as_str() {
            "" => first.clone_box(),
            text => game.game.parse_initial_position(text)?,
        };
        let mut position = start.clone_box();
        for m in &game.moves {
            // The game may have continued after a position where a player could have claimed a
            // draw. For example, a prescribed opening can contain such a position. The draw is
            // waived so that the next move can be played.
            position.waive_draw();
            position.play(m)?;
        }
        Self::write(&RecordData {
            game: game.game,
            event: game.event,
            date: Some(UtcDateTime::from_unix_seconds(game.ended_s)),
            players: game.names.map(|name| Some((name, PlayerKind::Program))),
            clock: None,
            has_custom_start: start.to_string() != first.to_string(),
            initial_position: start,
            moves: game.moves,
            clock_readings: None,
            hinted_plies: BTreeSet::new(),
            is_adjudicated: game.victory == Victory::Adjudication,
            result: match game.winner {
                None => RecordResult::Drawn,
                Some(winner) => RecordResult::Won(winner, game.victory),
            },
            scores: position.ending().and_then(|ending| ending.scores),
        })
    }

    fn write(data: &RecordData) -> Result<Self, GameRecordError> {
        let game = data.game;
        let format = game
            .record_format
            .ok_or(GameRecordError::NoFormat { game: game.info.id })?;
        let moves = data
            .initial_position
            .moves_to_record_notation(&data.moves)?;
        let text = match format {
            RecordFormat::Pgn => pgn::render(data, None, &moves),
            RecordFormat::Pdn { game_type } => pgn::render(data, Some(game_type), &moves),
            RecordFormat::Sgf { game, rules } => sgf::render(data, game, rules, &moves),
            RecordFormat::Txt => write_plain_text(data, &moves),
        };
        Ok(Self { format, text })
    }
}

/// Returns the result as PGN writes it, with the score of the first seat first.
const fn result_by_seat(result: RecordResult) -> &'static str {
    match result {
        RecordResult::Unfinished | RecordResult::NoResult => "*",
        RecordResult::Drawn => "1/2-1/2",
        RecordResult::Won(Seat::First, _) => "1-0",
        RecordResult::Won(Seat::Second, _) => "0-1",
    }
}

/// Writes a record as plain text. A custom initial position comes first, then all moves on one
/// line, and the result on the last line.
fn write_plain_text(data: &RecordData, moves: &[String]) -> String {
    let result = result_by_seat(data.result);
    let start = match data.has_custom_start {
        true => format!("{}\n", data.initial_position),
        false => String::new(),
    };
    format!("{start}{}\n{result}\n", moves.join(" "))
}

/// Finished game between programs.
#[derive(Clone, Debug)]
pub struct ProgramGame {
    /// Game that was played.
    pub game: &'static GameEntry,
    /// Name of the event, such as a tournament.
    pub event: String,
    /// Time at which the game ended, in seconds since 1970.
    pub ended_s: u64,
    /// Names of the programs, by seat.
    pub names: [String; 2],
    /// Initial position in wire notation; empty for the standard position of the game.
    pub initial_position: String,
    /// All moves from the initial position.
    pub moves: Vec<String>,
    /// Winning seat; `None` for a draw.
    pub winner: Option<Seat>,
    /// How the winner won the game. For a drawn game, [`Victory::Adjudication`] means that the draw
    /// was adjudicated. All other values are ignored for a drawn game.
    pub victory: Victory,
}

/// How a game was won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victory {
    /// The game ended by its rules.
    Rules,
    /// The opponent resigned.
    Resignation,
    /// The opponent ran out of time.
    Timeout,
    /// The opponent left or did not follow the agreed conditions.
    Forfeit,
    /// The opponent made an illegal move.
    Infraction,
    /// A third party stopped the game and decided it by the players' evaluations.
    Adjudication,
}

/// Contents of a game record, independent of the file format.
struct RecordData {
    game: &'static GameEntry,
    event: String,
    date: Option<UtcDateTime>,
    /// Name and kind of the player in each seat; `None` for an open seat.
    players: [Option<(String, PlayerKind)>; 2],
    clock: Option<ClockControl>,
    /// The position before the first move.
    initial_position: Box<dyn AnyPosition>,
    /// Whether the initial position differs from the standard position of the game.
    has_custom_start: bool,
    moves: Vec<String>,
    /// Remaining time of the player who moved, after each ply; `None` without a clock.
    clock_readings: Option<Vec<ClockReading>>,
    /// Plies where the player to move received a hint.
    hinted_plies: BTreeSet<usize>,
    /// Whether the result was decided by adjudication.
    is_adjudicated: bool,
    result: RecordResult,
    /// Points of each seat, in games that are decided by counting.
    scores: Option<[u32; 2]>,
}

/// Kind of a player in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlayerKind {
    Human,
    Program,
}

/// Colour of a seat. Record formats identify players by colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Color {
    Black,
    White,
}

impl RecordData {
    /// Returns the colour of a seat. The game must have a black and a white side.
    fn seat_color(&self, seat: Seat) -> Color {
        match self.game.info.sides[seat.index()] {
            "white" => Color::White,
            _ => Color::Black,
        }
    }

    /// Returns the name of the player with this colour, or `None` if the seat is open.
    fn player_name(&self, color: Color) -> Option<&str> {
        let has_color = |seat: &Seat| self.seat_color(*seat) == color;
        let seat = Seat::ALL.into_iter().find(has_color)?;
        let (name, _) = self.players[seat.index()].as_ref()?;
        Some(name)
    }
}

/// Comment that a record adds to a move that the player made after a hint.
const HINT_COMMENT: &str = "hint";

/// Returns the plies at which a player received a hint. A takeback removes the hints at all plies
/// after its target ply.
fn hinted_plies(events: &[Event]) -> BTreeSet<usize> {
    let mut plies = BTreeSet::new();
    let number = |ply: Ply| usize::try_from(ply.0).unwrap_or(usize::MAX);
    for event in events {
        match &event.kind {
            EventKind::Hinted { ply, .. } => {
                plies.insert(number(*ply));
            }
            // A takeback to a ply where the player received a hint restores the position of that
            // hint. The hint therefore stays in the record.
            EventKind::TakenBack { ply, .. } => plies.retain(|hinted| *hinted <= number(*ply)),
            _ => {}
        }
    }
    plies
}

fn record_player(occupant: &Occupant) -> Option<(String, PlayerKind)> {
    Some(match occupant {
        Occupant::Open => return None,
        Occupant::Bot(level) => (format!("Plyhouse bot ({level})"), PlayerKind::Program),
        // A record names the player who holds the seat, even if a stand-in finished the match.
        Occupant::Player { name, .. } | Occupant::StandIn { name, .. } => {
            (name.clone(), PlayerKind::Human)
        }
    })
}

/// Result of a game in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordResult {
    /// The game has not ended.
    Unfinished,
    /// The game ended without a result.
    NoResult,
    /// The game is a draw.
    Drawn,
    /// The given seat won in the given way.
    Won(Seat, Victory),
}

fn record_result(state: &Match) -> RecordResult {
    match state.stage() {
        Stage::Open | Stage::Running => RecordResult::Unfinished,
        Stage::Ended {
            winner: Some(winner),
            reason,
            ..
        } => RecordResult::Won(winner, victory_by(reason)),
        Stage::Ended { reason, .. } if is_draw(reason) => RecordResult::Drawn,
        Stage::Ended { .. } => RecordResult::NoResult,
    }
}

const fn victory_by(reason: EndReason) -> Victory {
    match reason {
        EndReason::Rules => Victory::Rules,
        EndReason::Resignation => Victory::Resignation,
        EndReason::Timeout => Victory::Timeout,
        // A player who abandons the match forfeits it. An aborted match and a draw by agreement
        // have no winner, so `Aborted` and `Agreement` cannot occur here.
        EndReason::Abandonment | EndReason::Aborted | EndReason::Agreement => Victory::Forfeit,
    }
}
