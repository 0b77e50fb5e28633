//! Matches as they are in the database.

use plyhouse_engine::catalog;
use plyhouse_matches::Creation;
use plyhouse_protocol::{MatchId, PlayerId};
use rusqlite::Row;
use uuid::Uuid;

use crate::records::match_record::terms_from_text;

/// The columns of a match, in the order in which [`creation_from_row`] reads them.
pub(crate) const CREATION_COLUMN_LIST: &str = "id, code, game, host, terms";

/// How many columns those are.
pub(crate) const CREATION_COLUMN_COUNT: usize = 5;

/// What was settled when the match of this row was created, or what is wrong with the row.
pub(crate) fn creation_from_row(row: &Row<'_>) -> rusqlite::Result<Result<Creation, String>> {
    let id = MatchId(Uuid::from_bytes(row.get(0)?));
    let code: String = row.get(1)?;
    let game: String = row.get(2)?;
    let host = PlayerId(Uuid::from_bytes(row.get(3)?));
    let terms: String = row.get(4)?;
    let read = || {
        Ok(Creation {
            id,
            code: code.parse().map_err(|_| format!("{code:?} is no code"))?,
            game: catalog::find_game(&game).ok_or_else(|| format!("there is no game {game:?}"))?,
            host,
            terms: terms_from_text(&terms)?,
        })
    };
    Ok(read())
}

/// The columns that tell how long a match is, in the order in which [`JournalLength::from_row`] reads them.
pub(crate) const LENGTH_COLUMN_LIST: &str = "last_seq, ended_ms";

/// How many events a match has, as its row tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JournalLength {
    last_seq: i64,
    /// When it ended, in milliseconds since 1970. Until then there may be more events: the row is
    /// brought up to date only now and then.
    pub(crate) ended_ms: Option<i64>,
}

impl JournalLength {
    /// That of a row that has [`LENGTH_COLUMN_LIST`] in the columns from this one on.
    pub(crate) fn from_row(row: &Row<'_>, first_column: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            last_seq: row.get(first_column)?,
            ended_ms: row.get(first_column + 1)?,
        })
    }

    /// Whether so many events are not too few, nor too many for a match that has ended; or what is
    /// wrong.
    pub(crate) fn check_event_count(self, events: u64) -> Result<(), String> {
        let Self { last_seq, ended_ms } = self;
        let found = i64::try_from(events).unwrap_or(i64::MAX);
        if found == last_seq || (found > last_seq && ended_ms.is_none()) {
            Ok(())
        } else {
            Err(format!("{found} events are there, not {last_seq}"))
        }
    }
}
