//! Queue of deleted players who must still be removed from a match.

use tokio::sync::Notify;

use plyhouse_protocol::{MatchId, PlayerId};

use crate::context::locks::{Mutex, PENDING_REMOVALS};

/// Pairs of a match and a deleted player to remove from it.
#[derive(Debug, Default)]
pub(crate) struct PendingRemovals {
    pending: Mutex<Vec<(MatchId, PlayerId)>, PENDING_REMOVALS>,
    added: Notify,
}

impl PendingRemovals {
    /// Schedules the removal of a player from a match.
    pub(crate) fn add(&self, id: MatchId, player: PlayerId) {
        self.pending.lock().push((id, player));
        self.added.notify_one();
    }

    /// Waits for scheduled removals and returns all of them.
    pub(crate) async fn next_batch(&self) -> Vec<(MatchId, PlayerId)> {
        loop {
            let batch = std::mem::take(&mut *self.pending.lock());
            if !batch.is_empty() {
                return batch;
            }
            // If another task calls `add` after the check above, the notification is stored. The
            // wait then ends at once.
            self.added.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn next_batch_misses_no_added_removal() {
        let removals = PendingRemovals::default();
        let removal = |number| (MatchId(Uuid::nil()), PlayerId(Uuid::from_u128(number)));
        let add = |(id, player)| removals.add(id, player);
        add(removal(1));
        add(removal(2));
        let batch = removals.next_batch().now_or_never();
        assert_eq!(batch, Some(vec![removal(1), removal(2)]));
        // The queue is empty, but the earlier calls of `add` left a stored notification.
        // `next_batch` must wait nevertheless.
        let mut waiting = Box::pin(removals.next_batch());
        assert_eq!(waiting.as_mut().now_or_never(), None);
        add(removal(3));
        assert_eq!(waiting.as_mut().now_or_never(), Some(vec![removal(3)]));
        drop(waiting);
        assert_eq!(removals.next_batch().now_or_never(), None);
    }
}
