//! Finds the place in a history for an edit.

use plyhouse_matches::EventKind;
use plyhouse_protocol::{
    ClientMessage, CreateRequest, ErrorCode, Event, PlayerId, RequestId, ServerMessage, WireError,
};

use crate::history::{ConnectionId, History, HistoryEvent};
use crate::store::FinalState;

/// The record of a match that goes on with a move.
pub(super) fn moved(kept: &mut FinalState) -> Option<&mut Vec<plyhouse_matches::Event>> {
    let mut records = kept.matches.values_mut();
    records.find_map(|record| {
        let place = record
            .events
            .iter()
            .rposition(|event| matches!(event.kind, EventKind::Moved { .. }))?;
        record.events.truncate(place + 1);
        Some(&mut record.events)
    })
}

/// Gives everybody who has ever sat down another name.
pub(super) fn rename_all(kept: &mut FinalState) {
    let records = kept.matches.values_mut();
    for event in records.flat_map(|record| &mut record.events) {
        if let EventKind::Seated {
            occupant: plyhouse_matches::Occupant::Player { name, .. },
            ..
        } = &mut event.kind
        {
            name.push('x');
        }
    }
}

/// The first place where something like this happens.
pub(super) fn place(history: &History, fits: impl Fn(&HistoryEvent) -> bool) -> Option<usize> {
    history.entries.iter().position(|entry| fits(&entry.event))
}

pub(super) fn is_told(what: &HistoryEvent, kind: &str) -> bool {
    let HistoryEvent::Received { message, .. } = what else {
        return false;
    };
    match &**message {
        ServerMessage::Event(Event::Moved { .. }) => kind == "moved",
        ServerMessage::Event(Event::Ended { .. }) => kind == "ended",
        _ => false,
    }
}

/// Where somebody is told of a move, and of another event of the match next: without the one there is a gap.
pub(super) fn place_of_gap(history: &History) -> Option<usize> {
    // On which connection, of which match, and whether by an event.
    let told = |what: &HistoryEvent| match what {
        HistoryEvent::Received {
            connection,
            message,
        } => match &**message {
            ServerMessage::Event(event) => Some((*connection, event.match_id(), true)),
            ServerMessage::Match(shown) => Some((*connection, shown.match_id, false)),
            _ => None,
        },
        _ => None,
    };
    let is_followed = |place: usize| {
        let entries = history.entries[place..].iter();
        let mut said = entries.filter_map(|entry| told(&entry.event));
        let Some((on, of, _)) = said.next() else {
            return false;
        };
        let next = said.find(|(connection, id, _)| (*connection, *id) == (on, of));
        next.is_some_and(|(_, _, is_event)| is_event)
    };
    let mut places = 0..history.entries.len();
    places.find(|place| is_told(&history.entries[*place].event, "moved") && is_followed(*place))
}

/// Where somebody is told of their own move: the answer comes next.
pub(super) fn place_of_own(history: &History) -> Option<usize> {
    history.entries.windows(2).position(|pair| {
        let [told, answer] = pair else {
            return false;
        };
        let is_answer = |what: &HistoryEvent| {
            matches!(what, HistoryEvent::Received { message, .. }
                if matches!(**message, ServerMessage::Ok { seq: Some(_), .. }))
        };
        is_told(&told.event, "moved")
            && is_answer(&answer.event)
            && connection_of(&told.event) == connection_of(&answer.event)
    })
}

