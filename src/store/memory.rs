//! Store that holds all data in memory and loses it when the process ends. Several servers in one
//! process can share the store. For these servers, the store follows the same rules as a PostgreSQL
//! store.
//!
//! Players, sessions and accounts are in an SQLite database in memory and follow the rules of the
//! shared statements. Journals, the history and ratings are maps, because moves and ends of matches
//! would take too long otherwise.

mod cluster_directory;
mod history;
mod identities;
mod stored_match;

use crate::sql::store::SqlStore;
use crate::sql::writes::SharedWrite;
use crate::sql::{players, run_now};
use crate::{ArchiveStore, CommandStore, JournalStore, RatingStore};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use parking_lot::Mutex;
use rusqlite::Connection;

use self::cluster_directory::DirectoryState;
use self::history::HistoryIndex;
use self::identities::{PlayerLifetimes, new_database, with_bots};
use self::stored_match::StoredMatch;
use super::account_deletion;
use super::{
    AnalysisQuotaRequest, EndedMatch, HistoryQuery, IdentityChange, JournalPosition, JournalTail,
    LeaderboardPage, LeaderboardQuery, LiveMatches, LoadedMatch, MatchRecord, MemoryRatings,
    NeededRatings, NodeId, OpeningStats, PastMatch, PlayerRating, PlayerRecord, RatingProgress,
    RatingsChange, ReadError, ReadFuture, RematchRecord, ResultCounts, Store, StoredAnalysis,
    WriteError, WriteFuture,
};
use plyhouse_matches::ratings::{
    LedgerRow, PostOutcome, RatingEntry, RatingKey as RatingRecord, RatingState,
};
use plyhouse_matches::{Creation, Event, Participation, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, PlayerKind, RatingChange};

/// Maximum total number of events in ended matches, at about 100 bytes each. Above this number, the
/// matches that ended first are evicted. Rated matches are never evicted, and their events do not
/// count towards the limit.
const ENDED_EVENTS_MAX: usize = 500_000;

/// If the event list of a match is full, the store reserves memory for at least this many more
/// events. Most matches have only a few dozen events.
const RESERVED_EVENTS: usize = 16;

/// Stores matches and players in memory. Evicts old players and old ended matches, but no live or
/// rated match.
#[derive(Debug)]
pub struct MemoryStore {
    contents: Mutex<Contents>,
    /// Players, sessions and accounts. If both are locked, `contents` is locked first.
    identities: Mutex<Connection>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self {
            contents: Mutex::default(),
            identities: Mutex::new(new_database()),
        }
    }
}

#[derive(Debug, Default)]
struct Contents {
    /// All matches. The maps in this struct are B-trees, because a growing hash map would move all
    /// entries at once while the lock is held.
    matches: BTreeMap<MatchId, StoredMatch>,
    /// Most recently created match with each code. Earlier matches with the same code have ended,
    /// because a new match cannot use the code of a live match.
    codes: BTreeMap<MatchCode, MatchId>,
    /// Maps a match to its rematch.
    rematches: BTreeMap<MatchId, MatchId>,
    /// Matches with a wake time, ordered by wake time.
    wake_times: BTreeSet<(u64, MatchId)>,
    /// Maps each player to the player's matches. For each match, the value describes how the player
    /// participates.
    participations: BTreeMap<PlayerId, BTreeMap<MatchId, Participation>>,
    /// Queue of ended matches that may be evicted. Each match is paired with its event count. The
    /// match that ended first is at the front of the queue.
    evictable: VecDeque<(MatchId, usize)>,
    /// Index of the ended matches.
    history_index: HistoryIndex,
    /// Analyses of ended matches.
    analyses: BTreeMap<MatchId, StoredAnalysis>,
    /// Times of each player's analysis requests, as Unix time in milliseconds.
    analysis_requests: BTreeMap<PlayerId, Vec<u64>>,
    /// Total number of events of the matches in `evictable`.
    ended_events: usize,
    lifetimes: PlayerLifetimes,
    ratings: MemoryRatings,
    /// State that the servers of a cluster share.
    directory: DirectoryState,
}

