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

pub(super) use self::load_balance::hand_over;

use super::context::server_context::ServerContext;

/// Begins all of it, until the server stops.
pub(super) fn begin(shared: &Arc<ServerContext>, heard: Listener) {
    shared.spawn(inbox::hear(Arc::clone(shared), heard));
    shared.spawn(lease_renewal::keep(Arc::clone(shared)));
    shared.spawn(heartbeat::watch(Arc::clone(shared)));
    shared.spawn(ownership_check::watch(Arc::clone(shared)));
    shared.spawn(list_sync::show(Arc::clone(shared)));
    shared.spawn(matchmaking::watch(Arc::clone(shared)));
    shared.spawn(sessions::watch(Arc::clone(shared)));
    shared.spawn(takeover::adopt(Arc::clone(shared)));
}
