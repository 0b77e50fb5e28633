//! Mutations of the recorded hints, analyses and bot thinking in a history.

use plyhouse_protocol::{Ply, ServerMessage};

use super::NamedMutation;
use super::entry_lookup::{change_received_message, nil_player_id};
use crate::checker::ViolationKind;
use crate::history::HistoryEvent;

pub(super) const MUTATIONS: &[NamedMutation] = &[
    (
        "a hint that is not stored",
        ViolationKind::LostWrite,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Hint(hint) => {
                    hint.ply = Ply(hint.ply.0 + 1);
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a part of an analysis sent twice",
        ViolationKind::InvalidReply,
        |history, _| {
            let mut entries = history.entries.iter();
            let is_part = |what: &HistoryEvent| matches!(what, HistoryEvent::Received { message, .. } if matches!(&**message, ServerMessage::Analysis(part) if !part.plies.is_empty()));
            let index = entries.position(|entry| is_part(&entry.event))?;
            let again = history.entries[index].clone();
            history.entries.insert(index, again);
            Some(())
        },
    ),
    (
        "an analysis of wrong moves",
        ViolationKind::Contradiction,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Analysis(part) => {
                    part.plies.first_mut()?.m.push('x');
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "an analysis sent to a non-participant",
        ViolationKind::PrivateMatchLeak,
        |history, stored| {
            let mut id = None;
            change_received_message(history, true, |message| match message {
                ServerMessage::Analysis(part) => {
                    id = Some(part.match_id);
                    Some(())
                }
                _ => None,
            })?;
            let record = stored.matches.get_mut(&id?)?;
            record.creation.host = nil_player_id();
            for event in &mut record.events {
                if let plyhouse_matches::EventKind::Seated {
                    occupant: plyhouse_matches::Occupant::Player { id, .. },
                    ..
                } = &mut event.kind
                {
                    *id = nil_player_id();
                }
            }
            Some(())
        },
    ),
    (
        "unrequested bot thinking",
        ViolationKind::UnrequestedEvent,
        |history, _| {
            let mut id = None;
            change_received_message(history, true, |message| match message {
                ServerMessage::Thinking(thinking) => {
                    id = Some(thinking.match_id);
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
