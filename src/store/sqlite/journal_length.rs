//! Event count and end time in the row of a match.

use crate::sql::{InvalidColumn, Row};

/// Columns in the row of a match that contain the match's event count and end time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JournalLength {
    last_seq: i64,
    /// Time at which the match ended, as Unix time in milliseconds. A live match may have more
    /// events than `last_seq`, because `last_seq` is updated only at intervals.
    pub(crate) ended_ms: Option<i64>,
}

impl JournalLength {
    /// Reads the columns `last_seq` and `ended_ms` from a row. `first_column` is the index of the
    /// first of these columns.
    pub(crate) fn from_row(row: &Row, first_column: usize) -> Result<Self, InvalidColumn> {
        Ok(Self {
            last_seq: row.get(first_column)?,
            ended_ms: row.get(first_column + 1)?,
        })
    }

    /// Compares the number of stored events with `last_seq` in the row of the match. In the row of
    /// a live match, `last_seq` may be less than the number of stored events. Returns a description
    /// of the fault if events are missing, or if an ended match has too many events.
    pub(crate) fn check_event_count(self, events: u64) -> Result<(), String> {
        let Self { last_seq, ended_ms } = self;
        let found = i64::try_from(events).unwrap_or(i64::MAX);
        if found == last_seq || (found > last_seq && ended_ms.is_none()) {
            Ok(())
        } else {
            Err(format!("event count is {found}, expected {last_seq}"))
        }
    }
}
