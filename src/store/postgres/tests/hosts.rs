//! A database on several hosts, of which one takes over from the other.

use super::server::Programs;
use super::*;

/// When the host that is written to dies, and the one that follows it takes its place, everything that was
/// confirmed is there, and what is written next is written there.
#[tokio::test]
async fn a_host_takes_over() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let primary = programs.initialised();
    let primary = programs.serve(&primary, &[]);
    let standby = programs.following(&primary);
    let standby = programs.serve(&standby, &[]);
    let at = |port: u16| format!("postgres://plyhouse@127.0.0.1:{port}/postgres");
    let session = session(&at(primary.port)).await;
    for sql in [
        "ALTER SYSTEM SET synchronous_standby_names = '*'",
        "SELECT pg_reload_conf()",
    ] {
        session.command(sql).await.expect("done");
    }
    let sql = "SELECT pid FROM pg_stat_replication WHERE sync_state = 'sync'";
    while session.query(sql, &[]).await.expect("answered").is_empty() {
        tokio::task::yield_now().await;
    }

    // The one that follows is named first, too: it lets nobody write.
    let (first, second) = (standby.port, primary.port);
    let address = format!("postgres://plyhouse@127.0.0.1:{first},127.0.0.1:{second}/postgres");
    let store = open(&address).await;
    let (id, mut mark) = begun(&store).await;
    let mut count = 3;
    for round in 0..20 {
        let event = moved(Seat::First, &format!("{round}"));
        mark = store.append(id, mark, vec![event]).await.expect("written");
        count += 1;
    }
    primary.crash();
    let lost = store
        .append(id, mark, vec![moved(Seat::First, "lost")])
        .await;
    assert!(lost.is_err(), "{lost:?}");
    let promoting = super::session(&at(standby.port)).await;
    promoting
        .command("SELECT pg_promote()")
        .await
        .expect("done");
    // Nobody follows now.
    for sql in [
        "ALTER SYSTEM SET synchronous_standby_names = ''",
        "SELECT pg_reload_conf()",
    ] {
        promoting.command(sql).await.expect("done");
    }
    let next = loop {
        match store
            .append(id, mark, vec![moved(Seat::First, "next")])
            .await
        {
            Ok(next) => break next,
            Err(WriteError::Conflict) => panic!("nobody else writes"),
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let read = loop {
        match store.load(id).await {
            Ok(read) => break read.expect("there"),
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert_eq!(read.mark, next);
    assert_eq!(read.record.events.len(), count + 1);
}
