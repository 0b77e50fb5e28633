//! The store that keeps everything in memory, and loses it with the process.
//!
//! It serves any number of servers at once, by the rules of the store in PostgreSQL.

mod accounts;
mod blocks;
mod directory;
mod history;
mod kept;
mod people;

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use parking_lot::Mutex;

use self::directory::DirectoryState;
use self::history::HistoryIndex;
use self::kept::Kept;
use self::people::People;
use super::forgetting;
use super::{
    Account, AnalysisAsked, Blocks, Explored, HistoryQuery, JournalPosition, KeptAnalysis,
    KeptRatings, LeadersPage, LeadersQuery, Live, Loaded, Needed, NodeId, OneTimeToken, Pairing,
    PastMatch, PeopleChange, PlayerRating, PlayerRecord, RatingState, RatingsChange, ReadError,
    Record, RematchRecord, Results, SessionRecord, Store, Tail, TokenHash, WriteError,
};
use plyhouse_matches::ratings::{Books, LedgerRow, Posted, Rated, Record as RatingRecord};
use plyhouse_matches::{Creation, Event, Part, Reminder};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, PlayerKind, RatingChange};

/// How many events of ended matches are kept, of about 100 bytes each. Then the matches that ended
/// first are forgotten, but for rated ones, which are always kept.
const ENDED_EVENTS_MAX: usize = 500_000;

/// For how many events at least a record grows at once: most matches have no more than some tens.
const GROWTH: usize = 16;

/// Keeps live matches, and of those that have ended and of the players the latest.
#[derive(Debug, Default)]
pub struct MemoryStore {
    contents: Mutex<Contents>,
}

#[derive(Debug, Default)]
struct Contents {
    /// Trees, since a hash map that grows moves all that it holds at once, while everybody waits for the
    /// lock.
    matches: BTreeMap<MatchId, Kept>,
    /// The last match of each code. If one of them is live, it is the last: until it ends, nobody
    /// else gets its code.
    codes: BTreeMap<MatchCode, MatchId>,
    /// The rematch of each match that has one.
    nexts: BTreeMap<MatchId, MatchId>,
    /// The matches that are to be woken, in the order in which they are.
    due: BTreeSet<(u64, MatchId)>,
    /// Who has a part in which match.
    parts: BTreeMap<PlayerId, BTreeMap<MatchId, Part>>,
    /// The ended matches that may be forgotten, in the order in which they ended, and how many events each has.
    ended: VecDeque<(MatchId, usize)>,
    /// What they are found by.
    past: HistoryIndex,
    /// What was thought of ended matches.
    analyses: BTreeMap<MatchId, KeptAnalysis>,
    /// When players have asked for one, in milliseconds since 1970.
    asked: BTreeMap<PlayerId, Vec<u64>>,
    /// How many events they have together.
    ended_events: usize,
    people: People,
    ratings: KeptRatings,
    /// What servers agree on beside.
    agreed: DirectoryState,
}

impl Contents {
    fn create(&mut self, owner: NodeId, record: Record) -> Result<JournalPosition, WriteError> {
        let (id, code) = (record.creation.id, record.creation.code);
        let previous = record.creation.terms.previous.map(|previous| previous.id);
        let has_other = previous.is_some_and(|previous| self.nexts.contains_key(&previous));
        if self.matches.contains_key(&id) || has_other {
            return Err(WriteError::Conflict);
        }
        let holder = self.codes.get(&code).and_then(|id| self.matches.get(id));
        if holder.is_some_and(Kept::is_live) {
            return Err(WriteError::CodeTaken);
        }
        if !self.people.gone(forgetting::parts(&record)).is_empty() {
            return Err(WriteError::Forgotten);
        }
        let reminder = record.reminder();
        let kept = Kept::new(record, owner);
        let mark = kept.mark();
        self.codes.insert(code, id);
        self.nexts.extend(previous.map(|previous| (previous, id)));
        self.matches.insert(id, kept);
        if reminder.is_some() {
            self.remind(id, reminder);
        }
        Ok(mark)
    }

