//! What is moved between SQLite and PostgreSQL.

use std::path::Path;

use plyhouse_matches::{EventKind, Match, Occupant, Previous, RequestId};
use plyhouse_protocol::{ClockControl, Reason};
use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::suite::{AT_MS, end, rated_end, rated_record, session};
use crate::{OneTimeToken, Side, SqliteArchive, SqliteStore, TokenHash, TransferError, transfer};

fn runtime() -> Runtime {
    let builder = Builder::new_current_thread().enable_all().build();
    builder.expect("a runtime")
}

fn sqlite(directory: &Path) -> Side {
    Side {
        store: Box::new(SqliteStore::open(directory, None).expect("it opens")),
        archive: Box::new(SqliteArchive::open(directory).expect("it opens")),
    }
}

fn postgres(runtime: &Runtime, address: &str) -> Side {
    let store = loop {
        // The database takes a moment to see that a connection has ended.
        match runtime.block_on(PostgresStore::open_alone(address, None)) {
            Ok(store) => break store,
            Err(error) => assert!(matches!(error, OpenPostgresError::InUse), "{error:?}"),
        }
    };
    Side {
        store: Box::new(store),
        archive: Box::new(PostgresArchive::open(address).expect("it opens")),
    }
}

/// A match of the first two players that has begun.
fn played(number: u128, clock: Option<ClockControl>) -> Record {
    let mut record = record(number, &player(1));
    record.creation.terms.clock = clock;
    let sits = |number: u8| Occupant::Player {
        id: player(number).id,
        name: player(number).name,
        kind: plyhouse_protocol::PlayerKind::Guest,
        rating: None,
    };
    record.events = Match::opening(&record.creation.terms, [sits(1), sits(2)], AT_MS);
    record
}

/// An invitation, a link for the first player, and a rated match that waits for its number.
async fn gives_passes_and_waits(store: &dyn Store) {
    for (number, whose) in [(71, None), (72, Some(player(1).id))] {
        let pass = OneTimeToken {
            player: whose,
            expires_ms: AT_MS + u64::from(number),
        };
        let code = TokenHash([number; 32]);
        assert_eq!(store.add_pass(code, pass, AT_MS, 9).await, Ok(true));
    }
    let delayed = Record {
        creation: plyhouse_matches::Creation {
            terms: plyhouse_matches::Terms {
                delay_ms: 60_000,
                ..rated_record(1107, [2, 1]).creation.terms
            },
            ..rated_record(1107, [2, 1]).creation
        },
        ..rated_record(1107, [2, 1])
    };
    let id = delayed.creation.id;
    let mark = store.create(OWNER, delayed).await.expect("written");
    let resigned = end(Some(Seat::First), Reason::Resignation);
    let events = rated_end(1107, &resigned, 5);
    store.append(id, mark, events).await.expect("written");
}

/// Has everything written that a store can keep: matches that have ended, one of which had the code of a
/// live one, a rematch, one of days, one that waits to be woken, and more than are moved at once.
async fn fill(store: &dyn Store) {
    for number in 1..=2 {
        let sessions = (0..number).map(|more| session(number + 10 * more, number));
        let added = store.add_player(player(number), sessions.collect()).await;
        added.expect("written");
        let key = TokenHash([number; 32]);
        let kept = store.keep_recovery(player(number).id, key).await;
        kept.expect("written");
    }
    suite::names_a_player(store).await;
    suite::gives_a_bot(store).await;
    suite::blocks_a_player(store).await;
    suite::forgets_a_player(store).await;
    gives_passes_and_waits(store).await;
    suite::keeps_an_analysis(store, 1108).await;
    let aborted = EventKind::ended(None, Reason::Aborted).at(AT_MS + 9);
    for number in 1..=300 {
        let mut written = record(number, &player(1));
        written.creation.code = record(number % 299, &player(1)).creation.code;
        let id = written.creation.id;
        let mark = store.create(OWNER, written).await.expect("written");
        if number % 3 == 1 {
            store
                .append(id, mark, vec![aborted.clone()])
                .await
                .expect("written");
        }
    }
    // Ends that were not written in the order of the matches.
    for number in [1105, 1104, 1106] {
        let rated = rated_record(number, [1, 2]);
        let id = rated.creation.id;
        let mark = store.create(OWNER, rated).await.expect("written");
        let end = end(Some(Seat::First), Reason::Resignation);
        let events = rated_end(number, &end, 5);
        store.append(id, mark, events).await.expect("written");
    }
    let mut rematch = record(1001, &player(1));
    rematch.creation.terms.previous = Some(Previous {
        id: MatchId(Uuid::from_u128(1)),
        game: 2,
        points: [1, 1],
    });
    store.create(OWNER, rematch).await.expect("written");
    let move_ms = 86_400_000;
    let days = played(1002, Some(ClockControl::Move { move_ms }));
    store.create(OWNER, days).await.expect("written");
    let quick = played(1003, None);
    let state = Match::replay(quick.creation.clone(), &quick.events).expect("sound");
    let resting = state.resting(AT_MS + 77, |_| Some(AT_MS + 5));
    let id = quick.creation.id;
    let mark = store.create(OWNER, quick).await.expect("written");
    store
        .append_with_reminder(id, mark, Vec::new(), Some(resting))
        .await
        .expect("written");
}

