//! Who does not want to meet whom, as far as it concerns those who are connected here. The store has the
//! truth; here it is found without a wait by whoever tells people what others say.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::locks::{BLOCK_CACHE, Mutex};
use plyhouse_protocol::PlayerId;
use plyhouse_store::Blocks as Kept;

/// Who does not want to meet whom, by everybody who is connected here.
#[derive(Debug, Default)]
pub(crate) struct BlockCache {
    of: Mutex<BTreeMap<PlayerId, Entry>, BLOCK_CACHE>,
}

#[derive(Debug, Default)]
struct Entry {
    /// How many connections the player has, or is about to have.
    connections: usize,
    /// Whom the player does not meet.
    apart: BTreeSet<PlayerId>,
    /// How often that has changed since somebody began to read it.
    changes: u64,
}

impl BlockCache {
    /// A player has one more connection here.
    pub(crate) fn enter(&self, player: PlayerId) {
        self.of.lock().entry(player).or_default().connections += 1;
    }

    /// A player has one connection less.
    pub(crate) fn leave(&self, player: PlayerId) {
        let mut of = self.of.lock();
        if let Some(entry) = of.get_mut(&player) {
            entry.connections -= 1;
            if entry.connections == 0 {
                of.remove(&player);
            }
        }
    }

    /// Whether two do not meet, as far as that is known here: of whoever is connected here it is.
    pub(crate) fn are_apart(&self, one: PlayerId, other: PlayerId) -> bool {
        let of = self.of.lock();
        let has = |one, other| of.get(one).is_some_and(|entry| entry.apart.contains(other));
        has(&one, &other) || has(&other, &one)
    }

    /// Whom a player who is connected here does not meet.
    pub(crate) fn apart(&self, player: PlayerId) -> BTreeSet<PlayerId> {
        let of = self.of.lock();
        of.get(&player)
            .map_or_else(BTreeSet::new, |entry| entry.apart.clone())
    }

    /// Takes note that a player blocks another, or does not any more. What that means for others has to be
    /// read.
    pub(crate) fn change(&self, player: PlayerId, other: PlayerId, on: bool) {
        let mut of = self.of.lock();
        for (one, other) in [(player, other), (other, player)] {
            if let Some(entry) = of.get_mut(&one) {
                entry.changes += 1;
                match on {
                    true => entry.apart.insert(other),
                    false => entry.apart.remove(&other),
                };
            }
        }
    }

    /// How often that of a player has changed; `None` if the player is not connected here.
    pub(crate) fn changes(&self, player: PlayerId) -> Option<u64> {
        self.of.lock().get(&player).map(|entry| entry.changes)
    }

    /// Takes note of what the store has, unless it has changed since so many changes. Gives whether it did.
    pub(crate) fn know(&self, player: PlayerId, kept: &Kept, before: u64) -> bool {
        let mut of = self.of.lock();
        let Some(entry) = of.get_mut(&player) else {
            return true;
        };
        if entry.changes != before {
            return false;
        }
        entry.apart = kept.unpairable.iter().copied().collect();
        true
    }

    pub(crate) fn everybody(&self) -> Vec<PlayerId> {
        self.of.lock().keys().copied().collect()
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
    fn both_sides_are_known_of_whoever_is_connected() {
        let blocks = BlockCache::default();
        blocks.change(ANN, BOB, true);
        assert!(!blocks.are_apart(ANN, BOB), "nobody is here");
        for here in [ANN, BOB] {
            blocks.of.lock().insert(here, Entry::default());
            blocks.change(ANN, BOB, true);
            assert!(blocks.are_apart(ANN, BOB) && blocks.are_apart(BOB, ANN));
            blocks.change(ANN, BOB, false);
            assert!(!blocks.are_apart(ANN, BOB) && !blocks.are_apart(BOB, ANN));
            blocks.of.lock().clear();
        }
    }

    #[test]
    fn what_changes_while_it_is_read_is_read_again() {
        let blocks = BlockCache::default();
        blocks.of.lock().insert(ANN, Entry::default());
        let before = blocks.changes(ANN).expect("here");
        let bob = PlayerRecord {
            id: BOB,
            name: "bob".to_owned(),
            kind: plyhouse_protocol::PlayerKind::Guest,
        };
        let kept = Kept {
            blocked: vec![bob],
            blocked_by: Vec::new(),
            unpairable: vec![BOB],
        };
        blocks.change(ANN, BOB, false);
        assert!(!blocks.know(ANN, &kept, before));
        assert!(!blocks.are_apart(ANN, BOB));
        assert!(blocks.know(ANN, &kept, before + 1));
        assert!(blocks.are_apart(ANN, BOB));
    }
}
