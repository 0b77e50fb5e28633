//! Conformance tests that every store must pass.

mod account_deletion;
mod accounts;
mod analyses;
mod blocks;
mod cluster_directory;
pub(super) mod earlier_release_database;
mod history;
mod ratings;
mod reminders;

pub(super) use self::account_deletion::*;
pub(super) use self::accounts::*;
pub(super) use self::analyses::*;
pub(super) use self::blocks::*;
pub(super) use self::cluster_directory::*;
pub(super) use self::history::*;
pub(super) use self::ratings::*;
pub(super) use self::reminders::{
    loaded_match_has_its_reminder, reminder_is_stored_with_its_events,
};

use crate::IdentityChanges;
use uuid::Uuid;

use super::{
    JournalPosition, JournalTail, LiveMatches, LoadedMatch, MatchRecord, NodeId, Pairing,
    PlayerRecord, RematchRecord, SessionRecord, SessionSelection, Store, TokenHash, WriteError,
};
use plyhouse_engine::catalog;
use plyhouse_engine::game::Seat;
use plyhouse_engine::search::Level;
use plyhouse_matches::{Creation, Event, EventKind, Occupant, PreviousMatch, Terms};

use plyhouse_protocol::{
    EndReason, MatchCode, MatchId, PlayerId, PlayerKind, Seq, SessionId, SessionKind,
};

pub(super) fn player(number: u8) -> PlayerRecord {
    PlayerRecord {
        id: PlayerId(Uuid::from_u128(number.into())),
        name: format!("player {number} \u{2318}"),
        kind: PlayerKind::Guest,
    }
}

pub(super) fn session(number: u8, player_number: u8) -> SessionRecord {
    SessionRecord {
        token: TokenHash([number; 32]),
        id: SessionId(Uuid::from_u128(1000 - u128::from(number))),
        player: player(player_number).id,
        label: format!("device {number} \u{2318}"),
        kind: SessionKind::Cli,
        created_ms: AT_MS + u64::from(number),
        last_used_day: 20_000,
        from_recovery_key: false,
    }
}

/// Time at which the test matches are created, as Unix time in milliseconds.
pub(super) const AT_MS: u64 = 1_700_000_000_000;

/// Returns a new match whose host sits in the first seat.
pub(super) fn match_record(number: u128, host: &PlayerRecord) -> MatchRecord {
    MatchRecord {
        creation: Creation {
            id: MatchId(Uuid::from_u128(number)),
            code: MatchCode::from_number(u64::try_from(number).expect("fits")),
            game: &catalog::CATALOG[0],
            host: host.id,
            terms: Terms::with_defaults(number.is_multiple_of(2), 1500, u64::MAX - 5),
        },
        events: vec![
            EventKind::Seated {
                seat: Seat::First,
                occupant: Occupant::Player {
                    id: host.id,
                    name: host.name.clone(),
                    kind: PlayerKind::Guest,
                    rating: None,
                },
            }
            .at(AT_MS),
        ],
    }
}

pub(super) fn start_events() -> Vec<Event> {
    let occupant = Occupant::Bot(Level::Easy);
    let seat = Seat::Second;
    let seated = EventKind::Seated { seat, occupant };
    vec![seated.at(AT_MS + 1), EventKind::UNTIMED_START.at(AT_MS + 1)]
}

pub(super) fn move_event(seat: Seat, m: &str) -> Event {
    EventKind::untimed_move(seat, m.to_owned()).at(AT_MS + 2)
}

pub(super) const RESIGNATION: Event =
    EventKind::untimed_end(Some(Seat::Second), EndReason::Resignation).at(AT_MS + 3);

/// Server that owns the test matches by default.
pub(super) const OWNER_NODE: NodeId = NodeId(Uuid::from_u128(1));

/// Another server.
const OTHER_NODE: NodeId = NodeId(Uuid::from_u128(2));

fn is_same_record(a: &MatchRecord, b: &MatchRecord) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

/// Creates a match that player 1 hosts. Returns the id of the match and its journal position.
async fn create_match(store: &dyn Store, number: u128) -> (MatchId, JournalPosition) {
    store.add_player(player(1), vec![]).await.expect("written");
    let written = match_record(number, &player(1));
    let id = written.creation.id;
    (
        id,
        store.create(OWNER_NODE, written).await.expect("written"),
    )
}

