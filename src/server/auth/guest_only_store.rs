//! Store wrapper for servers without accounts. It presents every player as a guest and hides name
//! ownership, API keys and ratings. The wrapped store keeps the hidden data, so the data reappears
//! when accounts are enabled again.

use std::sync::Arc;

use futures::future::ready;
use futures::{FutureExt, TryFutureExt};
use plyhouse_matches::{Creation, EventKind, Occupant, SeatAtStart};
use plyhouse_protocol::{PlayerKind, SessionKind};
use plyhouse_store::port_types::*;
use plyhouse_store::{
    ArchiveStore, CommandStore, IdentityStore, JournalStore, RatingStore, Store,
    delegate_archive_store, delegate_command_store, delegate_identity_store,
    delegate_journal_store, delegate_rating_store,
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
    delegate_journal_store!(
        self.0:
        create, append_with_reminder, append_end, find_by_code, unowned, claim, release,
        due_reminders, due_reminder_count, participations
    );

    fn load(&self, id: MatchId) -> ReadFuture<'_, Option<LoadedMatch>> {
        let loaded = self.0.load(id);
        loaded.map_ok(|loaded| loaded.map(to_guest_match)).boxed()
    }

    fn tail(&self, id: MatchId, after: JournalPosition) -> ReadFuture<'_, Option<JournalTail>> {
        let to_guest_tail = |mut tail: JournalTail| {
            make_guests(&mut tail.events);
            tail
        };
        let tail = self.0.tail(id, after);
        tail.map_ok(move |tail| tail.map(to_guest_tail)).boxed()
    }

    fn load_live_matches(&self, owner: NodeId) -> ReadFuture<'_, LiveMatches> {
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
}

impl IdentityStore for GuestOnlyStore {
    delegate_identity_store!(
        self.0:
        add_player, find_pairing, find_by_recovery_key, has_recovery_key, account_deletions,
        find_one_time_token
    );

    fn find_session(
        &self,
        token: TokenHash,
    ) -> ReadFuture<'_, Option<(PlayerRecord, SessionRecord)>> {
        let is_device_session =
            |(_, session): &(PlayerRecord, SessionRecord)| session.kind != SessionKind::Key;
        let session = self.0.find_session(token).map_ok(move |known| {
            let known = known.filter(is_device_session);
            known.map(|(player, session)| (to_guest(player), session))
        });
        session.boxed()
    }

    fn sessions(&self, player: PlayerId) -> ReadFuture<'_, Vec<SessionRecord>> {
        let device_sessions = |mut sessions: Vec<SessionRecord>| {
            sessions.retain(|session| session.kind != SessionKind::Key);
            sessions
        };
        self.0.sessions(player).map_ok(device_sessions).boxed()
    }

    fn change_identity(&self, change: IdentityChange) -> WriteFuture<'_, bool> {
        match change {
            // Without accounts there are no passwords, so the recovery key is renewed without a
            // password check.
            IdentityChange::RenewRecoveryKey(player, key, _) => self
                .0
                .change_identity(IdentityChange::StoreRecoveryKey(player, key)),
            change => self.0.change_identity(change),
        }
    }

    fn blocks(&self, player: PlayerId) -> ReadFuture<'_, Blocks> {
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
    ) -> ReadFuture<'_, Option<(PlayerId, bool)>> {
        ready(Ok(None)).boxed()
    }

    fn account(&self, _player: PlayerId) -> ReadFuture<'_, Option<Account>> {
        ready(Ok(None)).boxed()
    }

    fn player_by_id(&self, id: PlayerId) -> ReadFuture<'_, Option<PlayerRecord>> {
        let player = self.0.player_by_id(id);
        player.map_ok(|found| found.map(to_guest)).boxed()
    }
}

impl RatingStore for GuestOnlyStore {
    delegate_rating_store!(
        self.0:
        rating_progress, ledger, load_ratings_for, posted_updates, ratings_after, change_ratings
    );

    fn ratings(&self, _player: PlayerId) -> ReadFuture<'_, Vec<PlayerRating>> {
        ready(Ok(Vec::new())).boxed()
    }

    fn leaderboard(&self, _query: LeaderboardQuery) -> ReadFuture<'_, LeaderboardPage> {
        ready(Ok(LeaderboardPage::default())).boxed()
    }

    fn rated_ban_until(&self, _player: PlayerId) -> ReadFuture<'_, u64> {
        ready(Ok(0)).boxed()
    }

    fn changes_of_match(&self, _id: MatchId) -> ReadFuture<'_, Option<Vec<RatingChange>>> {
        ready(Ok(None)).boxed()
    }
}

impl ArchiveStore for GuestOnlyStore {
    delegate_archive_store!(
        self.0:
        results, explore, store_analysis, analysis, count_analysis_request,
        first_analysis_request_ms
    );

    fn history(&self, query: HistoryQuery) -> ReadFuture<'_, Option<Vec<PastMatch>>> {
        let to_guest_past_matches =
            |found: Vec<PastMatch>| found.into_iter().map(to_guest_past_match).collect();
        let past_matches = self.0.history(query);
        past_matches
            .map_ok(move |found| found.map(to_guest_past_matches))
            .boxed()
    }
}

impl CommandStore for GuestOnlyStore {
    delegate_command_store!(self.0);
}

impl Store for GuestOnlyStore {
    fn is_healthy(&self) -> bool {
        self.0.is_healthy()
    }
}
