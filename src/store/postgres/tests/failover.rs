//! Failover from a primary PostgreSQL server to its standby.

use super::server::PostgresPrograms;
use super::*;
use crate::WriteError;

/// Checks that no confirmed write is lost when the primary crashes, and that later writes reach the
/// promoted standby.
#[tokio::test]
async fn standby_takes_over_after_primary_crash() {
    let Some(programs) = PostgresPrograms::find() else {
        return;
    };
    let primary = programs.init_database();
    let primary = programs.start_server(&primary, &[]);
    let standby = programs.init_standby(&primary);
    let standby = programs.start_server(&standby, &[]);
    let url = |port: u16| format!("postgres://plyhouse@127.0.0.1:{port}/postgres");
    let connection = connect(&url(primary.port)).await;
    for sql in [
        "ALTER SYSTEM SET synchronous_standby_names = '*'",
        "SELECT pg_reload_conf()",
    ] {
        execute(&connection, sql).await;
    }
    let sql = "SELECT pid FROM pg_stat_replication WHERE sync_state = 'sync'";
    while connection
        .query(sql, &[])
        .await
        .expect("answered")
        .is_empty()
    {
        tokio::task::yield_now().await;
    }

    // The URL names the standby before the primary. The standby rejects writes until it is
    // promoted.
    let (first, second) = (standby.port, primary.port);
    let address = format!("postgres://plyhouse@127.0.0.1:{first},127.0.0.1:{second}/postgres");
    let store = open_store(&address).await;
    let (id, mut position) = start_match(&store).await;
    let mut count = 3;
    for round in 0..20 {
        let event = move_event(Seat::First, &format!("{round}"));
        position = store
            .append(id, position, vec![event])
            .await
            .expect("written");
        count += 1;
    }
    primary.crash();
    let lost = store
        .append(id, position, vec![move_event(Seat::First, "lost")])
        .await;
    assert!(lost.is_err(), "{lost:?}");
    let standby_connection = connect(&url(standby.port)).await;
    execute(&standby_connection, "SELECT pg_promote()").await;
    // The promoted server has no standby, so its writes must not wait for one.
    for sql in [
        "ALTER SYSTEM SET synchronous_standby_names = ''",
        "SELECT pg_reload_conf()",
    ] {
        execute(&standby_connection, sql).await;
    }
    let next = loop {
        match store
            .append(id, position, vec![move_event(Seat::First, "next")])
            .await
        {
            Ok(next) => break next,
            Err(WriteError::Conflict) => panic!("no other writer exists"),
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let read = loop {
        match store.load(id).await {
            Ok(read) => break read.expect("exists"),
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert_eq!(read.position, next);
    assert_eq!(read.record.events.len(), count + 1);
}
