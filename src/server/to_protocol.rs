//! From the server's own types to those of the wire.

use plyhouse_engine::catalog::CATALOG;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::{Match, Occupant, Refusal, Stage};
use plyhouse_protocol::{
    Ending, ErrorCode, GameSummary, LevelSummary, Occupant as WireOccupant, Reason, SeatNumber,
    Status, WireError,
};

pub(super) fn status(stage: Stage) -> Status {
    match stage {
        Stage::Open => Status::Open,
        Stage::Running => Status::Running,
        Stage::Ended { .. } => Status::Ended,
    }
}

pub(super) fn seat(seat: Seat) -> SeatNumber {
    SeatNumber(seat.number())
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

/// How a match ended. The position tells more only where it is what ended the match.
pub(super) fn ending(state: &Match, winner: Option<Seat>, reason: Reason) -> Ending {
    let position = (reason == Reason::Rules).then(|| state.position());
    let by_rules = position.and_then(|position| position.ending());
    Ending {
        winner: winner.map(seat),
        reason: Some(reason),
        detail: by_rules.map(|ending| ending.detail.to_owned()),
        scores: by_rules.and_then(|ending| ending.scores),
        line: position.and_then(|position| position.line()),
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
