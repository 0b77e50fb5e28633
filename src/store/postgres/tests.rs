mod fixture;
mod hosts;
mod server;
mod tls;
mod transfer;
mod upgrade;

use std::sync::atomic::AtomicUsize;

use futures::future::join_all;
use plyhouse_engine::game::Seat;
use plyhouse_protocol::Seq;
use uuid::Uuid;

use super::*;
use crate::suite::{
    self, OWNER, RESIGNED, Shared, moved, player, record, shared_suite, started, suite,
};

/// The number of the next database.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// The address of a database of its own. `None` where PostgreSQL is not installed, which is said.
async fn database() -> Option<String> {
    let port = server::shared()?.port;
    let address = format!("postgres://plyhouse@localhost:{port}");
    let session = session(&format!("{address}/postgres")).await;
    let name = format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let create = format!("CREATE DATABASE {name}");
    session.command(&create).await.expect("created");
    Some(format!("{address}/{name}"))
}

/// A store on a database of its own.
async fn fresh() -> Option<(PostgresStore, String)> {
    let address = database().await?;
    Some((open(&address).await, address))
}

/// A way to the database past all stores.
async fn session(address: &str) -> Session {
    let address: Address = address.parse().expect("an address");
    Session::connect(&address).await.expect("a server")
}

async fn open(address: &str) -> PostgresStore {
    PostgresStore::open(address, None).await.expect("it opens")
}

suite!(fresh().await);
shared_suite!(Two::fresh().await);

/// Two servers on one database.
#[derive(Debug)]
struct Two {
    servers: [PostgresStore; 2],
    session: Session,
}

impl Two {
    async fn fresh() -> Option<Self> {
        let (first, address) = fresh().await?;
        let second = open(&address).await;
        Some(Self {
            servers: [first, second],
            session: session(&address).await,
        })
    }
}

impl Shared for Two {
    type Store = PostgresStore;

    fn servers(&self) -> [&PostgresStore; 2] {
        [&self.servers[0], &self.servers[1]]
    }

    async fn pass(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        for sql in [
            "UPDATE node SET expires = expires - make_interval(secs => $1)",
            "UPDATE matches SET taken_at = taken_at - make_interval(secs => $1)",
        ] {
            self.session.query(sql, &[&seconds]).await.expect("written");
        }
    }
}

/// Servers that start at once make the tables once, and what one writes another reads.
#[tokio::test]
async fn servers_share_a_database() {
    let Some((first, address)) = fresh().await else {
        return;
    };
    let opened = join_all((0..4).map(|_| open(&address))).await;
    first.add_player(player(1), vec![]).await.expect("written");
    let written = record(1, &player(1));
    let id = written.creation.id;
    let mark = first.create(OWNER, written).await.expect("written");
    let appends = opened.iter().map(|store| store.append(id, mark, started()));
    let made = join_all(appends).await;
    assert_eq!(
        made.iter().filter(|made| made.is_ok()).count(),
        1,
        "{made:?}"
    );
    let tail = first
        .tail(id, mark)
        .await
        .expect("readable")
        .expect("there");
    assert_eq!(tail.events, started());
}

/// Eight servers race for every place of a journal, with one event and with two. One wins, and nothing
/// of the others is there.
#[tokio::test]
async fn of_two_servers_at_one_place_one_writes() {
    const SERVERS: usize = 8;
    let Some((store, address)) = fresh().await else {
        return;
    };
    let servers = join_all((0..SERVERS).map(|_| open(&address))).await;
    let (id, mut mark) = begun(&store).await;
    for round in 0..300 {
        let appends = servers.iter().enumerate().map(|(server, store)| {
            let m = |part: u8| moved(Seat::First, &format!("{round} by {server}: {part}"));
            let events = if server % 2 == 0 {
                vec![m(0)]
            } else {
                vec![m(0), m(1)]
            };
            store.append(id, mark, events)
        });
        let (won, lost): (Vec<_>, Vec<_>) =
            join_all(appends).await.into_iter().partition(Result::is_ok);
        assert_eq!(lost, [Err(WriteError::Conflict); SERVERS - 1], "{round}");
        mark = won[0].expect("it won");
    }
    let read = store.load(id).await.expect("readable").expect("there");
    assert_eq!(read.mark, mark);
    assert_eq!(read.record.events.len() as u64, mark.seq().0);
}

