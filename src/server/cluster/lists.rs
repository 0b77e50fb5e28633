//! The matches of which lists show something else now.

use std::collections::BTreeSet;

use plyhouse_protocol::MatchId;
use tokio::sync::Notify;

use crate::context::locks::{Mutex, SHOWN};

/// The matches of which lists show something else now, and nobody has been told.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    changed: Mutex<BTreeSet<MatchId>, SHOWN>,
    news: Notify,
}

impl Lists {
    /// Lists show something else of these matches now, which are decided here.
    pub(crate) fn changed(&self, ids: impl IntoIterator<Item = MatchId>) {
        self.changed.lock().extend(ids);
        self.news.notify_one();
    }

    /// Waits for such matches, and takes them out.
    pub(crate) async fn take(&self) -> BTreeSet<MatchId> {
        self.news.notified().await;
        std::mem::take(&mut *self.changed.lock())
    }
}
