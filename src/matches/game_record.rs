//! The scoresheet of a match: what was played, by whom and how it ended, in the format in which the
//! game's players keep their games. It is written from the match's events alone, and never read. Games
//! between programs, which are no matches, have one, too.

mod clock_times;
mod date;
mod pgn;
mod sgf;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use self::date::day_text;
use crate::summary::is_draw;
use crate::{Creation, Event, EventKind, Match, Occupant, ReplayError, Stage};
use plyhouse_engine::catalog::{AnyPosition, GameEntry, InitialPositionError, PlayError};
use plyhouse_engine::game::{RecordFormat, Seat};
use plyhouse_protocol::{ClockControl, EndReason, Ply};

use self::clock_times::{ClockReading, clock_readings_after_moves};
use self::date::UtcDateTime;

/// A scoresheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// Its format.
    pub format: RecordFormat,
    /// What stands on it; it ends with a line break.
    pub text: String,
}

/// There is no scoresheet of a match.
#[derive(Debug, thiserror::Error)]
pub enum GameRecordError {
    /// The game's players have no format for one.
    #[error("games of {game} are not kept in any format")]
    NoFormat {
        /// The game.
        game: &'static str,
    },
    /// The events cannot have happened.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A game cannot have begun with that position.
    #[error(transparent)]
    InitialPosition(#[from] InitialPositionError),
    /// A move cannot have been played.
    #[error(transparent)]
    InvalidMove(#[from] PlayError),
}

impl GameRecord {
    /// The scoresheet of a match, as far as it has come.
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

    /// The scoresheet of a game between programs, which was no match of a server.
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
            // The opening may continue after a draw that nobody has claimed.
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

/// The position before them, if it is not the first of the game, the moves in one line, and in the next the
/// result.
fn write_plain_text(data: &RecordData, moves: &[String]) -> String {
    let result = result_by_seat(data.result);
    let start = match data.has_custom_start {
        true => format!("{}\n", data.initial_position),
        false => String::new(),
    };
    format!("{start}{}\n{result}\n", moves.join(" "))
}

/// A game between programs that has ended.
#[derive(Clone, Debug)]
pub struct ProgramGame {
    /// What was played.
    pub game: &'static GameEntry,
    /// What it was part of.
    pub event: String,
    /// When it ended, in seconds since 1970.
    pub ended_s: u64,
    /// The programs' names, by seat.
    pub names: [String; 2],
    /// The position before the first move, in wire notation; empty for the start of the game.
    pub initial_position: String,
    /// All moves, from there.
    pub moves: Vec<String>,
    /// Who has won; nobody in a draw.
    pub winner: Option<Seat>,
    /// How. Of a draw, whether it was adjudicated.
    pub victory: Victory,
}

/// How a game was won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victory {
    /// By the rules of the game.
    Rules,
    /// The other gave up.
    Resignation,
    /// The other ran out of time.
    Timeout,
    /// The other went away, or did not play as it was agreed on.
    Forfeit,
    /// The other played what cannot be played.
    Infraction,
    /// A third party ended the game, by what the players thought of it.
    Adjudication,
}

/// What a scoresheet tells, whatever its format.
struct RecordData {
    game: &'static GameEntry,
    event: String,
    date: Option<UtcDateTime>,
    /// By seat; nobody while it is open.
    players: [Option<(String, PlayerKind)>; 2],
    clock: Option<ClockControl>,
    /// The position before the first move.
    initial_position: Box<dyn AnyPosition>,
    /// Whether that is another than the first of the game.
    has_custom_start: bool,
    moves: Vec<String>,
    /// What the mover of each ply had after it; nothing without a clock.
    clock_readings: Option<Vec<ClockReading>>,
    /// The plies for which whoever played them was told the best move.
    hinted_plies: BTreeSet<usize>,
    /// Whether a third party ended the game.
    is_adjudicated: bool,
    result: RecordResult,
    /// The points of the seats, in games that are decided by counting.
    scores: Option<[u32; 2]>,
}

/// What a player is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlayerKind {
    Human,
    Program,
}

/// A seat's colour, which formats know better than seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Color {
    Black,
    White,
}

impl RecordData {
    /// The colour of a seat. All games that are kept in formats with colours are played by black and white.
    fn seat_color(&self, seat: Seat) -> Color {
        match self.game.info.sides[seat.index()] {
            "white" => Color::White,
            _ => Color::Black,
        }
    }

    /// The name of the player who has this colour; `None` while the seat is open.
    fn player_name(&self, color: Color) -> Option<&str> {
        let has_color = |seat: &Seat| self.seat_color(*seat) == color;
        let seat = Seat::ALL.into_iter().find(has_color)?;
        let (name, _) = self.players[seat.index()].as_ref()?;
        Some(name)
    }
}

/// What is said of a move for which a hint was asked.
const HINT_COMMENT: &str = "hint";

/// The plies of the line that stands for which a hint was asked.
fn hinted_plies(events: &[Event]) -> BTreeSet<usize> {
    let mut plies = BTreeSet::new();
    let number = |ply: Ply| usize::try_from(ply.0).unwrap_or(usize::MAX);
    for event in events {
        match &event.kind {
            EventKind::Hinted { ply, .. } => {
                plies.insert(number(*ply));
            }
            // A position that has come back is the same: what was told of it is known.
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
        // The result is that of whoever sat there at the start.
        Occupant::Player { name, .. } | Occupant::StandIn { name, .. } => {
            (name.clone(), PlayerKind::Human)
        }
    })
}

/// How a game stands, as formats tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordResult {
    /// It goes on.
    Unfinished,
    /// It ended without a result.
    NoResult,
    /// Nobody has won.
    Drawn,
    /// This seat has won, and so.
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
        // Whoever is not there forfeits.
        EndReason::Abandonment | EndReason::Aborted | EndReason::Agreement => Victory::Forfeit,
    }
}
