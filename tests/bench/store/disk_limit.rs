//! Measures how fast moves can be committed to the disk. A single thread commits the same rows as
//! the store, in batches of constant size, and does nothing else.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use tokio::time::Instant;

use crate::load::{MOVE_TEXT, create_store, match_id};
use crate::measurement::{Measurement, process_cpu_time};

/// Commits moves of `busy_matches` matches in batches of `batch_size` for `time`.
pub(crate) async fn measure_disk_limit(
    directory: &Path,
    busy_matches: usize,
    batch_size: usize,
    time: Duration,
) -> anyhow::Result<Measurement> {
    // The store is opened once to create the tables. The settings below give the same durability as
    // the store's own settings.
    drop(create_store(directory, busy_matches).await?);
    let mut database = Connection::open(directory.join("plyhouse.db"))?;
    database.pragma_update(None, "journal_mode", "WAL")?;
    database.pragma_update(None, "synchronous", "FULL")?;
    database.pragma_update(None, "foreign_keys", "OFF")?;
    database.pragma_update(None, "wal_autocheckpoint", 4000)?;
    database.pragma_update(None, "cache_size", -16 * 1024)?;
    let event = format!(r#"{{"type":"moved","seat":0,"move":"{MOVE_TEXT}"}}"#);
    let mut latencies = Vec::new();
    let mut moves: usize = 0;
    let (begin, cpu) = (Instant::now(), process_cpu_time());
    while begin.elapsed() < time {
        let transaction_start = Instant::now();
        let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let sql = "INSERT INTO events (match, seq, at_ms, event) VALUES (?1, ?2, ?3, ?4)";
            let mut insert = transaction.prepare_cached(sql)?;
            for _ in 0..batch_size.max(1) {
                let (id, seq) = (match_id(moves % busy_matches), moves / busy_matches + 2);
                insert.execute((id.0.as_bytes(), seq, 1_700_000_000_000_i64, &event))?;
                moves += 1;
            }
        }
        transaction.commit()?;
        latencies.push(transaction_start.elapsed());
    }
    let transactions = latencies.len();
    let (time, cpu) = (begin.elapsed(), process_cpu_time().saturating_sub(cpu));
    Ok(Measurement::new(time, cpu, moves, transactions, latencies))
}
