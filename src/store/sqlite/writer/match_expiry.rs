//! Deletes expired matches and returns free pages to the file system.

use rusqlite::Connection;

use crate::sqlite::history;

/// Maximum number of expired matches that are deleted at a time, so that other writes do not wait
/// for long.
const EXPIRY_BATCH_MAX: u32 = 100;

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
    let expired: Vec<Vec<u8>> = transaction
        .prepare_cached(
            "SELECT id FROM matches WHERE ended_ms < ?1 AND ended_no IS NULL
                 AND id NOT IN (SELECT match FROM ledger_waiting) LIMIT ?2",
        )?
        .query_map((before_ms, EXPIRY_BATCH_MAX), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for id in &expired {
        history::unindex(&transaction, id)?;
        for sql in [
            "DELETE FROM analyses WHERE match = ?1",
            "DELETE FROM events WHERE match = ?1",
            "DELETE FROM matches WHERE id = ?1",
        ] {
            transaction.prepare_cached(sql)?.execute([id])?;
        }
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
