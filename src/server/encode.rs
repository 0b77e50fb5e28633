//! What is told, as the bytes that go out.

use std::cell::RefCell;
use std::fmt::Write;

use serde::Serialize;
use uuid::Uuid;

use super::outbox::Frame;
use super::to_protocol;
use crate::game::Seat;
use crate::matches::{Event, Match};
use crate::protocol::{PlayerId, RequestId, Seq};

/// Where messages grow before they are copied to a place of their own size: to let each grow in its
/// own place would move it several times, and leave room that nobody uses.
#[derive(Default)]
struct Drafts {
    json: Vec<u8>,
    text: String,
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

/// An event that has just become part of `state`, as bytes.
pub(super) fn event(
    state: &Match,
    event: &Event,
    is_connected: impl Fn(PlayerId) -> bool,
) -> Frame {
    match event {
        Event::Moved { seat, m } => moved(state, *seat, m),
        Event::Seated { .. } | Event::Started | Event::Ended { .. } => {
            encode(&to_protocol::event(state, event, is_connected))
        }
    }
}

/// A move, which is told more often than all else. Every game writes its moves and positions in
/// letters that JSON takes as they are; its laws say so.
fn moved(state: &Match, by: Seat, m: &str) -> Frame {
    let position = state.position();
    write(|text| {
        text.push_str(r#"{"type":"moved","match":""#);
        text.push_str(
            state
                .id()
                .0
                .hyphenated()
                .encode_lower(&mut Uuid::encode_buffer()),
        );
        text.push_str(r#"","seq":"#);
        push(text, state.seq().0);
        text.push_str(r#","ply":"#);
        push(text, state.ply().0 - 1);
        text.push_str(r#","seat":"#);
        push(text, to_protocol::seat(by).0.into());
        text.push_str(r#","move":""#);
        text.push_str(m);
        text.push_str(r#"","position":""#);
        write!(text, "{position}").expect("a string takes everything");
        text.push_str(r#"","turn":"#);
        if position.outcome().is_none() {
            push(text, to_protocol::seat(position.turn()).0.into());
        } else {
            text.push_str("null");
        }
        text.push_str(r#","legal":["#);
        let mut before = "\"";
        position.each_legal_move(&mut |m| {
            text.push_str(before);
            text.push_str(m);
            text.push('"');
            before = ",\"";
        });
        text.push_str("]}");
    })
}

/// The answer to a request that what it asked for is done: a move has become the event `seq`.
pub(super) fn ok(re: RequestId, seq: Option<Seq>) -> Frame {
    write(|text| {
        text.push_str(r#"{"type":"ok","re":"#);
        push(text, re.0);
        if let Some(seq) = seq {
            text.push_str(r#","seq":"#);
            push(text, seq.0);
        }
        text.push('}');
    })
}

/// What `write` writes.
fn write(write: impl FnOnce(&mut String)) -> Frame {
    DRAFTS.with_borrow_mut(|Drafts { text, .. }| {
        text.clear();
        write(text);
        Frame::from(text.as_str())
    })
}

fn push(text: &mut String, number: u64) {
    text.push_str(itoa::Buffer::new().format(number));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::catalog::CATALOG;
    use crate::matches::{Creation, Occupant};
    use crate::protocol::{MatchCode, MatchId, ServerMessage};

    /// In every game, to its end or far into it.
    #[test]
    fn a_move_is_told_as_the_protocol_has_it() {
        for entry in &CATALOG {
            let mut state = Match::new(Creation {
                id: MatchId(Uuid::from_u128(7)),
                code: MatchCode::from_number(7),
                game: entry,
                host: PlayerId(Uuid::nil()),
                listed: true,
                pace: Duration::ZERO,
                seed: 1,
            });
            for seat in Seat::ALL {
                let id = PlayerId(Uuid::from_u128(seat.index() as u128));
                let name = "Ann".to_owned();
                let occupant = Occupant::Player { id, name };
                let seated = Event::Seated { seat, occupant };
                state.fold(&seated).unwrap();
            }
            state.fold(&Event::Started).unwrap();
            for ply in 0..200 {
                let mut legal = state.position().legal_moves();
                if legal.is_empty() {
                    break;
                }
                let played = Event::Moved {
                    seat: state.position().turn(),
                    m: legal.swap_remove(ply * 7 % legal.len()),
                };
                state.fold(&played).unwrap();
                let told = event(&state, &played, |_| true);
                let by_the_protocol = encode(&to_protocol::event(&state, &played, |_| true));
                assert_eq!(told, by_the_protocol);
            }
            assert!(state.ply().0 > 4);
        }
    }

    #[test]
    fn done_is_told_as_the_protocol_has_it() {
        for seq in [None, Some(Seq(0)), Some(Seq(u64::MAX))] {
            let re = RequestId(7);
            let by_the_protocol = encode(&ServerMessage::Ok { re: Some(re), seq });
            assert_eq!(ok(re, seq), by_the_protocol);
        }
    }
}
