//! One connection's end of the port to the matches: which of them it follows, by id, and behind that
//! how each is reached.

use plyhouse_protocol::{ErrorCode, MatchId, MatchStatus, WireError};

use crate::context::locks::{Mutex, SUBSCRIPTIONS};
use crate::match_handle::MatchHandle;

/// Which matches one connection follows. A match is found here without a look at what all connections
/// share.
#[derive(Debug)]
pub(crate) struct Subscriptions {
    following_max: usize,
    following: Mutex<FollowedMatches, SUBSCRIPTIONS>,
}

#[derive(Debug, Default)]
struct FollowedMatches {
    /// In the order of their beginning.
    matches: Vec<Subscription>,
    is_closed: bool,
}

/// A match that is followed, and what is known of it without looking at it: most have ended long ago,
/// and are in no cache any more.
#[derive(Debug)]
struct Subscription {
    id: MatchId,
    has_ended: bool,
    /// A match of days in which the player has a part: it does not count while it goes on.
    is_exempt: bool,
    handle: MatchHandle,
}

impl Subscription {
    fn new(handle: &MatchHandle, is_exempt: bool) -> Self {
        Self {
            id: handle.id(),
            has_ended: false,
            is_exempt,
            handle: handle.clone(),
        }
    }

    /// Whether it counts as one of those that a connection may follow.
    fn counts_toward_limit(&mut self) -> bool {
        !self.is_exempt || self.has_ended()
    }

    /// Whether the match has ended. None ever begins again.
    fn has_ended(&mut self) -> bool {
        self.has_ended = self.has_ended || self.handle.summary().status() == MatchStatus::Ended;
        self.has_ended
    }
}

/// A connection follows a match now.
#[derive(Debug)]
pub(crate) struct FollowOutcome {
    /// Whether it did not before.
    pub(crate) is_new: bool,
    /// An ended match that had to make room, and is to be told.
    pub(crate) evicted: Option<MatchHandle>,
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

impl FollowedMatches {
    /// The match with this id. What was begun last is found first.
    fn find(&self, id: MatchId) -> Option<&MatchHandle> {
        let mut latest_first = self.matches.iter().rev();
        let subscription = latest_first.find(|followed| followed.id == id)?;
        Some(&subscription.handle)
    }

    /// How many matches count.
    fn count(&mut self) -> usize {
        let all = self.matches.iter_mut();
        all.map(Subscription::counts_toward_limit)
            .filter(|counts| *counts)
            .count()
    }

    /// Where the match is that has ended and was begun first.
    fn oldest_ended_index(&mut self) -> Option<usize> {
        self.matches.iter_mut().position(Subscription::has_ended)
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
    pub(crate) fn find_followed(&self, id: MatchId) -> Option<MatchHandle> {
        self.following.lock().find(id).cloned()
    }

    /// Whether the connection follows a match that goes on.
    pub(crate) fn follows_live_match(&self) -> bool {
        let is_live = |followed: &mut Subscription| !followed.has_ended();
        self.following.lock().matches.iter_mut().any(is_live)
    }

    /// Notes that this connection follows a match. A client need not `leave` what has ended: the
    /// match that ended and was followed longest makes room. Whoever has a part in a match of days follows
    /// it for nothing.
    pub(crate) fn follow(
        &self,
        handle: &MatchHandle,
        is_exempt: bool,
    ) -> Result<FollowOutcome, SubscriptionLimit> {
        let mut following = self.following.lock();
        if following.is_closed {
            return Err(SubscriptionLimit);
        }
        let is_new = following.find(handle.id()).is_none();
        let mut evicted = None;
        if is_new {
            if !is_exempt && following.count() >= self.following_max {
                let ended_index = following.oldest_ended_index().ok_or(SubscriptionLimit)?;
                evicted = Some(following.matches.remove(ended_index).handle);
            }
            following.matches.push(Subscription::new(handle, is_exempt));
        }
        Ok(FollowOutcome { is_new, evicted })
    }

    /// Notes it for a player who has a part in the match, whatever the limit: it was kept when they
    /// sat down. False if there is nothing to note, and nothing to be shown.
    pub(crate) fn follow_as_participant(&self, handle: &MatchHandle) -> bool {
        let mut following = self.following.lock();
        if following.is_closed || following.find(handle.id()).is_some() {
            return false;
        }
        let is_exempt = handle.summary().is_correspondence();
        following.matches.push(Subscription::new(handle, is_exempt));
        true
    }

    /// Whether one more match can be followed.
    pub(crate) fn has_room(&self) -> bool {
        let mut following = self.following.lock();
        following.count() < self.following_max || following.oldest_ended_index().is_some()
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
