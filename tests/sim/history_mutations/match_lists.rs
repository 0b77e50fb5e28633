//! Mutations of match lists and their updates.

use std::time::Duration;

use plyhouse_protocol::{ClientMessage, MatchStatus, Request, RequestId, ServerMessage};

use super::NamedMutation;
use super::entry_lookup::{change_received_message, connection_at, find_index};
use crate::checker::ViolationKind;
use crate::history::{ConnectionId, History, HistoryEntry, HistoryEvent};

pub(super) const MUTATIONS: &[NamedMutation] = &[
    (
        "a row with a wrong code",
        ViolationKind::WrongList,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::ListChanged { changed, .. } => {
                    changed.first_mut()?.code.push('x');
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "a row with swapped seats",
        ViolationKind::WrongList,
        |history, _| {
            change_received_message(history, true, |message| match message {
                ServerMessage::Matches { matches, .. } => {
                    matches.first_mut()?.seats.reverse();
                    Some(())
                }
                _ => None,
            })
        },
    ),
    (
        "an update of an unwatched list",
        ViolationKind::WrongList,
        |history, _| {
            let index = find_index(history, is_list_update)?;
            match &mut history.entries[index].event {
                HistoryEvent::Received { connection, .. } => *connection = ConnectionId(0),
                _ => return None,
            }
            Some(())
        },
    ),
    (
        "too many list updates",
        ViolationKind::WrongList,
        |history, _| {
            let index = find_index(history, is_list_update)?;
            let update = history.entries[index].clone();
            let copies = std::iter::repeat_n(update, 100);
            history.entries.splice(index..index, copies);
            Some(())
        },
    ),
    ("a wrong total", ViolationKind::WrongList, |history, _| {
        let (list_index, on) = find_watched_list(history)?;
        let later = history.entries.iter_mut().skip(list_index);
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
        "a missing list update",
        ViolationKind::WrongList,
        |history, _| {
            let (list_index, connection) = find_watched_list(history)?;
            let is_own_update = |entry: &HistoryEntry| match &entry.event {
                HistoryEvent::Received {
                    connection: on,
                    message,
                } => *on == connection && matches!(**message, ServerMessage::ListChanged { .. }),
                _ => false,
            };
            if history.entries.iter().skip(list_index).any(is_own_update) {
                return None;
            }
            // Adds an empty list an hour later, although no update has reported the removals.
            let list = history.entries[..list_index].iter().rev();
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
            let event = HistoryEvent::Sent {
                connection,
                request,
            };
            history.entries.push(HistoryEntry { at_us, event });
            let message = Box::new(ServerMessage::Matches {
                re: id,
                total: 0,
                matches: Vec::new(),
                seekers: None,
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
];

fn is_list_update(what: &HistoryEvent) -> bool {
    matches!(what, HistoryEvent::Received { message, .. } if matches!(**message, ServerMessage::ListChanged { .. }))
}

/// Finds the first list after a subscription that contains a live match, and returns its position
/// and connection. The connection does not change its subscription afterwards.
fn find_watched_list(history: &History) -> Option<(usize, ConnectionId)> {
    let changes_watched_list = |what: &HistoryEvent| {
        matches!(what, HistoryEvent::Sent { request, .. } if matches!(request.message,
            ClientMessage::WatchList { .. } | ClientMessage::UnwatchList))
    };
    let is_watch_request = |what: &HistoryEvent| {
        matches!(what, HistoryEvent::Sent { request, .. }
            if matches!(request.message, ClientMessage::WatchList { .. }))
    };
    let all = 0..history.entries.len();
    let mut lists = all.filter_map(|index| match &history.entries[index].event {
        HistoryEvent::Received { message, .. } => match &**message {
            ServerMessage::Matches { matches, .. }
                if matches.iter().any(|row| row.status != MatchStatus::Ended) =>
            {
                Some((index, connection_at(history, index)?))
            }
            _ => None,
        },
        _ => None,
    });
    lists.find(|(index, on)| {
        let is_own = |at: &usize| connection_at(history, *at) == Some(*on);
        let mut before = (0..*index).rev().filter(is_own);
        let mut after = (*index..history.entries.len()).filter(is_own);
        // The list is preceded by the subscription, its reply and the request for the list.
        before
            .by_ref()
            .take(4)
            .any(|at| is_watch_request(&history.entries[at].event))
            && !after.any(|at| changes_watched_list(&history.entries[at].event))
    })
}
