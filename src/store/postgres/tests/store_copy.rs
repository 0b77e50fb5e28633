//! Tests that copy a store between SQLite and PostgreSQL.

use plyhouse_matches::ratings::LedgerRow;
use std::path::Path;

use plyhouse_matches::{EventKind, GlobalRequestId, Match, Occupant, PreviousMatch};
use plyhouse_protocol::{ClockControl, EndReason};
use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::conformance::{AT_MS, end_event, rated_game_events, rated_record, session};
use crate::{
    CopyError, CopySide, IdentityChanges, OneTimeToken, SqliteInspector, SqliteStore, TokenHash,
    copy_store,
};

fn runtime() -> Runtime {
    let builder = Builder::new_current_thread().enable_all().build();
    builder.expect("a runtime")
}

fn sqlite_side(directory: &Path) -> CopySide {
    CopySide {
        store: Box::new(SqliteStore::open(directory, None).expect("opens")),
        inspector: Box::new(SqliteInspector::open(directory).expect("opens")),
    }
}

fn postgres_side(runtime: &Runtime, address: &str) -> CopySide {
    let store = loop {
        // The database needs a moment to detect a closed connection, so this function retries.
        match runtime.block_on(PostgresStore::open_exclusive(address, None)) {
            Ok(store) => break store,
            Err(error) => assert!(matches!(error, OpenPostgresError::InUse), "{error:?}"),
        }
    };
    CopySide {
        store: Box::new(store),
        inspector: Box::new(PostgresInspector::open(address).expect("opens")),
    }
}

/// Returns a match that has already begun. The first two test players are seated.
fn started_match(number: u128, clock: Option<ClockControl>) -> MatchRecord {
    let mut record = match_record(number, &player(1));
    record.creation.terms.clock = clock;
    let seated_player = |number: u8| Occupant::Player {
        id: player(number).id,
        name: player(number).name,
        kind: plyhouse_protocol::PlayerKind::Guest,
        rating: None,
    };
    record.events = Match::initial_events(
        &record.creation.terms,
        [seated_player(1), seated_player(2)],
        AT_MS,
    );
    record
}

/// Adds an invitation, a login token for the first player, and an ended rated match with a
/// spectator delay. Because of the spectator delay, the ledger row of this match has no number yet.
async fn add_tokens_and_delayed_match(store: &dyn Store) {
    for (number, player_id) in [(71, None), (72, Some(player(1).id))] {
        let token = OneTimeToken {
            player: player_id,
            expires_ms: AT_MS + u64::from(number),
        };
        let code = TokenHash([number; 32]);
        assert_eq!(
            store.add_one_time_token(code, token, AT_MS, 9).await,
            Ok(true)
        );
    }
    let delayed = MatchRecord {
        creation: plyhouse_matches::Creation {
            terms: plyhouse_matches::Terms {
                spectator_delay_ms: 60_000,
                ..rated_record(1107, [2, 1]).creation.terms
            },
            ..rated_record(1107, [2, 1]).creation
        },
        ..rated_record(1107, [2, 1])
    };
    let id = delayed.creation.id;
    let position = store.create(OWNER_NODE, delayed).await.expect("written");
    let resigned = end_event(Some(Seat::First), EndReason::Resignation);
    let events = rated_game_events(1107, &resigned, 5);
    store.append(id, position, events).await.expect("written");
}

/// Writes every kind of data that a store can hold, including:
///
/// - an ended match and a live match with the same code
/// - a rematch
/// - a correspondence match
/// - an unloaded match with a wake time
/// - more matches than one batch of the copy
async fn fill_store(store: &dyn Store) {
    for number in 1..=2 {
        let sessions = (0..number).map(|index| session(number + 10 * index, number));
        let added = store.add_player(player(number), sessions.collect()).await;
        added.expect("written");
        let key = TokenHash([number; 32]);
        let stored = store.store_recovery_key(player(number).id, key).await;
        stored.expect("written");
    }
    conformance::register_and_rename_player(store).await;
    conformance::add_bot(store).await;
    conformance::add_mutual_block(store).await;
    conformance::add_deleted_player(store).await;
    add_tokens_and_delayed_match(store).await;
    conformance::add_analysed_match(store, 1108).await;
    let aborted = EventKind::untimed_end(None, EndReason::Aborted).at(AT_MS + 9);
    for number in 1..=300 {
        let mut written = match_record(number, &player(1));
        written.creation.code = match_record(number % 299, &player(1)).creation.code;
        let id = written.creation.id;
        let position = store.create(OWNER_NODE, written).await.expect("written");
        if number % 3 == 1 {
            store
                .append(id, position, vec![aborted.clone()])
                .await
                .expect("written");
        }
    }
    // The next three matches end in an order that differs from the order of their ids.
    for number in [1105, 1104, 1106] {
        let rated = rated_record(number, [1, 2]);
        let id = rated.creation.id;
        let position = store.create(OWNER_NODE, rated).await.expect("written");
        let end = end_event(Some(Seat::First), EndReason::Resignation);
        let events = rated_game_events(number, &end, 5);
        store.append(id, position, events).await.expect("written");
    }
    let mut rematch = match_record(1001, &player(1));
    rematch.creation.terms.previous = Some(PreviousMatch {
        id: MatchId(Uuid::from_u128(1)),
        game: 2,
        points: [1, 1],
    });
    store.create(OWNER_NODE, rematch).await.expect("written");
    let move_ms = 86_400_000;
    let correspondence = started_match(1002, Some(ClockControl::Move { move_ms }));
    store
        .create(OWNER_NODE, correspondence)
        .await
        .expect("written");
    let quick = started_match(1003, None);
    let state = Match::replay(quick.creation.clone(), &quick.events).expect("not corrupt");
    let reminder = state.hibernation_reminder(AT_MS + 77, |_| Some(AT_MS + 5));
    let id = quick.creation.id;
    let position = store.create(OWNER_NODE, quick).await.expect("written");
    store
        .append_with_reminder(id, position, Vec::new(), Some(reminder))
        .await
        .expect("written");
}

