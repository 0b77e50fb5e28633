//! Computes the messages about a match that the server must send according to the protocol
//! documentation. The code is independent of the server because the server is under test.

use plyhouse_engine::game::Seat;
use plyhouse_matches::{EventKind, Match, Occupant, Offer, RemainingTime, Stage};
use plyhouse_protocol::{
    ClockControl, EndDetail, EndReason, Ending, MatchStatus, NamedPlayer, OfferKind, OfferState,
    PlayerId, PlayerKind, Ply, SeatNumber, Snapshot, TimeLeft,
};

fn seat_number(seat: Seat) -> SeatNumber {
    SeatNumber(u8::from(seat == Seat::Second))
}

/// Converts an occupant to the form that the protocol uses, with `connected` set to false.
pub(super) fn wire_occupant(occupant: &Occupant) -> plyhouse_protocol::Occupant {
    match occupant {
        Occupant::Open => plyhouse_protocol::Occupant::Open,
        Occupant::Player {
            id,
            name,
            kind,
            rating,
        } => plyhouse_protocol::Occupant::Player {
            player: *id,
            name: name.clone(),
            connected: false,
            account: kind.is_account(),
            bot: *kind == PlayerKind::Bot,
            rating: *rating,
        },
        Occupant::Bot(level) => plyhouse_protocol::Occupant::Bot {
            level: level.to_string(),
            stand_in_for: None,
        },
        Occupant::StandIn {
            level,
            player,
            name,
            ..
        } => plyhouse_protocol::Occupant::Bot {
            level: level.to_string(),
            stand_in_for: Some(NamedPlayer {
                player: *player,
                name: name.clone(),
            }),
        },
    }
}

/// Returns the protocol event that reports a stored event. `state` is the match after the event.
#[allow(clippy::too_many_lines, reason = "a line for each kind of event")]
pub(super) fn expected_event(state: &Match, event: &EventKind) -> plyhouse_protocol::Event {
    let (match_id, seq) = (state.id(), state.seq());
    let position = state.position();
    match event {
        EventKind::Seated {
            seat,
            occupant: new_occupant,
        } => plyhouse_protocol::Event::Seated {
            match_id,
            seq,
            seat: seat_number(*seat),
            occupant: wire_occupant(new_occupant),
        },
        EventKind::Started { remaining: left } => plyhouse_protocol::Event::Started {
            match_id,
            seq,
            position: position.to_string(),
            check: position.in_check(),
            ply: Ply(0),
            turn: seat_number(position.turn()),
            legal: position.legal_moves(),
            time_left: left.map(time_left),
            first_move_ms: first_move_ms(state),
            absence_limit_ms: state.absence_limit_ms(),
        },
        EventKind::Moved {
            seat,
            m,
            spent_ms,
            remaining: left,
        } => plyhouse_protocol::Event::Moved {
            match_id,
            seq,
            ply: Ply(state.ply().0 - 1),
            next_ply: state.ply(),
            seat: seat_number(*seat),
            m: m.clone(),
            san: san_moves(state).and_then(|mut sans| sans.pop()),
            position: position.to_string(),
            check: position.in_check(),
            turn: (position.outcome().is_none()).then(|| seat_number(position.turn())),
            legal: position.legal_moves(),
            time_left: left.map(time_left),
            spent_ms: *spent_ms,
            first_move_ms: first_move_ms(state),
        },
        EventKind::Offered {
            seat,
            offer,
            ply,
            to_ply,
        } => plyhouse_protocol::Event::Offered {
            match_id,
            seq,
            offer: OfferState {
                seat: seat_number(*seat),
                offer: offer_kind(*offer),
                ply: *ply,
                to_ply: *to_ply,
            },
        },
        EventKind::Declined { seat, offer, by } => plyhouse_protocol::Event::Declined {
            match_id,
            seq,
            seat: seat_number(*seat),
            offer: offer_kind(*offer),
            by: seat_number(*by),
        },
        EventKind::TakenBack {
            ply,
            remaining: left,
        } => plyhouse_protocol::Event::TakenBack {
            match_id,
            seq,
            ply: *ply,
            position: position.to_string(),
            check: position.in_check(),
            turn: seat_number(position.turn()),
            legal: position.legal_moves(),
            time_left: left.map(time_left),
            first_move_ms: first_move_ms(state),
            takebacks: state.takebacks(),
        },
        EventKind::TimeGiven {
            seat,
            ms,
            remaining: left,
        } => plyhouse_protocol::Event::TimeGiven {
            match_id,
            seq,
            seat: seat_number(*seat),
            ms: *ms,
            time_left: time_left(*left),
        },
        EventKind::Hinted { seat, ply } => plyhouse_protocol::Event::Hinted {
            match_id,
            seq,
            seat: seat_number(*seat),
            ply: *ply,
        },
        EventKind::Ended {
            remaining: left, ..
        } => plyhouse_protocol::Event::Ended {
            match_id,
            seq,
            outcome: expected_ending(state).expect("the match has ended"),
            time_left: left.map(time_left),
        },
    }
}

