//! Store wrapper for servers without accounts. It presents every player as a guest and hides name
//! ownership, API keys and ratings. The wrapped store keeps the hidden data, so the data reappears
//! when accounts are enabled again.

use std::sync::Arc;

use futures::future::{BoxFuture, ready};
use futures::{FutureExt, TryFutureExt};
use plyhouse_matches::ratings::{
    LedgerRow, PostOutcome, RatingEntry, RatingKey as RatingRecord, RatingState,
};
use plyhouse_matches::{
    Creation, Event, EventKind, Occupant, Participation, Reminder, SeatAtStart,
};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, PlayerKind, RatingChange, SessionKind};
use plyhouse_store::{
    Account, AnalysisQuotaRequest, ArchiveStore, Blocks, CommandId, CommandStore, HistoryQuery,
    IdentityChange, IdentityStore, JournalPosition, JournalStore, JournalTail, LeaderboardPage,
    LeaderboardQuery, LiveMatches, LoadedMatch, MatchRecord, NeededRatings, NodeId, OneTimeToken,
    OpeningStats, Pairing, PastMatch, PlayerRating, PlayerRecord, RatingProgress, RatingStore,
    RatingsChange, ReadError, ResultCounts, SessionRecord, Store, StoredAnalysis, TokenHash,
    WriteError,
};

/// Wraps a store and presents every player as a guest.
#[derive(Debug)]
pub(crate) struct GuestOnlyStore(pub(crate) Arc<dyn Store>);

fn to_guest(player: PlayerRecord) -> PlayerRecord {
    PlayerRecord {
        kind: PlayerKind::Guest,
        ..player
    }
}

fn make_unrated(creation: &mut Creation) {
    let terms = &mut creation.terms;
    if terms.rated {
        // If the terms set no spectator access, the default access depends on `terms.rated`. The
        // access that currently applies must therefore be stored before `terms.rated` changes.
        terms.spectator_access = Some(terms.spectator_access());
        terms.rated = false;
    }
}

fn make_guests(events: &mut [Event]) {
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

fn to_guest_match(mut loaded: LoadedMatch) -> LoadedMatch {
    let MatchRecord { creation, events } = &mut loaded.record;
    make_unrated(creation);
    make_guests(events);
    loaded.rating_changes = None;
    loaded
}

fn to_guest_past_match(mut past_match: PastMatch) -> PastMatch {
    make_unrated(&mut past_match.creation);
    for starter in &mut past_match.summary.seats {
        if let SeatAtStart::Player { kind, rating, .. } = starter {
            *kind = PlayerKind::Guest;
            *rating = None;
        }
    }
    past_match
}

impl JournalStore for GuestOnlyStore {
    fn create(
        &self,
        owner: NodeId,
        record: MatchRecord,
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

    fn load(&self, id: MatchId) -> BoxFuture<'_, Result<Option<LoadedMatch>, ReadError>> {
        let loaded = self.0.load(id);
        loaded.map_ok(|loaded| loaded.map(to_guest_match)).boxed()
    }

    fn tail(
        &self,
        id: MatchId,
        after: JournalPosition,
    ) -> BoxFuture<'_, Result<Option<JournalTail>, ReadError>> {
        let to_guest_tail = |mut tail: JournalTail| {
            make_guests(&mut tail.events);
            tail
        };
        let tail = self.0.tail(id, after);
        tail.map_ok(move |tail| tail.map(to_guest_tail)).boxed()
    }

    fn find_by_code(&self, code: MatchCode) -> BoxFuture<'_, Result<Option<MatchId>, ReadError>> {
        self.0.find_by_code(code)
    }

    fn unowned(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<MatchId>, ReadError>> {
        self.0.unowned(node)
    }

    fn claim(&self, id: MatchId, owner: NodeId) -> BoxFuture<'_, Result<(), WriteError>> {
        self.0.claim(id, owner)
    }

    fn release(&self, id: MatchId) {
        self.0.release(id);
    }

    fn load_live_matches(&self, owner: NodeId) -> BoxFuture<'_, Result<LiveMatches, ReadError>> {
        let to_guest_live_matches = |live: LiveMatches| LiveMatches {
            matches: (live.matches.into_iter())
                .map(|found| found.map(to_guest_match))
                .collect(),
            players: live.players.into_iter().map(to_guest).collect(),
        };
        self.0
            .load_live_matches(owner)
            .map_ok(to_guest_live_matches)
            .boxed()
    }

    fn due_reminders(
        &self,
        after: (u64, MatchId),
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, MatchId)>, ReadError>> {
        self.0.due_reminders(after, limit)
    }

    fn due_reminder_count(&self) -> BoxFuture<'_, Result<u64, ReadError>> {
        self.0.due_reminder_count()
    }

    fn participations(
        &self,
        player: PlayerId,
    ) -> BoxFuture<'_, Result<Vec<(MatchId, Participation)>, ReadError>> {
        self.0.participations(player)
    }
}

