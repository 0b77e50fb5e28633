//! Connections that watch match lists, and the list changes that are not yet broadcast.
//!
//! All connections that watch a match list share one set of changed match ids. When the server
//! broadcasts the changes, it looks up the current listings of the changed matches. The server
//! encodes the broadcast message once per list.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::connection::id::ConnectionId;
use crate::connection::outbox::Outbox;
use crate::match_handle::summary::MatchSummary;
use plyhouse_protocol::{ListedMatch, MatchId, MatchStatus, ServerMessage};

/// Maximum number of changed matches in one list update. If more matches have changed, clients must
/// request the list again.
const CHANGES_MAX: usize = 100;

/// Maximum number of connections in a batch. After each batch, a broadcast yields to other tasks.
const BROADCAST_BATCH_SIZE: usize = 32;

/// Filter that selects the matches of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ListFilter {
    pub(crate) game: Option<&'static str>,
    pub(crate) status: Option<MatchStatus>,
}

impl ListFilter {
    /// Returns whether the filter selects matches of this game and status.
    pub(crate) fn matches(self, game: &str, status: MatchStatus) -> bool {
        self.game.is_none_or(|selected| selected == game)
            && self.status.is_none_or(|selected| selected == status)
    }
}

/// All watched match lists, at most one per filter.
#[derive(Debug, Default)]
pub(crate) struct ListSubscriptions {
    lists: BTreeMap<ListFilter, WatchedList>,
    /// Filter of the match list that each connection watches.
    filters: BTreeMap<ConnectionId, ListFilter>,
    /// Notified when a watched match list has changed.
    pub(crate) changed: Arc<Notify>,
    /// Whether this server is part of a cluster. In a cluster, match lists also show matches that
    /// run on other servers. List changes are then recorded by `record_listing` instead of
    /// `mark_changed`.
    pub(crate) is_clustered: bool,
    /// Current listings of changed matches on all servers of the cluster. The map is empty if this
    /// server is not part of a cluster.
    changed_listings: BTreeMap<MatchId, ListedMatch>,
}

#[derive(Debug, Default)]
struct WatchedList {
    watchers: BTreeMap<ConnectionId, Outbox>,
    /// Matches that have changed since the last broadcast. The set holds at most `CHANGES_MAX` + 1
    /// matches.
    changed: BTreeSet<MatchId>,
}

/// Changes to one match list, ready to be broadcast.
#[derive(Debug)]
pub(crate) struct ListChanges {
    pub(crate) filter: ListFilter,
    /// Number of matches in the list.
    pub(crate) total: u64,
    /// Ids of the changed matches. Each id has the current listing of the match, or `None` if the
    /// match is not listed. The whole field is `None` if more than `CHANGES_MAX` matches have
    /// changed.
    pub(crate) listings: Option<Vec<(MatchId, Option<ListedMatch>)>>,
}

impl ListSubscriptions {
    /// Subscribes the connection to the match list selected by `filter`. Ends the connection's
    /// previous subscription.
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

    /// Returns the number of connections that watch a match list.
    pub(crate) fn len(&self) -> usize {
        self.filters.len()
    }

    /// Marks a match as changed in the watched lists that show its game and `status`. Does nothing
    /// in a cluster, where `record_listing` records changes.
    pub(crate) fn mark_changed(&mut self, summary: &MatchSummary, status: MatchStatus) {
        if !self.is_clustered {
            let game = summary.game.info.id;
            self.mark_in_lists(summary.id, |filter| filter.matches(game, status));
        }
    }

    /// Records the current listing of a match on any server of the cluster. Marks all lists that
    /// include the match's game as changed, because the match may have left any of these lists.
    pub(crate) fn record_listing(&mut self, listing: ListedMatch) {
        let fits = |filter: ListFilter| filter.game.is_none_or(|game| game == listing.game);
        if self.mark_in_lists(listing.match_id, fits) {
            self.changed_listings.insert(listing.match_id, listing);
        }
    }

    /// Marks a match as changed in each watched list whose filter satisfies `is_concerned`. Returns
    /// whether the match was added to the changes of any list.
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

    /// Removes and returns the recorded listings of changed matches.
    pub(crate) fn take_listings(&mut self) -> BTreeMap<MatchId, ListedMatch> {
        std::mem::take(&mut self.changed_listings)
    }

    /// Returns the ids of the changed matches in each changed list, and clears the recorded ids.
    /// The ids of a list are `None` if more than `CHANGES_MAX` of its matches have changed.
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

    /// Returns the next batch of connections that watch a list, ordered by connection id.
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
        let reset = self.listings.is_none();
        let (mut changed, mut removed): (Vec<ListedMatch>, _) = (Vec::new(), Vec::new());
        for (id, shown) in self.listings.into_iter().flatten() {
            match shown.filter(|shown| self.filter.matches(&shown.game, shown.status)) {
                Some(shown) => changed.push(shown),
                None => removed.push(id),
            }
        }
        ServerMessage::ListChanged {
            changed,
            removed,
            total: self.total,
            reset,
        }
    }
}