/// Everything comes from SQLite to PostgreSQL and back, and is the same as before.
#[test]
fn everything_is_moved_there_and_back() {
    let runtime = runtime();
    let Some(address) = runtime.block_on(database()) else {
        return;
    };
    let directories = [(); 2].map(|()| tempfile::tempdir().expect("a directory"));
    let first = sqlite(directories[0].path());
    runtime.block_on(fill(&*first.store));
    let middle = postgres(&runtime, &address);
    let [source, target] = transfer(&runtime, &first, &middle).expect("moved");
    assert_eq!(source, target);
    assert_eq!((source.matches, source.live, source.players), (308, 203, 4));

    // It goes on there: somebody takes a match over, and plays.
    let id = MatchId(Uuid::from_u128(1003));
    let node = NodeId(Uuid::from_u128(7));
    let played = runtime.block_on(async {
        let waits = middle
            .store
            .due_reminders((0, MatchId(Uuid::nil())), 9)
            .await;
        assert_eq!(waits.expect("readable").len(), 2);
        let parts = middle
            .store
            .participations(player(2).id)
            .await
            .expect("readable");
        assert_eq!(parts.len(), 2);
        middle.store.claim(id, node).await.expect("claimed");
        let mark = middle
            .store
            .load(id)
            .await
            .expect("readable")
            .expect("there")
            .mark;
        assert_eq!(mark.epoch(), 1);
        let mut end = EventKind::ended(None, Reason::Aborted).at(AT_MS + 80);
        end.request = Some(Box::new(RequestId(node.0, 1, 2)));
        middle.store.append(id, mark, vec![end]).await
    });
    played.expect("written");
    let last = sqlite(directories[1].path());
    let [source, target] = transfer(&runtime, &middle, &last).expect("moved");
    assert_eq!(source, target);
    assert_eq!((source.matches, source.live), (308, 202));
    let rows = runtime.block_on(last.store.ledger(0, 9)).expect("readable");
    let ids = rows.iter().map(|(_, row)| match row {
        LedgerRow::Game(game) => game.match_id.0.as_u128(),
        other => panic!("{other:?}"),
    });
    assert_eq!(ids.collect::<Vec<_>>(), [1105, 1104, 1106]);
    assert_eq!(last.archive.passes().expect("readable").len(), 2);
    let state = runtime.block_on(last.store.rating_state());
    let due_ms = state.expect("readable").due_ms;
    assert_eq!(due_ms, Some(AT_MS + 60_005), "it waits there, too");
    let rated = runtime.block_on(last.store.ratings(player(1).id));
    assert_eq!(rated.expect("readable")[0].rated.games, 3);
    let ended = last.archive.read(id).expect("sound").expect("there");
    assert_eq!(ended.ended_ms, Some(AT_MS as i64 + 80));

    // What is there is not overwritten.
    let again = transfer(&runtime, &first, &middle);
    let Err(TransferError::NotEmpty {
        matches: 308,
        players: 4,
    }) = again
    else {
        panic!("{again:?}")
    };
}

/// What is damaged is not moved.
#[test]
fn a_damaged_store_is_not_moved() {
    let runtime = runtime();
    let Some(address) = runtime.block_on(database()) else {
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let from = sqlite(directory.path());
    runtime.block_on(async {
        // Its host is not known.
        let written = record(1, &player(1));
        from.store.create(OWNER, written).await.expect("written");
    });
    let to = postgres(&runtime, &address);
    let moved = transfer(&runtime, &from, &to);
    let Err(TransferError::Unsound { .. }) = moved else {
        panic!("{moved:?}")
    };
    assert_eq!(to.archive.next(None).expect("readable"), None);
}
