//! Ledger of rated matches.
//!
//! On PostgreSQL, a transaction locks the row of the table `ledger_end` before it assigns numbers.
//! No other transaction can assign numbers until this transaction ends. A reader that sees a ledger
//! row therefore also sees all rows before it.

use plyhouse_matches::ratings::LedgerRow;
use plyhouse_protocol::{MatchId, PlayerId};

use super::{InvalidColumn, Sql, SqlWrite, exists, query_all, query_first};
use crate::ratings::ledger_row_keys;
use crate::records::to_json;

const DELETE_DUE_ROWS: &str =
    "DELETE FROM ledger_waiting WHERE due_ms <= ?1 RETURNING due_ms, match, body";

const DELETE_NUMBERED_ROWS: &str = "DELETE FROM ledger_waiting
               WHERE match IN (SELECT match FROM ledger WHERE no BETWEEN ?1 AND ?2)";

const UPDATE_MATCHES: &str = "UPDATE matches SET ended_no = l.no FROM ledger l
               WHERE l.no BETWEEN ?1 AND ?2 AND matches.id = l.match";

const SELECT_DUE_ROW: &str = "SELECT 1 FROM ledger_waiting WHERE due_ms <= ?1 LIMIT 1";

const SELECT_ROW: &str = "SELECT 1 FROM ledger WHERE no = ?1";

/// Columns of a ledger row, except its number.
struct LedgerColumns {
    id: Option<MatchId>,
    unrated: Option<PlayerId>,
    body: String,
}

impl From<&LedgerRow> for LedgerColumns {
    fn from(row: &LedgerRow) -> Self {
        let (id, unrated) = ledger_row_keys(row);
        let body = to_json(row);
        Self { id, unrated, body }
    }
}

/// Adds rows to the ledger with the next numbers, in order. Also stores the numbers in the rows of
/// the matches.
pub(crate) async fn number_rows<S: SqlWrite>(db: &S, rows: &[LedgerRow]) -> Result<(), S::Error> {
    let rows: Vec<LedgerColumns> = rows.iter().map(LedgerColumns::from).collect();
    insert_with_next_numbers(db, &rows).await
}

async fn insert_with_next_numbers<S: SqlWrite>(
    db: &S,
    rows: &[LedgerColumns],
) -> Result<(), S::Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let count = rows.len() as u64;
    let sql = "UPDATE ledger_end SET no = no + ?1 RETURNING no";
    let end = query_first(db, sql, &[count.into()]).await?;
    let last: u64 = end.ok_or(InvalidColumn(0))?;
    insert_rows(db, last + 1 - count, rows).await
}

/// Adds rows to the ledger, numbered from `first`. Also stores the numbers in the rows of the
/// matches.
async fn insert_rows<S: SqlWrite>(
    db: &S,
    first: u64,
    rows: &[LedgerColumns],
) -> Result<(), S::Error> {
    let sql = "INSERT INTO ledger (no, match, unrated, body) VALUES (?1, ?2, ?3, ?4)";
    let values = (first..).zip(rows).map(|(no, row)| {
        let body = (&row.body).into();
        vec![no.into(), row.id.into(), row.unrated.into(), body]
    });
    db.insert_all(sql, &values.collect::<Vec<_>>()).await?;
    let last = first + rows.len() as u64 - 1;
    db.execute(UPDATE_MATCHES, &[first.into(), last.into()])
        .await?;
    Ok(())
}

/// Stores ledger rows of matches without numbers. Each row gets its number at the given due time, a
/// Unix time in milliseconds.
pub(crate) async fn insert_waiting_rows<S: SqlWrite>(
    db: &S,
    rows: &[(LedgerRow, u64)],
) -> Result<(), S::Error> {
    let sql = "INSERT INTO ledger_waiting (match, due_ms, body) VALUES (?1, ?2, ?3)";
    let columns: Vec<LedgerColumns> = rows.iter().map(|(row, _)| row.into()).collect();
    let values = columns
        .iter()
        .zip(rows)
        .map(|(row, (_, due_ms))| vec![row.id.into(), (*due_ms).into(), (&row.body).into()]);
    db.insert_all(sql, &values.collect::<Vec<_>>()).await
}

/// Assigns numbers to the waiting rows whose due time is not later than `until_ms`.
pub(crate) async fn number_due_rows<S: SqlWrite>(db: &S, until_ms: u64) -> Result<(), S::Error> {
    // Two servers would deadlock if one of them locked waiting rows before the end of the ledger.
    db.lock("SELECT no FROM ledger_end FOR UPDATE").await?;
    let mut due: Vec<(u64, MatchId, String)> =
        query_all(db, DELETE_DUE_ROWS, &[until_ms.into()]).await?;
    due.sort_unstable();
    let rows = due.into_iter().map(|(_, id, body)| LedgerColumns {
        id: Some(id),
        unrated: None,
        body,
    });
    insert_with_next_numbers(db, &rows.collect::<Vec<_>>()).await
}

/// Adds ledger rows that already have numbers. Returns `false` if the numbers do not directly
/// follow the last number in the ledger.
pub(crate) async fn copy_rows<S: SqlWrite>(
    db: &S,
    rows: &[(u64, LedgerRow)],
) -> Result<bool, S::Error> {
    let (Some((first, _)), Some((last, _))) = (rows.first(), rows.last()) else {
        return Ok(true);
    };
    let sql = "UPDATE ledger_end SET no = ?2 WHERE no + 1 = ?1";
    if !rows.iter().map(|(no, _)| *no).eq(*first..=*last)
        || db.execute(sql, &[(*first).into(), (*last).into()]).await? == 0
    {
        return Ok(false);
    }
    let columns: Vec<LedgerColumns> = rows.iter().map(|(_, row)| row.into()).collect();
    insert_rows(db, *first, &columns).await?;
    db.execute(DELETE_NUMBERED_ROWS, &[(*first).into(), (*last).into()])
        .await?;
    Ok(true)
}

/// Deletes all rows. Waiting rows keep waiting for their numbers.
pub(crate) async fn delete_rows<S: SqlWrite>(db: &S) -> Result<(), S::Error> {
    for sql in [
        "UPDATE ledger_end SET no = 0",
        "DELETE FROM ledger",
        "UPDATE matches SET ended_no = NULL WHERE ended_no IS NOT NULL",
    ] {
        db.execute(sql, &[]).await?;
    }
    Ok(())
}

/// Returns whether a waiting row is due at this Unix time in milliseconds.
pub(crate) async fn has_due_row<S: Sql>(db: &S, until_ms: u64) -> Result<bool, S::Error> {
    exists(db, SELECT_DUE_ROW, &[until_ms.into()]).await
}

/// Returns whether the ledger has a row with this number.
pub(crate) async fn has_row<S: Sql>(db: &S, no: u64) -> Result<bool, S::Error> {
    exists(db, SELECT_ROW, &[no.into()]).await
}

#[cfg(test)]
pub(crate) const INDEXED_STATEMENTS: [&str; 5] = [
    DELETE_DUE_ROWS,
    DELETE_NUMBERED_ROWS,
    UPDATE_MATCHES,
    SELECT_DUE_ROW,
    SELECT_ROW,
];
