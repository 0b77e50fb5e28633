mod earlier_release_database;

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;
use crate::conformance::{
    OWNER_NODE, conformance_tests, match_record, move_event, player, session, start_events,
};
use crate::sql::{archive, rating_ledger, rating_versions, ratings};
use crate::{
    ArchiveStore, IdentityChanges, IdentityStore, PlayerRecord, ReadError, TokenHash, conformance,
};
use plyhouse_engine::game::Seat;
use plyhouse_protocol::MatchResult;

fn open_store(directory: &Path) -> SqliteStore {
    SqliteStore::open(directory, None).expect("opens")
}

fn new_store() -> (SqliteStore, TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    (open_store(directory.path()), directory)
}

conformance_tests!(Some(new_store()));

/// Returns the permission bits of the files of the database.
fn file_modes(directory: &Path) -> Vec<u32> {
    let names = [
        DATABASE_FILE,
        "plyhouse.db-wal",
        "plyhouse.db-shm",
        "plyhouse.lock",
    ];
    let mode = |name| {
        fs::metadata(directory.join(name))
            .expect(name)
            .permissions()
            .mode()
            & 0o777
    };
    names.map(mode).to_vec()
}

#[test]
fn new_files_are_private_and_existing_modes_are_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755))
        .expect("owned by this user");
    let store = open_store(directory.path());
    assert_eq!(file_modes(directory.path()), [0o600; 4]);
    assert_eq!(SqliteStore::loose_permissions(directory.path()), None);
    drop(store);
    let file = directory.path().join(DATABASE_FILE);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("owned by this user");
    let _store = open_store(directory.path());
    assert_eq!(file_modes(directory.path())[0], 0o640);
    assert_eq!(
        SqliteStore::loose_permissions(directory.path()),
        Some(0o640)
    );
}

/// Returns whether any file in this directory contains the text.
fn is_in_any_file(directory: &Path, text: &str) -> bool {
    let files = fs::read_dir(directory).expect("readable");
    files
        .map(|file| file.expect("readable").path())
        .any(|file| {
            let bytes = fs::read(file).expect("readable");
            bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes())
        })
}

/// The player's name must not remain in the write-ahead log or in the old bytes of moved rows.
#[tokio::test]
async fn name_of_deleted_player_is_wiped_from_all_files() {
    const NAME: &str = "Wilhelmina of Nowhere";
    let (store, directory) = new_store();
    // Scattered ids make SQLite split pages, which moves rows.
    let scatter = |number: u128| number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let player_named = |number: u128, name: &str| PlayerRecord {
        id: PlayerId(uuid::Uuid::from_u128(scatter(number))),
        name: name.to_owned(),
        ..player(1)
    };
    let wilhelmina = player_named(500, NAME);
    for number in 1..=1000 {
        let (name, id) = (format!("somebody {number}"), scatter(number));
        let player = match number {
            500 => wilhelmina.clone(),
            number => player_named(number, &name),
        };
        let added = store.add_player(player.clone(), vec![]).await;
        added.expect("written");
        let host = if number % 3 == 0 {
            &wilhelmina
        } else {
            &player
        };
        let mut created = match_record(number, host);
        created.creation.id = MatchId(uuid::Uuid::from_u128(id));
        store.create(OWNER_NODE, created).await.expect("written");
    }
    assert!(is_in_any_file(directory.path(), NAME));
    let deletion = crate::PlayerDeletion {
        player: wilhelmina.id,
        proof: None,
        name_reserved_until_ms: u64::MAX >> 1,
    };
    assert_eq!(store.delete_player(deletion).await, Ok(true));
    while store.remove_names(wilhelmina.id).await.expect("written") {}
    assert!(!is_in_any_file(directory.path(), NAME));
}

/// Creates a store that contains one match with these moves. Waits until all writes are confirmed.
async fn store_with_moves(directory: &Path, moves: &[&str]) -> SqliteStore {
    let store = open_store(directory);
    let created = match_record(1, &player(1));
    let id = created.creation.id;
    let sessions = vec![session(1, 1)];
    store
        .add_player(player(1), sessions)
        .await
        .expect("written");
    let position = store.create(OWNER_NODE, created).await.expect("written");
    let mut position = store
        .append(id, position, start_events())
        .await
        .expect("written");
    for (index, m) in moves.iter().enumerate() {
        let seat = [Seat::First, Seat::Second][index % 2];
        let appended = store.append(id, position, vec![move_event(seat, m)]).await;
        position = appended.expect("written");
    }
    store
}

