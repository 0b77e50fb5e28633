//! Reads matches from database rows.

use plyhouse_engine::catalog;
use plyhouse_matches::Creation;
use plyhouse_protocol::{MatchId, PlayerId};
use rusqlite::Row;
use uuid::Uuid;

use crate::records::match_record::terms_from_text;

/// SQL columns that [`creation_from_row`] reads, in this order.
pub(crate) const CREATION_COLUMN_LIST: &str = "id, code, game, host, terms";

/// Number of columns in [`CREATION_COLUMN_LIST`].
pub(crate) const CREATION_COLUMN_COUNT: usize = 5;

/// Reads the creation data of a match from a row. An error of the inner `Result` describes a fault
/// in the row.
pub(crate) fn creation_from_row(row: &Row<'_>) -> rusqlite::Result<Result<Creation, String>> {
    let id = MatchId(Uuid::from_bytes(row.get(0)?));
    let code: String = row.get(1)?;
    let game: String = row.get(2)?;
    let host = PlayerId(Uuid::from_bytes(row.get(3)?));
    let terms: String = row.get(4)?;
    let read = || {
        Ok(Creation {
            id,
            code: code
                .parse()
                .map_err(|_| format!("invalid match code {code:?}"))?,
            game: catalog::find_game(&game).ok_or_else(|| format!("unknown game {game:?}"))?,
            host,
            terms: terms_from_text(&terms)?,
        })
    };
    Ok(read())
}

/// SQL columns that [`JournalLength::from_row`] reads, in this order.
pub(crate) const LENGTH_COLUMN_LIST: &str = "last_seq, ended_ms";

/// Columns in the row of a match that contain the match's event count and end time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JournalLength {
    last_seq: i64,
    /// Time at which the match ended, as Unix time in milliseconds. A live match may have more
    /// events than `last_seq`, because `last_seq` is updated only at intervals.
    pub(crate) ended_ms: Option<i64>,
}

impl JournalLength {
    /// Reads the columns in [`LENGTH_COLUMN_LIST`] from a row. `first_column` is the index of the
    /// first of these columns.
    pub(crate) fn from_row(row: &Row<'_>, first_column: usize) -> rusqlite::Result<Self> {
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
