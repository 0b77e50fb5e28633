use std::path::Path;

use rusqlite::config::DbConfig;
use tempfile::TempDir;

use super::*;
use crate::Store;
use crate::Summary;
use crate::conformance::{AT_MS, OWNER_NODE, match_record, move_event, player, session};
use crate::record::event_from_text;
use crate::sqlite::SqliteStore;
use plyhouse_engine::game::Seat;
use plyhouse_matches::EventKind;

const ANN: u8 = 1;
const BOB: u8 = 2;

/// Writes a match of Ann and Bob with these events after they have sat down, as texts.
async fn write(store: &SqliteStore, number: u128, moves: &[&str], end: Option<&str>) {
    for number in [ANN, BOB] {
        let sessions = vec![session(number, number)];
        let added = store.add_player(player(number), sessions).await;
        added.expect("written");
    }
    let (created, bob) = (match_record(number, &player(ANN)), player(BOB));
    let id = created.creation.id;
    let mark = store.create(OWNER_NODE, created).await.expect("written");
    let bob = format!(
        r#"{{"type":"seated","seat":1,"player":"{}","name":"bob"}}"#,
        bob.id
    );
    let at = |kind: EventKind| kind.at(AT_MS);
    let mut events = vec![at(event_from_text(&bob).expect("an event"))];
    events.push(at(EventKind::STARTED));
    events.extend((moves.iter().enumerate()).map(|(ply, m)| move_event(Seat::ALL[ply % 2], m)));
    events.extend(end.map(|text| at(event_from_text(text).expect("an event"))));
    store.append(id, mark, events).await.expect("written");
}

const RESIGNED: &str = r#"{"type":"ended","winner":0,"reason":"resignation"}"#;
const WON: &str = r#"{"type":"ended","winner":0,"reason":"rules"}"#;
const DRAWN: &str = r#"{"type":"ended","winner":null,"reason":"rules"}"#;

/// A sound store: four matches, the first of them live.
async fn sound(directory: &Path) -> SqliteStore {
    let store = SqliteStore::open(directory, None).expect("it opens");
    write(&store, 1, &["b2", "a1"], None).await;
    write(&store, 2, &["b2"], Some(RESIGNED)).await;
    write(&store, 3, &["a1", "a2", "b1", "b2", "c1"], Some(WON)).await;
    let drawn = ["b2", "a1", "c1", "a3", "a2", "c2", "b1", "b3", "c3"];
    write(&store, 4, &drawn, Some(DRAWN)).await;
    store
}

