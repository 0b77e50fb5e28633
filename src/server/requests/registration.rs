//! Registration of a connection with its player.

use std::sync::Arc;

use plyhouse_protocol::PlayerId;

use super::Player;
use crate::connection::handle::ConnectionHandle;
use crate::context::server_context::ServerContext;

/// Registration of a connection in the player registry and the block cache, from the login until
/// the value is dropped.
#[derive(Debug)]
pub(super) struct Registration {
    server: Arc<ServerContext>,
    player: PlayerId,
    connection: Arc<ConnectionHandle>,
}

impl Registration {
    /// Registers a connection whose client is logging in.
    pub(super) fn new(
        server: &Arc<ServerContext>,
        player: &Player,
        connection: &Arc<ConnectionHandle>,
    ) -> Self {
        let (record, identity) = (&player.record, &server.identity);
        identity.block_cache.add_connection(record.id);
        let unstored_session = (!player.is_stored).then_some(&player.session);
        identity.players.join(record, unstored_session, connection);
        Self {
            server: Arc::clone(server),
            player: record.id,
            connection: Arc::clone(connection),
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let identity = &self.server.identity;
        identity.block_cache.remove_connection(self.player);
        identity.players.disconnect(self.player, &self.connection);
    }
}
