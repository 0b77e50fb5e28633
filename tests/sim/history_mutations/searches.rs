//! Edits of what searches think.

use plyhouse_protocol::{Ply, ServerMessage};

use super::NamedMutation;
use super::finding::{got, nobody};
use crate::checker::ViolationKind;
use crate::history::HistoryEvent;

pub(super) const EDITS: &[NamedMutation] = &[
    (
        "a hint that is not kept",
        ViolationKind::LostWrite,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::Hint(hint) => {
                    hint.ply = Ply(hint.ply.0 + 1);
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a part of an analysis twice",
        ViolationKind::InvalidReply,
        |history, _| {
            let mut entries = history.entries.iter();
            let is_part = |what: &HistoryEvent| matches!(what, HistoryEvent::Received { message, .. } if matches!(&**message, ServerMessage::Analysis(part) if !part.plies.is_empty()));
            let place = entries.position(|entry| is_part(&entry.event))?;
            let again = history.entries[place].clone();
            history.entries.insert(place, again);
            Some(())
        },
    ),
    (
        "an analysis of something else",
        ViolationKind::Contradiction,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::Analysis(part) => {
                    part.plies.first_mut()?.m.push('x');
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "an analysis for others",
        ViolationKind::PrivateMatchLeak,
        |history, kept| {
            let mut id = None;
            got(history, true, |message| match message {
                ServerMessage::Analysis(part) => {
                    id = Some(part.match_id);
                    Some(())
                }
                _ => None,
            })?;
            let record = kept.matches.get_mut(&id?)?;
            record.creation.host = nobody();
            for event in &mut record.events {
                if let plyhouse_matches::EventKind::Seated {
                    occupant: plyhouse_matches::Occupant::Player { id, .. },
                    ..
                } = &mut event.kind
                {
                    *id = nobody();
                }
            }
            Some(())
        },
    ),
    (
        "a thought that nobody asked for",
        ViolationKind::UnrequestedEvent,
        |history, _| {
            let mut id = None;
            got(history, true, |message| match message {
                ServerMessage::Thinking(thought) => {
                    id = Some(thought.match_id);
                    Some(())
                }
                _ => None,
            })?;
            for entry in &mut history.entries {
                if let HistoryEvent::Received { message, .. } = &mut entry.event
                    && let ServerMessage::Match(snapshot) = &mut **message
                    && Some(snapshot.match_id) == id
                {
                    snapshot.shows_bot_thinking = false;
                }
            }
            Some(())
        },
    ),
];
