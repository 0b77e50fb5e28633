//! Encodes messages to clients.
//!
//! Moves and confirmations are written field by field, directly from the match. Building and
//! serialising the protocol types instead would take three times as long. All other messages use
//! the protocol types.

mod json_writer;

use std::cell::RefCell;

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use self::json_writer::JsonWriter;
use super::to_protocol;
pub(crate) use crate::connection::outbox::Frame;
use crate::match_handle::summary::SeatPresence;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{EventKind, Match, RemainingTime, TurnTime, first_move_limit_ms};
use plyhouse_protocol::{
    ChatEntry, ClockState, Event as WireEvent, MatchId, PlayerId, Ply, RatingChange, RematchState,
    RequestId, SeatState, Seq, ServerMessage, Snapshot,
};

/// Reusable buffers for messages that are being encoded. A finished message is copied to an
/// allocation of its exact size. Without the buffers, a message would be reallocated several times
/// while it grows, and would keep unused capacity.
#[derive(Default)]
struct EncodeBuffers {
    json: Vec<u8>,
    text: JsonWriter,
}

thread_local! {
    static ENCODE_BUFFERS: RefCell<EncodeBuffers> = RefCell::default();
}

/// Encodes a message.
pub(crate) fn encode(message: &impl Serialize) -> Frame {
    ENCODE_BUFFERS.with_borrow_mut(|EncodeBuffers { json, .. }| {
        json.clear();
        serde_json::to_writer(&mut *json, message).expect("messages have only string keys");
        Frame::from(str::from_utf8(json).expect("JSON is UTF-8"))
    })
}

