mod fixture;

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;
use crate::conformance;
use crate::conformance::{
    OWNER_NODE, conformance_tests, match_record, move_event, player, session, start_events,
};
use plyhouse_engine::game::Seat;
use plyhouse_protocol::MatchResult;

fn open(directory: &Path) -> SqliteStore {
    SqliteStore::open(directory, None).expect("it opens")
}

fn fresh() -> (SqliteStore, TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    (open(directory.path()), directory)
}

conformance_tests!(Some(fresh()));

/// The permission bits of the files of the database.
fn modes(directory: &Path) -> Vec<u32> {
    let names = [FILE, "plyhouse.db-wal", "plyhouse.db-shm", "plyhouse.lock"];
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
fn new_files_are_for_their_owner_alone_and_existing_ones_keep_their_mode() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    let store = open(directory.path());
    assert_eq!(modes(directory.path()), [0o600; 4]);
    assert_eq!(SqliteStore::loose_mode(directory.path()), None);
    drop(store);
    let file = directory.path().join(FILE);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("ours");
    let _store = open(directory.path());
    assert_eq!(modes(directory.path())[0], 0o640);
    assert_eq!(SqliteStore::loose_mode(directory.path()), Some(0o640));
}

/// Whether a file of this directory has these bytes.
fn is_anywhere(directory: &Path, text: &str) -> bool {
    let files = fs::read_dir(directory).expect("readable");
    files
        .map(|file| file.expect("readable").path())
        .any(|file| {
            let bytes = fs::read(file).expect("readable");
            bytes
                .windows(text.len())
                .any(|some| some == text.as_bytes())
        })
}

/// Of whoever is forgotten no file has the name any more, wherever it stood, and wherever it has been moved from.
#[tokio::test]
async fn no_file_has_the_name_of_whoever_was_forgotten() {
    const NAME: &str = "Wilhelmina of Nowhere";
    let (store, directory) = fresh();
    // Spread out, so that pages are divided.
    let scattered = |number: u128| number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    let called = |number: u128, name: &str| PlayerRecord {
        id: PlayerId(uuid::Uuid::from_u128(scattered(number))),
        name: name.to_owned(),
        ..player(1)
    };
    let wilhelmina = called(500, NAME);
    for number in 0..1000 {
        let (name, id) = (format!("somebody {number}"), scattered(number));
        let somebody = match number {
            500 => wilhelmina.clone(),
            number => called(number, &name),
        };
        let added = store.add_player(somebody.clone(), vec![]).await;
        added.expect("written");
        let host = if number % 3 == 0 {
            &wilhelmina
        } else {
            &somebody
        };
        let mut written = match_record(number, host);
        written.creation.id = MatchId(uuid::Uuid::from_u128(id));
        store.create(OWNER_NODE, written).await.expect("written");
    }
    assert!(is_anywhere(directory.path(), NAME));
    let forget = crate::Forget {
        player: wilhelmina.id,
        proved: None,
        kept_until_ms: u64::MAX >> 1,
    };
    assert_eq!(store.forget_player(forget).await, Ok(true));
    while store.forget_names(wilhelmina.id).await.expect("written") {}
    assert!(!is_anywhere(directory.path(), NAME));
}

/// A store with one match of so many moves, all confirmed.
async fn with_moves(directory: &Path, moves: &[&str]) -> SqliteStore {
    let store = open(directory);
    let written = match_record(1, &player(1));
    let id = written.creation.id;
    let sessions = vec![session(1, 1)];
    store
        .add_player(player(1), sessions)
        .await
        .expect("written");
    let mark = store.create(OWNER_NODE, written).await.expect("written");
    let mut mark = store
        .append(id, mark, start_events())
        .await
        .expect("written");
    for (index, m) in moves.iter().enumerate() {
        let seat = [Seat::First, Seat::Second][index % 2];
        let appended = store.append(id, mark, vec![move_event(seat, m)]).await;
        mark = appended.expect("written");
    }
    store
}

/// Every live match of a store, for a server that has just begun.
async fn all_live(store: &SqliteStore) -> Result<Live, ReadError> {
    for id in store.unowned(OWNER_NODE).await? {
        store.claim(id, OWNER_NODE).await.expect("claimed");
    }
    store.live(OWNER_NODE).await
}

