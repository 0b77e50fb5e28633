//! What a server of a cluster does beside serving its clients: it hears the others, keeps its lease, and looks
//! whether all is as it believes.

mod heartbeat;
mod inbox;
mod lease_renewal;
pub(super) mod list_sync;
mod load_balance;
pub(super) mod matchmaking;
mod ownership_check;
mod sessions;
mod takeover;

use std::sync::Arc;

use plyhouse_bus::Listener;

pub(super) use self::load_balance::hand_over_match;

use super::context::server_context::ServerContext;

/// Begins all of it, until the server stops.
pub(super) fn start(server: &Arc<ServerContext>, inbox: Listener) {
    server.spawn(inbox::run(Arc::clone(server), inbox));
    server.spawn(lease_renewal::run(Arc::clone(server)));
    server.spawn(heartbeat::run(Arc::clone(server)));
    server.spawn(ownership_check::run(Arc::clone(server)));
    server.spawn(list_sync::run(Arc::clone(server)));
    server.spawn(matchmaking::run(Arc::clone(server)));
    server.spawn(sessions::run(Arc::clone(server)));
    server.spawn(takeover::run(Arc::clone(server)));
}