/// Claims and loads all live matches, as a server does when it starts.
async fn claim_all_live(store: &SqliteStore) -> Result<LiveMatches, ReadError> {
    for id in store.unowned(OWNER_NODE).await? {
        store.claim(id, OWNER_NODE).await.expect("claimed");
    }
    store.load_live_matches(OWNER_NODE).await
}

fn match_id() -> MatchId {
    match_record(1, &player(1)).creation.id
}

#[tokio::test]
async fn reopened_store_has_all_written_events() {
    let directory = tempfile::tempdir().expect("a directory");
    drop(store_with_moves(directory.path(), &["b2", "a1"]).await);
    let store = open_store(directory.path());
    let live = claim_all_live(&store).await;
    let live = live.expect("readable");
    let loaded = live.matches[0].as_ref().expect("not corrupt");
    assert_eq!(loaded.record.events.len(), 5);
    assert_eq!(live.players, [player(1)]);
    assert_eq!(
        store
            .find_session(session(1, 1).token)
            .await
            .expect("readable"),
        Some((player(1), session(1, 1)))
    );
}

#[tokio::test]
async fn second_server_cannot_open_directory() {
    let (store, directory) = new_store();
    let second = SqliteStore::open(directory.path(), None);
    assert!(matches!(second, Err(OpenError::InUse(_))), "{second:?}");
    drop(store);
    open_store(directory.path());
}

#[tokio::test]
async fn new_directory_is_private() {
    let parent = tempfile::tempdir().expect("a directory");
    let directory = parent.path().join("share/plyhouse");
    let _store = open_store(&directory);
    let mode = fs::metadata(&directory)
        .expect("exists")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[tokio::test]
async fn database_of_later_version_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    drop(open_store(directory.path()));
    let connection =
        rusqlite::Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
    connection
        .pragma_update(None, "user_version", 1_000)
        .expect("written");
    drop(connection);
    let store = SqliteStore::open(directory.path(), None);
    assert!(matches!(store, Err(OpenError::TooNew(_))), "{store:?}");
}

/// Database of schema version 2. Version 1 has the same tables.
const VERSION_2_DATABASE: &[u8] = include_bytes!("../../../tests/data/store-2.db");

/// The matches of a migrated store can be loaded and continued.
#[tokio::test]
async fn earlier_versions_are_migrated() {
    for earlier in [1, 2] {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join(DATABASE_FILE), VERSION_2_DATABASE).expect("written");
        let connection =
            rusqlite::Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
        let pragma = "user_version";
        let written = connection.pragma_update(None, pragma, earlier);
        written.expect("written");
        let store = open_store(directory.path());
        let version = connection.pragma_query_value(None, pragma, |row| row.get::<_, usize>(0));
        assert_eq!(version, Ok(schema::MIGRATIONS.len()));
        let live = claim_all_live(&store).await.expect("readable").matches;
        assert_eq!(live.len(), 5);
        let LoadedMatch {
            record, position, ..
        } = live[0].clone().expect("not corrupt");
        let appended = store.append(record.creation.id, position, vec![conformance::RESIGNATION]);
        appended.await.expect("append succeeds");
    }
}

#[tokio::test]
async fn migration_recomputes_name_skeletons() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(DATABASE_FILE);
    let connection = rusqlite::Connection::open(path).expect("opens");
    for tables in &schema::MIGRATIONS[..schema::SKELETONS_VERSION - 1] {
        connection.execute_batch(tables).expect("written");
    }
    // The last two names look alike, because the character `\u{a4d1}` looks like the letter P.
    let names = ["b0b", "\u{a4d1}aypal", "paypal"];
    for (number, name) in (1..).zip(names) {
        let id = player(number).id.0.into_bytes();
        let skeleton = crate::legacy_skeleton(name);
        let sql = "INSERT INTO players (id, name, kind) VALUES (?1, ?2, 'account')";
        connection.execute(sql, (id, name)).expect("written");
        let sql = "INSERT INTO names (likeness, player) VALUES (?1, ?2)";
        connection.execute(sql, (skeleton, id)).expect("written");
    }
    let version = schema::SKELETONS_VERSION - 1;
    let written = connection.pragma_update(None, "user_version", version);
    written.expect("written");
    drop(connection);
    let store = open_store(directory.path());
    for (number, skeleton) in [(1, "b0b"), (2, "Paypal"), (3, "paypal")] {
        let owner = store.find_by_name_skeleton(skeleton.to_owned(), 0).await;
        let expected = Some((player(number).id, true));
        assert_eq!(owner.expect("readable"), expected, "{skeleton}");
    }
}

