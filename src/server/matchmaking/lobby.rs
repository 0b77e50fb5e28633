//! Index of the matches on this server by id, code, and list.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::Arc;

use uuid::Uuid;

use super::list_subscriptions::{ListChanges, ListFilter, ListSubscriptions};
use crate::context::clock_and_rng::SeededRng;
use crate::context::limit_reached::LimitReached;
use crate::context::locks::{LOBBY, Mutex};
use crate::match_handle::MatchHandle;
use crate::match_handle::summary::MatchSummary;
use plyhouse_matches::Creation;
use plyhouse_protocol::{
    ErrorCode, ListedMatch, MatchCode, MatchId, MatchRef, MatchStatus, WireError,
};

/// Finds matches by id or code, and lists them. The lobby does not change the matches themselves.
#[derive(Debug, Default)]
pub(crate) struct Lobby {
    index: Mutex<Index, LOBBY>,
}

/// The maps are B-trees, because a growing hash map moves all its entries at once while other tasks
/// wait for the lock.
#[derive(Debug, Default)]
struct Index {
    matches: BTreeMap<MatchId, LobbyEntry>,
    codes: BTreeMap<MatchCode, MatchId>,
    /// Listed matches by game and by the status that spectators currently see, oldest first. Match
    /// ids sort by creation time.
    listed: BTreeMap<(&'static str, MatchStatus), BTreeSet<MatchId>>,
    /// Number of matches by game and status, including matches that are not shown in lists.
    counts: BTreeMap<(&'static str, MatchStatus), usize>,
    /// Ended matches, oldest first. The lobby evicts matches in this order to make room for new
    /// ones.
    ended: BTreeSet<MatchId>,
    last_id: Option<MatchId>,
    subscriptions: ListSubscriptions,
    /// Whether the lobby is closed because the server is stopping. A closed lobby accepts no new
    /// matches.
    is_closed: bool,
}

#[derive(Debug)]
struct LobbyEntry {
    code: MatchCode,
    status: MatchStatus,
    /// Handle of the match, or `None` while the match is being created.
    handle: Option<MatchHandle>,
}

/// Returns the error for the cursor of a list page that refers to an unknown match.
pub(crate) fn unknown_cursor_error() -> WireError {
    let message = "`after` names an unknown match; start again from the first page";
    WireError::new(ErrorCode::UnknownMatch, message)
}

impl Lobby {
    /// Creates an empty lobby. `is_clustered` must be true if other servers also run matches.
    pub(crate) fn new(is_clustered: bool) -> Self {
        let lobby = Self::default();
        lobby.with_subscriptions(|lists| lists.is_clustered = is_clustered);
        lobby
    }

    /// Reserves an id and a code for a match that is being created. The requested `code` is used if
    /// no live match has it.
    pub(crate) fn reserve(
        &self,
        matches_max: usize,
        now_ms: u64,
        code: Option<MatchCode>,
        rng: &SeededRng,
    ) -> Result<(MatchId, MatchCode), LimitReached> {
        let mut index = self.index.lock();
        index.make_room(matches_max)?;
        let id = next_match_id(index.last_id, now_ms, rng);
        index.last_id = Some(id);
        let code = code.filter(|code| index.is_code_free(*code));
        let code = code.unwrap_or_else(|| index.unused_code(rng));
        index.codes.insert(code, id);
        index.matches.insert(
            id,
            LobbyEntry {
                code,
                status: MatchStatus::Open,
                handle: None,
            },
        );
        Ok((id, code))
    }

    /// Replaces the code of a match that is being created, because a live match in the store
    /// already has that code.
    pub(crate) fn replace_code(&self, id: MatchId, rng: &SeededRng) -> MatchCode {
        let mut index = self.index.lock();
        let code = index.unused_code(rng);
        if let Some(registered) = index.matches.get_mut(&id) {
            let old_code = std::mem::replace(&mut registered.code, code);
            index.codes.remove(&old_code);
            index.codes.insert(code, id);
        }
        code
    }

    /// Registers a match that exists in the store. If the match is already registered, returns its
    /// existing handle.
    pub(crate) fn insert_or_get(
        &self,
        creation: &Creation,
        handle: MatchHandle,
        matches_max: usize,
    ) -> Result<Option<MatchHandle>, LimitReached> {
        let mut index = self.index.lock();
        if let Some(entry) = index.matches.get(&creation.id) {
            let existing = entry.handle.clone().ok_or(LimitReached::Matches)?;
            return Ok(Some(existing));
        }
        index.make_room(matches_max)?;
        let status = handle.summary().status();
        // Several matches may have the same code. The code refers to the live match among them, or
        // to the newest match if none of them is live.
        let holder = index.codes.get(&creation.code).copied();
        if holder.is_none_or(|holder| status != MatchStatus::Ended || holder < creation.id) {
            index.codes.insert(creation.code, creation.id);
        }
        index.last_id = index.last_id.max(Some(creation.id));
        index.index_match(handle.summary(), status);
        let entry = LobbyEntry {
            code: creation.code,
            status,
            handle: Some(handle),
        };
        index.matches.insert(creation.id, entry);
        Ok(None)
    }

    /// Registers the handle of a created match whose id was reserved with `reserve`.
    pub(crate) fn insert_created(&self, handle: MatchHandle) {
        let mut index = self.index.lock();
        let status = handle.summary().status();
        index.index_match(handle.summary(), status);
        if let Some(entry) = index.matches.get_mut(&handle.id()) {
            entry.status = status;
            entry.handle = Some(handle);
        }
    }

    pub(crate) fn remove(&self, id: MatchId) {
        self.index.lock().remove(id);
    }

    /// Removes a match if only the lobby holds a handle of it and `is_idle` returns true. Returns
    /// whether the match was removed.
    ///
    /// `is_idle` runs under the lock of the lobby, so no task can send a command to the match at
    /// the same time.
    pub(crate) fn remove_if_idle(&self, id: MatchId, is_idle: impl FnOnce() -> bool) -> bool {
        let mut index = self.index.lock();
        let entry = index.matches.get(&id);
        let handle = entry.and_then(|entry| entry.handle.as_ref());
        let is_removed = handle.is_some_and(MatchHandle::is_unique) && is_idle();
        if is_removed {
            index.remove(id);
        }
        is_removed
    }

    /// Returns the handles of all registered matches.
    pub(crate) fn all(&self) -> Vec<MatchHandle> {
        let index = self.index.lock();
        let entries = index.matches.values();
        entries.filter_map(|entry| entry.handle.clone()).collect()
    }

    /// Removes all matches and rejects new ones. Called when the server stops.
    pub(crate) fn close(&self) {
        let closed = Index {
            is_closed: true,
            ..Index::default()
        };
        let index = std::mem::replace(&mut *self.index.lock(), closed);
        drop(index);
    }

    /// Sets the status of a match, and updates the match counts and match lists that depend on the
    /// status.
    pub(crate) fn update_status(&self, summary: &MatchSummary, status: MatchStatus) {
        let mut index = self.index.lock();
        let Some(entry) = index.matches.get_mut(&summary.id) else {
            return;
        };
        let before = std::mem::replace(&mut entry.status, status);
        if before != status && entry.handle.is_some() {
            index.unindex_match(summary, before);
            index.index_match(summary, status);
        }
    }

    /// Marks a match as changed in the watched lists, because its occupants have changed. Matches
    /// with a spectator delay are skipped.
    pub(crate) fn update_seats(&self, summary: &MatchSummary) {
        let mut index = self.index.lock();
        let entry = index.matches.get(&summary.id);
        let is_shown = |entry: &&LobbyEntry| summary.is_listed() && entry.handle.is_some();
        if let Some(entry) = entry.filter(is_shown).filter(|_| !summary.delayed) {
            let status = entry.status;
            index.subscriptions.mark_changed(summary, status);
        }
    }

    /// Moves a match with a spectator delay to the list for its shown status, which is the status
    /// that spectators currently see.
    pub(crate) fn update_shown_status(&self, summary: &MatchSummary) {
        let mut index = self.index.lock();
        let entry = index.matches.get(&summary.id);
        if entry.is_some_and(|entry| entry.handle.is_some()) {
            index.remove_from_list(summary, MatchStatus::Running);
            index.add_to_list(summary);
        }
    }

    /// Locks the lobby and calls `access` with the list subscriptions.
    pub(crate) fn with_subscriptions<T>(
        &self,
        access: impl FnOnce(&mut ListSubscriptions) -> T,
    ) -> T {
        access(&mut self.index.lock().subscriptions)
    }

    /// Returns the changes to each watched match list since the last call, and clears the recorded
    /// changes.
    pub(crate) fn take_changes(&self) -> Vec<ListChanges> {
        let mut index = self.index.lock();
        let changed = index.subscriptions.take_changes();
        let remote_listings = index.subscriptions.take_listings();
        let found: Vec<_> = changed
            .into_iter()
            .map(|(filter, changed)| {
                let summaries = changed.map(|changed| {
                    let changed = changed.into_iter();
                    let summaries = changed.map(|id| (id, index.listed_summary(id)));
                    summaries.collect::<Vec<_>>()
                });
                (filter, index.count_matching(filter), summaries)
            })
            .collect();
        drop(index);
        let listing = |(id, summary): (MatchId, Option<Arc<MatchSummary>>)| {
            let shown = || remote_listings.get(&id).cloned();
            (id, summary.map(|summary| summary.listing()).or_else(shown))
        };
        let changes = found
            .into_iter()
            .map(|(filter, total, summaries)| ListChanges {
                filter,
                total,
                listings: summaries.map(|summaries| summaries.into_iter().map(listing).collect()),
            });
        changes.collect()
    }

    /// Returns the number of registered matches by game and status.
    pub(crate) fn match_counts(&self) -> BTreeMap<(&'static str, MatchStatus), usize> {
        self.index.lock().counts.clone()
    }

    /// Returns the match with this id or code. Returns `None` if the match is unknown or still
    /// being created.
    pub(crate) fn find(&self, target: MatchRef) -> Option<MatchHandle> {
        let index = self.index.lock();
        let id = match target {
            MatchRef::Id(id) => id,
            MatchRef::Code(code) => *index.codes.get(&code)?,
            MatchRef::Invalid => return None,
        };
        index.matches.get(&id)?.handle.clone()
    }

    /// Returns up to `limit` of the listed matches that the filter selects, newest first. If
    /// `after` is set, returns only matches that are older than the match identified by `after`.
    /// Also returns the total number of listed matches that the filter selects.
    pub(crate) fn list(
        &self,
        filter: ListFilter,
        after: Option<MatchRef>,
        limit: usize,
    ) -> Result<(u64, Vec<ListedMatch>), WireError> {
        let mut summaries: Vec<Arc<MatchSummary>> = Vec::new();
        let total;
        {
            let index = self.index.lock();
            let end = match after {
                None => None,
                Some(MatchRef::Id(id)) if index.matches.contains_key(&id) => Some(id),
                Some(MatchRef::Code(code)) => {
                    Some(*index.codes.get(&code).ok_or_else(unknown_cursor_error)?)
                }
                Some(MatchRef::Id(_) | MatchRef::Invalid) => return Err(unknown_cursor_error()),
            };
            total = index.count_matching(filter);
            for ids in index.matching_lists(filter) {
                let page = match end {
                    None => ids.range(..),
                    Some(end) => ids.range(..end),
                };
                let handle = |id| index.matches.get(id)?.handle.as_ref();
                let handles = page.rev().take(limit).filter_map(handle);
                summaries.extend(handles.map(|handle| Arc::clone(handle.summary())));
            }
        }
        summaries.sort_unstable_by_key(|summary| std::cmp::Reverse(summary.id));
        let page = summaries.iter().take(limit);
        Ok((total, page.map(|summary| summary.listing()).collect()))
    }
}

impl Index {
    /// Makes room for one more match by evicting the oldest ended matches. An evicted match remains
    /// in the store. The actor of an evicted match continues to serve the followers.
    fn make_room(&mut self, matches_max: usize) -> Result<(), LimitReached> {
        if self.is_closed {
            return Err(LimitReached::Matches);
        }
        while self.matches.len() >= matches_max {
            let oldest = *self.ended.first().ok_or(LimitReached::Matches)?;
            self.remove(oldest);
        }
        Ok(())
    }

    /// Returns a random code that no live match in the lobby has. There are 887 million codes and
    /// far fewer live matches, so the loop needs few iterations.
    fn unused_code(&self, rng: &SeededRng) -> MatchCode {
        loop {
            let code = MatchCode::from_number(rng.random_u64());
            if self.is_code_free(code) {
                return code;
            }
        }
    }

    /// Returns whether no live match in the lobby has this code.
    fn is_code_free(&self, code: MatchCode) -> bool {
        let holder = self.codes.get(&code).and_then(|id| self.matches.get(id));
        holder.is_none_or(|holder| holder.status == MatchStatus::Ended)
    }

    fn remove(&mut self, id: MatchId) {
        let Some(entry) = self.matches.remove(&id) else {
            return;
        };
        self.ended.remove(&id);
        if self.codes.get(&entry.code) == Some(&id) {
            self.codes.remove(&entry.code);
        }
        if let Some(handle) = entry.handle {
            self.unindex_match(handle.summary(), entry.status);
        }
    }

    fn index_match(&mut self, summary: &MatchSummary, status: MatchStatus) {
        if status == MatchStatus::Ended {
            self.ended.insert(summary.id);
        }
        let kind = (summary.game.info.id, status);
        *self.counts.entry(kind).or_default() += 1;
        self.add_to_list(summary);
    }

    fn unindex_match(&mut self, summary: &MatchSummary, status: MatchStatus) {
        if let Some(count) = self.counts.get_mut(&(summary.game.info.id, status)) {
            *count -= 1;
        }
        self.remove_from_list(summary, status);
    }

    /// Adds a match to the list for its shown status, which is the status that spectators currently
    /// see. Does nothing if lists must not show the match.
    fn add_to_list(&mut self, summary: &MatchSummary) {
        if summary.is_listed() {
            let status = summary.shown_status();
            let kind = (summary.game.info.id, status);
            self.listed.entry(kind).or_default().insert(summary.id);
            self.subscriptions.mark_changed(summary, status);
        }
    }

    /// Removes a match from the list that contains it. Searches the list with status
    /// `likely_status` first, because the match is probably there.
    fn remove_from_list(&mut self, summary: &MatchSummary, likely_status: MatchStatus) {
        let others = MatchStatus::ALL.iter().copied();
        let others = others.filter(|status| *status != likely_status);
        for status in iter::once(likely_status).chain(others) {
            let list = self.listed.get_mut(&(summary.game.info.id, status));
            if list.is_some_and(|ids| ids.remove(&summary.id)) {
                self.subscriptions.mark_changed(summary, status);
                return;
            }
        }
    }

    /// Selects the match lists that pass the filter. Returns the match ids of each selected list. A
    /// list contains the matches with one game and one status.
    fn matching_lists(&self, filter: ListFilter) -> impl Iterator<Item = &BTreeSet<MatchId>> {
        let kinds = self.listed.iter();
        let fitting = kinds.filter(move |((game, status), _)| filter.matches(game, *status));
        fitting.map(|(_, ids)| ids)
    }

    /// Returns the number of listed matches that the filter selects.
    fn count_matching(&self, filter: ListFilter) -> u64 {
        let lists = self.matching_lists(filter);
        lists.map(|ids| ids.len() as u64).sum()
    }

    /// Returns the summary of a match if the match is registered and may be shown in lists.
    fn listed_summary(&self, id: MatchId) -> Option<Arc<MatchSummary>> {
        let handle = self.matches.get(&id)?.handle.as_ref()?;
        let summary = handle.summary();
        summary.is_listed().then(|| Arc::clone(summary))
    }
}

/// Returns a new match id, which is a version 7 UUID. The id is greater than `last`, the previous
/// match id. If an id generated from the time would not be greater, the new id is the previous id
/// plus a random amount (RFC 9562, section 6.2, method 2).
pub(crate) fn next_match_id(last: Option<MatchId>, now_ms: u64, rng: &SeededRng) -> MatchId {
    let fresh = uuid::Builder::from_unix_timestamp_millis(now_ms, &rng.random_bytes()).into_uuid();
    match last {
        Some(MatchId(last)) if fresh <= last => {
            let step = 1 + u128::from(rng.random_u64() >> 32);
            MatchId(Uuid::from_u128(last.as_u128() + step))
        }
        Some(_) | None => MatchId(fresh),
    }
}
