//! When the store could not be had, and when somebody knows that it can be again.

use std::time::Duration;

use plyhouse_protocol::MatchId;
use plyhouse_store::WriteError;

use super::{Disk, WriteFailure, now};

impl Disk {
    /// Notes how a write to a match has ended.
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

    /// Notes that a match could be read or written.
    pub(super) fn resolve_failures_of(&mut self, id: MatchId) {
        for trouble in self.write_failures.entry(id).or_default() {
            trouble.resolved_at.get_or_insert_with(now);
        }
    }

    /// Notes that somebody has heard that the store keeps things: clocks may go on from here.
    pub(super) fn resolve_rejected_writes(&mut self) {
        let failures = self.write_failures.values_mut().flatten();
        for trouble in failures.filter(|trouble| trouble.rejected_at.is_some()) {
            trouble.resolved_at.get_or_insert_with(now);
        }
    }
}