    /// Keeps a match's reminder in place of the one before.
    fn remind(&mut self, id: MatchId, reminder: Option<Reminder>) {
        let Some(kept) = self.matches.get_mut(&id) else {
            return;
        };
        let before = std::mem::replace(&mut kept.reminder, reminder.clone());
        if let Some(Reminder { wake_ms, parts }) = before {
            if let Some(at) = wake_ms {
                self.due.remove(&(at, id));
            }
            for Part { player, .. } in parts {
                if let Some(of_player) = self.parts.get_mut(&player) {
                    of_player.remove(&id);
                    if of_player.is_empty() {
                        self.parts.remove(&player);
                    }
                }
            }
        }
        if let Some(Reminder { wake_ms, parts }) = reminder {
            self.due.extend(wake_ms.map(|at| (at, id)));
            for part in parts {
                let of_player = self.parts.entry(part.player).or_default();
                of_player.insert(id, part);
            }
        }
    }

    fn keep(
        &mut self,
        id: MatchId,
        after: JournalPosition,
        mut events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> Result<JournalPosition, WriteError> {
        let kept = self.matches.get_mut(&id);
        let Some(kept) = kept.filter(|kept| kept.mark() == after) else {
            return Err(WriteError::Conflict);
        };
        let gone = self.people.gone(forgetting::named(&events));
        if forgetting::seats_any(&events, &gone) {
            return Err(WriteError::Forgotten);
        }
        forgetting::take_names_out(&mut events, &gone);
        let all = &mut kept.record.events;
        if all.capacity() < all.len() + events.len() {
            all.reserve(GROWTH);
        }
        all.extend(events);
        let (mark, events) = (kept.mark(), kept.record.events.len());
        let (is_live, has_one) = (kept.is_live(), kept.reminder.is_some());
        let mut may_be_forgotten = !is_live;
        if !is_live {
            kept.archived = kept.record.archived().map(Box::new);
            self.past.file(kept);
            if let Some(game) = kept.record.rated_game() {
                may_be_forgotten = false;
                let ended_ms = kept.ended_ms().unwrap_or_default();
                let numbered_ms = kept.record.numbered_ms(ended_ms);
                self.ratings.file(game, numbered_ms);
            }
        }
        if (is_live && reminder.is_some()) || (!is_live && has_one) {
            self.remind(id, reminder.filter(|_| is_live));
        }
        if may_be_forgotten {
            self.ended.push_back((id, events));
            self.ended_events += events;
            self.forget_ended();
        }
        Ok(mark)
    }

    /// Forgets the matches that ended first, until those that are left are few enough.
    fn forget_ended(&mut self) {
        while self.ended_events > ENDED_EVENTS_MAX
            && let Some((first, events)) = self.ended.pop_front()
        {
            self.forget(first, events);
        }
    }

    /// Forgets an ended match that had so many events.
    fn forget(&mut self, id: MatchId, events: usize) {
        self.ended_events -= events;
        let Some(kept) = self.matches.remove(&id) else {
            return;
        };
        self.analyses.remove(&id);
        self.past.unfile(&kept);
        let Kept { record, .. } = kept;
        let Creation { code, terms, .. } = record.creation;
        if self.codes.get(&code) == Some(&id) {
            self.codes.remove(&code);
        }
        if let Some(previous) = terms.previous {
            self.nexts.remove(&previous.id);
        }
    }

    /// Changes what players are known by. False if it came to nothing.
    fn change(&mut self, change: PeopleChange) -> bool {
        let forgotten = match &change {
            PeopleChange::Forget(forget) => self.people.with_bots(forget.player),
            _ => Vec::new(),
        };
        let is_done = self.people.change(change);
        if is_done {
            for player in forgotten {
                self.agreed.end_seeks_of(player);
                self.matches
                    .values_mut()
                    .for_each(|kept| kept.forget(player));
            }
        }
        is_done
    }

    /// Keeps what was thought of an ended match. False if there is none.
    fn keep_analysis(&mut self, id: MatchId, analysis: KeptAnalysis) -> bool {
        let has_ended = self.matches.get(&id).is_some_and(|kept| !kept.is_live());
        let known = self.analyses.get(&id);
        if has_ended && known.is_none_or(|known| known.nodes <= analysis.nodes) {
            self.analyses.insert(id, analysis);
        }
        has_ended
    }

    /// Counts one more that a player has asked for, unless that are as many as may be.
    fn ask_analysis(&mut self, asked: AnalysisAsked) -> bool {
        self.asked.retain(|_, times| {
            times.retain(|at_ms| *at_ms > asked.since_ms);
            !times.is_empty()
        });
        let times = self.asked.entry(asked.by).or_default();
        let is_allowed = times.len() < asked.most as usize;
        if is_allowed {
            times.push(asked.at_ms);
        }
        is_allowed
    }

    /// When the first was asked for since then.
    fn analysis_asked(&self, by: PlayerId, since_ms: u64) -> Option<u64> {
        let times = self.asked.get(&by).into_iter().flatten().copied();
        times.filter(|at_ms| *at_ms > since_ms).min()
    }

    /// The rematch of a match.
    fn next(&self, id: MatchId) -> Option<RematchRecord> {
        let id = *self.nexts.get(&id)?;
        let code = self.matches.get(&id)?.record.creation.code;
        Some(RematchRecord { id, code })
    }

    /// The live matches that are not to be woken, in the order of their ids, which is that of their age.
    fn live(&self) -> impl Iterator<Item = &Kept> {
        let served = |kept: &&Kept| kept.is_live() && kept.wake_ms().is_none();
        self.matches.values().filter(served)
    }
}

impl Store for MemoryStore {
    fn create(
        &self,
        owner: NodeId,
        record: Record,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        future::ready(self.contents.lock().create(owner, record)).boxed()
    }

    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        let mut contents = self.contents.lock();
        future::ready(contents.keep(id, after, events, reminder)).boxed()
    }

    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<Loaded>, ReadError>> {
        let contents = self.contents.lock();
        let kept = contents.matches.get(&id);
        let loaded = kept.map(|kept| Loaded {
            changes: contents.ratings.changes_of(id),
            ..kept.loaded(contents.next(id))
        });
        future::ready(Ok(loaded)).boxed()
    }

