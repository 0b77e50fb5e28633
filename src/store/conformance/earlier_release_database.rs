//! Checks a database that an earlier release wrote. The store must be able to read all tables and
//! all stored JSON. `tests/data/fixtures/README.md` describes the fixture files.

use std::collections::BTreeSet;

use plyhouse_matches::ratings::{AbortPenalties, LedgerRow, PairHistory};
use plyhouse_matches::{EndedMatchSummary, Event, EventKind, Terms};
use plyhouse_protocol::{
    EndDetail, EndReason, MatchId, MatchResult, PlayerId, PlayerKind, RatingPool, SessionKind,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    HistoryQuery, IdentityChanges, LeaderboardQuery, Opponent, PlayerRecord, RatingMismatch, Store,
    StoreInspector, TokenHash, name_skeleton, verify, verify_ratings,
};

/// Expected ids and hashes of a fixture. The script that created the fixture wrote these values to
/// a JSON file.
pub(crate) struct FixtureFacts(Value);

impl FixtureFacts {
    pub(crate) fn parse(text: &str) -> Self {
        Self(serde_json::from_str(text).expect("JSON"))
    }

    fn id(&self, pointer: &str) -> uuid::Uuid {
        let found = self.0.pointer(pointer).and_then(Value::as_str);
        let text = found.unwrap_or_else(|| panic!("{pointer} is missing"));
        text.parse().expect("an id")
    }

    pub(crate) fn player_id(&self, name: &str) -> PlayerId {
        PlayerId(self.id(&format!("/players/{name}/id")))
    }

    pub(crate) fn ended_match(&self, name: &str) -> MatchId {
        MatchId(self.id(&format!("/matches/{name}")))
    }

    pub(crate) fn live_match(&self, name: &str) -> MatchId {
        MatchId(self.id(&format!("/live/{name}")))
    }

    pub(crate) fn seeker_id(&self, name: &str) -> PlayerId {
        PlayerId(self.id(&format!("/seekers/{name}")))
    }

    /// Returns the hash of the token, key or code with this name.
    fn token_hash(&self, name: &str) -> TokenHash {
        let hex = self.0["hashes"][name].as_str().expect("a hash");
        let byte = |index: usize| u8::from_str_radix(&hex[2 * index..2 * index + 2], 16);
        TokenHash(std::array::from_fn(|place| {
            byte(place).expect("hexadecimal")
        }))
    }

    fn match_ids(&self, list: &str) -> impl Iterator<Item = MatchId> {
        let ids = self.0[list].as_object().expect("an object").values();
        ids.map(|id| MatchId(id.as_str().expect("text").parse().expect("an id")))
    }
}

/// Lists the names of all variants of an enum. If the enum gets a new variant, the code does not
/// compile until the variant is listed here. The tests then fail until a fixture contains the new
/// variant.
macro_rules! variants {
    ($all:ident, $name:ident, $type:ident: $($variant:ident),+) => {
        const $all: &[&str] = &[$(stringify!($variant)),+];

        fn $name(value: &$type) -> &'static str {
            match value {
                $($type::$variant { .. } => stringify!($variant)),+
            }
        }
    };
}

variants!(
    EVENTS,
    event_name,
    EventKind: Seated,
    Started,
    Moved,
    Offered,
    Declined,
    TakenBack,
    TimeGiven,
    Hinted,
    Ended
);
variants!(ROWS, row_name, LedgerRow: Game, PlayerExcluded, ServerStarted);

/// Checks that all matches are valid, and that they contain every kind of event and every end
/// reason.
pub(crate) fn check_every_event_kind_is_stored(archive: &dyn StoreInspector) {
    let mut faults = Vec::new();
    let summary = verify(archive, &mut |fault| faults.push(fault.to_string()));
    summary.expect("readable");
    assert_eq!(faults, [] as [&str; 0]);

    let (mut kinds, mut reasons, mut details) = (BTreeSet::new(), Vec::new(), Vec::new());
    let mut last = None;
    while let Some(id) = archive.next_match(last).expect("readable") {
        last = Some(id);
        let stored = archive
            .inspect_match(id)
            .expect("not corrupt")
            .expect("listed match exists");
        for event in &stored.record.events {
            kinds.insert(event_name(&event.kind));
            if let EventKind::Ended { reason, detail, .. } = &event.kind {
                reasons.push(*reason);
                details.extend(*detail);
            }
        }
    }
    assert_eq!(kinds, EVENTS.iter().copied().collect());
    for reason in EndReason::ALL {
        assert!(reasons.contains(reason), "no match ended by {reason:?}");
    }
    for detail in EndDetail::ALL {
        assert!(details.contains(detail), "no match ended by {detail:?}");
    }
}

