//! Matches that one connection follows, with a handle for each.

use plyhouse_protocol::{MatchId, MatchStatus};

use crate::context::limit_reached::LimitReached;
use crate::context::locks::{Mutex, SUBSCRIPTIONS};
use crate::match_handle::MatchHandle;

/// Matches that one connection follows. Each connection's list has its own lock, so look-ups from
/// different connections do not block each other.
#[derive(Debug)]
pub(crate) struct Subscriptions {
    following_max: usize,
    following: Mutex<FollowedMatches, SUBSCRIPTIONS>,
}

#[derive(Debug, Default)]
struct FollowedMatches {
    /// Oldest subscription first.
    matches: Vec<Subscription>,
    is_closed: bool,
}

/// A followed match. The subscription caches whether the match has ended. Reading the match summary
/// instead would often miss the CPU cache, because most followed matches ended long ago.
#[derive(Debug)]
struct Subscription {
    id: MatchId,
    has_ended: bool,
    /// Whether this is one of the player's own correspondence matches. Such matches do not count
    /// toward the limit while they are live.
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

    /// Returns whether the match counts toward the limit of followed matches.
    fn counts_toward_limit(&mut self) -> bool {
        !self.is_exempt || self.has_ended()
    }

    /// Returns whether the match has ended. An ended match never becomes live again.
    fn has_ended(&mut self) -> bool {
        self.has_ended = self.has_ended || self.handle.summary().status() == MatchStatus::Ended;
        self.has_ended
    }
}

/// Result of a request to follow a match.
#[derive(Debug)]
pub(crate) struct FollowOutcome {
    /// Whether this call created the subscription; false if the connection already followed the
    /// match.
    pub(crate) is_new: bool,
    /// Ended match whose subscription was removed to make room for the new one. The caller must
    /// notify the actor of the ended match.
    pub(crate) evicted: Option<MatchHandle>,
}

impl FollowedMatches {
    /// Returns the match with this id. The newest subscriptions are searched first.
    fn find(&self, id: MatchId) -> Option<&MatchHandle> {
        let mut latest_first = self.matches.iter().rev();
        let subscription = latest_first.find(|followed| followed.id == id)?;
        Some(&subscription.handle)
    }

    /// Returns the number of matches that count toward the limit.
    fn count(&mut self) -> usize {
        let all = self.matches.iter_mut();
        all.map(Subscription::counts_toward_limit)
            .filter(|counts| *counts)
            .count()
    }

    /// Returns the index of the oldest subscription whose match has ended.
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

    /// Returns the match with this id, if the connection follows it.
    pub(crate) fn find_followed(&self, id: MatchId) -> Option<MatchHandle> {
        self.following.lock().find(id).cloned()
    }

    /// Returns whether the connection follows the match with this id.
    pub(crate) fn follows(&self, id: MatchId) -> bool {
        self.find_followed(id).is_some()
    }

    /// Returns whether the connection follows a live match.
    pub(crate) fn follows_live_match(&self) -> bool {
        let is_live = |followed: &mut Subscription| !followed.has_ended();
        self.following.lock().matches.iter_mut().any(is_live)
    }

    /// Follows a match. At the limit, the oldest subscription to an ended match is evicted, so
    /// clients need not send `leave` for ended matches. The limit does not apply if `is_exempt` is
    /// set. Callers set `is_exempt` for the player's own correspondence matches.
    pub(crate) fn follow(
        &self,
        handle: &MatchHandle,
        is_exempt: bool,
    ) -> Result<FollowOutcome, LimitReached> {
        let mut following = self.following.lock();
        if following.is_closed {
            return Err(LimitReached::FollowedMatches);
        }
        let is_new = following.find(handle.id()).is_none();
        let mut evicted = None;
        if is_new {
            if !is_exempt && following.count() >= self.following_max {
                let ended_index = following
                    .oldest_ended_index()
                    .ok_or(LimitReached::FollowedMatches)?;
                evicted = Some(following.matches.remove(ended_index).handle);
            }
            following.matches.push(Subscription::new(handle, is_exempt));
        }
        Ok(FollowOutcome { is_new, evicted })
    }

    /// Subscribes the connection to a match in which its player takes part. The limit is not
    /// checked, because it was checked when the player took the seat. Returns false if the
    /// connection has ended or already follows the match.
    pub(crate) fn follow_as_participant(&self, handle: &MatchHandle) -> bool {
        let mut following = self.following.lock();
        if following.is_closed || following.find(handle.id()).is_some() {
            return false;
        }
        let is_exempt = handle.summary().is_correspondence();
        following.matches.push(Subscription::new(handle, is_exempt));
        true
    }

    /// Returns whether the connection can follow another match.
    pub(crate) fn has_room(&self) -> bool {
        let mut following = self.following.lock();
        following.count() < self.following_max || following.oldest_ended_index().is_some()
    }

    pub(crate) fn unfollow(&self, id: MatchId) {
        let mut following = self.following.lock();
        following.matches.retain(|followed| followed.id != id);
    }

    /// Clears the list of followed matches, rejects later subscriptions, and returns the matches
    /// that were followed.
    pub(crate) fn close(&self) -> Vec<MatchHandle> {
        let mut following = self.following.lock();
        following.is_closed = true;
        let matches = std::mem::take(&mut following.matches).into_iter();
        matches.map(|followed| followed.handle).collect()
    }
}
