//! Tracks the matches whose list entries have changed.

use std::collections::BTreeSet;

use plyhouse_protocol::MatchId;
use tokio::sync::Notify;

use crate::context::locks::{CHANGED_LISTINGS, Mutex};

/// Matches of this server whose list entries have changed but are not yet published.
#[derive(Debug, Default)]
pub(crate) struct ChangedListings {
    match_ids: Mutex<BTreeSet<MatchId>, CHANGED_LISTINGS>,
    added: Notify,
}

impl ChangedListings {
    /// Adds matches of this server whose list entries have changed.
    pub(crate) fn mark_changed(&self, ids: impl IntoIterator<Item = MatchId>) {
        self.match_ids.lock().extend(ids);
        self.added.notify_one();
    }

    /// Waits until a list entry has changed, then removes and returns all changed matches.
    pub(crate) async fn take_changed(&self) -> BTreeSet<MatchId> {
        self.added.notified().await;
        std::mem::take(&mut *self.match_ids.lock())
    }
}
