//! Ledger of rated matches.

use plyhouse_matches::ratings::LedgerRow;

use super::SqlWrite;

/// Writes to the ledger, which have statements of their own for each database.
pub(crate) trait WriteLedger: SqlWrite {
    /// Adds rows to the ledger and assigns them the next numbers, in order.
    fn number_rows(
        &self,
        rows: &[LedgerRow],
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Stores ledger rows that will receive their numbers later. Each row is passed together with
    /// its due time.
    fn insert_waiting_rows(
        &self,
        rows: &[(LedgerRow, u64)],
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// Adds rows to the ledger and assigns them the next numbers, in order.
pub(crate) async fn number_rows<S: WriteLedger>(
    db: &S,
    rows: &[LedgerRow],
) -> Result<(), S::Error> {
    db.number_rows(rows).await
}

/// Stores ledger rows that will receive their numbers later. Each row has a due time, as Unix time
/// in milliseconds. The row receives no number before this time.
pub(crate) async fn insert_waiting_rows<S: WriteLedger>(
    db: &S,
    rows: &[(LedgerRow, u64)],
) -> Result<(), S::Error> {
    db.insert_waiting_rows(rows).await
}