/// If the names of two players have the same new skeleton, only the first player gets this
/// skeleton. Both players keep their names.
#[tokio::test]
async fn migration_adds_skeletons_of_written_names() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(DATABASE_FILE);
    let connection = rusqlite::Connection::open(path).expect("opens");
    for tables in &schema::MIGRATIONS[..schema::WRITTEN_NAMES_VERSION - 1] {
        connection.execute_batch(tables).expect("written");
    }
    for (number, name) in (1..).zip(["BEN", "\u{412}EN"]) {
        let id = player(number).id.0.into_bytes();
        let sql = "INSERT INTO players (id, name, kind) VALUES (?1, ?2, 'account')";
        connection.execute(sql, (id, name)).expect("written");
        let sql = "INSERT INTO names (likeness, player) VALUES (?1, ?2)";
        let written = connection.execute(sql, (crate::name_skeleton(name), id));
        written.expect("written");
    }
    let version = schema::WRITTEN_NAMES_VERSION - 1;
    let written = connection.pragma_update(None, "user_version", version);
    written.expect("written");
    drop(connection);
    conformance::check_upgraded_name_skeletons(&open_store(directory.path())).await;
}

/// A correspondence match from a schema version without reminders is loaded with the live matches
/// until it gets a reminder.
#[tokio::test]
async fn migrated_correspondence_match_without_reminder_is_live() {
    const OLD_VERSION: usize = 4;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(DATABASE_FILE);
    let connection = rusqlite::Connection::open(path).expect("opens");
    for tables in &schema::MIGRATIONS[..OLD_VERSION] {
        connection.execute_batch(tables).expect("written");
    }
    let (id, ann) = ([7_u8; 16], player(1));
    let match_id = MatchId(uuid::Uuid::from_bytes(id));
    let written = [
        connection.execute(
            "INSERT INTO players VALUES (?1, ?2, ?3)",
            (ann.id.0.as_bytes(), &ann.name, [1; 32]),
        ),
        connection.execute(
            "INSERT INTO matches VALUES (?1, 'K7QM2P', 'tic-tac-toe', ?2, ?3, 0, NULL, NULL)",
            (
                id,
                ann.id.0.as_bytes(),
                r#"{"listed":true,"pace_ms":0,"seed":7,"clock":{"kind":"move","move_ms":86400000}}"#,
            ),
        ),
    ];
    assert_eq!(written, [Ok(1), Ok(1)]);
    let set = connection.pragma_update(None, "user_version", OLD_VERSION);
    set.expect("written");

    let store = open_store(directory.path());
    let stored = store
        .find_session(TokenHash([1; 32]))
        .await
        .expect("readable");
    let (player, session) = stored.expect("its token is a session");
    assert_eq!(player, ann);
    assert_eq!(store.sessions(ann.id).await.expect("readable"), [session]);
    let live = claim_all_live(&store).await.expect("readable").matches;
    let loaded = live[0].clone().expect("not corrupt");
    assert_eq!(loaded.record.creation.id, match_id);
    assert_eq!(store.due_reminder_count().await.expect("readable"), 0);
    let reminder = Reminder {
        wake_ms: Some(5),
        participations: Vec::new(),
    };
    let appended = store.append_with_reminder(match_id, loaded.position, vec![], Some(reminder));
    appended.await.expect("written");
    assert!(
        claim_all_live(&store)
            .await
            .expect("readable")
            .matches
            .is_empty()
    );
    let reminders = store
        .due_reminders((0, match_id), 9)
        .await
        .expect("readable");
    assert_eq!(reminders, [(5, match_id)]);
}

