//! Who was forgotten and has got into a match all the same, for the task that has them go out of it.

use tokio::sync::Notify;

use plyhouse_protocol::{MatchId, PlayerId};

use crate::context::locks::{Mutex, PENDING_REMOVALS};

/// Who is to go out of which matches.
#[derive(Debug, Default)]
pub(crate) struct PendingRemovals {
    noted: Mutex<Vec<(MatchId, PlayerId)>, PENDING_REMOVALS>,
    news: Notify,
}

impl PendingRemovals {
    /// A player is to go out of a match.
    pub(crate) fn note(&self, id: MatchId, player: PlayerId) {
        self.noted.lock().push((id, player));
        self.news.notify_one();
    }

    /// Waits for some, and gives them.
    pub(crate) async fn next(&self) -> Vec<(MatchId, PlayerId)> {
        loop {
            let noted = std::mem::take(&mut *self.noted.lock());
            if !noted.is_empty() {
                return noted;
            }
            // One that was noted meanwhile has left a permit.
            self.news.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn none_is_missed_whenever_it_is_noted() {
        let departures = PendingRemovals::default();
        let some = |number| (MatchId(Uuid::nil()), PlayerId(Uuid::from_u128(number)));
        let note = |(id, player)| departures.note(id, player);
        note(some(1));
        note(some(2));
        let noted = departures.next().now_or_never();
        assert_eq!(noted, Some(vec![some(1), some(2)]));
        // There is a permit left, and nothing to give.
        let mut waiting = Box::pin(departures.next());
        assert_eq!(waiting.as_mut().now_or_never(), None);
        note(some(3));
        assert_eq!(waiting.as_mut().now_or_never(), Some(vec![some(3)]));
        drop(waiting);
        assert_eq!(departures.next().now_or_never(), None);
    }
}
