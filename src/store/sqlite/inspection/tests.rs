use std::path::Path;

use rusqlite::config::DbConfig;
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::VerificationReport;
use crate::conformance::{AT_MS, OWNER_NODE, match_record, move_event, player, session};
use crate::records::match_record::event_from_text;
use crate::sqlite::SqliteStore;
use crate::{IdentityStore, JournalStore};
use plyhouse_engine::game::Seat;
use plyhouse_matches::EventKind;

const ANN: u8 = 1;
const BOB: u8 = 2;

/// Creates a match between Ann and Bob in which the given moves are played. `end` is the JSON of
/// the event that ends the match.
async fn write_match(store: &SqliteStore, number: u128, moves: &[&str], end: Option<&str>) {
    for number in [ANN, BOB] {
        let sessions = vec![session(number, number)];
        let added = store.add_player(player(number), sessions).await;
        added.expect("written");
    }
    let (new_match, bob) = (match_record(number, &player(ANN)), player(BOB));
    let id = new_match.creation.id;
    let position = store.create(OWNER_NODE, new_match).await.expect("written");
    let bob = format!(
        r#"{{"type":"seated","seat":1,"player":"{}","name":"bob"}}"#,
        bob.id
    );
    let at = |kind: EventKind| kind.at(AT_MS);
    let mut events = vec![at(event_from_text(&bob).expect("an event"))];
    events.push(at(EventKind::UNTIMED_START));
    events.extend((moves.iter().enumerate()).map(|(ply, m)| move_event(Seat::ALL[ply % 2], m)));
    events.extend(end.map(|text| at(event_from_text(text).expect("an event"))));
    store.append(id, position, events).await.expect("written");
}

const RESIGNED: &str = r#"{"type":"ended","winner":0,"reason":"resignation"}"#;
const WON: &str = r#"{"type":"ended","winner":0,"reason":"rules"}"#;
const DRAWN: &str = r#"{"type":"ended","winner":null,"reason":"rules"}"#;

/// Creates a store without faults. The store contains four matches, and the first match is live.
async fn create_sound_store(directory: &Path) -> SqliteStore {
    let store = SqliteStore::open(directory, None).expect("opens");
    write_match(&store, 1, &["b2", "a1"], None).await;
    write_match(&store, 2, &["b2"], Some(RESIGNED)).await;
    write_match(&store, 3, &["a1", "a2", "b1", "b2", "c1"], Some(WON)).await;
    let drawn = ["b2", "a1", "c1", "a3", "a2", "c2", "b1", "b3", "c3"];
    write_match(&store, 4, &drawn, Some(DRAWN)).await;
    store
}

fn verify(directory: &Path) -> (VerificationReport, Vec<String>) {
    let archive = SqliteInspector::open(directory).expect("opens");
    let mut faults = Vec::new();
    let summary = crate::verify(&archive, &mut |fault| faults.push(fault.to_string()));
    (summary.expect("matches are listed"), faults)
}

fn create_directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

#[tokio::test]
async fn verify_reports_no_faults_for_sound_store() {
    let directory = create_directory();
    let store = create_sound_store(directory.path()).await;
    let expected = VerificationReport {
        matches: 4,
        live: 1,
        ended: 3,
        events: 5 + 5 + 9 + 13,
        players: 2,
        faults: 0,
    };
    let with_open_store = verify(directory.path());
    drop(store);
    for (summary, faults) in [with_open_store, verify(directory.path())] {
        assert_eq!(faults, [""; 0]);
        assert_eq!(summary, expected);
    }
}

