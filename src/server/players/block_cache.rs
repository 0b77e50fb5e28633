//! Caches the blocks between players, for players connected to this server. The store is
//! authoritative. Cache reads never wait for the store, so the server can check blocks while it
//! delivers chat messages.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::locks::{BLOCK_CACHE, Mutex};
use plyhouse_protocol::PlayerId;
use plyhouse_store::Blocks as StoredBlocks;

/// Blocks of all players who are connected to this server.
#[derive(Debug, Default)]
pub(crate) struct BlockCache {
    entries: Mutex<BTreeMap<PlayerId, Entry>, BLOCK_CACHE>,
}

#[derive(Debug, Default)]
struct Entry {
    /// Number of the player's connections, including those being established.
    connection_count: usize,
    /// Players that this player must not be paired with.
    unpairable: BTreeSet<PlayerId>,
    /// Number of changes of this entry. If the number changes during a read from the store, the
    /// blocks that were read are discarded.
    change_count: u64,
}

impl BlockCache {
    /// Counts a new connection of a player.
    pub(crate) fn add_connection(&self, player: PlayerId) {
        let mut entries = self.entries.lock();
        entries.entry(player).or_default().connection_count += 1;
    }

    /// Removes a closed connection from the player's connection count. When the last connection
    /// closes, the player's blocks are removed from the cache.
    pub(crate) fn remove_connection(&self, player: PlayerId) {
        let mut entries = self.entries.lock();
        if let Some(entry) = entries.get_mut(&player) {
            entry.connection_count -= 1;
            if entry.connection_count == 0 {
                entries.remove(&player);
            }
        }
    }

    /// Returns whether the cache contains a block between two players. The result is reliable only
    /// if at least one of the players is connected to this server.
    pub(crate) fn are_unpairable(&self, one: PlayerId, other: PlayerId) -> bool {
        let entries = self.entries.lock();
        let contains_pair = |one, other| {
            let entry = entries.get(one);
            entry.is_some_and(|entry: &Entry| entry.unpairable.contains(other))
        };
        contains_pair(&one, &other) || contains_pair(&other, &one)
    }

    /// Returns the players that a connected player must not be paired with.
    pub(crate) fn unpairable_with(&self, player: PlayerId) -> BTreeSet<PlayerId> {
        let entries = self.entries.lock();
        let entry = entries.get(&player);
        entry.map_or_else(BTreeSet::new, |entry| entry.unpairable.clone())
    }

    /// Records that a block between two players was added or removed. While the block exists,
    /// neither player may be paired with the other. The caller must reload the blocks of linked
    /// accounts from the store.
    pub(crate) fn set_unpairable(&self, player: PlayerId, other: PlayerId, is_unpairable: bool) {
        let mut entries = self.entries.lock();
        for (one, other) in [(player, other), (other, player)] {
            if let Some(entry) = entries.get_mut(&one) {
                entry.change_count += 1;
                match is_unpairable {
                    true => entry.unpairable.insert(other),
                    false => entry.unpairable.remove(&other),
                };
            }
        }
    }

    /// Returns the number of changes of a player's entry, or `None` if the player is not
    /// connected to this server.
    pub(crate) fn change_count(&self, player: PlayerId) -> Option<u64> {
        Some(self.entries.lock().get(&player)?.change_count)
    }

    /// Caches the blocks of a player as read from the store. `changes_before` is the change count
    /// before the read. If the change count has increased since then, returns `false` and leaves
    /// the cache unchanged.
    pub(crate) fn update_if_unchanged(
        &self,
        player: PlayerId,
        stored: &StoredBlocks,
        changes_before: u64,
    ) -> bool {
        let mut entries = self.entries.lock();
        let Some(entry) = entries.get_mut(&player) else {
            return true;
        };
        if entry.change_count != changes_before {
            return false;
        }
        entry.unpairable = stored.unpairable.iter().copied().collect();
        entry.change_count += 1;
        true
    }

    pub(crate) fn players(&self) -> Vec<PlayerId> {
        self.entries.lock().keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use plyhouse_store::PlayerRecord;
    use uuid::Uuid;

    use super::*;

    const ANN: PlayerId = PlayerId(Uuid::from_u128(1));
    const BOB: PlayerId = PlayerId(Uuid::from_u128(2));

    #[test]
    fn block_applies_in_both_directions_if_either_is_connected() {
        let cache = BlockCache::default();
        cache.set_unpairable(ANN, BOB, true);
        assert!(!cache.are_unpairable(ANN, BOB), "no player is connected");
        for connected in [ANN, BOB] {
            cache.entries.lock().insert(connected, Entry::default());
            cache.set_unpairable(ANN, BOB, true);
            assert!(cache.are_unpairable(ANN, BOB) && cache.are_unpairable(BOB, ANN));
            cache.set_unpairable(ANN, BOB, false);
            assert!(!cache.are_unpairable(ANN, BOB) && !cache.are_unpairable(BOB, ANN));
            cache.entries.lock().clear();
        }
    }

    #[test]
    fn update_is_rejected_if_the_entry_changed_during_the_read() {
        let cache = BlockCache::default();
        cache.entries.lock().insert(ANN, Entry::default());
        let changes_before = cache.change_count(ANN).expect("the player is connected");
        let bob = PlayerRecord {
            id: BOB,
            name: "bob".to_owned(),
            kind: plyhouse_protocol::PlayerKind::Guest,
        };
        let stored = StoredBlocks {
            blocked: vec![bob],
            blocked_by: Vec::new(),
            unpairable: vec![BOB],
        };
        cache.set_unpairable(ANN, BOB, false);
        assert!(!cache.update_if_unchanged(ANN, &stored, changes_before));
        assert!(!cache.are_unpairable(ANN, BOB));
        assert!(cache.update_if_unchanged(ANN, &stored, changes_before + 1));
        assert!(cache.are_unpairable(ANN, BOB));
        // Another read began at the same time, but ended later. It may have returned older blocks.
        assert!(!cache.update_if_unchanged(ANN, &stored, changes_before + 1));
    }
}
