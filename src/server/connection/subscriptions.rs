//! One connection's end of the port to the matches: which of them it follows, by id, and behind that
//! how each is reached.

use plyhouse_protocol::{ErrorCode, MatchId, Status, WireError};

use crate::context::locks::{Mutex, SUBSCRIPTIONS};
use crate::match_handle::MatchHandle;

/// Which matches one connection follows. A match is found here without a look at what all connections
/// share.
#[derive(Debug)]
pub(crate) struct Subscriptions {
    following_max: usize,
    following: Mutex<Following, SUBSCRIPTIONS>,
}

#[derive(Debug, Default)]
struct Following {
    /// In the order of their beginning.
    matches: Vec<Followed>,
    is_closed: bool,
}

/// A match that is followed, and what is known of it without looking at it: most have ended long ago,
/// and are in no cache any more.
#[derive(Debug)]
struct Followed {
    id: MatchId,
    has_ended: bool,
    /// A match of days in which the player has a part: it does not count while it goes on.
    is_free: bool,
    handle: MatchHandle,
}

impl Followed {
    fn new(handle: &MatchHandle, is_free: bool) -> Self {
        Self {
            id: handle.id(),
            has_ended: false,
            is_free,
            handle: handle.clone(),
        }
    }

    /// Whether it counts as one of those that a connection may follow.
    fn counts(&mut self) -> bool {
        !self.is_free || self.has_ended()
    }

    /// Whether the match has ended. None ever begins again.
    fn has_ended(&mut self) -> bool {
        self.has_ended = self.has_ended || self.handle.summary().status() == Status::Ended;
        self.has_ended
    }
}

/// A connection follows a match now.
#[derive(Debug)]
pub(crate) struct Follow {
    /// Whether it did not before.
    pub(crate) is_new: bool,
    /// An ended match that had to make room, and is to be told.
    pub(crate) dropped: Option<MatchHandle>,
}

/// The connection follows as many live matches as it may, or is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubscriptionLimit;

impl From<SubscriptionLimit> for WireError {
    fn from(SubscriptionLimit: SubscriptionLimit) -> Self {
        Self::new(
            ErrorCode::TooManyMatches,
            "you follow as many matches as is allowed",
        )
    }
}

impl Following {
    /// The match with this id. What was begun last is found first.
    fn find(&self, id: MatchId) -> Option<&MatchHandle> {
        let mut latest_first = self.matches.iter().rev();
        let found = latest_first.find(|followed| followed.id == id)?;
        Some(&found.handle)
    }

    /// How many matches count.
    fn count(&mut self) -> usize {
        let all = self.matches.iter_mut();
        all.map(Followed::counts).filter(|counts| *counts).count()
    }

    /// Where the match is that has ended and was begun first.
    fn first_ended(&mut self) -> Option<usize> {
        self.matches.iter_mut().position(Followed::has_ended)
    }
}

impl Subscriptions {
    pub(crate) fn new(following_max: usize) -> Self {
        Self {
            following_max,
            following: Mutex::default(),
        }
    }

    /// The match with this id, if the connection follows it.
    pub(crate) fn followed(&self, id: MatchId) -> Option<MatchHandle> {
        self.following.lock().find(id).cloned()
    }

    /// Whether the connection follows a match that goes on.
    pub(crate) fn follows_live(&self) -> bool {
        let goes_on = |followed: &mut Followed| !followed.has_ended();
        self.following.lock().matches.iter_mut().any(goes_on)
    }

    /// Notes that this connection follows a match. A client need not `leave` what has ended: the
    /// match that ended and was followed longest makes room. Whoever has a part in a match of days follows
    /// it for nothing.
    pub(crate) fn follow(
        &self,
        handle: &MatchHandle,
        is_free: bool,
    ) -> Result<Follow, SubscriptionLimit> {
        let mut following = self.following.lock();
        if following.is_closed {
            return Err(SubscriptionLimit);
        }
        let is_new = following.find(handle.id()).is_none();
        let mut dropped = None;
        if is_new {
            if !is_free && following.count() >= self.following_max {
                let ended = following.first_ended().ok_or(SubscriptionLimit)?;
                dropped = Some(following.matches.remove(ended).handle);
            }
            following.matches.push(Followed::new(handle, is_free));
        }
        Ok(Follow { is_new, dropped })
    }

    /// Notes it for a player who has a part in the match, whatever the limit: it was kept when they
    /// sat down. False if there is nothing to note, and nothing to be shown.
    pub(crate) fn follow_again(&self, handle: &MatchHandle) -> bool {
        let mut following = self.following.lock();
        if following.is_closed || following.find(handle.id()).is_some() {
            return false;
        }
        let is_free = handle.summary().is_correspondence();
        following.matches.push(Followed::new(handle, is_free));
        true
    }

    /// Whether one more match can be followed.
    pub(crate) fn has_room(&self) -> bool {
        let mut following = self.following.lock();
        following.count() < self.following_max || following.first_ended().is_some()
    }

    pub(crate) fn unfollow(&self, id: MatchId) {
        let mut following = self.following.lock();
        following.matches.retain(|followed| followed.id != id);
    }

    /// Ends all following, for good, and gives what was followed.
    pub(crate) fn close(&self) -> Vec<MatchHandle> {
        let mut following = self.following.lock();
        following.is_closed = true;
        let matches = std::mem::take(&mut following.matches);
        matches
            .into_iter()
            .map(|followed| followed.handle)
            .collect()
    }
}
