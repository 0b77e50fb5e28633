//! Deletes expired matches and returns free pages to the file system.

use plyhouse_protocol::MatchId;
use rusqlite::Connection;

use crate::sql::{InvalidColumn, Sql, Value, execute_each, run_now};
use crate::sqlite::history;

/// Maximum number of expired matches that are deleted at a time, so that other writes do not wait
/// for long.
const EXPIRY_BATCH_MAX: usize = 100;

/// Maximum number of free pages that are returned to the file system at a time.
const VACUUM_PAGES_MAX: u32 = 256;

/// Deletes a batch of matches that ended before `before_ms`, a Unix time in milliseconds, and
/// returns some free pages to the file system. Rated matches are retained if they are in the ledger
/// or wait for a ledger number.
pub(super) fn delete_expired_matches(
    connection: &Connection,
    before_ms: u64,
) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    let sql = "SELECT id, game, ended_ms, summary FROM matches
               WHERE ended_ms < ?1 AND ended_no IS NULL AND length(id) = 16
                 AND id NOT IN (SELECT match FROM ledger_waiting) LIMIT ?2";
    let params = [before_ms.into(), EXPIRY_BATCH_MAX.into()];
    let expired = run_now(transaction.query(sql, &params))?;
    history::unindex_matches(&transaction, &expired)?;
    let ids = expired.iter().map(|row| row.get(0));
    let ids: Vec<MatchId> = ids.collect::<Result<_, InvalidColumn>>()?;
    let ids: Vec<Vec<Value<'_>>> = ids.into_iter().map(|id| vec![id.into()]).collect();
    for sql in [
        "DELETE FROM analyses WHERE match = ?1",
        "DELETE FROM events WHERE match = ?1",
        "DELETE FROM matches WHERE id = ?1",
    ] {
        run_now(execute_each(&*transaction, sql, &ids))?;
    }
    transaction.commit()?;
    if !expired.is_empty() {
        tracing::debug!(matches = expired.len(), "deleted expired matches");
    }
    let free_pages: u64 =
        connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
    if free_pages > 0 {
        let sql = format!("PRAGMA incremental_vacuum({VACUUM_PAGES_MAX})");
        let mut statement = connection.prepare(&sql)?;
        // Each call of `next` returns one page to the file system.
        let mut pages = statement.query([])?;
        while pages.next()?.is_some() {}
    }
    Ok(())
}
