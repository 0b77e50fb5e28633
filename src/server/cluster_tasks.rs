//! What a server of a cluster does beside serving its clients: it hears the others, keeps its lease, and looks
//! whether all is as it believes.

mod adopting;
mod hearing;
mod leasing;
pub(super) mod listing;
mod owning;
mod pinging;
pub(super) mod seeking;
mod sessions;
mod sharing;

use std::sync::Arc;

use plyhouse_bus::Listener;

pub(super) use self::sharing::hand_over;

use super::shared::ServerContext;

/// Begins all of it, until the server stops.
pub(super) fn begin(shared: &Arc<ServerContext>, heard: Listener) {
    shared.spawn(hearing::hear(Arc::clone(shared), heard));
    shared.spawn(leasing::keep(Arc::clone(shared)));
    shared.spawn(pinging::watch(Arc::clone(shared)));
    shared.spawn(owning::watch(Arc::clone(shared)));
    shared.spawn(listing::show(Arc::clone(shared)));
    shared.spawn(seeking::watch(Arc::clone(shared)));
    shared.spawn(sessions::watch(Arc::clone(shared)));
    shared.spawn(adopting::adopt(Arc::clone(shared)));
}