#[tokio::test]
async fn file_that_is_no_database_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(
        directory.path().join(DATABASE_FILE),
        "no database, ".repeat(1000),
    )
    .expect("written");
    let store = SqliteStore::open(directory.path(), None);
    assert!(matches!(store, Err(OpenError::Database(..))), "{store:?}");
}

/// A crash during a write leaves a write-ahead log with a torn end. All confirmed writes are read,
/// and the torn write is ignored.
#[tokio::test]
async fn torn_end_of_log_loses_only_unconfirmed_write() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = store_with_moves(directory.path(), &["b2", "a1", "c3"]).await;
    // The files are copied while the store is open, so they are in the state that a crash would
    // leave.
    let crashed = tempfile::tempdir().expect("a directory");
    for file in [DATABASE_FILE, "plyhouse.db-wal"] {
        fs::copy(directory.path().join(file), crashed.path().join(file)).expect("copied");
    }
    drop(store);
    let log = crashed.path().join("plyhouse.db-wal");
    let log_size = fs::metadata(&log).expect("exists").len();
    let mut log = OpenOptions::new()
        .read(true)
        .write(true)
        .open(log)
        .expect("opens");
    log.seek(SeekFrom::Start(log_size - 100)).expect("sought");
    let mut tail = [0; 100];
    log.read_exact(&mut tail).expect("read");
    log.seek(SeekFrom::Start(log_size - 100)).expect("sought");
    log.write_all(&tail.map(|byte| !byte)).expect("written");
    log.set_len(log_size - 10).expect("cut");
    drop(log);

    let store = open_store(crashed.path());
    let read = store.load(match_id()).await.expect("readable");
    let LoadedMatch {
        record, position, ..
    } = read.expect("exists");
    assert_eq!(record.events.len(), 5, "all but the torn last event");
    let appended = store.append(match_id(), position, vec![move_event(Seat::First, "c3")]);
    appended.await.expect("append succeeds");
}

#[tokio::test]
async fn corrupt_match_is_reported_and_others_are_loaded() {
    for damage in [
        "UPDATE events SET event = '{\"type\":\"moved\"}' WHERE seq = 4",
        "DELETE FROM events WHERE seq = 2",
        "DELETE FROM events WHERE seq = 5",
        "UPDATE matches SET game = 'whist' WHERE last_seq = 5",
        "UPDATE events SET event = CAST(x'ff' AS TEXT) WHERE seq = 4",
        "UPDATE matches SET code = CAST(x'ff' AS TEXT) WHERE last_seq = 5",
        "UPDATE matches SET host = x'01' WHERE last_seq = 5",
    ] {
        let directory = tempfile::tempdir().expect("a directory");
        let store = store_with_moves(directory.path(), &["b2", "a1"]).await;
        let second = store.create(OWNER_NODE, match_record(2, &player(1))).await;
        second.expect("written");
        drop(store);
        let connection =
            rusqlite::Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
        connection
            .pragma_update(None, "foreign_keys", "OFF")
            .expect("off");
        assert_eq!(connection.execute(damage, []), Ok(1), "{damage}");
        drop(connection);
        let store = open_store(directory.path());
        let live = claim_all_live(&store).await.expect("readable").matches;
        let are_corrupt: Vec<bool> = live.iter().map(Result::is_err).collect();
        assert_eq!(are_corrupt, [true, false], "{damage}");
        let loaded = store.load(match_id()).await;
        assert!(matches!(loaded, Err(ReadError::Corrupt(_))), "{loaded:?}");
    }
}

#[tokio::test]
async fn corrupt_page_affects_only_its_matches() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = open_store(directory.path());
    store.add_player(player(1), vec![]).await.expect("written");
    for number in 1..=300 {
        store
            .create(OWNER_NODE, match_record(number, &player(1)))
            .await
            .expect("written");
    }
    drop(store);
    let path = directory.path().join(DATABASE_FILE);
    let sound = fs::read(&path).expect("readable");
    let mut served = 0;
    for page in 1..sound.len() / 4096 {
        let mut damaged = sound.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0);
        fs::write(&path, &damaged).expect("written");
        // A few pages are essential: if one of them is corrupt, the store cannot read anything.
        if let Ok(store) = SqliteStore::open(directory.path(), None)
            && let Ok(live) = claim_all_live(&store).await
        {
            served += usize::from(live.matches.iter().flatten().count() > 100);
        }
    }
    let pages = sound.len() / 4096 - 1;
    assert!(served * 2 > pages, "{served} of {pages}");
}

