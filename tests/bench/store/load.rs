//! The load: busy matches, each a task that appends one move after another.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use plyhouse_engine::catalog::CATALOG;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Creation, EventKind, Terms};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, PlayerKind};
use plyhouse_store::{JournalPosition, MatchRecord, NodeId, PlayerRecord, SqliteStore, Store};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::figures::{Figures, cpu};

/// How long is played before it counts.
const WARM_UP: Duration = Duration::from_millis(200);

/// Whose the matches are.
pub(crate) const OWNER: NodeId = NodeId(Uuid::from_u128(1));

/// What every move is kept as. The store does not ask whether it can be played.
pub(crate) const MOVE: &str = "b2";

/// The id of one of the matches.
pub(crate) fn id(number: usize) -> MatchId {
    MatchId(Uuid::from_u128(number as u128 + 1))
}

/// Makes a store in which so many matches have begun.
pub(crate) async fn begin(directory: &Path, matches: usize) -> anyhow::Result<SqliteStore> {
    let store = SqliteStore::open(directory, None)?;
    let host = PlayerRecord {
        id: PlayerId(Uuid::from_u128(1)),
        name: "host".to_owned(),
        kind: PlayerKind::Guest,
    };
    store.add_player(host.clone(), vec![]).await?;
    let created = (0..matches).map(|number| {
        store.create(
            OWNER,
            MatchRecord {
                creation: Creation {
                    id: id(number),
                    code: MatchCode::from_number(number as u64),
                    game: &CATALOG[0],
                    host: host.id,
                    terms: Terms::with_defaults(true, 0, 1),
                },
                events: vec![EventKind::UNTIMED_START.at(0)],
            },
        )
    });
    futures::future::try_join_all(created).await?;
    Ok(store)
}

/// What the tasks have in common.
#[derive(Debug)]
struct Common {
    store: SqliteStore,
    counts: AtomicBool,
    is_over: AtomicBool,
    moves: AtomicU64,
}

/// Lets so many matches be busy for a while.
pub(crate) async fn measure(
    directory: &Path,
    busy: usize,
    time: Duration,
) -> anyhow::Result<Figures> {
    let common = Arc::new(Common {
        store: begin(directory, busy).await?,
        counts: AtomicBool::new(false),
        is_over: AtomicBool::new(false),
        moves: AtomicU64::new(0),
    });
    let mut matches = JoinSet::new();
    for number in 0..busy {
        matches.spawn(play(Arc::clone(&common), id(number)));
    }
    sleep(WARM_UP).await;
    let moves = || common.moves.load(Ordering::Relaxed);
    common.counts.store(true, Ordering::Relaxed);
    let (begin, cpu) = (Instant::now(), cpu());
    let (before, transactions) = (moves(), transactions(directory)?);
    sleep(time).await;
    let (time, cpu) = (begin.elapsed(), self::cpu().saturating_sub(cpu));
    let after = moves();
    let transactions = self::transactions(directory)?.wrapping_sub(transactions);
    common.is_over.store(true, Ordering::Relaxed);
    let mut latencies = Vec::new();
    while let Some(played) = matches.join_next().await {
        latencies.extend(played.context("a match panicked")??);
    }
    let moves = usize::try_from(after - before)?;
    let transactions = transactions as usize;
    Ok(Figures::new(time, cpu, moves, transactions, latencies))
}

/// One busy match: how long each of its moves took.
async fn play(common: Arc<Common>, id: MatchId) -> anyhow::Result<Vec<Duration>> {
    let mut latencies = Vec::new();
    let mut after = JournalPosition::after_events(1);
    while !common.is_over.load(Ordering::Relaxed) {
        let begin = Instant::now();
        let moved = EventKind::untimed_move(Seat::First, MOVE.to_owned());
        after = common.store.append(id, after, vec![moved.at(0)]).await?;
        common.moves.fetch_add(1, Ordering::Relaxed);
        if common.counts.load(Ordering::Relaxed) {
            latencies.push(begin.elapsed());
        }
    }
    Ok(latencies)
}

/// The number of transactions so far, but for a number that stays the same.
fn transactions(directory: &Path) -> anyhow::Result<u32> {
    let index = std::fs::read(directory.join("plyhouse.db-shm")).context("no WAL-index")?;
    let counter = index.get(8..12).context("no header")?;
    Ok(u32::from_ne_bytes(counter.try_into()?))
}
