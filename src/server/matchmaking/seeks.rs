//! Players who look for somebody to play.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::seek_list::{GameFilter, SNAPSHOT_MAX, SeekSnapshot};
use crate::connection::handle::ConnectionHandle;
use crate::connection::id::ConnectionId;
use crate::context::locks::{Mutex, SEEK_LIST};
use crate::players::block_cache::BlockCache;
use plyhouse_engine::catalog::GameEntry;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{
    ClockControl, ErrorCode, PlayerId, PlayerKind, PlayerSummary, Seeker, ShownRating, WireError,
};
use plyhouse_store::cluster_directory::{RatingRange, WIDENING_INTERVAL_MS};

/// After so many steps there is no rating that would not fit.
const WIDENING_STEPS_MAX: u64 = 100;

/// Everybody who waits, in the order of coming. At most one seek a player.
#[derive(Debug)]
pub(crate) struct Seeks {
    max: usize,
    waiting: Mutex<VecDeque<Arc<Seek>>, SEEK_LIST>,
    /// Somebody has begun to wait whom more fit with time.
    ranged_seek_added: Notify,
}

/// A player who waits for somebody to play.
#[derive(Debug)]
pub(crate) struct Seek {
    /// The connection that the seek came over.
    pub(crate) connection: Arc<ConnectionHandle>,
    pub(crate) player: PlayerId,
    /// The player's name.
    pub(crate) name: String,
    /// What the player is.
    pub(crate) kind: PlayerKind,
    pub(crate) game: &'static GameEntry,
    pub(crate) clock: Option<ClockControl>,
    /// Whether it is to count for ratings.
    pub(crate) rated: bool,
    /// With whom it is not to be paired.
    pub(crate) excluded_players: Vec<PlayerId>,
    /// How the player is rated, if it is an account.
    pub(crate) rating: Option<ShownRating>,
    /// How much weaker and stronger the other may be at first; anybody if `None`.
    pub(crate) range: Option<[i32; 2]>,
    /// The bot that plays if nobody comes.
    pub(crate) bot: Option<Level>,
    /// The bot that takes the place of whoever goes, if the other wants that, too.
    pub(crate) stand_in: Option<Level>,
    /// When it was made, in milliseconds since 1970.
    pub(crate) created_ms: u64,
    /// How often what fits had grown when it was looked at last.
    pub(crate) widening_steps: AtomicU64,
    /// Cancelled when the seek is over, for whatever reason.
    pub(crate) ended: CancellationToken,
    /// Cancelled when the request has been answered: whatever comes of the seek is told after that.
    pub(crate) reply_sent: CancellationToken,
}

impl Seek {
    /// Whom it fits by ratings at this time, in milliseconds since 1970.
    pub(crate) fn rating_range(&self, now_ms: u64) -> RatingRange {
        RatingRange {
            rating: self.rating.map_or(0, |rating| rating.rating),
            initial_offsets: self.range,
            waited_ms: now_ms.saturating_sub(self.created_ms),
        }
    }

    /// Whether more fit at this time than when that was asked last, in milliseconds since 1970.
    pub(crate) fn has_widened(&self, now_ms: u64) -> bool {
        // By then anybody fits.
        let steps =
            (self.rating_range(now_ms).waited_ms / WIDENING_INTERVAL_MS).min(WIDENING_STEPS_MAX);
        self.range.is_some() && self.widening_steps.swap(steps, Ordering::Relaxed) < steps
    }

    /// As others see it.
    pub(crate) fn to_seeker(&self) -> Seeker {
        Seeker {
            player: PlayerSummary {
                id: self.player,
                name: self.name.clone(),
                account: self.kind.is_account(),
                bot: self.kind == PlayerKind::Bot,
            },
            rating: self.rating,
            game: self.game.info.id.to_owned(),
            clock: self.clock,
            rated: self.rated,
        }
    }

    /// Whether two want the same, and fit each other at this time.
    fn is_compatible(&self, other: &Self, now_ms: u64) -> bool {
        std::ptr::eq(other.game, self.game)
            && other.clock == self.clock
            && other.rated == self.rated
            && (!self.rated || other.kind == self.kind)
            && other.player != self.player
            && !other.excluded_players.contains(&self.player)
            && !self.excluded_players.contains(&other.player)
            && other
                .rating_range(now_ms)
                .is_mutual(&self.rating_range(now_ms))
    }
}