pub(super) async fn written_events_are_loaded_in_order(store: &dyn Store) {
    let mut written = match_record(10, &player(1));
    written.creation.terms.initial_position = Some("x.o/.../...".to_owned());
    store.add_player(player(1), vec![]).await.expect("written");
    let id = written.creation.id;
    let created = store.create(OWNER_NODE, written.clone()).await;
    let mut position = created.expect("written");
    for events in [
        start_events(),
        vec![move_event(Seat::First, "b2")],
        vec![RESIGNATION],
    ] {
        let appended = store.append(id, position, events.clone()).await;
        position = appended.expect("written");
        written.events.extend(events);
        let read = store.load(id).await.expect("readable").expect("exists");
        assert!(
            is_same_record(&read.record, &written),
            "{read:?} is not {written:?}"
        );
        assert_eq!(read.position, position);
    }
    assert_eq!(position.seq(), Seq(5));
    let missing = store.load(MatchId(Uuid::from_u128(99))).await;
    assert!(missing.expect("readable").is_none());
    assert!(store.is_healthy());
}

/// A match has at most one rematch. Loading a match also returns the id and the code of its
/// rematch.
pub(super) async fn second_rematch_is_refused(store: &dyn Store) {
    let (id, position) = create_match(store, 30).await;
    let position = store
        .append(id, position, start_events())
        .await
        .expect("written");
    let ended = store.append(id, position, vec![RESIGNATION]).await;
    ended.expect("written");
    let rematch = |number| {
        let mut record = match_record(number, &player(1));
        record.creation.terms.previous = Some(PreviousMatch {
            id,
            game: 1,
            points: [2, 0],
        });
        record
    };
    let (first, code) = (MatchId(Uuid::from_u128(31)), rematch(31).creation.code);
    let position = store
        .create(OWNER_NODE, rematch(31))
        .await
        .expect("written");
    let second = store.create(OWNER_NODE, rematch(32)).await;
    assert_eq!(second, Err(WriteError::Conflict));
    let read = store.load(id).await.expect("readable").expect("exists");
    assert_eq!(read.rematch, Some(RematchRecord { id: first, code }));
    // A rematch may itself have a rematch.
    let mut third = rematch(33);
    third.creation.terms.previous = third.creation.terms.previous.map(|previous| PreviousMatch {
        id: first,
        ..previous
    });
    store
        .append(first, position, vec![RESIGNATION])
        .await
        .expect("written");
    store.create(OWNER_NODE, third).await.expect("written");
    let read = store.load(first).await.expect("readable").expect("exists");
    assert_eq!(
        read.rematch.map(|next| next.id),
        Some(MatchId(Uuid::from_u128(33)))
    );
}

pub(super) async fn append_at_wrong_position_is_refused(store: &dyn Store) {
    let (id, position) = create_match(store, 20).await;
    let wrong_positions = [
        JournalPosition::after_events(0),
        JournalPosition::after_events(2),
        // The store must refuse both positions, because the journal of this match contains neither.
        // The first position counts an entry that has no event. The second position counts a
        // takeover that did not happen.
        JournalPosition::new(2, Seq(1), 0),
        JournalPosition::new(1, Seq(1), 1),
    ];
    for after in wrong_positions {
        let conflict = store.append(id, after, start_events()).await;
        assert_eq!(conflict, Err(WriteError::Conflict), "{after:?}");
    }
    let missing = MatchId(Uuid::from_u128(21));
    let conflict = store
        .append(missing, JournalPosition::after_events(0), start_events())
        .await;
    assert_eq!(conflict, Err(WriteError::Conflict));
    let duplicate = store.create(OTHER_NODE, match_record(20, &player(1))).await;
    assert_eq!(duplicate, Err(WriteError::Conflict));
    let read = store.load(id).await.expect("readable").expect("exists");
    assert!(is_same_record(&read.record, &match_record(20, &player(1))));
    let next = store
        .append(id, position, start_events())
        .await
        .expect("written");
    let stale_append = store.append(id, position, start_events()).await;
    assert_eq!(
        stale_append,
        Err(WriteError::Conflict),
        "the position is outdated"
    );
    assert_ne!(next, position);
}

pub(super) async fn concurrent_appends_have_one_winner(store: &dyn Store) {
    const WRITERS: usize = 8;
    const ROUNDS: usize = 300;
    let (id, mut position) = create_match(store, 25).await;
    for round in 0..ROUNDS {
        let writers = (0..WRITERS).map(|writer| {
            let m = format!("{round} by {writer}");
            store.append(id, position, vec![move_event(Seat::First, &m)])
        });
        let (won, lost): (Vec<_>, Vec<_>) = futures::future::join_all(writers)
            .await
            .into_iter()
            .partition(Result::is_ok);
        assert_eq!(lost, [Err(WriteError::Conflict); WRITERS - 1], "{round}");
        position = won[0].expect("one append succeeds");
    }
    let read = store.load(id).await.expect("readable").expect("exists");
    assert_eq!(
        (read.position, read.record.events.len()),
        (position, 1 + ROUNDS)
    );
}

