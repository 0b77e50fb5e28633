//! Mutations of correspondence matches and their notifications.

use plyhouse_matches::{Event, EventKind};
use plyhouse_protocol::{
    ClientMessage, EndReason, MatchId, Ply, Request, RequestId, ServerMessage,
};
use plyhouse_store::MatchRecord;

use super::NamedMutation;
use super::entry_lookup::{change_received_message, connection_at, find_index};
use crate::checker::ViolationKind;
use crate::fault_plan::{CORRESPONDENCE_MOVE_TIME, as_ms};
use crate::history::{History, HistoryEntry, HistoryEvent};
use crate::store::FinalState;

pub(super) const MUTATIONS: &[NamedMutation] = &[
    (
        "an early correspondence flag",
        ViolationKind::WrongClock,
        |_, stored| {
            let id = find_flag_fall(stored)?;
            let begins_turn = |event: &&mut Event| event.kind.begins_turn();
            let events = &mut stored.matches.get_mut(&id)?.events;
            events.iter_mut().rfind(begins_turn)?.at_ms += 10_000;
            Some(())
        },
    ),
    (
        "a flag within the restart grace",
        ViolationKind::WrongClock,
        |history, stored| {
            let id = find_flag_fall(stored)?;
            let seq = stored.matches.get(&id)?.events.len() as u64;
            let at_us = stored.write_times.get(&(id, seq))?.started.as_micros();
            let mut entries = history.entries.iter();
            let index = entries.position(|entry| entry.at_us >= at_us)?;
            let event = HistoryEvent::Restart;
            history.entries.insert(index, HistoryEntry { at_us, event });
            Some(())
        },
    ),
    (
        "a missing correspondence flag",
        ViolationKind::WrongClock,
        |history, stored| {
            let id = find_flag_fall(stored)?;
            stored.matches.get_mut(&id)?.events.pop();
            let at_us = history.entries.last()?.at_us + CORRESPONDENCE_MOVE_TIME.as_micros();
            let event = HistoryEvent::Fault("no fault".to_owned());
            history.entries.push(HistoryEntry { at_us, event });
            Some(())
        },
    ),
    (
        "more charged than the wall clock shows",
        ViolationKind::WrongClock,
        |_, stored| {
            *find_charged_move(stored, 0)? += as_ms(CORRESPONDENCE_MOVE_TIME) / 2;
            Some(())
        },
    ),
    (
        "less charged than the wall clock shows",
        ViolationKind::WrongClock,
        |_, stored| {
            *find_charged_move(stored, as_ms(CORRESPONDENCE_MOVE_TIME) / 2)? = 1;
            Some(())
        },
    ),
    (
        "a paused correspondence clock",
        ViolationKind::WrongClock,
        |history, stored| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Match(snapshot)
                    if snapshot.paused == Some(false)
                        && is_correspondence(stored, snapshot.match_id) =>
                {
                    snapshot.paused = Some(true);
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a turn notification with a wrong ply",
        ViolationKind::WrongTurn,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::YourTurn { ply, .. } => {
                    *ply = Ply(ply.0 + 1);
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a turn notification with an early deadline",
        ViolationKind::WrongTurn,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::YourTurn { deadline_ms, .. } => {
                    *deadline_ms -= 1;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a turn notification to a follower",
        ViolationKind::WrongTurn,
        |history, _| {
            // A client that receives a snapshot follows the match.
            let turn_index = find_index(history, |what| turn_match(what).is_some())?;
            let on = connection_at(history, turn_index)?;
            let id = turn_match_at(history, turn_index)?;
            let is_match_snapshot = |what: &HistoryEvent| match what {
                HistoryEvent::Received {
                    connection,
                    message,
                } if *connection == on => {
                    matches!(&**message, ServerMessage::Match(shown) if shown.match_id == id)
                }
                _ => false,
            };
            let snapshot_index =
                find_index(history, is_match_snapshot).filter(|shown| turn_index < *shown)?;
            let entry = history.entries.remove(turn_index);
            history.entries.insert(snapshot_index, entry);
            Some(())
        },
    ),
    (
        "a missing turn notification",
        ViolationKind::WrongTurn,
        |history, _| {
            let turns = 0..history.entries.len();
            let is_never_shown = |place: &usize| {
                let (on, id) = (
                    connection_at(history, *place),
                    turn_match_at(history, *place),
                );
                id.is_some() && !history.entries.iter().any(|entry| match &entry.event {
                HistoryEvent::Received { connection, message } if Some(*connection) == on => {
                    matches!(&**message, ServerMessage::Match(shown) if Some(shown.match_id) == id)
                }
                _ => false,
            })
            };
            let turn_index = turns.rev().find(is_never_shown)?;
            let connection = connection_at(history, turn_index)?;
            history.entries.remove(turn_index);
            // The reply to a ping proves that all earlier messages have arrived.
            let at_us = history.entries.last()?.at_us;
            let id = RequestId(1 << 40);
            let request = Box::new(Request {
                id: Some(id),
                message: ClientMessage::Ping,
            });
            let event = HistoryEvent::Sent {
                connection,
                request,
            };
            history.entries.push(HistoryEntry { at_us, event });
            let message = Box::new(ServerMessage::Pong {
                re: Some(id),
                now_ms: 0,
                ignored: Vec::new(),
            });
            let event = HistoryEvent::Received {
                connection,
                message,
            };
            history.entries.push(HistoryEntry { at_us, event });
            Some(())
        },
    ),
    (
        "a row with a wrong deadline",
        ViolationKind::WrongTurn,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Welcome(welcome) => {
                    let mut rows = welcome
                        .following
                        .iter_mut()
                        .filter_map(|row| row.correspondence.as_mut());
                    *rows.find_map(|correspondence| correspondence.deadline_ms.as_mut())? -= 1;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a missing correspondence row",
        ViolationKind::WrongTurn,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Welcome(welcome) => {
                    let has_turn = |row: &plyhouse_protocol::FollowedMatch| {
                        row.correspondence
                            .as_ref()
                            .is_some_and(|correspondence| correspondence.turn.is_some())
                    };
                    let row = welcome.following.iter().position(has_turn)?;
                    welcome.following.remove(row);
                    Some(())
                }
                _ => None,
            })
        },
    ),
];

fn is_correspondence(stored: &FinalState, id: MatchId) -> bool {
    let record = stored.matches.get(&id);
    record.is_some_and(|record| record.creation.terms.is_correspondence())
}

/// Returns a correspondence match that ended by time.
fn find_flag_fall(stored: &FinalState) -> Option<MatchId> {
    let is_flag = |record: &MatchRecord| {
        let last = record.events.last().map(|event| &event.kind);
        let is_timeout =
            matches!(last, Some(EventKind::Ended { reason, .. }) if *reason == EndReason::Timeout);
        is_timeout && record.creation.terms.is_correspondence()
    };
    let mut matches = stored.matches.iter();
    matches.find_map(|(id, record)| is_flag(record).then_some(*id))
}

/// Finds the first correspondence move that was charged more than `min_ms`, and returns its charged
/// time.
fn find_charged_move(stored: &mut FinalState, min_ms: u64) -> Option<&mut u64> {
    let matches = stored.matches.values_mut();
    let mut correspondence = matches.filter(|record| record.creation.terms.is_correspondence());
    correspondence.find_map(|record| {
        let mut events = record.events.iter_mut();
        events.find_map(|event| match &mut event.kind {
            EventKind::Moved {
                spent_ms: Some(spent),
                ..
            } if *spent > min_ms => Some(spent),
            _ => None,
        })
    })
}

/// Returns the match that the turn notification at this position names.
fn turn_match_at(history: &History, index: usize) -> Option<MatchId> {
    turn_match(&history.entries[index].event)
}

fn turn_match(what: &HistoryEvent) -> Option<MatchId> {
    match what {
        HistoryEvent::Received { message, .. } => match **message {
            ServerMessage::YourTurn { match_id, .. } => Some(match_id),
            _ => None,
        },
        _ => None,
    }
}
