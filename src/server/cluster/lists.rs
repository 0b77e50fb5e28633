//! The matches of which lists show something else now.

use std::collections::BTreeSet;

use plyhouse_protocol::MatchId;
use tokio::sync::Notify;

use crate::context::locks::{CHANGED_LISTINGS, Mutex};

/// The matches of which lists show something else now, and nobody has been told.
#[derive(Debug, Default)]
pub(crate) struct ChangedListings {
    match_ids: Mutex<BTreeSet<MatchId>, CHANGED_LISTINGS>,
    added: Notify,
}

impl ChangedListings {
    /// Lists show something else of these matches now, which are decided here.
    pub(crate) fn mark_changed(&self, ids: impl IntoIterator<Item = MatchId>) {
        self.match_ids.lock().extend(ids);
        self.added.notify_one();
    }

    /// Waits for such matches, and takes them out.
    pub(crate) async fn take_changed(&self) -> BTreeSet<MatchId> {
        self.added.notified().await;
        std::mem::take(&mut *self.match_ids.lock())
    }
}
