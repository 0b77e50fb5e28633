//! In-memory storage of the players that each player blocks.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_protocol::PlayerId;

use crate::BLOCKS_MAX;

#[derive(Debug, Default)]
pub(super) struct BlockLists {
    /// Maps each player to the players that the player blocks. The inner value is the time at which
    /// the block started, as Unix time in milliseconds.
    blocked: BTreeMap<PlayerId, BTreeMap<PlayerId, u64>>,
    blocked_by: BTreeMap<PlayerId, BTreeSet<PlayerId>>,
}

impl BlockLists {
    /// Makes `player` block `other`, or ends the block if `since_ms` is `None`. Returns `false` if
    /// the player already blocks the maximum number of players.
    pub(super) fn change_block(
        &mut self,
        player: PlayerId,
        other: PlayerId,
        since_ms: Option<u64>,
    ) -> bool {
        let Some(since_ms) = since_ms else {
            self.unblock(player, other);
            return true;
        };
        let blocked = self.blocked.entry(player).or_default();
        if blocked.len() >= BLOCKS_MAX && !blocked.contains_key(&other) {
            return false;
        }
        blocked.entry(other).or_insert(since_ms);
        self.blocked_by.entry(other).or_default().insert(player);
        true
    }

    fn unblock(&mut self, player: PlayerId, other: PlayerId) {
        if let Some(blocked) = self.blocked.get_mut(&player) {
            blocked.remove(&other);
            if blocked.is_empty() {
                self.blocked.remove(&player);
            }
        }
        if let Some(blocked_by) = self.blocked_by.get_mut(&other) {
            blocked_by.remove(&player);
            if blocked_by.is_empty() {
                self.blocked_by.remove(&other);
            }
        }
    }

    /// Ends all blocks by this player and against this player.
    pub(super) fn remove_player(&mut self, player: PlayerId) {
        for (other, _) in self.blocked_by_player(player) {
            self.unblock(player, other);
        }
        for other in self.blockers_of(player) {
            self.unblock(other, player);
        }
    }

    /// Returns the players that a player blocks, each with the start of the block. The list is
    /// sorted by the start of the block.
    pub(super) fn blocked_by_player(&self, player: PlayerId) -> Vec<(PlayerId, u64)> {
        let blocked = self.blocked.get(&player).into_iter().flatten();
        let mut blocked: Vec<(PlayerId, u64)> = blocked.map(|(id, since)| (*id, *since)).collect();
        blocked.sort_by_key(|(id, since_ms)| (*since_ms, *id));
        blocked
    }

    pub(super) fn blockers_of(&self, player: PlayerId) -> Vec<PlayerId> {
        let blockers = self.blocked_by.get(&player).into_iter().flatten();
        blockers.copied().collect()
    }
}