pub(super) async fn concurrent_writes_are_answered_one_by_one(store: &dyn Store) {
    store.add_player(player(1), vec![]).await.expect("written");
    let records: Vec<MatchRecord> = (100..200)
        .map(|number| match_record(number, &player(1)))
        .collect();
    let created = records.iter().cloned();
    let created = futures::future::join_all(created.map(|one| store.create(OWNER_NODE, one))).await;
    let appended = records.iter().zip(created).enumerate();
    let appended = appended.map(|(index, (one, position))| {
        let position = position.expect("written");
        let after = [position, JournalPosition::after_events(5)][index % 2];
        store.append(one.creation.id, after, start_events())
    });
    let appended = futures::future::join_all(appended).await;
    for (index, answer) in appended.into_iter().enumerate() {
        let expected = [
            Ok(JournalPosition::after_events(3)),
            Err(WriteError::Conflict),
        ][index % 2];
        assert_eq!(answer, expected, "{index}");
    }
}

pub(super) async fn tail_returns_events_after_position(store: &dyn Store) {
    let (id, first) = create_match(store, 50).await;
    let second = store
        .append(id, first, start_events())
        .await
        .expect("written");
    let moves = vec![
        move_event(Seat::First, "b2"),
        move_event(Seat::Second, "a1"),
    ];
    let third = store.append(id, second, moves.clone()).await;
    let third = third.expect("written");
    let all = [match_record(50, &player(1)).events, start_events(), moves].concat();
    for (after, known_events) in [
        (JournalPosition::after_events(0), 0),
        (first, 1),
        (second, 3),
        (third, 5),
    ] {
        let tail = store.tail(id, after).await.expect("readable");
        let events = all[known_events..].to_vec();
        let position = third;
        assert_eq!(tail, Some(JournalTail { events, position }), "{after:?}");
    }
    let missing = MatchId(Uuid::from_u128(51));
    for (id, after) in [
        (id, JournalPosition::after_events(6)),
        (id, JournalPosition::after_events(u64::MAX)),
        (id, JournalPosition::new(6, Seq(5), 0)),
        (id, JournalPosition::new(5, Seq(5), 1)),
        (missing, JournalPosition::after_events(0)),
    ] {
        let tail = store.tail(id, after).await.expect("readable");
        assert_eq!(tail, None, "{id} {after:?}");
    }
}

/// If a server does not know whether its append was written, the server reads the events that
/// follow the append's position. The server must be able to continue whether or not the append was
/// written.
pub(super) async fn append_with_unknown_outcome_is_resolved_by_tail(store: &dyn Store) {
    let (id, position) = create_match(store, 55).await;
    // Simulates two appends that fail with `OutcomeUnknown`. The first append was not written, and
    // the second append was written.
    let tail = store.tail(id, position).await.expect("readable");
    let (events, empty_tail) = (Vec::new(), tail.expect("exists"));
    assert_eq!(empty_tail, JournalTail { events, position });
    let _unknown = store.append(id, empty_tail.position, start_events()).await;
    let tail = store.tail(id, position).await.expect("readable");
    let tail = tail.expect("exists");
    assert_eq!(tail.events, start_events());
    let second_append = store.append(id, position, start_events()).await;
    assert_eq!(
        second_append,
        Err(WriteError::Conflict),
        "the append is not repeated"
    );
    let next_move = vec![move_event(Seat::First, "b2")];
    let appended = store.append(id, tail.position, next_move).await;
    assert_eq!(appended, Ok(JournalPosition::after_events(4)));
}

pub(super) async fn player_is_found_by_session_token_and_id(store: &dyn Store) {
    for number in [1, 2, 1] {
        let sessions = vec![session(number, number), session(number + 10, number)];
        let added = store.add_player(player(number), sessions).await;
        added.expect("written");
    }
    store.add_player(player(3), vec![]).await.expect("written");
    for number in [1, 2] {
        for session in [session(number, number), session(number + 10, number)] {
            let found = store.find_session(session.token).await.expect("readable");
            assert_eq!(found, Some((player(number), session)));
        }
        let found = store.player_by_id(player(number).id).await;
        assert_eq!(found.expect("readable"), Some(player(number)));
    }
    assert_eq!(session_numbers(store, 2).await, [2, 12]);
    assert_eq!(session_numbers(store, 3).await, [0; 0]);
    let missing = store
        .find_session(TokenHash([3; 32]))
        .await
        .expect("readable");
    assert_eq!(missing, None);
}

