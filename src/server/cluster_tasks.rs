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

use super::cluster::Cluster;
use super::context::server_context::ServerContext;

/// Starts the background tasks, which run until the server stops.
pub(super) fn start(server: &Arc<ServerContext>, cluster: &Arc<Cluster>, inbox: Listener) {
    let cluster = || Arc::clone(cluster);
    server.spawn(|server| inbox::run(server, cluster(), inbox));
    server.spawn_until_stopped(|server| node_lease_renewal::run(server, cluster()));
    server.spawn_until_stopped(|server| heartbeat::run(server, cluster()));
    server.spawn_until_stopped(|server| ownership_check::run(server, cluster()));
    server.spawn_until_stopped(|server| list_sync::run(server, cluster()));
    server.spawn_until_stopped(|server| matchmaking::run(server, cluster()));
    server.spawn_until_stopped(|server| player_reconciliation::run(server, cluster()));
    server.spawn_until_stopped(|server| takeover::run(server, cluster()));
}
