//! Tests on a database that was written by servers of an earlier release.

use tokio_postgres::types::FromSql;

use super::*;
use crate::conformance::earlier_release_database;
use crate::conformance::earlier_release_database::FixtureFacts;
use crate::port::cluster_directory::{ClusterDirectory, MatchListQuery};
use crate::{NodeId, PostgresInspector};

const DUMP: &str = include_str!("../../../../tests/data/fixtures/postgres.sql");
const FIXTURE_FACTS: &str = include_str!("../../../../tests/data/fixtures/postgres.json");

/// Columns that contain serialized data, which the store parses.
const TEXT_COLUMNS: [&str; 7] = [
    "journal.body",
    "matches.terms",
    "matches.summary",
    "ledger.body",
    "ledger_waiting.body",
    "rating_pairs.body",
    "conduct.body",
];

/// Restores the dump into a new database. Returns the URL of the database and a connection that is
/// independent of the stores.
async fn restore_dump() -> Option<(String, PgConnection)> {
    let address = create_database().await?;
    let connection = connect(&address).await;
    connection.execute_batch(DUMP).await.expect("restored");
    Some((address, connection))
}

async fn read_column<T: for<'a> FromSql<'a>>(connection: &mut PgConnection, sql: &str) -> Vec<T> {
    let rows = connection.client().query(sql, &[]).await.expect("readable");
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn fixture_has_current_schema_and_rows_in_every_table() {
    let Some((address, mut connection)) = restore_dump().await else {
        return;
    };
    let version: Vec<i64> = read_column(&mut connection, "SELECT version FROM plyhouse").await;
    // Opening a store does not change the schema version, unless the dump has an earlier version.
    drop(open_store(&address).await);
    let opened: Vec<i64> = read_column(&mut connection, "SELECT version FROM plyhouse").await;
    assert_eq!(version, opened);
    let sql = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'";
    let tables: Vec<String> = read_column(&mut connection, sql).await;
    assert!(tables.len() > 25, "{tables:?}");
    for table in tables {
        let sql = format!("SELECT count(*) FROM {table}");
        let count: Vec<i64> = read_column(&mut connection, &sql).await;
        assert!(count[0] > 0, "{table} is empty");
    }
}

#[tokio::test]
async fn fixture_has_every_kind_of_event() {
    let Some((address, _session)) = restore_dump().await else {
        return;
    };
    let check_inspector = move || {
        let archive = PostgresInspector::open(&address).expect("opens");
        earlier_release_database::check_every_event_kind_is_stored(&archive);
        earlier_release_database::check_players(&archive, &FixtureFacts::parse(FIXTURE_FACTS));
    };
    // The inspector blocks on its own async runtime, which panics if the thread already runs
    // another async runtime. The checks therefore run on a new thread.
    let joined = std::thread::spawn(check_inspector).join();
    joined.expect("checks succeed");
}

#[tokio::test]
async fn stored_texts_round_trip() {
    let Some((_, mut connection)) = restore_dump().await else {
        return;
    };
    for name in TEXT_COLUMNS {
        let (table, field) = name.split_once('.').expect("a table and a column");
        let sql = format!("SELECT {field} FROM {table} WHERE {field} IS NOT NULL");
        let texts: Vec<String> = read_column(&mut connection, &sql).await;
        assert!(!texts.is_empty(), "{name}");
        texts
            .iter()
            .for_each(|text| earlier_release_database::check_text_round_trip(name, text));
    }
}

#[tokio::test]
async fn every_table_is_read_through_the_store_trait() {
    let Some((address, _session)) = restore_dump().await else {
        return;
    };
    let (store, facts) = (
        open_store(&address).await,
        FixtureFacts::parse(FIXTURE_FACTS),
    );
    earlier_release_database::check_sessions(&store, &facts).await;
    earlier_release_database::check_accounts(&store, &facts).await;
    earlier_release_database::check_matches(&store, &facts).await;
    earlier_release_database::check_reminders(&store, &facts).await;
    earlier_release_database::check_history(&store, &facts).await;
    earlier_release_database::check_ratings(&store, &facts).await;
    earlier_release_database::check_admin_tables(&store, &facts).await;
}

/// Checks leases, seeks, owners and match lists, which only the servers of a cluster use.
#[tokio::test]
async fn cluster_tables_are_read_through_the_directory() {
    let Some((address, mut connection)) = restore_dump().await else {
        return;
    };
    let (store, facts) = (
        open_store(&address).await,
        FixtureFacts::parse(FIXTURE_FACTS),
    );
    let taken_over = facts.live_match("taken over");
    let route = store
        .find_route(taken_over)
        .await
        .expect("readable")
        .expect("exists");
    assert!(route.owner.is_some() && !route.is_lease_valid && !route.has_ended);
    assert!(route.epoch > 0, "{route:?}");
    let abandoned = store.abandoned_matches(1000).await.expect("readable");
    assert!(abandoned.contains(&taken_over), "{abandoned:?}");
    let ann = facts.player_id("ann");
    let involved = store.involved_matches(ann).await.expect("readable");
    assert!(
        involved.contains(&facts.live_match("running")),
        "{involved:?}"
    );
    assert!(store.hosted_match_count(ann).await.expect("readable") > 0);
    let listed = store.list_matches(MatchListQuery {
        limit: 100,
        ..MatchListQuery::default()
    });
    let listed = listed.await.expect("readable");
    assert!(listed.total > 0 && listed.summaries.len() as u64 == listed.total);

    // A seek is listed only while the server that accepted it has a valid lease.
    let seekers = store.list_seekers(None, 9).await.expect("readable");
    assert_eq!(seekers.total, 0);
    let sql = "UPDATE node SET expires = now() + interval '1 hour'";
    connection.execute_batch(sql).await.expect("written");
    let seekers = store.list_seekers(Some("chess ".to_owned()), 9).await;
    assert_eq!(seekers.expect("readable").total, 1);
    let nodes: Vec<Uuid> = read_column(&mut connection, "SELECT node FROM seeks").await;
    let mut waiting = Vec::new();
    for node in nodes {
        waiting.extend(store.seekers_on_node(NodeId(node)).await.expect("readable"));
    }
    waiting.sort_unstable();
    let mut expected = ["sam", "tia"].map(|name| facts.seeker_id(name));
    expected.sort_unstable();
    assert_eq!(waiting, expected);
    assert!(store.next_connection_number().await.expect("written") > 1);
}
