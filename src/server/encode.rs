//! What is told, as the bytes that go out.
//!
//! What every match tells is written here piece by piece, from the match itself: to put it into the
//! types of the protocol first and have a library write these takes three times as long. What is
//! told seldom goes that way.

mod draft;

use std::cell::RefCell;

use serde::Serialize;

use self::draft::Draft;
use super::outbox::Frame;
use plyhouse_engine::catalog::AnyPosition;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{EventKind, Match, Occupant, Stage, Termination};
use plyhouse_protocol::{PlayerId, RequestId, Seq};

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
    draft(|json| {
        json.raw(match event {
            EventKind::Seated { .. } => r#"{"type":"seated","match":"#,
            EventKind::Started => r#"{"type":"started","match":"#,
            EventKind::Moved { .. } => r#"{"type":"moved","match":"#,
            EventKind::Ended { .. } => r#"{"type":"ended","match":"#,
        });
        json.id(state.id().0)
            .raw(r#","seq":"#)
            .number(state.seq().0);
        let position = state.position();
        match event {
            EventKind::Seated { seat, occupant } => {
                json.raw(r#","seat":"#).seat(Some(*seat)).raw(",");
                // Nobody sits down but by a request of their own.
                push_occupant(json, occupant, &|_| true);
            }
            EventKind::Started => {
                json.raw(r#","position":"#).shown(position);
                json.raw(r#","ply":0,"turn":"#).seat(Some(position.turn()));
                json.raw(r#","legal":"#);
                json.words(|tell| position.each_legal_move(tell));
            }
            EventKind::Moved { seat, m } => {
                json.raw(r#","ply":"#).number(state.ply().0 - 1);
                json.raw(r#","seat":"#).seat(Some(*seat));
                json.raw(r#","move":"#).word(m);
                json.raw(r#","position":"#).shown(position);
                let turn = position.outcome().is_none().then(|| position.turn());
                json.raw(r#","turn":"#).seat(turn);
                json.raw(r#","legal":"#);
                json.words(|tell| position.each_legal_move(tell));
            }
            EventKind::Ended {
                winner,
                termination,
            } => {
                json.raw(r#","outcome":"#);
                push_ending(json, position, *winner, *termination);
            }
        }
        json.raw("}");
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
    let position = state.position();
    draft(|json| {
        json.raw(r#"{"type":"match","#);
        if let Some(re) = re {
            json.raw(r#""re":"#).number(re.0).raw(",");
        }
        json.raw(r#""match":"#).id(creation.id.0);
        json.raw(r#","code":"#).shown(&creation.code);
        json.raw(r#","seq":"#).number(state.seq().0);
        json.raw(r#","game":"#).word(info.id);
        json.raw(match state.stage() {
            Stage::Open => r#","status":"open","host":"#,
            Stage::Running => r#","status":"running","host":"#,
            Stage::Ended { .. } => r#","status":"ended","host":"#,
        });
        json.id(creation.host.0);
        json.raw(r#","listed":"#).flag(creation.listed);
        json.raw(r#","you":"#).seat(state.seat_of(recipient));
        for seat in Seat::ALL {
            json.raw(match seat {
                Seat::First => r#","seats":[{"side":"#,
                Seat::Second => r#"},{"side":"#,
            });
            json.word(info.sides[seat.index()]).raw(",");
            push_occupant(json, state.occupant(seat), &is_connected);
        }
        json.raw(r#"}],"position":"#).shown(position);
        json.raw(r#","ply":"#).number(state.ply().0);
        json.raw(r#","turn":"#).seat(state.turn());
        json.raw(r#","moves":"#);
        json.words(|tell| state.moves().for_each(tell));
        json.raw(r#","legal":"#).words(|tell| {
            if state.turn().is_some() {
                position.each_legal_move(tell);
            }
        });
        json.raw(r#","spectators":"#).number(spectators);
        if let Stage::Ended {
            winner,
            termination,
        } = state.stage()
        {
            json.raw(r#","outcome":"#);
            push_ending(json, position, winner, termination);
        }
        json.raw("}");
    })
}

/// Who sits in a seat, as fields of what the seat is told in.
fn push_occupant(json: &mut Draft, occupant: &Occupant, is_connected: &impl Fn(PlayerId) -> bool) {
    match occupant {
        Occupant::Open => json.raw(r#""occupant":"open""#),
        Occupant::Player { id, name } => json
            .raw(r#""occupant":"player","player":"#)
            .id(id.0)
            .raw(r#","name":"#)
            .text(name)
            .raw(r#","connected":"#)
            .flag(is_connected(*id)),
        Occupant::Bot(level) => json.raw(r#""occupant":"bot","level":"#).word(level.id()),
    };
}

/// How a match ended.
fn push_ending(
    json: &mut Draft,
    position: &dyn AnyPosition,
    winner: Option<Seat>,
    termination: Termination,
) {
    json.raw(r#"{"winner":"#).seat(winner);
    json.raw(match termination {
        Termination::Rules => r#","reason":"rules""#,
        Termination::Resignation => r#","reason":"resignation""#,
        Termination::Abandonment => r#","reason":"abandonment""#,
        Termination::Aborted => r#","reason":"aborted""#,
    });
    // The position tells more only where it is what ended the match.
    if termination == Termination::Rules {
        if let Some(ending) = position.ending() {
            json.raw(r#","detail":"#).word(ending.detail);
            if let Some([first, second]) = ending.scores {
                json.raw(r#","scores":["#).number(first.into());
                json.raw(",").number(second.into()).raw("]");
            }
        }
        if let Some(line) = position.line() {
            json.raw(r#","line":"#);
            json.words(|tell| line.iter().for_each(|square| tell(square)));
        }
    }
    json.raw("}");
}

#[cfg(test)]
mod tests;