    fn tail(
        &self,
        id: MatchId,
        after: JournalPosition,
    ) -> BoxFuture<'_, Result<Option<Tail>, ReadError>> {
        let contents = self.contents.lock();
        let tail = contents.matches.get(&id).and_then(|kept| kept.tail(after));
        future::ready(Ok(tail)).boxed()
    }

    fn by_code(&self, code: MatchCode) -> BoxFuture<'_, Result<Option<MatchId>, ReadError>> {
        future::ready(Ok(self.contents.lock().codes.get(&code).copied())).boxed()
    }

    fn unowned(&self, asking: NodeId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        let contents = self.contents.lock();
        let is_orphan = |owner| owner != asking && !contents.agreed.holds_lease(owner);
        let orphans = contents.live();
        let orphans = orphans.filter(|kept| kept.owner.is_none_or(is_orphan));
        future::ready(Ok(orphans.map(Kept::id).collect())).boxed()
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        if let Some(kept) = self.contents.lock().matches.get_mut(&id)
            && kept.is_live()
            && kept.owner != Some(owner)
        {
            kept.take(owner);
        }
        future::ready(Ok(())).boxed()
    }

    fn release(&self, id: MatchId) {
        if let Some(kept) = self.contents.lock().matches.get_mut(&id) {
            kept.release();
        }
    }

    fn live(&self, owner: NodeId) -> BoxFuture<'_, Result<Live, ReadError>> {
        let contents = self.contents.lock();
        // Those that are not to be woken have neither a rematch nor a reminder to be given.
        let own = contents.live().filter(|kept| kept.owner == Some(owner));
        let live: Vec<Loaded> = own.map(|kept| kept.loaded(None)).collect();
        let records = live.iter().map(|loaded| &loaded.record);
        let involved: HashSet<PlayerId> = records.flat_map(Record::involved).collect();
        let players = contents.people.players.values();
        let players = players.filter(|player| involved.contains(&player.id));
        future::ready(Ok(Live {
            players: players.cloned().collect(),
            matches: live.into_iter().map(Ok).collect(),
        }))
        .boxed()
    }

    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, MatchId)>, ReadError>> {
        let contents = self.contents.lock();
        let due = contents.due.range((Excluded(after), Unbounded));
        future::ready(Ok(due.take(limit).copied().collect())).boxed()
    }

    fn due_count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        future::ready(Ok(self.contents.lock().due.len() as u64)).boxed()
    }

    fn participations(
        &self,
        player: PlayerId,
    ) -> BoxFuture<'_, Result<Vec<(MatchId, Part)>, ReadError>> {
        let contents = self.contents.lock();
        let parts = contents.parts.get(&player).into_iter().flatten();
        future::ready(Ok(parts.map(|(id, part)| (*id, *part)).collect())).boxed()
    }

    fn history(
        &self,
        wanted: HistoryQuery,
    ) -> BoxFuture<'_, Result<Option<Vec<PastMatch>>, ReadError>> {
        future::ready(Ok(self.contents.lock().history(&wanted))).boxed()
    }

    fn results(
        &self,
        player: PlayerId,
        seen_by: PlayerId,
    ) -> BoxFuture<'_, Result<Results, ReadError>> {
        future::ready(Ok(self.contents.lock().results(player, seen_by))).boxed()
    }

    fn explore(
        &self,
        game: &'static str,
        line: String,
    ) -> BoxFuture<'_, Result<Explored, ReadError>> {
        future::ready(Ok(self.contents.lock().past.explore(game, &line))).boxed()
    }

    fn keep_analysis(
        &self,
        id: MatchId,
        analysis: KeptAnalysis,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        future::ready(Ok(self.contents.lock().keep_analysis(id, analysis))).boxed()
    }

    fn analysis(&self, id: MatchId) -> BoxFuture<'_, Result<Option<KeptAnalysis>, ReadError>> {
        future::ready(Ok(self.contents.lock().analyses.get(&id).cloned())).boxed()
    }

    fn ask_analysis(&self, asked: AnalysisAsked) -> BoxFuture<'_, Result<bool, WriteError>> {
        future::ready(Ok(self.contents.lock().ask_analysis(asked))).boxed()
    }

    fn analysis_asked(
        &self,
        by: PlayerId,
        since_ms: u64,
    ) -> BoxFuture<'_, Result<Option<u64>, ReadError>> {
        future::ready(Ok(self.contents.lock().analysis_asked(by, since_ms))).boxed()
    }

    fn rating_state(&self) -> BoxFuture<'_, Result<RatingState, ReadError>> {
        future::ready(Ok(self.contents.lock().ratings.state())).boxed()
    }

    fn ledger(
        &self,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, LedgerRow)>, ReadError>> {
        future::ready(Ok(self.contents.lock().ratings.ledger(after, limit))).boxed()
    }

    fn books(&self, fold: u64, needed: Needed) -> BoxFuture<'_, Result<Books, ReadError>> {
        future::ready(Ok(self.contents.lock().ratings.books(fold, &needed))).boxed()
    }

    fn posted(
        &self,
        after: u64,
        until: u64,
    ) -> BoxFuture<'_, Result<Vec<(u64, Posted)>, ReadError>> {
        future::ready(Ok(self.contents.lock().ratings.posted(after, until))).boxed()
    }

    fn ratings_after(
        &self,
        last: Option<RatingRecord>,
    ) -> BoxFuture<'_, Result<Vec<(RatingRecord, Rated)>, ReadError>> {
        future::ready(Ok(self.contents.lock().ratings.ratings_after(last))).boxed()
    }

    fn change_ratings(&self, change: RatingsChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        future::ready(Ok(self.contents.lock().ratings.change(change))).boxed()
    }

    fn ratings(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<PlayerRating>, ReadError>> {
        future::ready(Ok(self.contents.lock().ratings.ratings(player))).boxed()
    }

    fn leaders(&self, wanted: LeadersQuery) -> BoxFuture<'_, Result<LeadersPage, ReadError>> {
        let contents = self.contents.lock();
        let find = |player| {
            let found: Option<&PlayerRecord> = contents.people.players.get(&player);
            found
                .filter(|found| found.kind != PlayerKind::Guest)
                .cloned()
        };
        future::ready(Ok(contents.ratings.leaders(&wanted, find))).boxed()
    }

    fn rated_ban_until(&self, player: PlayerId) -> BoxFuture<'_, Result<u64, ReadError>> {
        future::ready(Ok(self.contents.lock().ratings.barred_until(player))).boxed()
    }

    fn changes_of(
        &self,
        id: MatchId,
    ) -> BoxFuture<'_, Result<Option<Vec<RatingChange>>, ReadError>> {
        future::ready(Ok(self.contents.lock().ratings.changes_of(id))).boxed()
    }

    fn add_player(
        &self,
        player: PlayerRecord,
        sessions: Vec<SessionRecord>,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        self.contents.lock().people.add(player, sessions);
        future::ready(Ok(())).boxed()
    }

    fn session(
        &self,
        token: TokenHash,
    ) -> BoxFuture<'_, Result<Option<(PlayerRecord, SessionRecord)>, ReadError>> {
        future::ready(Ok(self.contents.lock().people.session(token))).boxed()
    }

    fn sessions(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<SessionRecord>, ReadError>> {
        future::ready(Ok(self.contents.lock().people.sessions(player))).boxed()
    }

    fn change_identity(&self, change: PeopleChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        future::ready(Ok(self.contents.lock().change(change))).boxed()
    }

    fn pairing(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<Pairing>, ReadError>> {
        let found = self.contents.lock().people.pairing(code, now_ms);
        future::ready(Ok(found)).boxed()
    }

    fn recovered(&self, key: TokenHash) -> BoxFuture<'_, Result<Option<PlayerId>, ReadError>> {
        future::ready(Ok(self.contents.lock().people.recovered(key))).boxed()
    }

    fn named(
        &self,
        likeness: String,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<(PlayerId, bool)>, ReadError>> {
        let found = self.contents.lock().people.named(&likeness, now_ms);
        future::ready(Ok(found)).boxed()
    }

    fn blocks(&self, player: PlayerId) -> BoxFuture<'_, Result<Blocks, ReadError>> {
        future::ready(Ok(self.contents.lock().people.blocks(player))).boxed()
    }

    fn account(&self, player: PlayerId) -> BoxFuture<'_, Result<Option<Account>, ReadError>> {
        future::ready(Ok(self.contents.lock().people.account(player))).boxed()
    }

    fn has_recovery(&self, player: PlayerId) -> BoxFuture<'_, Result<bool, ReadError>> {
        future::ready(Ok(self.contents.lock().people.has_recovery(player))).boxed()
    }

    fn external(&self, name: String) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        future::ready(Ok(self.contents.lock().people.external(&name))).boxed()
    }

    fn pass(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<OneTimeToken>, ReadError>> {
        future::ready(Ok(self.contents.lock().people.pass(code, now_ms))).boxed()
    }

    fn player_by_id(&self, id: PlayerId) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        let player = self.contents.lock().people.players.get(&id).cloned();
        future::ready(Ok(player)).boxed()
    }

    fn is_healthy(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
