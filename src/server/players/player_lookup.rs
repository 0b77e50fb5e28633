//! Finds players by name or id.

use plyhouse_protocol::{ErrorCode, PlayerId, WireError};
use plyhouse_store::{PlayerRecord, ReadError};

use crate::auth::names;
use crate::context::infrastructure::Infrastructure;
use crate::context::server_context::ServerContext;
use crate::wire::error_replies::{store_read_error, store_unavailable_error};
use crate::wire::from_protocol;

/// Returns the player who currently uses this name. Former names are ignored.
pub(crate) async fn find_by_name(
    infra: &Infrastructure,
    name: &str,
) -> Result<PlayerId, WireError> {
    let unknown_player_error =
        || WireError::new(ErrorCode::UnknownPlayer, "no account with this name");
    if names::name_skeleton(name).is_empty() {
        return Err(unknown_player_error());
    }
    let owner = names::owner_of_name(&*infra.store, infra.clock.now_ms(), name).await;
    match owner.map_err(player_read_error)? {
        Some((id, true)) => Ok(id),
        Some((_, false)) | None => Err(unknown_player_error()),
    }
}

/// Returns the current record of a player from the store. If the player is a guest who is not in
/// the store, returns the record from the registry.
pub(crate) async fn load_record(
    server: &ServerContext,
    id: PlayerId,
) -> Result<PlayerRecord, WireError> {
    let stored = server
        .store()
        .player_by_id(id)
        .await
        .map_err(player_read_error)?;
    let record = stored.or_else(|| {
        server
            .identity
            .players
            .unstored_guest(id)
            .map(|(record, _)| record)
    });
    record.ok_or_else(|| WireError::new(ErrorCode::UnknownPlayer, "there is no such player"))
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
fn player_read_error(error: ReadError) -> WireError {
    tracing::error!(%error, "cannot read a player");
    store_read_error(&error)
}

/// Parses a player id and returns the record of that player.
pub(crate) async fn find_player(
    server: &ServerContext,
    id: &str,
) -> Result<PlayerRecord, WireError> {
    let unknown_player_error =
        || WireError::new(ErrorCode::UnknownPlayer, "there is no such player");
    let id = from_protocol::player_id(id).ok_or_else(unknown_player_error)?;
    // The registry is used only for guests who are not in the store. For other players it may be
    // outdated: a deleted player stays in the registry while a bot substitutes for the player.
    if let Some((record, _)) = server.identity.players.unstored_guest(id) {
        return Ok(record);
    }
    match server.store().player_by_id(id).await {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(unknown_player_error()),
        Err(error) => {
            tracing::error!(player = %id, %error, "cannot read a player");
            Err(store_read_error(&error))
        }
    }
}

/// Stores a guest who is about to take a seat or host a match, unless the guest is already stored.
pub(crate) async fn persist_player(
    server: &ServerContext,
    player: PlayerId,
) -> Result<(), WireError> {
    let Some((record, session)) = server.identity.players.unstored_guest(player) else {
        return Ok(());
    };
    let added = server.store().add_player(record, vec![session]);
    added.await.map_err(|error| {
        tracing::error!(%player, %error, "cannot store a player");
        store_unavailable_error()
    })?;
    server.identity.players.mark_stored(player);
    Ok(())
}