fn the_match() -> MatchId {
    match_record(1, &player(1)).creation.id
}

#[tokio::test]
async fn everything_is_there_when_it_is_opened_again() {
    let directory = tempfile::tempdir().expect("a directory");
    drop(with_moves(directory.path(), &["b2", "a1"]).await);
    let store = open(directory.path());
    let live = all_live(&store).await;
    let live = live.expect("readable");
    let loaded = live.matches[0].as_ref().expect("sound");
    assert_eq!(loaded.record.events.len(), 5);
    assert_eq!(live.players, [player(1)]);
    assert_eq!(
        store.session(session(1, 1).token).await.expect("readable"),
        Some((player(1), session(1, 1)))
    );
}

#[tokio::test]
async fn a_second_server_is_kept_out() {
    let (store, directory) = fresh();
    let second = SqliteStore::open(directory.path(), None);
    assert!(matches!(second, Err(OpenError::InUse(_))), "{second:?}");
    drop(store);
    open(directory.path());
}

#[tokio::test]
async fn the_directory_is_made_for_its_owner_alone() {
    let parent = tempfile::tempdir().expect("a directory");
    let directory = parent.path().join("share/plyhouse");
    let _store = open(&directory);
    let mode = fs::metadata(&directory)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[tokio::test]
async fn a_later_version_is_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    drop(open(directory.path()));
    let connection = rusqlite::Connection::open(directory.path().join(FILE)).expect("it opens");
    connection
        .pragma_update(None, "user_version", 1_000)
        .expect("written");
    drop(connection);
    let store = SqliteStore::open(directory.path(), None);
    assert!(matches!(store, Err(OpenError::TooNew(_))), "{store:?}");
}

/// A database of the second version, with the same tables as the first.
const OLD: &[u8] = include_bytes!("../../../tests/data/store-2.db");

/// What an earlier version wrote goes on, and from then on that version leaves it alone.
#[tokio::test]
async fn an_earlier_version_is_brought_up_to_date() {
    for earlier in [1, 2] {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join(FILE), OLD).expect("written");
        let connection = rusqlite::Connection::open(directory.path().join(FILE)).expect("it opens");
        let pragma = "user_version";
        let written = connection.pragma_update(None, pragma, earlier);
        written.expect("written");
        let store = open(directory.path());
        let version = connection.pragma_query_value(None, pragma, |row| row.get::<_, usize>(0));
        assert_eq!(version, Ok(schema::MIGRATIONS.len()));
        let live = all_live(&store).await.expect("readable").matches;
        assert_eq!(live.len(), 5);
        let Loaded { record, mark, .. } = live[0].clone().expect("sound");
        let appended = store.append(record.creation.id, mark, vec![conformance::RESIGNATION]);
        appended.await.expect("it goes on");
    }
}

/// Names that were kept by what had been found of them before are kept by what is found now.
#[tokio::test]
async fn names_from_before_are_mended() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(FILE);
    let connection = rusqlite::Connection::open(path).expect("it opens");
    for tables in &schema::MIGRATIONS[..schema::ALIKE - 1] {
        connection.execute_batch(tables).expect("written");
    }
    // The last two look alike.
    let names = ["b0b", "\u{a4d1}aypal", "paypal"];
    for (number, name) in (1..).zip(names) {
        let id = player(number).id.0.into_bytes();
        let likeness = crate::legacy_skeleton(name);
        let sql = "INSERT INTO players (id, name, kind) VALUES (?1, ?2, 'account')";
        connection.execute(sql, (id, name)).expect("written");
        let sql = "INSERT INTO names (likeness, player) VALUES (?1, ?2)";
        connection.execute(sql, (likeness, id)).expect("written");
    }
    let version = schema::ALIKE - 1;
    let written = connection.pragma_update(None, "user_version", version);
    written.expect("written");
    drop(connection);
    let store = open(directory.path());
    for (number, likeness) in [(1, "b0b"), (2, "Paypal"), (3, "paypal")] {
        let named = store.named(likeness.to_owned(), 0).await;
        let expected = Some((player(number).id, true));
        assert_eq!(named.expect("readable"), expected, "{likeness}");
    }
}

