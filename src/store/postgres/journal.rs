//! The journal of a match as rows, and what is read from them.

use plyhouse_engine::catalog;
use plyhouse_matches::{Creation, Event};
use plyhouse_protocol::{MatchId, PlayerId, Seq};
use tokio_postgres::Row;

use crate::record::terms_from_text;
use crate::{CorruptRecord, JournalPosition, Record};

/// A mark with numbers as the database has them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) n: i64,
    pub(super) seq: i64,
    pub(super) epoch: i64,
}

impl From<JournalPosition> for Place {
    fn from(mark: JournalPosition) -> Self {
        Self {
            n: integer(mark.n),
            seq: integer(mark.seq.0),
            epoch: integer(mark.epoch),
        }
    }
}

/// Rows of a journal, read one after the other.
#[derive(Debug)]
pub(super) struct Entries {
    id: MatchId,
    events: Vec<Event>,
    end: Option<Place>,
}

impl Entries {
    /// Those of rows that have number, last number, last event, epoch and body in the columns from this
    /// one on.
    pub(super) fn read(id: MatchId, rows: &[Row], first: usize) -> Result<Self, CorruptRecord> {
        let mut entries = Self {
            id,
            events: Vec::new(),
            end: None,
        };
        rows.iter().try_for_each(|row| entries.add(row, first))?;
        Ok(entries)
    }

    fn add(&mut self, row: &Row, first: usize) -> Result<(), CorruptRecord> {
        let read = || -> Result<(i64, Place, Vec<Event>), String> {
            let column = |error: tokio_postgres::Error| error.to_string();
            let n: i64 = row.try_get(first).map_err(column)?;
            let end = Place {
                n: row.try_get(first + 1).map_err(column)?,
                seq: row.try_get(first + 2).map_err(column)?,
                epoch: row.try_get(first + 3).map_err(column)?,
            };
            let body: &str = row.try_get(first + 4).map_err(column)?;
            let events = serde_json::from_str(body);
            let events = events.map_err(|error| format!("entry {n}: {error}"))?;
            Ok((n, end, events))
        };
        let damaged = |why| CorruptRecord { id: self.id, why };
        let (n, end, events) = read().map_err(damaged)?;
        self.follow(n, end, events.len()).map_err(damaged)?;
        self.events.extend(events);
        self.end = Some(end);
        Ok(())
    }

    /// Whether a row with so many events comes next.
    fn follow(&self, n: i64, end: Place, events: usize) -> Result<(), String> {
        let events = integer(events as u64);
        let (entries, is_creation) = if n == 0 {
            (end.n, true)
        } else {
            (end.n - n + 1, false)
        };
        // Where a match was taken over there is an entry that is no event.
        let is_fence = events == 0 && entries == 1;
        if entries != events && !is_fence {
            return Err(format!("entry {n} has {events} events, not {entries}"));
        }
        match self.end {
            None => Ok(()),
            Some(before) if is_creation || n != before.n + 1 => {
                Err(format!("entry {n} follows entry {}", before.n))
            }
            Some(before) if end.seq != before.seq + events => Err(format!(
                "event {} is there in place of {}",
                end.seq,
                before.seq + events
            )),
            Some(before) if end.epoch < before.epoch => {
                Err(format!("entry {n} is of a time before"))
            }
            Some(_) => Ok(()),
        }
    }

    /// The events, and the mark after them; `None` if there was no row.
    pub(super) fn finish(self) -> Option<(Vec<Event>, JournalPosition)> {
        let end = self.end?;
        let mark = JournalPosition::new(natural(end.n), Seq(natural(end.seq)), natural(end.epoch));
        Some((self.events, mark))
    }
}

/// How many columns of a match [`creation`] reads.
pub(super) const CREATION_COLUMNS: usize = 5;

/// What was settled when the match was created of which this row has id, code, game, host and terms in
/// the first columns; or what is wrong with the row.
pub(super) fn creation(row: &Row) -> Result<Creation, String> {
    let column = |error: tokio_postgres::Error| error.to_string();
    let code: &str = row.try_get(1).map_err(column)?;
    let game: &str = row.try_get(2).map_err(column)?;
    Ok(Creation {
        id: MatchId(row.try_get(0).map_err(column)?),
        code: code.parse().map_err(|_| format!("{code:?} is no code"))?,
        game: catalog::find_game(game).ok_or_else(|| format!("there is no game {game:?}"))?,
        host: PlayerId(row.try_get(3).map_err(column)?),
        terms: terms_from_text(row.try_get(4).map_err(column)?)?,
    })
}

/// The text that is kept of events.
pub(super) fn body(events: &[Event]) -> String {
    serde_json::to_string(events).expect("it has only texts and numbers")
}

/// How many events a record has, as the database has numbers.
pub(super) fn length(record: &Record) -> i64 {
    integer(record.events.len() as u64)
}

pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn natural(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
