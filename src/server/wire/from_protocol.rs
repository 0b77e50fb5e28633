//! Converts protocol types to the server's own types. Also looks up games and levels by name.

use uuid::Uuid;

use plyhouse_engine::catalog::{self, CATALOG, GameEntry};
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::Action;
use plyhouse_protocol::{
    ErrorCode, PlayerId, PlayerKind, PlayerSummary, SeatFill, SeatNumber, SessionId, WireError,
};
use plyhouse_store::{PlayerRecord, SessionSelection};

pub(crate) fn seat(number: SeatNumber) -> Seat {
    Seat::from_number(number.0).expect("the request decoder accepts only 0 and 1")
}

/// Converts a host's request to change the occupant of a seat into a match action.
pub(crate) fn seat_action(
    by: PlayerId,
    number: SeatNumber,
    occupant: &SeatFill,
) -> Result<Action, WireError> {
    let seat = seat(number);
    match occupant {
        SeatFill::Open => Ok(Action::RemoveBot { by, seat }),
        SeatFill::Bot(id) => {
            let level = level(id)?;
            Ok(Action::SeatBot { by, seat, level })
        }
    }
}

/// Parses the id of a player.
pub(crate) fn player_id(id: &str) -> Option<PlayerId> {
    Uuid::try_parse(id.trim()).ok().map(PlayerId)
}

/// Converts a player summary that another server sent.
pub(crate) fn player_record(summary: PlayerSummary) -> PlayerRecord {
    PlayerRecord {
        id: summary.id,
        name: summary.name,
        kind: match (summary.account, summary.bot) {
            (_, true) => PlayerKind::Bot,
            (true, false) => PlayerKind::Account,
            (false, false) => PlayerKind::Guest,
        },
    }
}

/// Parses which sessions to end: `others`, `all` or the id of a session. Returns `None` for any
/// other text.
pub(crate) fn session_selection(text: &str, own: SessionId) -> Option<SessionSelection> {
    match text.trim() {
        "others" => Some(SessionSelection::AllBut(own)),
        "all" => Some(SessionSelection::All),
        id => {
            let id = Uuid::try_parse(id).ok()?;
            Some(SessionSelection::One(SessionId(id)))
        }
    }
}

/// Returns the beginning of a text from a client in quotation marks.
fn quoted(text: &str) -> String {
    const CHARS_MAX: usize = 32;
    format!("{:?}", text.chars().take(CHARS_MAX).collect::<String>())
}

pub(crate) fn game(id: &str) -> Result<&'static GameEntry, WireError> {
    catalog::find_game(id).ok_or_else(|| {
        let games = CATALOG.iter().map(|entry| entry.info.id);
        let games = games.collect::<Vec<_>>().join(", ");
        let message = format!("unknown game {}: expected one of {games}", quoted(id));
        WireError::new(ErrorCode::UnknownGame, message)
    })
}

/// Returns the id of the game to which a request limits its results, if any.
pub(crate) fn game_filter(id: Option<&str>) -> Result<Option<&'static str>, WireError> {
    id.map(|id| Ok(game(id)?.info.id)).transpose()
}

/// Returns the maximum number of rows on the requested page of a list.
pub(crate) fn page_size(limit: Option<u64>) -> usize {
    const DEFAULT_ROWS: u64 = 50;
    usize::try_from(limit.unwrap_or(DEFAULT_ROWS)).unwrap_or(usize::MAX)
}

pub(crate) fn level(id: &str) -> Result<Level, WireError> {
    id.parse().map_err(|_| {
        let levels = Level::ALL.map(Level::id).join(", ");
        let message = format!("unknown level {}: expected one of {levels}", quoted(id));
        WireError::new(ErrorCode::UnknownLevel, message)
    })
}
