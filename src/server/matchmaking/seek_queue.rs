//! Queue of players who seek an opponent.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::seek_list::{GameFilter, SNAPSHOT_MAX, SeekSnapshot};
use crate::connection::handle::ConnectionHandle;
use crate::connection::id::ConnectionId;
use crate::context::limit_reached::LimitReached;
use crate::context::locks::{Mutex, SEEK_LIST};
use crate::players::block_cache::BlockCache;
use crate::wire::to_protocol;
use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{ClockControl, PlayerId, Seeker, ShownRating};
use plyhouse_store::PlayerRecord;
use plyhouse_store::cluster_directory::{RatingRange, WIDENING_INTERVAL_MS};

/// Number of times that a rating range widens before it accepts every opponent.
const WIDENING_STEPS_MAX: u64 = 100;

/// Waiting seeks in order of arrival, at most one for each player.
#[derive(Debug)]
pub(crate) struct Seeks {
    max: usize,
    waiting: Mutex<VecDeque<Arc<Seek>>, SEEK_LIST>,
    /// Notified when a seek with a rating range is added.
    ranged_seek_added: Notify,
}

/// Request of a player to be paired with an opponent.
#[derive(Debug)]
pub(crate) struct Seek {
    /// Connection that made the seek.
    pub(crate) connection: Arc<ConnectionHandle>,
    pub(crate) player: PlayerRecord,
    pub(crate) game: &'static GameEntry,
    pub(crate) clock: Option<ClockControl>,
    /// Whether the seek is for a rated match.
    pub(crate) rated: bool,
    /// Players that must not be paired with this seek.
    pub(crate) excluded_players: Vec<PlayerId>,
    /// Rating of the player, if the player has an account.
    pub(crate) rating: Option<ShownRating>,
    /// Initial range of accepted opponent ratings. The two numbers are the lower and the upper
    /// bound, as offsets from the player's rating. `None` accepts every opponent.
    pub(crate) range: Option<[i32; 2]>,
    /// Level of the bot that plays if no opponent is found.
    pub(crate) bot: Option<Level>,
    /// Level of the bot that replaces a player who leaves the match. The bot is used only if the
    /// opponent also requests one.
    pub(crate) stand_in: Option<Level>,
    /// Time of creation, in milliseconds since the Unix epoch.
    pub(crate) created_ms: u64,
    /// Number of widening steps at the last call of `has_widened`. The next call uses this number
    /// to detect whether the range has widened.
    pub(crate) widening_steps: AtomicU64,
    /// Token that is cancelled when the seek ends for any reason.
    pub(crate) ended: CancellationToken,
    /// Token that is cancelled when the server has replied to the seek request. The server must not
    /// send the match before this reply.
    pub(crate) reply_sent: CancellationToken,
}

impl Seek {
    /// Returns the seek's rating range at time `now_ms`, which is in milliseconds since the Unix
    /// epoch.
    pub(crate) fn rating_range(&self, now_ms: u64) -> RatingRange {
        RatingRange {
            rating: self.rating.map_or(0, |rating| rating.rating),
            initial_offsets: self.range,
            waited_ms: now_ms.saturating_sub(self.created_ms),
        }
    }

    /// Returns whether the rating range has widened since the last call. `now_ms` is in
    /// milliseconds since the Unix epoch.
    pub(crate) fn has_widened(&self, now_ms: u64) -> bool {
        // After `WIDENING_STEPS_MAX` steps, the range accepts every opponent, so further steps are
        // not counted.
        let steps =
            (self.rating_range(now_ms).waited_ms / WIDENING_INTERVAL_MS).min(WIDENING_STEPS_MAX);
        self.range.is_some() && self.widening_steps.swap(steps, Ordering::Relaxed) < steps
    }

    /// Converts the seek to the entry that the seek list shows.
    pub(crate) fn to_seeker(&self) -> Seeker {
        Seeker {
            player: to_protocol::player(&self.player),
            rating: self.rating,
            game: self.game.info.id.to_owned(),
            clock: self.clock,
            rated: self.rated,
        }
    }

    /// Returns whether two seeks may be paired at time `now_ms`. Both seeks must request the same
    /// kind of match. `now_ms` is in milliseconds since the Unix epoch.
    fn is_compatible(&self, other: &Self, now_ms: u64) -> bool {
        std::ptr::eq(other.game, self.game)
            && other.clock == self.clock
            && other.rated == self.rated
            && (!self.rated || other.player.kind == self.player.kind)
            && other.player.id != self.player.id
            && !other.excluded_players.contains(&self.player.id)
            && !self.excluded_players.contains(&other.player.id)
            && other
                .rating_range(now_ms)
                .is_mutual(&self.rating_range(now_ms))
    }
}