pub(super) async fn end_sessions_removes_selected_sessions_only(store: &dyn Store) {
    let first = vec![session(1, 1), session(2, 1)];
    store.add_player(player(1), first).await.expect("written");
    for _ in 0..2 {
        store.add_session(session(3, 1)).await.expect("written");
    }
    let other = vec![session(4, 2)];
    store.add_player(player(2), other).await.expect("written");
    let [first, second] = [1, 2].map(|number| session(number, 1).id);
    let end = async |player_number: u8, which| {
        let ended = store.end_sessions(player(player_number).id, which).await;
        ended.expect("written");
        session_numbers(store, 1).await
    };
    assert_eq!(
        end(2, SessionSelection::One(first)).await,
        [1, 2, 3],
        "session of another player"
    );
    for _ in 0..2 {
        assert_eq!(end(1, SessionSelection::One(first)).await, [2, 3]);
    }
    let ended = store
        .find_session(session(1, 1).token)
        .await
        .expect("readable");
    assert_eq!(ended, None);
    assert_eq!(end(1, SessionSelection::AllBut(second)).await, [2]);
    assert_eq!(end(1, SessionSelection::All).await, [0; 0]);
    assert_eq!(
        session_numbers(store, 2).await,
        [4],
        "sessions of other players remain"
    );
    let stored = store.player_by_id(player(1).id).await.expect("readable");
    assert_eq!(stored, Some(player(1)));
}

/// A player has at most one device pairing code. The code becomes void when the session that
/// created the code ends. It also becomes void when all other sessions of the player are ended.
pub(super) async fn pairing_code_is_used_once_before_it_expires(store: &dyn Store) {
    let offer = async |number: u8, player_number: u8, now_ms: u64| {
        let session = session(player_number, player_number);
        let added = store
            .add_player(player(player_number), vec![session.clone()])
            .await;
        added.expect("written");
        let pairing = Pairing {
            code: TokenHash([number; 32]),
            player: player(player_number).id,
            expires_ms: now_ms + 100,
        };
        let offered = store.offer_pairing(pairing, session.id, now_ms, 2).await;
        offered.expect("written").then_some(pairing)
    };
    let find = async |number: u8, now_ms| {
        let found = store.find_pairing(TokenHash([number; 32]), now_ms).await;
        found.expect("readable")
    };
    assert!(offer(1, 1, 1000).await.is_some());
    let second = offer(2, 1, 1000).await;
    assert_eq!(find(1, 1000).await, None, "replaced by the new pairing");
    assert_eq!(find(2, 1099).await, second);
    assert_eq!(find(2, 1100).await, None);
    assert!(offer(3, 2, 1000).await.is_some());
    assert_eq!(offer(4, 3, 1000).await, None, "limit of two");
    assert!(offer(5, 2, 1000).await.is_some(), "replaced");
    let take = |number, session_number| {
        store.take_pairing(TokenHash([number; 32]), session(session_number, 1))
    };
    let taken =
        futures::future::join_all((11..16).map(|session_number| take(2, session_number))).await;
    let taken = taken.into_iter().filter(|taken| *taken == Ok(true));
    assert_eq!(taken.count(), 1);
    assert_eq!(take(4, 16).await, Ok(false));
    let sessions = store.sessions(player(1).id).await.expect("readable");
    assert_eq!(sessions.len(), 2, "only the winner added a session");
    assert!(offer(6, 3, 1000).await.is_some());
    let last = offer(7, 4, 1100).await;
    assert!(last.is_some(), "expired pairings are not counted");
    let [own, other] = [4, 9].map(|number| session(number, 4).id);
    for (which, is_voided) in [
        (SessionSelection::One(other), false),
        (SessionSelection::One(own), true),
        (SessionSelection::AllBut(own), true),
    ] {
        let ended = store.end_sessions(player(4).id, which).await;
        ended.expect("written");
        let expected = last.filter(|_| !is_voided);
        assert_eq!(find(7, 1100).await, expected, "{which:?}");
        store.add_session(session(4, 4)).await.expect("written");
        assert_eq!(offer(7, 4, 1100).await, last);
    }
    let ended = store
        .end_sessions(player(4).id, SessionSelection::All)
        .await;
    ended.expect("written");
    let pairing = Pairing {
        code: TokenHash([8; 32]),
        player: player(4).id,
        expires_ms: 2000,
    };
    let offered = store
        .offer_pairing(pairing, session(4, 4).id, 1100, 2)
        .await;
    assert_eq!(offered, Ok(false), "offered by an ended session");
}

