//! Checks the consistency of the whole database. This module does not check the contents of
//! individual matches.

use rusqlite::Connection;

use crate::sql::inspection::{CONSISTENCY_CHECKS, ConsistencyCheck, find_faults};
use crate::sql::{query_all, run_now};

/// Consistency checks that only SQLite databases need.
const SQLITE_CHECKS: [ConsistencyCheck; 6] = [
    ConsistencyCheck::new(
        "SELECT count(*) FROM matches WHERE length(id) != 16",
        "matches with an invalid id",
    ),
    ConsistencyCheck::new(
        "SELECT count(*) FROM players WHERE length(id) != 16",
        "players with an invalid id",
    ),
    ConsistencyCheck::new(
        "SELECT count(*) FROM sessions WHERE length(id) != 16 OR length(token) != 32",
        "sessions with an invalid id or token",
    ),
    ConsistencyCheck::new(
        "SELECT count(*) - count(DISTINCT code) FROM matches WHERE ended_ms IS NULL",
        "live matches with a duplicate code",
    ),
    ConsistencyCheck::new(
        "SELECT count(*) FROM matches
         WHERE ended_ms IS NOT NULL AND (wake_ms IS NOT NULL OR id IN (SELECT match FROM parts))",
        "ended matches with a reminder",
    ),
    ConsistencyCheck::new(
        "SELECT count(*) FROM played
         WHERE match NOT IN (SELECT id FROM matches WHERE ended_ms IS NOT NULL)",
        "history entries without an ended match",
    ),
];

/// Returns the faults that SQLite itself or the consistency checks find.
pub(crate) fn check_database(connection: &Connection) -> Vec<String> {
    let mut faults = Vec::new();
    let mut collect = |checked: rusqlite::Result<Vec<String>>| match checked {
        Ok(found) => faults.extend(found),
        Err(error) => faults.push(error.to_string()),
    };
    collect(check_integrity(connection));
    collect(check_foreign_keys(connection));
    for checks in [&SQLITE_CHECKS[..], &CONSISTENCY_CHECKS] {
        faults.extend(run_now(find_faults(connection, checks)));
    }
    faults
}

fn check_integrity(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut found: Vec<String> = run_now(query_all(connection, "PRAGMA integrity_check", &[]))?;
    found.retain(|line| line != "ok");
    Ok(found)
}

fn check_foreign_keys(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2";
    let found: Vec<(String, String, u64)> = run_now(query_all(connection, sql, &[]))?;
    let faults = found.into_iter().map(|(table, parent, count)| {
        format!("rows in {table} that refer to a missing row in {parent}: {count}")
    });
    Ok(faults.collect())
}
