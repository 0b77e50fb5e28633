//! Players, their connections and their credentials.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plyhouse_protocol::{MatchId, PlayerId};

use super::infrastructure::Infrastructure;
use crate::auth::passwords::Passwords;
use crate::auth::tokens::TokenIssuer;
use crate::connection::handle::ConnectionHandle;
use crate::connection::id::ConnectionId;
use crate::connection::outbox::Outbox;
use crate::connection::registry::ConnectionRegistry;
use crate::players::block_cache::BlockCache;
use crate::players::pending_removals::PendingRemovals;
use crate::players::registry::PlayerRegistry;

/// Players, their connections and their credentials.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) players: PlayerRegistry,
    pub(crate) block_cache: BlockCache,
    pub(crate) pending_removals: PendingRemovals,
    pub(crate) tokens: TokenIssuer,
    pub(crate) passwords: Passwords,
    pub(crate) connection_registry: ConnectionRegistry,
    next_connection: AtomicU64,
    next_hello_number: AtomicU64,
}

impl Identity {
    pub(super) fn new(infra: &Infrastructure) -> Self {
        Self {
            players: PlayerRegistry::default(),
            block_cache: BlockCache::default(),
            pending_removals: PendingRemovals::default(),
            tokens: TokenIssuer::new(&infra.rng),
            passwords: Passwords::new(),
            connection_registry: ConnectionRegistry::new(),
            next_connection: AtomicU64::new(0),
            next_hello_number: AtomicU64::new(1),
        }
    }

    /// Schedules the removal of deleted players from a match. The method ignores players who have
    /// not been deleted.
    pub(crate) fn remove_deleted_players(
        &self,
        id: MatchId,
        players: impl IntoIterator<Item = PlayerId>,
    ) {
        let players = players.into_iter();
        for player in players.filter(|player| self.players.is_deleted(*player)) {
            self.pending_removals.add(id, player);
        }
    }

    /// Returns the number for a new `hello` message, which is greater than all earlier numbers.
    pub(crate) fn next_hello(&self) -> u64 {
        self.next_hello_number.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn new_connection(&self, infra: &Infrastructure) -> Arc<ConnectionHandle> {
        let id = ConnectionId(self.next_connection.fetch_add(1, Ordering::Relaxed));
        let settings = &infra.settings;
        let (messages_max, bytes_max) = (settings.outbox_messages, settings.outbox_bytes);
        let outbox = Outbox::new(id, messages_max, bytes_max, &infra.metrics);
        let connection = ConnectionHandle::new(outbox, settings.following_max);
        self.connection_registry.add(&connection);
        connection
    }
}
