//! Requests to block and unblock players.

use super::account::sessions::{identity_read_error, identity_write_error};
use super::{Client, Player};
use crate::cluster::Packet;
use crate::players::block_loading;
use crate::players::player_lookup;
use plyhouse_protocol::{
    BlockedPlayer, ErrorCode, PlayerId, ServerMessage, SessionKind, WireError,
};
use plyhouse_store::IdentityChanges;

impl Client {
    /// Blocks or unblocks the player that the request names, if any. Returns all players that the
    /// requester blocks.
    pub(super) async fn update_block(
        &self,
        player: &Player,
        other: Option<String>,
        is_blocked: bool,
    ) -> Result<ServerMessage, WireError> {
        let id = player.record.id;
        if let Some(other) = other {
            let other = player_lookup::find_player(&self.server, &other).await?.id;
            if player.session.kind == SessionKind::Key {
                let message = "an API key cannot be used to block or unblock players";
                return Err(WireError::new(ErrorCode::NotAllowed, message));
            }
            self.set_block(id, other, is_blocked).await?;
        }
        let blocks = self.store().blocks(id).await.map_err(identity_read_error)?;
        let blocked_players = blocks.blocked.into_iter().map(|own| BlockedPlayer {
            id: own.id,
            name: own.name,
        });
        Ok(ServerMessage::Blocked {
            re: None,
            players: blocked_players.collect(),
            ignored: Vec::new(),
        })
    }

    async fn set_block(
        &self,
        id: PlayerId,
        other: PlayerId,
        is_blocked: bool,
    ) -> Result<(), WireError> {
        let not_allowed = |why| Err(WireError::new(ErrorCode::NotAllowed, why));
        if other == id {
            return not_allowed("you cannot block yourself");
        }
        let server = &self.server;
        player_lookup::persist_player(server, id).await?;
        player_lookup::persist_player(server, other).await?;
        let since_ms = is_blocked.then(|| server.now_ms());
        match server.store().change_block(id, other, since_ms).await {
            Ok(true) => {}
            Ok(false) => {
                return not_allowed("you have blocked too many players; unblock one first");
            }
            Err(error) => {
                // The store may have made the change despite the error, so the cached blocks are
                // read again.
                for player in [id, other] {
                    let _ = block_loading::refresh(server, player).await;
                }
                return Err(identity_write_error(error));
            }
        }
        let block_cache = &server.identity.block_cache;
        block_cache.set_unpairable(id, other, is_blocked);
        block_loading::refresh_linked(server, id, other).await;
        server.broadcast(&Packet::BlockChanged {
            player: id,
            other,
            is_blocked,
        });
        Ok(())
    }
}
