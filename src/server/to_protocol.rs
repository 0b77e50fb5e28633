//! From the server's own types to those of the wire.

use crate::catalog::{AnyPosition, CATALOG};
use crate::game::Seat;
use crate::matches::{self, Match, Occupant, Refusal, Stage, Termination};
use crate::protocol::{
    Ending, ErrorCode, Event, GameSummary, LevelSummary, Occupant as WireOccupant, PlayerId,
    Reason, RequestId, SeatNumber, SeatState, Snapshot, Status, WireError,
};
use crate::search::Level;

pub(super) fn seat(seat: Seat) -> SeatNumber {
    match seat {
        Seat::First => SeatNumber(0),
        Seat::Second => SeatNumber(1),
    }
}

pub(super) fn status(stage: Stage) -> Status {
    match stage {
        Stage::Open => Status::Open,
        Stage::Running => Status::Running,
        Stage::Ended { .. } => Status::Ended,
    }
}

pub(super) fn occupant(
    occupant: &Occupant,
    is_connected: impl Fn(PlayerId) -> bool,
) -> WireOccupant {
    match occupant {
        Occupant::Open => WireOccupant::Open,
        Occupant::Player { id, name } => WireOccupant::Player {
            player: *id,
            name: name.clone(),
            connected: is_connected(*id),
        },
        Occupant::Bot(level) => WireOccupant::Bot {
            level: level.id().to_owned(),
        },
    }
}

pub(super) fn seats(state: &Match, is_connected: impl Fn(PlayerId) -> bool) -> [SeatState; 2] {
    Seat::ALL.map(|seat| SeatState {
        side: state.creation().game.info.sides[seat.index()].to_owned(),
        occupant: occupant(state.occupant(seat), &is_connected),
    })
}

/// An event that has just become part of `state`.
pub(super) fn event(
    state: &Match,
    event: &matches::Event,
    is_connected: impl Fn(PlayerId) -> bool,
) -> Event {
    let (match_id, seq) = (state.id(), state.seq());
    match event {
        matches::Event::Seated {
            seat: place,
            occupant: who,
        } => Event::Seated {
            match_id,
            seq,
            seat: seat(*place),
            occupant: occupant(who, is_connected),
        },
        matches::Event::Started => Event::Started {
            match_id,
            seq,
            position: state.position().to_string(),
            ply: state.ply(),
            turn: seat(state.position().turn()),
            legal: state.position().legal_moves(),
        },
        matches::Event::Moved { seat: by, m } => Event::Moved {
            match_id,
            seq,
            ply: crate::protocol::Ply(state.ply().0 - 1),
            seat: seat(*by),
            m: m.clone(),
            position: state.position().to_string(),
            turn: state
                .position()
                .outcome()
                .is_none()
                .then(|| seat(state.position().turn())),
            legal: state.position().legal_moves(),
        },
        matches::Event::Ended {
            winner,
            termination,
        } => Event::Ended {
            match_id,
            seq,
            outcome: ending(state, *winner, *termination),
        },
    }
}

fn ending(state: &Match, winner: Option<Seat>, termination: Termination) -> Ending {
    let reason = match termination {
        Termination::Rules => Reason::Rules,
        Termination::Resignation => Reason::Resignation,
        Termination::Abandonment => Reason::Abandonment,
        Termination::Aborted => Reason::Aborted,
    };
    // The position tells more only where it is what ended the match.
    let last = (reason == Reason::Rules).then(|| state.position());
    let way = last.and_then(AnyPosition::ending);
    Ending {
        winner: winner.map(seat),
        reason,
        detail: way.map(|way| way.detail.to_owned()),
        scores: way.and_then(|way| way.scores),
        line: last.and_then(AnyPosition::line),
    }
}

/// The match as it stands, for one player.
pub(super) fn snapshot(
    state: &Match,
    re: Option<RequestId>,
    recipient: PlayerId,
    is_connected: impl Fn(PlayerId) -> bool,
    spectators: u64,
) -> Snapshot {
    let creation = state.creation();
    let turn = state.turn();
    Snapshot {
        re,
        match_id: creation.id,
        code: creation.code.to_string(),
        seq: state.seq(),
        game: creation.game.info.id.to_owned(),
        status: status(state.stage()),
        host: creation.host,
        listed: creation.listed,
        you: state.seat_of(recipient).map(seat),
        seats: seats(state, is_connected),
        position: state.position().to_string(),
        ply: state.ply(),
        turn: turn.map(seat),
        moves: state.moves().map(str::to_owned).collect(),
        legal: turn
            .map(|_| state.position().legal_moves())
            .unwrap_or_default(),
        spectators,
        outcome: match state.stage() {
            Stage::Open | Stage::Running => None,
            Stage::Ended {
                winner,
                termination,
            } => Some(ending(state, winner, termination)),
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
