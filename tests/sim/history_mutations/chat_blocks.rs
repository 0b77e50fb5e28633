//! Mutations of chat messages and block lists.

use std::collections::BTreeSet;

use plyhouse_protocol::{
    BlockedPlayer, ClientMessage, PlayerId, Request, RequestId, ServerMessage,
};

use super::NamedMutation;
use crate::checker::ViolationKind;
use crate::history::{ConnectionId, History, HistoryEntry, HistoryEvent};

pub(super) const MUTATIONS: &[NamedMutation] = &[
    (
        "a chat message from a blocked player",
        ViolationKind::IgnoredBlock,
        |history, _| {
            let (index, on, author) = find_received_chat(history)?;
            insert_block(history, index, on, &author);
            Some(())
        },
    ),
    (
        "a missing player in the block list",
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

/// Returns the players in all `welcome` messages whose connection and player name satisfy `fits`.
fn find_welcomed_players(
    history: &History,
    fits: impl Fn(ConnectionId, &str) -> bool,
) -> BTreeSet<PlayerId> {
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

/// Finds a received chat message whose author is certain. Returns its position, the receiving
/// connection and the author.
fn find_received_chat(history: &History) -> Option<(usize, ConnectionId, BlockedPlayer)> {
    let entries = history.entries.iter().enumerate();
    let mut chat_messages = entries.filter_map(|(index, entry)| match &entry.event {
        HistoryEvent::Received {
            connection,
            message,
        } => match &**message {
            ServerMessage::Chat {
                entry: chat_message,
                ..
            } => Some((index, *connection, chat_message.name.clone())),
            _ => None,
        },
        _ => None,
    });
    chat_messages.find_map(|(index, on, name)| {
        let authors = find_welcomed_players(history, |_, known| known == name);
        let own_players = find_welcomed_players(history, |known, _| known == on);
        let id = *authors.first().filter(|_| authors.len() == 1)?;
        (!own_players.contains(&id)).then_some((index, on, BlockedPlayer { id, name }))
    })
}

/// Inserts a block request and a later ping, each with its reply, before this position.
fn insert_block(
    history: &mut History,
    index: usize,
    connection: ConnectionId,
    blocked_player: &BlockedPlayer,
) {
    let at_us = history.entries[index].at_us;
    let (id, later_id) = (RequestId(1 << 52), RequestId((1 << 52) + 1));
    let message = ClientMessage::Block {
        player: Some(blocked_player.id.to_string()),
        enabled: Some(true),
    };
    let blocked = ServerMessage::Blocked {
        re: Some(id),
        players: vec![blocked_player.clone()],
        ignored: Vec::new(),
    };
    let pong = ServerMessage::Pong {
        re: Some(later_id),
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
    let received = |message| HistoryEvent::Received {
        connection,
        message: Box::new(message),
    };
    let entries = [
        (at_us - 1, sent(id, message)),
        (at_us - 1, received(blocked)),
        (at_us, sent(later_id, ClientMessage::Ping)),
        (at_us, received(pong)),
    ];
    let entries = entries.map(|(at_us, event)| HistoryEntry { at_us, event });
    history.entries.splice(index..index, entries);
}
