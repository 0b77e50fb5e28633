//! Who is meant by a name, or by an id.

use plyhouse_protocol::{ErrorCode, PlayerId, WireError};
use plyhouse_store::{PlayerRecord, ReadError};

use super::names;
use super::shared::ServerContext;
use super::unread::unread;

/// The player who has this name alone, and not only had it.
pub(super) async fn named(server: &ServerContext, name: &str) -> Result<PlayerId, WireError> {
    let unknown = || WireError::new(ErrorCode::UnknownPlayer, "nobody has this name alone");
    if names::name_skeleton(name).is_empty() {
        return Err(unknown());
    }
    let found = names::owner_of_name(&*server.store, server.clock.now_ms(), name).await;
    match found.map_err(not_read)? {
        Some((id, true)) => Ok(id),
        Some((_, false)) | None => Err(unknown()),
    }
}

/// The player with this id, as they are called now.
pub(super) async fn record(
    server: &ServerContext,
    id: PlayerId,
) -> Result<PlayerRecord, WireError> {
    let stored = server.store.player_by_id(id).await.map_err(not_read)?;
    let known = stored.or_else(|| server.players.unstored(id).map(|(record, _)| record));
    known.ok_or_else(|| WireError::new(ErrorCode::UnknownPlayer, "there is no such player"))
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` wants it")]
fn not_read(error: ReadError) -> WireError {
    tracing::error!(%error, "player not read");
    unread(&error)
}
