//! Edits of lists, and of what is told to those who watch them.

use std::time::Duration;

use plyhouse_protocol::{ClientMessage, MatchStatus, Request, RequestId, ServerMessage};

use super::NamedMutation;
use super::finding::{connection, got, place};
use crate::checker::ViolationKind;
use crate::history::{ConnectionId, History, HistoryEntry, HistoryEvent};

pub(super) const EDITS: &[NamedMutation] = &[
    (
        "a row of nothing",
        ViolationKind::WrongList,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::ListChanged { changed, .. } => {
                    changed.first_mut()?.code.push('x');
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a row the other way round",
        ViolationKind::WrongList,
        |history, _| {
            got(history, true, |message| match message {
                ServerMessage::Matches { matches, .. } => {
                    matches.first_mut()?.seats.reverse();
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a list that nobody watches",
        ViolationKind::WrongList,
        |history, _| {
            let changes = place(history, is_change)?;
            match &mut history.entries[changes].event {
                HistoryEvent::Received { connection, .. } => *connection = ConnectionId(0),
                _ => return None,
            }
            Some(())
        },
    ),
    (
        "a list that never rests",
        ViolationKind::WrongList,
        |history, _| {
            let changes = place(history, is_change)?;
            let again = history.entries[changes].clone();
            let often = std::iter::repeat_n(again, 100);
            history.entries.splice(changes..changes, often);
            Some(())
        },
    ),
    ("a wrong number", ViolationKind::WrongList, |history, _| {
        let (listed, on) = listed(history)?;
        let later = history.entries.iter_mut().skip(listed);
        later.rev().find_map(|entry| match &mut entry.event {
            HistoryEvent::Received {
                connection,
                message,
            } if *connection == on => match &mut **message {
                ServerMessage::ListChanged { total, .. } => {
                    *total += 1;
                    Some(())
                }
                _ => None,
            },
            _ => None,
        })
    }),
    (
        "a change of which nobody is told",
        ViolationKind::WrongList,
        |history, _| {
            let (listed, connection) = listed(history)?;
            let is_told = |entry: &HistoryEntry| match &entry.event {
                HistoryEvent::Received {
                    connection: on,
                    message,
                } => *on == connection && matches!(**message, ServerMessage::ListChanged { .. }),
                _ => false,
            };
            if history.entries.iter().skip(listed).any(is_told) {
                return None;
            }
            // An hour later all is gone that was there.
            let list = history.entries[..listed].iter().rev();
            let mut list = list.filter_map(|entry| match &entry.event {
                HistoryEvent::Sent {
                    connection: on,
                    request,
                } if *on == connection => Some(request.message.clone()),
                _ => None,
            });
            let message = list.find(|message| matches!(message, ClientMessage::List { .. }))?;
            let hour = Duration::from_hours(1).as_micros();
            let at_us = history.entries.last()?.at_us + hour;
            let id = Some(RequestId(1 << 40));
            let request = Box::new(Request { id, message });
            let what = HistoryEvent::Sent {
                connection,
                request,
            };
            history.entries.push(HistoryEntry { at_us, event: what });
            let message = Box::new(ServerMessage::Matches {
                re: id,
                total: 0,
                matches: Vec::new(),
                seekers: None,
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
];

fn is_change(what: &HistoryEvent) -> bool {
    matches!(what, HistoryEvent::Received { message, .. } if matches!(**message, ServerMessage::ListChanged { .. }))
}

/// Where a list with a live match in it is shown to whoever has just asked to watch it, and on which
/// connection. They watch nothing else after that.
fn listed(history: &History) -> Option<(usize, ConnectionId)> {
    let is_watch = |what: &HistoryEvent| {
        matches!(what, HistoryEvent::Sent { request, .. } if matches!(request.message,
            ClientMessage::WatchList { .. } | ClientMessage::UnwatchList))
    };
    let begins = |what: &HistoryEvent| {
        matches!(what, HistoryEvent::Sent { request, .. }
            if matches!(request.message, ClientMessage::WatchList { .. }))
    };
    let all = 0..history.entries.len();
    let mut lists = all.filter_map(|place| match &history.entries[place].event {
        HistoryEvent::Received { message, .. } => match &**message {
            ServerMessage::Matches { matches, .. }
                if matches.iter().any(|row| row.status != MatchStatus::Ended) =>
            {
                Some((place, connection(history, place)?))
            }
            _ => None,
        },
        _ => None,
    });
    lists.find(|(place, on)| {
        let is_own = |at: &usize| connection(history, *at) == Some(*on);
        let mut before = (0..*place).rev().filter(is_own);
        let mut after = (*place..history.entries.len()).filter(is_own);
        // Before the list there is the request for it, and before that the watch and its answer.
        before
            .by_ref()
            .take(4)
            .any(|at| begins(&history.entries[at].event))
            && !after.any(|at| is_watch(&history.entries[at].event))
    })
}
