//! Records failed writes, and when the server learned that the store works again.

use std::time::Duration;

use plyhouse_protocol::MatchId;
use plyhouse_store::WriteError;

use super::{Disk, WriteFailure, now};

impl Disk {
    /// Records the result of a write to a match.
    pub(super) fn record_write_result(
        &mut self,
        id: MatchId,
        started: Duration,
        outcome: Result<(), WriteError>,
    ) {
        match outcome {
            Ok(()) => self.resolve_failures_of(id),
            Err(error) => {
                let is_rejected = error == WriteError::Unavailable;
                self.write_failures
                    .entry(id)
                    .or_default()
                    .push(WriteFailure {
                        started,
                        rejected_at: is_rejected.then(now),
                        resolved_at: None,
                    });
            }
        }
    }

    /// Records that a match was read or written successfully, which ends its write failures.
    pub(super) fn resolve_failures_of(&mut self, id: MatchId) {
        for trouble in self.write_failures.entry(id).or_default() {
            trouble.resolved_at.get_or_insert_with(now);
        }
    }

    /// Records that a health check found the store available. From this time on, the server may run
    /// paused clocks again.
    pub(super) fn resolve_rejected_writes(&mut self) {
        let failures = self.write_failures.values_mut().flatten();
        for trouble in failures.filter(|trouble| trouble.rejected_at.is_some()) {
            trouble.resolved_at.get_or_insert_with(now);
        }
    }
}
