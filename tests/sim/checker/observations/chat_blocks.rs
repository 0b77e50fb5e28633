//! Who does not want to meet whom, as far as that is certain, and whether anybody hears what they do not.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_protocol::{BlockedPlayer, ChatEntry, ClientMessage, PlayerId};

use super::{ConnectionId, Observations, PendingRequest, ViolationKind};

/// Who does not want to meet whom.
#[derive(Debug, Default)]
pub(crate) struct ChatBlocks {
    /// Who certainly blocks whom, since when, in microseconds.
    active_blocks: BTreeMap<(PlayerId, PlayerId), u128>,
    /// Those of before: from when to when.
    ended_blocks: Vec<((PlayerId, PlayerId), u128, u128)>,
    /// How often it was asked for that a block ends, and not answered.
    pending_unblocks: BTreeMap<(PlayerId, PlayerId), usize>,
    /// The players who have had each name.
    players_by_name: BTreeMap<String, BTreeSet<PlayerId>>,
    received_messages: usize,
    confirmed_blocks: usize,
}

impl ChatBlocks {
    /// How often somebody heard something, and was told that they block somebody.
    pub(crate) const fn counts(&self) -> (usize, usize) {
        (self.received_messages, self.confirmed_blocks)
    }

    pub(super) fn add_name(&mut self, player: PlayerId, name: &str) {
        self.players_by_name
            .entry(name.to_owned())
            .or_default()
            .insert(player);
    }

    /// Whether one of the two has certainly blocked the other since before this time, and does now.
    fn are_blocked(&self, one: PlayerId, other: PlayerId, at_us: u128) -> bool {
        let pairs = [(one, other), (other, one)];
        let mut since = pairs.iter().filter_map(|pair| self.active_blocks.get(pair));
        since.any(|since| *since < at_us)
    }

    /// Whether one of the two certainly blocked the other at this time, and had for as long before.
    pub(crate) fn were_blocked(
        &self,
        one: PlayerId,
        other: PlayerId,
        (at_us, min_duration_us): (u128, u128),
    ) -> bool {
        let pairs = [(one, other), (other, one)];
        let is_active = |pair| {
            let since = self.active_blocks.get(pair);
            since.is_some_and(|since| since + min_duration_us <= at_us)
        };
        let was_active = |past: &((PlayerId, PlayerId), u128, u128)| {
            pairs.contains(&past.0) && past.1 + min_duration_us <= at_us && at_us < past.2
        };
        pairs.iter().any(is_active) || self.ended_blocks.iter().any(was_active)
    }
}

impl Observations {
    /// A block that is to end is not certain from then on.
    pub(super) fn record_block_request(&mut self, on: ConnectionId, message: &ClientMessage) {
        let (Some(pair), false) = (self.blocked_pair(on, message), enables_block(message)) else {
            return;
        };
        let at_us = self.at_us;
        let chat_blocks = &mut self.chat_blocks;
        *chat_blocks.pending_unblocks.entry(pair).or_default() += 1;
        if let Some(since) = chat_blocks.active_blocks.remove(&pair) {
            chat_blocks.ended_blocks.push((pair, since, at_us));
        }
    }

    pub(super) fn check_block_list(
        &mut self,
        on: ConnectionId,
        players: &[BlockedPlayer],
        waiting: Option<&PendingRequest>,
    ) {
        let Some(waiting) = waiting else { return };
        let Some(pair) = self.blocked_pair(on, &waiting.message) else {
            return;
        };
        let at_us = self.at_us;
        let is_listed = players.iter().any(|blocked| blocked.id == pair.1);
        let ending = self.chat_blocks.pending_unblocks.entry(pair).or_default();
        if !enables_block(&waiting.message) {
            *ending -= 1;
        } else if *ending == 0 {
            self.chat_blocks.confirmed_blocks += 1;
            self.chat_blocks.active_blocks.entry(pair).or_insert(at_us);
            if !is_listed {
                let about = format!("{on:?} blocks {pair:?}, but the block list is {players:?}");
                self.report(ViolationKind::InvalidReply, about);
            }
        }
    }

    /// Nobody hears whoever they certainly do not meet. Of several servers one may not know of it yet; and what
    /// comes may have been on its way for long, but not since before something was asked for that has been answered.
    pub(super) fn check_chat(
        &mut self,
        on: ConnectionId,
        entries: &[ChatEntry],
        waiting: Option<&PendingRequest>,
    ) {
        let connection = self.connection(on);
        let sent_us = waiting.map_or(0, |waiting| waiting.sent_us);
        let sent_after_us = connection.delivered_until_us.max(sent_us);
        let Some(player) = connection.player else {
            return;
        };
        self.chat_blocks.received_messages += entries.len();
        if self.settled_us.is_some() {
            return;
        }
        for line in entries {
            let authors = self.chat_blocks.players_by_name.get(&line.name);
            let is_blocked = authors.is_some_and(|by| {
                !by.is_empty()
                    && by
                        .iter()
                        .all(|by| self.chat_blocks.are_blocked(player, *by, sent_after_us))
            });
            if is_blocked {
                let about = format!("{player} received a message of a blocked player: {line:?}");
                self.report(ViolationKind::IgnoredBlock, about);
            }
        }
    }

    /// Who blocks whom by this request.
    fn blocked_pair(
        &mut self,
        on: ConnectionId,
        message: &ClientMessage,
    ) -> Option<(PlayerId, PlayerId)> {
        let ClientMessage::Block {
            player: Some(other),
            ..
        } = message
        else {
            return None;
        };
        let player = self.connection(on).player?;
        let mut all = self.chat_blocks.players_by_name.values().flatten();
        let other = all.find(|id| id.to_string() == *other)?;
        Some((player, *other))
    }
}

const fn enables_block(message: &ClientMessage) -> bool {
    !matches!(
        message,
        ClientMessage::Block {
            enabled: Some(false),
            ..
        }
    )
}
