//! Matches with a changed list entry.

use std::collections::BTreeSet;

use plyhouse_protocol::MatchId;
use tokio::sync::Notify;

use crate::context::locks::{CHANGED_LISTINGS, Mutex};

/// Matches with a changed list entry that this server has not published yet.
#[derive(Debug, Default)]
pub(crate) struct ChangedListings {
    match_ids: Mutex<BTreeSet<MatchId>, CHANGED_LISTINGS>,
    added: Notify,
}

impl ChangedListings {
    /// Adds matches of this server with a changed list entry.
    pub(crate) fn mark_changed(&self, ids: impl IntoIterator<Item = MatchId>) {
        self.match_ids.lock().extend(ids);
        self.added.notify_one();
    }

    /// Waits for changed matches and takes them.
    pub(crate) async fn take_changed(&self) -> BTreeSet<MatchId> {
        self.added.notified().await;
        std::mem::take(&mut *self.match_ids.lock())
    }
}
