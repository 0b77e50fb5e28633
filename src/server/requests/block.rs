//! How a player comes to meet somebody no more.

use super::account::sessions::{not_kept, not_read};
use super::{Client, Player};
use crate::cluster::Packet;
use crate::connection::reply::Reply;
use crate::players::block_check;
use crate::players::player_lookup;
use plyhouse_protocol::{
    BlockedPlayer, ErrorCode, PlayerId, ServerMessage, SessionKind, WireError,
};

impl Client {
    /// Has the player meet somebody no more, or again, if that is asked for, and tells whom the player blocks.
    pub(super) async fn block(
        &self,
        player: &Player,
        (other, on): (Option<String>, bool),
        reply: Reply,
    ) {
        let blocked = self.blocked(player, other, on).await;
        if let Some((players, reply)) = reply.require(blocked) {
            reply.send_message(|re| ServerMessage::Blocked {
                re,
                players,
                ignored: Vec::new(),
            });
        }
    }

    async fn blocked(
        &self,
        player: &Player,
        other: Option<String>,
        on: bool,
    ) -> Result<Vec<BlockedPlayer>, WireError> {
        let id = player.record.id;
        if let Some(other) = other {
            let other = player_lookup::find_player(&self.server, &other).await?.id;
            if player.session.kind == SessionKind::Key {
                let message = "a key plays and reads, and nothing else";
                return Err(WireError::new(ErrorCode::NotAllowed, message));
            }
            self.set_block(id, other, on).await?;
        }
        let kept = self.server.store.blocks(id).await.map_err(not_read)?;
        let told = kept.blocked.into_iter().map(|own| BlockedPlayer {
            id: own.id,
            name: own.name,
        });
        Ok(told.collect())
    }

    async fn set_block(&self, id: PlayerId, other: PlayerId, on: bool) -> Result<(), WireError> {
        let not_allowed = |why| Err(WireError::new(ErrorCode::NotAllowed, why));
        if other == id {
            return not_allowed("nobody blocks themselves");
        }
        let server = &self.server;
        player_lookup::persist_player(server, id).await?;
        player_lookup::persist_player(server, other).await?;
        let since_ms = on.then(|| server.clock.now_ms());
        match server.store.change_block(id, other, since_ms).await {
            Ok(true) => {}
            Ok(false) => return not_allowed("you block as many as is allowed"),
            Err(error) => {
                // It may have been kept.
                for player in [id, other] {
                    let _ = block_check::read(server, player).await;
                }
                return Err(not_kept(error));
            }
        }
        server.block_cache.change(id, other, on);
        block_check::read_around(server, id, other).await;
        if let Some(cluster) = &server.cluster {
            cluster.broadcast(&Packet::BlockChanged {
                player: id,
                other,
                is_blocked: on,
            });
        }
        Ok(())
    }
}