impl Contents {
    fn create(
        &mut self,
        owner: NodeId,
        record: MatchRecord,
    ) -> Result<JournalPosition, WriteError> {
        let (id, code) = (record.creation.id, record.creation.code);
        let previous = record.creation.terms.previous.map(|previous| previous.id);
        let has_other_rematch =
            previous.is_some_and(|previous| self.rematches.contains_key(&previous));
        if self.matches.contains_key(&id) || has_other_rematch {
            return Err(WriteError::Conflict);
        }
        let holder = self.codes.get(&code).and_then(|id| self.matches.get(id));
        if holder.is_some_and(StoredMatch::is_live) {
            return Err(WriteError::CodeTaken);
        }
        let participants = account_deletion::initial_participants(&record);
        if !self.lifetimes.deleted_among(participants).is_empty() {
            return Err(WriteError::PlayerDeleted);
        }
        let reminder = record.reminder();
        let stored = StoredMatch::new(record, owner);
        let position = stored.position();
        self.codes.insert(code, id);
        self.rematches
            .extend(previous.map(|previous| (previous, id)));
        self.matches.insert(id, stored);
        if reminder.is_some() {
            self.set_reminder(id, reminder);
        }
        Ok(position)
    }

    /// Replaces the reminder of a match.
    fn set_reminder(&mut self, id: MatchId, reminder: Option<Reminder>) {
        let Some(stored) = self.matches.get_mut(&id) else {
            return;
        };
        let previous = std::mem::replace(&mut stored.reminder, reminder.clone());
        if let Some(previous) = previous {
            if let Some(at) = previous.wake_ms {
                self.wake_times.remove(&(at, id));
            }
            for Participation { player, .. } in previous.participations {
                if let Some(by_match) = self.participations.get_mut(&player) {
                    by_match.remove(&id);
                    if by_match.is_empty() {
                        self.participations.remove(&player);
                    }
                }
            }
        }
        if let Some(reminder) = reminder {
            self.wake_times.extend(reminder.wake_ms.map(|at| (at, id)));
            for part in reminder.participations {
                let by_match = self.participations.entry(part.player).or_default();
                by_match.insert(id, part);
            }
        }
    }

    fn append(
        &mut self,
        id: MatchId,
        after: JournalPosition,
        mut events: Vec<Event>,
        reminder: Option<Reminder>,
        ended: Option<Box<EndedMatch>>,
    ) -> Result<JournalPosition, WriteError> {
        let stored = self.matches.get_mut(&id);
        let Some(stored) = stored.filter(|stored| stored.position() == after) else {
            return Err(WriteError::Conflict);
        };
        let seated = account_deletion::seated_players(&events);
        let deleted = self.lifetimes.deleted_among(seated);
        if account_deletion::seats_deleted_player(&events, &deleted) {
            return Err(WriteError::PlayerDeleted);
        }
        account_deletion::remove_names_from_events(&mut events, &deleted);
        let stored_events = &mut stored.record.events;
        if stored_events.capacity() < stored_events.len() + events.len() {
            stored_events.reserve(RESERVED_EVENTS);
        }
        stored_events.extend(events);
        let (position, events) = (stored.position(), stored.record.events.len());
        let (is_live, has_reminder) = (stored.is_live(), stored.reminder.is_some());
        let mut is_evictable = !is_live;
        if !is_live {
            let ended = ended
                .map(|ended| *ended)
                .or_else(|| stored.record.to_ended_match());
            if let Some(mut ended) = ended {
                ended.remove_names(&self.lifetimes.deleted_among(ended.players()));
                is_evictable = ended.rated_game.is_none();
                if let Some(game) = ended.rated_game {
                    self.ratings.add_game(game, ended.numbering_due_ms);
                }
                stored.summary = Some(Box::new(ended.summary));
            }
            self.history_index.add(stored);
        }
        if (is_live && reminder.is_some()) || (!is_live && has_reminder) {
            self.set_reminder(id, reminder.filter(|_| is_live));
        }
        if is_evictable {
            self.evictable.push_back((id, events));
            self.ended_events += events;
            self.evict_ended();
        }
        Ok(position)
    }

