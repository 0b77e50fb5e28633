//! The database that an earlier release filled.

use super::*;
use crate::SqliteArchive;
use crate::conformance::fixture;
use crate::conformance::fixture::FixtureFacts;

const DATABASE: &[u8] = include_bytes!("../../../../tests/data/fixtures/sqlite.db");
const FACTS: &str = include_str!("../../../../tests/data/fixtures/sqlite.json");

/// The columns with texts that the store itself reads.
const TEXTS: [&str; 7] = [
    "events.event",
    "matches.terms",
    "matches.summary",
    "ledger.body",
    "ledger_waiting.body",
    "rating_pairs.body",
    "conduct.body",
];

/// A copy of the database in a directory of its own.
fn copied() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join(FILE), DATABASE).expect("written");
    directory
}

fn column(connection: &rusqlite::Connection, sql: &str) -> Vec<String> {
    let mut rows = connection.prepare(sql).expect(sql);
    let read = rows.query_map([], |row| row.get(0)).expect(sql);
    read.collect::<rusqlite::Result<_>>().expect(sql)
}

#[test]
fn fixture_has_the_present_schema_and_a_row_in_every_table() {
    let directory = copied();
    let connection = rusqlite::Connection::open(directory.path().join(FILE)).expect("it opens");
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0));
    assert_eq!(version, Ok(schema::MIGRATIONS.len()));
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let tables = column(&connection, sql);
    assert!(tables.len() > 25, "{tables:?}");
    for table in tables {
        let sql = format!("SELECT count(*) FROM {table}");
        let count = connection.query_row(&sql, [], |row| row.get::<_, u64>(0));
        assert!(count.expect("readable") > 0, "{table} is empty");
    }
}

#[test]
fn fixture_has_every_kind_of_event() {
    let directory = copied();
    let archive = SqliteArchive::open(directory.path()).expect("it opens");
    fixture::check_every_event_kind_is_stored(&archive);
    fixture::check_people(&archive, &FixtureFacts::parse(FACTS));
}

#[test]
fn stored_texts_are_written_again_as_they_were() {
    let directory = copied();
    let connection = rusqlite::Connection::open(directory.path().join(FILE)).expect("it opens");
    for name in TEXTS {
        let (table, field) = name.split_once('.').expect("a table and a column");
        let sql = format!("SELECT {field} FROM {table} WHERE {field} IS NOT NULL");
        let texts = column(&connection, &sql);
        assert!(!texts.is_empty(), "{name}");
        texts
            .iter()
            .for_each(|text| fixture::check_text_round_trip(name, text));
    }
}

#[tokio::test]
async fn every_table_is_read_through_the_port() {
    let (directory, facts) = (copied(), FixtureFacts::parse(FACTS));
    let store = open(directory.path());
    fixture::check_sessions(&store, &facts).await;
    fixture::check_accounts(&store, &facts).await;
    fixture::check_matches(&store, &facts).await;
    fixture::check_reminders(&store, &facts).await;
    fixture::check_history(&store, &facts).await;
    fixture::check_ratings(&store, &facts).await;
    fixture::check_admin_tables(&store, &facts).await;
}