impl IdentityStore for GuestOnlyStore {
    fn add_player(
        &self,
        player: PlayerRecord,
        sessions: Vec<SessionRecord>,
    ) -> BoxFuture<'_, Result<(), WriteError>> {
        self.0.add_player(player, sessions)
    }

    fn find_session(
        &self,
        token: TokenHash,
    ) -> BoxFuture<'_, Result<Option<(PlayerRecord, SessionRecord)>, ReadError>> {
        let is_device_session =
            |(_, session): &(PlayerRecord, SessionRecord)| session.kind != SessionKind::Key;
        let session = self.0.find_session(token).map_ok(move |known| {
            let known = known.filter(is_device_session);
            known.map(|(player, session)| (to_guest(player), session))
        });
        session.boxed()
    }

    fn sessions(&self, player: PlayerId) -> BoxFuture<'_, Result<Vec<SessionRecord>, ReadError>> {
        let device_sessions = |mut sessions: Vec<SessionRecord>| {
            sessions.retain(|session| session.kind != SessionKind::Key);
            sessions
        };
        self.0.sessions(player).map_ok(device_sessions).boxed()
    }

    fn change_identity(&self, change: IdentityChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        match change {
            // Without accounts there are no passwords, so the recovery key is renewed without a
            // password check.
            IdentityChange::RenewRecoveryKey(player, key, _) => self
                .0
                .change_identity(IdentityChange::StoreRecoveryKey(player, key)),
            change => self.0.change_identity(change),
        }
    }

    fn find_pairing(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<Pairing>, ReadError>> {
        self.0.find_pairing(code, now_ms)
    }

    fn find_by_recovery_key(
        &self,
        key: TokenHash,
    ) -> BoxFuture<'_, Result<Option<PlayerId>, ReadError>> {
        self.0.find_by_recovery_key(key)
    }

    fn has_recovery_key(&self, player: PlayerId) -> BoxFuture<'_, Result<bool, ReadError>> {
        self.0.has_recovery_key(player)
    }

    fn blocks(&self, player: PlayerId) -> BoxFuture<'_, Result<Blocks, ReadError>> {
        let to_guest_blocks = |blocks: Blocks| Blocks {
            blocked: blocks.blocked.into_iter().map(to_guest).collect(),
            ..blocks
        };
        self.0.blocks(player).map_ok(to_guest_blocks).boxed()
    }

    fn find_by_name_skeleton(
        &self,
        _skeleton: String,
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

    fn find_one_time_token(
        &self,
        code: TokenHash,
        now_ms: u64,
    ) -> BoxFuture<'_, Result<Option<OneTimeToken>, ReadError>> {
        self.0.find_one_time_token(code, now_ms)
    }

    fn player_by_id(&self, id: PlayerId) -> BoxFuture<'_, Result<Option<PlayerRecord>, ReadError>> {
        let player = self.0.player_by_id(id);
        player.map_ok(|found| found.map(to_guest)).boxed()
    }
}