    /// Evicts the matches that ended first, until the evictable matches contain at most
    /// [`ENDED_EVENTS_MAX`] events.
    fn evict_ended(&mut self) {
        while self.ended_events > ENDED_EVENTS_MAX
            && let Some((first, events)) = self.evictable.pop_front()
        {
            self.evict(first, events);
        }
    }

    /// Evicts an ended match. `events` must be the event count of the match.
    fn evict(&mut self, id: MatchId, events: usize) {
        self.ended_events -= events;
        let Some(stored) = self.matches.remove(&id) else {
            return;
        };
        self.analyses.remove(&id);
        self.history_index.remove(&stored);
        let StoredMatch { record, .. } = stored;
        let Creation { code, terms, .. } = record.creation;
        if self.codes.get(&code) == Some(&id) {
            self.codes.remove(&code);
        }
        if let Some(previous) = terms.previous {
            self.rematches.remove(&previous.id);
        }
    }

    /// Changes the data of players. If a player is deleted, also removes the player's name from the
    /// matches.
    fn write(&mut self, db: &Connection, write: SharedWrite) -> Result<(), WriteError> {
        let deleted = match &write {
            SharedWrite::ChangeIdentity(IdentityChange::DeletePlayer(deletion)) => {
                with_bots(db, deletion.player).map_err(write_error)?
            }
            _ => Vec::new(),
        };
        self.lifetimes.write(db, write).map_err(write_error)??;
        for player in deleted {
            self.directory.remove_seeks_of(player);
            for stored in self.matches.values_mut() {
                stored.remove_name(player);
            }
            self.lifetimes.add_deleted(player);
        }
        Ok(())
    }

    /// Returns the rematch of a match, if it has one.
    fn rematch(&self, id: MatchId) -> Option<RematchRecord> {
        let id = *self.rematches.get(&id)?;
        let code = self.matches.get(&id)?.record.creation.code;
        Some(RematchRecord { id, code })
    }

    /// Returns the live matches without a wake time, ordered by id. Matches that were created later
    /// have greater ids.
    fn live_matches(&self) -> impl Iterator<Item = &StoredMatch> {
        let is_served = |stored: &&StoredMatch| stored.is_live() && stored.wake_ms().is_none();
        self.matches.values().filter(is_served)
    }
}

impl MemoryStore {
    fn find_player(&self, id: PlayerId) -> Option<PlayerRecord> {
        let found = run_now(players::player_by_id(&self.identities, id));
        found.map_err(read_error).ok().flatten()
    }
}

/// Returns a future that completes at once with `Ok(value)`.
fn ready<T: Send + 'static, E: Send + 'static>(value: T) -> BoxFuture<'static, Result<T, E>> {
    future::ready(Ok(value)).boxed()
}

fn read_error(error: rusqlite::Error) -> ReadError {
    tracing::error!(%error, "cannot read from the database in memory");
    ReadError::Unavailable
}

fn write_error(error: rusqlite::Error) -> WriteError {
    tracing::error!(%error, "cannot write to the database in memory");
    WriteError::Unavailable
}