/// Where a move was sent that was played, and asked for only once.
pub(super) fn place_of_move(history: &History) -> Option<usize> {
    let sent = |what: &HistoryEvent| match what {
        HistoryEvent::Sent { request, .. } => match &request.message {
            ClientMessage::Move { target, ply, m, .. } => Some((*target, *ply, m.clone())),
            _ => None,
        },
        _ => None,
    };
    let is_played = |place: usize| {
        let HistoryEvent::Sent {
            connection: on,
            request,
        } = &history.entries[place].event
        else {
            return false;
        };
        history.entries[place..].iter().any(|entry| {
            matches!(&entry.event, HistoryEvent::Received { connection, message }
                if connection == on && message.re() == request.id
                    && matches!(**message, ServerMessage::Ok { .. }))
        })
    };
    let moves = history.entries.iter().map(|entry| sent(&entry.event));
    let moves: Vec<_> = moves.collect();
    (0..moves.len()).find(|place| {
        let once = moves.iter().filter(|m| **m == moves[*place]).count() == 1;
        moves[*place].is_some() && once && is_played(*place)
    })
}

/// The answer to the request at this place.
pub(super) fn answer(history: &mut History, place: usize) -> Option<&mut ServerMessage> {
    let (before, after) = history.entries.split_at_mut(place + 1);
    let HistoryEvent::Sent {
        connection: on,
        request,
    } = &before.last()?.event
    else {
        return None;
    };
    after.iter_mut().find_map(|entry| match &mut entry.event {
        HistoryEvent::Received {
            connection,
            message,
        } if connection == on && message.re() == request.id => Some(&mut **message),
        _ => None,
    })
}

pub(super) fn connection(history: &History, place: usize) -> Option<ConnectionId> {
    connection_of(&history.entries[place].event)
}

const fn connection_of(what: &HistoryEvent) -> Option<ConnectionId> {
    match what {
        HistoryEvent::Sent { connection, .. } | HistoryEvent::Received { connection, .. } => {
            Some(*connection)
        }
        _ => None,
    }
}

/// Who the server takes a connection for.
pub(super) fn player(history: &History, on: ConnectionId) -> Option<PlayerId> {
    history.entries.iter().find_map(|entry| match &entry.event {
        HistoryEvent::Received {
            connection,
            message,
        } if *connection == on => match &**message {
            ServerMessage::Welcome(welcome) => Some(welcome.player.id),
            _ => None,
        },
        _ => None,
    })
}

/// Changes the first message for which that can be done, or the last.
pub(super) fn got(
    history: &mut History,
    from_end: bool,
    mut edit: impl FnMut(&mut ServerMessage) -> Option<()>,
) -> Option<()> {
    let mut edit = |what: &mut HistoryEvent| match what {
        HistoryEvent::Received { message, .. } => edit(message),
        _ => None,
    };
    let mut entries = history.entries.iter_mut();
    if from_end {
        entries.rev().find_map(|entry| edit(&mut entry.event))
    } else {
        entries.find_map(|entry| edit(&mut entry.event))
    }
}

pub(super) fn told(
    history: &mut History,
    mut edit: impl FnMut(&mut Event) -> Option<()>,
) -> Option<()> {
    got(history, true, |message| match message {
        ServerMessage::Event(event) => edit(event),
        _ => None,
    })
}

/// The request by which a match was created that begins with a position of its own.
pub(super) fn created_apart(history: &mut History) -> Option<&mut CreateRequest> {
    let found = history.entries.iter().find_map(|entry| match &entry.event {
        HistoryEvent::Received {
            connection,
            message,
        } => match &**message {
            ServerMessage::Match(shown) if shown.initial_position.is_some() => {
                let is_asked = |what: &HistoryEvent| {
                    matches!(what, HistoryEvent::Sent { connection: on, request } if on == connection
                        && request.id.is_some() && request.id == shown.re
                        && matches!(request.message, ClientMessage::Create(_)))
                };
                place(history, is_asked)
            }
            _ => None,
        },
        _ => None,
    })?;
    match &mut history.entries[found].event {
        HistoryEvent::Sent { request, .. } => match &mut request.message {
            ClientMessage::Create(create) => Some(create),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn error(re: Option<RequestId>, code: ErrorCode) -> ServerMessage {
    let error = WireError::new(code, "an edit");
    ServerMessage::Error(Box::new(WireError { re, ..error }))
}

pub(super) fn nobody() -> PlayerId {
    PlayerId(uuid::Uuid::nil())
}
