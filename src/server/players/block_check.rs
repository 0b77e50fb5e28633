//! Keeps those apart of whom one has blocked the other: by what the store has, and by what is known here of those
//! who are connected.

use std::sync::Arc;

use plyhouse_protocol::{ErrorCode, PlayerId, WireError};

use crate::context::server_context::ServerContext;
use crate::wire::error_replies::store_read_error;

/// One connection of a player: while it is there, it is known whom the player does not meet.
#[derive(Debug)]
pub(crate) struct Known {
    server: Arc<ServerContext>,
    player: PlayerId,
}

impl Drop for Known {
    fn drop(&mut self) {
        self.server.block_cache.leave(self.player);
    }
}

/// A player is about to be connected here. Who is not kept yet blocks nobody, and is blocked by nobody.
pub(crate) async fn enter(
    server: &Arc<ServerContext>,
    player: PlayerId,
    is_stored: bool,
) -> Result<Known, WireError> {
    server.block_cache.enter(player);
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
pub(crate) async fn read(server: &ServerContext, player: PlayerId) -> Result<(), WireError> {
    loop {
        let Some(before) = server.block_cache.changes(player) else {
            return Ok(());
        };
        let kept = server.store.blocks(player).await.map_err(|error| {
            tracing::error!(%player, %error, "nobody knows whom a player blocks");
            store_read_error(&error)
        })?;
        if server.block_cache.know(player, &kept, before) {
            return Ok(());
        }
    }
}

/// Reads anew what may have changed for those who are connected here, now that one of these two blocks the other
/// or does not any more: a person and the programs of that person are one in this.
pub(crate) async fn read_around(server: &ServerContext, player: PlayerId, other: PlayerId) {
    for one in [player, other] {
        let kin = kin(server, one).await.unwrap_or_else(|_| vec![one]);
        for one in kin {
            // What cannot be read now stays as it was known.
            let _ = read(server, one).await;
        }
    }
}

/// Takes note that a person has one more program: whoever does not meet the one does not meet the other.
pub(crate) async fn grown(server: &ServerContext, person: PlayerId) {
    let kept = server.store.blocks(person).await;
    for other in kept.map(|kept| kept.unpairable).unwrap_or_default() {
        let _ = read(server, other).await;
    }
}

/// The person whose account this is, and all accounts of that person's programs.
pub(crate) async fn kin(
    server: &ServerContext,
    player: PlayerId,
) -> Result<Vec<PlayerId>, WireError> {
    let account = async |player| {
        let account = server.store.account(player).await;
        account.map(Option::unwrap_or_default).map_err(|error| {
            tracing::error!(%player, %error, "nobody knows whose an account is");
            store_read_error(&error)
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
pub(crate) async fn read_all(server: &ServerContext) {
    for player in server.block_cache.everybody() {
        // What cannot be read now stays as it was known.
        let _ = read(server, player).await;
    }
}

/// Whether a player, who is connected here or has asked another server, and one of these others do not meet.
pub(crate) async fn are_apart(
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
        return Ok(others.any(|other| server.block_cache.are_apart(player, other)));
    }
    // What other servers have told may not have come yet.
    let kept = server.store.blocks(player).await.map_err(|error| {
        tracing::error!(%player, %error, "nobody knows whom a player blocks");
        store_read_error(&error)
    })?;
    Ok(others.any(|other| kept.is_unpairable_with(other)))
}

/// Two do not meet, since one of them wants it so.
pub(crate) fn refused() -> WireError {
    WireError::new(ErrorCode::NotAllowed, "one of you has blocked the other")
}
