//! Event count and end time in the row of a match.

/// Columns in the row of a match that contain the match's event count and end time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JournalLength {
    pub(super) last_seq: i64,
    /// Time at which the match ended, as Unix time in milliseconds. A live match may have more
    /// events than `last_seq`, because `last_seq` is updated only at intervals.
    pub(crate) ended_ms: Option<i64>,
}

impl JournalLength {
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