fn verify(directory: &Path) -> (Summary, Vec<String>) {
    let archive = SqliteArchive::open(directory).expect("it opens");
    let mut told = Vec::new();
    let summary = crate::verify(&archive, &mut |fault| told.push(fault.to_string()));
    (summary.expect("the matches can be listed"), told)
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

#[tokio::test]
async fn a_sound_store_passes() {
    let directory = directory();
    let store = sound(directory.path()).await;
    let expected = Summary {
        matches: 4,
        live: 1,
        ended: 3,
        events: 5 + 5 + 9 + 13,
        players: 2,
        faults: 0,
    };
    let with_a_server = verify(directory.path());
    drop(store);
    for (summary, told) in [with_a_server, verify(directory.path())] {
        assert_eq!(told, [""; 0]);
        assert_eq!(summary, expected);
    }
}

/// Every damage that is planted is found, and told of the match that has it.
#[tokio::test]
#[allow(clippy::too_many_lines, reason = "a list of damages")]
async fn planted_damages_are_found() {
    let of =
        |number: u128, what: &str| format!("UPDATE events SET {what} AND match = x'{number:032x}'");
    let event =
        |number, seq: u64, text: &str| of(number, &format!("event = '{text}' WHERE seq = {seq}"));
    let of_match =
        |number: u128, what: &str| format!("UPDATE matches SET {what} WHERE id = x'{number:032x}'");
    let cases = [
        (event(1, 4, "{}"), "event 4: missing field"),
        (
            event(1, 2, r#"{"type":"nonsense"}"#),
            "event 2: unknown variant",
        ),
        (
            of(1, "seq = 7 WHERE seq = 5"),
            "event 7 is there in place of 5",
        ),
        (
            "DELETE FROM events WHERE seq = 1".to_owned(),
            "event 2 is there in place of 1",
        ),
        (of_match(1, "last_seq = 9"), "5 events are there, not 9"),
        (of_match(2, "last_seq = 4"), "5 events are there, not 4"),
        (of_match(1, "code = 'x'"), "\"x\" is no code"),
        (of_match(1, "game = 'whist'"), "there is no game \"whist\""),
        (
            of_match(1, "terms = json_set(terms, '$.pace_ms', -1)"),
            "its terms: invalid value: integer `-1`",
        ),
        (
            of_match(1, "terms = json_set(terms, '$.pace', 1)"),
            "its terms: unknown field `pace`",
        ),
        (of_match(1, "host = x'00'"), "it cannot be read"),
        (
            of_match(1, "ended_ms = 5"),
            "it has not ended and is marked as ended",
        ),
        (
            of_match(2, "ended_ms = NULL"),
            "it has ended and is marked as live",
        ),
        // The same square twice, and a move out of turn.
        (
            event(1, 5, r#"{"type":"moved","seat":1,"move":"b2"}"#),
            "event 5 cannot have happened",
        ),
        (
            event(1, 5, r#"{"type":"moved","seat":0,"move":"a1"}"#),
            "event 5 cannot have happened",
        ),
        (
            event(1, 4, r#"{"type":"moved","seat":0,"move":"B2"}"#),
            "event 4",
        ),
        // Another result than that of the board, one before the board says so, and none at all.
        (
            event(3, 9, r#"{"type":"ended","winner":1,"reason":"rules"}"#),
            "event 9 is Ended",
        ),
        (event(3, 9, RESIGNED), "but must be Ended"),
        (event(4, 13, WON), "event 13 is Ended"),
        (event(2, 5, WON), "event 5: by the rules it is not over"),
        (
            event(
                2,
                5,
                r#"{"type":"ended","winner":null,"reason":"resignation"}"#,
            ),
            "event 5:",
        ),
        (
            event(2, 5, r#"{"type":"ended","winner":1,"reason":"aborted"}"#),
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
        // A match that has all its players and does not begin; one where a player has both seats.
        (
            format!(
                "DELETE FROM events WHERE seq > 2 AND match = x'{:032x}';
                 UPDATE matches SET last_seq = 2 WHERE id = x'{:032x}'",
                1, 1
            ),
            "the last event must be followed by Started",
        ),
        (
            event(1, 2, r#"{"type":"seated","seat":0,"bot":"easy"}"#),
            "event 2: the seat is taken",
        ),
        (
            event(
                1,
                2,
                &format!(
                    r#"{{"type":"seated","seat":1,"player":"{}","name":"x"}}"#,
                    player(ANN).id
                ),
            ),
            "event 2: the player has the other seat",
        ),
        // Who is not known: the host, and one who sits there.
        (
            of_match(1, "host = x'00000000000000000000000000000063'"),
            "1 matches belong to none of the players",
        ),
        (
            of_match(1, "host = x'00000000000000000000000000000063'"),
            "000000000063 is not known",
        ),
        (
            format!("DELETE FROM players WHERE id = x'{BOB:032x}'"),
            "000000000002 is not known",
        ),
        (
            "UPDATE sessions SET token = x'00' WHERE label LIKE '%1%'".to_owned(),
            "1 sessions have no proper id or token",
        ),
        (
            "DELETE FROM matches WHERE last_seq = 13".to_owned(),
            "13 events belong to none of the matches",
        ),
        (
            "UPDATE matches SET id = x'07' WHERE last_seq = 13".to_owned(),
            "1 matches have no proper id",
        ),
        (
            "UPDATE matches SET ended_ms = NULL, code = '222222'".to_owned(),
            "3 live matches have the code of another",
        ),
    ];
    for (damage, expected) in cases {
        let directory = directory();
        drop(sound(directory.path()).await);
        let database = Connection::open(directory.path().join(FILE)).expect("it opens");
        // What SQLite would not let happen may have happened nevertheless.
        database
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false)
            .expect("set");
        database.execute_batch(&damage).expect(&damage);
        drop(database);
        let (summary, told) = verify(directory.path());
        assert!(
            told.iter().any(|told| told.contains(expected)),
            "{damage}: {told:#?}"
        );
        assert_eq!(summary.faults, told.len() as u64);
    }
}

/// Pages overwritten on the disk are found, whatever else can still be read.
#[tokio::test]
async fn an_overwritten_page_is_found() {
    let directory = directory();
    drop(sound(directory.path()).await);
    let path = directory.path().join(FILE);
    let whole = std::fs::read(&path).expect("readable");
    let mut found = 0;
    let pages = whole.len() / 4096;
    for page in 1..pages {
        let mut bytes = whole.clone();
        bytes[page * 4096..][..64].fill(0xa5);
        std::fs::write(&path, bytes).expect("written");
        let archive = SqliteArchive::open(directory.path());
        let summary = archive.map(|archive| crate::verify(&archive, &mut |_| {}));
        found += usize::from(!matches!(summary, Ok(Ok(Summary { faults: 0, .. }))));
    }
    assert!(pages > 5, "only {pages} pages");
    // What a page held that nothing is kept on any more is no loss.
    std::fs::write(&path, whole).expect("written");
    let database = Connection::open(path).expect("it opens");
    let unused = database.pragma_query_value(None, "freelist_count", |row| row.get::<_, usize>(0));
    let kept_on = pages - 1 - unused.expect("readable");
    assert!(found >= kept_on, "{found} of {kept_on}");
}

/// What a crash has left in the log is read, and stays there.
#[tokio::test]
async fn what_only_the_log_has_is_read_and_left_alone() {
    let (crashed, directory) = (directory(), directory());
    let store = sound(directory.path()).await;
    for file in [FILE, "plyhouse.db-wal"] {
        std::fs::copy(directory.path().join(file), crashed.path().join(file)).expect("copied");
    }
    drop(store);
    let read = |file: &str| std::fs::read(crashed.path().join(file)).expect("readable");
    let before = (read(FILE), read("plyhouse.db-wal"));
    let (summary, told) = verify(crashed.path());
    assert_eq!((summary.matches, told.len()), (4, 0));
    assert!(
        before == (read(FILE), read("plyhouse.db-wal")),
        "it was written to"
    );
    let store = SqliteStore::open(crashed.path(), None).expect("it opens");
    assert_eq!(store.unowned(OWNER_NODE).await.expect("readable").len(), 1);
}

#[tokio::test]
async fn a_match_as_json() {
    let directory = directory();
    let _store = sound(directory.path()).await;
    let archive = SqliteArchive::open(directory.path()).expect("it opens");
    let second = archive.find(MatchRef::Id(MatchId(Uuid::from_u128(2))));
    let id = second.expect("readable").expect("there");
    let kept = archive.read(id).expect("sound").expect("there");
    let json = serde_json::to_value(&kept).expect("JSON");
    let (ann, bob) = (player(ANN), player(BOB));
    let expected = serde_json::json!({
        "id": id, "code": kept.record.creation.code.to_string(),
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
async fn what_is_no_store_is_not_opened() {
    let directory = directory();
    let missing = SqliteArchive::open(directory.path());
    assert!(matches!(missing, Err(OpenError::Missing(_))), "{missing:?}");
    assert_eq!(
        std::fs::read_dir(directory.path()).expect("there").count(),
        0
    );
    drop(SqliteStore::open(directory.path(), None).expect("it opens"));
    let database = Connection::open(directory.path().join(FILE)).expect("it opens");
    for (version, is_late) in [(0, false), (1_000, true)] {
        database
            .pragma_update(None, "user_version", version)
            .expect("written");
        match SqliteArchive::open(directory.path()) {
            Err(OpenError::TooNew(_)) if is_late => {}
            Err(OpenError::TooOld(_)) if !is_late => {}
            other => panic!("{version}: {other:?}"),
        }
    }
}