/// A match that was taken over takes nothing more from its owner before, wherever that believes to be.
#[tokio::test]
async fn a_claim_is_a_fence() {
    let Some((store, _)) = fresh().await else {
        return;
    };
    let (id, mark) = begun(&store).await;
    let other = NodeId(Uuid::from_u128(7));
    store.claim(id, other).await.expect("claimed");
    let late = store.append(id, mark, vec![RESIGNED]).await;
    assert_eq!(late, Err(WriteError::Conflict));
    let read = store.load(id).await.expect("readable").expect("there");
    assert_eq!((read.mark.epoch, read.mark.n), (1, mark.n + 1));
    assert_eq!(read.mark.seq(), mark.seq(), "a fence is no event");
    let tail = store
        .tail(id, mark)
        .await
        .expect("readable")
        .expect("there");
    assert_eq!((tail.events.len(), tail.mark), (0, read.mark));
    let next = store
        .append(id, read.mark, vec![moved(Seat::First, "b2")])
        .await;
    let next = next.expect("written");
    assert_eq!((next.seq(), next.epoch), (Seq(mark.seq().0 + 1), 1));
    let again = store.load(id).await.expect("readable").expect("there");
    assert_eq!(again.mark, next);
}

/// Whoever holds a lease is not gone.
#[tokio::test]
async fn a_lease_keeps_matches() {
    let Some((store, address)) = fresh().await else {
        return;
    };
    let (id, _) = begun(&store).await;
    let asking = NodeId(Uuid::from_u128(7));
    assert_eq!(store.unowned(asking).await.expect("readable"), [id]);
    let session = session(&address).await;
    let sql = "INSERT INTO node VALUES ($1, now() + interval '1 minute')";
    session.query(sql, &[&OWNER.0]).await.expect("written");
    assert_eq!(store.unowned(asking).await.expect("readable"), []);
    session
        .command("UPDATE node SET expires = now()")
        .await
        .expect("written");
    assert_eq!(store.unowned(asking).await.expect("readable"), [id]);
}

/// A connection that the database ends is made again, and nothing that was confirmed is lost.
#[tokio::test]
async fn a_lost_connection_is_made_again() {
    let Some((store, address)) = fresh().await else {
        return;
    };
    let (id, mut mark) = begun(&store).await;
    let session = session(&address).await;
    for round in 0..5 {
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";
        session.query(sql, &[]).await.expect("ended");
        let event = moved(Seat::First, &format!("{round}"));
        let mut tries = 0;
        mark = loop {
            tries += 1;
            assert!(tries < 1000, "it never comes back");
            match store.append(id, mark, vec![event.clone()]).await {
                Ok(mark) => break mark,
                Err(WriteError::Conflict) => panic!("nobody else writes"),
                Err(_) => {}
            }
            let Ok(Some(tail)) = store.tail(id, mark).await else {
                continue;
            };
            if !tail.events.is_empty() {
                break tail.mark;
            }
        };
    }
    let read = store.load(id).await.expect("readable").expect("there");
    assert_eq!(read.mark, mark);
    assert_eq!(read.record.events.len(), 3 + 5);
    assert!(store.is_healthy());
}

#[tokio::test]
async fn a_later_version_is_left_alone() {
    let Some((store, address)) = fresh().await else {
        return;
    };
    drop(store);
    let session = session(&address).await;
    session
        .command("UPDATE plyhouse SET version = 1000")
        .await
        .expect("written");
    let opened = PostgresStore::open(&address, None).await;
    assert!(
        matches!(opened, Err(OpenPostgresError::TooNew)),
        "{opened:?}"
    );
}

/// A server that knows of no others is kept out while one is there, and keeps all others out.
#[tokio::test]
async fn a_second_server_is_kept_out() {
    let Some((store, address)) = fresh().await else {
        return;
    };
    let is_in_use = |opened: Result<PostgresStore, OpenPostgresError>| match opened {
        Err(OpenPostgresError::InUse) => true,
        Err(error) => panic!("{error}"),
        Ok(_) => false,
    };
    assert!(is_in_use(PostgresStore::open_alone(&address, None).await));
    assert!(!is_in_use(PostgresStore::open(&address, None).await));
    drop(store);
    // The database takes a moment to see that a connection has ended.
    let alone = loop {
        match PostgresStore::open_alone(&address, None).await {
            Ok(alone) => break alone,
            Err(error) => assert!(matches!(error, OpenPostgresError::InUse), "{error:?}"),
        }
    };
    assert!(is_in_use(PostgresStore::open_alone(&address, None).await));
    assert!(is_in_use(PostgresStore::open(&address, None).await));
    drop(alone);
    while is_in_use(PostgresStore::open(&address, None).await) {}
}