/// Returns the moves in standard algebraic notation, for chess only.
fn san_moves(state: &Match) -> Option<Vec<String>> {
    let moves: Vec<String> = state.moves().map(str::to_owned).collect();
    let is_chess = state.creation().game.info.id == "chess";
    is_chess.then(|| {
        state
            .initial_position()
            .moves_to_record_notation(&moves)
            .expect("recorded moves are legal")
    })
}

pub(super) fn time_left(left: RemainingTime) -> TimeLeft {
    TimeLeft {
        left_ms: left.remaining_ms(),
        periods: left.periods(),
    }
}

fn offer_kind(offer: Offer) -> OfferKind {
    match offer {
        Offer::Draw => OfferKind::Draw,
        Offer::Takeback => OfferKind::Takeback,
    }
}

/// Returns the time limit for the first ply of a player, or `None` for later plies. The server
/// sends events at the start of the turn, so they report the full limit.
fn first_move_ms(state: &Match) -> Option<u64> {
    let clock = state.clock()?;
    let seat = state.turn()?;
    let is_first = state.moves().count() < 2 && state.position().outcome().is_none();
    let is_player = matches!(state.occupant(seat), Occupant::Player { .. });
    (is_first && is_player).then_some(match clock {
        ClockControl::Move { move_ms } => move_ms,
        _ => 30_000,
    })
}

fn expected_ending(state: &Match) -> Option<Ending> {
    let Stage::Ended {
        winner,
        reason,
        detail,
        by,
    } = state.stage()
    else {
        return None;
    };
    let (position_ending, line) = match reason {
        EndReason::Rules => (state.position().ending(), state.position().winning_line()),
        EndReason::Resignation
        | EndReason::Abandonment
        | EndReason::Aborted
        | EndReason::Timeout
        | EndReason::Agreement => (None, None),
    };
    let ending_detail = position_ending
        .map(|way| way.detail)
        .or(detail.map(EndDetail::as_str));
    Some(Ending {
        winner: winner.map(seat_number),
        reason: Some(reason),
        detail: ending_detail.map(str::to_owned),
        by: by.map(seat_number),
        scores: position_ending.and_then(|way| way.scores),
        line,
    })
}

/// Returns whether a snapshot that the server sent to `player` shows the given match state.
pub(super) fn snapshot_matches(
    snapshot: &Snapshot,
    state: &Match,
    player: Option<PlayerId>,
) -> bool {
    let status = match state.stage() {
        Stage::Open => MatchStatus::Open,
        Stage::Running => MatchStatus::Running,
        Stage::Ended { .. } => MatchStatus::Ended,
    };
    let outcome = expected_ending(state);
    let legal = match state.turn() {
        Some(_) => state.position().legal_moves(),
        None => Vec::new(),
    };
    let you = player
        .and_then(|player| state.seat_of(player))
        .map(seat_number);
    let creation = state.creation();
    seats_match(snapshot, state)
        && snapshot.code == creation.code.to_string()
        && (snapshot.game == creation.game.info.id && snapshot.host == creation.host)
        && (snapshot.status == status && snapshot.outcome == outcome && snapshot.you == you)
        && (snapshot.ply == state.ply() && snapshot.turn == state.turn().map(seat_number))
        && snapshot.position == state.position().to_string()
        && (snapshot.check == state.position().in_check() && snapshot.san == san_moves(state))
        && snapshot.initial_position == creation.terms.initial_position
        && snapshot.legal == legal
        && (snapshot.clock == state.clock()
            && snapshot.time_left == state.remaining_time().map(time_left))
        && snapshot.takebacks == state.takebacks()
        && snapshot.offers.len() == state.pending_offers().count()
        && snapshot.moves.iter().map(String::as_str).eq(state.moves())
}

fn seats_match(snapshot: &Snapshot, state: &Match) -> bool {
    snapshot.seats.iter().zip(Seat::ALL).all(|(shown, seat)| {
        let mut shown = shown.occupant.clone();
        if let plyhouse_protocol::Occupant::Player { connected, .. } = &mut shown {
            *connected = false;
        }
        shown == wire_occupant(state.occupant(seat))
    })
}
