//! Every connection, so that all can be closed when the server stops.

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use super::outbox::Outbox;
use super::peer::PeerId;
use plyhouse_protocol::CloseCode;

/// Every connection, by its number. For each of them to wait for the end of the server by itself would
/// cost something with every request.
#[derive(Debug)]
pub(super) struct Connections {
    /// `None` once the server stops.
    outboxes: Mutex<Option<FxHashMap<PeerId, Outbox>>>,
}

impl Connections {
    pub(super) fn new() -> Self {
        Self {
            outboxes: Mutex::new(Some(FxHashMap::default())),
        }
    }

    /// Notes a connection, or closes it if the server stops.
    pub(super) fn add(&self, outbox: &Outbox) {
        match &mut *self.outboxes.lock() {
            Some(outboxes) => {
                outboxes.insert(outbox.connection(), outbox.clone());
            }
            None => outbox.close(CloseCode::GoingAway),
        }
    }

    /// A connection has ended.
    pub(super) fn remove(&self, id: PeerId) {
        if let Some(outboxes) = &mut *self.outboxes.lock() {
            outboxes.remove(&id);
        }
    }

    /// Closes all, and all that come from now on.
    pub(super) fn close_all(&self) {
        let outboxes = self.outboxes.lock().take();
        for outbox in outboxes.into_iter().flat_map(FxHashMap::into_values) {
            outbox.close(CloseCode::GoingAway);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_closed_and_whoever_comes_late() {
        let outbox = |id| Outbox::new(PeerId(id), 9, 100, &std::sync::Arc::default());
        let [there, gone, late] = [1, 2, 3].map(outbox);
        let connections = Connections::new();
        connections.add(&there);
        connections.add(&gone);
        connections.remove(gone.connection());
        connections.close_all();
        connections.add(&late);
        connections.remove(late.connection());
        assert_eq!(there.has_room(), Err(CloseCode::GoingAway));
        assert_eq!(gone.has_room(), Ok(true));
        assert_eq!(late.has_room(), Err(CloseCode::GoingAway));
    }
}
