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
    server.infra.spawn(inbox::run(Arc::clone(server), inbox));
    server
        .infra
        .spawn(node_lease_renewal::run(Arc::clone(server)));
    server.infra.spawn(heartbeat::run(Arc::clone(server)));
    server.infra.spawn(ownership_check::run(Arc::clone(server)));
    server.infra.spawn(list_sync::run(Arc::clone(server)));
    server.infra.spawn(matchmaking::run(Arc::clone(server)));
    server
        .infra
        .spawn(player_reconciliation::run(Arc::clone(server)));
    server.infra.spawn(takeover::run(Arc::clone(server)));
}
