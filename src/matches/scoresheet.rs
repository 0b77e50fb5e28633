//! The scoresheet of a match: what was played, by whom and how it ended, in the format in which the
//! game's players keep their games. It is written from the match's events alone, and never read. Games
//! between programs, which are no matches, have one, too.

mod date;
mod pgn;
mod sgf;
#[cfg(test)]
mod tests;
mod timing;

use std::collections::BTreeSet;

pub use self::date::day_text;
use crate::archived::is_draw;
use crate::{Creation, Event, EventKind, Match, Occupant, ReplayError, Stage};
use plyhouse_engine::catalog::{AnyPosition, GameEntry, InitialPositionError, PlayError};
use plyhouse_engine::game::{RecordFormat, Seat};
use plyhouse_protocol::{ClockControl, Ply, Reason};

use self::date::Date;
use self::timing::{Left, after_moves};

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
    Damaged(#[from] ReplayError),
    /// A game cannot have begun with that position.
    #[error(transparent)]
    NotBegun(#[from] InitialPositionError),
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
        let state = Match::replay(creation, events)?;
        let scores = state.position().ending().and_then(|ending| ending.scores);
        Self::written(&Facts {
            game: state.creation().game,
            event: format!("Plyhouse match {}", state.creation().code),
            date: Date::of(state.id()),
            players: Seat::ALL.map(|seat| player(state.occupant(seat))),
            clock: state.clock(),
            start: state.start(),
            is_set_up: state.start_apart().is_some(),
            moves: state.moves().map(str::to_owned).collect(),
            clocks: after_moves(&state),
            hinted: hinted(events),
            is_adjudicated: false,
            verdict: verdict(&state),
            scores,
        })
    }

    /// The scoresheet of a game between programs, which was no match of a server.
    ///
    /// # Errors
    ///
    /// See [`NoScoresheet`].
    pub fn of_programs(game: ProgramGame) -> Result<Self, NoScoresheet> {
        let first = game.game.initial_position();
        let start = match game.start.as_str() {
            "" => first.clone_box(),
            text => game.game.parse_initial_position(text)?,
        };
        let mut position = start.clone_box();
        for m in &game.moves {
            // The opening may continue after a draw that nobody has claimed.
            position.waive_draw();
            position.play(m)?;
        }
        Self::written(&Facts {
            game: game.game,
            event: game.event,
            date: Some(Date::of_unix(game.ended_s)),
            players: game.names.map(|name| Some((name, PlayerKind::Program))),
            clock: None,
            is_set_up: start.to_string() != first.to_string(),
            start,
            moves: game.moves,
            clocks: None,
            hinted: BTreeSet::new(),
            is_adjudicated: game.how == Victory::Adjudication,
            verdict: match game.winner {
                None => Verdict::Drawn,
                Some(winner) => Verdict::Won(winner, game.how),
            },
            scores: position.ending().and_then(|ending| ending.scores),
        })
    }

    fn written(facts: &Facts) -> Result<Self, NoScoresheet> {
        let game = facts.game;
        let format = game
            .record_format
            .ok_or(NoScoresheet::NoFormat { game: game.info.id })?;
        let moves = facts.start.moves_to_record_notation(&facts.moves)?;
        let text = match format {
            RecordFormat::Pgn => pgn::text(facts, None, &moves),
            RecordFormat::Pdn { game_type } => pgn::text(facts, Some(game_type), &moves),
            RecordFormat::Sgf { game, rules } => sgf::text(facts, game, rules, &moves),
            RecordFormat::Txt => plain(facts, &moves),
        };
        Ok(Self { format, text })
    }
}

/// Returns the result as PGN writes it, with the score of the first seat first.
const fn result_by_seat(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Open | Verdict::Void => "*",
        Verdict::Drawn => "1/2-1/2",
        Verdict::Won(Seat::First, _) => "1-0",
        Verdict::Won(Seat::Second, _) => "0-1",
    }
}

/// The position before them, if it is not the first of the game, the moves in one line, and in the next the
/// result.
fn plain(facts: &Facts, moves: &[String]) -> String {
    let result = result_by_seat(facts.verdict);
    let start = match facts.is_set_up {
        true => format!("{}\n", facts.start),
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
    pub start: String,
    /// All moves, from there.
    pub moves: Vec<String>,
    /// Who has won; nobody in a draw.
    pub winner: Option<Seat>,
    /// How. Of a draw, whether it was adjudicated.
    pub how: Victory,
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
struct Facts {
    game: &'static GameEntry,
    event: String,
    date: Option<Date>,
    /// By seat; nobody while it is open.
    players: [Option<(String, PlayerKind)>; 2],
    clock: Option<ClockControl>,
    /// The position before the first move.
    start: Box<dyn AnyPosition>,
    /// Whether that is another than the first of the game.
    is_set_up: bool,
    moves: Vec<String>,
    /// What the mover of each ply had after it; nothing without a clock.
    clocks: Option<Vec<Left>>,
    /// The plies for which whoever played them was told the best move.
    hinted: BTreeSet<usize>,
    /// Whether a third party ended the game.
    is_adjudicated: bool,
    verdict: Verdict,
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

impl Facts {
    /// The colour of a seat. All games that are kept in formats with colours are played by black and white.
    fn color(&self, seat: Seat) -> Color {
        match self.game.info.sides[seat.index()] {
            "white" => Color::White,
            _ => Color::Black,
        }
    }

    /// The name of the player who has this colour; `None` while the seat is open.
    fn name(&self, wanted: Color) -> Option<&str> {
        let has = |seat: &Seat| self.color(*seat) == wanted;
        let seat = Seat::ALL.into_iter().find(has)?;
        let (name, _) = self.players[seat.index()].as_ref()?;
        Some(name)
    }
}

/// What is said of a move for which a hint was asked.
const HINT: &str = "hint";

/// The plies of the line that stands for which a hint was asked.
fn hinted(events: &[Event]) -> BTreeSet<usize> {
    let mut hinted = BTreeSet::new();
    let number = |ply: Ply| usize::try_from(ply.0).unwrap_or(usize::MAX);
    for event in events {
        match &event.kind {
            EventKind::Hinted { ply, .. } => {
                hinted.insert(number(*ply));
            }
            // A position that has come back is the same: what was told of it is known.
            EventKind::TakenBack { ply, .. } => hinted.retain(|hinted| *hinted <= number(*ply)),
            _ => {}
        }
    }
    hinted
}

fn player(occupant: &Occupant) -> Option<(String, PlayerKind)> {
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
enum Verdict {
    /// It goes on.
    Open,
    /// It ended without a result.
    Void,
    /// Nobody has won.
    Drawn,
    /// This seat has won, and so.
    Won(Seat, Victory),
}

fn verdict(state: &Match) -> Verdict {
    match state.stage() {
        Stage::Open | Stage::Running => Verdict::Open,
        Stage::Ended {
            winner: Some(winner),
            reason,
            ..
        } => Verdict::Won(winner, victory(reason)),
        Stage::Ended { reason, .. } if is_draw(reason) => Verdict::Drawn,
        Stage::Ended { .. } => Verdict::Void,
    }
}

const fn victory(reason: Reason) -> Victory {
    match reason {
        Reason::Rules => Victory::Rules,
        Reason::Resignation => Victory::Resignation,
        Reason::Timeout => Victory::Timeout,
        // Whoever is not there forfeits.
        Reason::Abandonment | Reason::Aborted | Reason::Agreement => Victory::Forfeit,
    }
}