/// Encodes the message that `write` writes.
fn write_frame(write: impl FnOnce(&mut JsonWriter)) -> Frame {
    ENCODE_BUFFERS.with_borrow_mut(|EncodeBuffers { text, .. }| {
        text.clear();
        write(text);
        Frame::from(text.as_str())
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
    let (match_id, seq, position) = (state.id(), state.seq(), state.position());
    encode(&match event {
        EventKind::Seated { seat, occupant } => WireEvent::Seated {
            match_id,
            seq,
            seat: to_protocol::seat(*seat),
            // A player who takes a seat is encoded as connected, because only a connected player
            // can request a seat.
            occupant: to_protocol::occupant(occupant, true),
        },
        EventKind::Started { remaining } => WireEvent::Started {
            match_id,
            seq,
            position: position.to_string(),
            check: state.in_check(),
            ply: state.ply(),
            turn: to_protocol::seat(position.turn()),
            legal: position.legal_moves(),
            time_left: remaining.as_ref().map(to_protocol::time_left),
            first_move_ms: first_move_limit_ms(state),
            absence_limit_ms: state.absence_limit_ms(),
        },
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
        EventKind::Ended { remaining, .. } => WireEvent::Ended {
            match_id,
            seq,
            outcome: to_protocol::ending(state).expect("the match has ended"),
            time_left: remaining.as_ref().map(to_protocol::time_left),
        },
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

fn moved_frame(
    state: &Match,
    seat: Seat,
    m: &str,
    time_usage: Option<(u64, RemainingTime)>,
) -> Frame {
    let position = state.position();
    let turn = position.outcome().is_none().then(|| position.turn());
    write_frame(|json| {
        json.raw(r#"{"type":"moved","match":"#).uuid(state.id().0);
        json.raw(r#","seq":"#).number(state.seq().0);
        json.raw(r#","ply":"#).number(state.ply().0 - 1);
        json.raw(r#","next_ply":"#).number(state.ply().0);
        json.raw(r#","seat":"#).seat(Some(seat));
        json.raw(r#","move":"#).unescaped(m);
        if let Some(san) = state.san_moves().and_then(<[_]>::last) {
            json.raw(r#","san":"#).unescaped(san);
        }
        json.raw(r#","position":"#).unescaped_display(position);
        if state.in_check() {
            json.raw(r#","check":true"#);
        }
        json.raw(r#","turn":"#).seat(turn);
        json.raw(r#","legal":"#);
        json.unescaped_list(|visit| position.for_each_legal_move(visit));
        if let Some((spent_ms, left)) = time_usage {
            json.raw(r#","left_ms":"#).numbers(left.remaining_ms());
            if let Some(periods) = left.periods() {
                json.raw(r#","periods":"#).numbers(periods);
            }
            json.raw(r#","spent_ms":"#).number(spent_ms);
            if let Some(first_move_ms) = first_move_limit_ms(state) {
                json.raw(r#","first_move_ms":"#).number(first_move_ms);
            }
        }
        json.raw("}");
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

/// Data of a snapshot that the events of the match do not contain.
pub(crate) struct SnapshotContext {
    /// Id of the request that the snapshot answers, if any.
    pub(crate) re: Option<RequestId>,
    pub(crate) presence: SeatPresence,
    pub(crate) turn_time: Option<TurnTime>,
    pub(crate) rematch: Option<RematchState>,
    /// Rating changes of the match; `None` until the match has ended and the changes are known.
    pub(crate) rating_changes: Option<Vec<RatingChange>>,
    /// Chat messages that the recipient may see.
    pub(crate) chat: Vec<ChatEntry>,
    pub(crate) epoch: u64,
}

/// Encodes a snapshot of the match. If the recipient has a seat, the snapshot states which one.
pub(crate) fn snapshot(
    state: &Match,
    recipient: Option<PlayerId>,
    context: SnapshotContext,
) -> Frame {
    let creation = state.creation();
    // A replica may learn that the match has ended before it learns the new turn time. The old turn
    // time is then omitted.
    let time = context.turn_time.filter(|_| state.turn().is_some());
    let info = &creation.game.info;
    let seat_state = |seat: Seat| {
        let is_connected = context.presence.seats[seat.index()] == Some(true);
        SeatState {
            side: info.sides[seat.index()].to_owned(),
            occupant: to_protocol::occupant(state.occupant(seat), is_connected),
        }
    };
    encode(&SnapshotMessage::Match(Snapshot {
        re: context.re,
        match_id: creation.id,
        code: creation.code.to_string(),
        seq: state.seq(),
        epoch: context.epoch,
        game: info.id.to_owned(),
        status: to_protocol::status(state.stage()),
        host: creation.host,
        listed: creation.terms.listed,
        spectator_access: creation.terms.spectator_access(),
        spectator_delay_ms: creation.terms.spectator_delay_ms,
        you: recipient
            .and_then(|player| state.seat_of(player))
            .map(to_protocol::seat),
        seats: Seat::ALL.map(seat_state),
        position: state.position().to_string(),
        check: state.in_check(),
        ply: state.ply(),
        turn: state.turn().map(to_protocol::seat),
        moves: Moves::Played(state),
        san: state.san_moves().map(Moves::InSan),
        legal: Moves::Legal(state),
        spectators: context.presence.spectators,
        clock: state.clock(),
        time_left: state.remaining_time().as_ref().map(to_protocol::time_left),
        turn_ms: time.map(|time| time.turn_ms),
        paused: time.map(|time| time.paused),
        first_move_ms: time.and_then(|time| time.first_move_ms),
        absence_limit_ms: state.absence_limit_ms(),
        offers: state
            .pending_offers()
            .map(|offer| to_protocol::offer_state(offer.seat, offer.offer, offer.ply, offer.to_ply))
            .collect(),
        takebacks_allowed: state.allows_takebacks(),
        takebacks: state.takebacks(),
        stand_in: creation.terms.stand_in.map(|level| level.id().to_owned()),
        series: creation.terms.previous.map(|_| to_protocol::series(state)),
        previous: creation.terms.previous.map(|previous| previous.id),
        rematch: context.rematch,
        chat_history: context.chat,
        outcome: to_protocol::ending(state),
        rated: creation.terms.rated,
        shows_bot_thinking: creation.terms.shows_bot_thinking,
        initial_position: state.custom_initial_position().map(ToString::to_string),
        rating_changes: context.rating_changes,
        ignored: Vec::new(),
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

/// Same as [`ServerMessage::Match`], but serialises the moves one by one. This avoids collecting
/// hundreds of moves first.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum SnapshotMessage<'a> {
    Match(Snapshot<Moves<'a>>),
}

/// Moves to serialise: the moves played so far, in protocol notation or in SAN, or the legal moves.
enum Moves<'a> {
    Played(&'a Match),
    InSan(&'a [Box<str>]),
    Legal(&'a Match),
}

impl Serialize for Moves<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Played(state) => serializer.collect_seq(state.moves()),
            Self::InSan(sans) => serializer.collect_seq(*sans),
            Self::Legal(state) => {
                let mut list = serializer.serialize_seq(None)?;
                let mut result = Ok(());
                if state.turn().is_some() {
                    state.position().for_each_legal_move(&mut |m| {
                        if result.is_ok() {
                            result = list.serialize_element(m);
                        }
                    });
                }
                result.and_then(|()| list.end())
            }
        }
    }
}

#[cfg(test)]
mod tests;
