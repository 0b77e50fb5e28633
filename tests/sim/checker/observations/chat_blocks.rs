//! Tracks which blocks between players are certainly active, and checks that players receive no
//! chat from blocked players.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_protocol::{BlockedPlayer, ChatEntry, ClientMessage, PlayerId};

use super::{ConnectionId, Observations, PendingRequest, ViolationKind};

/// Blocks between players.
#[derive(Debug, Default)]
pub(crate) struct ChatBlocks {
    /// Blocks that are certainly active, keyed by the blocking and the blocked player. The value is
    /// the start time in microseconds.
    active_blocks: BTreeMap<(PlayerId, PlayerId), u128>,
    /// Blocks that a client has requested to remove. Each entry holds the blocking and the blocked
    /// player, the start time of the block, and the time of the removal request.
    ended_blocks: Vec<((PlayerId, PlayerId), u128, u128)>,
    /// Number of requests to end a block that have no reply yet.
    pending_unblocks: BTreeMap<(PlayerId, PlayerId), usize>,
    /// Players that have used each player name.
    players_by_name: BTreeMap<String, BTreeSet<PlayerId>>,
    received_messages: usize,
    confirmed_blocks: usize,
}

impl ChatBlocks {
    /// Returns the numbers of received chat messages and of confirmed blocks.
    pub(crate) const fn counts(&self) -> (usize, usize) {
        (self.received_messages, self.confirmed_blocks)
    }

    pub(super) fn add_name(&mut self, player: PlayerId, name: &str) {
        self.players_by_name
            .entry(name.to_owned())
            .or_default()
            .insert(player);
    }

    /// Returns whether one of the two players blocked the other before `at_us` and the block is
    /// certainly still active.
    fn are_blocked(&self, one: PlayerId, other: PlayerId, at_us: u128) -> bool {
        let pairs = [(one, other), (other, one)];
        let mut since = pairs.iter().filter_map(|pair| self.active_blocks.get(pair));
        since.any(|since| *since < at_us)
    }

    /// Returns whether a block between the two players was certainly active at `at_us`. The block
    /// must have started at least `min_duration_us` before that time.
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
    /// Treats a block as no longer certain when a client requests its removal.
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

    /// Checks that no client receives chat between two players if one of them has blocked the
    /// other. Clusters are exempt, because a server may not know of the block yet. The check
    /// ignores blocks that were not active when the client sent its last answered request. The
    /// server sent the chat message after the client had sent this last request.
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

    /// Returns the blocking and the blocked player of a block request.
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
