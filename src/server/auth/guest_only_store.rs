//! A store as a server sees it that has no accounts: whoever has one there is a guest here, and there are no names,
//! keys or ratings. What is written is written as ever, so with accounts again everything is as it was.

use std::sync::Arc;

use futures::future::{BoxFuture, ready};
use futures::{FutureExt, TryFutureExt};
use plyhouse_matches::ratings::{Books, LedgerRow, Posted, Rated, Record as RatingRecord};
use plyhouse_matches::{Creation, Event, EventKind, Occupant, Part, Reminder, SeatAtStart};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, PlayerKind, RatingChange, SessionKind};
use plyhouse_store::{
    Account, AnalysisAsked, Blocks, Explored, HistoryQuery, JournalPosition, KeptAnalysis,
    LeadersPage, LeadersQuery, Live, Loaded, Needed, NodeId, OneTimeToken, OrderId, Pairing,
    PastMatch, PeopleChange, PlayerRating, PlayerRecord, RatingState, RatingsChange, ReadError,
    Record, Results, SessionRecord, Store, Tail, TokenHash, WriteError,
};

/// The store, seen so.
#[derive(Debug)]
pub(crate) struct GuestOnlyStore(pub(crate) Arc<dyn Store>);

fn guest(player: PlayerRecord) -> PlayerRecord {
    PlayerRecord {
        kind: PlayerKind::Guest,
        ..player
    }
}

fn unrated(creation: &mut Creation) {
    let terms = &mut creation.terms;
    if terms.rated {
        // Who may watch it stays as it is.
        terms.watch = Some(terms.watch());
        terms.rated = false;
    }
}

fn of_guests(events: &mut [Event]) {
    for event in events {
        if let EventKind::Seated { occupant, .. } = &mut event.kind
            && let Occupant::Player { kind, rating, .. } | Occupant::StandIn { kind, rating, .. } =
                occupant
        {
            *kind = PlayerKind::Guest;
            *rating = None;
        }
    }
}

fn plain(mut loaded: Loaded) -> Loaded {
    let Record { creation, events } = &mut loaded.record;
    unrated(creation);
    of_guests(events);
    loaded.changes = None;
    loaded
}

fn past(mut found: PastMatch) -> PastMatch {
    unrated(&mut found.creation);
    for starter in &mut found.archived.seats {
        if let SeatAtStart::Player { kind, rating, .. } = starter {
            *kind = PlayerKind::Guest;
            *rating = None;
        }
    }
    found
}

impl Store for GuestOnlyStore {
    fn create(
        &self,
        owner: NodeId,
        record: Record,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        self.0.create(owner, record)
    }

