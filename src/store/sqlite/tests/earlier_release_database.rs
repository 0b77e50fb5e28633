//! Tests on a database that an earlier release wrote.

use super::*;
use crate::SqliteInspector;
use crate::conformance::earlier_release_database;
use crate::conformance::earlier_release_database::FixtureFacts;

const DATABASE: &[u8] = include_bytes!("../../../../tests/data/fixtures/sqlite.db");
const FIXTURE_FACTS: &str = include_str!("../../../../tests/data/fixtures/sqlite.json");

/// Text columns whose values the store parses.
const TEXT_COLUMNS: [&str; 7] = [
    "events.event",
    "matches.terms",
    "matches.summary",
    "ledger.body",
    "ledger_waiting.body",
    "rating_pairs.body",
    "conduct.body",
];

/// Copies the database to a new directory.
fn copy_database() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join(DATABASE_FILE), DATABASE).expect("written");
    directory
}

fn read_column(connection: &rusqlite::Connection, sql: &str) -> Vec<String> {
    let mut rows = connection.prepare(sql).expect(sql);
    let read = rows.query_map([], |row| row.get(0)).expect(sql);
    read.collect::<rusqlite::Result<_>>().expect(sql)
}

#[test]
fn fixture_has_current_schema_and_rows_in_every_table() {
    let directory = copy_database();
    let connection =
        rusqlite::Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0));
    assert_eq!(version, Ok(schema::MIGRATIONS.len()));
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let tables = read_column(&connection, sql);
    assert!(tables.len() > 25, "{tables:?}");
    for table in tables {
        let sql = format!("SELECT count(*) FROM {table}");
        let count = connection.query_row(&sql, [], |row| row.get::<_, u64>(0));
        assert!(count.expect("readable") > 0, "{table} is empty");
    }
}

#[test]
fn fixture_has_every_kind_of_event() {
    let directory = copy_database();
    let archive = SqliteInspector::open(directory.path()).expect("opens");
    earlier_release_database::check_every_event_kind_is_stored(&archive);
    earlier_release_database::check_players(&archive, &FixtureFacts::parse(FIXTURE_FACTS));
}

#[test]
fn stored_texts_round_trip() {
    let directory = copy_database();
    let connection =
        rusqlite::Connection::open(directory.path().join(DATABASE_FILE)).expect("opens");
    for name in TEXT_COLUMNS {
        let (table, field) = name.split_once('.').expect("a table and a column");
        let sql = format!("SELECT {field} FROM {table} WHERE {field} IS NOT NULL");
        let texts = read_column(&connection, &sql);
        assert!(!texts.is_empty(), "{name}");
        texts
            .iter()
            .for_each(|text| earlier_release_database::check_text_round_trip(name, text));
    }
}

#[tokio::test]
async fn every_table_is_read_through_the_store_trait() {
    let (directory, facts) = (copy_database(), FixtureFacts::parse(FIXTURE_FACTS));
    let store = open_store(directory.path());
    earlier_release_database::check_sessions(&store, &facts).await;
    earlier_release_database::check_accounts(&store, &facts).await;
    earlier_release_database::check_matches(&store, &facts).await;
    earlier_release_database::check_reminders(&store, &facts).await;
    earlier_release_database::check_history(&store, &facts).await;
    earlier_release_database::check_ratings(&store, &facts).await;
    earlier_release_database::check_admin_tables(&store, &facts).await;
}
