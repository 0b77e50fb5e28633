//! Edits of who hears and meets whom.

use std::collections::BTreeSet;

use plyhouse_protocol::{
    BlockedPlayer, ClientMessage, PlayerId, Request, RequestId, ServerMessage,
};

use super::NamedMutation;
use crate::checker::ViolationKind;
use crate::history::{ConnectionId, History, HistoryEntry, HistoryEvent};

pub(super) const EDITS: &[NamedMutation] = &[
    (
        "words of somebody who is blocked",
        ViolationKind::IgnoredBlock,
        |history, _| {
            let (place, on, by) = heard(history)?;
            block(history, place, on, &by);
            Some(())
        },
    ),
    (
        "a block that is not told",
        ViolationKind::InvalidReply,
        |history, _| {
            let mut entries = history.entries.iter_mut();
            entries.find_map(|entry| match &mut entry.event {
                HistoryEvent::Received { message, .. } => match &mut **message {
                    ServerMessage::Blocked { players, .. } if !players.is_empty() => {
                        players.clear();
                        Some(())
                    }
                    _ => None,
                },
                _ => None,
            })
        },
    ),
];

/// Who has this name, or which player a connection is of.
fn welcomed(history: &History, fits: impl Fn(ConnectionId, &str) -> bool) -> BTreeSet<PlayerId> {
    let all = history
        .entries
        .iter()
        .filter_map(|entry| match &entry.event {
            HistoryEvent::Received {
                connection,
                message,
            } => match &**message {
                ServerMessage::Welcome(welcome) => Some((*connection, welcome)),
                _ => None,
            },
            _ => None,
        });
    let found = all.filter(|(on, welcome)| fits(*on, &welcome.player.name));
    found.map(|(_, welcome)| welcome.player.id).collect()
}

/// Where somebody hears what another says, who has had no other identity.
fn heard(history: &History) -> Option<(usize, ConnectionId, BlockedPlayer)> {
    let entries = history.entries.iter().enumerate();
    let mut said = entries.filter_map(|(place, entry)| match &entry.event {
        HistoryEvent::Received {
            connection,
            message,
        } => match &**message {
            ServerMessage::Chat { entry: said, .. } => {
                Some((place, *connection, said.name.clone()))
            }
            _ => None,
        },
        _ => None,
    });
    said.find_map(|(place, on, name)| {
        let by = welcomed(history, |_, known| known == name);
        let own = welcomed(history, |known, _| known == on);
        let id = *by.first().filter(|_| by.len() == 1)?;
        (!own.contains(&id)).then_some((place, on, BlockedPlayer { id, name }))
    })
}

/// Has whoever is there block somebody before this place, and be answered something that was asked for later.
fn block(history: &mut History, place: usize, connection: ConnectionId, other: &BlockedPlayer) {
    let at_us = history.entries[place].at_us;
    let (id, later) = (RequestId(1 << 52), RequestId((1 << 52) + 1));
    let message = ClientMessage::Block {
        player: Some(other.id.to_string()),
        enabled: Some(true),
    };
    let blocked = ServerMessage::Blocked {
        re: Some(id),
        players: vec![other.clone()],
        ignored: Vec::new(),
    };
    let pong = ServerMessage::Pong {
        re: Some(later),
        now_ms: 0,
        ignored: Vec::new(),
    };
    let sent = |id, message| HistoryEvent::Sent {
        connection,
        request: Box::new(Request {
            id: Some(id),
            message,
        }),
    };
    let got = |message| HistoryEvent::Received {
        connection,
        message: Box::new(message),
    };
    let entries = [
        (at_us - 1, sent(id, message)),
        (at_us - 1, got(blocked)),
        (at_us, sent(later, ClientMessage::Ping)),
        (at_us, got(pong)),
    ];
    let entries = entries.map(|(at_us, what)| HistoryEntry { at_us, event: what });
    history.entries.splice(place..place, entries);
}