/// Names that were kept by their likeness alone are kept by what they look like as they are written, too: what two
/// have in common stays with the first, and both have their names.
#[tokio::test]
async fn names_from_before_are_looked_at_as_they_are_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(FILE);
    let connection = rusqlite::Connection::open(path).expect("it opens");
    for tables in &schema::MIGRATIONS[..schema::WRITTEN - 1] {
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
    let version = schema::WRITTEN - 1;
    let written = connection.pragma_update(None, "user_version", version);
    written.expect("written");
    drop(connection);
    conformance::check_upgraded_name_skeletons(&open(directory.path())).await;
}

/// A match of days from before there were reminders is served like any other until it has one.
#[tokio::test]
async fn a_match_without_a_reminder_is_served() {
    const BEFORE: usize = 4;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(FILE);
    let connection = rusqlite::Connection::open(path).expect("it opens");
    for tables in &schema::MIGRATIONS[..BEFORE] {
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
    let set = connection.pragma_update(None, "user_version", BEFORE);
    set.expect("written");

    let store = open(directory.path());
    let known = store.session(TokenHash([1; 32])).await.expect("readable");
    let (player, session) = known.expect("its token goes on as a session");
    assert_eq!(player, ann);
    assert_eq!(store.sessions(ann.id).await.expect("readable"), [session]);
    let live = all_live(&store).await.expect("readable").matches;
    let loaded = live[0].clone().expect("sound");
    assert_eq!(loaded.record.creation.id, match_id);
    assert_eq!(store.due_count().await.expect("readable"), 0);
    let reminder = Reminder {
        wake_ms: Some(5),
        parts: Vec::new(),
    };
    let kept = store.append_with_reminder(match_id, loaded.mark, vec![], Some(reminder));
    kept.await.expect("written");
    assert!(all_live(&store).await.expect("readable").matches.is_empty());
    let due = store
        .due_reminders((0, match_id), 9)
        .await
        .expect("readable");
    assert_eq!(due, [(5, match_id)]);
}

#[tokio::test]
async fn what_is_no_database_is_not_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join(FILE), "no database, ".repeat(1000)).expect("written");
    let store = SqliteStore::open(directory.path(), None);
    assert!(matches!(store, Err(OpenError::Database(..))), "{store:?}");
}

/// A crash in the middle of a write leaves a log with a torn end: what was confirmed before is
/// there, and what was torn is not.
#[tokio::test]
async fn a_torn_end_of_the_log_is_no_harm() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = with_moves(directory.path(), &["b2", "a1", "c3"]).await;
    // The files as a crash would leave them: the store is still open.
    let crashed = tempfile::tempdir().expect("a directory");
    for file in [FILE, "plyhouse.db-wal"] {
        fs::copy(directory.path().join(file), crashed.path().join(file)).expect("copied");
    }
    drop(store);
    let log = crashed.path().join("plyhouse.db-wal");
    let whole = fs::metadata(&log).expect("it is there").len();
    let mut log = OpenOptions::new()
        .read(true)
        .write(true)
        .open(log)
        .expect("it opens");
    log.seek(SeekFrom::Start(whole - 100)).expect("sought");
    let mut tail = [0; 100];
    log.read_exact(&mut tail).expect("read");
    log.seek(SeekFrom::Start(whole - 100)).expect("sought");
    log.write_all(&tail.map(|byte| !byte)).expect("written");
    log.set_len(whole - 10).expect("cut");
    drop(log);

    let store = open(crashed.path());
    let read = store.load(the_match()).await.expect("readable");
    let Loaded { record, mark, .. } = read.expect("there");
    assert_eq!(record.events.len(), 5, "all but the last, which was torn");
    let appended = store.append(the_match(), mark, vec![move_event(Seat::First, "c3")]);
    appended.await.expect("it goes on");
}

