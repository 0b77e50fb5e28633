//! Helpers that find and change the history entries and stored events for mutations.

use plyhouse_matches::EventKind;
use plyhouse_protocol::{
    ClientMessage, CreateRequest, ErrorCode, Event, PlayerId, RequestId, ServerMessage, WireError,
};

use crate::history::{ConnectionId, History, HistoryEvent};
use crate::store::FinalState;

/// Removes all events after the last move of the first match with a move. Returns the events of the
/// match.
pub(super) fn truncate_after_last_move(
    stored: &mut FinalState,
) -> Option<&mut Vec<plyhouse_matches::Event>> {
    let mut records = stored.matches.values_mut();
    records.find_map(|record| {
        let index = record
            .events
            .iter()
            .rposition(|event| matches!(event.kind, EventKind::Moved { .. }))?;
        record.events.truncate(index + 1);
        Some(&mut record.events)
    })
}

/// Changes the name of every player in a stored `Seated` event.
pub(super) fn rename_players(stored: &mut FinalState) {
    let records = stored.matches.values_mut();
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

/// Returns the position of the first history event that satisfies `fits`.
pub(super) fn find_index(history: &History, fits: impl Fn(&HistoryEvent) -> bool) -> Option<usize> {
    history.entries.iter().position(|entry| fits(&entry.event))
}

pub(super) fn is_event_of_kind(what: &HistoryEvent, kind: &str) -> bool {
    let HistoryEvent::Received { message, .. } = what else {
        return false;
    };
    match &**message {
        ServerMessage::Event(Event::Moved { .. }) => kind == "moved",
        ServerMessage::Event(Event::Ended { .. }) => kind == "ended",
        _ => false,
    }
}

/// Returns the position of a received move that is followed by another event of the match on the
/// same connection. Removing the move leaves a gap.
pub(super) fn find_followed_move_event(history: &History) -> Option<usize> {
    // Returns the connection and the match of a message, and whether the message is an event.
    let event_target = |what: &HistoryEvent| match what {
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
    let is_followed = |index: usize| {
        let entries = history.entries[index..].iter();
        let mut targets = entries.filter_map(|entry| event_target(&entry.event));
        let Some((on, match_id, _)) = targets.next() else {
            return false;
        };
        let next = targets.find(|(connection, id, _)| (*connection, *id) == (on, match_id));
        next.is_some_and(|(_, _, is_event)| is_event)
    };
    let mut indices = 0..history.entries.len();
    indices.find(|index| {
        is_event_of_kind(&history.entries[*index].event, "moved") && is_followed(*index)
    })
}

/// Returns the position of a received move event that is directly followed by the reply to the
/// move.
pub(super) fn find_own_move_event(history: &History) -> Option<usize> {
    history.entries.windows(2).position(|pair| {
        let [event, reply] = pair else {
            return false;
        };
        let is_move_reply = |what: &HistoryEvent| {
            matches!(what, HistoryEvent::Received { message, .. }
                if matches!(**message, ServerMessage::Ok { seq: Some(_), .. }))
        };
        is_event_of_kind(&event.event, "moved")
            && is_move_reply(&reply.event)
            && connection_of(&event.event) == connection_of(&reply.event)
    })
}

/// Returns the position of an accepted move request that was sent only once.
pub(super) fn find_played_move_request(history: &History) -> Option<usize> {
    let move_request = |what: &HistoryEvent| match what {
        HistoryEvent::Sent { request, .. } => match &request.message {
            ClientMessage::Move { target, ply, m, .. } => Some((*target, *ply, m.clone())),
            _ => None,
        },
        _ => None,
    };
    let is_played = |index: usize| {
        let HistoryEvent::Sent {
            connection: on,
            request,
        } = &history.entries[index].event
        else {
            return false;
        };
        history.entries[index..].iter().any(|entry| {
            matches!(&entry.event, HistoryEvent::Received { connection, message }
                if connection == on && message.re() == request.id
                    && matches!(**message, ServerMessage::Ok { .. }))
        })
    };
    let moves = history
        .entries
        .iter()
        .map(|entry| move_request(&entry.event));
    let moves: Vec<_> = moves.collect();
    (0..moves.len()).find(|place| {
        let is_unique = moves.iter().filter(|m| **m == moves[*place]).count() == 1;
        moves[*place].is_some() && is_unique && is_played(*place)
    })
}

/// Returns the reply to the request at this position.
pub(super) fn reply_to(history: &mut History, index: usize) -> Option<&mut ServerMessage> {
    let (before, after) = history.entries.split_at_mut(index + 1);
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

pub(super) fn connection_at(history: &History, index: usize) -> Option<ConnectionId> {
    connection_of(&history.entries[index].event)
}

const fn connection_of(what: &HistoryEvent) -> Option<ConnectionId> {
    match what {
        HistoryEvent::Sent { connection, .. } | HistoryEvent::Received { connection, .. } => {
            Some(*connection)
        }
        _ => None,
    }
}

/// Returns the player that is logged in on a connection.
pub(super) fn player_of(history: &History, on: ConnectionId) -> Option<PlayerId> {
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

/// Applies `change` to the received messages until it returns `Some`. Starts with the last message
/// if `from_end` is set.
pub(super) fn change_received_message(
    history: &mut History,
    from_end: bool,
    mut change: impl FnMut(&mut ServerMessage) -> Option<()>,
) -> Option<()> {
    let mut change_entry = |what: &mut HistoryEvent| match what {
        HistoryEvent::Received { message, .. } => change(message),
        _ => None,
    };
    let mut entries = history.entries.iter_mut();
    if from_end {
        entries
            .rev()
            .find_map(|entry| change_entry(&mut entry.event))
    } else {
        entries.find_map(|entry| change_entry(&mut entry.event))
    }
}

pub(super) fn change_received_event(
    history: &mut History,
    mut change: impl FnMut(&mut Event) -> Option<()>,
) -> Option<()> {
    change_received_message(history, true, |message| match message {
        ServerMessage::Event(event) => change(event),
        _ => None,
    })
}

/// Returns the `create` request of a match with a custom start position.
pub(super) fn custom_position_request(history: &mut History) -> Option<&mut CreateRequest> {
    let index = history.entries.iter().find_map(|entry| match &entry.event {
        HistoryEvent::Received {
            connection,
            message,
        } => match &**message {
            ServerMessage::Match(shown) if shown.initial_position.is_some() => {
                let is_create_request = |what: &HistoryEvent| {
                    matches!(what, HistoryEvent::Sent { connection: on, request } if on == connection
                        && request.id.is_some() && request.id == shown.re
                        && matches!(request.message, ClientMessage::Create(_)))
                };
                find_index(history, is_create_request)
            }
            _ => None,
        },
        _ => None,
    })?;
    match &mut history.entries[index].event {
        HistoryEvent::Sent { request, .. } => match &mut request.message {
            ClientMessage::Create(create) => Some(create),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn error_message(re: Option<RequestId>, code: ErrorCode) -> ServerMessage {
    let error = WireError::new(code, "an edit");
    ServerMessage::Error(Box::new(WireError { re, ..error }))
}

pub(super) fn nil_player_id() -> PlayerId {
    PlayerId(uuid::Uuid::nil())
}
