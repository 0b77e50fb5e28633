//! When the store could not be had, and when somebody knows that it can be again.

use std::time::Duration;

use plyhouse_protocol::MatchId;
use plyhouse_store::WriteError;

use super::{Disk, Trouble, now};

impl Disk {
    /// Notes how a write to a match has ended.
    pub(super) fn note(&mut self, id: MatchId, asked: Duration, outcome: Result<(), WriteError>) {
        match outcome {
            Ok(()) => self.note_contact(id),
            Err(error) => {
                let is_refused = error == WriteError::Unavailable;
                self.troubles.entry(id).or_default().push(Trouble {
                    asked,
                    refused: is_refused.then(now),
                    until: None,
                });
            }
        }
    }

    /// Notes that a match could be read or written.
    pub(super) fn note_contact(&mut self, id: MatchId) {
        for trouble in self.troubles.entry(id).or_default() {
            trouble.until.get_or_insert_with(now);
        }
    }

    /// Notes that somebody has heard that the store keeps things: clocks may go on from here.
    pub(super) fn note_health(&mut self) {
        let refused = self.troubles.values_mut().flatten();
        for trouble in refused.filter(|trouble| trouble.refused.is_some()) {
            trouble.until.get_or_insert_with(now);
        }
    }
}
