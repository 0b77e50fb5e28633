//! The database that servers of an earlier release filled.

use tokio_postgres::types::FromSql;

use super::*;
use crate::directory::{Directory, Wanted};
use crate::suite::fixture::{self, Facts};
use crate::{NodeId, PostgresArchive};

const DUMP: &str = include_str!("../../../../tests/data/fixtures/postgres.sql");
const FACTS: &str = include_str!("../../../../tests/data/fixtures/postgres.json");

/// The columns with texts that the store itself reads.
const TEXTS: [&str; 7] = [
    "journal.body",
    "matches.terms",
    "matches.summary",
    "ledger.body",
    "ledger_waiting.body",
    "rating_pairs.body",
    "conduct.body",
];

/// A database with the dump in it, and a session past all stores.
async fn restored() -> Option<(String, Session)> {
    let address = database().await?;
    let session = session(&address).await;
    session.command(DUMP).await.expect("restored");
    Some((address, session))
}

async fn column<T: for<'a> FromSql<'a>>(session: &mut Session, sql: &str) -> Vec<T> {
    let rows = session.client().query(sql, &[]).await.expect("readable");
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn fixture_has_the_present_schema_and_a_row_in_every_table() {
    let Some((address, mut session)) = restored().await else {
        return;
    };
    let version: Vec<i64> = column(&mut session, "SELECT version FROM plyhouse").await;
    // To open it changes nothing, unless it is of an earlier version.
    drop(open(&address).await);
    let opened: Vec<i64> = column(&mut session, "SELECT version FROM plyhouse").await;
    assert_eq!(version, opened);
    let sql = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'";
    let tables: Vec<String> = column(&mut session, sql).await;
    assert!(tables.len() > 25, "{tables:?}");
    for table in tables {
        let sql = format!("SELECT count(*) FROM {table}");
        let count: Vec<i64> = column(&mut session, &sql).await;
        assert!(count[0] > 0, "{table} is empty");
    }
}

#[tokio::test]
async fn fixture_has_every_kind_of_event() {
    let Some((address, _session)) = restored().await else {
        return;
    };
    let looked_at = move || {
        let archive = PostgresArchive::open(&address).expect("it opens");
        fixture::every_kind_of_event_is_kept(&archive);
        fixture::people_are_archived(&archive, &Facts::read(FACTS));
    };
    // An archive waits for the database by itself, which no runtime allows.
    let joined = std::thread::spawn(looked_at).join();
    joined.expect("every kind is there");
}

#[tokio::test]
async fn stored_texts_are_written_again_as_they_were() {
    let Some((_, mut session)) = restored().await else {
        return;
    };
    for name in TEXTS {
        let (table, field) = name.split_once('.').expect("a table and a column");
        let sql = format!("SELECT {field} FROM {table} WHERE {field} IS NOT NULL");
        let texts: Vec<String> = column(&mut session, &sql).await;
        assert!(!texts.is_empty(), "{name}");
        texts
            .iter()
            .for_each(|text| fixture::check_text(name, text));
    }
}

#[tokio::test]
async fn every_table_is_read_through_the_port() {
    let Some((address, _session)) = restored().await else {
        return;
    };
    let (store, facts) = (open(&address).await, Facts::read(FACTS));
    fixture::sessions_are_read(&store, &facts).await;
    fixture::accounts_are_read(&store, &facts).await;
    fixture::matches_are_read(&store, &facts).await;
    fixture::reminders_are_read(&store, &facts).await;
    fixture::ended_matches_are_found(&store, &facts).await;
    fixture::ratings_are_read(&store, &facts).await;
    fixture::the_operators_tables_are_read(&store, &facts).await;
}

/// Leases, seeks, owners and lists: what only servers that share a database have.
#[tokio::test]
async fn what_servers_share_is_read_through_the_directory() {
    let Some((address, mut session)) = restored().await else {
        return;
    };
    let (store, facts) = (open(&address).await, Facts::read(FACTS));
    let taken_over = facts.live("taken over");
    let route = store
        .route(taken_over)
        .await
        .expect("readable")
        .expect("kept");
    assert!(route.owner.is_some() && !route.is_alive && !route.has_ended);
    assert!(route.epoch > 0, "{route:?}");
    let abandoned = store.abandoned(1000).await.expect("readable");
    assert!(abandoned.contains(&taken_over), "{abandoned:?}");
    let ann = facts.player("ann");
    let involved = store.involved(ann).await.expect("readable");
    assert!(involved.contains(&facts.live("running")), "{involved:?}");
    assert!(store.hosted(ann).await.expect("readable") > 0);
    let listed = store.list(Wanted {
        limit: 100,
        ..Wanted::default()
    });
    let listed = listed.await.expect("readable");
    assert!(listed.total > 0 && listed.cards.len() as u64 == listed.total);

    // Seeks wait while the lease of their server holds.
    let seeking = store.seekers(None, 9).await.expect("readable");
    assert_eq!(seeking.total, 0);
    let sql = "UPDATE node SET expires = now() + interval '1 hour'";
    session.command(sql).await.expect("written");
    let seeking = store.seekers(Some("chess ".to_owned()), 9).await;
    assert_eq!(seeking.expect("readable").total, 1);
    let nodes: Vec<Uuid> = column(&mut session, "SELECT node FROM seeks").await;
    let mut waiting = Vec::new();
    for node in nodes {
        waiting.extend(store.waiting(NodeId(node)).await.expect("readable"));
    }
    waiting.sort_unstable();
    let mut expected = ["sam", "tia"].map(|name| facts.seeker(name));
    expected.sort_unstable();
    assert_eq!(waiting, expected);
    assert!(store.connection().await.expect("written") > 1);
}
