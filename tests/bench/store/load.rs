//! Load generator: busy matches, each a task that appends one move after another.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use plyhouse_engine::catalog::CATALOG;
use plyhouse_engine::game::Seat;
use plyhouse_matches::{Creation, EventKind, Terms};
use plyhouse_protocol::{MatchCode, MatchId, PlayerId, PlayerKind};
use plyhouse_store::{
    IdentityStore, JournalPosition, JournalStore, MatchRecord, NodeId, PlayerRecord, SqliteStore,
};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::measurement::{Measurement, process_cpu_time};

/// Duration of the warm-up before the measurement.
const WARM_UP: Duration = Duration::from_millis(200);

/// Id of the node that owns the matches.
pub(crate) const OWNER: NodeId = NodeId(Uuid::from_u128(1));

/// Text of every move. The store does not check whether a move is legal.
pub(crate) const MOVE_TEXT: &str = "b2";

/// Returns the id of a match by its number.
pub(crate) fn match_id(number: usize) -> MatchId {
    MatchId(Uuid::from_u128(number as u128 + 1))
}

/// Creates a store with `matches` matches that have started.
pub(crate) async fn create_store(directory: &Path, matches: usize) -> anyhow::Result<SqliteStore> {
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
                    id: match_id(number),
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

/// State shared by the tasks of all matches.
#[derive(Debug)]
struct LoadState {
    store: SqliteStore,
    is_counting: AtomicBool,
    is_stopping: AtomicBool,
    moves: AtomicU64,
}

/// Measures the store while `busy_matches` matches append moves for `time`.
pub(crate) async fn measure_store(
    directory: &Path,
    busy_matches: usize,
    time: Duration,
) -> anyhow::Result<Measurement> {
    let common = Arc::new(LoadState {
        store: create_store(directory, busy_matches).await?,
        is_counting: AtomicBool::new(false),
        is_stopping: AtomicBool::new(false),
        moves: AtomicU64::new(0),
    });
    let mut matches = JoinSet::new();
    for number in 0..busy_matches {
        matches.spawn(append_moves(Arc::clone(&common), match_id(number)));
    }
    sleep(WARM_UP).await;
    let moves = || common.moves.load(Ordering::Relaxed);
    common.is_counting.store(true, Ordering::Relaxed);
    let (begin, cpu) = (Instant::now(), process_cpu_time());
    let (before, transactions) = (moves(), count_transactions(directory)?);
    sleep(time).await;
    let (time, cpu) = (begin.elapsed(), process_cpu_time().saturating_sub(cpu));
    let after = moves();
    let transactions = count_transactions(directory)?.wrapping_sub(transactions);
    common.is_stopping.store(true, Ordering::Relaxed);
    let mut latencies = Vec::new();
    while let Some(played) = matches.join_next().await {
        latencies.extend(played.context("a match panicked")??);
    }
    let moves = usize::try_from(after - before)?;
    let transactions = transactions as usize;
    Ok(Measurement::new(time, cpu, moves, transactions, latencies))
}

/// Appends moves to one match until the load stops. Returns the latencies of the moves in the
/// measured time.
async fn append_moves(common: Arc<LoadState>, id: MatchId) -> anyhow::Result<Vec<Duration>> {
    let mut latencies = Vec::new();
    let mut position = JournalPosition::after_events(1);
    while !common.is_stopping.load(Ordering::Relaxed) {
        let begin = Instant::now();
        let moved = EventKind::untimed_move(Seat::First, MOVE_TEXT.to_owned());
        position = common.store.append(id, position, vec![moved.at(0)]).await?;
        common.moves.fetch_add(1, Ordering::Relaxed);
        if common.is_counting.load(Ordering::Relaxed) {
            latencies.push(begin.elapsed());
        }
    }
    Ok(latencies)
}

/// Returns the change counter of the WAL-index. The difference between two readings of this counter
/// is the number of transactions between them.
fn count_transactions(directory: &Path) -> anyhow::Result<u32> {
    let index =
        std::fs::read(directory.join("plyhouse.db-shm")).context("cannot read the WAL-index")?;
    let counter = index.get(8..12).context("WAL-index is too short")?;
    Ok(u32::from_ne_bytes(counter.try_into()?))
}
