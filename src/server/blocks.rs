//! Who does not want to meet whom, as far as it concerns those who are connected here. The store has the
//! truth; here it is found without a wait by whoever tells people what others say.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::locks::{BLOCKS, Mutex};
use super::shared::Shared;
use super::unread::unread;
use plyhouse_protocol::{ErrorCode, PlayerId, WireError};
use plyhouse_store::Blocks as Kept;

/// Who does not want to meet whom, by everybody who is connected here.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    of: Mutex<BTreeMap<PlayerId, Entry>, BLOCKS>,
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

/// One connection of a player: while it is there, it is known whom the player does not meet.
#[derive(Debug)]
pub(super) struct Known {
    server: Arc<Shared>,
    player: PlayerId,
}

impl Drop for Known {
    fn drop(&mut self) {
        let mut of = self.server.blocks.of.lock();
        if let Some(entry) = of.get_mut(&self.player) {
            entry.connections -= 1;
            if entry.connections == 0 {
                of.remove(&self.player);
            }
        }
    }
}

/// A player is about to be connected here. Who is not kept yet blocks nobody, and is blocked by nobody.
pub(super) async fn enter(
    server: &Arc<Shared>,
    player: PlayerId,
    is_stored: bool,
) -> Result<Known, WireError> {
    server
        .blocks
        .of
        .lock()
        .entry(player)
        .or_default()
        .connections += 1;
    let known = Known {
        server: Arc::clone(server),
        player,
    };
    if is_stored {
        read(server, player).await?;
    }
    Ok(known)
}

/// Reads anew whom a player does not meet who is connected here.
pub(super) async fn read(server: &Shared, player: PlayerId) -> Result<(), WireError> {
    loop {
        let Some(before) = server.blocks.changes(player) else {
            return Ok(());
        };
        let kept = server.store.blocks(player).await.map_err(|error| {
            tracing::error!(%player, %error, "nobody knows whom a player blocks");
            unread(&error)
        })?;
        if server.blocks.know(player, &kept, before) {
            return Ok(());
        }
    }
}

/// Reads anew what may have changed for those who are connected here, now that one of these two blocks the other
/// or does not any more: a person and the programs of that person are one in this.
pub(super) async fn read_around(server: &Shared, player: PlayerId, other: PlayerId) {
    for one in [player, other] {
        let kin = kin(server, one).await.unwrap_or_else(|_| vec![one]);
        for one in kin {
            // What cannot be read now stays as it was known.
            let _ = read(server, one).await;
        }
    }
}

/// Takes note that a person has one more program: whoever does not meet the one does not meet the other.
pub(super) async fn grown(server: &Shared, person: PlayerId) {
    let kept = server.store.blocks(person).await;
    for other in kept.map(|kept| kept.apart).unwrap_or_default() {
        let _ = read(server, other).await;
    }
}

/// The person whose account this is, and all accounts of that person's programs.
pub(super) async fn kin(server: &Shared, player: PlayerId) -> Result<Vec<PlayerId>, WireError> {
    let account = async |player| {
        let account = server.store.account(player).await;
        account.map(Option::unwrap_or_default).map_err(|error| {
            tracing::error!(%player, %error, "nobody knows whose an account is");
            unread(&error)
        })
    };
    let own = account(player).await?;
    let (person, bots) = match own.owner {
        None => (player, own.bots),
        Some(owner) => (owner, account(owner).await?.bots),
    };
    Ok(bots.into_iter().map(|bot| bot.id).chain([person]).collect())
}

/// Reads it anew of everybody who is connected here: something may have been missed.
pub(super) async fn read_all(server: &Shared) {
    for player in server.blocks.everybody() {
        // What cannot be read now stays as it was known.
        let _ = read(server, player).await;
    }
}

/// Whether a player, who is connected here or has asked another server, and one of these others do not meet.
pub(super) async fn are_apart(
    server: &Shared,
    player: PlayerId,
    others: impl IntoIterator<Item = PlayerId>,
) -> Result<bool, WireError> {
    let mut others = others
        .into_iter()
        .filter(|other| *other != player)
        .peekable();
    if others.peek().is_none() {
        return Ok(false);
    }
    if server.cluster.is_none() {
        return Ok(others.any(|other| server.blocks.are_apart(player, other)));
    }
    // What other servers have told may not have come yet.
    let kept = server.store.blocks(player).await.map_err(|error| {
        tracing::error!(%player, %error, "nobody knows whom a player blocks");
        unread(&error)
    })?;
    Ok(others.any(|other| kept.has(other)))
}

/// Two do not meet, since one of them wants it so.
pub(super) fn refused() -> WireError {
    WireError::new(ErrorCode::NotAllowed, "one of you has blocked the other")
}

impl Blocks {
    /// Whether two do not meet, as far as that is known here: of whoever is connected here it is.
    pub(super) fn are_apart(&self, one: PlayerId, other: PlayerId) -> bool {
        let of = self.of.lock();
        let has = |one, other| of.get(one).is_some_and(|entry| entry.apart.contains(other));
        has(&one, &other) || has(&other, &one)
    }

    /// Takes note that a player blocks another, or does not any more. What that means for others has to be
    /// read.
    pub(super) fn change(&self, player: PlayerId, other: PlayerId, on: bool) {
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
    fn changes(&self, player: PlayerId) -> Option<u64> {
        self.of.lock().get(&player).map(|entry| entry.changes)
    }

    /// Takes note of what the store has, unless it has changed since so many changes. Gives whether it did.
    fn know(&self, player: PlayerId, kept: &Kept, before: u64) -> bool {
        let mut of = self.of.lock();
        let Some(entry) = of.get_mut(&player) else {
            return true;
        };
        if entry.changes != before {
            return false;
        }
        entry.apart = kept.apart.iter().copied().collect();
        true
    }

    fn everybody(&self) -> Vec<PlayerId> {
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
        let blocks = Blocks::default();
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
        let blocks = Blocks::default();
        blocks.of.lock().insert(ANN, Entry::default());
        let before = blocks.changes(ANN).expect("here");
        let bob = PlayerRecord {
            id: BOB,
            name: "bob".to_owned(),
            kind: plyhouse_protocol::PlayerKind::Guest,
        };
        let kept = Kept {
            own: vec![bob],
            by: Vec::new(),
            apart: vec![BOB],
        };
        blocks.change(ANN, BOB, false);
        assert!(!blocks.know(ANN, &kept, before));
        assert!(!blocks.are_apart(ANN, BOB));
        assert!(blocks.know(ANN, &kept, before + 1));
        assert!(blocks.are_apart(ANN, BOB));
    }
}