impl RatingStore for GuestOnlyStore {
    fn rating_progress(&self) -> BoxFuture<'_, Result<RatingProgress, ReadError>> {
        self.0.rating_progress()
    }

    fn ledger(
        &self,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<(u64, LedgerRow)>, ReadError>> {
        self.0.ledger(after, limit)
    }

    fn load_ratings_for(
        &self,
        fold: u64,
        needed: NeededRatings,
    ) -> BoxFuture<'_, Result<RatingState, ReadError>> {
        self.0.load_ratings_for(fold, needed)
    }

    fn posted_updates(
        &self,
        after: u64,
        until: u64,
    ) -> BoxFuture<'_, Result<Vec<(u64, PostOutcome)>, ReadError>> {
        self.0.posted_updates(after, until)
    }

    fn ratings_after(
        &self,
        last: Option<RatingRecord>,
    ) -> BoxFuture<'_, Result<Vec<(RatingRecord, RatingEntry)>, ReadError>> {
        self.0.ratings_after(last)
    }

    fn change_ratings(&self, change: RatingsChange) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.0.change_ratings(change)
    }

    fn ratings(&self, _player: PlayerId) -> BoxFuture<'_, Result<Vec<PlayerRating>, ReadError>> {
        ready(Ok(Vec::new())).boxed()
    }

    fn leaderboard(
        &self,
        _query: LeaderboardQuery,
    ) -> BoxFuture<'_, Result<LeaderboardPage, ReadError>> {
        ready(Ok(LeaderboardPage::default())).boxed()
    }

    fn rated_ban_until(&self, _player: PlayerId) -> BoxFuture<'_, Result<u64, ReadError>> {
        ready(Ok(0)).boxed()
    }

    fn changes_of_match(
        &self,
        _id: MatchId,
    ) -> BoxFuture<'_, Result<Option<Vec<RatingChange>>, ReadError>> {
        ready(Ok(None)).boxed()
    }
}

impl ArchiveStore for GuestOnlyStore {
    fn history(
        &self,
        query: HistoryQuery,
    ) -> BoxFuture<'_, Result<Option<Vec<PastMatch>>, ReadError>> {
        let to_guest_past_matches =
            |found: Vec<PastMatch>| found.into_iter().map(to_guest_past_match).collect();
        let past_matches = self.0.history(query);
        past_matches
            .map_ok(move |found| found.map(to_guest_past_matches))
            .boxed()
    }

    fn results(
        &self,
        player: PlayerId,
        viewer: PlayerId,
    ) -> BoxFuture<'_, Result<ResultCounts, ReadError>> {
        self.0.results(player, viewer)
    }

    fn explore(
        &self,
        game: &'static str,
        line: String,
    ) -> BoxFuture<'_, Result<OpeningStats, ReadError>> {
        self.0.explore(game, line)
    }

    fn store_analysis(
        &self,
        id: MatchId,
        analysis: StoredAnalysis,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.0.store_analysis(id, analysis)
    }

    fn analysis(&self, id: MatchId) -> BoxFuture<'_, Result<Option<StoredAnalysis>, ReadError>> {
        self.0.analysis(id)
    }

    fn count_analysis_request(
        &self,
        request: AnalysisQuotaRequest,
    ) -> BoxFuture<'_, Result<bool, WriteError>> {
        self.0.count_analysis_request(request)
    }

    fn first_analysis_request_ms(
        &self,
        player: PlayerId,
        since_ms: u64,
    ) -> BoxFuture<'_, Result<Option<u64>, ReadError>> {
        self.0.first_analysis_request_ms(player, since_ms)
    }
}

impl CommandStore for GuestOnlyStore {
    fn accepts_commands(&self) -> bool {
        self.0.accepts_commands()
    }

    fn pending_commands(&self) -> BoxFuture<'_, Result<Vec<(CommandId, String)>, ReadError>> {
        self.0.pending_commands()
    }
}

impl Store for GuestOnlyStore {
    fn is_healthy(&self) -> bool {
        self.0.is_healthy()
    }
}