#[tokio::test]
async fn log_without_database_is_refused_and_preserved() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("plyhouse.db-wal");
    fs::write(&log, "what somebody may still want").expect("written");
    let store = SqliteStore::open(directory.path(), None);
    assert!(
        matches!(store, Err(OpenError::LogWithoutDatabase(_))),
        "{store:?}"
    );
    assert!(log.exists());
}

#[tokio::test]
async fn database_of_another_program_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let connection =
        rusqlite::Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
    connection
        .execute_batch("CREATE TABLE recipes (name TEXT)")
        .expect("written");
    drop(connection);
    let store = SqliteStore::open(directory.path(), None);
    assert!(
        matches!(store, Err(OpenError::ForeignDatabase(_))),
        "{store:?}"
    );
}

/// Matches expire even while the store is busy.
#[tokio::test]
async fn expired_matches_are_deleted_live_matches_stay() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = SqliteStore::open(directory.path(), Some(Duration::ZERO)).expect("opens");
    conformance::live_matches_are_listed_by_owner(&store).await;
    let ended = MatchId(uuid::Uuid::from_u128(33));
    while store.load(ended).await.expect("readable").is_some() {
        store.add_player(player(1), vec![]).await.expect("written");
    }
    assert_eq!(
        claim_all_live(&store)
            .await
            .expect("readable")
            .matches
            .len(),
        3
    );
    let connection =
        rusqlite::Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
    let sql = "SELECT count(DISTINCT match) FROM events";
    let count = connection.query_row(sql, [], |row| row.get(0));
    assert_eq!(count, Ok(3), "its events are deleted");
}

#[tokio::test]
async fn expired_matches_leave_no_rows() {
    let directory = tempfile::tempdir().expect("a directory");
    conformance::openings_are_counted_once_for_all_symmetries(&open_store(directory.path())).await;
    conformance::add_analysed_match(&open_store(directory.path()), 61).await;
    let store = SqliteStore::open(directory.path(), Some(Duration::ZERO)).expect("opens");
    let last = MatchId(uuid::Uuid::from_u128(80));
    while store.load(last).await.expect("readable").is_some() {
        store.add_player(player(1), vec![]).await.expect("written");
    }
    let connection =
        rusqlite::Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
    for table in ["matches", "played", "openings", "results", "analyses"] {
        let sql = format!("SELECT count(*) FROM {table}");
        let count = connection.query_row(&sql, [], |row| row.get(0));
        assert_eq!(count, Ok(0), "{table}");
    }
}

