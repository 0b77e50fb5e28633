mod earlier_release_database;
mod failover;
mod server;
mod store_copy;
mod tls;
mod upgrade;

use std::sync::atomic::AtomicUsize;

use futures::future::join_all;
use plyhouse_engine::game::Seat;
use plyhouse_protocol::Seq;
use uuid::Uuid;

use super::*;
use crate::conformance::{
    OWNER_NODE, RESIGNATION, SharedStore, conformance_tests, match_record, move_event, player,
    shared_conformance_tests, start_events,
};
use crate::{IdentityStore, WriteError, conformance};

/// Number of the next test database.
static NEXT_DATABASE: AtomicUsize = AtomicUsize::new(0);

/// Creates a database and returns its URL. If PostgreSQL is not installed, prints a notice and
/// returns `None`.
async fn create_database() -> Option<String> {
    let port = server::shared_server()?.port;
    let address = format!("postgres://plyhouse@localhost:{port}");
    let connection = connect(&format!("{address}/postgres")).await;
    let name = format!("t{}", NEXT_DATABASE.fetch_add(1, Ordering::Relaxed));
    let create = format!("CREATE DATABASE {name}");
    connection.execute_batch(&create).await.expect("created");
    Some(format!("{address}/{name}"))
}

/// Creates a database and opens a store on it. Also returns the URL of the database.
async fn new_store() -> Option<(PostgresStore, String)> {
    let address = create_database().await?;
    Some((open_store(&address).await, address))
}

/// Opens a database connection that is independent of the stores.
async fn connect(address: &str) -> PgConnection {
    let address: ConnectionUrl = address.parse().expect("an address");
    PgConnection::connect(&address).await.expect("a server")
}

async fn execute(connection: &PgConnection, sql: &str) {
    let executed = connection.execute_batch(sql).await;
    executed.expect("statement succeeds");
}

async fn open_store(address: &str) -> PostgresStore {
    PostgresStore::open(address, None).await.expect("opens")
}

conformance_tests!(new_store().await);
shared_conformance_tests!(TwoServers::create().await);

/// Two stores on one database, as used by two servers of a cluster.
#[derive(Debug)]
struct TwoServers {
    servers: [PostgresStore; 2],
    connection: PgConnection,
}

impl TwoServers {
    async fn create() -> Option<Self> {
        let (first, address) = new_store().await?;
        let second = open_store(&address).await;
        Some(Self {
            servers: [first, second],
            connection: connect(&address).await,
        })
    }
}

impl SharedStore for TwoServers {
    type Store = PostgresStore;

    fn servers(&self) -> [&PostgresStore; 2] {
        [&self.servers[0], &self.servers[1]]
    }

    async fn advance_time(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        for sql in [
            "UPDATE node SET expires = expires - make_interval(secs => $1)",
            "UPDATE matches SET taken_at = taken_at - make_interval(secs => $1)",
        ] {
            self.connection
                .query(sql, &[&seconds])
                .await
                .expect("written");
        }
    }
}

#[tokio::test]
async fn concurrent_queries_prepare_their_statement_once() {
    let Some((_store, address)) = new_store().await else {
        return;
    };
    let connection = connect(&address).await;
    let sql = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT count%'";
    let counts = join_all((0..50).map(|_| connection.query(sql, &[]))).await;
    for count in counts {
        let count: i64 = count.expect("readable")[0].get(0);
        assert_eq!(count, 1);
    }
}

/// Four servers append to the same journal position at the same time. Only one append may succeed,
/// and another server must be able to read the appended events.
#[tokio::test]
async fn servers_read_writes_of_each_other() {
    let Some((first, address)) = new_store().await else {
        return;
    };
    let stores = join_all((0..4).map(|_| open_store(&address))).await;
    first.add_player(player(1), vec![]).await.expect("written");
    let written = match_record(1, &player(1));
    let id = written.creation.id;
    let position = first.create(OWNER_NODE, written).await.expect("written");
    let appends = stores
        .iter()
        .map(|store| store.append(id, position, start_events()));
    let results = join_all(appends).await;
    assert_eq!(
        results.iter().filter(|made| made.is_ok()).count(),
        1,
        "{results:?}"
    );
    let tail = first
        .tail(id, position)
        .await
        .expect("readable")
        .expect("exists");
    assert_eq!(tail.events, start_events());
}

