//! List of open seeks that clients see in the lobby.
//!
//! In a cluster, the server reads the seeks of each game from the store at most once a second for
//! all watchers. A player does not see their own seek. A seek is also hidden from players who have
//! blocked the seeking player or are blocked by that player. This module only displays seeks and
//! does not pair them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::connection::id::ConnectionId;
use crate::connection::outbox::{Frame, Outbox};
use crate::context::locks::{Mutex, SEEK_LIST};
use plyhouse_protocol::{PlayerId, SeekList, Seeker};

/// Maximum number of seeks shown to one player.
const ROWS_MAX: usize = 50;

/// Maximum number of seeks in a snapshot. The value exceeds `ROWS_MAX`, so that a player can see
/// `ROWS_MAX` seeks even if some seeks are hidden from that player.
pub(crate) const SNAPSHOT_MAX: usize = 100;

/// Minimum time between two reads from the store and between two broadcasts.
pub(super) const BROADCAST_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of connections in a batch. After each batch, a broadcast yields to other tasks.
const BROADCAST_BATCH_SIZE: usize = 32;

/// Game whose seeks are listed. `None` selects all games.
pub(crate) type GameFilter = Option<&'static str>;

/// Connections that watch the seek list, and cached snapshots of the open seeks.
#[derive(Debug, Default)]
pub(crate) struct SeekListState {
    inner: Mutex<Inner, SEEK_LIST>,
    /// Notified when a connection starts to watch the list.
    watcher_added: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    watchers: BTreeMap<ConnectionId, Watcher>,
    /// Most recent snapshot for each game filter. The `Instant` is the time at which the server
    /// started to read the snapshot from the store. The number of games limits the size of the map.
    snapshots: BTreeMap<GameFilter, (Instant, Arc<SeekSnapshot>)>,
}

#[derive(Debug)]
struct Watcher {
    game: GameFilter,
    player: PlayerId,
    outbox: Outbox,
    /// Seek list that was last sent to the connection.
    last_sent: Option<Arc<SeekList>>,
}

/// Snapshot of the open seeks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SeekSnapshot {
    /// Total number of open seeks.
    total: u64,
    /// Oldest open seeks, oldest first.
    longest_waiting: Vec<Seeker>,
    /// Seek list shown to players if no seek in the snapshot must be hidden from them.
    pub(super) unfiltered: Arc<SeekList>,
}

impl SeekSnapshot {
    /// Creates a snapshot. `total` is the number of open seeks. `longest_waiting` contains the
    /// oldest of these seeks, at most [`SNAPSHOT_MAX`].
    pub(crate) fn new(total: u64, longest_waiting: Vec<Seeker>) -> Self {
        let rows = longest_waiting.iter().take(ROWS_MAX).cloned().collect();
        Self {
            unfiltered: Arc::new(SeekList { total, rows }),
            total,
            longest_waiting,
        }
    }

    /// Returns the seek list for `player`, without the player's own seek and without seeks of the
    /// `blocked` players.
    pub(super) fn visible_to(
        &self,
        player: PlayerId,
        blocked: &BTreeSet<PlayerId>,
    ) -> Arc<SeekList> {
        let is_visible = |seeker: &&Seeker| {
            let id = seeker.player.id;
            id != player && !blocked.contains(&id)
        };
        let shown = self.longest_waiting.iter().filter(is_visible).count();
        let hidden = self.longest_waiting.len() - shown;
        if hidden == 0 {
            return Arc::clone(&self.unfiltered);
        }
        let visible = self.longest_waiting.iter().filter(is_visible);
        Arc::new(SeekList {
            total: self.total - hidden as u64,
            rows: visible.take(ROWS_MAX).cloned().collect(),
        })
    }
}

impl SeekListState {
    /// Subscribes the connection to the seek list.
    pub(crate) fn watch(&self, game: GameFilter, player: PlayerId, outbox: &Outbox) {
        let watcher = Watcher {
            game,
            player,
            outbox: outbox.clone(),
            last_sent: None,
        };
        let mut inner = self.inner.lock();
        inner.watchers.insert(outbox.connection(), watcher);
        drop(inner);
        self.watcher_added.notify_one();
    }

    pub(crate) fn unwatch(&self, connection: ConnectionId) {
        let watcher = self.inner.lock().watchers.remove(&connection);
        drop(watcher);
    }

    /// Returns the cached snapshot, unless the server started to read it [`BROADCAST_INTERVAL`] ago
    /// or earlier.
    pub(super) fn cached_snapshot(
        &self,
        game: GameFilter,
        now: Instant,
    ) -> Option<Arc<SeekSnapshot>> {
        let inner = self.inner.lock();
        let (at, snapshot) = inner.snapshots.get(&game)?;
        let is_fresh = now.duration_since(*at) < BROADCAST_INTERVAL;
        is_fresh.then(|| Arc::clone(snapshot))
    }

