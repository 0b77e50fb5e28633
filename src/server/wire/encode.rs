//! Encodes messages to clients.
//!
//! Frequent messages are written field by field, directly from the match. Building and serialising
//! the protocol types instead would take three times as long. All other messages use the protocol
//! types.

mod json_writer;
mod snapshot;

use std::cell::RefCell;

use serde::Serialize;
use serde_json::value::RawValue;

use self::json_writer::JsonWriter;
use self::snapshot::write_occupant;
pub(crate) use self::snapshot::{SnapshotContext, snapshot};
use super::to_protocol;
pub(crate) use crate::connection::outbox::Frame;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{EventKind, Match, Occupant, RemainingTime, TurnTime, first_move_limit_ms};
use plyhouse_protocol::{
    ClockState, Event as WireEvent, MatchId, Ply, RequestId, Seq, ServerMessage,
};

thread_local! {
    /// Buffer for messages that are being encoded. A finished message is copied to an allocation of
    /// its exact size. Without the buffer, a message would be reallocated several times while it
    /// grows, and would keep unused capacity.
    static BUFFER: RefCell<JsonWriter> = RefCell::default();
}

/// Encodes a message.
pub(crate) fn encode(message: &impl Serialize) -> Frame {
    write_frame(|json| {
        json.value(message);
    })
}

/// Encodes the message that `write` writes.
fn write_frame(write: impl FnOnce(&mut JsonWriter)) -> Frame {
    BUFFER.with_borrow_mut(|json| {
        json.clear();
        write(json);
        Frame::from(json.as_str())
    })
}