/// Eight servers append to the same journal position in each round. Four of them append one event,
/// and the other four append two events. Only one append may succeed, and the store must contain no
/// events of the failed appends.
#[tokio::test]
async fn concurrent_appends_of_servers_have_one_winner() {
    const SERVERS: usize = 8;
    let Some((store, address)) = new_store().await else {
        return;
    };
    let servers = join_all((0..SERVERS).map(|_| open_store(&address))).await;
    let (id, mut position) = start_match(&store).await;
    for round in 0..300 {
        let appends = servers.iter().enumerate().map(|(server, store)| {
            let m = |index: u8| move_event(Seat::First, &format!("{round} by {server}: {index}"));
            let events = if server % 2 == 0 {
                vec![m(0)]
            } else {
                vec![m(0), m(1)]
            };
            store.append(id, position, events)
        });
        let (won, lost): (Vec<_>, Vec<_>) =
            join_all(appends).await.into_iter().partition(Result::is_ok);
        assert_eq!(lost, [Err(WriteError::Conflict); SERVERS - 1], "{round}");
        position = won[0].expect("one append succeeds");
    }
    let read = store.load(id).await.expect("readable").expect("exists");
    assert_eq!(read.position, position);
    assert_eq!(read.record.events.len() as u64, position.seq().0);
}

#[tokio::test]
async fn claim_fences_off_previous_owner() {
    let Some((store, _)) = new_store().await else {
        return;
    };
    let (id, position) = start_match(&store).await;
    let other = NodeId(Uuid::from_u128(7));
    store.claim(id, other).await.expect("claimed");
    let stale_append = store.append(id, position, vec![RESIGNATION]).await;
    assert_eq!(stale_append, Err(WriteError::Conflict));
    let read = store.load(id).await.expect("readable").expect("exists");
    assert_eq!(
        (read.position.epoch, read.position.entry_no),
        (1, position.entry_no + 1)
    );
    assert_eq!(
        read.position.seq(),
        position.seq(),
        "a fence is not counted as an event"
    );
    let tail = store
        .tail(id, position)
        .await
        .expect("readable")
        .expect("exists");
    assert_eq!((tail.events.len(), tail.position), (0, read.position));
    let next = store
        .append(id, read.position, vec![move_event(Seat::First, "b2")])
        .await;
    let next = next.expect("written");
    assert_eq!((next.seq(), next.epoch), (Seq(position.seq().0 + 1), 1));
    let reloaded = store.load(id).await.expect("readable").expect("exists");
    assert_eq!(reloaded.position, next);
}

#[tokio::test]
async fn match_with_valid_lease_is_owned() {
    let Some((store, address)) = new_store().await else {
        return;
    };
    let (id, _) = start_match(&store).await;
    let requesting_node = NodeId(Uuid::from_u128(7));
    assert_eq!(
        store.unowned(requesting_node).await.expect("readable"),
        [id]
    );
    let connection = connect(&address).await;
    let sql = "INSERT INTO node VALUES ($1, now() + interval '1 minute')";
    connection
        .query(sql, &[&OWNER_NODE.0])
        .await
        .expect("written");
    assert_eq!(store.unowned(requesting_node).await.expect("readable"), []);
    connection
        .execute_batch("UPDATE node SET expires = now()")
        .await
        .expect("written");
    assert_eq!(
        store.unowned(requesting_node).await.expect("readable"),
        [id]
    );
}