/// Checks the players and the one-time tokens that the [`StoreInspector`] returns.
pub(crate) fn check_players(archive: &dyn StoreInspector, facts: &FixtureFacts) {
    let mut players = Vec::new();
    loop {
        let last = players
            .last()
            .map(|player: &crate::InspectedPlayer| player.player.id);
        match archive.players_after(last).expect("readable") {
            page if page.is_empty() => break,
            page => players.extend(page),
        }
    }
    let count = archive.player_count().expect("readable");
    assert_eq!(players.len() as u64, count);
    let find = |name| {
        let id = facts.player_id(name);
        let mut matching = players.iter().filter(|person| person.player.id == id);
        matching.next().expect("exists")
    };
    let ann = find("ann");
    assert_eq!(ann.recovery_key, Some(facts.token_hash("recovery")));
    assert_eq!(ann.blocks.len(), 1);
    assert!(
        ann.account
            .as_ref()
            .is_some_and(|account| account.password.is_some())
    );
    assert!(find("erik").is_deleted && !ann.is_deleted);
    let passes = archive.one_time_tokens().expect("readable");
    let invites = passes.iter().filter(|(_, pass)| pass.player.is_none());
    assert_eq!((passes.len(), invites.count()), (2, 1));
}

/// Players whose session tokens the fixture's JSON file contains. Each entry contains the name that
/// the JSON file uses for the player, the stored name, and the kind of the player.
const PLAYERS: [(&str, &str, PlayerKind); 6] = [
    ("ann", "ann", PlayerKind::Account),
    ("bob", "bobby", PlayerKind::Account),
    ("dora", "doris", PlayerKind::Account),
    ("cleo", "cleo", PlayerKind::Guest),
    ("lea", "lea", PlayerKind::Guest),
    ("annbot", "annbot", PlayerKind::Bot),
];

pub(crate) async fn check_sessions(store: &dyn Store, facts: &FixtureFacts) {
    for (name, stored_name, kind) in PLAYERS {
        let (id, token) = (facts.player_id(name), facts.token_hash(name));
        let expected = PlayerRecord {
            id,
            name: stored_name.to_owned(),
            kind,
        };
        let found = store.find_session(token).await.expect("readable");
        let (player, session) = found.expect("exists");
        assert_eq!((&player, session.token), (&expected, token), "{name}");
        assert!(session.created_ms > 0 && session.last_used_day > 0);
        let all = store.sessions(id).await.expect("readable");
        assert!(all.contains(&session), "{name}: {all:?}");
        let read = store.player_by_id(id).await.expect("readable");
        assert_eq!(read, Some(expected));
    }
    let ann = store
        .sessions(facts.player_id("ann"))
        .await
        .expect("readable");
    for kind in SessionKind::ALL {
        assert!(ann.iter().any(|session| session.kind == *kind), "{kind:?}");
    }
    let labels: Vec<&str> = ann.iter().map(|session| &*session.label).collect();
    for label in ["laptop", "phone", "tablet", "engine"] {
        assert!(labels.contains(&label), "{labels:?}");
    }
    let recovered = ann.iter().filter(|session| session.from_recovery_key);
    assert_eq!(recovered.count(), 1);
}

pub(crate) async fn check_accounts(store: &dyn Store, facts: &FixtureFacts) {
    let [ann, bob, annbot] = ["ann", "bob", "annbot"].map(|name| facts.player_id(name));
    let account = async |id| store.account(id).await.expect("readable").expect("exists");
    let of_ann = account(ann).await;
    let hash = of_ann.password.expect("password is set").0;
    assert!(hash.starts_with("$argon2id$"), "{hash}");
    let bots: Vec<PlayerId> = of_ann.bots.iter().map(|bot| bot.id).collect();
    assert_eq!((of_ann.renamed_ms, bots), (None, vec![annbot]));
    assert_eq!(account(annbot).await.owner, Some(ann));
    let of_bob = account(bob).await;
    assert!(of_bob.renamed_ms.is_some());
    assert!(
        of_bob
            .unique_names
            .iter()
            .any(|name| name.reserved_until_ms.is_some())
    );
    assert!(
        of_bob
            .unique_names
            .iter()
            .any(|name| name.reserved_until_ms.is_none())
    );
    for (name, is_current) in [("bob", false), ("bobby", true)] {
        let owner = store
            .find_by_name_skeleton(name_skeleton(name), 0)
            .await
            .expect("readable");
        assert_eq!(owner, Some((bob, is_current)), "{name}");
    }
    let external = store
        .find_external_identity("hal@example.org".to_owned())
        .await;
    let external = external.expect("readable").expect("exists");
    assert_eq!(external.id.0, facts.id("/external/player"));
    let of_external = account(external.id).await.external_name;
    assert_eq!(of_external.as_deref(), Some("hal@example.org"));

    let recovered = store
        .find_by_recovery_key(facts.token_hash("recovery"))
        .await;
    assert_eq!(recovered.expect("readable"), Some(ann));
    assert!(store.has_recovery_key(ann).await.expect("readable"));
    let pairing = store.find_pairing(facts.token_hash("pairing"), 0).await;
    assert_eq!(pairing.expect("readable").expect("exists").player, bob);
    let blocks = store.blocks(ann).await.expect("readable");
    let blocked: Vec<_> = blocks.blocked.iter().map(|player| player.id.0).collect();
    assert_eq!(blocked, [facts.id("/blocked")]);
}