/// What is looked at from outside is what was written, while a server is there.
#[test]
fn an_archive_shows_what_is_kept() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let kept = runtime.block_on(async {
        let (store, address) = fresh().await?;
        let (id, mark) = begun(&store).await;
        store
            .claim(id, NodeId(Uuid::from_u128(7)))
            .await
            .expect("claimed");
        let read = store.load(id).await.expect("readable").expect("there");
        assert_ne!(read.mark, mark);
        store
            .append(id, read.mark, vec![RESIGNED])
            .await
            .expect("written");
        store
            .create(OWNER, record(2, &player(1)))
            .await
            .expect("written");
        Some((store, address, id))
    });
    let Some((_store, address, id)) = kept else {
        return;
    };
    let archive = PostgresArchive::open(&address).expect("it opens");
    let mut faults = Vec::new();
    let summary = crate::verify(&archive, &mut |fault| faults.push(fault.clone()));
    let summary = summary.expect("readable");
    assert_eq!(faults, []);
    assert_eq!((summary.matches, summary.live, summary.ended), (2, 1, 1));
    assert_eq!((summary.events, summary.players), (5, 1));
    let kept = crate::Archive::read(&archive, id)
        .expect("sound")
        .expect("there");
    assert_eq!(kept.players, [(player(1).id, player(1).name)]);
    assert!(kept.record.has_ended() && kept.ended_ms.is_some());
}

/// Of matches that are created at once, those that cannot be harm no other.
#[tokio::test]
async fn creations_of_one_batch_are_apart() {
    let Some((store, _)) = fresh().await else {
        return;
    };
    let [one, two, mut three] = [1, 2, 3].map(|number| record(number, &player(1)));
    three.creation.code = one.creation.code;
    let wanted = [one, two.clone(), two.clone(), three];
    let made = join_all(wanted.map(|record| store.create(OWNER, record))).await;
    let refused: Vec<_> = made.into_iter().map(Result::err).collect();
    let (again, taken) = (WriteError::Conflict, WriteError::CodeTaken);
    assert_eq!(refused, [None, None, Some(again), Some(taken)]);
    let kept = store.load(two.creation.id).await.expect("readable");
    assert_eq!(kept.expect("there").record.events, two.events);
}

/// Several servers forget what is old, each match once, however much they have to write.
#[tokio::test]
async fn old_matches_are_forgotten() {
    const OLD: u128 = 250;
    let Some((store, address)) = fresh().await else {
        return;
    };
    store.add_player(player(1), vec![]).await.expect("written");
    let old = (2..2 + OLD).map(async |number| {
        let written = record(number, &player(1));
        let id = written.creation.id;
        let mark = store.create(OWNER, written).await?;
        store.append(id, mark, vec![RESIGNED]).await
    });
    let resigned = suite::end(Some(Seat::First), plyhouse_protocol::Reason::Resignation);
    let rated = suite::rated_record(9001, [1, 2]);
    let rated_id = rated.creation.id;
    let rated_mark = store.create(OWNER, rated).await.expect("written");
    let events = suite::rated_end(9001, &resigned, 0);
    let ended = store.append(rated_id, rated_mark, events).await;
    ended.expect("written");
    for ended in join_all(old).await {
        ended.expect("written");
    }
    suite::keeps_an_analysis(&store, 9002).await;
    let keep = Some(Duration::from_hours(1));
    let servers = [(); 2].map(|()| PostgresStore::open(&address, keep));
    let servers = join_all(servers).await;
    let servers: Vec<PostgresStore> = servers
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("they open");
    let session = session(&address).await;
    let sql = "SELECT FROM matches WHERE ended_ms IS NOT NULL AND ended_no IS NULL";
    let (live, mut mark) = begun(&store).await;
    while !session.query(sql, &[]).await.expect("readable").is_empty() {
        for server in &servers {
            let event = moved(Seat::First, "b2");
            mark = server
                .append(live, mark, vec![event])
                .await
                .expect("written");
        }
    }
    let kept = store.load(rated_id).await.expect("readable");
    assert!(kept.is_some(), "rated matches are always kept");
    let sql = "SELECT FROM journal WHERE m <> $1 AND m <> $2";
    let journals = session
        .query(sql, &[&live.0, &rated_id.0])
        .await
        .expect("readable");
    assert_eq!(journals.len(), 0);
    let sql = "SELECT FROM results WHERE n = 1";
    let results = session.query(sql, &[]).await.expect("readable");
    assert_eq!(
        results.len(),
        2,
        "those of the rated match are still counted"
    );
    let sql = "SELECT FROM analyses";
    let thoughts = session.query(sql, &[]).await.expect("readable");
    assert_eq!(thoughts.len(), 0);
    for server in &servers {
        let kept = server.load(live).await.expect("readable").expect("there");
        assert_eq!(kept.mark, mark);
        assert!(server.is_healthy());
    }
}

/// Has a match written that has begun, and gives its id and its mark.
async fn begun(store: &PostgresStore) -> (MatchId, JournalPosition) {
    store.add_player(player(1), vec![]).await.expect("written");
    let written = record(1, &player(1));
    let id = written.creation.id;
    let mark = store.create(OWNER, written).await.expect("written");
    (
        id,
        store.append(id, mark, started()).await.expect("written"),
    )
}
