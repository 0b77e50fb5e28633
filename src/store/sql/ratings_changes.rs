//! Applies changes of the ledger and of rating versions.

use std::slice;

use super::rating_ledger::{
    copy_rows, delete_rows, has_due_row, has_row, number_due_rows, number_rows,
};
use super::rating_versions::{
    begin_version, clear_stale_versions, post_rows, reset_versions, switch_version,
};
use super::{Sql, SqlWrite};
use crate::RatingsChange;

/// Applies a change to the ledger or to a rating version. Returns `false` if the change was
/// refused.
///
/// On PostgreSQL, a transaction must apply changes of the ledger before changes of rating versions.
/// All servers take the locks in this order, so that they do not deadlock.
pub(crate) async fn apply_change<S: SqlWrite>(
    db: &S,
    change: &RatingsChange,
) -> Result<bool, S::Error> {
    match change {
        RatingsChange::Post(post) => return post_rows(db, post).await,
        RatingsChange::BeginVersion { exclusions_cursor } => {
            begin_version(db, *exclusions_cursor).await?;
        }
        RatingsChange::SwitchVersion(version) => return switch_version(db, version).await,
        RatingsChange::ClearStaleVersions => clear_stale_versions(db).await?,
        RatingsChange::NumberRow(row) => number_rows(db, slice::from_ref(row)).await?,
        RatingsChange::NumberDueRows(until_ms) => number_due_rows(db, *until_ms).await?,
        RatingsChange::CopyRows(rows) => return copy_rows(db, rows).await,
        RatingsChange::Reset => {
            delete_rows(db).await?;
            reset_versions(db).await?;
        }
    }
    Ok(true)
}

/// Determines from the stored data whether a ratings change was applied. Called if the outcome of
/// the commit is unknown. Returns `None` if the stored data does not show whether the change was
/// applied.
pub(crate) async fn is_applied<S: Sql>(
    db: &S,
    change: &RatingsChange,
) -> Result<Option<bool>, S::Error> {
    Ok(match change {
        // It is unknown whether this change was applied, because another caller may have made an
        // identical change.
        RatingsChange::Post(_)
        | RatingsChange::BeginVersion { .. }
        | RatingsChange::SwitchVersion(_)
        | RatingsChange::NumberRow(_)
        | RatingsChange::Reset => None,
        RatingsChange::NumberDueRows(until_ms) => Some(!has_due_row(db, *until_ms).await?),
        RatingsChange::ClearStaleVersions => Some(true),
        RatingsChange::CopyRows(rows) => {
            let last = rows.last().map_or(0, |(no, _)| *no);
            Some(has_row(db, last).await?)
        }
    })
}