/// Checks that the store still holds the operator commands and the unfinished account deletion.
pub(crate) async fn check_admin_tables(store: &dyn Store, facts: &FixtureFacts) {
    let orders = store.pending_commands().await.expect("readable");
    let bodies: Vec<Value> = (orders.iter())
        .map(|(_, body)| serde_json::from_str(body).expect("JSON"))
        .collect();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    assert_eq!(bodies[0]["do"], "invite");
    let (order, _) = orders[0];
    assert_eq!(store.claim_command(order).await, Ok(true));
    assert_eq!(store.pending_commands().await.expect("readable"), []);

    let deleted = PlayerId(facts.id("/deleted"));
    assert_eq!(store.player_by_id(deleted).await.expect("readable"), None);
    assert_eq!(
        store.account_deletions().await.expect("readable"),
        [deleted]
    );
    while store.remove_names(deleted).await.expect("written") {}
    assert_eq!(store.account_deletions().await.expect("readable"), []);
}

pub(crate) async fn check_matches(store: &dyn Store, facts: &FixtureFacts) {
    for (list, has_ended) in [("matches", true), ("live", false)] {
        for id in facts.match_ids(list) {
            let loaded = store.load(id).await.expect("readable").expect("exists");
            assert_eq!(loaded.record.creation.id, id);
            assert_eq!(loaded.record.has_ended(), has_ended, "{list} {id}");
            let tail = store.tail(id, loaded.position).await.expect("readable");
            assert_eq!(tail.expect("exists").events, []);
            let found = store.find_by_code(loaded.record.creation.code).await;
            assert!(found.expect("readable").is_some());
        }
    }
    let rematch = facts.ended_match("rematch");
    let previous = facts.ended_match("previous");
    let loaded = store
        .load(previous)
        .await
        .expect("readable")
        .expect("exists");
    assert_eq!(loaded.rematch.map(|next| next.id), Some(rematch));
    let analysed = store.analysis(facts.ended_match("rules")).await;
    assert_eq!(analysed.expect("readable").expect("exists").nodes, 100);
    let first_request_ms = store
        .first_analysis_request_ms(facts.player_id("ann"), 0)
        .await;
    assert!(first_request_ms.expect("readable").is_some());
}

/// Checks how players participate in live matches, and checks the wake times of these matches.
pub(crate) async fn check_reminders(store: &dyn Store, facts: &FixtureFacts) {
    let [correspondence, substituted, hibernated] =
        ["days", "stood-in", "dormant"].map(|name| facts.live_match(name));
    let participation = async |player, id| {
        let participations = store
            .participations(facts.player_id(player))
            .await
            .expect("readable");
        let found = participations
            .into_iter()
            .find(|(match_id, _)| *match_id == id);
        found.map(|(_, part)| part).expect("a participation")
    };
    let of_ann = participation("ann", correspondence).await;
    let turn = of_ann.correspondence_turn.expect("a correspondence match");
    assert_eq!(of_ann.seat.map(|seat| seat.number()), Some(0));
    assert!(turn.deadline_ms.is_some());
    assert_eq!(turn.turn, of_ann.seat);
    let of_bob = participation("bob", substituted).await;
    assert_eq!(of_bob.seat, None);
    assert_eq!(of_bob.substituted_seat.map(|seat| seat.number()), Some(1));
    let of_lea = participation("lea", hibernated).await;
    assert!(of_lea.absent_since_ms.is_some() && of_lea.correspondence_turn.is_none());

    let first = (0, MatchId(uuid::Uuid::nil()));
    let due = store.due_reminders(first, 100).await.expect("readable");
    assert_eq!(
        due.len() as u64,
        store.due_reminder_count().await.expect("readable")
    );
    let ids: Vec<MatchId> = due.iter().map(|(_, id)| *id).collect();
    assert!(
        ids.contains(&correspondence) && ids.contains(&hibernated),
        "{due:?}"
    );
}

