//! Conversion of match journals from and to database rows.

use plyhouse_matches::Event;
use plyhouse_protocol::{MatchId, Seq};
use tokio_postgres::Row;

use crate::{CorruptRecord, JournalPosition};

/// The fields of a [`JournalPosition`], converted to database integers.
#[derive(Clone, Copy, Debug)]
struct PositionColumns {
    entry_no: i64,
    seq: i64,
    epoch: i64,
}

/// Data read from consecutive journal rows.
#[derive(Debug)]
pub(super) struct JournalEntries {
    id: MatchId,
    events: Vec<Event>,
    end: Option<PositionColumns>,
}

impl JournalEntries {
    /// Reads journal rows. Each row must contain the columns `n`, `last`, `seq`, `epoch` and
    /// `body`, starting at the index `first_column`.
    pub(super) fn from_rows(
        id: MatchId,
        rows: &[Row],
        first_column: usize,
    ) -> Result<Self, CorruptRecord> {
        let mut entries = Self {
            id,
            events: Vec::new(),
            end: None,
        };
        rows.iter()
            .try_for_each(|row| entries.push_row(row, first_column))?;
        Ok(entries)
    }

    fn push_row(&mut self, row: &Row, first_column: usize) -> Result<(), CorruptRecord> {
        let read = || -> Result<(i64, PositionColumns, Vec<Event>), String> {
            let column = |error: tokio_postgres::Error| error.to_string();
            let n: i64 = row.try_get(first_column).map_err(column)?;
            let end = PositionColumns {
                entry_no: row.try_get(first_column + 1).map_err(column)?,
                seq: row.try_get(first_column + 2).map_err(column)?,
                epoch: row.try_get(first_column + 3).map_err(column)?,
            };
            let body: &str = row.try_get(first_column + 4).map_err(column)?;
            let events = serde_json::from_str(body);
            let events = events.map_err(|error| format!("journal entry {n}: {error}"))?;
            Ok((n, end, events))
        };
        let corrupt = |reason| CorruptRecord {
            id: self.id,
            reason,
        };
        let (n, end, events) = read().map_err(corrupt)?;
        self.check_continuity(n, end, events.len())
            .map_err(corrupt)?;
        self.events.extend(events);
        self.end = Some(end);
        Ok(())
    }

    /// Checks that a journal row directly follows the previous row. The argument `n` is the number
    /// of the first journal entry in the row. The argument `end` is the journal position at the end
    /// of the row. The argument `events` is the number of events in the row.
    fn check_continuity(&self, n: i64, end: PositionColumns, events: usize) -> Result<(), String> {
        let events = to_i64(events as u64);
        let (entries, is_creation) = if n == 0 {
            (end.entry_no, true)
        } else {
            (end.entry_no - n + 1, false)
        };
        // When a server takes over a match, it adds a fence to the journal. A fence is an entry
        // without events.
        let is_fence = events == 0 && entries == 1;
        if entries != events && !is_fence {
            return Err(format!(
                "journal entry {n}: event count is {events}, expected {entries}"
            ));
        }
        match self.end {
            None => Ok(()),
            Some(previous) if is_creation || n != previous.entry_no + 1 => Err(format!(
                "journal entry {n} follows entry {}",
                previous.entry_no
            )),
            Some(previous) if end.seq != previous.seq + events => Err(format!(
                "found event {} instead of event {}",
                end.seq,
                previous.seq + events
            )),
            Some(previous) if end.epoch < previous.epoch => Err(format!(
                "journal entry {n} has an earlier epoch than the entry before it"
            )),
            Some(_) => Ok(()),
        }
    }

    /// Returns the events of all rows and the journal position after them. Returns `None` if no
    /// rows were read.
    pub(super) fn into_events(self) -> Option<(Vec<Event>, JournalPosition)> {
        let end = self.end?;
        let position = JournalPosition::new(
            to_u64(end.entry_no),
            Seq(to_u64(end.seq)),
            to_u64(end.epoch),
        );
        Some((self.events, position))
    }
}

pub(super) fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn to_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
