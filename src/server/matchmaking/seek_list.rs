//! Who looks for somebody to play, as whoever looks at the lobby sees it.
//!
//! What waits is read from the store in a cluster, once a second for all who look. Nobody is
//! shown a seek of their own, or one of somebody whom they do not meet. It only shows: who is paired with whom is
//! decided elsewhere, by the seeks themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::connection::id::ConnectionId;
use crate::connection::outbox::{Frame, Outbox};
use crate::context::locks::{Mutex, SEEKS};
use plyhouse_protocol::{PlayerId, Seeker, Seekers};

/// How many are shown to one player: more than a person looks through.
const SHOWN_MAX: usize = 50;

/// How many are read: where some of them are not for whoever looks, others are shown.
pub(crate) const READ_MAX: usize = 100;

/// The least time between two looks into the store, and between two messages.
pub(super) const PAUSE: Duration = Duration::from_secs(1);

/// To how many connections one piece of work writes, before others may go on.
const WRITTEN_AT_ONCE: usize = 32;

/// The game whose seeks are looked at; those of all if `None`.
pub(crate) type OfGame = Option<&'static str>;

/// Who is told who looks for somebody to play.
#[derive(Debug, Default)]
pub(crate) struct SeekListState {
    inner: Mutex<Inner, SEEKS>,
    /// Notified when somebody begins to watch.
    news: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    watchers: BTreeMap<ConnectionId, Watcher>,
    /// What was read last, and when that began. There is no more of it than games.
    read: BTreeMap<OfGame, (Instant, Arc<SeekSnapshot>)>,
}

#[derive(Debug)]
struct Watcher {
    game: OfGame,
    player: PlayerId,
    outbox: Outbox,
    /// What it was told last.
    told: Option<Arc<Seekers>>,
}

/// What waits, as it was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SeekSnapshot {
    /// How many wait.
    total: u64,
    /// Those who have waited longest, the longest first.
    longest: Vec<Seeker>,
    /// What is shown to whoever may see all of it.
    pub(super) to_all: Arc<Seekers>,
}

impl SeekSnapshot {
    /// So many wait; these, at most [`READ_MAX`], have waited longest.
    pub(crate) fn new(total: u64, longest: Vec<Seeker>) -> Self {
        let rows = longest.iter().take(SHOWN_MAX).cloned().collect();
        Self {
            to_all: Arc::new(Seekers { total, rows }),
            total,
            longest,
        }
    }

    /// What is shown to a player who does not meet these.
    pub(super) fn shown_to(&self, player: PlayerId, apart: &BTreeSet<PlayerId>) -> Arc<Seekers> {
        let is_shown = |seeker: &&Seeker| {
            let id = seeker.player.id;
            id != player && !apart.contains(&id)
        };
        let shown = self.longest.iter().filter(is_shown).count();
        let hidden = self.longest.len() - shown;
        if hidden == 0 {
            return Arc::clone(&self.to_all);
        }
        let rows = self.longest.iter().filter(is_shown).take(SHOWN_MAX);
        Arc::new(Seekers {
            total: self.total - hidden as u64,
            rows: rows.cloned().collect(),
        })
    }
}

impl SeekListState {
    /// From now on the connection is told who looks for somebody to play.
    pub(crate) fn watch(&self, game: OfGame, player: PlayerId, outbox: &Outbox) {
        let watcher = Watcher {
            game,
            player,
            outbox: outbox.clone(),
            told: None,
        };
        let mut inner = self.inner.lock();
        inner.watchers.insert(outbox.connection(), watcher);
        drop(inner);
        self.news.notify_one();
    }

    pub(crate) fn unwatch(&self, connection: ConnectionId) {
        let watcher = self.inner.lock().watchers.remove(&connection);
        drop(watcher);
    }

    /// What was read less than a moment ago.
    pub(super) fn fresh(&self, game: OfGame, now: Instant) -> Option<Arc<SeekSnapshot>> {
        let inner = self.inner.lock();
        let (at, sought) = inner.read.get(&game)?;
        let is_fresh = now.duration_since(*at) < PAUSE;
        is_fresh.then(|| Arc::clone(sought))
    }

    /// Takes note of what has been read. What is the same as before stays the same.
    pub(super) fn know(
        &self,
        game: OfGame,
        now: Instant,
        sought: SeekSnapshot,
    ) -> Arc<SeekSnapshot> {
        let mut inner = self.inner.lock();
        let kept = inner.read.get(&game).map(|(_, kept)| kept);
        let sought = match kept {
            Some(kept) if **kept == sought => Arc::clone(kept),
            Some(_) | None => Arc::new(sought),
        };
        inner.read.insert(game, (now, Arc::clone(&sought)));
        sought
    }

    /// Which games are watched.
    pub(super) fn games(&self) -> BTreeSet<OfGame> {
        let inner = self.inner.lock();
        let watchers = inner.watchers.values();
        watchers.map(|watcher| watcher.game).collect()
    }

    /// Waits until somebody watches. One task may.
    pub(super) async fn watched(&self) {
        while self.inner.lock().watchers.is_empty() {
            self.news.notified().await;
        }
    }

    /// Some of those who watch: those after this one.
    pub(super) fn some(&self, after: Bound<ConnectionId>) -> Vec<(ConnectionId, OfGame, PlayerId)> {
        let inner = self.inner.lock();
        let next = inner.watchers.range((after, Bound::Unbounded));
        let next = next.take(WRITTEN_AT_ONCE);
        next.map(|(id, watcher)| (*id, watcher.game, watcher.player))
            .collect()
    }

    /// Tells a connection that watches this game, unless it knows that already.
    pub(super) fn tell(
        &self,
        connection: ConnectionId,
        game: OfGame,
        shown: Arc<Seekers>,
        frame: impl FnOnce(&Seekers) -> Frame,
    ) {
        let mut inner = self.inner.lock();
        let watcher = inner.watchers.get_mut(&connection);
        let Some(watcher) = watcher.filter(|watcher| watcher.game == game) else {
            return;
        };
        if watcher.told.as_ref() == Some(&shown) {
            return;
        }
        // Under the lock, so that what it is told last is what it was told last.
        watcher.outbox.post(frame(&shown));
        watcher.told = Some(shown);
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
    fn nobody_is_shown_oneself_or_whom_one_does_not_meet() {
        let longest = (0..60).map(seeker).collect();
        let sought = SeekSnapshot::new(1000, longest);
        let numbers = |player, apart: &[u128]| {
            let apart = apart.iter().map(|number| id(*number)).collect();
            let Seekers { total, rows } = (*sought.shown_to(id(player), &apart)).clone();
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
    fn what_was_read_is_good_for_a_second() {
        let shown = SeekListState::default();
        let begin = Instant::now();
        assert_eq!(shown.fresh(None, begin), None);
        let first = shown.know(None, begin, SeekSnapshot::new(0, Vec::new()));
        let later = begin + PAUSE;
        assert_eq!(
            shown.fresh(Some("go"), begin),
            None,
            "it is of another game"
        );
        assert!(shown.fresh(None, begin).is_some());
        assert_eq!(shown.fresh(None, later), None);
        let same = shown.know(None, later, SeekSnapshot::new(0, Vec::new()));
        assert!(
            Arc::ptr_eq(&first, &same),
            "what is the same stays the same"
        );
        let other = shown.know(None, later, SeekSnapshot::new(1, vec![seeker(1)]));
        assert_eq!(shown.fresh(None, later), Some(other));
    }
}