impl JournalStore for MemoryStore {
    fn create(&self, owner: NodeId, record: MatchRecord) -> WriteFuture<'_, JournalPosition> {
        future::ready(self.contents.lock().create(owner, record)).boxed()
    }

    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> WriteFuture<'_, JournalPosition> {
        let mut contents = self.contents.lock();
        future::ready(contents.append(id, after, events, reminder, None)).boxed()
    }

    fn append_end(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        ended: Box<EndedMatch>,
    ) -> WriteFuture<'_, JournalPosition> {
        let mut contents = self.contents.lock();
        future::ready(contents.append(id, after, events, None, Some(ended))).boxed()
    }

    fn load(&self, id: MatchId) -> ReadFuture<'_, Option<LoadedMatch>> {
        let contents = self.contents.lock();
        let stored = contents.matches.get(&id);
        let loaded = stored.map(|stored| LoadedMatch {
            rating_changes: contents.ratings.changes_of_match(id),
            ..stored.to_loaded(contents.rematch(id))
        });
        ready(loaded)
    }

    fn tail(&self, id: MatchId, after: JournalPosition) -> ReadFuture<'_, Option<JournalTail>> {
        let contents = self.contents.lock();
        let stored = contents.matches.get(&id);
        ready(stored.and_then(|stored| stored.tail(after)))
    }

    fn find_by_code(&self, code: MatchCode) -> ReadFuture<'_, Option<MatchId>> {
        ready(self.contents.lock().codes.get(&code).copied())
    }

    fn unowned(&self, node: NodeId) -> ReadFuture<'_, Vec<MatchId>> {
        let contents = self.contents.lock();
        let is_unowned = |owner| owner != node && !contents.directory.holds_lease(owner);
        let live = contents.live_matches();
        let unowned = live.filter(|stored| stored.owner.is_none_or(is_unowned));
        ready(unowned.map(StoredMatch::id).collect())
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> WriteFuture<'_, ()> {
        if let Some(stored) = self.contents.lock().matches.get_mut(&id)
            && stored.is_live()
            && stored.owner != Some(owner)
        {
            stored.take_over(owner);
        }
        ready(())
    }

    fn release(&self, id: MatchId) {
        if let Some(stored) = self.contents.lock().matches.get_mut(&id) {
            stored.release();
        }
    }

    fn load_live_matches(&self, owner: NodeId) -> ReadFuture<'_, LiveMatches> {
        let contents = self.contents.lock();
        // Only ended matches have a rematch, and reminders are returned only for matches with a
        // wake time. Live matches without a wake time therefore have no rematch and no reminder.
        let live = contents.live_matches();
        let own = live.filter(|stored| stored.owner == Some(owner));
        let live: Vec<LoadedMatch> = own.map(|stored| stored.to_loaded(None)).collect();
        let records = live.iter().map(|loaded| &loaded.record);
        let player_ids: BTreeSet<PlayerId> =
            records.flat_map(MatchRecord::involved_players).collect();
        let players = player_ids.into_iter().filter_map(|id| self.find_player(id));
        ready(LiveMatches {
            players: players.collect(),
            matches: live.into_iter().map(Ok).collect(),
        })
    }

    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> ReadFuture<'_, Vec<(u64, MatchId)>> {
        let contents = self.contents.lock();
        let reminders = contents.wake_times.range((Excluded(after), Unbounded));
        ready(reminders.take(limit).copied().collect())
    }

    fn due_reminder_count(&self) -> ReadFuture<'_, u64> {
        ready(self.contents.lock().wake_times.len() as u64)
    }

    fn participations(&self, player: PlayerId) -> ReadFuture<'_, Vec<(MatchId, Participation)>> {
        let contents = self.contents.lock();
        let participations = contents.participations.get(&player).into_iter().flatten();
        let participations = participations.map(|(id, part)| (*id, *part));
        ready(participations.collect())
    }
}

impl SqlStore for MemoryStore {
    type Connection = Mutex<Connection>;

    fn read<T: Send + 'static>(
        &self,
        query: impl for<'a> FnOnce(&'a Mutex<Connection>) -> BoxFuture<'a, rusqlite::Result<T>>
        + Send
        + 'static,
    ) -> ReadFuture<'_, T> {
        // No write may change the data between the statements of the query.
        let contents = self.contents.lock();
        let found = run_now(query(&self.identities));
        drop(contents);
        future::ready(found.map_err(read_error)).boxed()
    }

    fn write(&self, write: SharedWrite) -> WriteFuture<'_, ()> {
        let written = self.contents.lock().write(&self.identities.lock(), write);
        future::ready(written).boxed()
    }
}