#[tokio::test]
async fn migration_counts_earlier_results() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = open_store(directory.path());
    conformance::private_matches_are_listed_only_for_their_players(&store).await;
    drop(store);
    let connection =
        rusqlite::Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
    let archive = SqliteInspector::open(directory.path()).expect("opens");
    let count = "UPDATE results SET n = 3 WHERE seen_by = zeroblob(16)";
    assert_eq!(connection.execute(count, []), Ok(2));
    assert_eq!(
        crate::StoreInspector::integrity_faults(&archive),
        ["result counts that do not match the game histories: 2"]
    );
    let downgrade =
        "DROP TABLE results; DROP TRIGGER results_of_more; DROP TRIGGER results_of_fewer;
                DROP TABLE ledger_waiting; DROP TABLE analyses; DROP TABLE analyses_asked;
                ALTER TABLE pairings DROP COLUMN session";
    connection.execute_batch(downgrade).expect("dropped");
    let version = connection.pragma_update(None, "user_version", 14);
    version.expect("written");
    let store = open_store(directory.path());
    for (viewer, expected) in [(1, 2), (2, 2), (3, 1)] {
        let counts = store.results(player(1).id, player(viewer).id).await;
        let wins = counts.expect("readable").count(MatchResult::Won);
        assert_eq!(wins, expected);
    }
    assert_eq!(
        crate::StoreInspector::integrity_faults(&archive),
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn rated_matches_do_not_expire() {
    let directory = tempfile::tempdir().expect("a directory");
    conformance::ended_rated_match_is_numbered(&open_store(directory.path())).await;
    let store = SqliteStore::open(directory.path(), Some(Duration::ZERO)).expect("opens");
    let [first, casual, aborted] =
        [50, 51, 52].map(|number| MatchId(uuid::Uuid::from_u128(number)));
    while store.load(casual).await.expect("readable").is_some() {
        store.add_player(player(1), vec![]).await.expect("written");
    }
    for id in [first, aborted] {
        assert!(store.load(id).await.expect("readable").is_some());
    }
    drop(store);
    let archive = SqliteInspector::open(directory.path()).expect("opens");
    assert_eq!(
        crate::StoreInspector::integrity_faults(&archive),
        Vec::<String>::new()
    );
    let connection =
        rusqlite::Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
    let sql = "DELETE FROM ledger WHERE no = 1";
    connection.execute(sql, []).expect("deleted");
    assert_eq!(
        crate::StoreInspector::integrity_faults(&archive),
        [
            "ended rated matches with a missing or wrong ledger row: 1",
            "missing ledger rows: 1"
        ]
    );
}

/// Returns the steps of the query plan of a statement.
fn query_plan(connection: &rusqlite::Connection, sql: &str) -> Vec<String> {
    schema::fix_query_plans(connection).expect("setting is changed");
    let plan = format!("EXPLAIN QUERY PLAN {sql}");
    let mut statement = connection.prepare(&plan).expect("it is SQL");
    let params = rusqlite::params_from_iter(vec![1; statement.parameter_count()]);
    let steps = statement.query_map(params, |row| row.get(3));
    let steps = steps.expect("steps").map(|step| step.expect("text"));
    steps.collect()
}

#[tokio::test]
async fn history_queries_use_indexes() {
    let (_store, directory) = new_store();
    let connection =
        rusqlite::Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
    for (sql, expected) in [
        (
            crate::sql::history::SELECT_HISTORY,
            &[
                "SEARCH p USING PRIMARY KEY (player=? AND (ended_ms,match)<(?,?))",
                "SEARCH matches USING PRIMARY KEY (id=?)",
            ][..],
        ),
        (
            archive::SELECT_RESULTS,
            &["SEARCH results USING PRIMARY KEY (player=? AND seen_by=?)"],
        ),
        (
            archive::SELECT_OPENINGS,
            &[
                "COMPOUND QUERY",
                "LEFT-MOST SUBQUERY",
                "SEARCH openings USING PRIMARY KEY (game=? AND line=? AND move=?)",
                "UNION ALL",
                "SEARCH openings USING PRIMARY KEY (game=? AND line=? AND move>?)",
            ],
        ),
    ] {
        let steps = query_plan(&connection, sql);
        assert_eq!(steps, expected);
    }
}

#[test]
fn file_instead_of_a_data_directory_is_reported() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let error = SqliteStore::open(file.path(), None).expect_err("it is a file");
    let reason = std::error::Error::source(&error).expect("a reason");
    assert_eq!(reason.to_string(), "not a directory");
}

#[tokio::test]
async fn rating_queries_use_indexes() {
    let (_store, directory) = new_store();
    let connection =
        rusqlite::Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
    let statements = ratings::INDEXED_STATEMENTS.into_iter();
    let statements = statements
        .chain(rating_ledger::INDEXED_STATEMENTS)
        .chain(rating_versions::INDEXED_STATEMENTS);
    for sql in statements {
        for step in query_plan(&connection, sql) {
            // The table of rating versions has few rows.
            let is_scan = step.starts_with("SCAN") && step != "SCAN folds";
            assert!(!is_scan, "{sql}: {step}");
        }
    }
    let deviation_max = crate::LeaderboardQuery::deviation_max();
    assert!(ratings::SELECT_LEADERS.contains(&format!("deviation <= {deviation_max} ")));
    let plan = query_plan(&connection, ratings::SELECT_LEADERS);
    assert!(plan[0].contains("INDEX rating_leaders"), "{plan:?}");
    for sql in rating_versions::INDEXED_STATEMENTS {
        // The deletion does not read all rows of the version.
        let plan = query_plan(&connection, sql);
        assert!(plan[0].contains("(fold=? AND "), "{sql}: {plan:?}");
    }
}