    /// Caches a snapshot. If the new snapshot equals the cached one, the existing allocation is
    /// reused.
    pub(super) fn cache_snapshot(
        &self,
        game: GameFilter,
        now: Instant,
        snapshot: SeekSnapshot,
    ) -> Arc<SeekSnapshot> {
        let mut inner = self.inner.lock();
        let cached = inner.snapshots.get(&game).map(|(_, cached)| cached);
        let snapshot = match cached {
            Some(cached) if **cached == snapshot => Arc::clone(cached),
            Some(_) | None => Arc::new(snapshot),
        };
        inner.snapshots.insert(game, (now, Arc::clone(&snapshot)));
        snapshot
    }

    /// Returns the game filters of all connections that watch the list.
    pub(super) fn watched_games(&self) -> BTreeSet<GameFilter> {
        let inner = self.inner.lock();
        let watchers = inner.watchers.values();
        watchers.map(|watcher| watcher.game).collect()
    }

    /// Waits until a connection watches the list. Only one task may wait at a time.
    pub(super) async fn wait_for_watcher(&self) {
        while self.inner.lock().watchers.is_empty() {
            self.watcher_added.notified().await;
        }
    }

    /// Returns the next batch of connections that watch the list, ordered by connection id.
    pub(super) fn watchers_after(
        &self,
        after: Bound<ConnectionId>,
    ) -> Vec<(ConnectionId, GameFilter, PlayerId)> {
        let inner = self.inner.lock();
        let next = inner.watchers.range((after, Bound::Unbounded));
        let next = next.take(BROADCAST_BATCH_SIZE);
        next.map(|(id, watcher)| (*id, watcher.game, watcher.player))
            .collect()
    }

    /// Sends the seek list to a connection that watches this game. Does nothing if the list equals
    /// the last list sent to the connection.
    pub(super) fn send_if_changed(
        &self,
        connection: ConnectionId,
        game: GameFilter,
        seekers: Arc<SeekList>,
        frame: impl FnOnce(&SeekList) -> Frame,
    ) {
        let mut inner = self.inner.lock();
        let watcher = inner.watchers.get_mut(&connection);
        let Some(watcher) = watcher.filter(|watcher| watcher.game == game) else {
            return;
        };
        if watcher.last_sent.as_ref() == Some(&seekers) {
            return;
        }
        // The frame is enqueued under the lock, so that `last_sent` always equals the last list in
        // the outbox.
        watcher.outbox.enqueue(frame(&seekers));
        watcher.last_sent = Some(seekers);
        let outbox = watcher.outbox.clone();
        drop(inner);
        outbox.flush();
    }
}

#[cfg(test)]
mod tests {
    use plyhouse_protocol::PlayerSummary;
    use uuid::Uuid;

    use super::*;

    fn id(number: u128) -> PlayerId {
        PlayerId(Uuid::from_u128(number))
    }

    fn seeker(number: u128) -> Seeker {
        Seeker {
            player: PlayerSummary {
                id: id(number),
                name: format!("p{number}"),
                account: false,
                bot: false,
            },
            rating: None,
            game: "chess".to_owned(),
            clock: None,
            rated: false,
        }
    }

    #[test]
    fn own_seek_and_seeks_of_blocked_players_are_hidden() {
        let longest_waiting = (0..60).map(seeker).collect();
        let snapshot = SeekSnapshot::new(1000, longest_waiting);
        let numbers = |player, blocked: &[u128]| {
            let apart = blocked.iter().map(|number| id(*number)).collect();
            let SeekList { total, rows } = (*snapshot.visible_to(id(player), &apart)).clone();
            let rows = rows.iter().map(|row| row.player.id.0.as_u128());
            (total, rows.collect::<Vec<_>>())
        };
        assert_eq!(numbers(99, &[]), (1000, (0..50).collect()));
        assert_eq!(numbers(99, &[98]), (1000, (0..50).collect()));
        assert_eq!(numbers(0, &[]), (999, (1..51).collect()));
        let (total, rows) = numbers(0, &[2, 55]);
        assert_eq!((total, rows.len()), (997, 50));
        assert_eq!(rows[..3], [1, 3, 4]);
    }

    #[test]
    fn snapshot_is_cached_for_one_second() {
        let state = SeekListState::default();
        let begin = Instant::now();
        assert_eq!(state.cached_snapshot(None, begin), None);
        let first = state.cache_snapshot(None, begin, SeekSnapshot::new(0, Vec::new()));
        let later = begin + BROADCAST_INTERVAL;
        assert_eq!(
            state.cached_snapshot(Some("go"), begin),
            None,
            "it is of another game"
        );
        assert!(state.cached_snapshot(None, begin).is_some());
        assert_eq!(state.cached_snapshot(None, later), None);
        let same = state.cache_snapshot(None, later, SeekSnapshot::new(0, Vec::new()));
        assert!(
            Arc::ptr_eq(&first, &same),
            "what is the same stays the same"
        );
        let other = state.cache_snapshot(None, later, SeekSnapshot::new(1, vec![seeker(1)]));
        assert_eq!(state.cached_snapshot(None, later), Some(other));
    }
}
