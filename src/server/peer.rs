//! One connection as the rest of the server sees it: where to write, and what it follows.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::match_handle::MatchHandle;
use super::outbox::Outbox;
use plyhouse_protocol::{MatchId, Status};

/// Tells the connections of one process apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PeerId(pub(super) u64);

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One connection as the rest of the server sees it.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) id: PeerId,
    pub(super) outbox: Outbox,
    following_max: usize,
    following: Mutex<Following>,
    /// Whether the player whose connection this is has a part in a live match.
    plays: AtomicBool,
}

#[derive(Debug, Default)]
struct Following {
    /// In the order of their beginning.
    matches: Vec<Followed>,
    closed: bool,
}

/// A match that is followed, and what is known of it without looking at it: most have ended long ago,
/// and are in no cache any more.
#[derive(Debug)]
struct Followed {
    id: MatchId,
    has_ended: bool,
    handle: MatchHandle,
}

impl Followed {
    fn new(handle: &MatchHandle) -> Self {
        Self {
            id: handle.id(),
            has_ended: false,
            handle: handle.clone(),
        }
    }

    /// Whether the match has ended. None ever begins again.
    fn has_ended(&mut self) -> bool {
        self.has_ended = self.has_ended || self.handle.card().status() == Status::Ended;
        self.has_ended
    }
}

/// A connection follows a match now.
#[derive(Debug)]
pub(super) struct Follow {
    /// Whether it did not before.
    pub(super) is_new: bool,
    /// An ended match that had to make room, and is to be told.
    pub(super) dropped: Option<MatchHandle>,
}

/// The connection follows as many live matches as it may, or is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoRoom;

impl Following {
    /// The match with this id. What was begun last is found first.
    fn find(&self, id: MatchId) -> Option<&MatchHandle> {
        let found = self
            .matches
            .iter()
            .rev()
            .find(|followed| followed.id == id)?;
        Some(&found.handle)
    }

    /// Where the match is that has ended and was begun first.
    fn first_ended(&mut self) -> Option<usize> {
        self.matches.iter_mut().position(Followed::has_ended)
    }
}

impl Peer {
    pub(super) fn new(id: PeerId, outbox: Outbox, following_max: usize) -> Arc<Self> {
        Arc::new(Self {
            id,
            outbox,
            following_max,
            following: Mutex::default(),
            plays: AtomicBool::new(false),
        })
    }

    /// Notes whether the player has a part in a live match.
    pub(super) fn set_plays(&self, plays: bool) {
        // It governs a rate alone, and nothing else is read by it.
        self.plays.store(plays, Ordering::Relaxed);
    }

    /// Whether the connection follows a match that goes on, and the player has no part in any.
    pub(super) fn only_watches(&self) -> bool {
        let goes_on = |followed: &mut Followed| !followed.has_ended();
        !self.plays.load(Ordering::Relaxed) && self.following.lock().matches.iter_mut().any(goes_on)
    }

    /// Notes that this connection follows a match. A client need not `leave` what has ended: the
    /// match that ended and was followed longest makes room.
    pub(super) fn follow(&self, handle: &MatchHandle) -> Result<Follow, NoRoom> {
        let mut following = self.following.lock();
        if following.closed {
            return Err(NoRoom);
        }
        if following.find(handle.id()).is_some() {
            return Ok(Follow {
                is_new: false,
                dropped: None,
            });
        }
        let dropped = if following.matches.len() < self.following_max {
            None
        } else {
            let ended = following.first_ended();
            Some(following.matches.remove(ended.ok_or(NoRoom)?).handle)
        };
        following.matches.push(Followed::new(handle));
        Ok(Follow {
            is_new: true,
            dropped,
        })
    }

    /// Notes it for a player who has a part in the match, whatever the limit: it was kept when they
    /// sat down. False if there is nothing to note, and nothing to be shown.
    pub(super) fn follow_again(&self, handle: &MatchHandle) -> bool {
        let mut following = self.following.lock();
        if following.closed || following.find(handle.id()).is_some() {
            return false;
        }
        following.matches.push(Followed::new(handle));
        true
    }

    /// Whether the connection is gone: it is then told to leave what it followed until now, and
    /// must not be let in any more.
    pub(super) fn is_closed(&self) -> bool {
        self.following.lock().closed
    }

    /// Whether one more match can be followed.
    pub(super) fn has_room(&self) -> bool {
        let mut following = self.following.lock();
        following.matches.len() < self.following_max || following.first_ended().is_some()
    }

    pub(super) fn unfollow(&self, id: MatchId) {
        self.following
            .lock()
            .matches
            .retain(|followed| followed.id != id);
    }

    /// The match with this id, if the connection follows it.
    pub(super) fn followed(&self, id: MatchId) -> Option<MatchHandle> {
        self.following.lock().find(id).cloned()
    }

    /// Ends all following, for good, and gives what was followed.
    pub(super) fn close(&self) -> Vec<MatchHandle> {
        let mut following = self.following.lock();
        following.closed = true;
        let matches = std::mem::take(&mut following.matches);
        matches
            .into_iter()
            .map(|followed| followed.handle)
            .collect()
    }
}
