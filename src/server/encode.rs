//! What is told, as the bytes that go out.
//!
//! A move and its answer are written here piece by piece, from the match itself: to put them into the
//! types of the protocol first and have a library write these takes three times as long. Everything
//! else goes that way.

mod draft;

use std::cell::RefCell;

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use self::draft::Draft;
use super::outbox::Frame;
use super::to_protocol;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{EventKind, Match, Stage};
use plyhouse_protocol::{Event as WireEvent, PlayerId, RequestId, SeatState, Seq, Snapshot};

/// Where messages grow before they are copied to a place of their own size: to let each grow in its
/// own place would move it several times, and leave room that nobody uses.
#[derive(Default)]
struct Drafts {
    json: Vec<u8>,
    text: Draft,
}

thread_local! {
    static DRAFTS: RefCell<Drafts> = RefCell::default();
}

/// A message as bytes.
pub(super) fn encode(message: &impl Serialize) -> Frame {
    DRAFTS.with_borrow_mut(|Drafts { json, .. }| {
        json.clear();
        serde_json::to_writer(&mut *json, message).expect("messages have text keys only");
        Frame::from(str::from_utf8(json).expect("JSON is UTF-8"))
    })
}

/// What `write` writes.
fn draft(write: impl FnOnce(&mut Draft)) -> Frame {
    DRAFTS.with_borrow_mut(|Drafts { text, .. }| {
        text.clear();
        write(text);
        Frame::from(text.as_str())
    })
}

/// The answer to a request that what it asked for is done: a move has become the event `seq`.
pub(super) fn ok(re: RequestId, seq: Option<Seq>) -> Frame {
    draft(|json| {
        json.raw(r#"{"type":"ok","re":"#).number(re.0);
        if let Some(seq) = seq {
            json.raw(r#","seq":"#).number(seq.0);
        }
        json.raw("}");
    })
}

/// An event that has just become part of `state`.
pub(super) fn event(state: &Match, event: &EventKind) -> Frame {
    let (match_id, seq, position) = (state.id(), state.seq(), state.position());
    encode(&match event {
        EventKind::Seated { seat, occupant } => WireEvent::Seated {
            match_id,
            seq,
            seat: to_protocol::seat(*seat),
            // Nobody sits down but by a request of their own.
            occupant: to_protocol::occupant(occupant, true),
        },
        EventKind::Started => WireEvent::Started {
            match_id,
            seq,
            position: position.to_string(),
            ply: state.ply(),
            turn: to_protocol::seat(position.turn()),
            legal: position.legal_moves(),
        },
        EventKind::Moved { seat, m } => return moved(state, *seat, m),
        EventKind::Ended { winner, reason } => WireEvent::Ended {
            match_id,
            seq,
            outcome: to_protocol::ending(state, *winner, *reason),
        },
    })
}

fn moved(state: &Match, seat: Seat, m: &str) -> Frame {
    let position = state.position();
    let turn = position.outcome().is_none().then(|| position.turn());
    draft(|json| {
        json.raw(r#"{"type":"moved","match":"#).id(state.id().0);
        json.raw(r#","seq":"#).number(state.seq().0);
        json.raw(r#","ply":"#).number(state.ply().0 - 1);
        json.raw(r#","seat":"#).seat(Some(seat));
        json.raw(r#","move":"#).word(m);
        json.raw(r#","position":"#).shown(position);
        json.raw(r#","turn":"#).seat(turn);
        json.raw(r#","legal":"#);
        json.words(|tell| position.each_legal_move(tell)).raw("}");
    })
}

/// The match as it stands, for one player.
pub(super) fn snapshot(
    state: &Match,
    re: Option<RequestId>,
    recipient: PlayerId,
    is_connected: impl Fn(PlayerId) -> bool,
    spectators: u64,
) -> Frame {
    let creation = state.creation();
    let info = &creation.game.info;
    let seat_state = |seat: Seat| {
        let there = state.occupant(seat);
        let is_connected = there.player().is_some_and(&is_connected);
        SeatState {
            side: info.sides[seat.index()].to_owned(),
            occupant: to_protocol::occupant(there, is_connected),
        }
    };
    encode(&Shown::Match(Snapshot {
        re,
        match_id: creation.id,
        code: creation.code.to_string(),
        seq: state.seq(),
        game: info.id.to_owned(),
        status: to_protocol::status(state.stage()),
        host: creation.host,
        listed: creation.terms.listed,
        you: state.seat_of(recipient).map(to_protocol::seat),
        seats: Seat::ALL.map(seat_state),
        position: state.position().to_string(),
        ply: state.ply(),
        turn: state.turn().map(to_protocol::seat),
        moves: Moves::Played(state),
        legal: Moves::Legal(state),
        spectators,
        outcome: match state.stage() {
            Stage::Ended { winner, reason } => Some(to_protocol::ending(state, winner, reason)),
            Stage::Open | Stage::Running => None,
        },
    }))
}

/// [`ServerMessage::Match`](plyhouse_protocol::ServerMessage::Match) whose moves are not gathered before
/// they are written: there may be hundreds.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Shown<'a> {
    Match(Snapshot<Moves<'a>>),
}

/// Moves of a match: those played, or those that are legal now.
enum Moves<'a> {
    Played(&'a Match),
    Legal(&'a Match),
}

impl Serialize for Moves<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Played(state) => serializer.collect_seq(state.moves()),
            Self::Legal(state) => {
                let mut list = serializer.serialize_seq(None)?;
                let mut written = Ok(());
                if state.turn().is_some() {
                    state.position().each_legal_move(&mut |m| {
                        if written.is_ok() {
                            written = list.serialize_element(m);
                        }
                    });
                }
                written.and_then(|()| list.end())
            }
        }
    }
}

#[cfg(test)]
mod tests;
