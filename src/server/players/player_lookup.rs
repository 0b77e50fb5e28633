//! Finds players by name or id.

use plyhouse_protocol::{ErrorCode, PlayerId, WireError};
use plyhouse_store::{PlayerRecord, ReadError, SessionRecord};

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
    let unknown_name_error =
        || WireError::new(ErrorCode::UnknownPlayer, "no account with this name");
    if names::name_skeleton(name).is_empty() {
        return Err(unknown_name_error());
    }
    let owner = names::current_owner(&*infra.store, infra.clock.now_ms(), name).await;
    owner
        .map_err(player_read_error)?
        .ok_or_else(unknown_name_error)
}

/// Returns the current record of a player.
pub(crate) async fn load_record(
    server: &ServerContext,
    id: PlayerId,
) -> Result<PlayerRecord, WireError> {
    // The registry is used only for guests who are not in the store. For other players it may be
    // outdated: a deleted player stays in the registry while a bot substitutes for the player.
    if let Some((record, _)) = server.identity.players.unstored_guest(id) {
        return Ok(record);
    }
    let stored = server.store().player_by_id(id).await;
    stored
        .map_err(player_read_error)?
        .ok_or_else(unknown_player_error)
}

/// Returns the sessions of a player, oldest first.
pub(crate) async fn load_sessions(
    server: &ServerContext,
    id: PlayerId,
) -> Result<Vec<SessionRecord>, ReadError> {
    match server.identity.players.unstored_guest(id) {
        Some((_, session)) => Ok(vec![session]),
        None => server.store().sessions(id).await,
    }
}

pub(crate) fn player_read_error(error: ReadError) -> WireError {
    tracing::error!(%error, "cannot read a player");
    store_read_error(error)
}

fn unknown_player_error() -> WireError {
    WireError::new(ErrorCode::UnknownPlayer, "there is no such player")
}

/// Parses a player id and returns the record of that player.
pub(crate) async fn find_player(
    server: &ServerContext,
    id: &str,
) -> Result<PlayerRecord, WireError> {
    let id = from_protocol::player_id(id).ok_or_else(unknown_player_error)?;
    load_record(server, id).await
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