pub(super) async fn new_recovery_key_replaces_previous_one(store: &dyn Store) {
    let key = |number: u8| TokenHash([number; 32]);
    let key_owner = async |number: u8| {
        store
            .find_by_recovery_key(key(number))
            .await
            .expect("readable")
    };
    for (number, player_number) in [(1, 1), (2, 1), (3, 2)] {
        let added = store.add_player(player(player_number), vec![]).await;
        added.expect("written");
        let stored = store
            .store_recovery_key(player(player_number).id, key(number))
            .await;
        stored.expect("written");
    }
    assert_eq!(key_owner(1).await, None);
    assert_eq!(key_owner(2).await, Some(player(1).id));
    assert_eq!(key_owner(3).await, Some(player(2).id));
}

pub(super) async fn touch_session_stores_day_of_last_use(store: &dyn Store) {
    let sessions = vec![session(1, 1), session(2, 1)];
    store
        .add_player(player(1), sessions)
        .await
        .expect("written");
    for token in [session(1, 1).token, TokenHash([9; 32])] {
        let touched = store.touch_session(token, 20_001).await;
        touched.expect("written");
    }
    let days = store.sessions(player(1).id).await.expect("readable");
    let days: Vec<u64> = days.iter().map(|session| session.last_used_day).collect();
    assert_eq!(days, [20_001, 20_000]);
}

/// Returns the session numbers of a player. In these tests, each byte of a session's token hash is
/// the session number.
async fn session_numbers(store: &dyn Store, player_number: u8) -> Vec<u8> {
    let found = store
        .sessions(player(player_number).id)
        .await
        .expect("readable");
    found.iter().map(|session| session.token.0[0]).collect()
}

/// A server owns the live matches that it created or claimed. No server in this test has a lease,
/// so `unowned` returns all live matches of other servers.
pub(super) async fn live_matches_are_listed_by_owner(store: &dyn Store) {
    for number in 1..=4 {
        store
            .add_player(player(number), vec![])
            .await
            .expect("written");
    }
    for (number, host, owner) in [
        (32, 1, OTHER_NODE),
        (31, 2, OWNER_NODE),
        (34, 4, OTHER_NODE),
        (33, 3, OWNER_NODE),
    ] {
        let written = match_record(number, &player(host));
        store.create(owner, written).await.expect("written");
    }
    let ended = MatchId(Uuid::from_u128(33));
    let end = store
        .append(ended, JournalPosition::after_events(1), vec![RESIGNATION])
        .await;
    end.expect("written");
    assert_eq!(unowned_matches(store, OWNER_NODE).await, [32, 34]);
    assert_eq!(unowned_matches(store, OTHER_NODE).await, [31]);
    assert_eq!(
        live_matches(store, OTHER_NODE).await,
        ([32, 34].into(), vec![player(1), player(4)])
    );

    let claimed = MatchId(Uuid::from_u128(32));
    for _ in 0..2 {
        store.claim(claimed, OWNER_NODE).await.expect("claimed");
    }
    assert_eq!(unowned_matches(store, OWNER_NODE).await, [34]);
    assert_eq!(
        live_matches(store, OWNER_NODE).await,
        ([31, 32].into(), vec![player(1), player(2)])
    );
    let read = store
        .load(claimed)
        .await
        .expect("readable")
        .expect("exists");
    let appended = store.append(claimed, read.position, start_events()).await;
    appended.expect("append after a claim succeeds");

    // Claiming an ended or missing match has no effect.
    for missing in [ended, MatchId(Uuid::from_u128(35))] {
        store.claim(missing, OWNER_NODE).await.expect("claimed");
    }
    assert_eq!(live_matches(store, OWNER_NODE).await.0, [31, 32]);
}

async fn unowned_matches(store: &dyn Store, node: NodeId) -> Vec<u128> {
    let unowned = store.unowned(node).await.expect("readable");
    unowned.into_iter().map(|id| id.0.as_u128()).collect()
}