impl Seeks {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            waiting: Mutex::new(VecDeque::new()),
            ranged_seek_added: Notify::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.lock().len()
    }

    /// Pairs the seek with the compatible seek that has waited longest, or adds it to the queue.
    /// Ends an earlier seek of the same player.
    pub(crate) fn pair_or_add(
        &self,
        seek: &Arc<Seek>,
        now_ms: u64,
        blocks: &BlockCache,
    ) -> Result<Option<Arc<Seek>>, LimitReached> {
        let mut waiting = self.waiting.lock();
        remove(&mut waiting, |other| other.player.id == seek.player.id);
        let fits = |other: &Arc<Seek>| {
            seek.is_compatible(other, now_ms)
                && !other.connection.outbox.is_closing()
                && !blocks.are_unpairable(seek.player.id, other.player.id)
        };
        let index = waiting.iter().position(fits);
        let partner = index.and_then(|index| waiting.remove(index));
        match &partner {
            Some(found) => {
                found.ended.cancel();
                seek.ended.cancel();
            }
            None if waiting.len() >= self.max => return Err(LimitReached::Seeks),
            None => {
                waiting.push_back(Arc::clone(seek));
                if seek.range.is_some() {
                    self.ranged_seek_added.notify_one();
                }
            }
        }
        Ok(partner)
    }

    /// Removes and returns two waiting rated seeks that are compatible at `now_ms`. The older seek
    /// comes first.
    pub(crate) fn pair_widened(&self, now_ms: u64, blocks: &BlockCache) -> Option<[Arc<Seek>; 2]> {
        let mut waiting = self.waiting.lock();
        let is_pairable = |seek: &Seek| seek.rated && !seek.connection.outbox.is_closing();
        for first in 0..waiting.len() {
            let seek = &waiting[first];
            if !is_pairable(seek) {
                continue;
            }
            let fits = |other: &Arc<Seek>| {
                is_pairable(other)
                    && seek.is_compatible(other, now_ms)
                    && !blocks.are_unpairable(seek.player.id, other.player.id)
            };
            let Some(after) = waiting.range(first + 1..).position(fits) else {
                continue;
            };
            let other = waiting.remove(first + 1 + after)?;
            let seek = waiting.remove(first)?;
            seek.ended.cancel();
            other.ended.cancel();
            return Some([seek, other]);
        }
        None
    }

    /// Waits until the queue contains a seek with a rating range. Only one task may call this at a
    /// time.
    pub(crate) async fn wait_for_ranged_seek(&self) {
        let has_range = |seek: &Arc<Seek>| seek.range.is_some();
        while !self.waiting.lock().iter().any(has_range) {
            self.ranged_seek_added.notified().await;
        }
    }

    /// Adds a seek without pairing it, because a cluster pairs seeks through the store. Ends an
    /// earlier seek of the same player.
    pub(crate) fn add_waiting(&self, seek: &Arc<Seek>) -> Result<(), LimitReached> {
        let mut waiting = self.waiting.lock();
        remove(&mut waiting, |other| other.player.id == seek.player.id);
        if waiting.len() >= self.max {
            return Err(LimitReached::Seeks);
        }
        waiting.push_back(Arc::clone(seek));
        Ok(())
    }

    pub(crate) fn all(&self) -> Vec<Arc<Seek>> {
        self.waiting.lock().iter().cloned().collect()
    }

    /// Returns a snapshot of the waiting seeks. The snapshot covers the given game, or all games if
    /// `game` is `None`.
    pub(crate) fn snapshot(&self, game: GameFilter) -> SeekSnapshot {
        let waiting = self.waiting.lock();
        let is_match = |seek: &&Arc<Seek>| {
            game.is_none_or(|game| game == seek.game.info.id)
                && !seek.connection.outbox.is_closing()
        };
        let seeks = waiting.iter().filter(is_match);
        let total = seeks.clone().count() as u64;
        let longest_waiting = seeks.take(SNAPSHOT_MAX).map(|seek| seek.to_seeker());
        SeekSnapshot::new(total, longest_waiting.collect())
    }

    /// Returns whether this seek is still in the queue. Seeks are compared by pointer.
    pub(crate) fn is_waiting(&self, seek: &Arc<Seek>) -> bool {
        let waiting = self.waiting.lock();
        waiting.iter().any(|other| Arc::ptr_eq(other, seek))
    }

    /// Removes this seek from the queue. Returns `false` if the seek has already ended.
    pub(crate) fn remove(&self, seek: &Arc<Seek>) -> bool {
        let is_it = |other: &Arc<Seek>| Arc::ptr_eq(other, seek);
        remove(&mut self.waiting.lock(), is_it).is_some()
    }

    /// Ends the player's seek and returns it.
    pub(crate) fn remove_by_player(&self, player: PlayerId) -> Option<Arc<Seek>> {
        remove(&mut self.waiting.lock(), |other| other.player.id == player)
    }

    /// Ends the player's seek. Returns `false` if the player has none.
    pub(crate) fn end_by_player(&self, player: PlayerId) -> bool {
        self.remove_by_player(player).is_some()
    }

    /// Ends the seek made on this connection. Returns `false` if the connection has no seek.
    pub(crate) fn end_by_connection(&self, connection: ConnectionId) -> bool {
        let is_its = |other: &Arc<Seek>| other.connection.id == connection;
        remove(&mut self.waiting.lock(), is_its).is_some()
    }
}

fn remove(
    waiting: &mut VecDeque<Arc<Seek>>,
    predicate: impl Fn(&Arc<Seek>) -> bool,
) -> Option<Arc<Seek>> {
    let index = waiting.iter().position(predicate)?;
    let seek = waiting.remove(index)?;
    seek.ended.cancel();
    Some(seek)
}
