//! Players who look for somebody to play.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::blocks::Blocks;
use super::connection_id::ConnectionId;
use super::locks::{Mutex, SEEKS};
use super::peer::Peer;
use plyhouse_engine::catalog::Entry;
use plyhouse_engine::search::Level;
use plyhouse_protocol::{ClockControl, ErrorCode, PlayerId, PlayerKind, WireError};

/// Everybody who waits, in the order of coming. At most one seek a player.
#[derive(Debug)]
pub(super) struct Seeks {
    max: usize,
    waiting: Mutex<VecDeque<Arc<Seek>>, SEEKS>,
}

/// A player who waits for somebody to play.
#[derive(Debug)]
pub(super) struct Seek {
    /// The connection that the seek came over.
    pub(super) peer: Arc<Peer>,
    pub(super) player: PlayerId,
    /// The player's name.
    pub(super) name: String,
    /// What the player is.
    pub(super) kind: PlayerKind,
    pub(super) game: &'static Entry,
    pub(super) clock: Option<ClockControl>,
    /// The bot that plays if nobody comes.
    pub(super) bot: Option<Level>,
    /// The bot that takes the place of whoever goes, if the other wants that, too.
    pub(super) stand_in: Option<Level>,
    /// When it was made, in milliseconds since 1970.
    pub(super) since_ms: u64,
    /// Cancelled when the seek is over, for whatever reason.
    pub(super) over: CancellationToken,
    /// Cancelled when the request has been answered: whatever comes of the seek is told after that.
    pub(super) answered: CancellationToken,
}

/// As many wait as are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooManySeeks;

impl From<TooManySeeks> for WireError {
    fn from(TooManySeeks: TooManySeeks) -> Self {
        Self::new(ErrorCode::Overloaded, "too many look for somebody to play")
    }
}

impl Seeks {
    pub(super) fn new(max: usize) -> Self {
        Self {
            max,
            waiting: Mutex::new(VecDeque::new()),
        }
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.lock().len()
    }

    /// Pairs the seek with the one that has waited longest, or lets it wait. An earlier seek of the
    /// same player is over.
    pub(super) fn add(
        &self,
        seek: &Arc<Seek>,
        blocks: &Blocks,
    ) -> Result<Option<Arc<Seek>>, TooManySeeks> {
        let mut waiting = self.waiting.lock();
        remove(&mut waiting, |other| other.player == seek.player);
        let fits = |other: &Arc<Seek>| {
            std::ptr::eq(other.game, seek.game)
                && other.clock == seek.clock
                && !other.peer.outbox.is_closing()
                && !blocks.are_apart(seek.player, other.player)
        };
        let found = waiting
            .iter()
            .position(fits)
            .and_then(|found| waiting.remove(found));
        match &found {
            Some(found) => {
                found.over.cancel();
                seek.over.cancel();
            }
            None if waiting.len() >= self.max => return Err(TooManySeeks),
            None => waiting.push_back(Arc::clone(seek)),
        }
        Ok(found)
    }

    /// Lets a seek wait that is paired elsewhere. An earlier one of the same player is over.
    pub(super) fn wait(&self, seek: &Arc<Seek>) -> Result<(), TooManySeeks> {
        let mut waiting = self.waiting.lock();
        remove(&mut waiting, |other| other.player == seek.player);
        if waiting.len() >= self.max {
            return Err(TooManySeeks);
        }
        waiting.push_back(Arc::clone(seek));
        Ok(())
    }

    /// All that wait.
    pub(super) fn all(&self) -> Vec<Arc<Seek>> {
        self.waiting.lock().iter().cloned().collect()
    }

    /// Whether this very seek waits.
    pub(super) fn is_waiting(&self, seek: &Arc<Seek>) -> bool {
        let waiting = self.waiting.lock();
        waiting.iter().any(|other| Arc::ptr_eq(other, seek))
    }

    /// Takes this very seek out. False if it was over already.
    pub(super) fn take(&self, seek: &Arc<Seek>) -> bool {
        let is_it = |other: &Arc<Seek>| Arc::ptr_eq(other, seek);
        remove(&mut self.waiting.lock(), is_it).is_some()
    }

    /// Ends the player's seek, and gives it. `None` if there is none.
    pub(super) fn take_of(&self, player: PlayerId) -> Option<Arc<Seek>> {
        remove(&mut self.waiting.lock(), |other| other.player == player)
    }

    /// Ends the player's seek. False if there is none.
    pub(super) fn end(&self, player: PlayerId) -> bool {
        self.take_of(player).is_some()
    }

    /// Ends the seek that was made over this connection. False if there is none.
    pub(super) fn end_of(&self, connection: ConnectionId) -> bool {
        let is_its = |other: &Arc<Seek>| other.peer.id == connection;
        remove(&mut self.waiting.lock(), is_its).is_some()
    }
}

fn remove(
    waiting: &mut VecDeque<Arc<Seek>>,
    is_meant: impl Fn(&Arc<Seek>) -> bool,
) -> Option<Arc<Seek>> {
    let found = waiting.iter().position(is_meant)?;
    let seek = waiting.remove(found)?;
    seek.over.cancel();
    Some(seek)
}