    fn append_with_reminder(
        &self,
        id: MatchId,
        after: JournalPosition,
        events: Vec<Event>,
        reminder: Option<Reminder>,
    ) -> BoxFuture<'_, Result<JournalPosition, WriteError>> {
        self.0.append_with_reminder(id, after, events, reminder)
    }

    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<Loaded>, ReadError>> {
        let loaded = self.0.load(id);
        loaded.map_ok(|loaded| loaded.map(plain)).boxed()
    }

    fn tail(
        &self,
        id: MatchId,
        after: JournalPosition,
    ) -> BoxFuture<'_, Result<Option<Tail>, ReadError>> {
        let plain = |mut tail: Tail| {
            of_guests(&mut tail.events);
            tail
        };
        let tail = self.0.tail(id, after);
        tail.map_ok(move |tail| tail.map(plain)).boxed()
    }

    fn by_code(&self, code: MatchCode) -> BoxFuture<'_, Result<Option<MatchId>, ReadError>> {
        self.0.by_code(code)
    }

    fn unowned(&self, asking: NodeId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.0.unowned(asking)
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.0.claim(id, owner)
    }

    fn release(&self, id: MatchId) {
        self.0.release(id);
    }

    fn live(&self, owner: NodeId) -> BoxFuture<'_, Result<Live, ReadError>> {
        let all = |live: Live| Live {
            matches: (live.matches.into_iter())
                .map(|found| found.map(plain))
                .collect(),
            players: live.players.into_iter().map(guest).collect(),
        };
        self.0.live(owner).map_ok(all).boxed()
    }

    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, MatchId)>, ReadError>> {
        self.0.due_reminders(after, limit)
    }

    fn due_count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.0.due_count()
    }

    fn participations(
        &self,
        player: PlayerId,
    ) -> BoxFuture<'_, Result<Vec<(MatchId, Part)>, ReadError>> {
        self.0.participations(player)
    }

    fn history(
        &self,
        wanted: HistoryQuery,
    ) -> BoxFuture<'_, Result<Option<Vec<PastMatch>>, ReadError>> {
        let all = |found: Vec<PastMatch>| found.into_iter().map(past).collect();
        let found = self.0.history(wanted);
        found.map_ok(move |found| found.map(all)).boxed()
    }

    fn results(
        &self,
        player: PlayerId,
        seen_by: PlayerId,
    ) -> BoxFuture<'_, Result<Results, ReadError>> {
        self.0.results(player, seen_by)
    }

    fn explore(
        &self,
        game: &'static str,
        line: String,
    ) -> BoxFuture<'_, Result<Explored, ReadError>> {
        self.0.explore(game, line)
    }

    fn keep_analysis(
        &self,
        id: MatchId,
        analysis: KeptAnalysis,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.0.keep_analysis(id, analysis)
    }

    fn analysis(&self, id: MatchId) -> BoxFuture<'_, Result<Option<KeptAnalysis>, ReadError>> {
        self.0.analysis(id)
    }

    fn ask_analysis(&self, asked: AnalysisAsked) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.0.ask_analysis(asked)
    }

    fn analysis_asked(
        &self,
        by: PlayerId,
        since_ms: u64,
    ) -> BoxFuture<'_, Result<Option<u64>, ReadError>> {
        self.0.analysis_asked(by, since_ms)
    }

    fn rating_state(&self) -> BoxFuture<'_, Result<RatingState, ReadError>> {
        self.0.rating_state()
    }

    fn ledger(
        &self,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, LedgerRow)>, ReadError>> {
        self.0.ledger(after, limit)
    }

    fn books(&self, fold: u64, needed: Needed) -> BoxFuture<'_, Result<Books, ReadError>> {
        self.0.books(fold, needed)
    }

    fn posted(
        &self,
        after: u64,
        until: u64,
    ) -> BoxFuture<'_, Result<Vec<(u64, Posted)>, ReadError>> {
        self.0.posted(after, until)
    }

    fn ratings_after(
        &self,
        last: Option<RatingRecord>,
    ) -> BoxFuture<'_, Result<Vec<(RatingRecord, Rated)>, ReadError>> {
        self.0.ratings_after(last)
    }

    fn change_ratings(&self, change: RatingsChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.0.change_ratings(change)
    }

    fn ratings(&self, _player: PlayerId) -> BoxFuture<'_, Result<Vec<PlayerRating>, ReadError>> {
        ready(Ok(Vec::new())).boxed()
    }

    fn leaders(&self, _wanted: LeadersQuery) -> BoxFuture<'_, Result<LeadersPage, ReadError>> {
        ready(Ok(LeadersPage::default())).boxed()
    }

    fn rated_ban_until(&self, _player: PlayerId) -> BoxFuture<'_, Result<u64, ReadError>> {
        ready(Ok(0)).boxed()
    }

    fn changes_of(
        &self,
        _id: MatchId,
    ) -> BoxFuture<'_, Result<Option<Vec<RatingChange>>, ReadError>> {
        ready(Ok(None)).boxed()
    }

    fn add_player(
        &self,
        player: PlayerRecord,
        sessions: Vec<SessionRecord>,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        self.0.add_player(player, sessions)
    }

    fn session(
        &self,
        token: TokenHash,
    ) -> BoxFuture<'_, Result<Option<(PlayerRecord, SessionRecord)>, ReadError>> {
        let is_device =
            |(_, session): &(PlayerRecord, SessionRecord)| session.kind != SessionKind::Key;
        let known = self.0.session(token).map_ok(move |known| {
            let known = known.filter(is_device);
            known.map(|(player, session)| (guest(player), session))
        });
        known.boxed()
    }

    fn sessions(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<SessionRecord>, ReadError>> {
        let devices = |mut sessions: Vec<SessionRecord>| {
            sessions.retain(|session| session.kind != SessionKind::Key);
            sessions
        };
        self.0.sessions(player).map_ok(devices).boxed()
    }

    fn change_identity(&self, change: PeopleChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        match change {
            // No password is known here, so none is asked for.
            PeopleChange::RenewRecovery(player, key, _) => self
                .0
                .change_identity(PeopleChange::KeepRecovery(player, key)),
            change => self.0.change_identity(change),
        }
    }

    fn pairing(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<Pairing>, ReadError>> {
        self.0.pairing(code, now_ms)
    }

    fn recovered(&self, key: TokenHash) -> BoxFuture<'_, Result<Option<PlayerId>, ReadError>> {
        self.0.recovered(key)
    }

    fn has_recovery(&self, player: PlayerId) -> BoxFuture<'_, Result<bool, ReadError>> {
        self.0.has_recovery(player)
    }

    fn blocks(&self, player: PlayerId) -> BoxFuture<'_, Result<Blocks, ReadError>> {
        let all = |blocks: Blocks| Blocks {
            own: blocks.own.into_iter().map(guest).collect(),
            ..blocks
        };
        self.0.blocks(player).map_ok(all).boxed()
    }

    fn named(
        &self,
        _likeness: String,
        _now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<(PlayerId, bool)>, ReadError>> {
        ready(Ok(None)).boxed()
    }

    fn account(&self, _player: PlayerId) -> BoxFuture<'_, Result<Option<Account>, ReadError>> {
        ready(Ok(None)).boxed()
    }

    fn account_deletions(&self) -> BoxFuture<'_, Result<Vec<PlayerId>, ReadError>> {
        self.0.account_deletions()
    }

    fn pass(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<OneTimeToken>, ReadError>> {
        self.0.pass(code, now_ms)
    }

    fn takes_orders(&self) -> bool {
        self.0.takes_orders()
    }

    fn orders(&self) -> BoxFuture<'_, Result<Vec<(OrderId, String)>, ReadError>> {
        self.0.orders()
    }

    fn player_by_id(&self, id: PlayerId) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        let found = self.0.player_by_id(id);
        found.map_ok(|found| found.map(guest)).boxed()
    }

    fn is_healthy(&self) -> bool {
        self.0.is_healthy()
    }
}
