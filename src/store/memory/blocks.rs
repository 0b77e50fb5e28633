//! Who blocks whom, in memory.

use std::collections::{BTreeMap, BTreeSet};

use plyhouse_protocol::PlayerId;

use crate::BLOCKS_MAX;

/// Who blocks whom.
#[derive(Debug, Default)]
pub(super) struct Blocked {
    /// Whom a player blocks, and since when.
    own: BTreeMap<PlayerId, BTreeMap<PlayerId, u64>>,
    by: BTreeMap<PlayerId, BTreeSet<PlayerId>>,
}

impl Blocked {
    /// False if the player blocks too many.
    pub(super) fn change(
        &mut self,
        player: PlayerId,
        other: PlayerId,
        since_ms: Option<u64>,
    ) -> bool {
        let Some(since_ms) = since_ms else {
            self.end(player, other);
            return true;
        };
        let own = self.own.entry(player).or_default();
        if own.len() >= BLOCKS_MAX && !own.contains_key(&other) {
            return false;
        }
        own.entry(other).or_insert(since_ms);
        self.by.entry(other).or_default().insert(player);
        true
    }

    fn end(&mut self, player: PlayerId, other: PlayerId) {
        if let Some(own) = self.own.get_mut(&player) {
            own.remove(&other);
            if own.is_empty() {
                self.own.remove(&player);
            }
        }
        if let Some(by) = self.by.get_mut(&other) {
            by.remove(&player);
            if by.is_empty() {
                self.by.remove(&other);
            }
        }
    }

    /// Ends all that this player blocks, and all that blocks the player.
    pub(super) fn forget(&mut self, player: PlayerId) {
        for (other, _) in self.own(player) {
            self.end(player, other);
        }
        for other in self.by(player) {
            self.end(other, player);
        }
    }

    /// Whom the player blocks, in the order in which that began, and since when.
    pub(super) fn own(&self, player: PlayerId) -> Vec<(PlayerId, u64)> {
        let own = self.own.get(&player).into_iter().flatten();
        let mut own: Vec<(PlayerId, u64)> = own.map(|(id, since)| (*id, *since)).collect();
        own.sort_by_key(|(id, since_ms)| (*since_ms, *id));
        own
    }

    pub(super) fn by(&self, player: PlayerId) -> Vec<PlayerId> {
        let by = self.by.get(&player).into_iter().flatten();
        by.copied().collect()
    }
}
