//! From the server's own types to those of the wire.

use plyhouse_engine::catalog::CATALOG;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::{Occupant, Refusal, Stage};
use plyhouse_protocol::{
    ErrorCode, GameSummary, LevelSummary, Occupant as WireOccupant, SeatNumber, Status, WireError,
};

pub(super) fn status(stage: Stage) -> Status {
    match stage {
        Stage::Open => Status::Open,
        Stage::Running => Status::Running,
        Stage::Ended { .. } => Status::Ended,
    }
}

pub(super) fn seat(seat: Seat) -> SeatNumber {
    match seat {
        Seat::First => SeatNumber(0),
        Seat::Second => SeatNumber(1),
    }
}

pub(super) fn occupant(occupant: &Occupant, is_connected: bool) -> WireOccupant {
    match occupant {
        Occupant::Open => WireOccupant::Open,
        Occupant::Player { id, name } => WireOccupant::Player {
            player: *id,
            name: name.clone(),
            connected: is_connected,
        },
        Occupant::Bot(level) => WireOccupant::Bot {
            level: level.id().to_owned(),
        },
    }
}

pub(super) fn refusal(refusal: &Refusal) -> WireError {
    let mut expected = None;
    let code = match refusal {
        Refusal::MatchEnded => ErrorCode::MatchEnded,
        Refusal::MatchRunning => ErrorCode::MatchRunning,
        Refusal::MatchNotStarted => ErrorCode::MatchNotStarted,
        Refusal::AlreadySeated => ErrorCode::AlreadySeated,
        Refusal::SeatTaken => ErrorCode::SeatTaken,
        Refusal::WornOut => ErrorCode::Overloaded,
        Refusal::NotSeated => ErrorCode::NotSeated,
        Refusal::NotHost => ErrorCode::NotHost,
        Refusal::StalePly { expected: ply } => {
            expected = Some(*ply);
            ErrorCode::StalePly
        }
        Refusal::NotYourTurn => ErrorCode::NotYourTurn,
        Refusal::Unreadable(_) => ErrorCode::UnreadableMove,
        Refusal::Illegal(_) => ErrorCode::IllegalMove,
    };
    WireError {
        expected,
        ..WireError::new(code, refusal.to_string())
    }
}

pub(super) fn games() -> Vec<GameSummary> {
    CATALOG
        .iter()
        .map(|entry| GameSummary {
            game: entry.info.id.to_owned(),
            title: entry.info.title.to_owned(),
            sides: entry.info.sides.map(str::to_owned),
            files: entry.info.files.into(),
            ranks: entry.info.ranks.into(),
            record: entry.record.map(|format| format.extension().to_owned()),
        })
        .collect()
}

pub(super) fn levels() -> Vec<LevelSummary> {
    Level::ALL
        .into_iter()
        .map(|level| LevelSummary {
            level: level.id().to_owned(),
            title: level.title().to_owned(),
        })
        .collect()
}