/// Events that make no sense are told as damage, and other matches are read.
#[tokio::test]
async fn a_damaged_match_is_told_apart() {
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
        let store = with_moves(directory.path(), &["b2", "a1"]).await;
        let second = store.create(OWNER_NODE, match_record(2, &player(1))).await;
        second.expect("written");
        drop(store);
        let connection = rusqlite::Connection::open(directory.path().join(FILE)).expect("it opens");
        connection
            .pragma_update(None, "foreign_keys", "OFF")
            .expect("off");
        assert_eq!(connection.execute(damage, []), Ok(1), "{damage}");
        drop(connection);
        let store = open(directory.path());
        let live = all_live(&store).await.expect("readable").matches;
        let damaged: Vec<bool> = live.iter().map(Result::is_err).collect();
        assert_eq!(damaged, [true, false], "{damage}");
        let one = store.load(the_match()).await;
        assert!(matches!(one, Err(ReadError::Damaged(_))), "{one:?}");
    }
}

/// A page that has gone bad harms the matches on it, and no other.
#[tokio::test]
async fn a_damaged_page_harms_what_is_on_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = open(directory.path());
    store.add_player(player(1), vec![]).await.expect("written");
    for number in 1..=300 {
        store
            .create(OWNER_NODE, match_record(number, &player(1)))
            .await
            .expect("written");
    }
    drop(store);
    let path = directory.path().join(FILE);
    let sound = fs::read(&path).expect("readable");
    let mut served = 0;
    for page in 1..sound.len() / 4096 {
        let mut damaged = sound.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0);
        fs::write(&path, &damaged).expect("written");
        // Some pages hold what nothing can be read without.
        if let Ok(store) = SqliteStore::open(directory.path(), None)
            && let Ok(live) = all_live(&store).await
        {
            served += usize::from(live.matches.iter().flatten().count() > 100);
        }
    }
    let pages = sound.len() / 4096 - 1;
    assert!(served * 2 > pages, "{served} of {pages}");
}

#[tokio::test]
async fn a_log_without_its_database_is_not_thrown_away() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("plyhouse.db-wal");
    fs::write(&log, "what somebody may still want").expect("written");
    let store = SqliteStore::open(directory.path(), None);
    assert!(matches!(store, Err(OpenError::Torn(_))), "{store:?}");
    assert!(log.exists());
}

#[tokio::test]
async fn the_database_of_another_program_is_left_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let connection = rusqlite::Connection::open(directory.path().join(FILE)).expect("it opens");
    connection
        .execute_batch("CREATE TABLE recipes (name TEXT)")
        .expect("written");
    drop(connection);
    let store = SqliteStore::open(directory.path(), None);
    assert!(matches!(store, Err(OpenError::NotOurs(_))), "{store:?}");
}

/// Ended matches are forgotten when their time is over, however busy the store is, live ones never.
#[tokio::test]
async fn ended_matches_are_forgotten_in_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = SqliteStore::open(directory.path(), Some(Duration::ZERO)).expect("it opens");
    conformance::live_matches_are_listed_by_owner(&store).await;
    let ended = MatchId(uuid::Uuid::from_u128(33));
    while store.load(ended).await.expect("readable").is_some() {
        store.add_player(player(1), vec![]).await.expect("written");
    }
    assert_eq!(all_live(&store).await.expect("readable").matches.len(), 3);
    let connection = rusqlite::Connection::open(directory.path().join(FILE)).expect("it opens");
    let sql = "SELECT count(DISTINCT match) FROM events";
    let count = connection.query_row(sql, [], |row| row.get(0));
    assert_eq!(count, Ok(3), "its events are forgotten, too");
}

/// What is forgotten is found by nothing any more.
#[tokio::test]
async fn forgotten_matches_are_not_found() {
    let directory = tempfile::tempdir().expect("a directory");
    conformance::openings_are_counted_once_for_all_symmetries(&open(directory.path())).await;
    conformance::add_analysed_match(&open(directory.path()), 61).await;
    let store = SqliteStore::open(directory.path(), Some(Duration::ZERO)).expect("it opens");
    let last = MatchId(uuid::Uuid::from_u128(80));
    while store.load(last).await.expect("readable").is_some() {
        store.add_player(player(1), vec![]).await.expect("written");
    }
    let connection = rusqlite::Connection::open(directory.path().join(FILE)).expect("it opens");
    for table in ["matches", "played", "openings", "results", "analyses"] {
        let sql = format!("SELECT count(*) FROM {table}");
        let count = connection.query_row(&sql, [], |row| row.get(0));
        assert_eq!(count, Ok(0), "{table}");
    }
}