/// The database closes the store's connection before each of five appends. The store must neither
/// lose a confirmed event nor store an event twice.
#[tokio::test]
async fn lost_connection_is_reestablished() {
    let Some((store, address)) = new_store().await else {
        return;
    };
    let (id, mut position) = start_match(&store).await;
    let connection = connect(&address).await;
    for round in 0..5 {
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";
        connection.query(sql, &[]).await.expect("ended");
        let event = move_event(Seat::First, &format!("{round}"));
        let mut attempts = 0;
        position = loop {
            attempts += 1;
            assert!(attempts < 1000, "the connection is not reestablished");
            match store.append(id, position, vec![event.clone()]).await {
                Ok(position) => break position,
                Err(WriteError::Conflict) => panic!("no other writer exists"),
                Err(_) => {}
            }
            let Ok(Some(tail)) = store.tail(id, position).await else {
                continue;
            };
            if !tail.events.is_empty() {
                break tail.position;
            }
        };
    }
    let read = store.load(id).await.expect("readable").expect("exists");
    assert_eq!(read.position, position);
    assert_eq!(read.record.events.len(), 3 + 5);
    assert!(store.is_healthy());
}

#[tokio::test]
async fn database_of_later_version_is_refused() {
    let Some((store, address)) = new_store().await else {
        return;
    };
    drop(store);
    let connection = connect(&address).await;
    connection
        .execute_batch("UPDATE plyhouse SET version = 1000")
        .await
        .expect("written");
    let opened = PostgresStore::open(&address, None).await;
    assert!(
        matches!(opened, Err(OpenPostgresError::TooNew)),
        "{opened:?}"
    );
}

/// A server must not open the database exclusively while another server uses it. No server may open
/// the database while another server uses it exclusively.
#[tokio::test]
async fn exclusive_server_excludes_other_servers() {
    let Some((store, address)) = new_store().await else {
        return;
    };
    let is_in_use = |opened: Result<PostgresStore, OpenPostgresError>| match opened {
        Err(OpenPostgresError::InUse) => true,
        Err(error) => panic!("{error}"),
        Ok(_) => false,
    };
    assert!(is_in_use(
        PostgresStore::open_exclusive(&address, None).await
    ));
    assert!(!is_in_use(PostgresStore::open(&address, None).await));
    drop(store);
    // The database needs a moment to detect a closed connection, so the test retries.
    let exclusive = loop {
        match PostgresStore::open_exclusive(&address, None).await {
            Ok(exclusive) => break exclusive,
            Err(error) => assert!(matches!(error, OpenPostgresError::InUse), "{error:?}"),
        }
    };
    assert!(is_in_use(
        PostgresStore::open_exclusive(&address, None).await
    ));
    assert!(is_in_use(PostgresStore::open(&address, None).await));
    drop(exclusive);
    while is_in_use(PostgresStore::open(&address, None).await) {}
}

/// The store remains open while the inspector reads the database.
#[test]
fn inspector_reads_stored_matches() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let written = runtime.block_on(async {
        let (store, address) = new_store().await?;
        let (id, position) = start_match(&store).await;
        store
            .claim(id, NodeId(Uuid::from_u128(7)))
            .await
            .expect("claimed");
        let read = store.load(id).await.expect("readable").expect("exists");
        assert_ne!(read.position, position);
        store
            .append(id, read.position, vec![RESIGNATION])
            .await
            .expect("written");
        store
            .create(OWNER_NODE, match_record(2, &player(1)))
            .await
            .expect("written");
        Some((store, address, id))
    });
    let Some((_store, address, id)) = written else {
        return;
    };
    let archive = PostgresInspector::open(&address).expect("opens");
    let mut faults = Vec::new();
    let summary = crate::verify(&archive, &mut |fault| faults.push(fault.clone()));
    let summary = summary.expect("readable");
    assert_eq!(faults, []);
    assert_eq!((summary.matches, summary.live, summary.ended), (2, 1, 1));
    assert_eq!((summary.events, summary.players), (5, 1));
    let stored = crate::StoreInspector::inspect_match(&archive, id)
        .expect("not corrupt")
        .expect("exists");
    assert_eq!(stored.players, [(player(1).id, player(1).name)]);
    assert!(stored.record.has_ended() && stored.ended_ms.is_some());
}

