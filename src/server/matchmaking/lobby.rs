//! Every match by its id, its code and its stage: where matches are found.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::Arc;

use uuid::Uuid;

use super::list_subscriptions::{Changes, Filter, ListSubscriptions};
use crate::context::clock::SeededRng;
use crate::context::locks::{LOBBY, Mutex};
use crate::match_handle::MatchHandle;
use crate::match_handle::summary::MatchSummary;
use plyhouse_matches::Creation;
use plyhouse_protocol::{ErrorCode, Listing, MatchCode, MatchId, MatchRef, Status, WireError};

/// Every match that can be asked for. It only finds: what happens in a match is the match's own.
#[derive(Debug, Default)]
pub(crate) struct Lobby {
    index: Mutex<Index, LOBBY>,
}

/// Trees, since a hash map that grows moves all that it holds at once, while everybody waits for the lock.
#[derive(Debug, Default)]
struct Index {
    matches: BTreeMap<MatchId, Registered>,
    codes: BTreeMap<MatchCode, MatchId>,
    /// The listed matches, oldest first, since ids sort by creation.
    listed: BTreeMap<(&'static str, Status), BTreeSet<MatchId>>,
    /// How many there are, listed or not.
    counts: BTreeMap<(&'static str, Status), usize>,
    /// The matches that have ended, oldest first: evicted in this order when there is no room.
    ended: BTreeSet<MatchId>,
    last_id: Option<MatchId>,
    watched: ListSubscriptions,
    /// The server stops: no match is let in any more.
    is_closed: bool,
}

#[derive(Debug)]
struct Registered {
    code: MatchCode,
    status: Status,
    /// `None` while the match is being created.
    handle: Option<MatchHandle>,
}

/// As many matches are kept as the server allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyMatches;

impl From<TooManyMatches> for WireError {
    fn from(TooManyMatches: TooManyMatches) -> Self {
        Self::new(ErrorCode::Overloaded, "there are too many matches")
    }
}

/// The match that a list was to go on after is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoSuchMatch;

impl From<NoSuchMatch> for WireError {
    fn from(NoSuchMatch: NoSuchMatch) -> Self {
        Self::new(
            ErrorCode::UnknownMatch,
            "that match is forgotten; begin again",
        )
    }
}

impl Lobby {
    /// An empty one. `is_shared` where other servers have matches, too.
    pub(crate) fn new(is_shared: bool) -> Self {
        let lobby = Self::default();
        lobby.watched(|lists| lists.are_shared = is_shared);
        lobby
    }

    /// Gives a match that is being created its id and its code: this one, if no live match has it.
    pub(crate) fn reserve(
        &self,
        matches_max: usize,
        now_ms: u64,
        code: Option<MatchCode>,
        chance: &SeededRng,
    ) -> Result<(MatchId, MatchCode), TooManyMatches> {
        let mut index = self.index.lock();
        index.make_room(matches_max)?;
        let id = next_match_id(index.last_id, now_ms, chance);
        index.last_id = Some(id);
        let code = code.filter(|code| index.is_free(*code));
        let code = code.unwrap_or_else(|| index.free_code(chance));
        index.codes.insert(code, id);
        index.matches.insert(
            id,
            Registered {
                code,
                status: Status::Open,
                handle: None,
            },
        );
        Ok((id, code))
    }

    /// Gives a match that is being created another code, since the store has a live match with its own.
    pub(crate) fn change_code(&self, id: MatchId, chance: &SeededRng) -> MatchCode {
        let mut index = self.index.lock();
        let code = index.free_code(chance);
        if let Some(registered) = index.matches.get_mut(&id) {
            let taken = std::mem::replace(&mut registered.code, code);
            index.codes.remove(&taken);
            index.codes.insert(code, id);
        }
        code
    }

    /// Makes a match known that was found in the store, unless it is known by now: then gives that one.
    pub(crate) fn adopt(
        &self,
        creation: &Creation,
        handle: MatchHandle,
        matches_max: usize,
    ) -> Result<Option<MatchHandle>, TooManyMatches> {
        let mut index = self.index.lock();
        if let Some(entry) = index.matches.get(&creation.id) {
            let known = entry.handle.clone().ok_or(TooManyMatches)?;
            return Ok(Some(known));
        }
        index.make_room(matches_max)?;
        let status = handle.card().status();
        // A code goes to the live match that has it, and else to the one that had it last.
        let holder = index.codes.get(&creation.code).copied();
        if holder.is_none_or(|holder| status != Status::Ended || holder < creation.id) {
            index.codes.insert(creation.code, creation.id);
        }
        index.last_id = index.last_id.max(Some(creation.id));
        index.list(handle.card(), status);
        let entry = Registered {
            code: creation.code,
            status,
            handle: Some(handle),
        };
        index.matches.insert(creation.id, entry);
        Ok(None)
    }

    /// Makes a match that was created known.
    pub(crate) fn open(&self, handle: MatchHandle) {
        let mut index = self.index.lock();
        let status = handle.card().status();
        index.list(handle.card(), status);
        if let Some(entry) = index.matches.get_mut(&handle.id()) {
            entry.status = status;
            entry.handle = Some(handle);
        }
    }

    /// Lets go of a match.
    pub(crate) fn forget(&self, id: MatchId) {
        self.index.lock().forget(id);
    }

    /// Lets go of a match that nobody else has a handle of, if it is `idle`: that is asked where nobody can
    /// send it anything meanwhile. Gives whether it did.
    pub(crate) fn let_go(&self, id: MatchId, idle: impl FnOnce() -> bool) -> bool {
        let mut index = self.index.lock();
        let known = index.matches.get(&id);
        let handle = known.and_then(|entry| entry.handle.as_ref());
        let lets_go = handle.is_some_and(MatchHandle::is_only) && idle();
        if lets_go {
            index.forget(id);
        }
        lets_go
    }

    /// Every match that is served.
    pub(crate) fn all(&self) -> Vec<MatchHandle> {
        let index = self.index.lock();
        let entries = index.matches.values();
        entries.filter_map(|entry| entry.handle.clone()).collect()
    }

    /// Lets go of every match, since the server stops.
    pub(crate) fn forget_all(&self) {
        let closed = Index {
            is_closed: true,
            ..Index::default()
        };
        let index = std::mem::replace(&mut *self.index.lock(), closed);
        drop(index);
    }

    /// Keeps the lists in step with a match.
    pub(crate) fn status_changed(&self, card: &MatchSummary, status: Status) {
        let mut index = self.index.lock();
        let Some(entry) = index.matches.get_mut(&card.id) else {
            return;
        };
        let before = std::mem::replace(&mut entry.status, status);
        if before != status && entry.handle.is_some() {
            index.unlist(card, before);
            index.list(card, status);
        }
    }

    /// Notes that other people sit in a match.
    pub(crate) fn seats_changed(&self, card: &MatchSummary) {
        let mut index = self.index.lock();
        let known = index.matches.get(&card.id);
        let is_shown = |entry: &&Registered| card.is_listed() && entry.handle.is_some();
        if let Some(entry) = known.filter(is_shown).filter(|_| !card.is_delayed()) {
            let status = entry.status;
            index.watched.changed(card, status);
        }
    }

    /// Keeps the lists in step with a match that they show with a delay.
    pub(crate) fn shown_changed(&self, card: &MatchSummary) {
        let mut index = self.index.lock();
        let known = index.matches.get(&card.id);
        if known.is_some_and(|entry| entry.handle.is_some()) {
            index.hide(card, Status::Running);
            index.show(card);
        }
    }

    /// Looks at who watches lists, or changes it.
    pub(crate) fn watched<T>(&self, look: impl FnOnce(&mut ListSubscriptions) -> T) -> T {
        look(&mut self.index.lock().watched)
    }

    /// What has changed in lists that are watched since that was taken last.
    pub(crate) fn take_changes(&self) -> Vec<Changes> {
        let mut index = self.index.lock();
        let changed = index.watched.take();
        let elsewhere = index.watched.take_shown();
        let found: Vec<_> = changed
            .into_iter()
            .map(|(filter, changed)| {
                let cards = changed.map(|changed| {
                    let changed = changed.into_iter();
                    let cards = changed.map(|id| (id, index.listed_card(id)));
                    cards.collect::<Vec<_>>()
                });
                (filter, index.total(filter), cards)
            })
            .collect();
        drop(index);
        let listing = |(id, card): (MatchId, Option<Arc<MatchSummary>>)| {
            let shown = || elsewhere.get(&id).cloned();
            (id, card.map(|card| card.listing()).or_else(shown))
        };
        let changes = found.into_iter().map(|(filter, total, cards)| Changes {
            filter,
            total,
            found: cards.map(|cards| cards.into_iter().map(listing).collect()),
        });
        changes.collect()
    }

    /// How many matches can be asked for, by game and status.
    pub(crate) fn counts(&self) -> BTreeMap<(&'static str, Status), usize> {
        self.index.lock().counts.clone()
    }

    /// The match that is meant, if there is one.
    pub(crate) fn find(&self, target: MatchRef) -> Option<MatchHandle> {
        let index = self.index.lock();
        let id = match target {
            MatchRef::Id(id) => id,
            MatchRef::Code(code) => *index.codes.get(&code)?,
            MatchRef::Nothing => return None,
        };
        index.matches.get(&id)?.handle.clone()
    }

    /// The listed matches that fit, newest first, from the one after `after` on; and how many fit
    /// in all.
    pub(crate) fn list(
        &self,
        filter: Filter,
        after: Option<MatchRef>,
        limit: usize,
    ) -> Result<(u64, Vec<Listing>), NoSuchMatch> {
        let mut cards: Vec<Arc<MatchSummary>> = Vec::new();
        let total;
        {
            let index = self.index.lock();
            let end = match after {
                None => None,
                Some(MatchRef::Id(id)) if index.matches.contains_key(&id) => Some(id),
                Some(MatchRef::Code(code)) => Some(*index.codes.get(&code).ok_or(NoSuchMatch)?),
                Some(MatchRef::Id(_) | MatchRef::Nothing) => return Err(NoSuchMatch),
            };
            total = index.total(filter);
            for ids in index.fitting(filter) {
                let page = match end {
                    None => ids.range(..),
                    Some(end) => ids.range(..end),
                };
                let handles = page
                    .rev()
                    .take(limit)
                    .filter_map(|id| index.matches.get(id));
                let handles = handles.filter_map(|entry| entry.handle.as_ref());
                cards.extend(handles.map(|handle| Arc::clone(handle.card())));
            }
        }
        cards.sort_unstable_by_key(|card| std::cmp::Reverse(card.id));
        Ok((
            total,
            cards
                .iter()
                .take(limit)
                .map(|card| card.listing())
                .collect(),
        ))
    }
}

impl Index {
    /// Makes room for one more match. Matches that have ended are evicted, oldest
    /// first: they are in the store, and go on serving their followers.
    fn make_room(&mut self, matches_max: usize) -> Result<(), TooManyMatches> {
        if self.is_closed {
            return Err(TooManyMatches);
        }
        while self.matches.len() >= matches_max {
            let oldest = *self.ended.first().ok_or(TooManyMatches)?;
            self.forget(oldest);
        }
        Ok(())
    }

    /// A code that no live match has. There are 887 million codes and far fewer live matches, so one
    /// is found soon.
    fn free_code(&self, chance: &SeededRng) -> MatchCode {
        loop {
            let code = MatchCode::from_number(chance.number());
            if self.is_free(code) {
                return code;
            }
        }
    }

    /// Whether no live match has this code.
    fn is_free(&self, code: MatchCode) -> bool {
        let holder = self.codes.get(&code).and_then(|id| self.matches.get(id));
        holder.is_none_or(|holder| holder.status == Status::Ended)
    }

    fn forget(&mut self, id: MatchId) {
        let Some(Registered {
            code,
            status,
            handle,
        }) = self.matches.remove(&id)
        else {
            return;
        };
        self.ended.remove(&id);
        if self.codes.get(&code) == Some(&id) {
            self.codes.remove(&code);
        }
        if let Some(handle) = handle {
            self.unlist(handle.card(), status);
        }
    }

    fn list(&mut self, card: &MatchSummary, status: Status) {
        if status == Status::Ended {
            self.ended.insert(card.id);
        }
        *self.counts.entry((card.game.info.id, status)).or_default() += 1;
        self.show(card);
    }

    fn unlist(&mut self, card: &MatchSummary, status: Status) {
        if let Some(count) = self.counts.get_mut(&(card.game.info.id, status)) {
            *count -= 1;
        }
        self.hide(card, status);
    }

    /// Puts a match in the list that shows it.
    fn show(&mut self, card: &MatchSummary) {
        if card.is_listed() {
            let status = card.shown_status();
            let list = self.listed.entry((card.game.info.id, status)).or_default();
            list.insert(card.id);
            self.watched.changed(card, status);
        }
    }

    /// Takes a match out of the list that shows it, which is mostly this one.
    fn hide(&mut self, card: &MatchSummary, likely: Status) {
        let others = Status::ALL.iter().copied();
        let others = others.filter(|status| *status != likely);
        for status in iter::once(likely).chain(others) {
            let list = self.listed.get_mut(&(card.game.info.id, status));
            if list.is_some_and(|ids| ids.remove(&card.id)) {
                self.watched.changed(card, status);
                return;
            }
        }
    }

    /// The listed matches that fit, in as many sets as there are kinds.
    fn fitting(&self, filter: Filter) -> impl Iterator<Item = &BTreeSet<MatchId>> {
        let kinds = self.listed.iter();
        let fitting = kinds.filter(move |((game, status), _)| filter.fits(game, *status));
        fitting.map(|(_, ids)| ids)
    }

    /// How many listed matches fit.
    fn total(&self, filter: Filter) -> u64 {
        self.fitting(filter).map(|ids| ids.len() as u64).sum()
    }

    /// The card of a match, if it is there and listed.
    fn listed_card(&self, id: MatchId) -> Option<Arc<MatchSummary>> {
        let handle = self.matches.get(&id)?.handle.as_ref()?;
        handle.card().is_listed().then(|| Arc::clone(handle.card()))
    }
}

/// The id of a match created now, greater than `last`: a UUID of version 7 whose random part is
/// stepped on at random within a millisecond (RFC 9562, section 6.2, method 2).
pub(crate) fn next_match_id(last: Option<MatchId>, now_ms: u64, chance: &SeededRng) -> MatchId {
    let fresh = uuid::Builder::from_unix_timestamp_millis(now_ms, &chance.bytes()).into_uuid();
    match last {
        Some(MatchId(last)) if fresh <= last => {
            let step = 1 + u128::from(chance.number() >> 32);
            MatchId(Uuid::from_u128(last.as_u128() + step))
        }
        Some(_) | None => MatchId(fresh),
    }
}