/// Copies a store from SQLite to PostgreSQL and back.
#[test]
fn copied_store_round_trips_through_postgres() {
    let runtime = runtime();
    let Some(address) = runtime.block_on(create_database()) else {
        return;
    };
    let directories = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let first = sqlite_side(directories[0].path());
    runtime.block_on(fill_store(&*first.store));
    let middle = postgres_side(&runtime, &address);
    let [source, target] = copy_store(&runtime, &first, &middle).expect("copied");
    assert_eq!(source, target);
    assert_eq!((source.matches, source.live, source.players), (308, 203, 4));

    // Checks that a server can use the copied store: the server takes over a match and ends it.
    let id = MatchId(Uuid::from_u128(1003));
    let node = NodeId(Uuid::from_u128(7));
    let appended = runtime.block_on(async {
        let due = middle
            .store
            .due_reminders((0, MatchId(Uuid::nil())), 9)
            .await;
        assert_eq!(due.expect("readable").len(), 2);
        let participations = middle
            .store
            .participations(player(2).id)
            .await
            .expect("readable");
        assert_eq!(participations.len(), 2);
        middle.store.claim(id, node).await.expect("claimed");
        let position = middle
            .store
            .load(id)
            .await
            .expect("readable")
            .expect("exists")
            .position;
        assert_eq!(position.epoch(), 1);
        let mut end = EventKind::untimed_end(None, EndReason::Aborted).at(AT_MS + 80);
        end.request = Some(Box::new(GlobalRequestId(node.0, 1, 2)));
        middle.store.append(id, position, vec![end]).await
    });
    appended.expect("written");
    let last = sqlite_side(directories[1].path());
    let [source, target] = copy_store(&runtime, &middle, &last).expect("copied");
    assert_eq!(source, target);
    assert_eq!((source.matches, source.live), (308, 202));
    let rows = runtime.block_on(last.store.ledger(0, 9)).expect("readable");
    let ids = rows.iter().map(|(_, row)| match row {
        LedgerRow::Game(game) => game.match_id.0.as_u128(),
        other => panic!("{other:?}"),
    });
    assert_eq!(ids.collect::<Vec<_>>(), [1105, 1104, 1106]);
    assert_eq!(last.inspector.one_time_tokens().expect("readable").len(), 2);
    let state = runtime.block_on(last.store.rating_progress());
    let due_ms = state.expect("readable").next_numbering_ms;
    assert_eq!(due_ms, Some(AT_MS + 60_005), "the delayed match is copied");
    let rated = runtime.block_on(last.store.ratings(player(1).id));
    assert_eq!(rated.expect("readable")[0].rated.games, 3);
    let ended = last
        .inspector
        .inspect_match(id)
        .expect("not corrupt")
        .expect("exists");
    assert_eq!(ended.ended_ms, Some(AT_MS as i64 + 80));

    // Checks that a copy does not overwrite a store that already contains data.
    let second_copy = copy_store(&runtime, &first, &middle);
    let Err(CopyError::NotEmpty {
        matches: 308,
        players: 4,
    }) = second_copy
    else {
        panic!("{second_copy:?}")
    };
}

#[test]
fn corrupt_store_is_not_copied() {
    let runtime = runtime();
    let Some(address) = runtime.block_on(create_database()) else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let from = sqlite_side(directory.path());
    runtime.block_on(async {
        // This match is corrupt, because the store does not contain its host.
        let written = match_record(1, &player(1));
        from.store
            .create(OWNER_NODE, written)
            .await
            .expect("written");
    });
    let to = postgres_side(&runtime, &address);
    let copied = copy_store(&runtime, &from, &to);
    let Err(CopyError::SourceCorrupt { .. }) = copied else {
        panic!("{copied:?}")
    };
    assert_eq!(to.inspector.next_match(None).expect("readable"), None);
}
