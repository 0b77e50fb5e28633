//! Edits of matches of days, and of what is told of them.

use plyhouse_matches::{Event, EventKind};
use plyhouse_protocol::{
    ClientMessage, EndReason, MatchId, Ply, Request, RequestId, ServerMessage,
};
use plyhouse_store::MatchRecord;

use super::NamedMutation;
use super::finding::{connection, got, place};
use crate::checker::ViolationKind;
use crate::fault_plan::{CORRESPONDENCE_MOVE_TIME, as_ms};
use crate::history::{History, HistoryEntry, HistoryEvent};
use crate::store::FinalState;

pub(super) const EDITS: &[NamedMutation] = &[
    (
        "a flag falls a day too soon",
        ViolationKind::WrongClock,
        |_, kept| {
            let flag = flag(kept)?;
            let begins = |event: &&mut Event| event.kind.begins_turn();
            let events = &mut kept.matches.get_mut(&flag)?.events;
            events.iter_mut().rfind(begins)?.at_ms += 10_000;
            Some(())
        },
    ),
    (
        "a flag falls within the grace",
        ViolationKind::WrongClock,
        |history, kept| {
            let id = flag(kept)?;
            let seq = kept.matches.get(&id)?.events.len() as u64;
            let at_us = kept.write_times.get(&(id, seq))?.started.as_micros();
            let mut entries = history.entries.iter();
            let later = entries.position(|entry| entry.at_us >= at_us)?;
            let what = HistoryEvent::Restart;
            history
                .entries
                .insert(later, HistoryEntry { at_us, event: what });
            Some(())
        },
    ),
    (
        "a flag of days does not fall",
        ViolationKind::WrongClock,
        |history, kept| {
            let id = flag(kept)?;
            kept.matches.get_mut(&id)?.events.pop();
            let at_us = history.entries.last()?.at_us + CORRESPONDENCE_MOVE_TIME.as_micros();
            let what = HistoryEvent::Fault("nothing happens".to_owned());
            history.entries.push(HistoryEntry { at_us, event: what });
            Some(())
        },
    ),
    (
        "more than the wall clock shows",
        ViolationKind::WrongClock,
        |_, kept| {
            *spent(kept, 0)? += as_ms(CORRESPONDENCE_MOVE_TIME) / 2;
            Some(())
        },
    ),
    (
        "less than the wall clock shows",
        ViolationKind::WrongClock,
        |_, kept| {
            *spent(kept, as_ms(CORRESPONDENCE_MOVE_TIME) / 2)? = 1;
            Some(())
        },
    ),
    (
        "a clock of days stands",
        ViolationKind::WrongClock,
        |history, kept| {
            got(history, true, |message| match message {
                ServerMessage::Match(snapshot)
                    if snapshot.paused == Some(false) && is_of_days(kept, snapshot.match_id) =>
                {
                    snapshot.paused = Some(true);
                    Some(())
                }
                _ => None,
            })
        },
    ),
    ("another turn", ViolationKind::WrongTurn, |history, _| {
        got(history, true, |message| match message {
            ServerMessage::YourTurn { ply, .. } => {
                *ply = Ply(ply.0 + 1);
                Some(())
            }
            _ => None,
        })
    }),
    (
        "a turn that is due sooner",
        ViolationKind::WrongTurn,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::YourTurn {
                    deadline_ms: due_ms,
                    ..
                } => {
                    *due_ms -= 1;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a turn that is seen",
        ViolationKind::WrongTurn,
        |history, _| {
            // Whoever is shown the match follows it.
            let turn = place(history, |what| turn(what).is_some())?;
            let on = connection(history, turn)?;
            let id = turn_of(history, turn)?;
            let is_shown = |what: &HistoryEvent| match what {
                HistoryEvent::Received {
                    connection,
                    message,
                } if *connection == on => {
                    matches!(&**message, ServerMessage::Match(shown) if shown.match_id == id)
                }
                _ => false,
            };
            let shown = place(history, is_shown).filter(|shown| turn < *shown)?;
            let entry = history.entries.remove(turn);
            history.entries.insert(shown, entry);
            Some(())
        },
    ),
    (
        "a turn of which nobody is told",
        ViolationKind::WrongTurn,
        |history, _| {
            let turns = 0..history.entries.len();
            let is_unseen = |place: &usize| {
                let (on, id) = (connection(history, *place), turn_of(history, *place));
                id.is_some() && !history.entries.iter().any(|entry| match &entry.event {
                HistoryEvent::Received { connection, message } if Some(*connection) == on => {
                    matches!(&**message, ServerMessage::Match(shown) if Some(shown.match_id) == id)
                }
                _ => false,
            })
            };
            let turn = turns.rev().find(is_unseen)?;
            let connection = connection(history, turn)?;
            history.entries.remove(turn);
            // And everything else has come to them since.
            let at_us = history.entries.last()?.at_us;
            let id = RequestId(1 << 40);
            let request = Box::new(Request {
                id: Some(id),
                message: ClientMessage::Ping,
            });
            let what = HistoryEvent::Sent {
                connection,
                request,
            };
            history.entries.push(HistoryEntry { at_us, event: what });
            let message = Box::new(ServerMessage::Pong {
                re: Some(id),
                now_ms: 0,
                ignored: Vec::new(),
            });
            let what = HistoryEvent::Received {
                connection,
                message,
            };
            history.entries.push(HistoryEntry { at_us, event: what });
            Some(())
        },
    ),
    (
        "a row of another time",
        ViolationKind::WrongTurn,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::Welcome(welcome) => {
                    let mut rows = welcome
                        .following
                        .iter_mut()
                        .filter_map(|row| row.correspondence.as_mut());
                    *rows.find_map(|days| days.deadline_ms.as_mut())? -= 1;
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a match of days is not told",
        ViolationKind::WrongTurn,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::Welcome(welcome) => {
                    let has_turn = |row: &plyhouse_protocol::FollowedMatch| {
                        row.correspondence
                            .as_ref()
                            .is_some_and(|days| days.turn.is_some())
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

fn is_of_days(kept: &FinalState, id: MatchId) -> bool {
    let record = kept.matches.get(&id);
    record.is_some_and(|record| record.creation.terms.is_correspondence())
}

/// A match of days that ended by a flag.
fn flag(kept: &FinalState) -> Option<MatchId> {
    let is_flag = |record: &MatchRecord| {
        let last = record.events.last().map(|event| &event.kind);
        let is_timeout =
            matches!(last, Some(EventKind::Ended { reason, .. }) if *reason == EndReason::Timeout);
        is_timeout && record.creation.terms.is_correspondence()
    };
    let mut matches = kept.matches.iter();
    matches.find_map(|(id, record)| is_flag(record).then_some(*id))
}

/// What a move in a match of days was charged, if more than that.
fn spent(kept: &mut FinalState, more_than: u64) -> Option<&mut u64> {
    let matches = kept.matches.values_mut();
    let mut of_days = matches.filter(|record| record.creation.terms.is_correspondence());
    of_days.find_map(|record| {
        let mut events = record.events.iter_mut();
        events.find_map(|event| match &mut event.kind {
            EventKind::Moved {
                spent_ms: Some(spent),
                ..
            } if *spent > more_than => Some(spent),
            _ => None,
        })
    })
}

/// The match of which somebody is told here that it is their turn.
fn turn_of(history: &History, place: usize) -> Option<MatchId> {
    turn(&history.entries[place].event)
}

fn turn(what: &HistoryEvent) -> Option<MatchId> {
    match what {
        HistoryEvent::Received { message, .. } => match **message {
            ServerMessage::YourTurn { match_id, .. } => Some(match_id),
            _ => None,
        },
        _ => None,
    }
}
