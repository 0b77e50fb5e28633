//! Who was forgotten and has got into a match all the same, for the task that has them go out of it.

use tokio::sync::Notify;

use plyhouse_protocol::{MatchId, PlayerId};

use crate::context::locks::{Mutex, PENDING_REMOVALS};

/// Who is to go out of which matches.
#[derive(Debug, Default)]
pub(crate) struct PendingRemovals {
    pending: Mutex<Vec<(MatchId, PlayerId)>, PENDING_REMOVALS>,
    added: Notify,
}

impl PendingRemovals {
    /// A player is to go out of a match.
    pub(crate) fn add(&self, id: MatchId, player: PlayerId) {
        self.pending.lock().push((id, player));
        self.added.notify_one();
    }

    /// Waits for some, and gives them.
    pub(crate) async fn next_batch(&self) -> Vec<(MatchId, PlayerId)> {
        loop {
            let batch = std::mem::take(&mut *self.pending.lock());
            if !batch.is_empty() {
                return batch;
            }
            // One that was noted meanwhile has left a permit.
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
        // There is a permit left, and nothing to give.
        let mut waiting = Box::pin(removals.next_batch());
        assert_eq!(waiting.as_mut().now_or_never(), None);
        add(removal(3));
        assert_eq!(waiting.as_mut().now_or_never(), Some(vec![removal(3)]));
        drop(waiting);
        assert_eq!(removals.next_batch().now_or_never(), None);
    }
}
