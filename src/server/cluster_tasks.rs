//! Background tasks of a server in a cluster: receiving packets, renewing the lease, and comparing
//! the server's state with the store.

mod heartbeat;
mod inbox;
pub(super) mod list_sync;
mod load_balance;
pub(super) mod matchmaking;
mod node_lease_renewal;
mod ownership_check;
mod player_reconciliation;
mod takeover;

use std::sync::Arc;

use plyhouse_bus::Listener;

pub(super) use self::load_balance::hand_over_match;

use super::context::server_context::ServerContext;

/// Starts the background tasks, which run until the server stops.
pub(super) fn start(server: &Arc<ServerContext>, inbox: Listener) {
    server.spawn(|server| inbox::run(server, inbox));
    server.spawn_until_stopped(node_lease_renewal::run);
    server.spawn_until_stopped(heartbeat::run);
    server.spawn_until_stopped(ownership_check::run);
    server.spawn_until_stopped(list_sync::run);
    server.spawn_until_stopped(matchmaking::run);
    server.spawn_until_stopped(player_reconciliation::run);
    server.spawn_until_stopped(takeover::run);
}