/// As many wait as are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManySeeks;

impl From<TooManySeeks> for WireError {
    fn from(TooManySeeks: TooManySeeks) -> Self {
        Self::new(ErrorCode::Overloaded, "too many look for somebody to play")
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

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.lock().len()
    }

    /// Pairs the seek with the one that has waited longest, or lets it wait. An earlier seek of the
    /// same player is over.
    pub(crate) fn pair_or_add(
        &self,
        seek: &Arc<Seek>,
        now_ms: u64,
        blocks: &BlockCache,
    ) -> Result<Option<Arc<Seek>>, TooManySeeks> {
        let mut waiting = self.waiting.lock();
        remove(&mut waiting, |other| other.player == seek.player);
        let fits = |other: &Arc<Seek>| {
            seek.is_compatible(other, now_ms)
                && !other.connection.outbox.is_closing()
                && !blocks.are_unpairable(seek.player, other.player)
        };
        let partner = waiting
            .iter()
            .position(fits)
            .and_then(|found| waiting.remove(found));
        match &partner {
            Some(found) => {
                found.ended.cancel();
                seek.ended.cancel();
            }
            None if waiting.len() >= self.max => return Err(TooManySeeks),
            None => {
                waiting.push_back(Arc::clone(seek));
                if seek.range.is_some() {
                    self.ranged_seek_added.notify_one();
                }
            }
        }
        Ok(partner)
    }

    /// Pairs two that wait and did not fit each other before, the one that has waited longer first. `None` if
    /// there are none.
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
                    && !blocks.are_unpairable(seek.player, other.player)
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

    /// Whether somebody waits whom more fit with time.
    fn has_ranged_seek(&self) -> bool {
        self.waiting.lock().iter().any(|seek| seek.range.is_some())
    }

    /// Waits until somebody waits whom more fit with time. One task may.
    pub(crate) async fn wait_for_ranged_seek(&self) {
        while !self.has_ranged_seek() {
            self.ranged_seek_added.notified().await;
        }
    }

    /// Lets a seek wait that is paired elsewhere. An earlier one of the same player is over.
    pub(crate) fn add_waiting(&self, seek: &Arc<Seek>) -> Result<(), TooManySeeks> {
        let mut waiting = self.waiting.lock();
        remove(&mut waiting, |other| other.player == seek.player);
        if waiting.len() >= self.max {
            return Err(TooManySeeks);
        }
        waiting.push_back(Arc::clone(seek));
        Ok(())
    }

    /// All that wait.
    pub(crate) fn all(&self) -> Vec<Arc<Seek>> {
        self.waiting.lock().iter().cloned().collect()
    }

    /// What waits, of one game or of all, as others see it.
    pub(crate) fn snapshot(&self, game: GameFilter) -> SeekSnapshot {
        let waiting = self.waiting.lock();
        let is_match = |seek: &&Arc<Seek>| {
            game.is_none_or(|game| game == seek.game.info.id)
                && !seek.connection.outbox.is_closing()
        };
        let seeks = waiting.iter().filter(is_match);
        let total = seeks.clone().count() as u64;
        SeekSnapshot::new(
            total,
            seeks
                .take(SNAPSHOT_MAX)
                .map(|seek| seek.to_seeker())
                .collect(),
        )
    }

    /// Whether this very seek waits.
    pub(crate) fn is_waiting(&self, seek: &Arc<Seek>) -> bool {
        let waiting = self.waiting.lock();
        waiting.iter().any(|other| Arc::ptr_eq(other, seek))
    }

    /// Takes this very seek out. False if it was over already.
    pub(crate) fn remove(&self, seek: &Arc<Seek>) -> bool {
        let is_it = |other: &Arc<Seek>| Arc::ptr_eq(other, seek);
        remove(&mut self.waiting.lock(), is_it).is_some()
    }

    /// Ends the player's seek, and gives it. `None` if there is none.
    pub(crate) fn remove_by_player(&self, player: PlayerId) -> Option<Arc<Seek>> {
        remove(&mut self.waiting.lock(), |other| other.player == player)
    }

    /// Ends the player's seek. False if there is none.
    pub(crate) fn end_by_player(&self, player: PlayerId) -> bool {
        self.remove_by_player(player).is_some()
    }

    /// Ends the seek that was made over this connection. False if there is none.
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