/// Each case corrupts the store with SQL statements. `verify` must report a fault that contains the
/// expected text.
#[tokio::test]
#[allow(clippy::too_many_lines, reason = "a list of damages")]
async fn verify_reports_every_corrupted_row() {
    let update_events =
        |number: u128, what: &str| format!("UPDATE events SET {what} AND match = x'{number:032x}'");
    let set_event = |number, seq: u64, text: &str| {
        update_events(number, &format!("event = '{text}' WHERE seq = {seq}"))
    };
    let update_match =
        |number: u128, what: &str| format!("UPDATE matches SET {what} WHERE id = x'{number:032x}'");
    let cases = [
        (set_event(1, 4, "{}"), "event 4: missing field"),
        (
            set_event(1, 2, r#"{"type":"nonsense"}"#),
            "event 2: unknown variant",
        ),
        (
            update_events(1, "seq = 7 WHERE seq = 5"),
            "found event 7 instead of event 5",
        ),
        (
            "DELETE FROM events WHERE seq = 1".to_owned(),
            "found event 2 instead of event 1",
        ),
        (
            update_match(1, "last_seq = 9"),
            "event count is 5, expected 9",
        ),
        (
            update_match(2, "last_seq = 4"),
            "event count is 5, expected 4",
        ),
        (update_match(1, "code = 'x'"), "invalid match code \"x\""),
        (update_match(1, "game = 'whist'"), "unknown game \"whist\""),
        (
            update_match(1, "terms = json_set(terms, '$.pace_ms', -1)"),
            "invalid match terms: invalid value: integer `-1`",
        ),
        (
            update_match(1, "terms = json_set(terms, '$.pace', 1)"),
            "invalid match terms: unknown field `pace`",
        ),
        (update_match(1, "host = x'00'"), "it cannot be read"),
        (
            update_match(1, "ended_ms = 5"),
            "it has not ended but is marked as ended",
        ),
        (
            update_match(2, "ended_ms = NULL"),
            "it has ended but is marked as live",
        ),
        // These cases have faulty moves: a move to an occupied square, a move out of turn, and a
        // move that is not in canonical notation.
        (
            set_event(1, 5, r#"{"type":"moved","seat":1,"move":"b2"}"#),
            "event 5 cannot follow the events before it",
        ),
        (
            set_event(1, 5, r#"{"type":"moved","seat":0,"move":"a1"}"#),
            "event 5 cannot follow the events before it",
        ),
        (
            set_event(1, 4, r#"{"type":"moved","seat":0,"move":"B2"}"#),
            "event 4",
        ),
        // These cases have faulty endings: results that contradict the board or the end reason, and
        // a missing end event.
        (
            set_event(3, 9, r#"{"type":"ended","winner":1,"reason":"rules"}"#),
            "event 9: expected Ended",
        ),
        (set_event(3, 9, RESIGNED), "event 9: expected Ended"),
        (set_event(4, 13, WON), "event 13: expected Ended"),
        (
            set_event(2, 5, WON),
            "event 5: the game is not over according to its rules",
        ),
        (
            set_event(
                2,
                5,
                r#"{"type":"ended","winner":null,"reason":"resignation"}"#,
            ),
            "event 5:",
        ),
        (
            set_event(2, 5, r#"{"type":"ended","winner":1,"reason":"aborted"}"#),
            "event 5:",
        ),
        (
            format!(
                "DELETE FROM events WHERE seq = 9 AND match = x'{:032x}';
                 UPDATE matches SET last_seq = 8, ended_ms = NULL WHERE id = x'{:032x}'",
                3, 3
            ),
            "the last event must be followed by Ended",
        ),
        // These cases have faulty seats: a full match that does not start, a seat that is taken
        // twice, and a player in both seats.
        (
            format!(
                "DELETE FROM events WHERE seq > 2 AND match = x'{:032x}';
                 UPDATE matches SET last_seq = 2 WHERE id = x'{:032x}'",
                1, 1
            ),
            "the last event must be followed by Started",
        ),
        (
            set_event(1, 2, r#"{"type":"seated","seat":0,"bot":"easy"}"#),
            "event 2: the seat is taken",
        ),
        (
            set_event(
                1,
                2,
                &format!(
                    r#"{{"type":"seated","seat":1,"player":"{}","name":"x"}}"#,
                    player(ANN).id
                ),
            ),
            "event 2: the player already has the other seat",
        ),
        // These cases have faulty references: missing players and matches, invalid ids and tokens,
        // and duplicate match codes.
        (
            update_match(1, "host = x'00000000000000000000000000000063'"),
            "rows in matches that refer to a missing row in players: 1",
        ),
        (
            update_match(1, "host = x'00000000000000000000000000000063'"),
            "000000000063 does not exist",
        ),
        (
            format!("DELETE FROM players WHERE id = x'{BOB:032x}'"),
            "000000000002 does not exist",
        ),
        (
            "UPDATE sessions SET token = x'00' WHERE label LIKE '%1%'".to_owned(),
            "sessions with an invalid id or token: 1",
        ),
        (
            "DELETE FROM matches WHERE last_seq = 13".to_owned(),
            "rows in events that refer to a missing row in matches: 13",
        ),
        (
            "UPDATE matches SET id = x'07' WHERE last_seq = 13".to_owned(),
            "matches with an invalid id: 1",
        ),
        (
            "UPDATE matches SET ended_ms = NULL, code = '222222'".to_owned(),
            "live matches with a duplicate code: 3",
        ),
    ];
    for (damage, expected) in cases {
        let directory = create_directory();
        drop(create_sound_store(directory.path()).await);
        let database = Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
        // Foreign keys are disabled, because SQLite would otherwise reject some of the changes.
        database
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false)
            .expect("set");
        database.execute_batch(&damage).expect(&damage);
        drop(database);
        let (summary, faults) = verify(directory.path());
        assert!(
            faults.iter().any(|fault| fault.contains(expected)),
            "{damage}: {faults:#?}"
        );
        assert_eq!(summary.faults, faults.len() as u64);
    }
}

#[tokio::test]
async fn verify_detects_overwritten_pages() {
    let directory = create_directory();
    drop(create_sound_store(directory.path()).await);
    let path = directory.path().join(DATABASE_FILE);
    let contents = std::fs::read(&path).expect("readable");
    let mut found = 0;
    let pages = contents.len() / 4096;
    for page in 1..pages {
        let mut bytes = contents.clone();
        bytes[page * 4096..][..64].fill(0xa5);
        std::fs::write(&path, bytes).expect("written");
        let archive = SqliteInspector::open(directory.path());
        let summary = archive.map(|archive| crate::verify(&archive, &mut |_| {}));
        found += usize::from(!matches!(
            summary,
            Ok(Ok(VerificationReport { faults: 0, .. }))
        ));
    }
    assert!(pages > 5, "only {pages} pages");
    // An unused page contains no data, so `verify` need not notice its corruption.
    std::fs::write(&path, contents).expect("written");
    let database = Connection::open(path).expect("opens");
    let unused = database.pragma_query_value(None, "freelist_count", |row| row.get::<_, usize>(0));
    let used_pages = pages - 1 - unused.expect("readable");
    assert!(found >= used_pages, "{found} of {used_pages}");
}

/// The test copies the files while the store is open, so the copies are in the state that a crash
/// would leave.
#[tokio::test]
async fn inspector_reads_log_without_changing_it() {
    let (crashed, directory) = (create_directory(), create_directory());
    let store = create_sound_store(directory.path()).await;
    for file in [DATABASE_FILE, "plyhouse.db-wal"] {
        std::fs::copy(directory.path().join(file), crashed.path().join(file)).expect("copied");
    }
    drop(store);
    let read = |file: &str| std::fs::read(crashed.path().join(file)).expect("readable");
    let before = (read(DATABASE_FILE), read("plyhouse.db-wal"));
    let (summary, faults) = verify(crashed.path());
    assert_eq!((summary.matches, faults.len()), (4, 0));
    assert!(
        before == (read(DATABASE_FILE), read("plyhouse.db-wal")),
        "the files were changed"
    );
    let store = SqliteStore::open(crashed.path(), None).expect("opens");
    assert_eq!(store.unowned(OWNER_NODE).await.expect("readable").len(), 1);
}

#[tokio::test]
async fn inspected_match_serializes_to_json() {
    let directory = create_directory();
    let _store = create_sound_store(directory.path()).await;
    let archive = SqliteInspector::open(directory.path()).expect("opens");
    let second = archive.find_match(MatchRef::Id(MatchId(Uuid::from_u128(2))));
    let id = second.expect("readable").expect("exists");
    let inspected = archive
        .inspect_match(id)
        .expect("not corrupt")
        .expect("exists");
    let json = serde_json::to_value(&inspected).expect("JSON");
    let (ann, bob) = (player(ANN), player(BOB));
    let expected = serde_json::json!({
        "id": id, "code": inspected.record.creation.code.to_string(),
        "game": "tic-tac-toe", "host": ann.id, "listed": true, "rated": false, "pace_ms": 1500,
        "seed": (u64::MAX - 5).to_string(), "created_ms": null, "ended_ms": AT_MS,
        "players": [{"id": ann.id, "name": ann.name}, {"id": bob.id, "name": bob.name}],
        "events": [
            {"seq": 1, "at_ms": AT_MS, "type": "seated", "seat": 0, "player": ann.id, "name": ann.name},
            {"seq": 2, "at_ms": AT_MS, "type": "seated", "seat": 1, "player": bob.id, "name": "bob"},
            {"seq": 3, "at_ms": AT_MS, "type": "started"},
            {"seq": 4, "at_ms": AT_MS + 2, "type": "moved", "seat": 0, "move": "b2"},
            {"seq": 5, "at_ms": AT_MS, "type": "ended", "winner": 0, "reason": "resignation"},
        ],
    });
    assert_eq!(json, expected);
}

#[tokio::test]
async fn inspector_refuses_missing_old_and_new_stores() {
    let directory = create_directory();
    let missing = SqliteInspector::open(directory.path());
    assert!(matches!(missing, Err(OpenError::NoStore(_))), "{missing:?}");
    assert_eq!(
        std::fs::read_dir(directory.path()).expect("exists").count(),
        0
    );
    drop(SqliteStore::open(directory.path(), None).expect("opens"));
    let database = Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
    for (version, is_late) in [(0, false), (1_000, true)] {
        database
            .pragma_update(None, "user_version", version)
            .expect("written");
        match SqliteInspector::open(directory.path()) {
            Err(OpenError::TooNew(_)) if is_late => {}
            Err(OpenError::TooOld(_)) if !is_late => {}
            other => panic!("{version}: {other:?}"),
        }
    }
}