#[tokio::test]
async fn failed_creation_does_not_affect_its_batch() {
    let Some((store, _)) = new_store().await else {
        return;
    };
    let [one, two, mut three] = [1, 2, 3].map(|number| match_record(number, &player(1)));
    three.creation.code = one.creation.code;
    let records = [one, two.clone(), two.clone(), three];
    let results = join_all(records.map(|record| store.create(OWNER_NODE, record))).await;
    let errors: Vec<_> = results.into_iter().map(Result::err).collect();
    let (conflict, code_taken) = (WriteError::Conflict, WriteError::CodeTaken);
    assert_eq!(errors, [None, None, Some(conflict), Some(code_taken)]);
    let stored = store.load(two.creation.id).await.expect("readable");
    assert_eq!(stored.expect("exists").record.events, two.events);
}

/// Two servers delete expired matches while they also append to a live match.
#[tokio::test]
async fn expired_matches_are_deleted_once() {
    const OLD: u128 = 250;
    let Some((store, address)) = new_store().await else {
        return;
    };
    store.add_player(player(1), vec![]).await.expect("written");
    let old = (2..2 + OLD).map(async |number| {
        let written = match_record(number, &player(1));
        let id = written.creation.id;
        let position = store.create(OWNER_NODE, written).await?;
        store.append(id, position, vec![RESIGNATION]).await
    });
    let resigned =
        conformance::end_event(Some(Seat::First), plyhouse_protocol::EndReason::Resignation);
    let rated = conformance::rated_record(9001, [1, 2]);
    let rated_id = rated.creation.id;
    let rated_position = store.create(OWNER_NODE, rated).await.expect("written");
    let events = conformance::rated_game_events(9001, &resigned, 0);
    let ended = store.append(rated_id, rated_position, events).await;
    ended.expect("written");
    for ended in join_all(old).await {
        ended.expect("written");
    }
    conformance::add_analysed_match(&store, 9002).await;
    let retention = Some(Duration::from_hours(1));
    let servers = [(); 2].map(|()| PostgresStore::open(&address, retention));
    let servers = join_all(servers).await;
    let servers: Vec<PostgresStore> = servers
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("all stores open");
    let connection = connect(&address).await;
    let sql = "SELECT FROM matches WHERE ended_ms IS NOT NULL AND ended_no IS NULL";
    let (live, mut position) = start_match(&store).await;
    while !connection
        .query(sql, &[])
        .await
        .expect("readable")
        .is_empty()
    {
        for server in &servers {
            let event = move_event(Seat::First, "b2");
            position = server
                .append(live, position, vec![event])
                .await
                .expect("written");
        }
    }
    let stored = store.load(rated_id).await.expect("readable");
    assert!(stored.is_some(), "rated matches do not expire");
    let sql = "SELECT FROM journal WHERE m <> $1 AND m <> $2";
    let journals = connection
        .query(sql, &[&live.0, &rated_id.0])
        .await
        .expect("readable");
    assert_eq!(journals.len(), 0);
    let sql = "SELECT FROM results WHERE n = 1";
    let results = connection.query(sql, &[]).await.expect("readable");
    assert_eq!(results.len(), 2, "results of the rated match remain");
    let sql = "SELECT FROM analyses";
    let analyses = connection.query(sql, &[]).await.expect("readable");
    assert_eq!(analyses.len(), 0);
    for server in &servers {
        let stored = server.load(live).await.expect("readable").expect("exists");
        assert_eq!(stored.position, position);
        assert!(server.is_healthy());
    }
}

/// Creates a match and appends its first events. Returns the match id and the journal position.
async fn start_match(store: &PostgresStore) -> (MatchId, JournalPosition) {
    store.add_player(player(1), vec![]).await.expect("written");
    let written = match_record(1, &player(1));
    let id = written.creation.id;
    let position = store.create(OWNER_NODE, written).await.expect("written");
    (
        id,
        store
            .append(id, position, start_events())
            .await
            .expect("written"),
    )
}
