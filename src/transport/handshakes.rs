//! The connections that are neither a WebSocket yet nor finished.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// How many there may be. One more takes the place of the one that has been at it for longest: an
/// honest client needs milliseconds, so whoever holds a place without using it loses it first.
const HANDSHAKES_MAX: usize = 1024;

/// The connections that are neither a WebSocket yet nor finished. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Handshakes(Arc<Mutex<Places>>);

#[derive(Debug, Default)]
struct Places {
    next: u64,
    taken: BTreeMap<u64, CancellationToken>,
}

/// A place among them; given back when dropped.
#[derive(Debug)]
pub(super) struct Place {
    handshakes: Handshakes,
    number: u64,
    lost: CancellationToken,
}

impl Handshakes {
    fn places(&self) -> MutexGuard<'_, Places> {
        // No code that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place, from the connection that has had one for longest if there is none.
    pub(super) fn enter(&self) -> Place {
        let mut places = self.places();
        if places.taken.len() >= HANDSHAKES_MAX
            && let Some((_, oldest)) = places.taken.pop_first()
        {
            oldest.cancel();
        }
        let number = places.next;
        places.next += 1;
        let lost = CancellationToken::new();
        places.taken.insert(number, lost.clone());
        Place {
            handshakes: self.clone(),
            number,
            lost,
        }
    }
}

impl Place {
    /// Waits until another connection has taken this place.
    pub(super) async fn lost(&self) {
        self.lost.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.handshakes.places().taken.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn who_has_waited_longest_makes_room() {
        let handshakes = Handshakes::default();
        let mut places: Vec<Place> = (0..HANDSHAKES_MAX).map(|_| handshakes.enter()).collect();
        drop(places.remove(0));
        places.push(handshakes.enter());
        assert!(
            places
                .iter()
                .all(|place| place.lost().now_or_never().is_none())
        );
        let _one_more = handshakes.enter();
        let lost: Vec<bool> = places
            .iter()
            .map(|place| place.lost().now_or_never().is_some())
            .collect();
        assert_eq!(lost.iter().position(|&lost| lost), Some(0));
        assert_eq!(lost.iter().filter(|&&lost| lost).count(), 1);
        drop(places);
        assert_eq!(handshakes.places().taken.len(), 1);
    }
}
