//! Checks for blocks between players, and refreshes the block cache from the store.

use plyhouse_protocol::{ErrorCode, PlayerId, WireError};
use plyhouse_store::Blocks;

use crate::context::infrastructure::Infrastructure;
use crate::context::server_context::ServerContext;
use crate::wire::error_replies::store_read_error;

async fn load_blocks(server: &ServerContext, player: PlayerId) -> Result<Blocks, WireError> {
    server.store().blocks(player).await.map_err(|error| {
        tracing::error!(%player, %error, "cannot read a player's blocks");
        store_read_error(error)
    })
}

/// Reloads the blocks of a player who is connected to this server.
pub(crate) async fn refresh(server: &ServerContext, player: PlayerId) -> Result<(), WireError> {
    loop {
        let Some(changes_before) = server.identity.block_cache.change_count(player) else {
            return Ok(());
        };
        let blocks = load_blocks(server, player).await?;
        let cache = &server.identity.block_cache;
        if cache.update_if_unchanged(player, &blocks, changes_before) {
            return Ok(());
        }
    }
}

/// Reloads the blocks of two players and their linked accounts after a block between the two
/// players has changed. A block covers a person and all bot accounts of that person.
pub(crate) async fn refresh_linked(server: &ServerContext, player: PlayerId, other: PlayerId) {
    for one in [player, other] {
        let accounts = linked_accounts(&server.infra, one).await;
        for one in accounts.unwrap_or_else(|_| vec![one]) {
            // If the store cannot be read, the cached blocks remain in use.
            let _ = refresh(server, one).await;
        }
    }
}

/// After a player has created a bot account, reloads the blocks of each player who has a block with
/// the bot's owner. These blocks also cover the new bot account.
pub(crate) async fn refresh_after_new_bot(server: &ServerContext, owner: PlayerId) {
    let blocks = server.store().blocks(owner).await;
    for other in blocks.map(|lists| lists.unpairable).unwrap_or_default() {
        let _ = refresh(server, other).await;
    }
}

/// Returns all accounts of one person: the person's own account and the bot accounts.
pub(crate) async fn linked_accounts(
    infra: &Infrastructure,
    player: PlayerId,
) -> Result<Vec<PlayerId>, WireError> {
    let load_account = async |player| {
        let account = infra.store.account(player).await;
        account.map(Option::unwrap_or_default).map_err(|error| {
            tracing::error!(%player, %error, "cannot read an account");
            store_read_error(error)
        })
    };
    let own = load_account(player).await?;
    let (owner, bots) = match own.owner {
        None => (player, own.bots),
        Some(owner) => (owner, load_account(owner).await?.bots),
    };
    Ok(bots.into_iter().map(|bot| bot.id).chain([owner]).collect())
}

/// Reloads the blocks of all connected players, because this server may have missed notifications.
pub(crate) async fn refresh_all(server: &ServerContext) {
    for player in server.identity.block_cache.players() {
        // If the store cannot be read, the cached blocks remain in use.
        let _ = refresh(server, player).await;
    }
}

/// Returns whether a block exists between the player and any of the others. Without a cluster, the
/// function checks only the cache, so the player must be connected.
pub(crate) async fn is_unpairable_with_any(
    server: &ServerContext,
    player: PlayerId,
    others: impl IntoIterator<Item = PlayerId>,
) -> Result<bool, WireError> {
    let others = others.into_iter().filter(|other| *other != player);
    let mut others = others.peekable();
    if others.peek().is_none() {
        return Ok(false);
    }
    if server.infra.cluster.is_none() {
        return Ok(others.any(|other| server.identity.block_cache.are_unpairable(player, other)));
    }
    // The cache may not contain the latest blocks created on other servers, so the blocks are read
    // from the store.
    let blocks = load_blocks(server, player).await?;
    Ok(others.any(|other| blocks.is_unpairable_with(other)))
}

pub(crate) fn blocked_error() -> WireError {
    WireError::new(ErrorCode::NotAllowed, "one of you has blocked the other")
}