/// What came of matches that ended before it was counted is counted with the change.
#[tokio::test]
async fn results_of_before_are_counted() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = open(directory.path());
    conformance::private_matches_are_listed_only_for_their_players(&store).await;
    drop(store);
    let connection = rusqlite::Connection::open(directory.path().join(FILE)).expect("it opens");
    let archive = SqliteArchive::open(directory.path()).expect("it opens");
    let count = "UPDATE results SET n = 3 WHERE seen_by = zeroblob(16)";
    assert_eq!(connection.execute(count, []), Ok(2));
    assert_eq!(
        crate::Archive::faults(&archive),
        ["2 results of players are not as many as their matches"]
    );
    let back = "DROP TABLE results; DROP TRIGGER results_of_more; DROP TRIGGER results_of_fewer;
                DROP TABLE ledger_waiting; DROP TABLE analyses; DROP TABLE analyses_asked;
                ALTER TABLE pairings DROP COLUMN session";
    connection.execute_batch(back).expect("dropped");
    let version = connection.pragma_update(None, "user_version", 14);
    version.expect("written");
    let store = open(directory.path());
    for (seen_by, expected) in [(1, 2), (2, 2), (3, 1)] {
        let counted = store.results(player(1).id, player(seen_by).id).await;
        let won = counted.expect("readable").count(MatchResult::Won);
        assert_eq!(won, expected);
    }
    assert_eq!(crate::Archive::faults(&archive), Vec::<String>::new());
}

/// Rated matches are always kept.
#[tokio::test]
async fn rated_matches_are_never_forgotten() {
    let directory = tempfile::tempdir().expect("a directory");
    conformance::ended_rated_match_is_numbered(&open(directory.path())).await;
    let store = SqliteStore::open(directory.path(), Some(Duration::ZERO)).expect("it opens");
    let [first, casual, aborted] =
        [50, 51, 52].map(|number| MatchId(uuid::Uuid::from_u128(number)));
    while store.load(casual).await.expect("readable").is_some() {
        store.add_player(player(1), vec![]).await.expect("written");
    }
    for id in [first, aborted] {
        assert!(store.load(id).await.expect("readable").is_some());
    }
    drop(store);
    let archive = SqliteArchive::open(directory.path()).expect("it opens");
    assert_eq!(crate::Archive::faults(&archive), Vec::<String>::new());
    let connection = rusqlite::Connection::open(directory.path().join(FILE)).expect("it opens");
    let sql = "DELETE FROM ledger WHERE no = 1";
    connection.execute(sql, []).expect("deleted");
    assert_eq!(
        crate::Archive::faults(&archive),
        [
            "1 rated matches have ended without their row of the ledger",
            "1 rows of the ledger are missing"
        ]
    );
}

/// However many matches there are, those of one player and what follows one line are found by an index.
#[tokio::test]
async fn the_past_is_found_by_indexes() {
    let (_store, directory) = fresh();
    let connection = rusqlite::Connection::open(directory.path().join(FILE)).expect("it opens");
    for (sql, expected) in [
        (
            history::HISTORY,
            &[
                "SEARCH p USING PRIMARY KEY (player=? AND (ended_ms,match)<(?,?))",
                "SEARCH m USING PRIMARY KEY (id=?)",
            ][..],
        ),
        (
            history::RESULTS,
            &["SEARCH results USING PRIMARY KEY (player=? AND seen_by=?)"],
        ),
        (
            history::EXPLORE,
            &[
                "COMPOUND QUERY",
                "LEFT-MOST SUBQUERY",
                "SEARCH openings USING PRIMARY KEY (game=? AND line=? AND move=?)",
                "UNION ALL",
                "SEARCH openings USING PRIMARY KEY (game=? AND line=? AND move>?)",
            ],
        ),
    ] {
        let plan = format!("EXPLAIN QUERY PLAN {sql}");
        let mut statement = connection.prepare(&plan).expect("it is SQL");
        let values = statement.parameter_count();
        let values = rusqlite::params_from_iter(vec![1; values]);
        let steps = statement.query_map(values, |row| row.get::<_, String>(3));
        let steps: Vec<String> = steps
            .expect("steps")
            .map(|step| step.expect("text"))
            .collect();
        assert_eq!(steps, expected);
    }
}