impl RatingStore for MemoryStore {
    fn rating_progress(&self) -> ReadFuture<'_, RatingProgress> {
        ready(self.contents.lock().ratings.progress())
    }

    fn ledger(&self, after: u64, limit: usize) -> ReadFuture<'_, Vec<(u64, LedgerRow)>> {
        ready(self.contents.lock().ratings.ledger(after, limit))
    }

    fn load_ratings_for(&self, version: u64, needed: NeededRatings) -> ReadFuture<'_, RatingState> {
        let contents = self.contents.lock();
        ready(contents.ratings.load_ratings_for(version, &needed))
    }

    fn posted_updates(&self, after: u64, until: u64) -> ReadFuture<'_, Vec<(u64, PostOutcome)>> {
        ready(self.contents.lock().ratings.posted_updates(after, until))
    }

    fn ratings_after(
        &self,
        last: Option<RatingRecord>,
    ) -> ReadFuture<'_, Vec<(RatingRecord, RatingEntry)>> {
        ready(self.contents.lock().ratings.ratings_after(last))
    }

    fn change_ratings(&self, change: RatingsChange) -> WriteFuture<'_, bool> {
        ready(self.contents.lock().ratings.change(change))
    }

    fn ratings(&self, player: PlayerId) -> ReadFuture<'_, Vec<PlayerRating>> {
        ready(self.contents.lock().ratings.ratings(player))
    }

    fn rating(&self, key: RatingRecord) -> ReadFuture<'_, Option<RatingEntry>> {
        ready(self.contents.lock().ratings.rating(&key))
    }

    fn leaderboard(&self, query: LeaderboardQuery) -> ReadFuture<'_, LeaderboardPage> {
        let contents = self.contents.lock();
        let find = |player| {
            let found = self.find_player(player);
            found.filter(|found| found.kind != PlayerKind::Guest)
        };
        ready(contents.ratings.leaderboard(&query, find))
    }

    fn rated_ban_until(&self, player: PlayerId) -> ReadFuture<'_, u64> {
        ready(self.contents.lock().ratings.rated_ban_until(player))
    }

    fn changes_of_match(&self, id: MatchId) -> ReadFuture<'_, Option<Vec<RatingChange>>> {
        ready(self.contents.lock().ratings.changes_of_match(id))
    }
}

impl ArchiveStore for MemoryStore {
    fn history(&self, query: HistoryQuery) -> ReadFuture<'_, Option<Vec<PastMatch>>> {
        ready(self.contents.lock().history(&query))
    }

    fn results(&self, player: PlayerId, viewer: PlayerId) -> ReadFuture<'_, ResultCounts> {
        ready(self.contents.lock().results(player, viewer))
    }

    fn explore(&self, game: &'static str, line: String) -> ReadFuture<'_, OpeningStats> {
        ready(self.contents.lock().history_index.explore(game, &line))
    }

    fn store_analysis(&self, id: MatchId, analysis: StoredAnalysis) -> WriteFuture<'_, bool> {
        let mut contents = self.contents.lock();
        let stored = contents.matches.get(&id);
        let has_ended = stored.is_some_and(|stored| !stored.is_live());
        let existing = contents.analyses.get(&id);
        if has_ended && existing.is_none_or(|known| known.nodes <= analysis.nodes) {
            contents.analyses.insert(id, analysis);
        }
        ready(has_ended)
    }

    fn analysis(&self, id: MatchId) -> ReadFuture<'_, Option<StoredAnalysis>> {
        ready(self.contents.lock().analyses.get(&id).cloned())
    }

    fn count_analysis_request(&self, request: AnalysisQuotaRequest) -> WriteFuture<'_, bool> {
        let requests = &mut self.contents.lock().analysis_requests;
        requests.retain(|_, times| {
            times.retain(|at_ms| *at_ms > request.since_ms);
            !times.is_empty()
        });
        let times = requests.entry(request.player).or_default();
        let is_allowed = times.len() < request.requests_max as usize;
        if is_allowed {
            times.push(request.at_ms);
        }
        ready(is_allowed)
    }

    fn first_analysis_request_ms(
        &self,
        player: PlayerId,
        since_ms: u64,
    ) -> ReadFuture<'_, Option<u64>> {
        let contents = self.contents.lock();
        let times = contents.analysis_requests.get(&player).into_iter();
        let times = times.flatten().copied();
        ready(times.filter(|at_ms| *at_ms > since_ms).min())
    }
}

impl CommandStore for MemoryStore {}

impl Store for MemoryStore {
    fn is_healthy(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
