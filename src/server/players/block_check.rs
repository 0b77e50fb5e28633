//! Keeps those apart of whom one has blocked the other: by what the store has, and by what is known here of those
//! who are connected.

use std::sync::Arc;

use plyhouse_protocol::{ErrorCode, PlayerId, WireError};

use crate::context::server_context::ServerContext;
use crate::wire::error_replies::store_read_error;

/// One connection of a player: while it is there, it is known whom the player does not meet.
#[derive(Debug)]
pub(crate) struct BlockGuard {
    server: Arc<ServerContext>,
    player: PlayerId,
}

impl Drop for BlockGuard {
    fn drop(&mut self) {
        self.server.block_cache.remove_connection(self.player);
    }
}

/// A player is about to be connected here. Who is not kept yet blocks nobody, and is blocked by nobody.
pub(crate) async fn guard_connection(
    server: &Arc<ServerContext>,
    player: PlayerId,
    is_stored: bool,
) -> Result<BlockGuard, WireError> {
    server.block_cache.add_connection(player);
    let guard = BlockGuard {
        server: Arc::clone(server),
        player,
    };
    if is_stored {
        refresh(server, player).await?;
    }
    Ok(guard)
}

/// Reads anew whom a player does not meet who is connected here.
pub(crate) async fn refresh(server: &ServerContext, player: PlayerId) -> Result<(), WireError> {
    loop {
        let Some(changes_before) = server.block_cache.change_count(player) else {
            return Ok(());
        };
        let blocks = server.store.blocks(player).await.map_err(|error| {
            tracing::error!(%player, %error, "cannot read a player's blocks");
            store_read_error(&error)
        })?;
        if server
            .block_cache
            .update_if_unchanged(player, &blocks, changes_before)
        {
            return Ok(());
        }
    }
}

/// Reads anew what may have changed for those who are connected here, now that one of these two blocks the other
/// or does not any more: a person and the programs of that person are one in this.
pub(crate) async fn refresh_linked(server: &ServerContext, player: PlayerId, other: PlayerId) {
    for one in [player, other] {
        let accounts = linked_accounts(server, one)
            .await
            .unwrap_or_else(|_| vec![one]);
        for one in accounts {
            // What cannot be read now stays as it was known.
            let _ = refresh(server, one).await;
        }
    }
}

/// Takes note that a person has one more program: whoever does not meet the one does not meet the other.
pub(crate) async fn refresh_after_new_bot(server: &ServerContext, owner: PlayerId) {
    let blocks = server.store.blocks(owner).await;
    for other in blocks.map(|kept| kept.unpairable).unwrap_or_default() {
        let _ = refresh(server, other).await;
    }
}

/// The person whose account this is, and all accounts of that person's programs.
pub(crate) async fn linked_accounts(
    server: &ServerContext,
    player: PlayerId,
) -> Result<Vec<PlayerId>, WireError> {
    let load_account = async |player| {
        let account = server.store.account(player).await;
        account.map(Option::unwrap_or_default).map_err(|error| {
            tracing::error!(%player, %error, "cannot read an account");
            store_read_error(&error)
        })
    };
    let own = load_account(player).await?;
    let (owner, bots) = match own.owner {
        None => (player, own.bots),
        Some(owner) => (owner, load_account(owner).await?.bots),
    };
    Ok(bots.into_iter().map(|bot| bot.id).chain([owner]).collect())
}

/// Reads it anew of everybody who is connected here: something may have been missed.
pub(crate) async fn refresh_all(server: &ServerContext) {
    for player in server.block_cache.players() {
        // What cannot be read now stays as it was known.
        let _ = refresh(server, player).await;
    }
}

/// Whether a player, who is connected here or has asked another server, and one of these others do not meet.
pub(crate) async fn is_unpairable_with_any(
    server: &ServerContext,
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
        return Ok(others.any(|other| server.block_cache.are_unpairable(player, other)));
    }
    // What other servers have told may not have come yet.
    let blocks = server.store.blocks(player).await.map_err(|error| {
        tracing::error!(%player, %error, "cannot read a player's blocks");
        store_read_error(&error)
    })?;
    Ok(others.any(|other| blocks.is_unpairable_with(other)))
}

/// Two do not meet, since one of them wants it so.
pub(crate) fn blocked_error() -> WireError {
    WireError::new(ErrorCode::NotAllowed, "one of you has blocked the other")
}
