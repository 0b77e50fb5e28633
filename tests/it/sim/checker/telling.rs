//! What the protocol's page has a server tell about a match. Written anew and not borrowed from the
//! server, which is what is being checked.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{EventKind, Match, Occupant, Stage};
use plyhouse_protocol::{Ending, PlayerId, Ply, Reason, SeatNumber, Snapshot, Status};

fn number(seat: Seat) -> SeatNumber {
    SeatNumber(u8::from(seat == Seat::Second))
}

/// An occupant as it is told, but for whether a player is connected.
fn occupant(occupant: &Occupant) -> plyhouse_protocol::Occupant {
    match occupant {
        Occupant::Open => plyhouse_protocol::Occupant::Open,
        Occupant::Player { id, name } => plyhouse_protocol::Occupant::Player {
            player: *id,
            name: name.clone(),
            connected: false,
        },
        Occupant::Bot(level) => plyhouse_protocol::Occupant::Bot {
            level: level.to_string(),
        },
    }
}

/// The event that has made this state, as it is told.
pub(super) fn as_told(state: &Match, event: &EventKind) -> plyhouse_protocol::Event {
    let (match_id, seq) = (state.id(), state.seq());
    let position = state.position();
    match event {
        EventKind::Seated {
            seat,
            occupant: who,
        } => plyhouse_protocol::Event::Seated {
            match_id,
            seq,
            seat: number(*seat),
            occupant: occupant(who),
        },
        EventKind::Started => plyhouse_protocol::Event::Started {
            match_id,
            seq,
            position: position.to_string(),
            ply: Ply(0),
            turn: SeatNumber(0),
            legal: position.legal_moves(),
        },
        EventKind::Moved { seat, m } => plyhouse_protocol::Event::Moved {
            match_id,
            seq,
            ply: Ply(state.ply().0 - 1),
            seat: number(*seat),
            m: m.clone(),
            position: position.to_string(),
            turn: (position.outcome().is_none()).then(|| number(position.turn())),
            legal: position.legal_moves(),
        },
        EventKind::Ended { winner, reason } => plyhouse_protocol::Event::Ended {
            match_id,
            seq,
            outcome: ending(state, *winner, *reason),
        },
    }
}

fn ending(state: &Match, winner: Option<Seat>, reason: Reason) -> Ending {
    let (way, line) = match reason {
        Reason::Rules => (state.position().ending(), state.position().line()),
        Reason::Resignation | Reason::Abandonment | Reason::Aborted => (None, None),
    };
    Ending {
        winner: winner.map(number),
        reason: Some(reason),
        detail: way.map(|way| way.detail.to_owned()),
        scores: way.and_then(|way| way.scores),
        line,
    }
}

/// Whether a snapshot for this player shows this state.
pub(super) fn shows(snapshot: &Snapshot, state: &Match, player: Option<PlayerId>) -> bool {
    let (status, outcome) = match state.stage() {
        Stage::Open => (Status::Open, None),
        Stage::Running => (Status::Running, None),
        Stage::Ended { winner, reason } => (Status::Ended, Some(ending(state, winner, reason))),
    };
    let legal = match state.turn() {
        Some(_) => state.position().legal_moves(),
        None => Vec::new(),
    };
    let you = player.and_then(|player| state.seat_of(player)).map(number);
    let creation = state.creation();
    has_seats(snapshot, state)
        && snapshot.code == creation.code.to_string()
        && (snapshot.game == creation.game.info.id && snapshot.host == creation.host)
        && (snapshot.status == status && snapshot.outcome == outcome && snapshot.you == you)
        && (snapshot.ply == state.ply() && snapshot.turn == state.turn().map(number))
        && snapshot.position == state.position().to_string()
        && snapshot.legal == legal
        && snapshot.moves.iter().map(String::as_str).eq(state.moves())
}

fn has_seats(snapshot: &Snapshot, state: &Match) -> bool {
    snapshot.seats.iter().zip(Seat::ALL).all(|(shown, seat)| {
        let mut shown = shown.occupant.clone();
        if let plyhouse_protocol::Occupant::Player { connected, .. } = &mut shown {
            *connected = false;
        }
        shown == occupant(state.occupant(seat))
    })
}
