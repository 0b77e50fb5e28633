//! What is forgotten when its time is over, and the room that it gives back.

use rusqlite::Connection;

use crate::sqlite::history;

/// How many ended matches are forgotten at once, so that nobody waits for long.
const EXPIRY_BATCH_MAX: u32 = 100;

/// How many pages of the file are given back at once.
const VACUUM_PAGES_MAX: u32 = 256;

/// Forgets some of the matches that ended before this, in milliseconds since 1970, and gives back
/// some of the room that is free.
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
        tracing::debug!(forgotten = expired.len(), "deleted expired matches");
    }
    let free_pages: u64 =
        connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
    if free_pages > 0 {
        let sql = format!("PRAGMA incremental_vacuum({VACUUM_PAGES_MAX})");
        let mut statement = connection.prepare(&sql)?;
        // It gives back a page a step.
        let mut pages = statement.query([])?;
        while pages.next()?.is_some() {}
    }
    Ok(())
}
