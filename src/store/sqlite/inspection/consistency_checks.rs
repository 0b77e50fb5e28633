//! Checks the consistency of the whole database. This module does not check the contents of
//! individual matches.

use rusqlite::Connection;

/// Consistency checks. Each check consists of an SQL query and the description of a fault. The
/// query returns a count of faults, which must be 0. A count other than 0 is reported together with
/// the description.
const CONSISTENCY_CHECKS: [(&str, &str); 10] = [
    (
        "SELECT count(*) FROM matches WHERE length(id) != 16",
        "matches with an invalid id",
    ),
    (
        "SELECT count(*) FROM players WHERE length(id) != 16",
        "players with an invalid id",
    ),
    (
        "SELECT count(*) FROM sessions WHERE length(id) != 16 OR length(token) != 32",
        "sessions with an invalid id or token",
    ),
    (
        "SELECT count(*) - count(DISTINCT code) FROM matches WHERE ended_ms IS NULL",
        "live matches with a duplicate code",
    ),
    (
        "SELECT count(*) FROM matches
         WHERE ended_ms IS NOT NULL AND (wake_ms IS NOT NULL OR id IN (SELECT match FROM parts))",
        "ended matches with a reminder",
    ),
    (
        "SELECT count(*) FROM played
         WHERE match NOT IN (SELECT id FROM matches WHERE ended_ms IS NOT NULL)",
        "history entries without an ended match",
    ),
    (
        "SELECT count(*) FROM (
             SELECT player, result, count(*) FROM played GROUP BY player, result
             EXCEPT
             SELECT player, result, sum(n) FROM results WHERE seen_by IN (zeroblob(16), player)
             GROUP BY player, result) AS uncounted",
        "result counts that do not match the game histories",
    ),
    (
        "SELECT count(*) FROM matches WHERE summary IS NOT NULL AND terms ->> 'rated'
         AND (ended_no IS NOT (SELECT no FROM ledger WHERE match = id)
              OR (ended_no IS NULL) <> (id IN (SELECT match FROM ledger_waiting)))",
        "ended rated matches with a missing or wrong ledger row",
    ),
    (
        "SELECT (SELECT no FROM ledger_end) - count(*) FROM ledger",
        "missing ledger rows",
    ),
    (
        "SELECT count(*) FROM folds
         WHERE place <> 'stale' AND cursor > (SELECT no FROM ledger_end)",
        "rating versions with more rows than the ledger",
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
    for (sql, meaning) in CONSISTENCY_CHECKS {
        let count = connection.query_row(sql, [], |row| row.get::<_, u64>(0));
        collect(count.map(|count| match count {
            0 => Vec::new(),
            count => vec![format!("{meaning}: {count}")],
        }));
    }
    faults
}

fn check_integrity(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA integrity_check")?;
    let found: Vec<String> = statement
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(found.into_iter().filter(|line| line != "ok").collect())
}

fn check_foreign_keys(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2";
    let mut statement = connection.prepare(sql)?;
    let found = statement.query_map([], |row| {
        let (table, parent, count): (String, String, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!(
            "rows in {table} that refer to a missing row in {parent}: {count}"
        ))
    })?;
    found.collect()
}