pub(crate) async fn check_history(store: &dyn Store, facts: &FixtureFacts) {
    let [ann, bob, dora] = ["ann", "bob", "dora"].map(|name| facts.player_id(name));
    let history = async |query| {
        let found = store
            .history(query)
            .await
            .expect("readable")
            .expect("exists");
        found
            .into_iter()
            .map(|past| past.creation.id)
            .collect::<Vec<_>>()
    };
    let all = history(HistoryQuery::for_player(ann, 1000)).await;
    for name in ["timeout", "flag", "stand-in", "rules checkmate", "bot"] {
        assert!(all.contains(&facts.ended_match(name)), "{name}");
    }
    assert!(!all.contains(&facts.ended_match("not in the history")));
    let with = HistoryQuery {
        opponent: Some(Opponent::Player(dora)),
        game: Some("go"),
        result: Some(MatchResult::Lost),
        ..HistoryQuery::for_player(ann, 9)
    };
    assert_eq!(history(with).await, [facts.ended_match("rated over days")]);
    let private = HistoryQuery {
        viewer: dora,
        ..HistoryQuery::for_player(bob, 1000)
    };
    assert!(
        !history(private)
            .await
            .contains(&facts.ended_match("timeout"))
    );
    let own = store.results(ann, ann).await.expect("readable");
    assert_eq!(own.counts.values().sum::<u64>(), all.len() as u64);
    let others = store.results(ann, dora).await.expect("readable");
    assert!(others.counts.values().sum::<u64>() < all.len() as u64);
    let explored = store.explore("chess", String::new()).await;
    let explored = explored.expect("readable");
    assert!(explored.matches > 0 && explored.moves.iter().any(|(m, _)| m == "e2e4"));
}

pub(crate) async fn check_ratings(store: &dyn Store, facts: &FixtureFacts) {
    let mut differences = Vec::new();
    let mut collect = |found: RatingMismatch| differences.push(found.to_string());
    let verified = verify_ratings(store, &mut collect).await;
    let (rows, ratings) = verified.expect("readable");
    assert!(rows > 8 && ratings > 5, "{rows} rows, {ratings} ratings");
    assert_eq!(differences, [] as [&str; 0]);

    let ledger = store.ledger(0, 1000).await.expect("readable");
    let kinds: BTreeSet<&str> = ledger.iter().map(|(_, row)| row_name(row)).collect();
    assert_eq!(kinds, ROWS.iter().copied().collect());
    let state = store.rating_progress().await.expect("readable");
    assert_eq!(state.last_row, ledger.len() as u64);
    let unrated: Vec<PlayerId> = state.unrated.iter().map(|(player, _)| *player).collect();
    assert_eq!(unrated, [facts.player_id("erik")]);
    assert!(
        state.next_numbering_ms.is_some(),
        "a match is waiting for its ledger number"
    );
    let mut pools = BTreeSet::new();
    for name in ["ann", "annbot"] {
        for rating in store
            .ratings(facts.player_id(name))
            .await
            .expect("readable")
        {
            assert!(!rating.series.is_empty() && rating.rated.games > 0);
            pools.insert(rating.pool);
        }
    }
    assert_eq!(pools.len(), RatingPool::ALL.len());
    let changes = store.changes_of_match(facts.ended_match("rated")).await;
    assert_eq!(changes.expect("readable").map(|all| all.len()), Some(2));
    let farmed_changes = store.changes_of_match(facts.ended_match("farmed")).await;
    assert_eq!(farmed_changes.expect("readable"), Some(vec![]));
    let ban_until = store.rated_ban_until(facts.player_id("bob")).await;
    assert_eq!(ban_until.expect("readable"), 0);
    let query = LeaderboardQuery {
        game: "chess",
        pool: RatingPool::Live,
        now_ms: 0,
        after: 0,
        limit: 9,
    };
    store.leaderboard(query).await.expect("readable");
}

/// Parses and serializes stored JSON, and checks that it is unchanged. The order of the fields may
/// differ, because the store sorts the fields when it deletes a player.
pub(crate) fn check_text_round_trip(column: &str, text: &str) {
    fn round_trip<T: Serialize + DeserializeOwned>(text: &str) -> Value {
        let read: T = serde_json::from_str(text).unwrap_or_else(|why| panic!("{why}: {text}"));
        serde_json::to_value(&read).expect("serializable")
    }
    let written = match column {
        "matches.terms" => round_trip::<Terms>(text),
        "matches.summary" => round_trip::<EndedMatchSummary>(text),
        "events.event" => round_trip::<EventKind>(text),
        "journal.body" => round_trip::<Vec<Event>>(text),
        "ledger.body" | "ledger_waiting.body" => round_trip::<LedgerRow>(text),
        "rating_pairs.body" => round_trip::<PairHistory>(text),
        "conduct.body" => round_trip::<AbortPenalties>(text),
        other => panic!("unknown column {other}"),
    };
    let stored: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(written, stored, "{column}");
}