/// Encodes the confirmation of a request. If the request was a move, `seq` is the sequence number
/// of the move's event.
pub(crate) fn ok(re: RequestId, seq: Option<Seq>) -> Frame {
    write_frame(|json| {
        json.raw(r#"{"type":"ok","re":"#).number(re.0);
        if let Some(seq) = seq {
            json.raw(r#","seq":"#).number(seq.0);
        }
        json.raw("}");
    })
}

/// Encodes an event that has just been applied to `state`.
pub(crate) fn event(state: &Match, event: &EventKind) -> Frame {
    let (match_id, seq) = (state.id(), state.seq());
    encode(&match event {
        EventKind::Seated { seat, occupant } => return seated_frame(state, *seat, occupant),
        EventKind::Started { remaining } => return started_frame(state, remaining.as_ref()),
        EventKind::Moved {
            seat,
            m,
            spent_ms,
            remaining,
        } => return moved_frame(state, *seat, m, spent_ms.zip(*remaining)),
        EventKind::Offered {
            seat,
            offer,
            ply,
            to_ply,
        } => WireEvent::Offered {
            match_id,
            seq,
            offer: to_protocol::offer_state(*seat, *offer, *ply, *to_ply),
        },
        EventKind::Declined { seat, offer, by } => WireEvent::Declined {
            match_id,
            seq,
            seat: to_protocol::seat(*seat),
            offer: to_protocol::offer(*offer),
            by: to_protocol::seat(*by),
        },
        EventKind::TakenBack { ply, remaining } => {
            taken_back_event(state, *ply, remaining.as_ref())
        }
        EventKind::TimeGiven {
            seat,
            ms,
            remaining,
        } => WireEvent::TimeGiven {
            match_id,
            seq,
            seat: to_protocol::seat(*seat),
            ms: *ms,
            time_left: to_protocol::time_left(remaining),
        },
        EventKind::Hinted { seat, ply } => WireEvent::Hinted {
            match_id,
            seq,
            seat: to_protocol::seat(*seat),
            ply: *ply,
        },
        EventKind::Ended { remaining, .. } => return ended_frame(state, remaining.as_ref()),
    })
}

/// Encodes the reply to a request for missed events. The events are already encoded.
pub(crate) fn events<'a>(
    re: Option<RequestId>,
    match_id: MatchId,
    events: impl Iterator<Item = &'a Frame>,
) -> Frame {
    let events = events.map(|frame| serde_json::from_str(frame));
    encode(&EventsMessage::Events {
        re,
        match_id,
        events: events
            .collect::<Result<_, _>>()
            .expect("stored frames are valid JSON"),
    })
}

fn taken_back_event(state: &Match, ply: Ply, left: Option<&RemainingTime>) -> WireEvent {
    let position = state.position();
    WireEvent::TakenBack {
        match_id: state.id(),
        seq: state.seq(),
        ply,
        position: position.to_string(),
        check: state.in_check(),
        turn: to_protocol::seat(position.turn()),
        legal: position.legal_moves(),
        time_left: left.map(to_protocol::time_left),
        first_move_ms: first_move_limit_ms(state),
        takebacks: state.takebacks(),
    }
}

/// Writes an event with the fields that `write` writes.
fn event_frame(state: &Match, start: &str, write: impl FnOnce(&mut JsonWriter)) -> Frame {
    write_frame(|json| {
        json.raw(start).uuid(state.id().0);
        json.raw(r#","seq":"#).number(state.seq().0);
        write(json);
        json.raw("}");
    })
}

fn seated_frame(state: &Match, seat: Seat, occupant: &Occupant) -> Frame {
    event_frame(state, r#"{"type":"seated","match":"#, |json| {
        json.raw(r#","seat":"#).seat(Some(seat));
        // A player who takes a seat is encoded as connected, because only a connected player can
        // request a seat.
        write_occupant(json, occupant, true);
    })
}

fn started_frame(state: &Match, remaining: Option<&RemainingTime>) -> Frame {
    let position = state.position();
    event_frame(state, r#"{"type":"started","match":"#, |json| {
        json.raw(r#","position":"#).position(position);
        json.raw(r#","ply":"#).number(state.ply().0);
        if state.in_check() {
            json.raw(r#","check":true"#);
        }
        json.raw(r#","turn":"#).seat(Some(position.turn()));
        json.raw(r#","legal":"#).legal_moves(position);
        if let Some(remaining) = remaining {
            write_time_left(json, remaining);
        }
        if let Some(first_move_ms) = first_move_limit_ms(state) {
            json.raw(r#","first_move_ms":"#).number(first_move_ms);
        }
        if let Some(absence_limit_ms) = state.absence_limit_ms() {
            json.raw(r#","patience_ms":"#).number(absence_limit_ms);
        }
    })
}

fn ended_frame(state: &Match, remaining: Option<&RemainingTime>) -> Frame {
    let outcome = to_protocol::ending(state).expect("the match has ended");
    event_frame(state, r#"{"type":"ended","match":"#, |json| {
        json.raw(r#","outcome":"#).value(&outcome);
        if let Some(remaining) = remaining {
            write_time_left(json, remaining);
        }
    })
}

fn write_time_left(json: &mut JsonWriter, remaining: &RemainingTime) {
    json.raw(r#","left_ms":"#).numbers(remaining.remaining_ms());
    if let Some(periods) = remaining.periods() {
        json.raw(r#","periods":"#).numbers(periods);
    }
}

fn moved_frame(
    state: &Match,
    seat: Seat,
    m: &str,
    time_usage: Option<(u64, RemainingTime)>,
) -> Frame {
    let position = state.position();
    let turn = position.outcome().is_none().then(|| position.turn());
    event_frame(state, r#"{"type":"moved","match":"#, |json| {
        json.raw(r#","ply":"#).number(state.ply().0 - 1);
        json.raw(r#","next_ply":"#).number(state.ply().0);
        json.raw(r#","seat":"#).seat(Some(seat));
        json.raw(r#","move":"#).unescaped(m);
        if let Some(san) = state.san_moves().and_then(<[_]>::last) {
            json.raw(r#","san":"#).unescaped(san);
        }
        json.raw(r#","position":"#).position(position);
        if state.in_check() {
            json.raw(r#","check":true"#);
        }
        json.raw(r#","turn":"#).seat(turn);
        json.raw(r#","legal":"#).legal_moves(position);
        if let Some((spent_ms, left)) = time_usage {
            write_time_left(json, &left);
            json.raw(r#","spent_ms":"#).number(spent_ms);
            if let Some(first_move_ms) = first_move_limit_ms(state) {
                json.raw(r#","first_move_ms":"#).number(first_move_ms);
            }
        }
    })
}

/// Encodes the clock of a match; returns `None` if the match has no clock.
pub(crate) fn clock(state: &Match, time: TurnTime) -> Option<Frame> {
    Some(encode(&ServerMessage::Clock {
        match_id: state.id(),
        clock: ClockState {
            ply: state.ply(),
            time_left: to_protocol::time_left(&state.remaining_time()?),
            turn_ms: time.turn_ms,
            paused: time.paused,
            first_move_ms: time.first_move_ms,
        },
    }))
}

/// Adds the names of ignored request fields to an encoded answer.
pub(crate) fn add_ignored_fields(answer: &Frame, ignored: &[String]) -> Frame {
    let names = serde_json::to_string(ignored).expect("strings serialize");
    let fields = answer.strip_suffix('}').expect("an answer is an object");
    write_frame(|json| {
        json.raw(fields).raw(r#","ignored":"#).raw(&names).raw("}");
    })
}

/// [`ServerMessage::Events`] with events that are already encoded.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum EventsMessage<'a> {
    Events {
        #[serde(skip_serializing_if = "Option::is_none")]
        re: Option<RequestId>,
        #[serde(rename = "match")]
        match_id: MatchId,
        events: Vec<&'a RawValue>,
    },
}

#[cfg(test)]
mod tests;
