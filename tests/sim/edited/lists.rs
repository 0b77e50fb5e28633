//! Edits of lists, and of what is told to those who watch them.

use std::time::Duration;

use plyhouse_protocol::{ClientMessage, MatchStatus, Request, RequestId, ServerMessage};

use super::Named;
use super::finding::{connection, got, place};
use crate::checker::Kind;
use crate::history::{ConnectionId, Entry, History, What};

pub(super) const EDITS: &[Named] = &[
    ("a row of nothing", Kind::WrongList, |history, _| {
        got(history, true, |message| match message {
            ServerMessage::ListChanged { changed, .. } => {
                changed.first_mut()?.code.push('x');
                Some(())
            }
            _ => None,
        })
    }),
    (
        "a row the other way round",
        Kind::WrongList,
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
        Kind::WrongList,
        |history, _| {
            let changes = place(history, is_change)?;
            match &mut history.entries[changes].what {
                What::Got { connection, .. } => *connection = ConnectionId(0),
                _ => return None,
            }
            Some(())
        },
    ),
    ("a list that never rests", Kind::WrongList, |history, _| {
        let changes = place(history, is_change)?;
        let again = history.entries[changes].clone();
        let often = std::iter::repeat_n(again, 100);
        history.entries.splice(changes..changes, often);
        Some(())
    }),
    ("a wrong number", Kind::WrongList, |history, _| {
        let (listed, on) = listed(history)?;
        let later = history.entries.iter_mut().skip(listed);
        later.rev().find_map(|entry| match &mut entry.what {
            What::Got {
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
        Kind::WrongList,
        |history, _| {
            let (listed, connection) = listed(history)?;
            let is_told = |entry: &Entry| match &entry.what {
                What::Got {
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
            let mut list = list.filter_map(|entry| match &entry.what {
                What::Sent {
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
            let what = What::Sent {
                connection,
                request,
            };
            history.entries.push(Entry { at_us, what });
            let message = Box::new(ServerMessage::Matches {
                re: id,
                total: 0,
                matches: Vec::new(),
                seekers: None,
                ignored: Vec::new(),
            });
            let what = What::Got {
                connection,
                message,
            };
            history.entries.push(Entry { at_us, what });
            Some(())
        },
    ),
];

fn is_change(what: &What) -> bool {
    matches!(what, What::Got { message, .. } if matches!(**message, ServerMessage::ListChanged { .. }))
}

/// Where a list with a live match in it is shown to whoever has just asked to watch it, and on which
/// connection. They watch nothing else after that.
fn listed(history: &History) -> Option<(usize, ConnectionId)> {
    let is_watch = |what: &What| {
        matches!(what, What::Sent { request, .. } if matches!(request.message,
            ClientMessage::WatchList { .. } | ClientMessage::UnwatchList))
    };
    let begins = |what: &What| {
        matches!(what, What::Sent { request, .. }
            if matches!(request.message, ClientMessage::WatchList { .. }))
    };
    let all = 0..history.entries.len();
    let mut lists = all.filter_map(|place| match &history.entries[place].what {
        What::Got { message, .. } => match &**message {
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
            .any(|at| begins(&history.entries[at].what))
            && !after.any(|at| is_watch(&history.entries[at].what))
    })
}
