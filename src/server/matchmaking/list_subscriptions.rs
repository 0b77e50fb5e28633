//! Who watches a list of matches, and what has changed in it.
//!
//! Connections that watch the same list share what has changed in it: it is gathered, looked up and
//! written once for all of them. Gathered are ids only; what is told is how things stand when it is told.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::connection::id::ConnectionId;
use crate::connection::outbox::Outbox;
use crate::match_handle::summary::MatchSummary;
use plyhouse_protocol::{ListedMatch, MatchId, MatchStatus, ServerMessage};

/// After this many changes at a time a list is to be asked for anew: a page of a list has no more.
const CHANGES_MAX: usize = 100;

/// To how many connections one piece of work writes, before others may go on.
const BROADCAST_BATCH_SIZE: usize = 32;

/// Which matches a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ListFilter {
    pub(crate) game: Option<&'static str>,
    pub(crate) status: Option<MatchStatus>,
}

impl ListFilter {
    /// Whether a listed match of this game, at this stage, is shown.
    pub(crate) fn matches(self, game: &str, status: MatchStatus) -> bool {
        self.game.is_none_or(|wanted| wanted == game)
            && self.status.is_none_or(|wanted| wanted == status)
    }
}

/// Every list that is watched. There are no more of them than filters.
#[derive(Debug, Default)]
pub(crate) struct ListSubscriptions {
    lists: BTreeMap<ListFilter, WatchedList>,
    /// Which list a connection watches.
    filters: BTreeMap<ConnectionId, ListFilter>,
    /// Notified when something has changed in a list that is watched.
    pub(crate) changed: Arc<Notify>,
    /// Whether lists show the matches of other servers, too: then what is told of comes from all of them.
    pub(crate) is_clustered: bool,
    /// What is shown of matches of all servers that have changed.
    changed_listings: BTreeMap<MatchId, ListedMatch>,
}

#[derive(Debug, Default)]
struct WatchedList {
    watchers: BTreeMap<ConnectionId, Outbox>,
    /// What has changed since it was told last: one more than can be told, at most.
    changed: BTreeSet<MatchId>,
}

/// What is to be told about one list.
#[derive(Debug)]
pub(crate) struct ListChanges {
    pub(crate) filter: ListFilter,
    /// How many matches fit.
    pub(crate) total: u64,
    /// The matches that have changed, and what is shown of each; `None` if there are too many.
    pub(crate) listings: Option<Vec<(MatchId, Option<ListedMatch>)>>,
}

impl ListSubscriptions {
    /// From now on the connection is told what changes in this list, and in no other.
    pub(crate) fn watch(&mut self, filter: ListFilter, outbox: &Outbox) {
        let connection = outbox.connection();
        self.unwatch(connection);
        self.filters.insert(connection, filter);
        let watched = self.lists.entry(filter).or_default();
        watched.watchers.insert(connection, outbox.clone());
    }

    pub(crate) fn unwatch(&mut self, connection: ConnectionId) {
        let Some(filter) = self.filters.remove(&connection) else {
            return;
        };
        if let Some(watched) = self.lists.get_mut(&filter) {
            watched.watchers.remove(&connection);
            if watched.watchers.is_empty() {
                self.lists.remove(&filter);
            }
        }
    }

    /// How many connections watch a list.
    pub(crate) fn len(&self) -> usize {
        self.filters.len()
    }

    /// Notes that a listed match has changed, has come or has gone, in the lists of this stage.
    pub(crate) fn mark_changed(&mut self, summary: &MatchSummary, status: MatchStatus) {
        if !self.is_clustered {
            let game = summary.game.info.id;
            self.mark_in_lists(summary.id, |filter| filter.matches(game, status));
        }
    }

    /// Notes what is shown from now on of a match of whatever server. It may have left any list of its
    /// game.
    pub(crate) fn record_listing(&mut self, listing: ListedMatch) {
        let fits = |filter: ListFilter| filter.game.is_none_or(|game| game == listing.game);
        if self.mark_in_lists(listing.match_id, fits) {
            self.changed_listings.insert(listing.match_id, listing);
        }
    }

    /// Notes that a match has changed, in the lists that it concerns. Gives whether there is any.
    fn mark_in_lists(&mut self, id: MatchId, is_concerned: impl Fn(ListFilter) -> bool) -> bool {
        let lists = self.lists.iter_mut();
        let mut is_watched = false;
        for (_, watched) in lists.filter(|(filter, _)| is_concerned(**filter)) {
            if watched.changed.len() <= CHANGES_MAX {
                watched.changed.insert(id);
                is_watched = true;
            }
            self.changed.notify_one();
        }
        is_watched
    }

    /// Takes out what is shown of matches of all servers that have changed.
    pub(crate) fn take_listings(&mut self) -> BTreeMap<MatchId, ListedMatch> {
        std::mem::take(&mut self.changed_listings)
    }

    /// Takes out what has changed, list by list; `None` stands for too much.
    pub(crate) fn take_changes(&mut self) -> Vec<(ListFilter, Option<BTreeSet<MatchId>>)> {
        let changed = self.lists.iter_mut().map(|(filter, watched)| {
            let changed = std::mem::take(&mut watched.changed);
            (*filter, changed)
        });
        let changed = changed.filter(|(_, changed)| !changed.is_empty());
        let bounded = |changed: BTreeSet<_>| (changed.len() <= CHANGES_MAX).then_some(changed);
        changed
            .map(|(filter, changed)| (filter, bounded(changed)))
            .collect()
    }

    /// Some of those who watch a list: those after this one.
    pub(crate) fn watchers_after(
        &self,
        filter: ListFilter,
        after: Bound<ConnectionId>,
    ) -> Vec<Outbox> {
        let Some(watched) = self.lists.get(&filter) else {
            return Vec::new();
        };
        let next = watched.watchers.range((after, Bound::Unbounded));
        let next = next.take(BROADCAST_BATCH_SIZE);
        next.map(|(_, outbox)| outbox.clone()).collect()
    }
}

impl ListChanges {
    pub(crate) fn into_message(self) -> ServerMessage {
        let Self {
            filter,
            total,
            listings,
        } = self;
        let reset = listings.is_none();
        let (mut changed, mut gone): (Vec<ListedMatch>, _) = (Vec::new(), Vec::new());
        for (id, shown) in listings.into_iter().flatten() {
            match shown.filter(|shown| filter.matches(&shown.game, shown.status)) {
                Some(shown) => changed.push(shown),
                None => gone.push(id),
            }
        }
        ServerMessage::ListChanged {
            changed,
            removed: gone,
            total,
            reset,
        }
    }
}
