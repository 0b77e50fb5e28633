//! Reads match journals from database rows.

use plyhouse_matches::Event;
use plyhouse_protocol::Seq;
use tokio_postgres::Row;

use crate::JournalPosition;

/// Journal position at the end of a journal row, in database integers.
#[derive(Clone, Copy, Debug)]
struct RowEnd {
    entry_no: i64,
    seq: i64,
    epoch: i64,
}

/// Reads the events of consecutive journal rows, and the journal position after them. Each row must
/// contain the columns `n`, `last`, `seq`, `epoch` and `body`, starting at the index `first_column`.
/// Returns `None` if there are no rows, and a description of the fault if the rows are corrupt.
pub(super) fn read_journal(
    rows: &[Row],
    first_column: usize,
) -> Result<Option<(Vec<Event>, JournalPosition)>, String> {
    let (mut events, mut end) = (Vec::new(), None);
    for row in rows {
        let unreadable = |error: tokio_postgres::Error| error.to_string();
        let number = |index| row.try_get(first_column + index).map_err(unreadable);
        let n: i64 = number(0)?;
        let row_end = RowEnd {
            entry_no: number(1)?,
            seq: number(2)?,
            epoch: number(3)?,
        };
        let body: &str = row.try_get(first_column + 4).map_err(unreadable)?;
        let row_events: Vec<Event> =
            serde_json::from_str(body).map_err(|error| format!("journal entry {n}: {error}"))?;
        check_continuity(end, n, row_end, row_events.len())?;
        events.extend(row_events);
        end = Some(row_end);
    }
    let position = end.map(|end| {
        let [entry_no, seq, epoch] = [end.entry_no, end.seq, end.epoch].map(to_u64);
        JournalPosition::new(entry_no, Seq(seq), epoch)
    });
    Ok(position.map(|position| (events, position)))
}

/// Checks that a journal row directly follows the previous row. The argument `previous` is the
/// journal position at the end of the previous row, and `end` is the position at the end of the
/// row. The argument `n` is the number of the first journal entry in the row. The argument `events`
/// is the number of events in the row.
fn check_continuity(
    previous: Option<RowEnd>,
    n: i64,
    end: RowEnd,
    events: usize,
) -> Result<(), String> {
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
    match previous {
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

pub(super) fn to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn to_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