/// Returns the live matches that a server owns, by number, and the player records of these matches.
async fn live_matches(store: &dyn Store, owner: NodeId) -> (Vec<u128>, Vec<PlayerRecord>) {
    let LiveMatches {
        matches,
        mut players,
    } = store.load_live_matches(owner).await.expect("readable");
    let numbers = matches.iter().map(|one| {
        let LoadedMatch {
            record, position, ..
        } = one.as_ref().expect("not corrupt");
        assert_eq!(position.seq(), Seq(record.events.len() as u64));
        record.creation.id.0.as_u128()
    });
    players.sort_by_key(|player| player.id);
    (numbers.collect(), players)
}

/// Several ended matches and at most one live match may have the same code. A lookup by code must
/// find the newest match that has the given code.
pub(super) async fn match_code_is_unique_among_live_matches(store: &dyn Store) {
    let code = match_record(40, &player(1)).creation.code;
    assert_eq!(store.find_by_code(code).await.expect("readable"), None);
    let (first, position) = create_match(store, 40).await;
    let mut second = match_record(47, &player(1));
    second.creation.code = code;
    let refused = store.create(OWNER_NODE, second.clone()).await;
    assert_eq!(refused, Err(WriteError::CodeTaken));
    assert_eq!(
        store.find_by_code(code).await.expect("readable"),
        Some(first)
    );
    let missing = store.load(second.creation.id).await.expect("readable");
    assert!(missing.is_none(), "{missing:?}");
    let duplicate = store.create(OWNER_NODE, match_record(40, &player(1))).await;
    assert_eq!(
        duplicate,
        Err(WriteError::Conflict),
        "the id conflicts, not the code"
    );

    let ended = store.append(first, position, vec![RESIGNATION]).await;
    ended.expect("written");
    assert_eq!(
        store.find_by_code(code).await.expect("readable"),
        Some(first)
    );
    store
        .create(OWNER_NODE, second)
        .await
        .expect("the code is available");
    let found = store.find_by_code(code).await.expect("readable");
    assert_eq!(found, Some(MatchId(Uuid::from_u128(47))));
}

/// Generates all conformance tests for one store. The argument is an expression that returns the
/// store and a guard, which is dropped at the end of the test. The expression returns `None` if the
/// store is not available.
macro_rules! conformance_tests {
    ($make:expr) => {
        conformance_tests!($make; written_events_are_loaded_in_order, append_at_wrong_position_is_refused,
            concurrent_appends_have_one_winner, concurrent_writes_are_answered_one_by_one, tail_returns_events_after_position,
            append_with_unknown_outcome_is_resolved_by_tail, player_is_found_by_session_token_and_id, end_sessions_removes_selected_sessions_only, touch_session_stores_day_of_last_use,
            pairing_code_is_used_once_before_it_expires, new_recovery_key_replaces_previous_one,
            name_is_unique_and_reserved_after_rename, set_password_ends_other_sessions_except_keys, names_sharing_any_skeleton_conflict,
            block_is_visible_to_both_players, block_covers_bots_of_both_owners, block_above_limit_is_refused,
            only_guests_are_renamed_by_rename_guest, imported_account_is_stored_unchanged,
            renew_recovery_requires_valid_proof, owner_has_api_keys_and_bot_accounts,
            deleted_player_leaves_no_personal_data, deleted_player_cannot_enter_a_match, match_that_ends_after_deletion_is_filed_without_name, external_identity_has_one_account, one_time_token_is_used_once_before_it_expires,
            live_matches_are_listed_by_owner, match_code_is_unique_among_live_matches, second_rematch_is_refused,
            history_lists_ended_matches_of_a_player, private_matches_are_listed_only_for_their_players,
            openings_are_counted_once_for_all_symmetries, analysis_with_most_nodes_is_stored, analysis_requests_are_limited_per_player,
            reminder_is_stored_with_its_events,
            loaded_match_has_its_reminder,
            ended_rated_match_is_numbered, delayed_match_is_numbered_after_its_delay, concurrent_posts_rate_each_match_once,
            rebuild_gives_identical_ratings, excluded_matches_do_not_count, leaderboard_is_sorted_and_filtered,
            rating_series_has_one_point_per_day, repeated_abandonment_bans_from_rated_matches, posted_rating_state_is_loaded, copied_ledger_rows_keep_their_numbers);
    };
    ($make:expr; $($case:ident),+) => {
        $(
            #[tokio::test]
            async fn $case() {
                let Some((store, _guard)) = $make else { return };
                crate::conformance::$case(&store).await;
            }
        )+
    };
}
pub(super) use conformance_tests;
